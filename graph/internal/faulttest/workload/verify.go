package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"engram/graph"
	"engram/graph/internal/learn"
	"engram/graph/value"
)

// Found returns how many transactions a database has, by its own counter.
func Found(tx *graph.Tx) (int, error) {
	ids, err := tx.NodesByID(value.String(counterID), nil)
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	k, _ := tx.Key("n")
	v, err := tx.NodeProp(ids[0], k)
	return int(v.AsInt()), err
}

// Verify compares a database with the model: it must hold exactly what some
// transaction from acked to begun left, -1 meaning that not even creating it was
// acknowledged or begun; and check must find nothing. It returns the number of
// that transaction.
func Verify(ctx context.Context, db *graph.DB, seed uint64, acked, begun int) (n int, err error) {
	for range tries {
		// An index that turns out to be damaged is rebuilt as of a later seq, when the
		// sweeper has been at work; a reader is told to come again.
		if n, err = verify(ctx, db, seed, acked, begun); graph.CodeOf(err) != graph.SnapshotTooOld {
			break
		}
	}
	return n, err
}

const tries = 100

func verify(ctx context.Context, db *graph.DB, seed uint64, acked, begun int) (int, error) {
	tx, err := db.Snapshot()
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	n, err := Found(tx)
	if err != nil {
		return 0, err
	}
	if n < acked || n > max(begun, 0) {
		return n, fmt.Errorf("transaction %d is the last, but %d was acknowledged and %d begun", n, acked, begun)
	}
	m := New(seed)
	for m.done < n {
		m.Next()
	}
	if err := m.Compare(tx); err != nil {
		return n, fmt.Errorf("after transaction %d: %w", n, err)
	}
	report, err := db.Check(ctx)
	if err == nil && !report.OK() {
		err = fmt.Errorf("check: %s", report)
	}
	return n, err
}

// Compare tells how what a transaction sees differs from the model.
func (m *Model) Compare(tx *graph.Tx) error {
	got, err := Lines(tx)
	if err != nil {
		return err
	}
	want := m.Lines()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			return fmt.Errorf("missing: %.200s", want[i])
		case i >= len(want):
			return fmt.Errorf("too much: %.200s", got[i])
		case got[i] != want[i]:
			return fmt.Errorf("got %.200s; want %.200s", got[i], want[i])
		}
	}
	return nil
}

// Lines describes what a transaction sees, sorted, like Model.Lines.
func Lines(tx *graph.Tx) ([]string, error) {
	var out []string
	ids, err := allNodes(tx)
	if err != nil {
		return nil, err
	}
	edges := int64(0)
	for _, id := range ids {
		n, err := tx.LoadNode(id)
		if err != nil {
			return nil, err
		}
		out = append(out, nodeLine(n.ElementID, n.Labels, named(n.Properties), tx.Activity(id)))
		adj, err := tx.Expand(id, value.Out, nil, nil)
		if err != nil {
			return nil, err
		}
		for _, a := range adj {
			e, err := tx.LoadEdge(a.Edge)
			if err != nil {
				return nil, err
			}
			edges++
			out = append(out, edgeLine(e.ElementID, e.Type, e.SrcElementID, e.DstElementID, named(e.Properties), learn.Units(tx.LearnedWeight(a.Edge))))
		}
	}
	if n, e := tx.NodeCount(0), tx.EdgeCount(0); n != int64(len(ids)) || e != edges {
		return nil, fmt.Errorf("%d nodes and %d edges are counted, %d and %d found", n, e, len(ids), edges)
	}
	for _, w := range words {
		hits, err := tx.SearchText(w, 1_000_000, nil)
		if err != nil {
			return nil, err
		}
		var found []string
		for _, h := range hits {
			id, err := tx.ElementID(h.Node)
			if err != nil {
				return nil, err
			}
			found = append(found, id)
		}
		out = append(out, hitsLine(w, found))
	}
	slices.Sort(out)
	return out, nil
}

func allNodes(tx *graph.Tx) ([]value.NodeID, error) {
	var out []value.NodeID
	for last := value.NodeID(0); ; {
		ids, err := tx.ScanNodes(0, last, make([]value.NodeID, 256))
		if err != nil || len(ids) == 0 {
			return out, err
		}
		out = append(out, ids...)
		last = ids[len(ids)-1]
	}
}

// named makes a map of properties, without the id.
func named(props []value.Prop) map[string]value.Value {
	out := map[string]value.Value{}
	for _, p := range props {
		if p.Key != "id" {
			out[p.Key] = p.Value
		}
	}
	return out
}

// IDs returns the ids of the nodes, sorted.
func (m *Model) IDs() []string { return slices.Sorted(maps.Keys(m.nodes)) }
