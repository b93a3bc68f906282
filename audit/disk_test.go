package audit_test

import (
	"context"
	"crypto/sha256"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/audit"
	"engram/graph"
)

// onDisk opens the graph of a data directory, made when it is missing, for one step.
func onDisk(t *testing.T, dir string, o *graph.Options, step func(p *planted)) {
	t.Helper()
	p := &planted{t: t}
	if _, err := os.Stat(dir); err != nil {
		p.ok(graph.CreateData(dir))
	}
	data, err := graph.OpenData(dir, graph.DataOptions{})
	p.ok(err)
	if names, err := data.Names(); err == nil && len(names) == 0 {
		p.ok(data.Create("main", o))
	}
	p.db, err = data.Open(context.Background(), "main", o)
	p.ok(err)
	step(p)
	p.ok(p.db.Close(context.Background()))
	p.ok(data.Close())
}

// split makes a graph and a copy of it, lets each go its own way by as many
// transactions, and then gives the first one a part of the other: a copy of the data
// that claims to be up to date, but is not.
func split(t *testing.T, part string, o *graph.Options, before, here, there func(p *planted)) string {
	t.Helper()
	dir, other := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "other")
	onDisk(t, dir, o, before)
	if err := os.CopyFS(other, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	onDisk(t, dir, o, here)
	onDisk(t, other, o, there)
	mine := filepath.Join(dir, "ns", "main", part)
	if err := os.RemoveAll(mine); err != nil {
		t.Fatal(err)
	}
	theirs := filepath.Join(other, "ns", "main", part)
	info, err := os.Stat(theirs)
	if err != nil {
		t.Fatal(err)
	}
	if info.IsDir() {
		err = os.CopyFS(mine, os.DirFS(theirs))
	} else {
		var b []byte
		if b, err = os.ReadFile(theirs); err == nil {
			err = os.WriteFile(mine, b, 0o600)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// diverge plants a missing, a stale and an extra document; everybody else is equal.
func diverge(t *testing.T, part string) string {
	t.Helper()
	note := []string{"Note"}
	set := func(p *planted, id, content string) {
		n, err := p.tx.NodeByElementID(id)
		p.ok(err)
		for _, prop := range p.props([]any{"content", content}) {
			_, err = p.tx.SetNodeProp(n, prop.Key, prop.Value)
			p.ok(err)
		}
	}
	return split(t, part, nil, func(p *planted) {
		p.node("kept", note, "content", "the garden by the river")
		p.node("mute", note, "content", "?")
		p.node("stale", note, "content", "she lives in Rome")
		p.node("extra", note)
	}, func(p *planted) {
		p.begin()
		set(p, "stale", "she plays the piano")
		p.node("missing", note, "content", "a train in summer")
		p.node("gone", note)
		p.commit()
	}, func(p *planted) {
		p.begin()
		set(p, "stale", "she moved to Oslo")
		set(p, "extra", "a house by the mountain")
		p.node("nobody", note)
		p.node("never", note, "content", "a child in the rain")
		p.commit()
		same(t, p.find("index_divergence")) // and so the text index is open, and written at closing
	})
}

func TestIndexDivergence(t *testing.T) {
	compare := audit.Options{With: map[string]float64{"compare_content": 1}}
	for part, index := range map[string]string{"text": "text", "vectors": "vector"} {
		onDisk(t, diverge(t, part), nil, func(p *planted) {
			f := p.find("index_divergence")
			same(t, f, "extra", "missing", "gone")
			measures(t, f, "texts", 4, index+"_missing", 1, index+"_extra", 2, index+"_stale", nil)
			if f.Status != audit.Defect {
				t.Errorf("%s: status %s", part, f.Status)
			}
			f = p.find("index_divergence", compare)
			same(t, f, "stale", "extra", "missing", "gone")
			measures(t, f, index+"_stale", 1)
		})
	}
	onDisk(t, filepath.Join(t.TempDir(), "data"), nil, func(p *planted) {
		p.node("a", []string{"Note"}, "content", "the garden by the river")
		p.node("b", []string{"Note"}, "content", "?")
		for _, more := range []string{"c", "d"} {
			f := p.find("index_divergence", compare)
			same(t, f)
			measures(t, f, "texts", 2, "text_missing", 0, "text_stale", 0, "vector_missing", 0, "vector_stale", 0)
			if f.Status != audit.OK {
				t.Errorf("status %s: %s", f.Status, f.Note)
			}
			p.node(more, nil)
		}
	})
}

// The copy of the topology is of a graph that went another way: what it says of ends,
// nodes and edges is not what the records say.
func TestDanglingEdges(t *testing.T) {
	small := &graph.Options{SnapshotBytes: 1}
	before := func(p *planted) {
		p.begin()
		a, b, c := p.node("a", nil), p.node("b", nil), p.node("c", nil)
		p.edge(a, b, "KNOWS")
		p.edge(b, c, "KNOWS")
		p.commit()
	}
	drop := func(id string) func(p *planted) {
		return func(p *planted) {
			p.begin()
			n, err := p.tx.NodeByElementID(id)
			p.ok(err)
			_, err = p.tx.DeleteNode(n, true)
			p.ok(err)
			p.commit()
		}
	}
	for _, c := range []struct {
		name        string
		here, there func(p *planted)
		edges       []string
		nodes       []string
	}{
		{
			"other ends", func(p *planted) { p.link("a", "b") }, func(p *planted) { p.link("a", "c") },
			[]string{"a-KNOWS->b: its record names other ends or another type than the topology"},
			nil,
		},
		{
			"another node is gone", drop("c"), drop("a"),
			[]string{"node 1-KNOWS->b: gone: its start", "b-KNOWS->node 3: it has no record"},
			[]string{"node 1: it has a record, but is not in the topology", "node 3: it has no record"},
		},
	} {
		onDisk(t, split(t, "topology.snap", small, before, c.here, c.there), small, func(p *planted) {
			f := p.find("orphans_and_dangling")
			var edges, nodes []string
			for _, e := range f.Edges.Items {
				edges = append(edges, e.From+"-"+e.Type+"->"+e.To+": "+e.Why)
			}
			for _, n := range f.Nodes.Items {
				nodes = append(nodes, n.Ext+": "+n.Why)
			}
			if f.Status != audit.Defect || !slices.Equal(edges, c.edges) || !slices.Equal(nodes, c.nodes) {
				t.Errorf("%s: %s\n%q\n%q", c.name, f.Status, edges, nodes)
			}
			measures(t, f, "dangling", len(c.edges))
		})
	}
	// A topology that is made of the records anew is whole.
	dir := filepath.Join(t.TempDir(), "data")
	onDisk(t, dir, small, before)
	if err := os.Remove(filepath.Join(dir, "ns", "main", "topology.snap")); err != nil {
		t.Fatal(err)
	}
	onDisk(t, dir, small, func(p *planted) {
		f := p.find("orphans_and_dangling")
		measures(t, f, "dangling", 0, "edge_records", 2)
		if f.Status != audit.OK {
			t.Errorf("made anew it is %s: %s", f.Status, f.Note)
		}
	})
}

func (p *planted) link(from, to string) {
	p.t.Helper()
	p.begin()
	a, err := p.tx.NodeByElementID(from)
	p.ok(err)
	b, err := p.tx.NodeByElementID(to)
	p.ok(err)
	p.edge(a, b, "KNOWS")
	p.commit()
}

// files hashes everything in a directory.
func files(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = sha256.Sum256(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// An audit changes no file, whether the graph is open for reading or for writing.
func TestAuditChangesNoFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	onDisk(t, dir, nil, func(p *planted) {
		for i := range 20 {
			n := p.node(string(rune('a'+i)), []string{"Note"}, "content", walk)
			p.edge(n, n, "ADMIRES")
		}
	})
	for _, readOnly := range []bool{true, false} {
		before := files(t, dir)
		data, err := graph.OpenData(dir, graph.DataOptions{ReadOnly: readOnly})
		if err != nil {
			t.Fatal(err)
		}
		p := &planted{t: t}
		p.db, err = data.Open(context.Background(), "main", nil)
		p.ok(err)
		if !readOnly {
			// Opening writes the lock. The library of the text index writes to its files by
			// itself, some time after opening them.
			before = files(t, dir)
			maps.DeleteFunc(before, ofText)
		}
		r := p.run(audit.Options{Suggest: true, With: map[string]float64{"compare_content": 1}})
		if f := r.Finding("duplicates"); f.Nodes.Total != 20 {
			t.Errorf("the audit found %d duplicates", f.Nodes.Total)
		}
		// The indexes on disk of a graph that is open for reading are not looked at.
		want := audit.OK
		if readOnly {
			want = audit.Unknown
		}
		for _, name := range []string{"index_divergence", "embedding_coverage"} {
			if f := r.Finding(name); f.Status != want || f.Nodes.Total != 0 {
				t.Errorf("%s is %s: %s", name, f.Status, f.Note)
			}
		}
		if !readOnly {
			after := files(t, dir)
			maps.DeleteFunc(after, ofText)
			sameFiles(t, before, after)
		}
		p.ok(p.db.Close(context.Background()))
		p.ok(data.Close())
		if readOnly {
			sameFiles(t, before, files(t, dir))
		}
	}
}

func ofText(path string, _ [32]byte) bool {
	return strings.Contains(filepath.ToSlash(path), "/text/")
}

func sameFiles(t *testing.T, before, after map[string][32]byte) {
	t.Helper()
	for name, sum := range before {
		if after[name] != sum {
			t.Errorf("%s changed", name)
		}
	}
	if len(after) != len(before) || len(before) < 3 {
		t.Errorf("%d files before, %d after", len(before), len(after))
	}
}
