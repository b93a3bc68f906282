package vector

import (
	"sync"
	"testing"

	"engram/graph/value"
)

// TestWhatIsReplacedIsLetGo updates the same nodes over and over.
func TestWhatIsReplacedIsLetGo(t *testing.T) {
	ix := open(t, manual("", 4))
	for seq := range 500 {
		ix.Publish(uint64(seq+1), docsOf(uint64(seq), 1, 51))
		if seq == 480 {
			if err := ix.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if s := ix.Stats(); s.Entries > 50+19*50 || s.Live != 50 {
		t.Errorf("%+v, want entries of before the flush gone", s)
	}
	old := must(ix.At(481))(t)
	want := search(t, ix, 481)
	if err := ix.Flush(); err != nil {
		t.Fatal(err)
	}
	for range 200 {
		ix.Publish(ix.PublishedSeq()+1, docsOf(7, 1, 51))
	}
	got := must(old.Search(Query{Vector: []float32{1, 2, 3, -4}, Limit: 10, Floor: -1}))(t)
	sameHits(t, got, want)
}

func TestOlderSeqs(t *testing.T) {
	ix := open(t, manual("", 4))
	if got := search(t, ix, 0); got != nil {
		t.Errorf("an empty space gives %v", got)
	}
	ix.Publish(5, []Doc{{Node: 1, Vector: []float32{1, 2, 3, -4}}})
	ix.Publish(7, []Doc{{Node: 1, Vector: []float32{1, 2, 3, 4}}, {Node: 2, Vector: []float32{1, 0, 0, 0}}})
	ix.Publish(9, []Doc{{Node: 1}})
	for seq, want := range map[uint64]int{4: 0, 5: 1, 6: 1, 7: 2, 8: 2, 9: 1, 100: 1} {
		if got := search(t, ix, seq); len(got) != want {
			t.Errorf("seq %d: %v, want %d", seq, got, want)
		}
	}
}

// TestFillWhileReading: a vector that is filled in shows in new views only.
func TestFillWhileReading(t *testing.T) {
	ix := open(t, manual("", 4))
	ix.Publish(1, []Doc{{Node: 1, Pending: true}})
	before := must(ix.At(1))(t)
	task := ix.Missing(1)[0]
	if ok := must(ix.Fill(task, []float32{1, 0, 0, 0}))(t); !ok {
		t.Fatal("refused")
	}
	if before.Count() != 0 || must(ix.At(1))(t).Count() != 1 {
		t.Errorf("before %d, after %d; want 0 and 1", before.Count(), must(ix.At(1))(t).Count())
	}
	if ok := must(ix.Fill(task, []float32{0, 1, 0, 0}))(t); ok {
		t.Error("taken twice")
	}
}

// TestConcurrentUse searches while vectors come, are filled in, flushed and compacted.
// Each view has to give the same answer twice.
func TestConcurrentUse(t *testing.T) {
	ix := open(t, manual(t.TempDir(), 4))
	ix.Publish(1, docsOf(1, 1, 100))
	var group sync.WaitGroup
	done := make(chan struct{})
	for range 2 {
		group.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				view, err := ix.At(ix.PublishedSeq())
				if err != nil {
					t.Error(err)
					return
				}
				view = view.With([]Doc{{Node: 5}, {Node: 1000, Vector: []float32{1, 1, 1, 1}}})
				q := Query{Vector: []float32{1, 2, 3, -4}, Limit: 10, Floor: -1}
				a, err1 := view.Search(q)
				b, err2 := view.Search(q)
				if err1 != nil || err2 != nil || len(a) != len(b) || len(a) != 10 || a[9] != b[9] {
					t.Errorf("%v %v, %v %v", a, err1, b, err2)
					return
				}
			}
		})
	}
	for i := range 200 {
		ix.Publish(uint64(i+2), append(docsOf(uint64(i), 1, 50), Doc{Node: 200, Pending: true}))
		for _, task := range ix.Missing(5) {
			_ = must(ix.Fill(task, []float32{1, 2, 3, 4}))(t)
		}
		if i%20 == 0 {
			if err := ix.Flush(); err != nil {
				t.Error(err)
			}
			_ = ix.Stats()
		}
	}
	close(done)
	group.Wait()
	if n := must(ix.At(ix.PublishedSeq()))(t).Count(); n != 100 {
		t.Errorf("%d vectors, want 100", n)
	}
}

func TestViewsByNode(t *testing.T) {
	ix := open(t, manual("", 4))
	ix.Publish(1, []Doc{{Node: 300, Vector: []float32{0, 0, 2, 0}}})
	view := must(ix.At(1))(t)
	v, ok := view.Vector(300)
	if !ok || v[2] < 0.99 || v[2] > 1.01 || v[0] != 0 {
		t.Errorf("%v, %v; want the direction", v, ok)
	}
	for _, id := range []value.NodeID{0, 1, 299, 301, 1 << 40} {
		if _, ok := view.Vector(id); ok {
			t.Errorf("node %d has a vector", id)
		}
	}
	scores := must(view.Scores([]float32{0, 0, 1, 0}, true, []value.NodeID{7, 300}))(t)
	if scores[0] != 0 || scores[1] < 0.999 {
		t.Errorf("scores %v", scores)
	}
}
