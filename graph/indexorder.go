package graph

import (
	"bytes"
	"encoding/binary"
	"slices"

	"engram/graph/internal/store"
	"engram/graph/schema"
)

// ScanIndex appends elements that an index has for a seek to buf, in the order of
// the index or, with desc, against it: about limit of them. Those with the same
// values come by id, so with desc all that are like the last come, too. next goes on
// behind them; it is nil at the end, and at is nil for the beginning. Some may not
// match, and the order is only that of schema.Behind: the caller looks.
//
// ok is false when there is no order to be had: in a writing transaction, and with
// desc in a long one.
func (tx *Tx) ScanIndex(s schema.Seek, desc bool, at []byte, limit int, buf []uint64) (ids []uint64, next []byte, ok bool, err error) {
	if err := tx.check(); err != nil {
		return buf, nil, false, err
	}
	if tx.w != nil {
		return buf, nil, false, nil
	}
	d := tx.schema.byID(s.Index)
	if d == nil || !d.Usable() {
		return buf, nil, false, fail(InvalidArgument, "there is no index %d that can be asked", s.Index)
	}
	if s.Null() {
		return buf, nil, true, nil
	}
	from, to, some := d.span(&s)
	if !some {
		return buf, nil, true, nil
	}
	w := entryWalk{tx: tx, d: d, ids: buf, limit: limit, desc: desc}
	ok = true
	if desc {
		if at != nil {
			to = at
		}
		ok, err = tx.snap.ScanBack(store.Index, from, to, w.take)
		w.endRun()
	} else {
		if at != nil {
			from = at
		}
		err = tx.src.Scan(store.Index, from, to, w.take)
	}
	if err == nil {
		err = w.err
	}
	return w.ids, w.next, ok, wrap(err)
}

// entryWalk gathers the entries of an index as they come.
type entryWalk struct {
	tx    *Tx
	d     *indexDef
	ids   []uint64
	limit int // left
	desc  bool
	run   int    // where in ids the elements with the values at hand begin
	last  []byte // key taken last
	next  []byte
	err   error
}

const idSize = 8

// take is the callback of the scan.
func (w *entryWalk) take(k, sealed []byte) bool {
	if _, w.err = w.tx.open(store.Index, k, sealed); w.err != nil {
		return false
	}
	same := w.last != nil && bytes.Equal(k[:len(k)-idSize], w.last[:len(w.last)-idSize])
	if w.limit <= 0 && !(same && w.desc) {
		w.next = append([]byte(nil), w.last...)
		if !w.desc {
			w.next = append(w.next, 0) // behind it
		}
		return false
	}
	if !same {
		w.endRun()
	}
	w.last = append(w.last[:0], k...)
	w.limit--
	if id := binary.BigEndian.Uint64(k[len(k)-idSize:]); w.tx.lives(w.d.Edge, id) {
		w.ids = append(w.ids, id)
	}
	return true
}

// endRun puts elements with the same values, which came against the order of ids,
// in order.
func (w *entryWalk) endRun() {
	if w.desc {
		slices.Reverse(w.ids[w.run:])
	}
	w.run = len(w.ids)
}
