package access

import "engram/graph/schema"

// Indexes is a Reader that has indexes and constraints. A Reader without it has
// none.
type Indexes interface {
	Schema() *schema.Set
	// IndexCounts returns how many entries an index has, and of how many different
	// values.
	IndexCounts(id uint64) (entries, distinct int64)
	// SeekIndex hands out the ids of the elements that an index has for a seek,
	// each once and in no particular order, until fn returns false. Some may not
	// match. fn must not read the graph.
	SeekIndex(s schema.Seek, fn func(id uint64) bool) error
}

// SchemaWriter is a Writer that can change indexes and constraints.
type SchemaWriter interface {
	Indexes
	// CreateSchema makes an index or a constraint, which needs no id and no name.
	CreateSchema(d schema.Def) error
	// DropSchema drops one that Schema lists.
	DropSchema(id uint64) error
}
