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

// OrderedIndexes is what Indexes may offer besides: their order.
type OrderedIndexes interface {
	Indexes
	// ScanIndex appends about limit elements that an index has for a seek to buf, in
	// order of its last key or, with desc, against it, and by id where that is equal.
	// at is nil for the beginning, else the next of the call before, which is nil at
	// the end. Some may not match, and the order is only that of schema.Behind. ok is
	// false when there is no order to be had.
	ScanIndex(s schema.Seek, desc bool, at []byte, limit int, buf []uint64) (ids []uint64, next []byte, ok bool, err error)
}

// SchemaWriter is a Writer that can change indexes and constraints.
type SchemaWriter interface {
	Indexes
	// CreateSchema makes an index or a constraint, which needs no id and no name.
	CreateSchema(d schema.Def) error
	// DropSchema drops one that Schema lists.
	DropSchema(id uint64) error
}
