package graph

import (
	"engram/graph/internal/catalog"
	"engram/graph/internal/learn"
	"engram/graph/internal/topo"
	"engram/graph/value"
	"engram/graph/vocab"
)

// idKey is the key of the property id: it is interned when a database is
// created, so it always has the first number.
const idKey value.KeyID = 1

// state is the immutable version that goes with one seq: everything about the
// graph that is kept in memory. The commit engine pairs it with the store.
type state struct {
	topo  *topo.Version
	names *catalog.Catalog
	keys  *keyTable
	// schema are the declared indexes and the constraints, counts the statistics
	// of their indexes by id.
	schema *schemaTable
	vocab  *vocab.Vocabulary
	// activity is how nodes were used.
	activity activities
	counts   map[uint64]counts64
	// learned are the counters of a transaction that learned, nil for others.
	learned *learn.Counters
	// partial says that a bulk load into an empty graph is under way: the store has
	// elements that the topology does not have yet.
	partial bool
	// marks are the ids up to which ids may be handed out once this state is
	// durable.
	marks marks
	// changed are the documents that this one transaction changed, recent those of
	// it and of the ones before that may not be durable yet.
	changed *changes
	recent  []textBatch
}

// marks are high-water marks of ids.
type marks struct{ node, edge uint64 }

// keyTable tells what is special about property keys. It depends on the names
// only.
type keyTable struct {
	hot  map[value.KeyID]topo.Column
	edge map[value.KeyID]topo.EdgeAttr
	text map[value.KeyID]int // position in Options.TextFields
}

// edgeAttr returns the attribute that the topology keeps of an edge property.
func edgeAttr(name string) (topo.EdgeAttr, bool) {
	switch name {
	case "weight":
		return topo.Weight, true
	case "layer":
		return topo.Layer, true
	case "inhibitory":
		return topo.Inhibitory, true
	}
	return 0, false
}

// special returns the key table for a set of names.
func (o *Options) special(names *catalog.Catalog) *keyTable {
	t := &keyTable{
		hot:  map[value.KeyID]topo.Column{},
		edge: map[value.KeyID]topo.EdgeAttr{},
		text: map[value.KeyID]int{},
	}
	for i, name := range o.HotColumns {
		if id, ok := names.Lookup(catalog.Key, name); ok {
			t.hot[value.KeyID(id)] = topo.Column(i)
		}
	}
	for i, name := range o.TextFields {
		if id, ok := names.Lookup(catalog.Key, name); ok {
			t.text[value.KeyID(id)] = i
		}
	}
	for id := 1; id <= names.Len(catalog.Key); id++ {
		if a, ok := edgeAttr(names.Name(catalog.Key, uint32(id))); ok {
			t.edge[value.KeyID(id)] = a
		}
	}
	return t
}
