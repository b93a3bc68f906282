// Package topo keeps the shape of a graph in memory: adjacency both ways, labels
// and hot columns, as immutable versions.
//
//	v := topo.New(topo.Config{Columns: []string{"importance"}})
//	e := v.Edit()
//	_ = e.AddNode(1, []value.LabelID{1}, nil, nowMs)
//	_ = e.AddNode(2, []value.LabelID{1}, nil, nowMs)
//	_ = e.AddEdge(1, 1, 2, 1, topo.EdgeInit{CreatedMs: nowMs})
//	v = e.Commit(1)
//	adj := v.Expand(1, value.Out, nil, nil)
//
// A change copies the pages it touches and shares the rest, so a commit costs
// what it touches: neither the degree of a node nor the size of the graph. A
// reader holds a version and needs no lock. See DESIGN.md.
package topo
