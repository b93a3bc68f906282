package commit

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
	"engram/graph/internal/store/mem"
	"engram/graph/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newMem(t *testing.T) *mem.Driver {
	t.Helper()
	driver, err := mem.New()
	if err != nil {
		t.Fatal(err)
	}
	return driver
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

func openMem(t *testing.T, opts Options[int]) *Engine[int] {
	t.Helper()
	return open(t, newMem(t), opts)
}

// openBolt makes a database and returns a function that opens it.
func newBolt(t *testing.T) func() *bolt.Driver {
	t.Helper()
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := bolt.Create(path, nil); err != nil {
		t.Fatal(err)
	}
	return func() *bolt.Driver {
		t.Helper()
		d, err := bolt.Open(path, &bolt.Options{MaxSize: bolt.MinMaxSize})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
}

// gate stands before each Apply of a driver. Tests that use it call pass for each
// Apply; leave lets all later ones through.
type gate struct {
	*storetest.Faulty
	entered, proceed, open chan struct{}
}

func gateOf(driver store.Driver, faults map[int]storetest.Fault) *gate {
	g := &gate{Faulty: storetest.NewFaulty(driver, faults), entered: make(chan struct{}), proceed: make(chan struct{}), open: make(chan struct{})}
	g.Before = func(int) {
		if g.UsesAfterUnknown() > 0 {
			return // forbidden; the test that counts them must not hang on it
		}
		select {
		case g.entered <- struct{}{}:
		case <-g.open:
			return
		}
		select {
		case <-g.proceed:
		case <-g.open:
		}
	}
	return g
}

// wait returns once an Apply stands at the gate, step lets it go on.
func (g *gate) wait()  { <-g.entered }
func (g *gate) step()  { g.proceed <- struct{}{} }
func (g *gate) leave() { close(g.open) }

// openGated opens an engine whose gate is left before it is closed.
func openGated(t *testing.T, faults map[int]storetest.Fault, opts Options[int]) (*Engine[int], *gate) {
	t.Helper()
	g := gateOf(newMem(t), faults)
	e := open(t, g, opts)
	t.Cleanup(g.leave)
	return e, g
}

func put(key, value string) store.Put {
	return store.Put{Space: store.Nodes, Key: []byte(key), Value: []byte(value)}
}

func acquire(t *testing.T, e *Engine[int]) *Slot[int] {
	t.Helper()
	slot, err := e.AcquireSlot(t.Context())
	if err != nil {
		t.Fatalf("AcquireSlot: %v", err)
	}
	return slot
}

// begin executes a transaction that writes key = value.
func begin(t *testing.T, e *Engine[int], key, value string) *Ticket {
	t.Helper()
	slot := acquire(t, e)
	return slot.Finish([]store.Put{put(key, value)}, slot.Version()+1, "")
}

func commit(t *testing.T, e *Engine[int], key, value string) store.Seq {
	t.Helper()
	return committed(t, begin(t, e, key, value))
}

func committed(t *testing.T, ticket *Ticket) store.Seq {
	t.Helper()
	seq, outcome, err := ticket.Wait(t.Context())
	if outcome != store.Committed || err != nil {
		t.Fatalf("Wait = %d, %v, %v; want committed", seq, outcome, err)
	}
	return seq
}

func wantAnswer(t *testing.T, ticket *Ticket, outcome store.Outcome, cause error) {
	t.Helper()
	seq, got, err := ticket.Wait(t.Context())
	if got != outcome || !errors.Is(err, cause) {
		t.Errorf("Wait = %d, %v, %v; want %v, %v", seq, got, err, outcome, cause)
	}
}

type getter interface {
	Get(space store.Space, key []byte) ([]byte, error)
}

func wantValue(t *testing.T, from getter, key, want string) {
	t.Helper()
	got, err := from.Get(store.Nodes, []byte(key))
	if string(got) != want || err != nil {
		t.Errorf("Get(%s) = %q, %v; want %q", key, got, err, want)
	}
}

func snapshot(t *testing.T, open func() (*Snapshot[int], error)) *Snapshot[int] {
	t.Helper()
	s, err := open()
	if err != nil {
		t.Fatalf("opening a snapshot: %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

// wantRefused checks that no slot is to be had, and why.
func wantRefused(t *testing.T, e *Engine[int], causes ...error) {
	t.Helper()
	slot, err := e.AcquireSlot(t.Context())
	if err == nil {
		slot.Abort()
	}
	for _, cause := range causes {
		if !errors.Is(err, cause) {
			t.Errorf("AcquireSlot: %v; want %v", err, cause)
		}
	}
}
