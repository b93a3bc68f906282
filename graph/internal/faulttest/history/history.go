// Package history checks what concurrent transactions saw against the one order
// that the database claims: that of its seqs. A history that passes is strictly
// serializable, so none of the known anomalies is in it: no lost update, no write
// skew, no long fork, no read of what was rolled back, no stale read.
package history

import (
	"fmt"
	"maps"
	"slices"
)

// Absent is the value of a key that is not there.
const Absent = -1

// Tx is what one acknowledged transaction did.
type Tx struct {
	Start, End int64 // of a clock that all workers share, around the transaction
	Seq        uint64
	Reads      map[string]int64 // as the transaction found them, before its own writes
	Writes     map[string]int64 // nil for a reading one
}

// Check returns the first violation, or nil. Keys start out absent.
func Check(txs []Tx) error { return new(Checker).Add(txs) }

// Checker checks a long history in parts, so that it need not be kept. The zero
// Checker has seen nothing; keys are absent.
type Checker struct {
	state map[string]int64
	last  uint64 // the newest seq that was written
}

// Add checks the next part, all of which began after the parts before had ended.
// It returns the first violation, or nil.
func (c *Checker) Add(txs []Tx) error {
	if c.state == nil {
		c.state = map[string]int64{}
	}
	acked := c.last
	byPlace := slices.Clone(txs)
	slices.SortStableFunc(byPlace, func(a, b Tx) int {
		switch {
		case a.Seq != b.Seq:
			return int(int64(a.Seq) - int64(b.Seq))
		case a.Writes != nil && b.Writes == nil:
			return -1
		case a.Writes == nil && b.Writes != nil:
			return 1
		}
		return 0
	})
	for _, tx := range byPlace {
		if tx.Writes != nil && tx.Seq == c.last {
			return fmt.Errorf("two transactions have the seq %d", c.last)
		}
		for _, k := range slices.Sorted(maps.Keys(tx.Reads)) {
			want, ok := c.state[k]
			if !ok {
				want = Absent
			}
			if got := tx.Reads[k]; got != want {
				return fmt.Errorf("a transaction at seq %d (writes: %v) read %s = %d; its place in the order gives %d", tx.Seq, tx.Writes != nil, k, got, want)
			}
		}
		if tx.Writes != nil {
			maps.Copy(c.state, tx.Writes)
			maps.DeleteFunc(c.state, func(_ string, v int64) bool { return v == Absent })
			c.last = tx.Seq
		}
	}
	return realTime(txs, acked)
}

// realTime checks that a transaction that began after another's answer is not
// ordered before it. All began after newest was acknowledged.
func realTime(txs []Tx, newest uint64) error {
	ends := slices.DeleteFunc(slices.Clone(txs), func(tx Tx) bool { return tx.Writes == nil })
	slices.SortFunc(ends, func(a, b Tx) int { return int(a.End - b.End) })
	starts := slices.Clone(txs)
	slices.SortFunc(starts, func(a, b Tx) int { return int(a.Start - b.Start) })
	i := 0
	for _, tx := range starts {
		for ; i < len(ends) && ends[i].End < tx.Start; i++ {
			newest = max(newest, ends[i].Seq)
		}
		if tx.Seq < newest || tx.Writes != nil && tx.Seq == newest {
			return fmt.Errorf("a transaction that began after seq %d was acknowledged is at seq %d", newest, tx.Seq)
		}
	}
	return nil
}
