package graph

import (
	"bytes"
	"encoding/binary"

	"github.com/tidwall/btree"

	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// declared are the changes of the declared indexes in one transaction or batch
// of a load, and what constraints have to look at because of them.
type declared struct {
	// entries are keys: true for one that is there now, false for one that is not
	// any more.
	entries btree.Map[string, bool]
	// unique are the values, keys without the element, of constraints that got an
	// entry.
	unique map[string]*indexDef
	// needed are elements that must have the properties of constraints.
	needed map[neededProp]struct{}
}

// neededProp is an element and the constraint that it must have a property.
type neededProp struct {
	def  uint64
	elem uint64
}

// element is a node or an edge as the indexes see it.
type element struct {
	edge   bool
	id     uint64
	labels []value.LabelID
	typ    value.TypeID
	props  []record.Prop
}

func nodeElement(id value.NodeID, n *record.Node) element {
	return element{id: uint64(id), labels: n.Labels, props: n.Props}
}

func edgeElement(e *record.Edge) element {
	return element{edge: true, id: uint64(e.ID), typ: e.Type, props: e.Props}
}

// each calls fn for the definitions that are about an element.
func (t *schemaTable) each(el element, fn func(*indexDef)) {
	if el.edge {
		for _, d := range t.edges[el.typ] {
			fn(d)
		}
		return
	}
	if len(t.nodes) == 0 {
		return
	}
	for _, l := range el.labels {
		for _, d := range t.nodes[l] {
			fn(d)
		}
	}
}

// fetcher returns the value of a stored property, out of line or not.
type fetcher func(el element, p record.Prop) (value.Value, error)

// entry makes the key of an element's entry; nil when it has none, for lack of
// the first property.
func (d *indexDef) entry(el element, fetch fetcher) ([]byte, error) {
	k := d.prefix()
	for i, id := range d.keys {
		v := value.Null
		if p, ok := record.GetProp(el.props, id); ok {
			var err error
			if v, err = fetch(el, p); err != nil {
				return nil, err
			}
		}
		if i == 0 && v.IsNull() {
			return nil, nil
		}
		next, err := key.AppendIndexed(k, v)
		if err != nil {
			return nil, nil // such a value can't be looked up either
		}
		k = next
	}
	return binary.BigEndian.AppendUint64(k, el.id), nil
}

// complete reports whether an element has all properties of a definition.
func (d *indexDef) complete(props []record.Prop) bool {
	for _, id := range d.keys {
		if _, ok := record.GetProp(props, id); !ok {
			return false
		}
	}
	return true
}

// add notes the entry that an element has now.
func (c *declared) add(d *indexDef, el element, fetch fetcher) error {
	if !d.Indexed() {
		c.need(d, el)
		return nil
	}
	k, err := d.entry(el, fetch)
	if k == nil || err != nil {
		return err
	}
	c.entries.Set(string(k), true)
	if d.Constraint() && d.complete(el.props) {
		if c.unique == nil {
			c.unique = map[string]*indexDef{}
		}
		c.unique[string(valuePart(k))] = d
	}
	return nil
}

// remove notes that an element's entry is gone.
func (c *declared) remove(d *indexDef, el element, fetch fetcher) error {
	if !d.Indexed() {
		return nil
	}
	k, err := d.entry(el, fetch)
	if k != nil && err == nil {
		c.entries.Set(string(k), false)
	}
	return err
}

func (c *declared) need(d *indexDef, el element) {
	if c.needed == nil {
		c.needed = map[neededProp]struct{}{}
	}
	c.needed[neededProp{d.ID, el.id}] = struct{}{}
}

// puts appends the changes of the store, in the order of their keys.
func (c *declared) puts(puts []store.Put, seal record.Sealer) []store.Put {
	c.entries.Scan(func(k string, there bool) bool {
		put := store.Put{Space: store.Index, Key: []byte(k)}
		if there {
			put.Value = seal.Seal(store.Index, put.Key, nil)
		}
		puts = append(puts, put)
		return true
	})
	return puts
}

// deltas tells by how much the changes move the counts of each index, given what
// the store has before them. It reads a constant number of keys for each change.
func (c *declared) deltas(src source) (map[uint64]counts64, error) {
	var out map[uint64]counts64
	var group []entryChange
	var err error
	flush := func() bool {
		if len(group) == 0 {
			return true
		}
		var d counts64
		if d, err = groupDelta(src, group); err != nil {
			return false
		}
		id := binary.BigEndian.Uint64([]byte(group[0].key[1:9]))
		if out == nil {
			out = map[uint64]counts64{}
		}
		t := out[id]
		out[id] = counts64{t.entries + d.entries, t.distinct + d.distinct}
		group = group[:0]
		return true
	}
	c.entries.Scan(func(k string, there bool) bool {
		if len(group) > 0 && group[0].key[:len(group[0].key)-8] != k[:len(k)-8] && !flush() {
			return false
		}
		group = append(group, entryChange{k, there})
		return true
	})
	if err == nil {
		flush()
	}
	return out, wrap(err)
}

type entryChange struct {
	key   string
	there bool
}

// groupDelta is deltas for the changes of one value.
func groupDelta(src source, group []entryChange) (d counts64, err error) {
	keys := make([][]byte, len(group))
	gone := map[string]bool{}
	stays := false
	for i, g := range group {
		keys[i] = []byte(g.key)
		stays = stays || g.there
		if !g.there {
			gone[g.key] = true
		}
	}
	old, err := src.GetMany(store.Index, keys, make([][]byte, 0, len(keys)))
	if err != nil {
		return d, err
	}
	for i, g := range group {
		switch was := old[i] != nil; {
		case g.there && !was:
			d.entries++
		case !g.there && was:
			d.entries--
		}
	}
	prefix := valuePart(keys[0])
	had := false
	err = src.Scan(store.Index, prefix, key.After(prefix), func(k, _ []byte) bool {
		if len(k) != len(keys[0]) || !bytes.HasPrefix(k, prefix) {
			return true
		}
		had = true
		stays = stays || !gone[string(k)]
		return !stays
	})
	switch {
	case stays && !had:
		d.distinct++
	case had && !stays:
		d.distinct--
	}
	return d, err
}
