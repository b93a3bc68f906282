package bolt

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// BenchmarkGet compares lookups in a verified tree with bbolt's own, at random, of
// keys that are there and of absent ones.
func BenchmarkGet(b *testing.B) {
	const n = 200_000
	path := filepath.Join(b.TempDir(), "graph.db")
	if err := Create(path, nil); err != nil {
		b.Fatal(err)
	}
	d, err := Open(path, &Options{MaxSize: 1 << 30})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	batch := store.Batch{Seq: 1}
	for i := range uint64(n) {
		batch.Puts = append(batch.Puts, store.Put{Space: store.Nodes, Key: binary.BigEndian.AppendUint64(nil, 2*i), Value: fmt.Appendf(nil, "%0100d", i)})
	}
	if outcome, err := d.Apply(0, []store.Batch{batch}); outcome != store.Committed {
		b.Fatal(outcome, err)
	}
	r, err := d.Snapshot()
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	random := rand.New(rand.NewPCG(1, 1))
	keys := make([][]byte, 4096)
	for i := range keys {
		keys[i] = binary.BigEndian.AppendUint64(nil, 2*random.Uint64N(n))
	}
	b.Run("engram", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			if v, err := r.Get(store.Nodes, keys[i%len(keys)]); v == nil || err != nil {
				b.Fatal(v, err)
			}
		}
	})
	b.Run("bbolt", func(b *testing.B) {
		_ = d.db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket([]byte("nodes"))
			for i := 0; b.Loop(); i++ {
				if v := bucket.Get(keys[i%len(keys)]); append([]byte(nil), v...) == nil {
					b.Fatal("absent")
				}
			}
			return nil
		})
	})
}
