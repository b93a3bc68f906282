package audit

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"engram/graph"
	"engram/graph/value"
	"engram/graph/vocab"
)

// selfModelConnectivity looks at the node that stands for the one who remembers, and
// at the pillars that were declared.
func selfModelConnectivity() rule {
	return rule{
		name:  "self_model_connectivity",
		title: "The self and its declared pillars: whether they are there, how much they say, and how far they are apart.",
		thresholds: []Threshold{{
			Name: "self_hops", Default: 2, Min: 1, Max: 10,
			Meaning: "How many hops around the self make the slice whose richness is told.",
		}},
		begin: func(a *audit) (work, error) {
			return work{end: func(f *Finding) error { return (&selfWork{a: a, f: f}).end() }}, nil
		},
	}
}

type selfWork struct {
	a    *audit
	f    *Finding
	hits []hit
	bad  []string // what must not be
	odd  []string // what is worth a look
	far  []uint8  // hops from the self by slot, +1; 0: not reached
}

// farthest is the most hops that are told apart.
const farthest = 254

func (w *selfWork) end() error {
	a, f := w.a, w.f
	v := a.tx.Vocabulary()
	self, pillars := v.Self(), v.Pillars()
	f.How = fmt.Sprintf("exact: the declarations of the snapshot, and a walk over its %d edges, taken both ways", a.tx.EdgeCount(0))
	f.measure("self_declared", int64(min(self, 1)), "nodes")
	f.measure("pillars_declared", len(pillars), "nodes")
	if err := w.sinceLast(self, pillars); err != nil {
		return err
	}
	if self == 0 && len(pillars) == 0 && len(w.bad) == 0 {
		f.Status = Deferred
		f.Note = "No self and no pillar is declared, so there is no self model to look at. DECLARE SELF and DECLARE PILLAR say which nodes they are."
		return nil
	}
	if err := w.lookAtSelf(self); err != nil {
		return err
	}
	present, reached := 0, 0
	for _, p := range pillars {
		there, hops, err := w.lookAtPillar(p, self)
		if err != nil {
			return err
		}
		present += there
		if hops > 0 {
			reached++
		}
	}
	f.measure("pillars_present", present, "nodes")
	f.measure("pillars_reached", reached, "nodes")
	w.note(self, len(pillars))
	return a.listHits(f, w.hits)
}

func (w *selfWork) note(self value.NodeID, pillars int) {
	f := w.f
	switch {
	case len(w.bad) > 0:
		f.Status = Defect
	case len(w.odd) > 0:
		f.Status = Notice
	}
	all := append(w.bad, w.odd...)
	f.Count = int64(len(all))
	if len(all) > 0 {
		f.Note = strings.ToUpper(all[0][:1]) + strings.Join(all, "; ")[1:] + "."
		return
	}
	f.Note = fmt.Sprintf("The self is there, and a walk from it reaches all of its %s.", plural(pillars, "pillar"))
	if pillars == 0 {
		f.Note = "The self is there. No pillar is declared."
	}
	if self == 0 {
		f.Note = fmt.Sprintf("%s declared and there; no self is declared.", plural(pillars, "pillar"))
	}
}

// sinceLast compares with what was declared when RECORD AUDIT last ran: deleting the
// node takes a declaration back without a word.
func (w *selfWork) sinceLast(self value.NodeID, pillars []vocab.Pillar) error {
	last := w.a.o.Last
	if last == nil {
		return nil
	}
	lost := func(what string) {
		w.bad = append(w.bad, what+" is declared no more, as it was at the last RECORD AUDIT (transaction "+strconv.FormatUint(last.Seq, 10)+")")
	}
	if last.Self != "" && self == 0 {
		node, err := w.a.tx.NodeByElementID(last.Self)
		if err != nil {
			return err
		}
		what := "the self " + quoted(last.Self)
		if node == 0 {
			what += ", whose node is gone,"
		}
		lost(what)
	}
	for _, name := range last.Pillars {
		if !slices.ContainsFunc(pillars, func(p vocab.Pillar) bool { return p.Name == name }) {
			lost("the pillar " + quoted(name))
		}
	}
	if len(w.bad) > 0 {
		w.a.suggest(w.f, "RECORD AUDIT") // if that is as it should be
	}
	return nil
}

// lookAtSelf tells whether the self is there, and how rich what is around it is.
func (w *selfWork) lookAtSelf(self value.NodeID) error {
	a, f := w.a, w.f
	if self == 0 && len(a.tx.Vocabulary().Pillars()) == 0 {
		return nil
	}
	if self == 0 {
		w.odd = append(w.odd, "no self is declared, so it is not known how far the pillars are from it")
		return nil
	}
	if !a.tx.NodeExists(self) {
		f.measure("self_present", 0, "nodes")
		w.bad = append(w.bad, "the declared self is gone: its node was deleted")
		a.suggest(f, "DROP SELF IF EXISTS")
		return nil
	}
	f.measure("self_present", 1, "nodes")
	degree := a.tx.Degree(self, value.Both, nil)
	f.measure("self_degree", degree, "edges")
	if degree == 0 {
		w.odd = append(w.odd, "the self has no edge")
		w.hits = append(w.hits, hit{self, "it is the self and has no edge"})
	}
	if err := w.standing(self, "the self"); err != nil {
		return err
	}
	return w.walk(self)
}

// standing tells whether recall would look at a node, and how much it says.
func (w *selfWork) standing(id value.NodeID, what string) error {
	s, err := w.a.state(id)
	if err != nil {
		return err
	}
	if !s.recalled() {
		why := s.status
		if s.closed && why == vocab.StatusActive {
			why = "not valid any more"
		}
		w.odd = append(w.odd, what+" is "+why)
		w.hits = append(w.hits, hit{id, "it is " + why})
	}
	return nil
}

// walk measures how far nodes are from the self, and the slice around it.
func (w *selfWork) walk(self value.NodeID) error {
	a := w.a
	from, ok := a.shape.NodeSlot(self)
	if !ok {
		return nil
	}
	w.far = make([]uint8, a.shape.Slots())
	w.far[from] = 1
	limit := uint8(a.threshold("self_hops"))
	types := map[value.TypeID]bool{}
	nodes, seen := 0, 0
	var hops []graph.Hop
	for frontier, next := []uint32{from}, []uint32(nil); len(frontier) > 0; frontier, next = next, frontier[:0] {
		for _, s := range frontier {
			if seen++; seen%checkEvery == 0 && a.ctx.Err() != nil {
				return canceled(a.ctx)
			}
			hops = a.shape.ExpandSlots(s, value.Both, nil, hops[:0])
			for _, h := range hops {
				if w.far[s] <= limit {
					types[h.Type] = true
				}
				if w.far[h.Node] == 0 && w.far[s] < farthest {
					w.far[h.Node] = w.far[s] + 1
					next = append(next, h.Node)
				}
			}
			if w.far[s] > 1 && w.far[s] <= limit+1 {
				nodes++
			}
		}
	}
	w.f.measure("slice_nodes", nodes, "nodes")
	w.f.measure("slice_types", len(types), "types")
	w.f.measure("reached_nodes", seen-1, "nodes")
	return nil
}

// lookAtPillar returns 1 for a pillar that is there, and how many hops it is from the
// self; 0 when no walk leads to it.
func (w *selfWork) lookAtPillar(p vocab.Pillar, self value.NodeID) (there, hops int, err error) {
	a, f := w.a, w.f
	what := fmt.Sprintf("the pillar %s", quoted(p.Name))
	if !a.tx.NodeExists(p.Node) {
		f.part("pillar", p.Name, 0, "gone")
		w.bad = append(w.bad, what+" is gone: its node was deleted")
		a.suggest(f, "DROP PILLAR "+quoted(p.Name)+" IF EXISTS")
		return 0, 0, nil
	}
	text, err := a.prop(p.Node, vocab.KeyContent)
	if err != nil {
		return 0, 0, err
	}
	length := 0
	if text.Kind() == value.KindString {
		length = utf8.RuneCountInString(strings.TrimSpace(text.AsString()))
	}
	if length == 0 {
		w.odd = append(w.odd, what+" says nothing")
		w.hits = append(w.hits, hit{p.Node, "it is a pillar and has no content"})
	}
	if err := w.standing(p.Node, what); err != nil {
		return 1, 0, err
	}
	note := fmt.Sprintf("%d edges", a.tx.Degree(p.Node, value.Both, nil))
	switch slot, ok := a.shape.NodeSlot(p.Node); {
	case w.far == nil:
	case ok && w.far[slot] > 0:
		hops = int(w.far[slot]) - 1
		note += fmt.Sprintf(", %s from the self", plural(hops, "hop"))
		if p.Node == self {
			hops, note = 1, note+": it is the self"
		}
	default:
		note += ", no walk from the self leads here"
		w.odd = append(w.odd, "no walk leads from the self to "+what)
		w.hits = append(w.hits, hit{p.Node, "it is a pillar, and no walk leads to it from the self"})
		if err := w.join(self, p.Node); err != nil {
			return 1, 0, err
		}
	}
	f.part("pillar", p.Name, int64(length), note)
	return 1, hops, nil
}

// join suggests an edge from the self to a pillar.
func (w *selfWork) join(self, pillar value.NodeID) error {
	from, err := w.a.tx.ElementID(self)
	if err != nil {
		return err
	}
	to, err := w.a.tx.ElementID(pillar)
	if err != nil {
		return err
	}
	w.a.suggest(w.f, fmt.Sprintf("MATCH (s {id: %s}), (p {id: %s}) MERGE (s)-[:CONTAINS]->(p)", quoted(from), quoted(to)))
	return nil
}
