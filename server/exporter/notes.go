package exporter

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"engram"
	"engram/server/internal/graphline"

	"go.yaml.in/yaml/v4"
)

// notes writes a folder of Markdown: a file for each node, with its properties in
// front and its content below, and links for its edges.
type notes struct {
	g     *graph
	dir   *os.Root
	files map[string]string   // by id
	taken map[string]struct{} // names in lower case
}

// maxNoteName bounds a file's name in bytes, with room for a number and a suffix.
const maxNoteName = 100

func newNotes(g *graph, dir *os.Root) (writer, error) {
	w := &notes{g: g, dir: dir, files: map[string]string{}, taken: map[string]struct{}{}}
	entries, err := readDir(dir)
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		return nil, errors.New("the folder is not empty: give another one, or one that is to be made")
	}
	return w, nil
}

func readDir(dir *os.Root) ([]os.DirEntry, error) {
	f, err := dir.Open(".")
	if err != nil {
		return nil, err
	}
	entries, err := f.ReadDir(1)
	if len(entries) > 0 {
		err = nil
	}
	_ = f.Close() // it was only read
	if err != nil && err.Error() == "EOF" {
		err = nil
	}
	return entries, err
}

// name chooses a file for a node.
func (w *notes) name(n *graphline.Node) string {
	stem := n.ID
	if t := prop(n.Props, "title").AsString(); t != "" {
		stem = t
	}
	stem = strings.TrimSuffix(path.Base(strings.ReplaceAll(stem, "\\", "/")), ".md")
	stem = strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_', r == ' ', r == '.':
			return r
		}
		return '-'
	}, stem)
	for len(stem) > maxNoteName {
		_, size := utf8.DecodeLastRuneInString(stem)
		stem = stem[:len(stem)-size]
	}
	if stem = strings.Trim(stem, " .-"); stem == "" {
		stem = "node"
	}
	if strings.EqualFold(stem, "index") { // which stands for a folder
		stem += "-"
	}
	name := stem + ".md"
	for i := 2; ; i++ {
		if _, ok := w.taken[strings.ToLower(name)]; !ok {
			w.taken[strings.ToLower(name)] = struct{}{}
			return name
		}
		name = fmt.Sprintf("%s %d.md", stem, i)
	}
}

// node notes the name; the files are written behind, when the edges are known.
func (w *notes) node(n *graphline.Node) error {
	w.files[n.ID] = w.name(n)
	return nil
}

func (w *notes) edge(e *graphline.Edge) error {
	for range e.Props {
		w.g.report.lose("properties of edges")
	}
	return nil
}

// end reads the nodes again, each with its edges.
func (w *notes) end() error {
	err := w.g.each(nil, "MATCH (n) OPTIONAL MATCH (n)-[r]->(m) WITH n, type(r) AS t, elementId(m) AS m ORDER BY t, m WITH n, collect(t) AS ts, collect(m) AS ms RETURN {n: n, ts: ts, ms: ms}",
		func(v engram.Value) error {
			m := v.AsMap().Entries
			n := prop(m, "n").AsNode()
			return w.write(n, texts(prop(m, "ts")), texts(prop(m, "ms")))
		})
	if schema, after, err := declarations(w.g); err == nil && len(schema)+len(after) > 0 {
		w.g.report.Lost = append(w.g.report.Lost, Lost{"declarations of indexes, constraints, layers and the like", int64(len(schema) + len(after))})
	}
	return err
}

func (w *notes) write(n *engram.Node, types, ends []string) error {
	front, err := w.front(n, types, ends)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	b.WriteString("---\n")
	b.Write(front)
	b.WriteString("---\n")
	if content := prop(n.Properties, "content"); content.Kind() == engram.KindString {
		b.WriteString("\n" + content.AsString())
		if !strings.HasSuffix(content.AsString(), "\n") {
			b.WriteString("\n")
		}
	}
	f, err := create(w.dir, w.files[n.ElementID])
	if err != nil {
		return err
	}
	_, err = f.Write(b.Bytes())
	return errors.Join(err, f.Close())
}

// front writes what stands before the content: id, labels, properties, and edges as
// lists of links under their type.
func (w *notes) front(n *engram.Node, types, ends []string) ([]byte, error) {
	doc := &yaml.Node{Kind: yaml.MappingNode}
	add := func(key string, value any) error {
		var v yaml.Node
		if err := v.Encode(value); err != nil {
			return err
		}
		doc.Content = append(doc.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, &v)
		return nil
	}
	if err := add("id", n.ElementID); err != nil {
		return nil, err
	}
	if len(n.Labels) > 0 {
		if err := add("labels", n.Labels); err != nil {
			return nil, err
		}
	}
	for _, p := range n.Properties {
		switch {
		case p.Key == "id" || p.Key == "imported" || p.Key == "labels":
			continue
		case p.Key == "content" && p.Value.Kind() == engram.KindString:
			continue
		case graphline.KindName(p.Value) != "":
			w.g.report.lose("values of dates, times and durations, which became texts")
		}
		if err := add(p.Key, plain(p.Value)); err != nil {
			return nil, err
		}
	}
	for i := 0; i < len(types); {
		var links []string
		from := i
		for ; i < len(types) && types[i] == types[from]; i++ {
			links = append(links, "[["+strings.TrimSuffix(w.files[ends[i]], ".md")+"]]")
		}
		key := types[from]
		for slices.ContainsFunc(doc.Content, func(c *yaml.Node) bool { return c.Value == key }) {
			key += "_"
		}
		if err := add(key, links); err != nil {
			return nil, err
		}
	}
	return yaml.Marshal(doc)
}

// plain makes what YAML knows of a value.
func plain(v engram.Value) any {
	switch v.Kind() {
	case engram.KindBool:
		return v.AsBool()
	case engram.KindInt:
		return v.AsInt()
	case engram.KindFloat:
		return v.AsFloat()
	case engram.KindList:
		out := make([]any, 0, len(v.AsList()))
		for _, e := range v.AsList() {
			out = append(out, plain(e))
		}
		return out
	}
	return v.ToString()
}
