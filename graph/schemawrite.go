package graph

import (
	"errors"
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/schema"
	"engram/graph/value"
)

// maxDefs is how many definitions one transaction can make: their ids are its
// seq and a byte.
const maxDefs = 256

// CreateSchema makes an index or a constraint; d needs no id, no state and no
// name. Up to Options.IndexChunk elements are indexed at once, in this
// transaction. The index of more elements is filled in the background, in
// transactions of its own, and not used before it is complete.
//
// A constraint is refused, with the element that breaks it, unless what is there
// obeys it. One over many elements needs an index by the same properties first,
// which it then takes over.
func (tx *Tx) CreateSchema(d schema.Def) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	takes, err := tx.schema.set.Prepare(&d)
	var exists *schema.ExistsError
	if errors.As(err, &exists) {
		return &Error{Code: ConstraintViolated, Detail: "SchemaExists", Message: err.Error(), Err: err}
	}
	if err != nil {
		return &Error{Code: InvalidArgument, Message: err.Error(), Err: err}
	}
	def, err := tx.newDef(d)
	if err != nil {
		return err
	}
	switch {
	case takes != nil:
		return tx.takeOver(tx.schema.byID(takes.ID), def)
	case d.Kind == schema.FullText:
		return tx.buildText(def)
	case d.Kind == schema.Exists:
		if err := tx.checkAllNeeded(def); err != nil {
			return err
		}
		tx.setDef(def)
		return tx.charge(64)
	}
	return tx.build(def)
}

// newDef gives a definition its id and resolves its names.
func (tx *Tx) newDef(d schema.Def) (*indexDef, error) {
	s := storedDef{Name: d.Name, Kind: d.Kind, Edge: d.Edge, State: schema.Online}
	class := catalog.Label
	if d.Edge {
		class = catalog.RelType
	}
	var err error
	if s.Owner, err = tx.intern(class, d.Owner); err != nil {
		return nil, err
	}
	for _, name := range d.Also {
		l, err := tx.intern(class, name)
		if err != nil {
			return nil, err
		}
		s.Also = append(s.Also, l)
	}
	for _, name := range d.Keys {
		k, err := tx.InternKey(name)
		if err != nil {
			return nil, err
		}
		s.Keys = append(s.Keys, k)
	}
	id := (uint64(tx.seq) + 1) << 8
	for n := 0; tx.schema.byID(id) != nil || slices.Contains(tx.w.defs, id); n++ {
		if n == maxDefs-1 {
			return nil, fail(LimitExceeded, "one transaction makes at most %d indexes and constraints", maxDefs)
		}
		id++
	}
	return resolveDef(id, s, tx.names)
}

// inState returns the definition in another state.
func (tx *Tx) inState(d *indexDef, state schema.State, after uint64) *indexDef {
	s := d.storedDef
	s.State, s.After = state, after
	next, err := resolveDef(d.ID, s, tx.names)
	if err != nil {
		return d // cannot be: it was resolved before
	}
	return next
}

// takeOver makes a unique constraint of an index: it has its entries already.
func (tx *Tx) takeOver(ix, d *indexDef) error {
	if !ix.Usable() {
		return fail(NotSupported, "the index %s is still being filled; make the constraint when it is online", ix.Name)
	}
	s := d.storedDef
	next, err := resolveDef(ix.ID, s, tx.names)
	if err != nil {
		return fail(Internal, "constraint %s: %v", d.Name, err)
	}
	if err := tx.checkAllUnique(ix, next); err != nil {
		return err
	}
	tx.setDef(next)
	return tx.charge(64)
}

// checkAllUnique walks over an index, whose equal values lie side by side.
func (tx *Tx) checkAllUnique(ix, d *indexDef) error {
	defer tx.bare()()
	prefix := ix.prefix()
	var ids []uint64
	if err := tx.scanEntries(ix, prefix, key.After(prefix), func(id uint64) bool {
		ids = append(ids, id)
		return true
	}); err != nil {
		return err
	}
	// Own writes come behind the store's entries, so a map finds the equal ones.
	byValue := make(map[string][]uint64)
	for _, id := range ids {
		el, ok, err := tx.elementOf(ix.Edge, id)
		if err != nil {
			return err
		}
		if !ok || !d.complete(el.props) {
			continue
		}
		k, err := ix.entry(el, tx.fetchValue)
		if err != nil {
			return err
		}
		if k == nil {
			continue
		}
		val := string(valuePart(k))
		twins := append(byValue[val], id)
		if len(twins) > 1 {
			if _, err := tx.firstTwins(d, twins); err != nil {
				return err
			}
		}
		byValue[val] = twins
	}
	return nil
}

// elementOf reads a living element.
func (tx *Tx) elementOf(edge bool, id uint64) (el element, ok bool, err error) {
	if edge {
		e, err := tx.edge(value.EdgeID(id))
		if e == nil || err != nil {
			return el, false, err
		}
		return edgeElement(e), true, nil
	}
	n, err := tx.node(value.NodeID(id))
	if n == nil || err != nil {
		return el, false, err
	}
	return nodeElement(value.NodeID(id), n), true, nil
}

// size is how many elements a definition is about.
func (tx *Tx) sizeOfOwner(d *indexDef) int64 {
	defer tx.bare()()
	if d.Edge {
		return tx.EdgeCount(value.TypeID(d.owner))
	}
	return tx.NodeCount(value.LabelID(d.owner))
}

// build fills a new index, or leaves that to the background.
func (tx *Tx) build(d *indexDef) error {
	limit := int64(tx.db.opts.IndexChunk)
	if n := tx.sizeOfOwner(d); n > limit {
		if d.Constraint() {
			return fail(LimitExceeded, "%d elements with %s are too many to check in one transaction: create the index first (%s), then the constraint",
				n, describeOwner(d.Def), (&schema.Def{Kind: schema.Range, Edge: d.Edge, Owner: d.Owner, Keys: d.Keys}).String())
		}
		tx.setDef(tx.inState(d, schema.Populating, 0))
		return tx.charge(64)
	}
	tx.setDef(d)
	if _, _, err := tx.fill(d, 0, int(limit)+1); err != nil {
		return err
	}
	if d.Constraint() {
		return tx.checkConstraints()
	}
	return nil
}

// fill adds the entries of at most n elements behind after. It returns the last
// one, and whether that was the end.
func (tx *Tx) fill(d *indexDef, after uint64, n int) (last uint64, done bool, err error) {
	last = after
	err = tx.eachOf(d, after, n, func(el element) error {
		last = el.id
		n--
		if err := tx.w.declared.add(d, el, tx.fetchValue); err != nil {
			return err
		}
		return tx.charge(48)
	})
	return last, n > 0, err
}

// eachOf calls fn for at most n elements that a definition is about, behind
// after.
func (tx *Tx) eachOf(d *indexDef, after uint64, n int, fn func(element) error) error {
	defer tx.bare()()
	for n > 0 {
		ids, err := tx.scanOf(d, after, min(n, 1024))
		if err != nil {
			return err
		}
		for _, id := range ids {
			el, ok, err := tx.elementOf(d.Edge, id)
			if err == nil && ok {
				err = fn(el)
			}
			if err != nil {
				return err
			}
		}
		if len(ids) < min(n, 1024) {
			return nil
		}
		after = ids[len(ids)-1]
		n -= len(ids)
	}
	return nil
}

// scanOf lists elements that a definition is about.
func (tx *Tx) scanOf(d *indexDef, after uint64, n int) ([]uint64, error) {
	defer tx.bare()()
	var out []uint64
	if d.Edge {
		ids, err := tx.ScanEdges(value.TypeID(d.owner), value.EdgeID(after), make([]value.EdgeID, n))
		for _, id := range ids {
			out = append(out, uint64(id))
		}
		return out, err
	}
	for _, label := range d.owners {
		ids, err := tx.ScanNodes(label, value.NodeID(after), make([]value.NodeID, n))
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			out = append(out, uint64(id))
		}
	}
	if len(d.owners) > 1 {
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out[:min(n, len(out))], nil
}

// checkAllNeeded looks at every element for a property that it must have.
func (tx *Tx) checkAllNeeded(d *indexDef) error {
	defer tx.bare()()
	const all = 1 << 62
	return tx.eachOf(d, 0, all, func(el element) error {
		if d.complete(el.props) {
			return nil
		}
		return tx.errMissing(d, el.id)
	})
}

// DropSchema removes an index or a constraint. Many entries are removed in the
// background.
func (tx *Tx) DropSchema(id uint64) error {
	if err := tx.checkWrite(); err != nil {
		return err
	}
	d := tx.schema.byID(id)
	if d == nil || d.State == schema.Dropping {
		return fail(InvalidArgument, "there is no index or constraint %d", id)
	}
	if d.Kind == schema.FullText {
		return tx.dropText(tx.inState(d, schema.Dropping, 0))
	}
	if !d.Indexed() {
		tx.dropDef(id)
		return tx.charge(64)
	}
	gone, done, err := tx.dropEntries(d, tx.db.opts.IndexChunk)
	if err != nil {
		return err
	}
	if done {
		tx.dropDef(id)
	} else {
		tx.setDef(tx.inState(d, schema.Dropping, 0))
	}
	return tx.charge(64 + 32*gone)
}

// dropEntries removes at most n entries of an index, and reports how many and
// whether that was all.
func (tx *Tx) dropEntries(d *indexDef, n int) (gone int, done bool, err error) {
	own := &tx.w.declared.entries
	var keys []string
	prefix := d.prefix()
	own.Ascend(string(prefix), func(k string, _ bool) bool {
		if !hasPrefix(k, prefix) {
			return false
		}
		keys = append(keys, k)
		return true
	})
	done = true
	err = tx.src.Scan(indexSpace, prefix, key.After(prefix), func(k, _ []byte) bool {
		if there, mine := own.Get(string(k)); mine && !there {
			return true // removed before
		}
		if len(keys) >= n+own.Len() {
			done = false
			return false
		}
		keys = append(keys, string(k))
		return true
	})
	for _, k := range keys {
		own.Set(k, false)
	}
	return len(keys), done, wrap(err)
}

func hasPrefix(k string, prefix []byte) bool {
	return len(k) >= len(prefix) && k[:len(prefix)] == string(prefix)
}
