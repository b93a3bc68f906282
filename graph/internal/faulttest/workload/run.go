package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"engram/graph"
	"engram/graph/value"
)

// Options make the database do within few transactions what it does at large:
// sweep hubs, reserve ids, write the topology's file and trim the log.
func Options() *graph.Options {
	return &graph.Options{HubEdges: 6, SweepBlocks: 1, IDBlock: 16, SnapshotBytes: 4 << 10, TrimEntries: 20}
}

// Run does the transaction that the model is at after Next gave ops. A failed one
// is rolled back.
func Run(ctx context.Context, db *graph.DB, ops []op) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for _, o := range ops {
		if err := do(tx, o); err != nil {
			return fmt.Errorf("%s: %w", o.id, err)
		}
	}
	_, err = tx.Commit(ctx)
	return err
}

// Step plans the next transaction and does it.
func (m *Model) Step(ctx context.Context, db *graph.DB) error { return Run(ctx, db, m.Next()) }

func do(tx *graph.Tx, o op) error {
	switch o.kind {
	case addNode:
		var labels []value.LabelID
		for _, name := range o.labels {
			l, err := tx.InternLabel(name)
			if err != nil {
				return err
			}
			labels = append(labels, l)
		}
		props, err := keyed(tx, o.id, o.props)
		if err != nil {
			return err
		}
		_, err = tx.CreateNode(labels, props)
		return err
	case addEdge:
		return doEdge(tx, o)
	case dropEdge:
		return doDropEdge(tx, o.id)
	case useBoth:
		return doUse(tx, o)
	}
	id, err := find(tx, o.id)
	if err != nil {
		return err
	}
	switch o.kind {
	case setProp:
		k, err := tx.InternKey(o.key)
		if err == nil {
			_, err = tx.SetNodeProp(id, k, o.value)
		}
		return err
	case setLabel:
		l, err := tx.InternLabel(o.labels[0])
		if err != nil {
			return err
		}
		if tx.HasLabel(id, l) {
			_, err = tx.RemoveLabel(id, l)
		} else {
			_, err = tx.AddLabel(id, l)
		}
		return err
	default: // dropNode
		_, err := tx.DeleteNode(id, true)
		return err
	}
}

// keyed interns the keys of properties and adds the id.
func keyed(tx *graph.Tx, id string, props map[string]value.Value) ([]value.KeyProp, error) {
	k, err := tx.InternKey("id")
	out := []value.KeyProp{{Key: k, Value: value.String(id)}}
	for _, name := range slices.Sorted(maps.Keys(props)) {
		if err != nil {
			break
		}
		k, err = tx.InternKey(name)
		out = append(out, value.KeyProp{Key: k, Value: props[name]})
	}
	slices.SortFunc(out, func(a, b value.KeyProp) int { return int(a.Key) - int(b.Key) })
	return out, err
}

func find(tx *graph.Tx, id string) (value.NodeID, error) {
	ids, err := tx.NodesByID(value.String(id), nil)
	if err == nil && len(ids) != 1 {
		err = fmt.Errorf("%d nodes have the id %s", len(ids), id)
	}
	if err != nil {
		return 0, err
	}
	return ids[0], nil
}

func doEdge(tx *graph.Tx, o op) error {
	src, err := find(tx, o.src)
	if err != nil {
		return err
	}
	dst, err := find(tx, o.dst)
	if err != nil {
		return err
	}
	typ, err := tx.InternRelType(o.typ)
	if err != nil {
		return err
	}
	props, err := keyed(tx, o.id, o.props)
	if err == nil {
		_, err = tx.CreateEdge(src, dst, typ, props)
	}
	return err
}

func doUse(tx *graph.Tx, o op) error {
	use := value.Use{At: o.at}
	for _, name := range []string{o.src, o.dst} {
		id, err := find(tx, name)
		if err != nil {
			return err
		}
		use.Nodes = append(use.Nodes, value.UsedNode{Node: id, Strength: 1})
	}
	done, err := tx.Learn([]value.Use{use})
	if err == nil && done.Written != 1 {
		err = fmt.Errorf("%d of 1 uses were written", done.Written)
	}
	return err
}

// doDropEdge looks at all edges: there are few.
func doDropEdge(tx *graph.Tx, id string) error {
	k, _ := tx.Key("id")
	last := value.EdgeID(0)
	for {
		ids, err := tx.ScanEdges(0, last, make([]value.EdgeID, 64))
		if err != nil || len(ids) == 0 {
			return fmt.Errorf("edge %s is not there (%w)", id, err)
		}
		for _, e := range ids {
			v, err := tx.EdgeProp(e, k)
			if err != nil {
				return err
			}
			if v.AsString() == id {
				_, err := tx.DeleteEdge(e)
				return err
			}
		}
		last = ids[len(ids)-1]
	}
}
