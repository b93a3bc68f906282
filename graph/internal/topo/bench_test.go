package topo

import (
	"runtime"
	"testing"

	"engram/graph/value"
)

const benchNodes, benchEdges = 100_000, 500_000

// uniform draws edges without hubs, of 4 types.
func uniform(n, m int) []medge {
	edges := randomEdges(n, m, 4, 11)
	for i := range edges {
		if edges[i].src <= 3 {
			edges[i].src = value.NodeID(1 + (i*7919)%n)
		}
	}
	return edges
}

func BenchmarkHop1(b *testing.B) {
	v := build(b, benchNodes, uniform(benchNodes, benchEdges))
	buf := make([]value.Adjacent, 0, 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		buf = v.Expand(value.NodeID(1+i*7919%benchNodes), value.Out, nil, buf[:0])
	}
}

func BenchmarkHop1Both(b *testing.B) {
	v := build(b, benchNodes, uniform(benchNodes, benchEdges))
	buf := make([]value.Adjacent, 0, 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		buf = v.Expand(value.NodeID(1+i*7919%benchNodes), value.Both, nil, buf[:0])
	}
}

func BenchmarkHop1Overlay(b *testing.B) {
	e := New(Config{}).Edit()
	for id := range value.NodeID(1000) {
		_ = e.AddNode(id+1, nil, nil, 0)
	}
	for i, x := range uniform(1000, 5000) {
		_ = e.AddEdge(value.EdgeID(i+1), x.src, x.dst, x.typ, EdgeInit{})
	}
	v := e.Commit(1)
	buf := make([]value.Adjacent, 0, 1024)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		buf = v.Expand(value.NodeID(1+i*7919%1000), value.Out, nil, buf[:0])
	}
}

func benchHops(b *testing.B, hops int) {
	v := build(b, benchNodes, uniform(benchNodes, benchEdges))
	var seen Visited
	var a, next []Slot
	types := []value.TypeID{1, 2, 3}
	reached := 0
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		seen.Reset(v.Slots())
		s := Slot(i * 7919 % benchNodes)
		seen.Add(s)
		a = append(a[:0], s)
		for range hops {
			next = next[:0]
			for _, s := range a {
				from := len(next)
				next = v.Neighbours(s, value.Out, types, next)
				kept := next[:from]
				for _, n := range next[from:] {
					if seen.Add(n) {
						kept = append(kept, n)
					}
				}
				next = kept
			}
			a, next = next, a
			reached += len(a)
		}
	}
	b.ReportMetric(float64(reached)/float64(b.N), "nodes/op")
}

func BenchmarkHop2Distinct(b *testing.B) { benchHops(b, 2) }
func BenchmarkHop3Distinct(b *testing.B) { benchHops(b, 3) }

// BenchmarkCommit adds one node and two edges a commit to a packed graph.
func BenchmarkCommit(b *testing.B) {
	v := build(b, benchNodes, uniform(benchNodes, benchEdges))
	node, edge := value.NodeID(benchNodes), value.EdgeID(benchEdges)
	var c Compactor
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e := v.Edit()
		c.Install(e)
		node++
		edge += 2
		_ = e.AddNode(node, []value.LabelID{1}, nil, 0)
		_ = e.AddEdge(edge-1, node, value.NodeID(1+i%benchNodes), 1, EdgeInit{})
		_ = e.AddEdge(edge, node, node-1, 2, EdgeInit{})
		v = e.Commit(uint64(i))
		if i%256 == 0 {
			c.Work(v, 4)
		}
	}
}

// BenchmarkBuild10M packs a million nodes and ten million edges and tells what
// an edge takes in memory, all columns and both directions counted.
func BenchmarkBuild10M(b *testing.B) {
	const n, m = 1_000_000, 10_000_000
	edges := uniform(n, m)
	for b.Loop() {
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		v := build(b, n, edges)
		runtime.GC()
		runtime.ReadMemStats(&after)
		heap := float64(after.HeapAlloc - before.HeapAlloc)
		b.ReportMetric(heap/1e6, "MB")
		b.ReportMetric(heap/m, "B/edge")
		if v.EdgeCount(0) != m {
			b.Fatal(v.EdgeCount(0))
		}
	}
}
