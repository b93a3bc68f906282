package commit

import (
	"context"
	"errors"
	"testing"

	"engram/graph/internal/store"
	"engram/graph/internal/store/storetest"
)

func TestFailedLeavesTheStoreUsable(t *testing.T) {
	e, g := openGated(t, map[int]storetest.Fault{2: {Outcome: store.Failed}}, Options[int]{})
	first := begin(t, e, "a", "1")
	g.wait()
	g.step()
	committed(t, first)
	failing := begin(t, e, "a", "2")
	g.wait()
	onTop := begin(t, e, "b", "2")
	g.step()
	wantAnswer(t, failing, store.Failed, ErrFailed)
	wantAnswer(t, failing, store.Failed, storetest.ErrInjected)
	wantAnswer(t, onTop, store.Failed, ErrAborted)
	slot := acquire(t, e)
	if slot.Seq() != 1 || slot.Version() != 1 {
		t.Errorf("after a failure the head is seq %d, version %d; want 1, 1", slot.Seq(), slot.Version())
	}
	wantValue(t, slot, "a", "1")
	wantValue(t, slot, "b", "")
	again := slot.Finish([]store.Put{put("a", "3")}, 2, "")
	g.wait()
	g.step()
	if seq := committed(t, again); seq != 2 {
		t.Errorf("the next commit has seq %d; want 2", seq)
	}
	if s := e.Stats(); s.Lost != 2 || s.Poison != nil {
		t.Errorf("Stats = %+v; want 2 lost, no poison", s)
	}
}

func TestUnknownPoisons(t *testing.T) {
	for name, happens := range map[string]bool{"lost": false, "there after all": true} {
		t.Run(name, func(t *testing.T) {
			e, g := openGated(t, map[int]storetest.Fault{2: {Outcome: store.Unknown, Happens: happens}}, Options[int]{})
			first := begin(t, e, "a", "1")
			g.wait()
			g.step()
			committed(t, first)
			unknown := begin(t, e, "a", "2")
			g.wait()
			onTop := begin(t, e, "b", "2")
			reading := acquire(t, e).FinishReadOnly()
			g.step()
			wantAnswer(t, unknown, store.Unknown, ErrOutcomeUnknown)
			wantAnswer(t, onTop, store.Failed, ErrAborted)
			wantAnswer(t, reading, store.Failed, ErrAborted)
			wantRefused(t, e, ErrPoisoned, storetest.ErrInjected)
			for _, open := range []func() (*Snapshot[int], error){e.Snapshot, e.LongSnapshot} {
				snap := snapshot(t, open)
				wantValue(t, snap, "a", "1")
				if snap.Seq() != 1 || snap.Version() != 1 {
					t.Errorf("reads are from seq %d, version %d; want 1, 1, pinned before the failure", snap.Seq(), snap.Version())
				}
			}
			if e.Poisoned() == nil {
				t.Error("Poisoned is nil")
			}
		})
	}
}

func TestAFailedSyncIsNeverRetried(t *testing.T) {
	faulty := storetest.NewFaulty(newMem(t), map[int]storetest.Fault{1: {Outcome: store.Unknown}})
	e := open(t, faulty, Options[int]{})
	wantAnswer(t, begin(t, e, "a", "1"), store.Unknown, ErrOutcomeUnknown)
	wantRefused(t, e, ErrPoisoned)
	if n := faulty.UsesAfterUnknown(); n != 0 || faulty.Applies() != 1 {
		t.Errorf("after an unknown outcome the store was used %d times, with %d Applies in all; want 0, 1", n, faulty.Applies())
	}
}

func TestAConflictPoisons(t *testing.T) {
	faulty := storetest.NewFaulty(newMem(t), map[int]storetest.Fault{1: {Outcome: store.Conflict}})
	e := open(t, faulty, Options[int]{})
	wantAnswer(t, begin(t, e, "a", "1"), store.Conflict, ErrPoisoned)
	if e.Poisoned() == nil {
		t.Error("another writer's store is written to on")
	}
}

// unreadable fails the nth Snapshot.
type unreadable struct {
	store.Driver
	n int
}

func (u *unreadable) Snapshot() (store.Reader, error) {
	if u.n--; u.n == 0 {
		return nil, store.ErrDamaged
	}
	return u.Driver.Snapshot()
}

func TestADurableCommitThatCannotBeReadBackIsCommitted(t *testing.T) {
	var side store.Seq
	e := open(t, &unreadable{newMem(t), 2}, Options[int]{BeforeAck: func(seq store.Seq) error { side = seq; return nil }})
	if seq := commit(t, e, "a", "1"); seq != 1 || side != 1 {
		t.Errorf("seq %d, side file %d; want 1, 1", seq, side)
	}
	if err := e.Poisoned(); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Poisoned = %v; want damaged", err)
	}
	if snap := snapshot(t, e.Snapshot); snap.Seq() != 0 {
		t.Errorf("reads are from seq %d; want 0", snap.Seq())
	}
}

func TestTheSlotHolderIsDoomedByALoss(t *testing.T) {
	e, g := openGated(t, map[int]storetest.Fault{1: {Outcome: store.Failed}}, Options[int]{})
	failing := begin(t, e, "a", "1")
	g.wait()
	slot := acquire(t, e)
	wantValue(t, slot, "a", "1")
	g.step()
	wantAnswer(t, failing, store.Failed, ErrFailed)
	if err := slot.Err(); !errors.Is(err, ErrAborted) {
		t.Errorf("Err = %v; want aborted", err)
	}
	if _, err := slot.Get(store.Nodes, []byte("a")); !errors.Is(err, ErrAborted) {
		t.Errorf("Get = %v; want aborted", err)
	}
	if _, err := slot.GetMany(store.Nodes, nil, nil); !errors.Is(err, ErrAborted) {
		t.Errorf("GetMany = %v; want aborted", err)
	}
	if err := slot.Scan(store.Nodes, nil, nil, nil); !errors.Is(err, ErrAborted) {
		t.Errorf("Scan = %v; want aborted", err)
	}
	wantAnswer(t, slot.Finish([]store.Put{put("b", "1")}, 9, ""), store.Failed, ErrAborted)
	next := acquire(t, e)
	wantValue(t, next, "a", "")
	wantValue(t, next, "b", "")
	if next.Seq() != 0 || next.Version() != 0 {
		t.Errorf("the head is seq %d, version %d; want 0, 0", next.Seq(), next.Version())
	}
	next.Abort()
}

// TestIdempotencyKeysTellTheOutcome reopens after an unknown outcome of both kinds.
func TestIdempotencyKeysTellTheOutcome(t *testing.T) {
	for name, happens := range map[string]bool{"lost": false, "there after all": true} {
		t.Run(name, func(t *testing.T) {
			reopen := newBolt(t)
			faulty := storetest.NewFaulty(reopen(), map[int]storetest.Fault{2: {Outcome: store.Unknown, Happens: happens}})
			e, err := New(faulty, Options[int]{})
			if err != nil {
				t.Fatal(err)
			}
			commit(t, e, "a", "1")
			wantAnswer(t, acquire(t, e).Finish([]store.Put{put("a", "2")}, 2, "key"), store.Unknown, ErrOutcomeUnknown)
			if err := e.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
			e = open(t, reopen(), Options[int]{})
			slot := acquire(t, e)
			seq, found, err := slot.Repeated("key")
			if err != nil || found != happens || found && seq != 2 {
				t.Errorf("Repeated = %d, %v, %v; want 2, %v", seq, found, err, happens)
			}
			want := map[bool]string{false: "1", true: "2"}[happens]
			wantValue(t, slot, "a", want)
			slot.Abort()
		})
	}
}

func TestARepeatedKeyWritesNothing(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	first := acquire(t, e).Finish([]store.Put{put("a", "1")}, 1, "key")
	g.wait()
	slot := acquire(t, e)
	if seq, found, err := slot.Repeated("key"); seq != 1 || !found || err != nil {
		t.Errorf("Repeated while pending = %d, %v, %v; want 1, true", seq, found, err)
	}
	if _, found, err := slot.Repeated(""); found || err != nil {
		t.Errorf("Repeated without a key = %v, %v; want false", found, err)
	}
	again := slot.Finish([]store.Put{put("a", "2")}, 2, "key")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := again.Wait(over); !errors.Is(err, ErrGoesOn) { // the first one does
		t.Errorf("who repeats a transaction that is not durable yet is told %v", err)
	}
	if isDone(again.after) {
		t.Error("the repetition is answered before the first is durable")
	}
	g.step()
	if seq := committed(t, again); seq != 1 {
		t.Errorf("the repetition is answered with seq %d; want 1", seq)
	}
	committed(t, first)
	wantValue(t, snapshot(t, e.Snapshot), "a", "1")
	if e.Seq() != 1 {
		t.Errorf("the engine is at seq %d; want 1", e.Seq())
	}
}
