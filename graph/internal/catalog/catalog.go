// Package catalog interns the names of labels, relation types and property
// keys. A Catalog is an immutable version; adding a name makes another
// one.
package catalog

import (
	"encoding/binary"
	"fmt"
	"maps"

	"engram/graph/internal/store"
)

// Class is what a name names. Numbers are part of the file format.
type Class uint8

// The classes of names.
const (
	Label Class = iota
	RelType
	Key
	classCount
)

// chunk is how many names a version copies at most to add one.
const chunk = 64

// Catalog is one version of the names. It is safe for concurrent use.
type Catalog struct {
	tables  [classCount]table
	version uint64
}

// table keeps names by id, in full pages and the open one, and ids by name, in
// maps that are merged when one is not much larger than the next: so n names are
// added in O(n log n) and one is found in O(log n) maps. Versions share all of it.
type table struct {
	pages  [][]string          // of chunk names each, ids 1...
	recent []string            // the names after the pages, looked up front to back
	levels []map[string]uint32 // the names of the pages, larger maps first; never changed once published
}

func (t *table) len() int { return len(t.pages)*chunk + len(t.recent) }

// add returns the table with a name behind the others, and the name's id. Full
// slice expressions make append copy: an abandoned version may have grown the
// same array.
func (t table) add(name string) (table, uint32) {
	t.recent = append(t.recent[:len(t.recent):len(t.recent)], name)
	id := uint32(t.len())
	if len(t.recent) < chunk {
		return t, id
	}
	level := make(map[string]uint32, chunk)
	for i, n := range t.recent {
		level[n] = id - chunk + 1 + uint32(i)
	}
	keep := len(t.levels)
	for ; keep > 0 && len(t.levels[keep-1]) <= len(level); keep-- {
		merged := make(map[string]uint32, len(level)+len(t.levels[keep-1]))
		maps.Copy(merged, t.levels[keep-1])
		maps.Copy(merged, level)
		level = merged
	}
	t.levels = append(t.levels[:keep:keep], level)
	t.pages = append(t.pages[:len(t.pages):len(t.pages)], t.recent)
	t.recent = nil
	return t, id
}

// New makes an empty catalog.
func New() *Catalog { return &Catalog{} }

// Lookup returns the id of a name.
func (c *Catalog) Lookup(class Class, name string) (uint32, bool) {
	t := &c.tables[class]
	for _, level := range t.levels {
		if id, ok := level[name]; ok {
			return id, true
		}
	}
	for i, n := range t.recent {
		if n == name {
			return uint32(len(t.pages)*chunk + i + 1), true
		}
	}
	return 0, false
}

// Name returns the name of an id, empty for an unknown one.
func (c *Catalog) Name(class Class, id uint32) string {
	t := &c.tables[class]
	if id == 0 || int64(id) > int64(t.len()) {
		return ""
	}
	if page := int(id-1) / chunk; page < len(t.pages) {
		return t.pages[page][int(id-1)%chunk]
	}
	return t.recent[int(id-1)%chunk]
}

// Len returns how many names a class has; their ids are 1 to Len.
func (c *Catalog) Len(class Class) int { return c.tables[class].len() }

// Version changes whenever a name is added.
func (c *Catalog) Version() uint64 { return c.version }

// With returns a catalog that has the name too, and its id. When the name is
// known already it returns c itself.
func (c *Catalog) With(class Class, name string) (*Catalog, uint32) {
	if id, ok := c.Lookup(class, name); ok {
		return c, id
	}
	next := *c
	next.version++
	t, id := c.tables[class].add(name)
	next.tables[class] = t
	return &next, id
}

// StoreKey is a name's key in the names space; its value is the name.
func StoreKey(class Class, id uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{byte(class)}, id)
}

// Load adds stored names. They must come in ascending order of key, as a scan
// gives them, and without holes.
type Load struct{ c Catalog }

// Add takes one stored name.
func (l *Load) Add(key []byte, name string) error {
	if len(key) != 5 || Class(key[0]) >= classCount {
		return fmt.Errorf("a name under the key %x", key)
	}
	class := Class(key[0])
	t := &l.c.tables[class]
	if id := binary.BigEndian.Uint32(key[1:]); int(id) != t.len()+1 {
		return fmt.Errorf("name %d after %d names", id, t.len())
	}
	if _, twice := l.c.Lookup(class, name); twice {
		return fmt.Errorf("the name %q twice", name)
	}
	*t, _ = t.add(name)
	l.c.version++
	return nil
}

// Done returns the catalog.
func (l *Load) Done() *Catalog { return &l.c }

// Space is where names are stored.
const Space = store.Names
