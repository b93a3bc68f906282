package graph_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"engram/graph"
)

// TestYardstickWritesTheSame lets a yardstick repeat some of a database's
// transactions on a copy of its file: then both files hold the same.
func TestYardstickWritesTheSame(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	if err := graph.CreateData(dir); err != nil {
		t.Fatal(err)
	}
	data := must(graph.OpenData(dir, graph.DataOptions{}))(t)
	defer func() { must0(t, data.Close()) }()
	must0(t, data.Create("g", nil))
	open := func() *graph.DB { return must(data.Open(ctx, "g", nil))(t) }
	db := open()
	addPair(t, db, 0)
	must0(t, db.Close(ctx))
	file, copied := filepath.Join(dir, "ns", "g", "graph.db"), filepath.Join(t.TempDir(), "copy")
	must0(t, os.WriteFile(copied, must(os.ReadFile(file))(t), 0o600))
	db = open()
	y := must(db.NewYardstick(copied))(t)
	before := db.Seq()
	for i := range 5 {
		addPair(t, db, i+1)
	}
	want := int(db.Seq() - before) // one of them reserves ids
	if n, took, err := y.Repeat(); n != want || n < 5 || took <= 0 || err != nil {
		t.Errorf("it repeats %d transactions in %v, %v; want %d", n, took, err, want)
	}
	if n, _, err := y.Repeat(); n != 0 || err != nil {
		t.Errorf("without new ones it repeats %d, %v", n, err)
	}
	must0(t, y.Close())
	syncs := must(db.Stats())(t).Store.Syncs
	if syncs != uint64(2*want) {
		t.Errorf("%d transactions took %d syncs; want 2 each", want, syncs)
	}
	must0(t, db.Close(ctx))
	if a, b := contents(t, file), contents(t, copied); a != b {
		t.Errorf("the files differ:\n%s\n%s", a, b)
	}
}

func must0(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// contents is all that a bbolt file holds.
func contents(t *testing.T, file string) (out string) {
	t.Helper()
	db := must(bbolt.Open(file, 0o600, &bbolt.Options{ReadOnly: true}))(t)
	defer func() { must0(t, db.Close()) }()
	must0(t, db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
			return b.ForEach(func(k, v []byte) error {
				out += fmt.Sprintf("%s %x %x\n", name, k, v)
				return nil
			})
		})
	}))
	return out
}
