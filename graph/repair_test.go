package graph_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"engram/graph"
	"engram/graph/schema"
)

// reading opens for reading and returns what check finds.
func (f *fileDB) reading() *graph.Report {
	f.t.Helper()
	data, err := graph.OpenData(f.dir, graph.DataOptions{ReadOnly: true})
	f.must(err)
	o := f.opts
	db, err := data.Open(context.Background(), "g", &o)
	f.must(err)
	report, err := db.Check(context.Background())
	f.must(err)
	f.must(db.Close(context.Background()))
	f.must(data.Close())
	return report
}

func (f *fileDB) flip(path string, at int) {
	f.t.Helper()
	b, err := os.ReadFile(path)
	f.must(err)
	b[(at+len(b))%len(b)] ^= 8
	f.must(os.WriteFile(path, b, 0o600))
}

// withIndexes makes a graph of 20 nodes with a declared index and a unique constraint.
func withIndexes(t *testing.T) *fileDB {
	f := newFileDB(t, graph.Options{})
	tx, err := f.db.Begin(context.Background())
	f.must(err)
	f.must(tx.CreateSchema(schema.Def{Kind: schema.Range, Owner: "L0", Keys: []string{"importance"}}))
	f.must(tx.CreateSchema(schema.Def{Kind: schema.Unique, Owner: "L1", Keys: []string{"content"}}))
	_, err = tx.Commit(context.Background())
	f.must(err)
	for n := range 20 {
		f.add(n)
	}
	f.close()
	return f
}

// TestCheckFindsDamagedCopies damages what is derived, one thing at a time: check
// on a database open for reading names it, changes nothing, and rebuilding puts it
// right, with the evidence kept.
func TestCheckFindsDamagedCopies(t *testing.T) {
	f := withIndexes(t)
	if r := f.reading(); !r.OK() || r.Texts != 20 {
		t.Fatalf("before: %s", r)
	}
	for _, c := range []struct {
		name   string
		damage func()
		want   string // in a problem
		aside  string
	}{
		{"topology", func() { f.flip(f.path("topology.snap"), 200) }, "topology.snap", "topology.snap.damaged"},
		{"topology's end", func() { f.flip(f.path("topology.snap"), -3) }, "topology.snap", "topology.snap.damaged"},
		{"text segment", func() {
			files, err := filepath.Glob(f.path("text/*.zap"))
			f.must(err)
			f.flip(files[0], 100)
		}, "checksum", "text.damaged"},
		{"text root", func() { f.must(os.WriteFile(f.path("text/root.bolt"), nil, 0o600)) }, "root.bolt", "text.damaged"},
		{"index entry gone", func() { f.dropEntry() }, "index", "topology.snap.damaged"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f.t = t
			c.damage()
			before, err := os.ReadDir(f.path(""))
			f.must(err)
			r := f.reading()
			if !strings.Contains(strings.Join(r.Problems, "\n"), c.want) {
				t.Errorf("found %s", r)
			}
			after, err := os.ReadDir(f.path(""))
			f.must(err)
			if len(before) != len(after) {
				t.Errorf("looking changed the directory from %v to %v", before, after)
			}
			f.opts.Rebuild = true
			f.open()
			f.verify(20)
			f.close()
			f.opts.Rebuild = false
			if _, err := os.Stat(f.path(c.aside)); err != nil {
				t.Errorf("the evidence is not kept: %v", err)
			}
			if r := f.reading(); !r.OK() || r.Texts != 20 || r.Index == 0 {
				t.Errorf("after rebuilding: %s", r)
			}
		})
	}
	f.t = t
}

// dropEntry removes one entry of a declared index behind the graph's back.
func (f *fileDB) dropEntry() {
	f.t.Helper()
	db, err := bbolt.Open(f.path("graph.db"), 0o600, nil)
	f.must(err)
	f.must(db.Update(func(tx *bbolt.Tx) error {
		var found []byte
		err := tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, _ []byte) error {
				if found == nil && len(k) > 18 && bytes.HasPrefix(k, []byte{5, 0, 0, 0, 0, 0}) {
					found = bytes.Clone(k)
					return b.Delete(k)
				}
				return nil
			})
		})
		if found == nil {
			f.t.Fatal("no entry found")
		}
		return err
	}))
	f.must(db.Close())
}
