package commit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
	"engram/graph/internal/store/mem"
	"engram/graph/internal/store/storetest"
)

// state is the version of the simulation: the whole content of the store, so that
// any mispairing of store and version shows.
type state struct {
	seq     store.Seq
	content map[string]string
}

func (s *state) with(seq store.Seq, changes map[string]string) *state {
	next := &state{seq: seq, content: maps.Clone(s.content)}
	for k, v := range changes {
		if v == "" {
			delete(next.content, k)
		} else {
			next.content[k] = v
		}
	}
	return next
}

// tx is one transaction of the simulation. It always writes the key of its own name
// and the key last, which so tells whom the next one read.
type tx struct {
	name   string
	read   string // the value of last that it saw
	seq    store.Seq
	ticket *Ticket
}

// simulation drives an engine step by step: the committer stands at a gate before
// each Apply, so that it is known which group is in flight and what is executed on
// top of it.
type simulation struct {
	engine  *Engine[*state]
	faulty  *storetest.Faulty
	entered chan struct{}
	proceed chan struct{}
	fault   *storetest.Fault // for the Apply at the gate
	reopen  func() store.Driver

	n        int
	group    []*tx // at the gate
	queued   []*tx // on top
	readers  []*tx // read-only answers that wait
	snaps    []*Snapshot[*state]
	acked    map[string]bool
	lost     map[string]bool
	unknown  map[string]bool
	readFrom map[string]string // by acknowledged transaction, or read-only answer: what it read
	sided    store.Seq         // the newest seq given to BeforeAck
	poisoned bool
}

func newSimulation(r *rapid.T, reopen func() store.Driver) *simulation {
	s := &simulation{
		entered: make(chan struct{}), proceed: make(chan struct{}), reopen: reopen,
		acked: map[string]bool{}, lost: map[string]bool{}, unknown: map[string]bool{}, readFrom: map[string]string{},
	}
	s.open(r, &state{content: map[string]string{}})
	return s
}

// gated lets the simulation choose the fault while the Apply is at the gate.
type gated struct {
	store.Driver
	s *simulation
}

func (g gated) Apply(expect store.Seq, batches []store.Batch) (store.Outcome, error) {
	if g.s.faulty.UsesAfterUnknown() > 0 || g.s.fault != nil && g.s.fault.Outcome == store.Unknown {
		return g.s.faulty.Apply(expect, batches) // forbidden, and counted
	}
	g.s.entered <- struct{}{}
	<-g.s.proceed
	if f := g.s.fault; f != nil {
		g.s.faulty = storetest.NewFaulty(g.Driver, map[int]storetest.Fault{1: *f})
	}
	return g.s.faulty.Apply(expect, batches)
}

func (g gated) Snapshot() (store.Reader, error) { return g.s.faulty.Snapshot() }

func (s *simulation) open(r *rapid.T, initial *state) {
	driver := s.reopen()
	s.faulty = storetest.NewFaulty(driver, nil)
	s.fault, s.poisoned = nil, false
	var err error
	s.engine, err = New[*state](gated{driver, s}, Options[*state]{
		Initial: initial,
		Publish: func(seq store.Seq, v *state) {
			if v.seq != seq {
				r.Errorf("published version %d as seq %d", v.seq, seq)
			}
		},
		BeforeAck: func(seq store.Seq) error {
			s.sided = seq
			return nil
		},
		MaxUndoBytes: 2000,
	})
	if err != nil {
		r.Fatalf("New: %v", err)
	}
}

func (s *simulation) slot(r *rapid.T) *Slot[*state] {
	slot, err := s.engine.AcquireSlot(context.Background())
	if s.poisoned {
		if err == nil {
			slot.Abort()
		}
		if !errors.Is(err, ErrPoisoned) {
			r.Fatalf("AcquireSlot on a poisoned engine: %v; want poisoned", err)
		}
		return nil
	}
	if err != nil {
		r.Fatalf("AcquireSlot: %v", err)
	}
	if slot.Version().seq != slot.Seq() {
		r.Fatalf("the slot pairs seq %d with version %d", slot.Seq(), slot.Version().seq)
	}
	same(r, "the slot", slot.Scan, slot.Get, slot.Version())
	return slot
}

func (s *simulation) write(r *rapid.T, keyOf *rapid.Generator[string]) {
	slot := s.slot(r)
	if slot == nil {
		return
	}
	t := s.newTx(r, slot)
	changes := map[string]string{t.name: t.read, "last": t.name}
	for range rapid.IntRange(0, 3).Draw(r, "changes") {
		changes[keyOf.Draw(r, "key")] = rapid.SampledFrom([]string{"", "x" + t.name, "y" + t.name}).Draw(r, "value")
	}
	var puts []store.Put
	for _, k := range slices.Sorted(maps.Keys(changes)) {
		p := deletion(k)
		if changes[k] != "" {
			p = put(k, changes[k])
		}
		puts = append(puts, p)
	}
	t.seq = slot.Seq() + 1
	t.ticket = slot.Finish(puts, slot.Version().with(t.seq, changes), "")
	if len(s.group) > 0 {
		s.queued = append(s.queued, t)
		return
	}
	<-s.entered
	s.group = []*tx{t}
}

func (s *simulation) newTx(r *rapid.T, slot *Slot[*state]) *tx {
	s.n++
	last, err := slot.Get(store.Nodes, []byte("last"))
	if err != nil {
		r.Fatalf("Get: %v", err)
	}
	return &tx{name: fmt.Sprintf("t%d", s.n), read: string(last) + "."}
}

func (s *simulation) readOnly(r *rapid.T) {
	slot := s.slot(r)
	if slot == nil {
		return
	}
	t := s.newTx(r, slot)
	t.seq = slot.Seq()
	t.ticket = slot.FinishReadOnly()
	s.readers = append(s.readers, t)
}

// abandoned executes and gives up, which must leave no trace.
func (s *simulation) abandoned(r *rapid.T) {
	if slot := s.slot(r); slot != nil {
		slot.Abort()
	}
}

// snapshot opens one, which must show what is durable only.
func (s *simulation) snapshot(r *rapid.T) {
	open := s.engine.Snapshot
	if rapid.Bool().Draw(r, "long") {
		open = s.engine.LongSnapshot
	}
	snap, err := open()
	if err != nil {
		r.Fatalf("Snapshot: %v", err)
	}
	for _, t := range slices.Concat(s.group, s.queued) {
		if snap.Seq() >= t.seq {
			r.Fatalf("the snapshot shows seq %d, but %d is not durable", snap.Seq(), t.seq)
		}
	}
	s.snaps = append(s.snaps, snap)
}

func (s *simulation) closeSnapshot(*rapid.T) {
	if len(s.snaps) > 0 {
		s.snaps[0].Close()
		s.snaps = s.snaps[1:]
	}
}

// step lets the Apply at the gate go on, with or without a fault.
func (s *simulation) step(r *rapid.T) {
	if len(s.group) == 0 {
		return
	}
	s.fault = rapid.SampledFrom([]*storetest.Fault{nil, nil, nil, {Outcome: store.Failed}, {Outcome: store.Unknown}, {Outcome: store.Unknown, Happens: true}}).Draw(r, "fault")
	s.finishStep(r)
}

func (s *simulation) finishStep(r *rapid.T) {
	group, queued := s.group, s.queued
	s.group, s.queued = nil, nil
	s.proceed <- struct{}{}
	want := store.Committed
	if s.fault != nil {
		want = s.fault.Outcome
	}
	for _, t := range group {
		s.answer(r, t, want)
	}
	switch {
	case want == store.Committed && len(queued) > 0:
		<-s.entered
		s.group = queued
		return
	case want == store.Unknown:
		s.poisoned = true
	}
	for _, t := range queued {
		seq, outcome, err := t.ticket.Wait(context.Background())
		if outcome != store.Failed || !errors.Is(err, ErrAborted) {
			r.Fatalf("%s, executed on top of a lost one, is answered %d, %v, %v; want aborted", t.name, seq, outcome, err)
		}
		s.lost[t.name] = true
	}
}

func (s *simulation) answer(r *rapid.T, t *tx, want store.Outcome) {
	seq, outcome, err := t.ticket.Wait(context.Background())
	if seq != t.seq || outcome != want || (err == nil) != (want == store.Committed) {
		r.Fatalf("%s is answered %d, %v, %v; want %d, %v", t.name, seq, outcome, err, t.seq, want)
	}
	switch want {
	case store.Committed:
		s.acked[t.name] = true
		s.readFrom[t.name] = t.read
		if s.sided < t.seq {
			r.Fatalf("seq %d is acknowledged, but the side file was told %d only", t.seq, s.sided)
		}
	case store.Unknown:
		s.unknown[t.name] = true
		if !errors.Is(err, ErrOutcomeUnknown) {
			r.Fatalf("%s: %v; want outcome unknown", t.name, err)
		}
	default:
		s.lost[t.name] = true
	}
}

// check holds after every action.
func (s *simulation) check(r *rapid.T) {
	if n := s.faulty.UsesAfterUnknown(); n > 0 {
		r.Fatalf("the store was used %d times after an unknown outcome", n)
	}
	for _, t := range slices.Concat(s.group, s.queued) {
		if isDone(t.ticket) {
			r.Fatalf("%s is answered before it is durable", t.name)
		}
	}
	var waiting []*tx
	for _, t := range s.readers {
		done := t.ticket.after == nil || isDone(t.ticket.after)
		if !done {
			waiting = append(waiting, t)
			continue
		}
		if _, outcome, err := t.ticket.Wait(context.Background()); outcome == store.Committed {
			s.readFrom[t.name] = t.read
		} else if !errors.Is(err, ErrAborted) {
			r.Fatalf("a read-only answer ends %v, %v; want committed or aborted", outcome, err)
		}
	}
	s.readers = waiting
	for _, snap := range s.snaps {
		if snap.long != nil && snap.long.err != nil {
			if _, err := snap.Get(store.Nodes, []byte("last")); !errors.Is(err, ErrSnapshotTooOld) {
				r.Fatalf("reading a snapshot that was given up: %v; want too old", err)
			}
			continue
		}
		if snap.Seq() != snap.Version().seq {
			r.Fatalf("a snapshot pairs seq %d with version %d", snap.Seq(), snap.Version().seq)
		}
		same(r, "a snapshot", snap.Scan, snap.Get, snap.Version())
	}
}

func isDone(t *Ticket) bool {
	select {
	case <-t.done:
		return true
	default:
		return false
	}
}

// same compares what is read with the version.
func same(r *rapid.T, who string, scan func(store.Space, []byte, []byte, func(k, v []byte) bool) error, get func(store.Space, []byte) ([]byte, error), want *state) {
	got := map[string]string{}
	if err := scan(store.Nodes, nil, nil, func(k, v []byte) bool { got[string(k)] = string(v); return true }); err != nil {
		r.Fatalf("%s: Scan: %v", who, err)
	}
	if !maps.Equal(got, want.content) {
		r.Fatalf("%s at version %d scans %v; want %v", who, want.seq, got, want.content)
	}
	for _, k := range []string{"a", "b", "last"} {
		v, err := get(store.Nodes, []byte(k))
		if err != nil || string(v) != want.content[k] {
			r.Fatalf("%s at version %d: Get(%s) = %q, %v; want %q", who, want.seq, k, v, err, want.content[k])
		}
	}
}

// restart drains and closes the engine, opens the store again and checks that the
// truth agrees with all answers that were given.
func (s *simulation) restart(r *rapid.T) {
	s.close(r)
	s.open(r, nil)
	snap, err := s.engine.Snapshot()
	if err != nil {
		r.Fatalf("Snapshot: %v", err)
	}
	content := map[string]string{}
	if err := snap.Scan(store.Nodes, nil, nil, func(k, v []byte) bool { content[string(k)] = string(v); return true }); err != nil {
		r.Fatalf("Scan: %v", err)
	}
	seq := snap.Seq()
	snap.Close()
	there := func(name string) bool { return content[name] != "" }
	for name := range s.acked {
		if !there(name) {
			r.Fatalf("%s was acknowledged and is gone", name)
		}
	}
	for name := range s.lost {
		if there(name) {
			r.Fatalf("%s failed or was aborted and is there", name)
		}
	}
	for name, read := range s.readFrom {
		if from := read[:len(read)-1]; from != "" && !there(from) {
			r.Fatalf("the answer to %s derives from %s, which is lost", name, from)
		}
	}
	some, all := false, true
	for name := range s.unknown {
		some, all = some || there(name), all && there(name)
		s.acked[name], s.lost[name] = there(name), !there(name)
	}
	if some != all && len(s.unknown) > 0 {
		r.Fatalf("the unknown group %v is there in part", s.unknown)
	}
	for _, m := range []map[string]bool{s.acked, s.lost} {
		maps.DeleteFunc(m, func(_ string, yes bool) bool { return !yes })
	}
	clear(s.unknown)
	s.reset(r, seq, content)
}

// reset starts the engine once more, now with the version of the content.
func (s *simulation) reset(r *rapid.T, seq store.Seq, content map[string]string) {
	if err := s.engine.Close(context.Background()); err != nil {
		r.Fatalf("Close: %v", err)
	}
	s.open(r, &state{seq: seq, content: content})
}

func (s *simulation) close(r *rapid.T) {
	for len(s.group) > 0 {
		s.fault = nil
		s.finishStep(r)
	}
	s.check(r)
	for len(s.snaps) > 0 {
		s.closeSnapshot(r)
	}
	if err := s.engine.Close(context.Background()); err != nil {
		r.Fatalf("Close: %v", err)
	}
}

func deletion(key string) store.Put { return store.Put{Space: store.Nodes, Key: []byte(key)} }

// lasting keeps a memory driver over a Close.
type lasting struct{ store.Driver }

func (lasting) Close() error { return nil }

func TestCommitSimulation(t *testing.T) {
	t.Run("mem", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) {
			driver, err := mem.New()
			if err != nil {
				r.Fatalf("New: %v", err)
			}
			simulate(r, func() store.Driver { return lasting{driver} })
		})
	})
	t.Run("bolt", func(t *testing.T) {
		dir, n := t.TempDir(), 0
		rapid.Check(t, func(r *rapid.T) {
			n++
			path := filepath.Join(dir, fmt.Sprintf("%d.db", n))
			if err := bolt.Create(path, nil); err != nil {
				r.Fatalf("Create: %v", err)
			}
			simulate(r, func() store.Driver {
				d, err := bolt.Open(path, &bolt.Options{MaxSize: bolt.MinMaxSize})
				if err != nil {
					r.Fatalf("Open: %v", err)
				}
				return d
			})
		})
	})
}

func simulate(r *rapid.T, reopen func() store.Driver) {
	s := newSimulation(r, reopen)
	passed := false
	defer func() {
		if passed { // else the engine may be in any state
			s.close(r)
		}
	}()
	keys := rapid.SampledFrom([]string{"a", "b", "c", "d"})
	r.Repeat(map[string]func(*rapid.T){
		"write":         func(r *rapid.T) { s.write(r, keys) },
		"writeMore":     func(r *rapid.T) { s.write(r, keys) },
		"readOnly":      s.readOnly,
		"abandoned":     s.abandoned,
		"step":          s.step,
		"stepAgain":     s.step,
		"snapshot":      s.snapshot,
		"closeSnapshot": s.closeSnapshot,
		"restart":       s.restart,
		"":              s.check,
	})
	passed = true
}
