package topo

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"engram/graph/value"
)

// randomEdges draws edges over nodes 1 to n; low ids are hubs.
func randomEdges(n, m, types int, seed uint64) []medge {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]medge, m)
	for i := range out {
		src := 1 + r.IntN(n)
		if r.IntN(4) == 0 {
			src = 1 + r.IntN(3)
		}
		out[i] = medge{src: value.NodeID(src), dst: value.NodeID(1 + r.IntN(n)), typ: value.TypeID(1 + r.IntN(types))}
	}
	return out
}

func build(t testing.TB, n int, edges []medge) *Version {
	t.Helper()
	b := NewBuilder(Config{})
	for id := 1; id <= n; id++ {
		if err := b.AddNode(value.NodeID(id), []value.LabelID{value.LabelID(1 + id%3)}, nil, 0); err != nil {
			t.Fatal(err)
		}
	}
	for i, e := range edges {
		if err := b.AddEdge(value.EdgeID(i+1), e.src, e.dst, e.typ, EdgeInit{}); err != nil {
			t.Fatal(err)
		}
	}
	return b.Build(1)
}

// TestSegmentsAgreeHoweverBuilt makes one graph of several segments and many
// types in three ways: by the builder, by an editor alone, and by an editor
// with a compactor beside it. All reads agree.
func TestSegmentsAgreeHoweverBuilt(t *testing.T) {
	const n, types = 3000, 400
	edges := randomEdges(n, 20000, types, 7)
	want := build(t, n, edges)
	for _, merging := range []bool{false, true} {
		v := New(Config{})
		var c Compactor
		merged := 0
		for id := 1; id <= n; id++ {
			e := v.Edit()
			if err := e.AddNode(value.NodeID(id), []value.LabelID{value.LabelID(1 + id%3)}, nil, 0); err != nil {
				t.Fatal(err)
			}
			v = e.Commit(1)
		}
		for i, x := range edges {
			e := v.Edit()
			merged += c.Install(e)
			if err := e.AddEdge(value.EdgeID(i+1), x.src, x.dst, x.typ, EdgeInit{}); err != nil {
				t.Fatal(err)
			}
			v = e.Commit(1)
			if merging && i%500 == 0 {
				c.Work(v, 2)
			}
		}
		if merging != (merged > 5) {
			t.Fatalf("merging %v: %d segments merged", merging, merged)
		}
		sameAdjacency(t, v, want, n)
	}
}

func sameAdjacency(t *testing.T, got, want *Version, n int) {
	t.Helper()
	for id := value.NodeID(1); id <= value.NodeID(n); id++ {
		for _, dir := range []value.Direction{value.Out, value.In, value.Both} {
			for _, types := range [][]value.TypeID{nil, {17}, {399, 256, 3}} {
				a, b := got.Expand(id, dir, types, nil), want.Expand(id, dir, types, nil)
				if !slices.Equal(a, b) {
					t.Fatalf("node %d %v %v: got %d edges, want %d", id, dir, types, len(a), len(b))
				}
				if d := got.Degree(id, dir, types); d != int64(len(b)) {
					t.Fatalf("degree of %d %v %v: got %d, want %d", id, dir, types, d, len(b))
				}
			}
		}
	}
}

// TestBuilderAgainstModel compares a packed graph of several segments, with the
// escape for many types in it, with plain maps.
func TestBuilderAgainstModel(t *testing.T) {
	const n = 1100
	edges := randomEdges(n, 6000, 300, 3)
	v := build(t, n, edges)
	m := newModel()
	for id := value.NodeID(1); id <= n; id++ {
		m.nodes[id] = mnode{}
	}
	for i, e := range edges {
		m.edges[value.EdgeID(i+1)] = e
	}
	if v.segs.at(0).base[0].wide == nil {
		t.Fatal("the first segment has no escape: the test proves less than it says")
	}
	for id := value.NodeID(1); id <= n; id += 29 {
		for _, dir := range []value.Direction{value.Out, value.In, value.Both} {
			for _, types := range [][]value.TypeID{nil, {5}, {300, 3}} {
				if got, want := v.Expand(id, dir, types, nil), m.expand(id, dir, types); !slices.Equal(got, want) {
					t.Fatalf("node %d %v %v: got %v want %v", id, dir, types, got, want)
				}
			}
		}
	}
}

// TestHubCostsNothingMore adds edges to a node with a million of them, one a
// commit, then deletes it: what a commit copies stays the same.
func TestHubCostsNothingMore(t *testing.T) {
	const fan, appends = 1_000_000, 10_000
	n := 5000
	edges := make([]medge, fan)
	for i := range edges {
		edges[i] = medge{src: 1, dst: value.NodeID(2 + i%(n-1)), typ: 1}
	}
	v := build(t, n, edges)
	var early, late Cost
	for i := range appends {
		e := v.Edit()
		if err := e.AddEdge(value.EdgeID(fan+i+1), 1, value.NodeID(2+i*7919%(n-1)), 1, EdgeInit{}); err != nil {
			t.Fatal(err)
		}
		v = e.Commit(uint64(i))
		if i < 1000 {
			early = maxCost(early, e.Cost())
		} else {
			late = maxCost(late, e.Cost())
		}
	}
	t.Logf("most copied by one append: %+v in the first 1,000, %+v after", early, late)
	if late.Pages > early.Pages+4 || late.Bytes > early.Bytes+8<<10 || late.Bytes > 64<<10 {
		t.Errorf("an append got dearer: %+v, then %+v", early, late)
	}
	if d := v.Degree(1, value.Out, nil); d != fan+appends {
		t.Fatalf("degree %d", d)
	}
	e := v.Edit()
	e.DeleteNode(1)
	if c := e.Cost(); c.Bytes > 32<<10 {
		t.Errorf("deleting the hub copied %+v", c)
	}
	v = e.Commit(appends)
	if v.EdgeCount(0) != 0 || v.EdgeCount(1) != 0 || len(v.Expand(2, value.Both, nil, nil)) != 0 {
		t.Errorf("the hub's edges are still seen")
	}
	sweepHub(t, v, fan+appends)
}

func maxCost(a, b Cost) Cost { return Cost{max(a.Pages, b.Pages), max(a.Bytes, b.Bytes)} }

// sweepHub removes a doomed node's edges in chunks, as the graph does.
func sweepHub(t *testing.T, v *Version, stored int) {
	t.Helper()
	var buf []value.EdgeID
	for swept := 0; ; {
		doomed := v.Doomed(1, nil)
		if len(doomed) == 0 {
			if swept != stored {
				t.Errorf("swept %d edges, want %d", swept, stored)
			}
			return
		}
		e := v.Edit()
		buf = v.DoomedEdges(doomed[0], 50_000, buf[:0])
		for _, id := range buf {
			if !e.DeleteEdge(id) {
				t.Fatalf("edge %d was not stored", id)
			}
		}
		swept += len(buf)
		for _, seg := range e.View().Due(nil) {
			e.Install(e.View().Merge(seg))
		}
		v = e.Commit(v.Seq() + 1)
	}
}

func TestEditorRefuses(t *testing.T) {
	e := New(Config{}).Edit()
	if err := e.AddNode(5, nil, nil, 0); err != nil {
		t.Fatal(err)
	}
	for _, id := range []value.NodeID{0, 4, 5} {
		if err := e.AddNode(id, nil, nil, 0); !errors.Is(err, ErrOrder) {
			t.Errorf("node %d: %v", id, err)
		}
	}
	if err := e.AddNode(1<<40, nil, nil, 0); !errors.Is(err, ErrFull) {
		t.Errorf("node 1<<40: %v", err)
	}
	if err := e.AddEdge(1, 5, 6, 1, EdgeInit{}); !errors.Is(err, ErrMissing) {
		t.Errorf("edge to nowhere: %v", err)
	}
	if err := e.SetLabels(6, nil); !errors.Is(err, ErrMissing) {
		t.Errorf("labels of nothing: %v", err)
	}
	if e.DeleteNode(6) || e.DeleteEdge(1) || e.SetEdgeAttr(1, Weight, value.Int(1)) == nil {
		t.Error("changed what is not there")
	}
	if v := e.View(); v.NodeCount(0) != 1 || v.EdgeCount(0) != 0 {
		t.Errorf("refused changes left traces: %d nodes, %d edges", v.NodeCount(0), v.EdgeCount(0))
	}
}

func TestVisited(t *testing.T) {
	var s Visited
	s.Reset(10)
	if !s.Add(3) || s.Add(3) || !s.Has(3) || s.Has(4) {
		t.Error("a fresh set")
	}
	s.Reset(10)
	if s.Has(3) || !s.Add(3) {
		t.Error("a set used again")
	}
	s.epoch = 1<<32 - 1
	s.mark[5] = 1 // from 4 billion resets ago
	s.Reset(20)
	if s.Has(5) || s.Has(3) || !s.Add(19) {
		t.Error("a wrapped epoch")
	}
}

// TestReadersBesideAWriter reads published versions while an editor changes
// their successors and a compactor merges; it is for the race detector.
func TestReadersBesideAWriter(t *testing.T) {
	const n = 1500
	edges := randomEdges(n, 4000, 5, 9)
	v := build(t, n, edges)
	versions := make(chan *Version, 64)
	done := make(chan int64)
	var c Compactor
	for range 2 {
		go func() {
			sum := int64(0)
			for v := range versions {
				for id := value.NodeID(1); id <= n; id += 7 {
					sum += v.Degree(id, value.Both, nil) - int64(len(v.Expand(id, value.Both, nil, nil)))
				}
				sum += v.NodeCount(1) - int64(len(v.ScanNodes(1, 0, make([]value.NodeID, n+100))))
				c.Work(v, 1)
			}
			done <- sum
		}()
	}
	for i := range 600 {
		e := v.Edit()
		c.Install(e)
		x := edges[i]
		_ = e.AddNode(value.NodeID(n+1+i), []value.LabelID{1}, nil, 0)
		_ = e.AddEdge(value.EdgeID(len(edges)+2*i+1), x.src, x.dst, 3, EdgeInit{Weight: value.Float(0.5)})
		_ = e.AddEdge(value.EdgeID(len(edges)+2*i+2), 1, value.NodeID(n+1+i), 3, EdgeInit{})
		e.DeleteEdge(value.EdgeID(i + 1))
		v = e.Commit(uint64(i))
		if i%10 == 0 {
			versions <- v
		}
	}
	close(versions)
	for range 2 {
		if sum := <-done; sum != 0 {
			t.Errorf("counts and lists differ by %d", sum)
		}
	}
}
