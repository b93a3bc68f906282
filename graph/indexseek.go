package graph

import (
	"bytes"
	"encoding/binary"

	"engram/graph/internal/key"
	"engram/graph/internal/store"
	"engram/graph/schema"
	"engram/graph/value"
)

// SeekIndex hands out the elements that an index has for a seek, own writes
// included, in no order that means anything and each once, until fn returns
// false. Some may not match: the caller looks. fn must not read through the
// transaction.
func (tx *Tx) SeekIndex(s schema.Seek, fn func(id uint64) bool) error {
	if err := tx.check(); err != nil {
		return err
	}
	d := tx.schema.byID(s.Index)
	if d == nil || !d.Usable() {
		return fail(InvalidArgument, "there is no index %d that can be asked", s.Index)
	}
	if s.Null() {
		return nil
	}
	from, to, ok := d.span(&s)
	if !ok {
		return nil
	}
	return tx.scanEntries(d, from, to, fn)
}

// span returns the keys that a seek looks at.
func (d *indexDef) span(s *schema.Seek) (from, to []byte, ok bool) {
	prefix := d.prefix()
	for _, v := range s.Eq {
		next, err := key.AppendIndexed(prefix, v)
		if err != nil {
			return nil, nil, false // nothing stored equals such a value
		}
		prefix = next
	}
	switch {
	case s.HasPrefix:
		prefix = append(prefix, key.Prefix(s.Prefix)...)
		return prefix, key.After(prefix), true
	case len(s.Eq) > 0 && s.Lo.IsNull() && s.Hi.IsNull():
		return prefix, key.After(prefix), true
	}
	lo, hi, ok := key.Range(s.Lo, s.Hi)
	if !ok {
		return nil, nil, false
	}
	return append(prefix[:len(prefix):len(prefix)], lo...), append(prefix[:len(prefix):len(prefix)], hi...), true
}

// scanEntries hands out the living elements with an entry in [from, to).
func (tx *Tx) scanEntries(d *indexDef, from, to []byte, fn func(id uint64) bool) error {
	var bad error
	more := true
	give := func(id uint64) bool {
		more = !tx.lives(d.Edge, id) || fn(id)
		return more
	}
	err := tx.src.Scan(store.Index, from, to, func(k, sealed []byte) bool {
		if tx.w != nil && tx.w.declared.entries.Len() > 0 {
			if _, own := tx.w.declared.entries.Get(string(k)); own {
				return true
			}
		}
		if _, bad = tx.open(store.Index, k, sealed); bad != nil {
			return false
		}
		return give(binary.BigEndian.Uint64(k[len(k)-8:]))
	})
	if err == nil {
		err = bad
	}
	if err != nil || !more || tx.w == nil {
		return wrap(err)
	}
	tx.w.declared.entries.Ascend(string(from), func(k string, there bool) bool {
		if bytes.Compare([]byte(k), to) >= 0 {
			return false
		}
		return !there || give(binary.BigEndian.Uint64([]byte(k[len(k)-8:])))
	})
	return nil
}

// lives reports whether an element is there: the edges of a deleted hub keep
// their entries until they are swept.
func (tx *Tx) lives(edge bool, id uint64) bool {
	if !edge {
		return tx.NodeExists(value.NodeID(id))
	}
	_, _, _, ok := tx.EdgeEnds(value.EdgeID(id))
	return ok
}
