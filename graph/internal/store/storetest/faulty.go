package storetest

import (
	"errors"
	"sync"

	"engram/graph/internal/store"
)

// ErrInjected is the cause of every injected fault.
var ErrInjected = errors.New("injected fault")

// Fault says what happens instead of a plain Apply.
type Fault struct {
	Outcome store.Outcome // Failed, Unknown or Conflict
	// Happens lets the inner Apply happen before the outcome is reported; only an
	// unknown one may have.
	Happens bool
}

// Faulty is a driver that passes everything on, except the Applies that it is told
// to fail, and keeps watch over how it is used.
type Faulty struct {
	store.Driver
	// Before, if set, is called at the start of each Apply with its number from 1.
	// It may block, to let others execute on top.
	Before func(n int)

	mu           sync.Mutex
	faults       map[int]Fault
	applies      int
	dead         bool
	afterUnknown int
}

// NewFaulty wraps inner. The keys of faults number Applies from 1.
func NewFaulty(inner store.Driver, faults map[int]Fault) *Faulty {
	return &Faulty{Driver: inner, faults: faults}
}

// Apply fails as told, else applies.
func (f *Faulty) Apply(expect store.Seq, batches []store.Batch) (store.Outcome, error) {
	f.mu.Lock()
	f.applies++
	n := f.applies
	fault, fails := f.faults[n]
	if f.dead {
		f.afterUnknown++
	}
	f.mu.Unlock()
	if f.Before != nil {
		f.Before(n)
	}
	if !fails {
		return f.Driver.Apply(expect, batches)
	}
	if fault.Outcome == store.Unknown {
		f.mu.Lock()
		f.dead = true
		f.mu.Unlock()
	}
	if fault.Happens {
		if outcome, err := f.Driver.Apply(expect, batches); outcome != store.Committed {
			return outcome, err
		}
	}
	return fault.Outcome, ErrInjected
}

// Snapshot counts a use after an unknown outcome.
func (f *Faulty) Snapshot() (store.Reader, error) {
	f.mu.Lock()
	if f.dead {
		f.afterUnknown++
	}
	f.mu.Unlock()
	return f.Driver.Snapshot()
}

// Applies counts the calls of Apply.
func (f *Faulty) Applies() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.applies
}

// UsesAfterUnknown counts the calls of Apply and Snapshot after an unknown outcome,
// which the seam forbids.
func (f *Faulty) UsesAfterUnknown() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.afterUnknown
}
