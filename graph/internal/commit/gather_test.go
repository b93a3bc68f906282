package commit

import (
	"sync/atomic"
	"testing"
	"time"

	"engram/graph/internal/store"
)

// ticking is a clock on which an hour passes between any two looks: every Apply
// seems to take an hour.
func ticking() func() time.Time {
	var hours atomic.Int64
	return func() time.Time { return time.Unix(3600*hours.Add(1), 0) }
}

// waitedFor opens an engine in which somebody seems to wait for the right to write
// as long as fewer transactions pend than are expected.
func waitedFor(t *testing.T) (e *Engine[int], expect *atomic.Int64) {
	expect = &atomic.Int64{}
	waiting := func() int { return int(max(expect.Load()-int64(e.backlog()), 0)) }
	e = openMem(t, Options[int]{Waiting: waiting, MaxGroupWait: time.Hour, Now: ticking()})
	return e, expect
}

// TestAGroupWaitsForWhoIsAboutToWrite lets three transactions end while somebody
// waits for the right to write: they become durable together once nobody waits.
func TestAGroupWaitsForWhoIsAboutToWrite(t *testing.T) {
	e, expect := waitedFor(t)
	commit(t, e, "a", "1") // there is a last Apply now, and it took an hour
	expect.Store(3)
	tickets := []*Ticket{begin(t, e, "b", "1"), begin(t, e, "c", "1"), begin(t, e, "d", "1")}
	for _, ticket := range tickets {
		committed(t, ticket)
	}
	if s := e.Stats(); s.Groups != 2 || s.Commits != 4 {
		t.Errorf("%d transactions in %d groups; want 4 in 2", s.Commits, s.Groups)
	}
}

// TestAGroupDoesNotWaitLong has somebody wait for ever: the group is
// made durable all the same, here after no time at all.
func TestAGroupDoesNotWaitLong(t *testing.T) {
	for name, o := range map[string]Options[int]{
		"no Apply yet":   {MaxGroupWait: time.Hour},
		"a short limit":  {MaxGroupWait: time.Nanosecond, Now: ticking()},
		"nobody to tell": {MaxGroupWait: time.Hour, Now: ticking()},
	} {
		if name != "nobody to tell" {
			o.Waiting = func() int { return 1 }
		}
		e := openMem(t, o)
		commit(t, e, "a", "1")
		if name != "no Apply yet" {
			commit(t, e, "b", "1")
		}
		if s := e.Stats(); s.Groups != s.Commits {
			t.Errorf("%s: %d transactions in %d groups", name, s.Commits, s.Groups)
		}
	}
}

// TestTapSeesWhatIsCommitted looks at the changes on their way, and no more once it
// is taken away.
func TestTapSeesWhatIsCommitted(t *testing.T) {
	e := openMem(t, Options[int]{})
	var seen []store.Batch
	e.Tap(func(b []store.Batch) { seen = append(seen, b...) })
	commit(t, e, "a", "1")
	e.Tap(nil)
	commit(t, e, "b", "1")
	if len(seen) != 1 || seen[0].Seq != 1 || string(seen[0].Puts[0].Key) != "a" {
		t.Errorf("it saw %v", seen)
	}
}

// TestAGroupWaitsForThoseOfTheLast has two writers in one group: the next group
// waits for the second of them to come again, and the one after for nobody else.
func TestAGroupWaitsForThoseOfTheLast(t *testing.T) {
	e, expect := waitedFor(t)
	commit(t, e, "a", "1")
	for _, n := range []int64{2, 0, 0, 0} { // after the first time nobody waits for the slot
		expect.Store(n)
		first := begin(t, e, "b", "1")
		committed(t, begin(t, e, "c", "1"))
		committed(t, first)
	}
	if s := e.Stats(); s.Groups != 5 || s.Commits != 9 {
		t.Errorf("%d transactions in %d groups; want 9 in 5", s.Commits, s.Groups)
	}
}
