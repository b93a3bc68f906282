package commit

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"engram/graph/internal/store"
	"engram/graph/internal/store/mem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func openMem(t *testing.T, opts Options[int]) *Engine[int] {
	t.Helper()
	driver, err := mem.New()
	if err != nil {
		t.Fatal(err)
	}
	return open(t, driver, opts)
}

func open(t *testing.T, driver store.Driver, opts Options[int]) *Engine[int] {
	t.Helper()
	e, err := New(driver, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(context.Background()); err != nil {
			t.Errorf("closing: %v", err)
		}
	})
	return e
}

func put(key, value string) store.Put {
	return store.Put{Space: store.Nodes, Key: []byte(key), Value: []byte(value)}
}

func TestACommitIsReadBack(t *testing.T) {
	e := openMem(t, Options[int]{Initial: 100})
	slot, err := e.AcquireSlot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if slot.Seq() != 0 || slot.Version() != 100 {
		t.Fatalf("a new engine is at seq %d, version %d; want 0, 100", slot.Seq(), slot.Version())
	}
	seq, outcome, err := slot.Finish([]store.Put{put("a", "1")}, 101, "").Wait(t.Context())
	if seq != 1 || outcome != store.Committed || err != nil {
		t.Fatalf("Wait = %d, %v, %v; want 1, committed", seq, outcome, err)
	}
	snap, err := e.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	got, err := snap.Get(store.Nodes, []byte("a"))
	if string(got) != "1" || err != nil || snap.Seq() != 1 || snap.Version() != 101 {
		t.Fatalf("the snapshot shows %q, %v at seq %d, version %d; want 1 at 1, 101", got, err, snap.Seq(), snap.Version())
	}
}
