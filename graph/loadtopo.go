package graph

import (
	"fmt"
	"maps"
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/value"
)

// loadNodes adds every node, and the deleted hubs in their places.
func (l *loaded) loadNodes(b *topo.Builder) error {
	graves := slices.Sorted(maps.Keys(l.graves))
	bury := func(before value.NodeID) error {
		for len(graves) > 0 && graves[0] < before {
			if err := b.AddTombstone(graves[0]); err != nil {
				return err
			}
			graves = graves[1:]
		}
		return nil
	}
	var hot []topo.HotValue
	err := l.scan(store.Nodes, nil, nil, func(k, payload []byte) error {
		n, ok := key.ParseUint(k)
		if !ok {
			return l.seal.Damaged(store.Nodes, k, "the key is no node")
		}
		id := value.NodeID(n)
		if err := bury(id); err != nil {
			return err
		}
		rec, err := record.DecodeNode(payload)
		if err != nil {
			return l.seal.Damaged(store.Nodes, k, err.Error())
		}
		hot = hot[:0]
		for _, p := range rec.Props {
			col, ok := l.state.keys.hot[p.Key]
			if !ok {
				continue
			}
			v := p.Value
			if p.Overflow {
				v = seeRecord
			}
			hot = append(hot, topo.HotValue{Column: col, Value: v})
		}
		l.last.node = n
		if err := b.AddNode(id, rec.Labels, hot, rec.CreatedMS); err != nil {
			return l.seal.Damaged(store.Nodes, k, err.Error())
		}
		return nil
	})
	if err != nil {
		return err
	}
	return bury(value.NodeID(1<<63 - 1))
}

// seeRecord is a value that no hot column can hold, so that it becomes a
// pointer to the record: a list.
var seeRecord = value.List([]value.Value{value.Bool(true)})

// loadEdges adds every edge. Each must have ends that live or are graves.
func (l *loaded) loadEdges(b *topo.Builder) error {
	return l.scan(store.Edges, nil, nil, func(k, payload []byte) error {
		block, ok := key.ParseUint(k)
		if !ok {
			return l.seal.Damaged(store.Edges, k, "the key is no block")
		}
		var bad error
		err := record.WalkBlock(block, payload, func(e record.Edge, props []byte) bool {
			bad = l.loadEdge(b, e, props)
			return bad == nil
		})
		if bad != nil {
			err = bad
		}
		if err != nil {
			return l.seal.Damaged(store.Edges, k, err.Error())
		}
		return nil
	})
}

func (l *loaded) loadEdge(b *topo.Builder, e record.Edge, props []byte) error {
	init := topo.EdgeInit{CreatedMs: e.CreatedMS}
	for k, a := range l.state.keys.edge { // at most three, each to its own field
		p, ok, err := record.FindProp(props, k)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		v := p.Value
		if p.Overflow {
			v = seeRecord
		}
		setInit(&init, a, v)
	}
	l.last.edge = uint64(e.ID)
	if err := b.AddEdge(e.ID, e.Src, e.Dst, e.Type, init); err != nil {
		return fmt.Errorf("edge %d: %w", e.ID, err)
	}
	return nil
}
