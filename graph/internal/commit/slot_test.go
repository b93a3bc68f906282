package commit

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"engram/graph/internal/store"
)

// In a bubble, waiting for ever is an error at once.
func TestAcquireSlotHonoursTheContext(t *testing.T) {
	synctest.Test(t, checkAcquireSlotHonoursTheContext)
}

func checkAcquireSlotHonoursTheContext(t *testing.T) {
	t.Helper()
	e := openMem(t, Options[int]{})
	slot := acquire(t, e)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.AcquireSlot(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("AcquireSlot while it is taken: %v; want canceled", err)
	}
	slot.Abort()
	acquire(t, e).Abort()
}

func TestAcquireSlotWaitsForABacklog(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{MaxPendingBytes: 10})
	first := begin(t, e, "a", "0123456789")
	g.wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.AcquireSlot(ctx); !errors.Is(err, context.Canceled) {
		t.Fatalf("AcquireSlot with 11 of 10 bytes pending: %v; want canceled", err)
	}
	g.step()
	committed(t, first)
	acquire(t, e).Abort()
}

func TestLimits(t *testing.T) {
	e := openMem(t, Options[int]{MaxBytes: 20, MaxKeys: 3})
	cases := []struct {
		name string
		puts []store.Put
		key  string
		want error
	}{
		{"keys", []store.Put{put("a", ""), put("b", ""), put("c", ""), put("d", "")}, "", ErrTooLarge},
		{"bytes", []store.Put{put("a", strings.Repeat("x", 20))}, "", ErrTooLarge},
		{"empty key", []store.Put{put("", "x")}, "", store.ErrInvalid},
		{"idempotency key", nil, strings.Repeat("k", MaxIdempotencyKey+1), store.ErrInvalid},
		{"just within", []store.Put{put("a", strings.Repeat("x", 17)), put("b", ""), put("c", "")}, "", nil},
		{"nothing at all", nil, "", nil},
	}
	for _, c := range cases {
		_, outcome, err := acquire(t, e).Finish(c.puts, 0, c.key).Wait(t.Context())
		want := store.Failed
		if c.want == nil {
			want = store.Committed
		}
		if outcome != want || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v; want %v, %v", c.name, outcome, err, want, c.want)
		}
	}
	if e.Seq() != 2 {
		t.Errorf("the engine is at seq %d; want 2", e.Seq())
	}
}

func TestSlotReadsLayOverTheStore(t *testing.T) {
	e, g := openGated(t, nil, Options[int]{})
	first := acquire(t, e).Finish([]store.Put{put("a", "1"), put("c", "1"), put("e", "1")}, 1, "")
	g.wait()
	g.step()
	committed(t, first)
	pending := acquire(t, e).Finish([]store.Put{put("b", "2"), deletion("c"), put("e", "2"), put("f", "2")}, 2, "")
	g.wait()
	slot := acquire(t, e)
	scan := func(from, to string, max int) string {
		var got strings.Builder
		bounds := func(s string) []byte {
			if s == "" {
				return nil
			}
			return []byte(s)
		}
		err := slot.Scan(store.Nodes, bounds(from), bounds(to), func(k, v []byte) bool {
			got.WriteString(string(k) + string(v) + " ")
			max--
			return max > 0
		})
		if err != nil {
			t.Errorf("Scan: %v", err)
		}
		return got.String()
	}
	for _, c := range []struct {
		from, to string
		max      int
		want     string
	}{
		{"", "", 9, "a1 b2 e2 f2 "},
		{"b", "e", 9, "b2 "},
		{"c", "", 9, "e2 f2 "},
		{"", "", 2, "a1 b2 "},
		{"", "", 4, "a1 b2 e2 f2 "},
		{"f", "", 1, "f2 "},
	} {
		if got := scan(c.from, c.to, c.max); got != c.want {
			t.Errorf("Scan(%q, %q) for %d = %q; want %q", c.from, c.to, c.max, got, c.want)
		}
	}
	many, err := slot.GetMany(store.Nodes, [][]byte{[]byte("a"), []byte("c"), []byte("e"), []byte("x")}, [][]byte{[]byte("kept")})
	if err != nil || len(many) != 5 || string(many[0])+string(many[1])+string(many[3]) != "kept12" || many[2] != nil || many[4] != nil {
		t.Errorf("GetMany = %q, %v; want kept, 1, absent, 2, absent", many, err)
	}
	many[3][0] = 'x'
	wantValue(t, slot, "e", "2")
	slot.Abort()
	g.step()
	committed(t, pending)
}

func TestASlotEndsOnce(t *testing.T) {
	e := openMem(t, Options[int]{})
	slot := acquire(t, e)
	slot.Abort()
	slot.Abort()
	wantAnswer(t, slot.Finish(nil, 1, ""), store.Failed, ErrSlotDone)
	wantAnswer(t, slot.FinishReadOnly(), store.Failed, ErrSlotDone)
	if _, err := slot.Get(store.Nodes, []byte("a")); !errors.Is(err, ErrSlotDone) {
		t.Errorf("Get: %v; want done", err)
	}
	acquire(t, e).Abort()
}

// In a bubble, waiting for ever is an error at once.
func TestCloseWaitsForWhatIsOpen(t *testing.T) { synctest.Test(t, checkCloseWaitsForWhatIsOpen) }

func checkCloseWaitsForWhatIsOpen(t *testing.T) {
	t.Helper()
	e, err := New(newMem(t), Options[int]{})
	if err != nil {
		t.Fatal(err)
	}
	slot, snap := acquire(t, e), snapshot(t, e.Snapshot)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if err := e.Close(over); !errors.Is(err, ErrSnapshotsOpen) {
		t.Errorf("Close with a slot and a snapshot open: %v; want refused", err)
	}
	if _, err := e.Snapshot(); !errors.Is(err, ErrClosed) {
		t.Errorf("Snapshot: %v; want closed", err)
	}
	if _, err := e.LongSnapshot(); !errors.Is(err, ErrClosed) {
		t.Errorf("LongSnapshot: %v; want closed", err)
	}
	if _, err := e.AcquireSlot(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("AcquireSlot: %v; want closed", err)
	}
	committed(t, slot.Finish([]store.Put{put("a", "1")}, 1, ""))
	wantValue(t, snap, "a", "")
	snap.Close()
	for range 2 {
		if err := e.Close(t.Context()); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
}
