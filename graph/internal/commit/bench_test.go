package commit

import (
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"testing"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// BenchmarkCommit measures durable transactions of 3 appended keys and the answer
// to each, by how many writers commit at once.
func BenchmarkCommit(b *testing.B) {
	for _, writers := range []int{1, 8, 64} {
		b.Run(fmt.Sprint("writers=", writers), func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "graph.db")
			if err := bolt.Create(path, nil); err != nil {
				b.Fatal(err)
			}
			driver, err := bolt.Open(path, nil)
			if err != nil {
				b.Fatal(err)
			}
			e, err := New(driver, Options[int]{})
			if err != nil {
				b.Fatal(err)
			}
			var wg sync.WaitGroup
			b.ResetTimer()
			for w := range writers {
				wg.Go(func() {
					for range b.N/writers + min(1, max(0, b.N%writers-w)) {
						commitOne(b, e)
					}
				})
			}
			wg.Wait()
			b.StopTimer()
			s := e.Stats()
			b.ReportMetric(float64(s.Commits)/b.Elapsed().Seconds(), "tx/s")
			b.ReportMetric(float64(s.Commits)/float64(s.Groups), "tx/group")
			if err := e.Close(context.Background()); err != nil {
				b.Fatal(err)
			}
		})
	}
}

func commitOne(b *testing.B, e *Engine[int]) {
	slot, err := e.AcquireSlot(context.Background())
	if err != nil {
		b.Error(err)
		return
	}
	key := binary.BigEndian.AppendUint64(nil, uint64(slot.Seq()+1))
	value := make([]byte, 100)
	puts := []store.Put{{Space: store.Nodes, Key: key, Value: value}, {Space: store.Edges, Key: key, Value: value}, {Space: store.Log, Key: key, Value: value}}
	if _, outcome, err := slot.Finish(puts, 0, "").Wait(context.Background()); outcome != store.Committed {
		b.Error(err)
	}
}

// BenchmarkSnapshot measures opening a snapshot, one read and closing it.
func BenchmarkSnapshot(b *testing.B) {
	path := filepath.Join(b.TempDir(), "graph.db")
	if err := bolt.Create(path, []store.Put{put("a", "1")}); err != nil {
		b.Fatal(err)
	}
	driver, err := bolt.Open(path, nil)
	if err != nil {
		b.Fatal(err)
	}
	e, err := New(driver, Options[int]{})
	if err != nil {
		b.Fatal(err)
	}
	key := []byte("a")
	b.ReportAllocs()
	for b.Loop() {
		s, err := e.Snapshot()
		if err != nil {
			b.Fatal(err)
		}
		if v, err := s.Get(store.Nodes, key); err != nil || len(v) != 1 {
			b.Fatal(v, err)
		}
		s.Close()
	}
	if err := e.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
}
