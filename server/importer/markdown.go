package importer

import (
	"encoding/json"
	"errors"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// notesImport reads a folder of Markdown, or one file of it.
type notesImport struct {
	im     *importing
	s      *stage
	links  *spoolFile
	book   noteBook
	prefix map[string]string // ids of folders
	index  map[string]string // id of the index of a folder, by folder
	report *Report
}

// storedLink is a link that is followed when all notes are known.
type storedLink struct {
	From string
	File string // in the folder
	noteLink
}

// readNotes stages the notes, then their links.
func readNotes(im *importing, s *stage) (err error) {
	links, err := newSpoolFile()
	if err != nil {
		return err
	}
	defer func() { _ = links.file.Close() }() // it has no name any more
	n := &notesImport{
		im: im, s: s, links: links, report: &im.report, prefix: map[string]string{}, index: map[string]string{},
		book: noteBook{paths: map[string]string{}, names: map[string][]string{}, folders: map[string]bool{}, others: map[string]bool{}},
	}
	im.report.Provenance = &Provenance{}
	if im.src.Dir == nil {
		text, err := io.ReadAll(io.LimitReader(im.file, maxNote+1))
		if err != nil {
			return err
		}
		n.prefix["."] = ""
		if err := n.note(path.Base(im.src.Name), text, true); err != nil {
			return err
		}
	} else {
		w := &walker{
			ctx: im.ctx, root: im.src.Dir,
			skip:  func(name, why string) { im.report.problemAt(origin{file: name}, "%s; it is left out", why) },
			other: func(name string) { n.book.others[strings.ToLower(name)] = true },
			dir:   n.folder, file: n.file,
		}
		if err := w.walk(".", 0); err != nil {
			return err
		}
	}
	if im.report.Files == 0 && im.report.Skipped == 0 {
		return errNoNotes
	}
	return links.each(n.follow)
}

// folder notes a folder: its id is made of that of the one above, until its index
// declares another.
func (n *notesImport) folder(dir string) error {
	n.book.folders[strings.ToLower(dir)] = true
	if dir == "." {
		n.prefix[dir] = n.im.src.Name
		return nil
	}
	n.prefix[dir] = join(n.prefix[path.Dir(dir)], path.Base(dir))
	return nil
}

func join(prefix, name string) string {
	if prefix == "" {
		return name
	}
	return prefix + "/" + name
}

func (n *notesImport) file(name string) error {
	text, err := readNote(n.im.src.Dir, name)
	if err != nil {
		return n.s.bad(origin{file: name}, err)
	}
	if err := n.note(name, text, false); err != nil {
		return err
	}
	if n.im.opts.Progress != nil && n.report.Files%100 == 0 {
		n.im.opts.Progress(n.s.bytes)
	}
	return n.im.ctx.Err()
}

// note stages one note and its parts.
func (n *notesImport) note(name string, content []byte, single bool) error {
	at := origin{file: name}
	if single {
		at.file = ""
	}
	problem := func(line int, format string, args ...any) {
		n.report.problemAt(origin{at.file, line}, format, args...)
	}
	parsed, err := parseNote(name, content, n.im.opts.Split == "heading", problem)
	if err != nil {
		return n.s.bad(at, err)
	}
	dir := path.Dir(name)
	own := join(n.prefix[dir], path.Base(name))
	if isIndex(name) && !single {
		own = n.prefix[dir]
	}
	node := parsed.node(own, n.im.src.Name, single)
	err = n.s.node(at, node)
	var twice *errNodeTwice
	if errors.As(err, &twice) && node.ID != own {
		problem(0, "the id %q is declared by another file; this one has %q", node.ID, own)
		node.ID = own
		err = n.s.node(at, node)
	}
	if errors.As(err, &twice) {
		return n.s.bad(at, err)
	}
	if err != nil {
		return err
	}
	n.report.Files++
	n.provenance(at, parsed.tells)
	if isIndex(name) && !single {
		n.prefix[dir], n.index[dir] = node.ID, node.ID
	}
	n.book.add(name, node.ID, append([]string{parsed.title}, parsed.names...))
	if parent := n.parent(name); parent != "" && !single {
		if err := n.link(at, storedLink{node.ID, name, noteLink{Target: parent, Type: "CONTAINS"}}); err != nil {
			return err
		}
	}
	for _, f := range parsed.fields {
		for _, target := range f.links {
			if err := n.link(at, storedLink{node.ID, name, noteLink{Target: target, Wiki: true, Line: f.line, Type: relationType(f.key)}}); err != nil {
				return err
			}
		}
	}
	return n.parts(at, node, parsed)
}

// provenance counts whether a note says where it comes from.
func (n *notesImport) provenance(at origin, tells string) {
	switch p := n.report.Provenance; tells {
	case "present":
		p.Present++
	case "absent":
		p.Absent++
	default:
		p.Unreadable++
		n.report.problemAt(at, "where it comes from is unreadable: %s", tells)
	}
}

// parent is the id of the index of the folder that a file lies in, or of one above.
func (n *notesImport) parent(name string) string {
	dir := path.Dir(name)
	if isIndex(name) {
		if dir == "." {
			return ""
		}
		dir = path.Dir(dir)
	}
	for {
		if id := n.index[dir]; id != "" {
			return id
		}
		if dir == "." {
			return ""
		}
		dir = path.Dir(dir)
	}
}

// node makes the node of a note. Its texts are its own words, but who says them is the
// import: a note cannot claim to be a user's.
func (p *note) node(own, source string, single bool) *graphline.Node {
	id := p.id
	if id == "" {
		id = own
	}
	labels := p.labels
	if len(labels) == 0 {
		labels = []string{"Memory", "Note"}
	}
	place := p.path
	if !single {
		place = join(source, p.path)
	}
	n := &graphline.Node{ID: id, Labels: slices.Compact(slices.Sorted(slices.Values(labels))), Props: p.props}
	set := func(key, text string) {
		if text != "" && !hasProp(n.Props, key) {
			n.Props = append(n.Props, engram.Prop{Key: key, Value: stringValue(text)})
		}
	}
	set("title", p.title)
	set("content", p.parts[0].text)
	set("path", p.path)
	set("source", place)
	set("origin", "import")
	set("tier", "Episodic")
	for _, key := range []string{"created", "date"} {
		if !hasProp(n.Props, "created_at") {
			n.Props = withCreated(n.Props, propOf(n.Props, key))
		}
	}
	return n
}

// parts stages what stands below the headings, and the links of all of it.
func (n *notesImport) parts(at origin, top *graphline.Node, parsed *note) error {
	type open struct {
		id    string
		level int
	}
	above, taken := []open{{top.ID, 0}}, map[string]bool{}
	before := ""
	for i, p := range parsed.parts {
		id := top.ID
		if i > 0 {
			id = top.ID + "#" + unique(slug(p.heading), taken)
			node := &graphline.Node{ID: id, Labels: []string{"Memory", "Section"}, Props: []engram.Prop{
				{Key: "title", Value: stringValue(p.heading)},
				{Key: "content", Value: stringValue(p.text)},
				{Key: "source", Value: propOf(top.Props, "source")},
				{Key: "origin", Value: stringValue("import")},
				{Key: "tier", Value: stringValue("Episodic")},
				{Key: "position", Value: intValue(i)},
			}}
			if err := n.s.node(at, node); err != nil {
				var twice *errNodeTwice
				if errors.As(err, &twice) {
					return n.s.bad(at, err)
				}
				return err
			}
			for above[len(above)-1].level >= p.level {
				above = above[:len(above)-1]
			}
			if err := n.link(at, storedLink{id, parsed.path, noteLink{Target: above[len(above)-1].id, Type: "CONTAINS"}}); err != nil {
				return err
			}
			if before != "" {
				if err := n.link(at, storedLink{id, parsed.path, noteLink{Target: before, Type: "TEMPORALLY_PRECEDES"}}); err != nil {
					return err
				}
			}
			above, before = append(above, open{id, p.level}), id
			n.book.paths[strings.ToLower(parsed.path)+"#"+slug(p.heading)] = id
		}
		for _, l := range p.links {
			l.Type = "REFERENCES"
			if err := n.link(at, storedLink{id, parsed.path, l}); err != nil {
				return err
			}
		}
	}
	return nil
}

// unique numbers what was taken before, as in name-1.
func unique(name string, taken map[string]bool) string {
	out := name
	for i := 1; taken[out]; i++ {
		out = name + "-" + strconv.Itoa(i)
	}
	taken[out] = true
	return out
}

func intValue(i int) engram.Value {
	v, _ := engram.ValueOf(i)
	return v
}

func (n *notesImport) link(at origin, l storedLink) error {
	at.line = l.Line
	text, err := json.Marshal(l)
	if err != nil {
		return err
	}
	return n.links.write(at, text)
}

// follow makes an edge of a link, or tells why there is none.
func (n *notesImport) follow(at origin, text []byte) error {
	var l storedLink
	if err := json.Unmarshal(text, &l); err != nil {
		return err
	}
	if l.Type == "CONTAINS" || l.Type == "TEMPORALLY_PRECEDES" { // of our own, by ids
		if l.Wiki {
			l.Type += "_" // a field of that name
		} else {
			return n.s.edge(at, &graphline.Edge{From: l.Target, To: l.From, Type: l.Type})
		}
	}
	id, why := n.book.find(l)
	switch {
	case why == linkOutside:
		n.report.LinksOutside++
		n.report.problemAt(at, "the link to %q leads outside and was not followed", l.Target)
	case why == linkMissing:
		n.report.LinksMissing++
		n.report.problemAt(at, "the link to %q leads to nothing and was not followed", l.Target)
	case id != "" && id != l.From:
		return n.s.edge(at, &graphline.Edge{From: l.From, To: id, Type: strings.TrimSuffix(l.Type, "_")})
	}
	return nil
}
