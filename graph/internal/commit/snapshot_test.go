package commit

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"engram/graph/internal/store"
)

// counting counts open readers.
type counting struct {
	store.Driver
	open atomic.Int64
}

type countedReader struct {
	store.Reader
	open *atomic.Int64
}

func (c *counting) Snapshot() (store.Reader, error) {
	c.open.Add(1)
	r, err := c.Driver.Snapshot()
	return countedReader{r, &c.open}, err
}

func (c countedReader) Close() error {
	c.open.Add(-1)
	return c.Reader.Close()
}

func TestOneReaderServesAllSnapshotsOfASeq(t *testing.T) {
	driver := &counting{Driver: newMem(t)}
	e := open(t, driver, Options[int]{})
	commit(t, e, "a", "1")
	first, second := snapshot(t, e.Snapshot), snapshot(t, e.Snapshot)
	if n := driver.open.Load(); n != 1 {
		t.Errorf("%d readers are open; want 1", n)
	}
	commit(t, e, "a", "2")
	if n := driver.open.Load(); n != 2 {
		t.Errorf("%d readers are open for two seqs; want 2", n)
	}
	wantValue(t, first, "a", "1")
	first.Close()
	first.Close()
	wantValue(t, second, "a", "1")
	second.Close()
	if n := driver.open.Load(); n != 1 {
		t.Errorf("%d readers are open after the snapshots are closed; want the engine's", n)
	}
	if s := e.Stats(); s.Snapshots != 0 {
		t.Errorf("Stats count %d snapshots; want 0", s.Snapshots)
	}
}

func TestALongSnapshotKeepsItsSeqWithoutAReader(t *testing.T) {
	driver := &counting{Driver: newMem(t)}
	e := open(t, driver, Options[int]{})
	commit(t, e, "a", "1")
	commit(t, e, "c", "1")
	old := snapshot(t, e.LongSnapshot)
	commit(t, e, "a", "2")
	middle := snapshot(t, e.LongSnapshot)
	commit(t, e, "b", "3")
	slot := acquire(t, e)
	committed(t, slot.Finish([]store.Put{deletion("c"), put("a", "4")}, slot.Version()+1, ""))
	if n := driver.open.Load(); n != 1 {
		t.Errorf("%d readers are open; want the engine's only", n)
	}
	for _, c := range []struct {
		snap *Snapshot[int]
		want string
	}{{old, "a1 c1 "}, {middle, "a2 c1 "}, {snapshot(t, e.LongSnapshot), "a4 b3 "}} {
		var got strings.Builder
		if err := c.snap.Scan(store.Nodes, nil, nil, func(k, v []byte) bool {
			got.WriteString(string(k) + string(v) + " ")
			return true
		}); err != nil || got.String() != c.want {
			t.Errorf("at seq %d: Scan = %q, %v; want %q", c.snap.Seq(), got.String(), err, c.want)
		}
		many, err := c.snap.GetMany(store.Nodes, [][]byte{[]byte("a"), []byte("b")}, nil)
		if err != nil || string(many[0]) != c.want[1:2] {
			t.Errorf("at seq %d: GetMany = %q, %v; want a = %q", c.snap.Seq(), many, err, c.want[1:2])
		}
	}
	if old.Seq() != 2 || old.Version() != 2 {
		t.Errorf("the old snapshot is at seq %d, version %d; want 2, 2", old.Seq(), old.Version())
	}
	old.Close()
	wantValue(t, middle, "a", "2")
	middle.Close()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.undo.bytes != 0 || len(e.undo.groups) != 0 || e.undo.spaces[store.Nodes].Len() != 0 {
		t.Errorf("undo keeps %d bytes, %d groups for nobody", e.undo.bytes, len(e.undo.groups))
	}
}

func TestLongSnapshotsAreBounded(t *testing.T) {
	now := time.Unix(1000, 0)
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return now }
	e := openMem(t, Options[int]{Now: clock, MaxLongAge: time.Minute, MaxUndoBytes: 1000})
	commit(t, e, "a", strings.Repeat("x", 400))

	aged := snapshot(t, e.LongSnapshot)
	mu.Lock()
	now = now.Add(time.Minute + time.Nanosecond)
	mu.Unlock()
	if _, err := aged.Get(store.Nodes, []byte("a")); !errors.Is(err, ErrSnapshotTooOld) {
		t.Errorf("a snapshot over its age: %v; want too old", err)
	}

	large := snapshot(t, e.LongSnapshot)
	commit(t, e, "a", strings.Repeat("y", 800))
	wantValue(t, large, "a", strings.Repeat("x", 400))
	young := snapshot(t, e.LongSnapshot)
	commit(t, e, "a", "z")
	_, err := large.Get(store.Nodes, []byte("a"))
	if !errors.Is(err, ErrSnapshotTooOld) || !strings.Contains(fmt.Sprint(err), "1000 bytes") {
		t.Errorf("a snapshot over the undo limit: %v; want too old and why", err)
	}
	if err := large.Scan(store.Nodes, nil, nil, nil); !errors.Is(err, ErrSnapshotTooOld) {
		t.Errorf("Scan: %v; want too old", err)
	}
	wantValue(t, young, "a", strings.Repeat("y", 800))
	if s := e.Stats(); s.Long != 1 || s.UndoBytes > 1000 {
		t.Errorf("Stats = %+v; want one long snapshot within 1000 bytes", s)
	}
}

// TestALongSnapshotOpenedDuringAnApply: the values that the Apply overwrites are
// kept for it, though it did not exist when the Apply began.
func TestALongSnapshotOpenedDuringAnApply(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	first := begin(t, e, "a", "1")
	g.wait()
	g.step()
	committed(t, first)
	second := begin(t, e, "a", "2")
	g.wait()
	snap := snapshot(t, e.LongSnapshot)
	g.step()
	committed(t, second)
	wantValue(t, snap, "a", "1")
}
