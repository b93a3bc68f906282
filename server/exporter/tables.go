package exporter

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// The files of an export as CSV.
const (
	nodesFile = "nodes.csv"
	edgesFile = "edges.csv"
)

// tables writes nodes.csv and edges.csv, whose headers tell the kinds of the columns,
// as neo4j-admin reads them.
type tables struct {
	g            *graph
	files        []*os.File
	nodes, edges *table
}

// table is one file.
type table struct {
	report *Report
	w      *csv.Writer
	keys   []string          // of properties, in order
	kinds  map[string]string // by property: the suffix of its column
}

func newTables(g *graph, dir *os.Root) (writer, error) {
	t := &tables{g: g, nodes: &table{report: g.report}, edges: &table{report: g.report}}
	nodeKinds, edgeKinds := map[string]string{}, map[string]string{}
	if err := g.nodes(nil, func(n *graphline.Node) error { learnKinds(nodeKinds, n.Props); return nil }); err != nil {
		return nil, err
	}
	if err := g.edges(nil, func(e *graphline.Edge) error { learnKinds(edgeKinds, e.Props); return nil }); err != nil {
		return nil, err
	}
	delete(nodeKinds, "id")
	delete(nodeKinds, "imported") // which an import of the files notes anew
	g.done = 0
	for _, f := range []struct {
		name   string
		into   *table
		kinds  map[string]string
		header []string
	}{{nodesFile, t.nodes, nodeKinds, []string{":ID", ":LABEL"}}, {edgesFile, t.edges, edgeKinds, []string{":START_ID", ":END_ID", ":TYPE"}}} {
		file, err := create(dir, f.name)
		if err != nil {
			return nil, t.close(err)
		}
		t.files = append(t.files, file)
		g.report.Files = append(g.report.Files, f.name)
		if err := f.into.begin(csv.NewWriter(file), f.header, f.kinds); err != nil {
			return nil, t.close(err)
		}
	}
	return t, nil
}

// create makes a file that is not there yet.
func create(dir *os.Root, name string) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("there is a file %s in the folder already: give another folder, or an empty one", name)
	}
	return f, err
}

func (t *tables) close(err error) error {
	for _, f := range t.files {
		err = errors.Join(err, f.Close())
	}
	return err
}

// learnKinds finds the suffix of each property's column: the kind that all of its
// values have, otherwise string.
func learnKinds(kinds map[string]string, props []engram.Prop) {
	for _, p := range props {
		suffix := suffixOf(p.Value)
		switch old, ok := kinds[p.Key]; {
		case !ok || old == "[]": // an empty list is a list of anything
			kinds[p.Key] = suffix
		case suffix == "[]" && strings.HasSuffix(old, "[]"), old == suffix:
		default:
			kinds[p.Key] = "string"
		}
	}
}

var suffixes = map[engram.Kind]string{
	engram.KindBool: "boolean", engram.KindInt: "int", engram.KindFloat: "float", engram.KindString: "string",
	engram.KindDate: "date", engram.KindTime: "time", engram.KindLocalTime: "localtime", engram.KindDateTime: "datetime",
	engram.KindLocalDateTime: "localdatetime", engram.KindDuration: "duration",
}

func suffixOf(v engram.Value) string {
	if v.Kind() != engram.KindList {
		return suffixes[v.Kind()]
	}
	suffix := ""
	for _, e := range v.AsList() {
		switch s := suffixes[e.Kind()]; {
		case suffix == "" || suffix == s:
			suffix = s
		default: // numbers that are mixed
			suffix = "float"
		}
	}
	return suffix + "[]"
}

func (t *table) begin(w *csv.Writer, header []string, kinds map[string]string) error {
	t.w, t.kinds, t.keys = w, kinds, slices.Sorted(maps.Keys(kinds))
	for _, k := range t.keys {
		suffix := kinds[k]
		if suffix == "[]" {
			suffix = "string[]"
		}
		if strings.ContainsAny(k, ":") || strings.TrimSpace(k) != k || k == "" {
			t.report.lose("properties whose name no column can have")
			continue
		}
		header = append(header, k+":"+suffix)
	}
	t.keys = slices.DeleteFunc(t.keys, func(k string) bool {
		return strings.ContainsAny(k, ":") || strings.TrimSpace(k) != k || k == ""
	})
	return t.w.Write(header)
}

// row writes one; a cell cannot tell an empty text from none.
func (t *table) row(first []string, props []engram.Prop) error {
	cells := append(make([]string, 0, len(first)+len(t.keys)), first...)
	for _, k := range t.keys {
		cell := ""
		for _, p := range props {
			if p.Key == k {
				cell = t.cell(p.Value, t.kinds[k])
			}
		}
		cells = append(cells, cell)
	}
	return t.w.Write(cells)
}

func (t *table) cell(v engram.Value, suffix string) string {
	list := v.Kind() == engram.KindList
	switch {
	case suffix == "string" && v.Kind() != engram.KindString:
		t.report.lose("values that became texts, since others of their property are of another kind")
		if list {
			return string(graphline.AppendValue(nil, v))
		}
	case v.Kind() == engram.KindString && v.AsString() == "", list && len(v.AsList()) == 0:
		t.report.lose("empty texts and lists, which are left out")
		return ""
	}
	if !list {
		text := v.ToString()
		if strings.ContainsRune(text, '\r') {
			t.report.lose("texts with carriage returns, which readers of CSV change")
		}
		return text
	}
	parts := make([]string, 0, len(v.AsList()))
	for _, e := range v.AsList() {
		text := e.ToString()
		if strings.ContainsRune(text, ';') || text == "" && len(v.AsList()) == 1 {
			t.report.lose("lists with texts that hold a semicolon, which divides them")
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ";")
}

func (t *tables) node(n *graphline.Node) error {
	if hasKey(n.Props, "id") && !hasText(n.Props, "id") {
		t.g.report.lose("properties id that are no text")
	}
	for _, l := range n.Labels {
		if strings.ContainsAny(l, ";:") {
			t.g.report.lose("labels with a colon or a semicolon, which divide them")
		}
	}
	return t.nodes.row([]string{n.ID, strings.Join(n.Labels, ";")}, n.Props)
}

func (t *tables) edge(e *graphline.Edge) error {
	return t.edges.row([]string{e.From, e.To, e.Type}, e.Props)
}

func (t *tables) end() error {
	t.nodes.w.Flush()
	t.edges.w.Flush()
	if schema, after, err := declarations(t.g); err == nil && len(schema)+len(after) > 0 {
		t.g.report.Lost = append(t.g.report.Lost, Lost{"declarations of indexes, constraints, layers and the like", int64(len(schema) + len(after))})
	}
	return t.close(errors.Join(t.nodes.w.Error(), t.edges.w.Error()))
}
