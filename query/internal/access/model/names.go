package model

import (
	"maps"
	"slices"

	"engram/graph/value"
)

// names are the three name tables and the schema version.
type names struct {
	labels, types, keys table
	version             uint64
}

// table interns names from 1.
type table struct {
	ids   map[string]uint32
	names []string
}

func (t *table) id(name string) (uint32, bool) {
	id, ok := t.ids[name]
	return id, ok
}

func (t *table) name(id uint32) string {
	if id == 0 || int(id) > len(t.names) {
		return ""
	}
	return t.names[id-1]
}

func (t *table) intern(name string, version *uint64) uint32 {
	if id, ok := t.ids[name]; ok {
		return id
	}
	if t.ids == nil {
		t.ids = map[string]uint32{}
	}
	t.names = append(t.names, name)
	id := uint32(len(t.names))
	t.ids[name] = id
	*version++
	return id
}

func (t *table) clone() table {
	return table{ids: maps.Clone(t.ids), names: slices.Clone(t.names)}
}

func (n *names) clone() names {
	return names{labels: n.labels.clone(), types: n.types.clone(), keys: n.keys.clone(), version: n.version}
}

// Label implements access.Names.
func (g *Graph) Label(name string) (value.LabelID, bool) {
	id, ok := g.names.labels.id(name)
	return value.LabelID(id), ok
}

// LabelName implements access.Names.
func (g *Graph) LabelName(id value.LabelID) string { return g.names.labels.name(uint32(id)) }

// RelType implements access.Names.
func (g *Graph) RelType(name string) (value.TypeID, bool) {
	id, ok := g.names.types.id(name)
	return value.TypeID(id), ok
}

// RelTypeName implements access.Names.
func (g *Graph) RelTypeName(id value.TypeID) string { return g.names.types.name(uint32(id)) }

// Key implements access.Names.
func (g *Graph) Key(name string) (value.KeyID, bool) {
	id, ok := g.names.keys.id(name)
	return value.KeyID(id), ok
}

// KeyName implements access.Names.
func (g *Graph) KeyName(id value.KeyID) string { return g.names.keys.name(uint32(id)) }

// SchemaVersion implements access.Names.
func (g *Graph) SchemaVersion() uint64 { return g.names.version }

// InternLabel implements access.Writer.
func (g *Graph) InternLabel(name string) (value.LabelID, error) {
	return value.LabelID(g.names.labels.intern(name, &g.names.version)), nil
}

// InternRelType implements access.Writer.
func (g *Graph) InternRelType(name string) (value.TypeID, error) {
	return value.TypeID(g.names.types.intern(name, &g.names.version)), nil
}

// InternKey implements access.Writer.
func (g *Graph) InternKey(name string) (value.KeyID, error) {
	return value.KeyID(g.names.keys.intern(name, &g.names.version)), nil
}
