package faulttest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
	"engram/graph/value"
)

// TestFaultF14Clock steps the clock back and forth while writing and across
// restarts: ids, order and content do not notice.
func TestFaultF14Clock(t *testing.T) {
	const seed = 14
	dir := filepath.Join(t.TempDir(), "data")
	real := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	m := workload.New(seed)
	lastSeq := uint64(0)
	for _, now := range []time.Time{
		real, real.Add(-time.Hour), real.AddDate(-10, 0, 0), real.AddDate(10, 0, 0), time.Unix(0, 0), {}, real,
	} {
		var clock atomic.Pointer[time.Time]
		clock.Store(&now)
		o := workload.Options()
		o.Now = func() time.Time { return *clock.Load() }
		h, err := open(dir, true, o)
		if err != nil {
			t.Fatalf("at %v: %v", now, err)
		}
		for i := range 12 {
			moved := now.Add(time.Duration(i%3-1) * 24 * time.Hour) // and while it is open
			clock.Store(&moved)
			if err := m.Step(t.Context(), h.DB); err != nil {
				t.Fatalf("at %v: %v", moved, err)
			}
			if seq := h.Seq(); seq <= lastSeq {
				t.Errorf("seq %d follows %d at %v", seq, lastSeq, moved)
			} else {
				lastSeq = seq
			}
		}
		if _, err := workload.Verify(t.Context(), h.DB, seed, m.Done(), m.Done()); err != nil {
			t.Errorf("at %v: %v", now, err)
		}
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}
	wantState(t, dir, seed, m.Done(), m.Done())
}

// TestFaultF17LongReader keeps readers open over many commits: writers go on, the
// file grows no further than without, and a reader sees what it began with or is
// told that it is too old.
func TestFaultF17LongReader(t *testing.T) {
	const seed = 17
	size := func(long bool) int64 {
		h := mustOpen(t, filepath.Join(t.TempDir(), "data"), true, workload.Options())
		m, err := resume(h, seed)
		for err == nil && m.Done() < 50 {
			err = m.Step(t.Context(), h.DB)
		}
		if err != nil {
			t.Fatal(err)
		}
		var reader *graph.Tx
		if long {
			if reader, err = h.LongSnapshot(); err != nil {
				t.Fatal(err)
			}
			defer reader.Rollback()
		}
		before := workload.New(seed)
		for before.Done() < 50 {
			before.Next()
		}
		for m.Done() < sample(150, 300, 3000) {
			if err := m.Step(t.Context(), h.DB); err != nil {
				t.Fatal(err)
			}
		}
		if long {
			if err := before.Compare(reader); err != nil && !isTooOld(err) {
				t.Errorf("the long reader: %v", err)
			}
		}
		s, err := h.Stats()
		if err != nil {
			t.Fatal(err)
		}
		return s.Store.UsedBytes
	}
	without, with := size(false), size(true)
	t.Logf("used without a long reader %d bytes, with one %d", without, with)
	if with > without*3/2 {
		t.Errorf("a long reader makes the file grow to %d bytes; without it has %d", with, without)
	}
}

func isTooOld(err error) bool {
	var e *graph.Error
	return errors.As(err, &e) && (e.Code == graph.SnapshotTooOld || strings.Contains(e.Message, "run the statement again"))
}

// TestFaultF17ReaderIsCut gives a reader up that is older than allowed.
func TestFaultF17ReaderIsCut(t *testing.T) {
	// The committer reads the clock beside the test.
	var passed atomic.Int64
	start := time.Now()
	o := workload.Options()
	o.Now, o.MaxLongAge = func() time.Time { return start.Add(time.Duration(passed.Load())) }, time.Minute
	h := mustOpen(t, filepath.Join(t.TempDir(), "data"), true, o)
	if err := workload.New(1).Step(t.Context(), h.DB); err != nil {
		t.Fatal(err)
	}
	tx, err := h.LongSnapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	passed.Store(int64(2 * time.Minute))
	_, err = tx.NodesByID(value.String("n1"), nil)
	wantCode(t, err, graph.SnapshotTooOld)
}

// TestFaultF18HugeTransaction exceeds the limits of a transaction: it is refused
// whole, with the limit in the message, and the next one is fine.
func TestFaultF18HugeTransaction(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "data"), true, &graph.Options{})
	for name, c := range map[string]struct{ count, size int }{"keys": {60_000, 1}, "bytes": {70, 1 << 20}} {
		tx, err := h.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		// An id makes two keys of each node.
		for i := 0; i < c.count && err == nil; i++ {
			err = createLabelled(tx, "Huge", value.Prop{Key: "id", Value: value.String(fmt.Sprint(name, i))}, value.Prop{Key: "pad", Value: value.String(strings.Repeat("x", c.size))})
		}
		if err == nil {
			_, err = tx.Commit(t.Context())
		}
		tx.Rollback()
		wantCode(t, err, graph.LimitExceeded, "at most")
		if n := nodes(h.DB); n != 0 {
			t.Errorf("%s: %d nodes of a refused transaction", name, n)
		}
	}
	if err := bulk(h.DB, 100); err != nil || nodes(h.DB) != 100 {
		t.Errorf("the next transaction: %v", err)
	}
}

// TestFaultF22WaiterGone cancels a writer that waits for its turn.
func TestFaultF22WaiterGone(t *testing.T) {
	h := mustOpen(t, filepath.Join(t.TempDir(), "data"), true, workload.Options())
	first, err := h.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	answer := make(chan error)
	go func() {
		_, err := h.Begin(ctx)
		answer <- err
	}()
	cancel()
	wantCode(t, <-answer, graph.Canceled)
	first.Rollback()
	if err := workload.New(1).Step(t.Context(), h.DB); err != nil {
		t.Errorf("the next writer: %v", err)
	}
}

// TestFaultF19HugeValues stores values and names at the edges of what is allowed:
// they come back exactly, also after opening again, or are refused with the size.
func TestFaultF19HugeValues(t *testing.T) {
	text := func(n int) value.Value { return value.String(strings.Repeat("é", n/2) + strings.Repeat("x", n%2)) }
	dir := filepath.Join(t.TempDir(), "data")
	h := mustOpen(t, dir, true, &graph.Options{})
	stored := map[string]value.Prop{}
	for name, p := range map[string]value.Prop{
		"empty":           {Key: "v", Value: text(0)},
		"one byte":        {Key: "v", Value: text(1)},
		"2 KiB - 1":       {Key: "v", Value: text(2047)},
		"2 KiB + 1":       {Key: "v", Value: text(2049)},
		"64 KiB - 1":      {Key: "v", Value: text(1<<16 - 1)},
		"64 KiB":          {Key: "v", Value: text(1 << 16)},
		"64 KiB + 1":      {Key: "v", Value: text(1<<16 + 1)},
		"1 MiB":           {Key: "v", Value: text(1 << 20)},
		"40 MiB":          {Key: "v", Value: text(40 << 20)},
		"70 MiB":          {Key: "v", Value: text(70 << 20)},
		"NUL":             {Key: "v", Value: value.String("a\x00b")},
		"invalid UTF-8":   {Key: "v", Value: value.String("a\xff\xfeb")},
		"searched, huge":  {Key: "content", Value: text(1 << 20)},
		"a key of 32 KiB": {Key: strings.Repeat("k", 32768), Value: value.Int(1)},
		"an empty key":    {Key: "", Value: value.Int(1)},
		"an id of 1 KiB":  {Key: "id", Value: text(1 << 10)},
		"an id of 32 KiB": {Key: "id", Value: text(1 << 15)},
		"a list":          {Key: "v", Value: value.List([]value.Value{text(1 << 20), text(3)})},
	} {
		tx, err := h.Begin(t.Context())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		err = createLabelled(tx, "Case "+name, p)
		if err == nil {
			_, err = tx.Commit(t.Context())
		}
		tx.Rollback()
		if err == nil {
			stored[name] = p
		} else if code := graph.CodeOf(err); code != graph.LimitExceeded && code != graph.InvalidArgument || len(err.Error()) > 1000 {
			t.Errorf("%s is refused with %s: %.200s", name, code, err)
		} else {
			t.Logf("%s is refused: %.200s", name, err)
		}
	}
	if err := h.close(); err != nil {
		t.Fatal(err)
	}
	h = mustOpen(t, dir, false, &graph.Options{})
	tx, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for name, p := range stored {
		l, _ := tx.Label("Case " + name)
		ids, err := tx.ScanNodes(l, 0, make([]value.NodeID, 2))
		if err != nil || len(ids) != 1 {
			t.Errorf("%s: found %d, %v", name, len(ids), err)
			continue
		}
		n, err := tx.LoadNode(ids[0])
		if err != nil || len(n.Properties) != 1 || n.Properties[0].Key != p.Key || !value.Equivalent(n.Properties[0].Value, p.Value) {
			t.Errorf("%s did not come back: %v", name, err)
		}
	}
	if err := checked(h.DB); err != nil {
		t.Error(err)
	}
	for _, want := range []string{"empty", "one byte", "64 KiB + 1", "1 MiB", "40 MiB", "NUL", "searched, huge"} {
		if _, ok := stored[want]; !ok {
			t.Errorf("%s was refused", want)
		}
	}
}

// TestFaultF19ManyProperties stores a node with very many properties, and one with
// very many edges.
func TestFaultF19ManyProperties(t *testing.T) {
	n := sample(2000, 10_000, 90_000)
	h := mustOpen(t, filepath.Join(t.TempDir(), "data"), true, &graph.Options{})
	tx, err := h.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	var props []value.Prop
	for i := range n {
		props = append(props, value.Prop{Key: fmt.Sprintf("p%06d", i), Value: value.Int(int64(i))})
	}
	if err := createLabelled(tx, "Wide", props...); err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	read, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Rollback()
	node, err := read.LoadNode(1)
	if err != nil || len(node.Properties) != n || node.Properties[n-1].Value.AsInt() != int64(n-1) {
		t.Errorf("%d properties came back, %v", len(node.Properties), err)
	}
}
