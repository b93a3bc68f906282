package recall

import "strings"

// titleField is the property that names what a memory is about.
const titleField = "title"

// titled lifts those of the best hits whose title stands in the query: they are asked
// for by name, which goes before anything they lead to.
func (r *run) titled() error {
	key, ok := r.g.Key(titleField)
	if !ok || r.t.Title == 0 || r.o.Legs.NoLexical {
		return nil
	}
	query := " " + strings.Join(nameWords(r.o.Query), " ") + " "
	for _, h := range r.bestHits(r.t.TitleHits) {
		v, err := r.g.NodeProp(h.Node, key)
		if err != nil {
			return err
		}
		title, _, _ := strings.Cut(v.AsString(), " (") // what tells namesakes apart is not asked for
		if words := nameWords(title); len(words) > 0 && strings.Contains(query, " "+strings.Join(words, " ")+" ") {
			r.candidates.of(h.Node).titled = true
		}
	}
	return nil
}
