package graph

import (
	"encoding/binary"
	"slices"
	"time"

	"engram/graph/internal/key"
	"engram/graph/internal/learn"
	"engram/graph/internal/store"
	"engram/graph/value"
	"engram/graph/vocab"
)

// LearningSince lists what was learned at a time, in milliseconds since 1970, or
// later, the oldest first.
func (tx *Tx) LearningSince(at int64) ([]value.Learned, error) {
	var out []value.Learned
	err := tx.eachEvents(func(_ []byte, events []learn.Event) error {
		for _, e := range events {
			if e.At < at {
				continue
			}
			l := value.Learned{At: e.At}
			switch e.Kind {
			case learn.Used:
				l.Kind, l.Node = "used", value.NodeID(e.Element)
			case learn.Strengthened:
				l.Kind, l.Edge, l.Weight = "strengthened", value.EdgeID(e.Element), learn.Float(e.Units)
			default:
				l.Kind, l.Edge = "linked", value.EdgeID(e.Element)
			}
			out = append(out, l)
		}
		return nil
	})
	return out, err
}

// RevertLearning takes back what was learned at a time or later, exactly, and
// returns how many events that were. Where some of it can no longer be taken back it
// changes nothing and says so.
func (tx *Tx) RevertLearning(since int64) (int, error) {
	c, err := tx.learnCounters()
	if err != nil {
		return 0, err
	}
	if c.Settled != 0 && since <= c.Settled {
		// A millisecond is as fine as times of learning are.
		from := time.UnixMilli(c.Settled + 1).UTC().Format("2006-01-02T15:04:05.000Z07:00")
		return 0, fail(InvalidArgument, "what was learned before %s can no longer be taken back, since only the newest %d changes are kept, so nothing was. "+
			"REVERT LEARNING SINCE datetime('%s') takes back the rest, and REVERT LEARNING OF all of one relationship", from, keptEvents, from)
	}
	return tx.revert(func(e learn.Event) bool { return e.At >= since })
}

// RevertEdge takes back all that was learned about an edge, also what is older than
// the events that are kept. One that learning made is deleted.
func (tx *Tx) RevertEdge(id value.EdgeID) (int, error) {
	n, err := tx.revert(func(e learn.Event) bool { return e.Kind != learn.Used && e.Element == uint64(id) })
	if err != nil || !tx.edgeLives(id) {
		return n, err
	}
	if made, err := tx.madeByLearning(id); err != nil || made {
		if err == nil {
			_, err = tx.DeleteEdge(id)
		}
		return max(n, 1), err
	}
	left := learn.Units(tx.LearnedWeight(id))
	if left == 0 {
		return n, nil
	}
	src, _, _, _ := tx.topo.EdgeEnds(id)
	delete(tx.w.learn.out, src)
	return n + 1, tx.addWeight(id, -left)
}

// madeByLearning reports whether an edge is one of linkLearned's.
func (tx *Tx) madeByLearning(id value.EdgeID) (bool, error) {
	_, _, t, ok := tx.EdgeEnds(id)
	origin, known := tx.Key(vocab.KeyOrigin)
	if !ok || !known || tx.RelTypeName(t) != vocab.Activates {
		return false, nil
	}
	v, err := tx.EdgeProp(id, origin)
	return v.Kind() == value.KindString && v.AsString() == OriginLearned, err
}

// revert takes events back, the newest first.
func (tx *Tx) revert(which func(learn.Event) bool) (int, error) {
	l, err := tx.learning()
	if err != nil {
		return 0, err
	}
	var back []learn.Event
	err = tx.eachEvents(func(k []byte, events []learn.Event) error {
		kept := slices.DeleteFunc(slices.Clone(events), which)
		if len(kept) == len(events) {
			return nil
		}
		for _, e := range events {
			if which(e) {
				back = append(back, e)
			}
		}
		l.other[string(k)] = nil
		if len(kept) > 0 {
			l.other[string(k)] = learn.AppendEvents(nil, kept)
		}
		return tx.charge(learn.PerRecord * 12)
	})
	if err != nil {
		return 0, err
	}
	for _, e := range slices.Backward(back) {
		if err := tx.takeBack(e); err != nil {
			return 0, err
		}
	}
	return len(back), nil
}

func (tx *Tx) takeBack(e learn.Event) error {
	switch e.Kind {
	case learn.Used:
		a := &tx.activityBucket(e.Element / learn.PerBucket)[e.Element%learn.PerBucket]
		if a.Uses > 0 {
			a.Uses--
		}
		if a.Last = e.Before; a.Uses == 0 {
			a.Last = 0
		}
	case learn.Strengthened:
		id := value.EdgeID(e.Element)
		if !tx.edgeLives(id) {
			return nil
		}
		src, _, _, _ := tx.topo.EdgeEnds(id)
		delete(tx.w.learn.out, src)
		return tx.addWeight(id, -e.Units)
	case learn.Linked:
		_, err := tx.DeleteEdge(value.EdgeID(e.Element))
		return err
	}
	return nil
}

// eachEvents hands out the records of events, the oldest first.
func (tx *Tx) eachEvents(fn func(k []byte, events []learn.Event) error) error {
	if err := tx.check(); err != nil {
		return err
	}
	var keys [][]byte
	from := []byte{weightsEvents}
	err := tx.src.Scan(store.Weights, from, key.After(from), func(k, _ []byte) bool {
		keys = append(keys, slices.Clone(k))
		return true
	})
	if err != nil {
		return wrap(err)
	}
	for _, k := range keys {
		payload, err := tx.learnRecord(store.Weights, k)
		if err != nil {
			return err
		}
		if payload == nil {
			continue // taken back before
		}
		events, err := learn.DecodeEvents(payload)
		if err == nil && len(k) != 9 {
			err = errNoLearning
		}
		if err != nil {
			return tx.damaged(store.Weights, k, err)
		}
		if err := fn(k, events); err != nil {
			return err
		}
	}
	return nil
}

// bucketNumber is the number in the key of a bucket, behind its kind.
func bucketNumber(k []byte) (uint64, bool) {
	if len(k) != 9 {
		return 0, false
	}
	return binary.BigEndian.Uint64(k[1:]), true
}
