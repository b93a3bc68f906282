// Package catalog interns the names of labels, relation types and property
// keys. A Catalog is an immutable version; adding a name makes another
// one.
package catalog

import (
	"encoding/binary"
	"fmt"

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

// chunk is how many names may be outside the base map before it is built anew,
// so that adding a name costs little and so does looking one up.
const chunk = 64

// Catalog is one version of the names. It is safe for concurrent use.
type Catalog struct {
	tables  [classCount]table
	version uint64
}

// table keeps names by id and ids by name: a base map shared between versions
// and the few names added since, looked up front to back.
type table struct {
	base   map[string]uint32 // never changed once published
	recent []string          // ids len(base)+1...
	names  []string          // by id - 1
}

// New makes an empty catalog.
func New() *Catalog { return &Catalog{} }

// Lookup returns the id of a name.
func (c *Catalog) Lookup(class Class, name string) (uint32, bool) {
	t := &c.tables[class]
	if id, ok := t.base[name]; ok {
		return id, true
	}
	for i, n := range t.recent {
		if n == name {
			return uint32(len(t.names) - len(t.recent) + i + 1), true
		}
	}
	return 0, false
}

// Name returns the name of an id, empty for an unknown one.
func (c *Catalog) Name(class Class, id uint32) string {
	names := c.tables[class].names
	if id == 0 || int(id) > len(names) {
		return ""
	}
	return names[id-1]
}

// Len returns how many names a class has; their ids are 1 to Len.
func (c *Catalog) Len(class Class) int { return len(c.tables[class].names) }

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
	t := &next.tables[class]
	// Full slice expressions make append copy: an abandoned version may have
	// grown the same array.
	t.names = append(t.names[:len(t.names):len(t.names)], name)
	if len(t.recent) < chunk {
		t.recent = append(t.recent[:len(t.recent):len(t.recent)], name)
		return &next, uint32(len(t.names))
	}
	base := make(map[string]uint32, 2*len(t.names))
	for i, n := range t.names {
		base[n] = uint32(i + 1)
	}
	t.base, t.recent = base, nil
	return &next, uint32(len(t.names))
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
	t := &l.c.tables[key[0]]
	if id := binary.BigEndian.Uint32(key[1:]); int(id) != len(t.names)+1 {
		return fmt.Errorf("name %d after %d names", id, len(t.names))
	}
	if t.base == nil {
		t.base = map[string]uint32{}
	}
	if _, twice := t.base[name]; twice {
		return fmt.Errorf("the name %q twice", name)
	}
	t.names = append(t.names, name)
	t.base[name] = uint32(len(t.names))
	l.c.version++
	return nil
}

// Done returns the catalog.
func (l *Load) Done() *Catalog { return &l.c }

// Space is where names are stored.
const Space = store.Names
