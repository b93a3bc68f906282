package model

import (
	"encoding/binary"
	"fmt"
	"slices"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/access"
)

var (
	_ access.SchemaWriter   = (*Graph)(nil)
	_ access.OrderedIndexes = (*Graph)(nil)
)

// Schema implements access.Indexes.
func (g *Graph) Schema() *schema.Set { return g.schema }

// CreateSchema implements access.SchemaWriter. Constraints are listed, but not
// kept.
func (g *Graph) CreateSchema(d schema.Def) error {
	takes, err := g.schema.Prepare(&d)
	if err != nil {
		return err
	}
	g.lastDef++
	d.ID, d.State = g.lastDef, schema.Online
	if takes != nil {
		d.ID = takes.ID
	}
	if d.Edge {
		_, err = g.InternRelType(d.Owner)
	} else {
		for _, label := range d.Owners() {
			if err == nil {
				_, err = g.InternLabel(label)
			}
		}
	}
	for _, k := range d.Keys {
		if err == nil {
			_, err = g.InternKey(k)
		}
	}
	g.schema = g.schema.With(&d)
	g.names.version++
	return err
}

// DropSchema implements access.SchemaWriter.
func (g *Graph) DropSchema(id uint64) error {
	if g.schema.ByID(id) == nil {
		return fmt.Errorf("there is no index or constraint %d", id)
	}
	g.schema = g.schema.Without(id)
	g.names.version++
	return nil
}

// SeekIndex implements access.Indexes.
func (g *Graph) SeekIndex(s schema.Seek, fn func(id uint64) bool) error {
	d := g.schema.ByID(s.Index)
	if d == nil || !d.Usable() {
		return fmt.Errorf("there is no index %d that can be asked", s.Index)
	}
	g.eachEntry(d, func(id uint64, vals []value.Value) bool {
		return !s.Matches(vals) || fn(id)
	})
	return nil
}

// IndexCounts implements access.Indexes.
func (g *Graph) IndexCounts(id uint64) (entries, distinct int64) {
	var seen [][]value.Value
	g.eachEntry(g.schema.ByID(id), func(_ uint64, vals []value.Value) bool {
		entries++
		if !slices.ContainsFunc(seen, func(o []value.Value) bool { return slices.EqualFunc(o, vals, value.Equivalent) }) {
			seen = append(seen, vals)
			distinct++
		}
		return true
	})
	return entries, distinct
}

// eachEntry calls fn for the elements that an index has.
func (g *Graph) eachEntry(d *schema.Def, fn func(id uint64, vals []value.Value) bool) {
	if d == nil || !d.Indexed() {
		return
	}
	entry := func(id uint64, props map[value.KeyID]value.Value) bool {
		vals := make([]value.Value, len(d.Keys))
		for i, name := range d.Keys {
			k, _ := g.Key(name)
			vals[i] = props[k]
		}
		return vals[0].IsNull() || fn(id, vals)
	}
	if d.Edge {
		t, _ := g.RelType(d.Owner)
		for id := value.EdgeID(1); id <= g.lastEdge; id++ {
			if e := g.edges[id]; e != nil && e.typ == t && !entry(uint64(id), e.props) {
				return
			}
		}
		return
	}
	l, _ := g.Label(d.Owner)
	for id := value.NodeID(1); id <= g.lastNode; id++ {
		if n := g.nodes[id]; n != nil && n.labels[l] && !entry(uint64(id), n.props) {
			return
		}
	}
}

// ScanIndex implements access.OrderedIndexes.
func (g *Graph) ScanIndex(s schema.Seek, desc bool, at []byte, limit int, buf []uint64) (ids []uint64, next []byte, ok bool, err error) {
	d := g.schema.ByID(s.Index)
	if d == nil || !d.Usable() {
		return buf, nil, false, fmt.Errorf("there is no index %d that can be asked", s.Index)
	}
	type entry struct {
		id uint64
		v  value.Value
	}
	var all []entry
	g.eachEntry(d, func(id uint64, vals []value.Value) bool {
		if s.Matches(vals) {
			all = append(all, entry{id, vals[len(vals)-1]})
		}
		return true
	})
	slices.SortStableFunc(all, func(a, b entry) int {
		if desc {
			a, b = b, a
		}
		return value.Order(a.v, b.v)
	})
	from := 0
	if at != nil {
		from = int(binary.BigEndian.Uint64(at))
	}
	for i, e := range all[from:] {
		if i == limit {
			return buf, binary.BigEndian.AppendUint64(nil, uint64(from+i)), true, nil
		}
		buf = append(buf, e.id)
	}
	return buf, nil, true, nil
}
