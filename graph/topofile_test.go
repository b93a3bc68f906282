package graph_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/value"
)

// fileDB is a graph in a directory that is opened and closed at will.
type fileDB struct {
	t    *testing.T
	dir  string
	opts graph.Options
	data *graph.Data
	db   *graph.DB
}

func newFileDB(t *testing.T, o graph.Options) *fileDB {
	f := &fileDB{t: t, dir: filepath.Join(t.TempDir(), "data"), opts: o}
	f.must(graph.CreateData(f.dir))
	data, err := graph.OpenData(f.dir, graph.DataOptions{})
	f.must(err)
	f.must(data.Create("g", &o))
	f.must(data.Close())
	f.open()
	t.Cleanup(f.close)
	return f
}

func (f *fileDB) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f *fileDB) open() {
	f.t.Helper()
	var err error
	f.data, err = graph.OpenData(f.dir, graph.DataOptions{})
	f.must(err)
	o := f.opts
	f.db, err = f.data.Open(context.Background(), "g", &o)
	f.must(err)
}

func (f *fileDB) close() {
	if f.db == nil {
		return
	}
	f.must(f.db.Close(context.Background()))
	f.must(f.data.Close())
	f.db = nil
}

func (f *fileDB) path(name string) string { return filepath.Join(f.dir, "ns", "g", name) }

// kill leaves the directory as it is now, as a kill would, and goes on from
// there.
func (f *fileDB) kill() {
	f.t.Helper()
	saved := f.t.TempDir()
	f.must(os.CopyFS(saved, os.DirFS(f.path(""))))
	f.close()
	f.must(os.RemoveAll(f.path("")))
	f.must(os.CopyFS(f.path(""), os.DirFS(saved)))
	f.open()
}

// add makes a node with text, hot columns and an edge to the node before.
func (f *fileDB) add(n int) {
	f.t.Helper()
	ctx := context.Background()
	tx, err := f.db.Begin(ctx)
	f.must(err)
	label, err := tx.InternLabel(fmt.Sprintf("L%d", n%3))
	f.must(err)
	typ, err := tx.InternRelType("NEXT")
	f.must(err)
	var props []value.KeyProp
	for _, p := range []value.Prop{
		{Key: "id", Value: value.String(fmt.Sprintf("n%d", n))},
		{Key: "content", Value: value.String(fmt.Sprintf("word%d shared", n))},
		{Key: "importance", Value: value.Float(float64(n) / 8)},
		{Key: "tier", Value: value.String("Working")},
	} {
		k, err := tx.InternKey(p.Key)
		f.must(err)
		props = append(props, value.KeyProp{Key: k, Value: p.Value})
	}
	id, err := tx.CreateNode([]value.LabelID{label}, props)
	f.must(err)
	if last, err := tx.NodesByID(value.String(fmt.Sprintf("n%d", n-1)), nil); err == nil && len(last) == 1 {
		w, err := tx.InternKey("weight")
		f.must(err)
		_, err = tx.CreateEdge(last[0], id, typ, []value.KeyProp{{Key: w, Value: value.Float(0.5)}})
		f.must(err)
	}
	_, err = tx.Commit(ctx)
	f.must(err)
}

// verify checks everything and that n nodes are there.
func (f *fileDB) verify(n int) {
	f.t.Helper()
	report, err := f.db.Check(context.Background())
	f.must(err)
	if !report.OK() || report.Nodes != int64(n) || report.Texts != int64(n) {
		f.t.Fatalf("want %d nodes:\n%s", n, report)
	}
}

func (f *fileDB) stats() graph.Stats {
	f.t.Helper()
	s, err := f.db.Stats()
	f.must(err)
	return s
}

// TestOpeningFromTheTopologyFile stops cleanly, is killed, and is killed with a
// log behind the file: the topology must come from the file each time and be what
// the records say.
func TestOpeningFromTheTopologyFile(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	for n := range 20 {
		f.add(n)
	}
	f.close()
	f.open()
	if s := f.stats(); s.Topology.OpenedAt != s.Seq || s.Topology.FileBytes == 0 || len(s.Notes) > 0 {
		t.Fatalf("after a clean stop: %+v %q", s.Topology, s.Notes)
	}
	f.verify(20)
	at := f.stats().Topology.FileSeq
	for n := 20; n < 30; n++ {
		f.add(n)
	}
	f.kill()
	if s := f.stats(); s.Topology.OpenedAt != at || s.Seq <= at || len(s.Notes) > 0 {
		t.Fatalf("after a kill: %+v at %d, the file was at %d; %q", s.Topology, s.Seq, at, s.Notes)
	}
	f.verify(30)
}

// TestTopologyFilesThatAreNoGood damages the file in many ways. Each time the
// graph opens, built from the records, and says why; the evidence is kept.
func TestTopologyFilesThatAreNoGood(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	for n := range 10 {
		f.add(n)
	}
	f.close()
	other := newFileDB(t, graph.Options{})
	other.add(1)
	other.close()
	foreign, err := os.ReadFile(other.path("topology.snap"))
	f.must(err)
	whole, err := os.ReadFile(f.path("topology.snap"))
	f.must(err)
	edit := func(at int, x byte) []byte {
		b := bytes.Clone(whole)
		b[at] ^= x
		return b
	}
	for _, c := range []struct {
		name    string
		content []byte // nil: deleted
		note    string
	}{
		{"deleted", nil, ""},
		{"empty", []byte{}, "damaged"},
		{"cut", whole[:len(whole)-1], "damaged"},
		{"cut in the middle", whole[:len(whole)/2], "damaged"},
		{"other content", []byte(strings.Repeat("x", 500)), "not an engram"},
		{"flipped in a chunk", edit(100, 4), "damaged"},
		{"flipped at the end", edit(len(whole)-20, 4), "damaged"},
		{"newer", edit(8, 0xf0), "newer version"},
		{"of another database", foreign, "another database"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.t = t
			f.must(os.RemoveAll(f.path("topology.snap.damaged")))
			if c.content == nil {
				f.must(os.Remove(f.path("topology.snap")))
			} else {
				f.must(os.WriteFile(f.path("topology.snap"), c.content, 0o600))
			}
			f.open()
			defer f.close()
			s := f.stats()
			notes := strings.Join(s.Notes, "\n")
			if s.Topology.OpenedAt != 0 || !strings.Contains(notes, c.note) || (notes == "") != (c.note == "") {
				t.Errorf("opened from %d, notes %q", s.Topology.OpenedAt, notes)
			}
			kept, err := os.ReadFile(f.path("topology.snap.damaged"))
			if c.content == nil {
				if !errors.Is(err, os.ErrNotExist) {
					t.Errorf("something was set aside: %v", err)
				}
			} else if err != nil || !bytes.Equal(kept, c.content) {
				t.Errorf("the evidence is not kept: %v", err)
			}
			f.verify(10)
		})
	}
	f.t = t
}

// TestAnOlderStoreUnderTheTopologyFile restores the store alone: the file is
// ahead of it and must not be used.
func TestAnOlderStoreUnderTheTopologyFile(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	f.add(0)
	f.close()
	old, err := os.ReadFile(f.path("graph.db"))
	f.must(err)
	f.open()
	f.add(1)
	f.close()
	f.must(os.WriteFile(f.path("graph.db"), old, 0o600))
	f.must(os.Remove(f.path("seq")))
	f.open()
	s := f.stats()
	if s.Topology.OpenedAt != 0 || len(s.Notes) != 2 || !strings.Contains(s.Notes[0], "seq: it is missing") || !strings.Contains(s.Notes[1], "ahead of the database") {
		t.Errorf("opened from %d, notes %q", s.Topology.OpenedAt, s.Notes)
	}
	report, err := f.db.Check(t.Context())
	f.must(err)
	if len(report.Problems) != 1 || report.Problems[0] != s.Notes[0] {
		t.Errorf("check says %q; want the missing file", report.Problems)
	}
	f.close() // the next opening finds a file of its own again
	f.open()
	f.verify(1)
}

// TestOtherHotColumns opens with other hot columns than the file was made with:
// nothing is wrong, and reads are right.
func TestOtherHotColumns(t *testing.T) {
	f := newFileDB(t, graph.Options{})
	for n := range 5 {
		f.add(n)
	}
	f.close()
	f.opts.HotColumns = []string{"tier"}
	f.open()
	if s := f.stats(); s.Topology.OpenedAt != 0 || len(s.Notes) > 0 {
		t.Errorf("opened from %d, notes %q", s.Topology.OpenedAt, s.Notes)
	}
	f.verify(5)
	f.close()
	f.open()
	if s := f.stats(); s.Topology.OpenedAt != s.Seq {
		t.Errorf("the file was not written anew: %+v", s.Topology)
	}
	f.verify(5)
}

// TestLogTrimming writes until the file is written in the background and the log
// is trimmed, also while the text index is late, and opens what is left.
func TestLogTrimming(t *testing.T) {
	o := graph.Options{SnapshotBytes: 2000}
	f := newFileDB(t, *graph.Manual(graph.TrimAt(&o, 20, 100)))
	tidy := func() {
		for f.db.TidyOnce(context.Background()) {
		}
		f.must(f.db.TidyError())
	}
	entries := func() int64 {
		report, err := f.db.Check(context.Background())
		f.must(err)
		return report.Log
	}
	n := 0
	more := func(count int) {
		for range count {
			f.add(n)
			n++
		}
	}
	f.db.PauseText()
	more(60)
	tidy()
	if got := entries(); got < 60 {
		t.Errorf("%d entries are left although the text index has none of them", got)
	}
	f.db.FlushText()
	tidy()
	if got := entries(); got > 40 {
		t.Errorf("%d entries are left", got)
	}
	f.verify(n)
	f.kill()
	if f.stats().Topology.OpenedAt == 0 {
		t.Error("not opened from the file")
	}
	f.verify(n)
	// A text index that does not get on at all is given up beyond the cap.
	f.db.PauseText()
	more(150)
	tidy()
	if got := entries(); got < 60 || got > 130 {
		t.Errorf("%d entries are left, the cap is 100", got)
	}
	f.kill()
	f.verify(n)
}

// TestTrimmingIsNoChangeOfAReader opens and closes without writing: nothing is
// trimmed and the seq stays.
func TestTrimmingIsNoChangeOfAReader(t *testing.T) {
	o := graph.Options{}
	f := newFileDB(t, *graph.TrimAt(&o, 5, 100))
	for n := range 50 {
		f.add(n)
	}
	f.close()
	f.open()
	f.close()
	f.open()
	seq := f.stats().Seq
	f.close()
	f.open()
	if got := f.stats().Seq; got != seq {
		t.Errorf("seq %d became %d", seq, got)
	}
	f.verify(50)
}
