package audit

import (
	"fmt"
	"slices"
	"strings"

	"engram/graph"
	"engram/graph/value"
	"engram/graph/vocab"
)

// orphansAndDangling finds nodes that are joined to no other node, and proves that
// no edge has lost an end.
func orphansAndDangling() rule {
	return rule{
		name:  "orphans_and_dangling",
		title: "Nodes joined to no other node, by label and tier; edges whose end is gone, which must be none.",
		begin: func(a *audit) (work, error) {
			w := &orphanWork{a: a, joined: newBits(a.shape.Slots()), recorded: newBits(a.shape.Slots())}
			return work{edge: w.edge, record: w.record, end: w.end}, nil
		},
	}
}

type orphanWork struct {
	a        *audit
	joined   bits // nodes with an edge to another node
	recorded bits // nodes that have a record
	edges    int64
	dangling []lostEdge // the first maxLost
	lost     int64      // all of them
}

// lostEdge is an edge that is not whole.
type lostEdge struct {
	graph.StoredEdge
	why string
}

// maxLost is how many edges that are not whole are kept to be listed.
const maxLost = MaxLimit

func (w *orphanWork) edge(e edge) {
	w.edges++
	if e.from != e.to {
		w.joined.set(e.from)
		w.joined.set(e.to)
	}
}

func (w *orphanWork) record(r *record) error {
	w.recorded.set(r.slot)
	return nil
}

func (w *orphanWork) lose(e graph.StoredEdge, format string, args ...any) {
	if w.lost++; w.lost <= maxLost {
		w.dangling = append(w.dangling, lostEdge{e, fmt.Sprintf(format, args...)})
	}
}

// end proves the edges and counts the orphans.
func (w *orphanWork) end(f *Finding) error {
	a := w.a
	if err := w.incoming(); err != nil {
		return err
	}
	stored, waiting, err := w.records()
	if err != nil {
		return err
	}
	orphans, telemetry, lostNodes := w.split()
	f.How = fmt.Sprintf("exact: over %d nodes and %d edges, in both directions of the topology and in the stored records",
		a.tx.NodeCount(0), a.tx.EdgeCount(0))
	f.measure("orphans", len(orphans), "nodes")
	f.measure("orphans_share", share(int64(len(orphans)), a.tx.NodeCount(0)), "share")
	f.measure("unlinked_telemetry", telemetry, "nodes")
	f.measure("dangling", w.lost, "edges")
	f.measure("nodes_without_record", len(lostNodes), "nodes")
	f.measure("edge_records", stored, "edges")
	f.measure("waiting_for_sweeper", waiting, "edges")
	a.partsOf(f, orphans)
	w.note(f, len(orphans), len(lostNodes))
	w.list(f)
	all := append(slices.Clone(lostNodes), orphans...)
	err = a.listNodes(f, len(all), a.slotIDs(all), func(i int) string {
		if i < len(lostNodes) {
			return "it has no record"
		}
		return "no edge joins it to another node"
	})
	for _, n := range f.Nodes.Items {
		if n.Why != "it has no record" {
			a.suggest(f, fmt.Sprintf("MATCH (n {id: %s}) RECALL n.content YIELD node AS m WITH n, m WHERE m <> n LIMIT 1 CREATE (n)-[:RELATED {weight: 0.3}]->(m)", quoted(n.Ext)))
		}
	}
	return err
}

func (w *orphanWork) note(f *Finding, orphans, lostNodes int) {
	switch {
	case w.lost > 0 || lostNodes > 0:
		f.Status = Defect
		f.Note = fmt.Sprintf("%d edges are not whole and %d nodes have no record. The store forbids that: run the check, and restore a backup.", w.lost, lostNodes)
	case orphans > 0:
		f.Status = Notice
		f.Note = fmt.Sprintf("No walk reaches or leaves %d nodes: only words, meaning or their id find them. Every edge has both its ends.", orphans)
	default:
		f.Note = "Every node is joined to another one, and every edge has both its ends."
	}
}

// split lists living nodes by what they lack, in ascending order of id.
func (w *orphanWork) split() (orphans []uint32, telemetry int64, lost []uint32) {
	label, _ := w.a.tx.Label(vocab.LabelTelemetry)
	for s := range w.a.shape.Slots() {
		if !w.a.shape.Living(s) {
			continue
		}
		if !w.recorded.has(s) {
			lost = append(lost, s)
		}
		switch {
		case w.joined.has(s):
		case label != 0 && w.a.shape.HasLabelSlot(s, label):
			telemetry++ // never linked, on purpose
		default:
			orphans = append(orphans, s)
		}
	}
	return orphans, telemetry, lost
}

// incoming compares the edges that nodes see coming with those that leave.
func (w *orphanWork) incoming() error {
	a := w.a
	var hops []graph.Hop
	n := int64(0)
	err := a.over(func(at node) {
		hops = a.shape.ExpandSlots(at.slot, value.In, nil, hops[:0])
		n += int64(len(hops))
		for _, h := range hops {
			src, dst, typ := a.shape.EdgeEndsSlot(h.Edge)
			if src != h.Node || dst != at.slot || typ != h.Type || !a.shape.Living(src) {
				w.lose(a.stored(h.Edge), "one of its ends does not know it")
			}
		}
	})
	if err == nil && (n != w.edges || n != a.tx.EdgeCount(0)) {
		w.lose(graph.StoredEdge{}, "%d edges leave nodes, %d arrive, and %d are counted", w.edges, n, a.tx.EdgeCount(0))
	}
	return err
}

func (a *audit) stored(edge uint32) graph.StoredEdge {
	src, dst, typ := a.shape.EdgeEndsSlot(edge)
	return graph.StoredEdge{ID: a.shape.EdgeID(edge), Type: typ, Src: a.shape.NodeID(src), Dst: a.shape.NodeID(dst)}
}

// records compares the stored edges with the topology. Those of a hub that was
// deleted wait to be removed and are seen by nobody.
func (w *orphanWork) records() (stored, waiting int64, err error) {
	a := w.a
	doomed := map[value.NodeID]bool{}
	for _, id := range a.shape.Doomed(int(a.shape.Slots()), nil) {
		doomed[id] = true
	}
	seen, n := newBits(a.shape.EdgeSlots()), 0
	err = a.tx.ScanEdgeRecords(func(e graph.StoredEdge) error {
		if n++; n%checkEvery == 0 && a.ctx.Err() != nil {
			return canceled(a.ctx)
		}
		slot, living := a.shape.EdgeSlot(e.ID)
		if !living {
			if doomed[e.Src] || doomed[e.Dst] {
				waiting++
				return nil
			}
			w.lose(e, "%s", a.lostEnd(e))
			return nil
		}
		stored++
		seen.set(slot)
		src, dst, typ := a.shape.EdgeEndsSlot(slot)
		if a.shape.NodeID(src) != e.Src || a.shape.NodeID(dst) != e.Dst || typ != e.Type {
			w.lose(e, "its record names other ends or another type than the topology")
		}
		return nil
	})
	if err != nil || stored == a.tx.EdgeCount(0) {
		return stored, waiting, err
	}
	return stored, waiting, a.over(func(at node) {
		for _, h := range a.shape.ExpandSlots(at.slot, value.Out, nil, nil) {
			if !seen.has(h.Edge) {
				w.lose(a.stored(h.Edge), "it has no record")
			}
		}
	})
}

func (a *audit) lostEnd(e graph.StoredEdge) string {
	var gone []string
	for i, id := range []value.NodeID{e.Src, e.Dst} {
		if !a.tx.NodeExists(id) {
			gone = append(gone, []string{"start", "end"}[i])
		}
	}
	if len(gone) == 0 {
		return "it has a record but no walk sees it"
	}
	return "gone: its " + strings.Join(gone, " and its ")
}

// list lists the edges that are not whole; they cannot be loaded.
func (w *orphanWork) list(f *Finding) {
	a := w.a
	slices.SortStableFunc(w.dangling, func(x, y lostEdge) int { return compare(x.ID, y.ID) })
	from, to, next := a.page(f.Name, true, len(w.dangling), func(i int) uint64 { return uint64(w.dangling[i].ID) })
	f.Edges.Total, f.Edges.Next = w.lost, next
	for _, e := range w.dangling[from:to] {
		f.Edges.Items = append(f.Edges.Items, Edge{
			ID: e.ID, Ext: fmt.Sprintf("edge %d", e.ID), From: a.nodeName(e.Src), To: a.nodeName(e.Dst), Type: a.tx.RelTypeName(e.Type), Why: e.why,
		})
	}
}

// nodeName names a node that may be gone.
func (a *audit) nodeName(id value.NodeID) string {
	if a.tx.NodeExists(id) {
		if ext, err := a.tx.ElementID(id); err == nil {
			return ext
		}
	}
	return fmt.Sprintf("node %d", id)
}
