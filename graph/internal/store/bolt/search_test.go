package bolt

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph/internal/store"
)

// TestSearch looks up every key, and what stands right before and behind it, among
// numbers that are dense, far apart, doubling, in clusters and mixed with other keys.
func TestSearch(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 7))
	number := func(u uint64) []byte { return binary.BigEndian.AppendUint64(nil, u) }
	sets := map[string]func(i int) []byte{
		"dense":    func(i int) []byte { return number(uint64(i) + 1000) },
		"even":     func(i int) []byte { return number(2 * uint64(i)) },
		"random":   func(int) []byte { return number(random.Uint64()) },
		"doubling": func(int) []byte { return number(random.Uint64() >> random.IntN(64)) },
		"clusters": func(i int) []byte { return number(uint64(i%7)<<60 + uint64(i)) },
		"ends":     func(i int) []byte { return number(uint64(i) | uint64(i%2)*math.MaxUint64) },
		"mixed": func(i int) []byte {
			return append(number(uint64(i)), bytes.Repeat([]byte{1}, i%3*(i%2))...)
		},
	}
	for name, key := range sets {
		t.Run(name, func(t *testing.T) {
			want := map[string]string{}
			batch := store.Batch{Seq: 1}
			for i := range 5000 {
				k := key(i)
				if _, double := want[string(k)]; !double {
					want[string(k)] = string(k) + "'s"
					batch.Puts = append(batch.Puts, store.Put{Space: store.Nodes, Key: k, Value: []byte(string(k) + "'s")})
				}
			}
			slices.SortFunc(batch.Puts, func(a, b store.Put) int { return bytes.Compare(a.Key, b.Key) })
			r := written(t, batch)
			for _, put := range batch.Puts {
				u := binary.BigEndian.Uint64(put.Key)
				for _, k := range [][]byte{put.Key, number(u - 1), number(u), number(u + 1), put.Key[:7], append(number(u), 0)} {
					v, err := r.Get(store.Nodes, k)
					if err != nil || string(v) != want[string(k)] {
						t.Fatalf("key %x: %q, %v; want %q", k, v, err, want[string(k)])
					}
				}
			}
		})
	}
}

func written(t *testing.T, batch store.Batch) store.Reader {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := Create(path, nil); err != nil {
		t.Fatal(err)
	}
	d, err := Open(path, &Options{MaxSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if outcome, err := d.Apply(0, []store.Batch{batch}); outcome != store.Committed {
		t.Fatal(outcome, err)
	}
	r, err := d.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	return r
}
