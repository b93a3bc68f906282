package graph

import (
	"fmt"

	"engram/graph/internal/learn"
	"engram/graph/internal/logentry"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
)

// replay moves a topology on from one seq to the store's by the log, and
// compares the counts that the last entry has. What the log cannot tell, a bulk
// load or entries that are gone, is errOutdated.
func (l *loaded) replay(v *topo.Version, seq, head store.Seq) (*topo.Version, error) {
	if seq == head && head == 0 {
		return v, nil
	}
	ed := v.Edit()
	// The entry of the file's own seq tells whether the file is complete.
	next := max(seq, 1)
	var counts *logentry.Counts
	r := &logReader{seal: l.seal}
	r.fn = func(at store.Seq, e *logentry.Entry) error {
		if at != next || e.Bulk && (e.NodeTo > e.NodeFrom || e.EdgeTo > e.EdgeFrom) && at > seq {
			return errOutdated
		}
		next++
		counts = e.Counts
		if at == seq {
			return compareCounts(counts, v, at)
		}
		l.logged += uint64(len(r.buf))
		if err := replayEntry(ed, l.state.keys, e); err != nil {
			return fmt.Errorf("%w: log entry %d: %w", topo.ErrSnapshot, at, err)
		}
		return nil
	}
	if err := r.all(l.r, next-1); err != nil {
		return nil, err
	}
	if next != head+1 {
		return nil, errOutdated
	}
	v = ed.Commit(uint64(head))
	return v, compareCounts(counts, v, head)
}

func countsOf(v *topo.Version) *logentry.Counts {
	return &logentry.Counts{Nodes: uint64(v.NodeCount(0)), Edges: uint64(v.EdgeCount(0))}
}

// compareCounts holds a topology against the counts of a log entry, if there are
// any.
func compareCounts(c *logentry.Counts, v *topo.Version, at store.Seq) error {
	if c == nil || c.Nodes == uint64(v.NodeCount(0)) && c.Edges == uint64(v.EdgeCount(0)) {
		return nil
	}
	return fmt.Errorf("%w: %d nodes and %d edges at transaction %d, the log says %d and %d",
		topo.ErrSnapshot, v.NodeCount(0), v.EdgeCount(0), at, c.Nodes, c.Edges)
}

// replayEntry applies an entry that is no bulk one.
func replayEntry(ed *topo.Editor, keys *keyTable, e *logentry.Entry) error {
	for _, n := range e.NodesAdded {
		if err := ed.AddNode(n.ID, n.Labels, nil, n.CreatedMS); err != nil {
			return err
		}
	}
	for _, l := range e.Labels {
		if err := ed.SetLabels(l.ID, l.Labels); err != nil {
			return err
		}
	}
	for _, x := range e.EdgesAdded {
		if err := ed.AddEdge(x.ID, x.Src, x.Dst, x.Type, topo.EdgeInit{CreatedMs: x.CreatedMS}); err != nil {
			return err
		}
	}
	for _, h := range e.Hot {
		if col, ok := keys.hot[h.Key]; ok {
			if err := ed.SetHot(h.ID, col, h.Value); err != nil {
				return err
			}
		}
	}
	for _, a := range e.Attrs {
		if attr, ok := keys.edge[a.Key]; ok {
			if err := ed.SetEdgeAttr(a.ID, attr, a.Value); err != nil {
				return err
			}
		}
	}
	for _, s := range e.Learned {
		if err := ed.SetLearned(s.ID, float32(learn.Float(s.Units)), s.Units != 0); err != nil {
			return err
		}
	}
	return replayRemovals(ed, e)
}

func replayRemovals(ed *topo.Editor, e *logentry.Entry) error {
	for _, id := range e.EdgesDeleted {
		if !ed.DeleteEdge(id) {
			return fmt.Errorf("it deletes edge %d, which is not there", id)
		}
	}
	for _, id := range e.NodesDeleted {
		if !ed.DeleteNode(id) {
			return fmt.Errorf("it deletes node %d, which is not there", id)
		}
	}
	for _, id := range e.EdgesSwept {
		if !ed.DeleteEdge(id) {
			return fmt.Errorf("it sweeps edge %d, which is not there", id)
		}
	}
	return nil
}

// lastCounts holds a topology that was built from the records against the counts
// of the last log entry, and notes a difference.
func (l *loaded) lastCounts(v *topo.Version) error {
	head := l.r.Seq()
	if head == 0 {
		return nil
	}
	seen := false
	err := readLog(l.r, l.seal, head-1, func(at store.Seq, e *logentry.Entry) error {
		seen = at == head
		if err := compareCounts(e.Counts, v, at); err != nil {
			l.notes = append(l.notes, fmt.Sprintf("records are missing or left over; run check: %v", err))
		}
		return nil
	})
	if err == nil && !seen {
		l.notes = append(l.notes, fmt.Sprintf("the log does not end at transaction %d, where the store stands; run check", head))
	}
	return err
}
