package commit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"testing"

	"engram/graph/internal/store"
	"engram/graph/internal/store/storetest"
)

func TestACommitIsReadBack(t *testing.T) {
	e := openMem(t, Options[int]{Initial: 100})
	slot := acquire(t, e)
	if slot.Seq() != 0 || slot.Version() != 100 {
		t.Fatalf("a new engine is at seq %d, version %d; want 0, 100", slot.Seq(), slot.Version())
	}
	if seq := committed(t, slot.Finish([]store.Put{put("a", "1")}, 101, "")); seq != 1 {
		t.Fatalf("the first seq is %d; want 1", seq)
	}
	snap := snapshot(t, e.Snapshot)
	wantValue(t, snap, "a", "1")
	if snap.Seq() != 1 || snap.Version() != 101 || e.Seq() != 1 {
		t.Errorf("the snapshot is at seq %d, version %d, the engine at %d; want 1, 101, 1", snap.Seq(), snap.Version(), e.Seq())
	}
}

func TestNobodyIsAnsweredBeforeDurable(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	first := begin(t, e, "a", "1")
	g.wait()
	second := begin(t, e, "b", "2")
	slot := acquire(t, e)
	wantValue(t, slot, "b", "2")
	reader := slot.FinishReadOnly()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for name, ticket := range map[string]*Ticket{"the first": first, "the second": second, "the reader": reader} {
		_, outcome, err := ticket.Wait(over)
		if outcome != store.Unknown || !errors.Is(err, context.Canceled) {
			t.Errorf("%s is answered %v, %v while nothing is durable", name, outcome, err)
		}
		if goesOn := errors.Is(err, ErrGoesOn); goesOn != (ticket != reader) {
			t.Errorf("%s is told that something goes on: %v", name, err)
		}
	}
	g.step()
	committed(t, first)
	g.wait()
	if _, outcome, _ := reader.Wait(over); outcome != store.Unknown {
		t.Errorf("the reader is answered %v while what it read is not durable", outcome)
	}
	g.step()
	if seq := committed(t, reader); seq != 2 {
		t.Errorf("the reader could read up to seq %d; want 2", seq)
	}
	committed(t, second)
}

func TestAnErrorWaitsLikeAnAnswer(t *testing.T) {
	e, g := openGated(t, map[int]storetest.Fault{1: {Outcome: store.Failed}}, Options[int]{MaxKeys: 1})
	first := begin(t, e, "a", "1")
	g.wait()
	tooLarge := acquire(t, e).Finish([]store.Put{put("b", "1"), put("c", "1")}, 2, "")
	if isDone(tooLarge.after) {
		t.Fatal("an error is answered before what its statement read is durable")
	}
	g.step()
	wantAnswer(t, first, store.Failed, ErrFailed)
	wantAnswer(t, tooLarge, store.Failed, ErrAborted)
}

func TestPublishFollowsDurabilityAndPrecedesSight(t *testing.T) {
	driver := newMem(t)
	var e *Engine[int]
	var published []string
	e = open(t, driver, Options[int]{
		Publish: func(seq store.Seq, version int) {
			r, err := driver.Snapshot()
			if err != nil || r.Seq() < seq {
				t.Errorf("seq %d is published while the store is at %d, %v", seq, r.Seq(), err)
			}
			snap, err := e.Snapshot()
			if err != nil || snap.Seq() >= seq {
				t.Errorf("seq %d is seen before it is published: %v", seq, err)
			}
			snap.Close()
			published = append(published, fmt.Sprintf("%d:%d", seq, version))
		},
		BeforeAck: func(seq store.Seq) error {
			published = append(published, fmt.Sprintf("side %d", seq))
			return nil
		},
	})
	commit(t, e, "a", "1")
	commit(t, e, "a", "2")
	if got := fmt.Sprint(published); got != "[1:1 side 1 2:2 side 2]" {
		t.Errorf("published %s", got)
	}
}

func TestTheSideFileIsWrittenBeforeTheAnswer(t *testing.T) {
	hold, held := make(chan struct{}), make(chan struct{})
	e := openMem(t, Options[int]{BeforeAck: func(store.Seq) error {
		close(held)
		<-hold
		return errors.New("no room")
	}})
	ticket := begin(t, e, "a", "1")
	<-held
	if isDone(ticket) {
		t.Error("answered before BeforeAck returned")
	}
	close(hold)
	committed(t, ticket) // a lost side file does not make it less durable
	if s := e.Stats(); s.AckErrors != 1 || s.LastAckError == nil {
		t.Errorf("Stats = %+v; want the error of BeforeAck counted and kept", s)
	}
}

func TestSeqsAreNeverReused(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	var tickets []*Ticket
	for i := range 5 {
		tickets = append(tickets, begin(t, e, fmt.Sprint(i), "x"))
		if i == 0 {
			g.wait()
		}
	}
	g.step()
	g.wait()
	g.step()
	for i, ticket := range tickets {
		if seq := committed(t, ticket); seq != store.Seq(i+1) {
			t.Errorf("transaction %d has seq %d; want %d", i, seq, i+1)
		}
	}
}

func TestManyCommitWithOneApply(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	tickets := []*Ticket{begin(t, e, "first", "x")}
	g.wait()
	for i := range 63 {
		tickets = append(tickets, begin(t, e, fmt.Sprint(i), "x"))
	}
	g.step()
	g.wait()
	g.step()
	for _, ticket := range tickets {
		committed(t, ticket)
	}
	if s := e.Stats(); s.Commits != 64 || s.Groups != 2 || g.Applies() != 2 || s.Pending != 0 || s.PendingBytes != 0 {
		t.Errorf("64 transactions: %+v with %d Applies; want 2 groups and nothing pending", s, g.Applies())
	}
}

func TestAGroupIsBounded(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{MaxGroupBytes: 10})
	tickets := []*Ticket{begin(t, e, "first", "x")}
	g.wait()
	for i := range 6 {
		tickets = append(tickets, begin(t, e, fmt.Sprint(i), "1234")) // 5 bytes each
	}
	for range 3 {
		g.step()
		g.wait()
	}
	g.step()
	for _, ticket := range tickets {
		committed(t, ticket)
	}
	if g.Applies() != 4 {
		t.Errorf("7 write-sets, two a group, took %d Applies; want 4", g.Applies())
	}
}

func TestAnEmptyMemtableAfterCommits(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	first := begin(t, e, "a", "1")
	g.wait()
	second := begin(t, e, "a", "2")
	slot := acquire(t, e)
	g.step()
	g.wait()
	committed(t, first)
	wantValue(t, slot, "a", "2")
	slot.Abort()
	slot = acquire(t, e)
	if n := e.mem.spaces[store.Nodes].Len(); n != 1 {
		t.Errorf("the memtable holds %d keys; want the one that is not durable", n)
	}
	wantValue(t, slot, "a", "2")
	slot.Abort()
	g.step()
	committed(t, second)
	acquire(t, e).Abort()
	if n := e.mem.spaces[store.Nodes].Len(); n != 0 {
		t.Errorf("the memtable holds %d keys with all durable; want 0", n)
	}
}

// TestConcurrentTransfers moves amounts between accounts from many goroutines while
// others add them up: each sum must be whole, in snapshots of both kinds and in
// slots.
func TestConcurrentTransfers(t *testing.T) {
	reopen := newBolt(t)
	const accounts, writers, rounds = 10, 8, 40
	e := open(t, reopen(), Options[int]{})
	var puts []store.Put
	for i := range accounts {
		puts = append(puts, put(fmt.Sprint("acc", i), "100"))
	}
	committed(t, acquire(t, e).Finish(puts, 1, ""))
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			random := rand.New(rand.NewPCG(1, uint64(w)))
			for range rounds {
				slot, err := e.AcquireSlot(context.Background())
				if err != nil {
					t.Errorf("AcquireSlot: %v", err)
					return
				}
				sum(t, slot.Scan, accounts*100)
				from, to := random.IntN(accounts), random.IntN(accounts-1)
				if to >= from {
					to++
				}
				changes := []store.Put{moved(t, slot, from, -1), moved(t, slot, to, 1)}
				seq, outcome, err := slot.Finish(changes, int(slot.Seq())+1, "").Wait(context.Background())
				if outcome != store.Committed {
					t.Errorf("commit of %d: %v, %v", seq, outcome, err)
				}
			}
		})
		wg.Go(func() {
			for i := range rounds {
				open := e.Snapshot
				if i%2 == 0 {
					open = e.LongSnapshot
				}
				snap, err := open()
				if err != nil {
					t.Errorf("opening a snapshot: %v", err)
					return
				}
				if int(snap.Seq()) != snap.Version() {
					t.Errorf("the snapshot pairs seq %d with version %d", snap.Seq(), snap.Version())
				}
				for range 3 {
					sum(t, snap.Scan, accounts*100)
				}
				snap.Close()
			}
		})
	}
	wg.Wait()
	if got := e.Seq(); got != writers*rounds+1 {
		t.Errorf("the engine is at seq %d; want %d", got, writers*rounds+1)
	}
}

func sum(t *testing.T, scan func(store.Space, []byte, []byte, func(k, v []byte) bool) error, want int) {
	t.Helper()
	total := 0
	err := scan(store.Nodes, []byte("acc"), []byte("acd"), func(_, v []byte) bool {
		n, err := strconv.Atoi(string(v))
		if err != nil {
			t.Errorf("an account holds %q", v)
		}
		total += n
		return true
	})
	if err != nil || total != want {
		t.Errorf("the accounts add up to %d, %v; want %d", total, err, want)
	}
}

func moved(t *testing.T, slot *Slot[int], account, by int) store.Put {
	t.Helper()
	key := fmt.Sprint("acc", account)
	v, err := slot.Get(store.Nodes, []byte(key))
	if err != nil {
		t.Errorf("Get: %v", err)
	}
	n, err := strconv.Atoi(string(v))
	if err != nil {
		t.Errorf("%s holds %q", key, v)
	}
	return put(key, fmt.Sprint(n+by))
}
