package faulttest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"engram/graph"
	"engram/graph/internal/faulttest/history"
	"engram/graph/value"
)

const (
	accounts = 8
	opening  = 100 // balance
)

// worker does transactions and keeps what they saw.
type worker struct {
	db     *graph.DB
	clock  *atomic.Int64
	random *rand.Rand
	txs    []history.Tx
}

// session is one transaction on its way.
type session struct {
	tx            *graph.Tx
	reads, writes map[string]int64
}

// get reads a key: a node with that id and a property v.
func (s *session) get(key string) (int64, error) {
	if v, ok := s.writes[key]; ok {
		return v, nil
	}
	v := int64(history.Absent)
	ids, err := s.tx.NodesByID(value.String(key), nil)
	if err != nil {
		return 0, err
	}
	if len(ids) > 0 {
		k, _ := s.tx.Key("v")
		got, err := s.tx.NodeProp(ids[0], k)
		if err != nil {
			return 0, err
		}
		v = got.AsInt()
	}
	if len(ids) > 1 {
		return 0, fmt.Errorf("%d nodes have the id %s", len(ids), key)
	}
	s.reads[key] = v
	return v, nil
}

// put writes a key: creates, changes or, with history.Absent, deletes its node.
func (s *session) put(key string, v int64) error {
	old, err := s.get(key)
	if err != nil {
		return err
	}
	switch {
	case old == v: // a transaction that changes nothing takes no seq
		return nil
	case old == history.Absent:
		err = createLabelled(s.tx, "Key", value.Prop{Key: "id", Value: value.String(key)}, value.Prop{Key: "v", Value: value.Int(v)})
	default:
		var ids []value.NodeID
		if ids, err = s.tx.NodesByID(value.String(key), nil); err != nil {
			return err
		}
		if v == history.Absent {
			_, err = s.tx.DeleteNode(ids[0], true)
		} else {
			var k value.KeyID
			if k, err = s.tx.InternKey("v"); err == nil {
				_, err = s.tx.SetNodeProp(ids[0], k, value.Int(v))
			}
		}
	}
	if err == nil {
		s.writes[key] = v
	}
	return err
}

// do runs one transaction and records it.
func (w *worker) do(write bool, fn func(*session) error) error {
	s := &session{reads: map[string]int64{}, writes: map[string]int64{}}
	rec := history.Tx{Start: w.clock.Add(1), Reads: s.reads}
	var err error
	if write {
		s.tx, err = w.db.Begin(context.Background())
		rec.Writes = s.writes
	} else {
		s.tx, err = w.db.Snapshot()
	}
	if err != nil {
		return err
	}
	defer s.tx.Rollback()
	if err := fn(s); err != nil {
		return err
	}
	if write && len(s.writes) == 0 {
		rec.Writes = nil // it takes no seq and reads like a reader
	}
	if rec.Seq, err = s.tx.Commit(context.Background()); err != nil {
		return err
	}
	rec.End = w.clock.Add(1)
	w.txs = append(w.txs, rec)
	return nil
}

func account(i int) string { return fmt.Sprintf("account%d", i) }

// write does one of the writers' workloads.
func (w *worker) write(n int) error {
	kind, a, b := w.random.IntN(5), w.random.IntN(accounts), w.random.IntN(accounts)
	return w.do(true, func(s *session) error {
		switch kind {
		case 0: // bank: the sum stays
			from, err := s.get(account(a))
			if err != nil || a == b {
				return err
			}
			to, err := s.get(account(b))
			if err != nil || from < 1 {
				return err
			}
			return errors.Join(s.put(account(a), from-1), s.put(account(b), to+1))
		case 1: // set: each element is added once
			return s.put(fmt.Sprintf("element%d-%d", w.random.IntN(1<<30), n), 1)
		case 2: // upsert of a few keys that are unique
			key := fmt.Sprintf("unique%d", a)
			old, err := s.get(key)
			if err != nil {
				return err
			}
			return s.put(key, max(old, 0)+1)
		case 3: // delete and create anew
			return s.put(fmt.Sprintf("unique%d", a), history.Absent)
		default: // register
			return s.put(fmt.Sprintf("register%d", a%2), int64(w.random.IntN(1000)))
		}
	})
}

// read looks at all of the shared keys at once.
func (w *worker) read() error {
	return w.do(false, func(s *session) error {
		sum := int64(0)
		for i := range accounts {
			v, err := s.get(account(i))
			if err != nil {
				return err
			}
			sum += v
			if _, err := s.get(fmt.Sprintf("unique%d", i)); err != nil {
				return err
			}
		}
		if sum != accounts*opening {
			return fmt.Errorf("the accounts add up to %d at seq %d, not %d", sum, s.tx.Seq(), accounts*opening)
		}
		_, err0 := s.get("register0")
		_, err1 := s.get("register1")
		return errors.Join(err0, err1)
	})
}

// histories runs epochs of readers and writers and checks what they saw.
type histories struct {
	*handle
	workers []*worker
	checker history.Checker
	epochs  int
	txs     int
}

const eachKind = 16 // readers and writers

func newHistories(h *handle) *histories {
	s := &histories{handle: h}
	clock := &atomic.Int64{}
	for i := range 2*eachKind + 1 {
		s.workers = append(s.workers, &worker{db: h.DB, clock: clock, random: rand.New(rand.NewPCG(16, uint64(i)))})
	}
	return s
}

// epoch lets everybody do some rounds at once, then clears what was added, so that
// what the database holds stays the same, and checks.
func (s *histories) epoch(t *testing.T, rounds int) {
	t.Helper()
	var wg sync.WaitGroup
	for i, w := range s.workers[1:] {
		wg.Go(func() {
			for n := range rounds {
				var err error
				if i < eachKind {
					err = w.write(n)
				} else {
					err = w.read()
				}
				if err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	s.epochs++
	if err := s.clear(); err != nil {
		t.Error(err)
	}
	var txs []history.Tx
	for _, w := range s.workers {
		txs = append(txs, w.txs...)
		w.txs = nil
	}
	s.txs += len(txs)
	if err := s.checker.Add(txs); err != nil {
		t.Errorf("epoch %d: %v", s.epochs, err)
	}
}

// clear deletes the elements of the workers' sets, in one recorded transaction.
func (s *histories) clear() error {
	var added []string
	for _, w := range s.workers {
		for _, tx := range w.txs {
			for k, v := range tx.Writes {
				if strings.HasPrefix(k, "element") && v != history.Absent {
					added = append(added, k)
				}
			}
		}
	}
	slices.Sort(added)
	return s.workers[0].do(true, func(x *session) error {
		for _, k := range slices.Compact(added) {
			if err := x.put(k, history.Absent); err != nil {
				return err
			}
		}
		return nil
	})
}

// used is how many bytes of the file are in use.
func (s *histories) used(t *testing.T) int64 {
	t.Helper()
	stats, err := s.Stats()
	if err != nil {
		t.Fatal(err)
	}
	return stats.Store.UsedBytes
}

// longReader is a reader that stays open until it is too old, and sees the same as
// long as it is.
type longReader struct {
	tx   *graph.Tx
	saw  map[string]int64
	gone int // how many became too old
}

func (r *longReader) look(t *testing.T, h *handle) {
	t.Helper()
	if r.tx == nil {
		tx, err := h.LongSnapshot()
		if err != nil {
			t.Fatal(err)
		}
		r.tx, r.saw = tx, map[string]int64{}
	}
	for i := range accounts {
		s := &session{tx: r.tx, reads: map[string]int64{}}
		v, err := s.get(account(i))
		if err != nil {
			if !isTooOld(err) {
				t.Errorf("the long reader: %v", err)
			}
			r.close()
			r.gone++
			return
		}
		if first, ok := r.saw[account(i)]; ok && first != v {
			t.Errorf("the long reader sees %s = %d, and saw %d", account(i), v, first)
		}
		r.saw[account(i)] = v
	}
}

func (r *longReader) close() {
	if r.tx != nil {
		r.tx.Rollback()
		r.tx = nil
	}
}

// TestFaultF16Histories runs 16 readers and 16 writers, for ten minutes in the long
// version, and checks what each of their transactions saw against the order of the
// seqs, while one more reader stays open as long as it is let. The file does not
// grow, and no open file is left. Run it with -race.
func TestFaultF16Histories(t *testing.T) {
	before, err := openFiles()
	if err != nil {
		t.Fatal(err)
	}
	h, err := open(filepath.Join(t.TempDir(), "data"), true, &graph.Options{TrimEntries: 500, SnapshotBytes: 64 << 10})
	if err != nil {
		t.Fatal(err)
	}
	s, reader := newHistories(h), &longReader{}
	err = s.workers[0].do(true, func(s *session) error {
		for i := range accounts {
			if err := s.put(account(i), opening); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	epochs, rounds := sample(2, 6, 1<<30), sample(10, 20, 100)
	end := time.Now().Add(10 * time.Minute) // the night version's length, no limit on speed
	var used int64
	for i := 0; i < epochs && !t.Failed() && (!long() || time.Now().Before(end)); i++ {
		reader.look(t, h)
		s.epoch(t, rounds)
		if i == 0 || i < epochs/2 && !long() || i < 10 && long() {
			used = max(used, s.used(t)) // until the log has been trimmed some times
		}
	}
	grown := s.used(t)
	t.Logf("%d transactions in %d epochs, %d long readers became too old; %d bytes used after the first epochs, %d at the end",
		s.txs, s.epochs, reader.gone, used, grown)
	if grown > 3*used {
		t.Errorf("the file grew from %d to %d bytes in use, holding the same", used, grown)
	}
	reader.close()
	if err := errors.Join(checked(h.DB), h.close()); err != nil {
		t.Error(err)
	}
	if after, err := openFiles(); err != nil || after > before {
		t.Errorf("%d files are open, %v, before there were %d", after, err, before)
	}
}
