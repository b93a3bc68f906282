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
	joined   bits       // nodes with an edge to another node
	recorded bits       // nodes that have a record
	columns  tally      // of the edges' own columns
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
	w.columns.add(e.slot, e.from, e.to, e.typ)
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
	if err := w.adjacency(); err != nil {
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
	f.measure("records_without_node", len(a.stray), "nodes")
	f.measure("edge_records", stored, "edges")
	f.measure("waiting_for_sweeper", waiting, "edges")
	a.partsOf(f, orphans)
	w.note(f, len(orphans), len(lostNodes)+len(a.stray))
	if err := w.list(f); err != nil {
		return err
	}
	all := append(slices.Clone(lostNodes), orphans...)
	strays := len(a.stray)
	err = a.listNodes(f, strays+len(all), func(i int) value.NodeID {
		if i < strays {
			return a.stray[i]
		}
		return a.shape.NodeID(all[i-strays])
	}, func(i int) string {
		switch {
		case i < strays:
			return "it has a record, but is not in the topology"
		case i < strays+len(lostNodes):
			return "it has no record"
		}
		return orphaned
	})
	for _, n := range f.Nodes.Items {
		if n.Why == orphaned {
			a.suggest(f, fmt.Sprintf("MATCH (n {id: %s}) RECALL n.content YIELD node AS m WHERE m <> n WITH n, m LIMIT 1 CREATE (n)-[:RELATED {weight: 0.3}]->(m)", quoted(n.Ext)))
		}
	}
	return err
}

func (w *orphanWork) note(f *Finding, orphans, lostNodes int) {
	switch {
	case w.lost > 0 || lostNodes > 0:
		f.Status = Defect
		f.Note = fmt.Sprintf("%s not whole and %s either in the records or in the topology only. The store forbids that: run the check, and restore a backup.",
			amount(w.lost, "edge is", "edges are"), amount(lostNodes, "node is", "nodes are"))
	case orphans > 0:
		f.Status = Notice
		f.Note = "No walk reaches or leaves " + plural(orphans, "node") + ": only words, meaning or an id find what nothing joins. Every edge has both its ends."
	default:
		f.Note = "Every node is joined to another one, and every edge has both its ends."
	}
}

// orphaned is what is said of an orphan.
const orphaned = "no edge joins it to another node"

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

// tally is the number of edges, and the sum of a hash of each with its ends and type:
// two lists of edges with the same tally are the same, in whichever order they come.
type tally struct {
	n   int64
	sum uint64
}

func (t *tally) add(edge, from, to uint32, typ value.TypeID) {
	h := (uint64(edge)<<32 | uint64(from)) * 0x9e3779b97f4a7c15
	h ^= h >> 32
	h += (uint64(to)<<32 | uint64(typ)) * 0xc2b2ae3d27d4eb4f
	h ^= h >> 29
	h *= 0xbf58476d1ce4e5b9
	t.n, t.sum = t.n+1, t.sum+(h^h>>32)
}

// adjacency compares the edges that leave nodes, and those that arrive, with the edges'
// own columns: as wholes, and one by one when that differs.
func (w *orphanWork) adjacency() error {
	a := w.a
	var leave, arrive tally
	var hops []graph.Hop
	err := a.over(func(at node) {
		hops = a.shape.ExpandSlots(at.slot, value.Out, nil, hops[:0])
		for _, h := range hops {
			leave.add(h.Edge, at.slot, h.Node, h.Type)
		}
		hops = a.shape.ExpandSlots(at.slot, value.In, nil, hops[:0])
		for _, h := range hops {
			arrive.add(h.Edge, h.Node, at.slot, h.Type)
		}
	})
	if err != nil || leave == w.columns && arrive == w.columns && leave.n == a.tx.EdgeCount(0) {
		return err
	}
	seen := newBits(2 * a.shape.EdgeSlots())
	err = a.over(func(at node) {
		for d, dir := range []value.Direction{value.Out, value.In} {
			for _, h := range a.shape.ExpandSlots(at.slot, dir, nil, nil) {
				if h.Edge >= a.shape.EdgeSlots() {
					w.lose(graph.StoredEdge{Src: at.id}, "a node has an edge that there is not")
					continue
				}
				src, dst, typ := a.shape.EdgeEndsSlot(h.Edge)
				if dir == value.In {
					src, dst = dst, src
				}
				if seen.has(2*h.Edge+uint32(d)) || src != at.slot || dst != h.Node || typ != h.Type {
					w.lose(a.stored(h.Edge), "one of its ends does not know it")
				}
				seen.set(2*h.Edge + uint32(d))
			}
		}
	})
	if err == nil && w.lost == 0 {
		w.lose(graph.StoredEdge{}, "%d edges leave nodes, %d arrive, and there are %d; %d are counted", leave.n, arrive.n, w.columns.n, a.tx.EdgeCount(0))
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
func (w *orphanWork) list(f *Finding) error {
	a := w.a
	slices.SortStableFunc(w.dangling, func(x, y lostEdge) int { return compare(x.ID, y.ID) })
	from, to, next := a.page(f.Name, true, len(w.dangling), func(i int) uint64 { return uint64(w.dangling[i].ID) })
	f.Edges.Total, f.Edges.Next = w.lost, next
	for _, e := range w.dangling[from:to] {
		src, err := a.nodeName(e.Src)
		if err != nil {
			return err
		}
		dst, err := a.nodeName(e.Dst)
		if err != nil {
			return err
		}
		f.Edges.Items = append(f.Edges.Items, Edge{ID: e.ID, Ext: fmt.Sprintf("edge %d", e.ID), From: src, To: dst, Type: a.tx.RelTypeName(e.Type), Why: e.why})
	}
	return nil
}

// nodeName is the external id of a node, or its number if it is gone or has no record.
func (a *audit) nodeName(id value.NodeID) (string, error) {
	if a.tx.NodeExists(id) {
		ext, err := a.tx.ElementID(id)
		if graph.CodeOf(err) != graph.Damaged || err == nil {
			return ext, err
		}
	}
	return fmt.Sprintf("node %d", id), nil
}
