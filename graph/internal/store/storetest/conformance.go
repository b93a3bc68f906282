// Package storetest tells whether a driver keeps the promises of the store seam:
// Run is the suite for both drivers, Faulty a driver that fails on command.
package storetest

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/internal/store"
)

// Maker makes a driver of a new store with the initial puts, and a function that
// closes a driver and opens the same store again; nil if it does not last.
type Maker func(tb TB, initial ...store.Put) (store.Driver, func(store.Driver) store.Driver)

// TB is what *testing.T and *rapid.T have in common and the suite needs.
type TB interface {
	Helper()
	Fatalf(format string, args ...any)
}

// Run runs the suite. Drivers are closed by it.
func Run(t *testing.T, make Maker) {
	t.Run("NewStoreIsAtSeqZeroWithItsInitialPuts", func(t *testing.T) { testInitial(t, make) })
	t.Run("BytesReadAreCopies", func(t *testing.T) { testCopies(t, make) })
	t.Run("EmptyValueIsNotAbsent", func(t *testing.T) { testEmptyValue(t, make) })
	t.Run("ScanBounds", func(t *testing.T) { testScanBounds(t, make) })
	t.Run("ScanBack", func(t *testing.T) { testScanBack(t, make) })
	t.Run("ConflictChangesNothing", func(t *testing.T) { testConflict(t, make) })
	t.Run("BrokenBatchesAreRefusedWhole", func(t *testing.T) { testRefused(t, make) })
	t.Run("LastChangeOfAKeyWins", func(t *testing.T) { testLastWins(t, make) })
	t.Run("ReadersKeepTheirSnapshot", func(t *testing.T) { testSnapshot(t, make) })
	t.Run("ReadersAreSafeForManyGoroutines", func(t *testing.T) { testConcurrentReader(t, make) })
	t.Run("ClosedDriverRefuses", func(t *testing.T) { testClosed(t, make) })
	t.Run("AgreesWithAMap", func(t *testing.T) {
		rapid.Check(t, func(r *rapid.T) { testModel(r, make) })
	})
}

func put(key, value string) store.Put {
	return store.Put{Space: store.Nodes, Key: []byte(key), Value: []byte(value)}
}

func apply(tb TB, d store.Driver, expect store.Seq, puts ...store.Put) {
	tb.Helper()
	if outcome, err := d.Apply(expect, []store.Batch{{Seq: expect + 1, Puts: puts}}); outcome != store.Committed || err != nil {
		tb.Fatalf("Apply at seq %d = %v, %v; want committed", expect, outcome, err)
	}
}

// view reads at a fresh snapshot.
func view(tb TB, d store.Driver, fn func(r store.Reader)) {
	tb.Helper()
	r, err := d.Snapshot()
	if err != nil {
		tb.Fatalf("Snapshot: %v", err)
	}
	fn(r)
	if err := r.Close(); err != nil {
		tb.Fatalf("closing a reader: %v", err)
	}
}

func get(tb TB, r store.Reader, key string) []byte {
	tb.Helper()
	v, err := r.Get(store.Nodes, []byte(key))
	if err != nil {
		tb.Fatalf("Get(%q): %v", key, err)
	}
	return v
}

func closeDriver(tb TB, d store.Driver) {
	tb.Helper()
	if err := d.Close(); err != nil {
		tb.Fatalf("Close: %v", err)
	}
}

func testInitial(t *testing.T, make Maker) {
	d, _ := make(t, put("a", "1"))
	defer closeDriver(t, d)
	view(t, d, func(r store.Reader) {
		if got := get(t, r, "a"); string(got) != "1" || r.Seq() != 0 {
			t.Errorf("a = %q at seq %d; want 1 at 0", got, r.Seq())
		}
	})
}

func testCopies(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	p := put("a", "one")
	apply(t, d, 0, p)
	p.Key[0], p.Value[0] = 'x', 'x'
	view(t, d, func(r store.Reader) {
		first := get(t, r, "a")
		if string(first) != "one" {
			t.Fatalf("a = %q after the caller changed its bytes; want one", first)
		}
		copy(first, "xxx")
		many, err := r.GetMany(store.Nodes, [][]byte{[]byte("a"), []byte("b")}, [][]byte{[]byte("kept")})
		if err != nil || len(many) != 3 || string(many[0]) != "kept" || string(many[1]) != "one" || many[2] != nil {
			t.Errorf("GetMany = %q, %v; want kept, one, absent", many, err)
		}
	})
}

func testEmptyValue(t *testing.T, make Maker) {
	d, reopen := make(t)
	apply(t, d, 0, put("a", ""))
	if reopen != nil {
		d = reopen(d)
	}
	defer closeDriver(t, d)
	view(t, d, func(r store.Reader) {
		if got := get(t, r, "a"); got == nil || len(got) != 0 {
			t.Errorf("a = %#v; want empty and not nil", got)
		}
		if got := get(t, r, "b"); got != nil {
			t.Errorf("b = %#v; want nil", got)
		}
	})
}

func testScanBounds(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	apply(t, d, 0, put("b", "2"), put("a", "1"), put("d", "4"), put("c", "3"),
		store.Put{Space: store.Edges, Key: []byte("bb"), Value: []byte("other space")})
	cases := []struct {
		from, to []byte
		max      int
		want     string
	}{
		{nil, nil, 9, "a1 b2 c3 d4 "},
		{[]byte("b"), []byte("d"), 9, "b2 c3 "},
		{[]byte("b"), []byte("b"), 9, ""},
		{[]byte("bb"), nil, 9, "c3 d4 "},
		{nil, []byte("b"), 9, "a1 "},
		{[]byte("c"), []byte("a"), 9, ""},
		{[]byte("e"), nil, 9, ""},
		{nil, nil, 2, "a1 b2 "},
	}
	view(t, d, func(r store.Reader) {
		for _, c := range cases {
			var got string
			n := 0
			err := r.Scan(store.Nodes, c.from, c.to, func(k, v []byte) bool {
				got += fmt.Sprintf("%s%s ", k, v)
				n++
				return n < c.max
			})
			if err != nil || got != c.want {
				t.Errorf("Scan(%q, %q) for %d keys = %q, %v; want %q", c.from, c.to, c.max, got, err, c.want)
			}
		}
	})
}

func testScanBack(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	var puts []store.Put
	for i := range 900 { // several pages
		puts = append(puts, put(fmt.Sprintf("k%03d", i), fmt.Sprint(i)))
	}
	puts = append(puts, store.Put{Space: store.Edges, Key: []byte("k5"), Value: []byte("other space")})
	apply(t, d, 0, puts...)
	view(t, d, func(r store.Reader) {
		b, ok := r.(store.BackScanner)
		if !ok {
			t.Fatal("cannot scan back")
		}
		for _, c := range []struct {
			from, to      string
			max, first, n int
		}{
			{"k000", "k900", 1000, 899, 900},
			{"", "z", 1000, 899, 900},
			{"k100", "k800", 1000, 799, 700},
			{"k100", "k7995", 3, 799, 3},
			{"k1", "k100", 10, 0, 0},
			{"a", "b", 10, 0, 0},
			{"k500", "k400", 10, 0, 0},
		} {
			n := 0
			err := b.ScanBack(store.Nodes, []byte(c.from), []byte(c.to), func(k, v []byte) bool {
				if want := c.first - n; string(k) != fmt.Sprintf("k%03d", want) || string(v) != fmt.Sprint(want) {
					t.Errorf("ScanBack(%q, %q), key %d: %q = %q", c.from, c.to, n, k, v)
				}
				n++
				return n < c.max
			})
			if err != nil || n != c.n {
				t.Errorf("ScanBack(%q, %q) gave %d keys, %v; want %d", c.from, c.to, n, err, c.n)
			}
		}
		for _, space := range []store.Space{store.Edges, store.SpaceCount} {
			n := 0
			err := b.ScanBack(space, nil, []byte("k6"), func(_, v []byte) bool { n += len(v); return true })
			if space == store.Edges && (err != nil || n != len("other space")) || space != store.Edges && !errors.Is(err, store.ErrInvalid) {
				t.Errorf("ScanBack of space %d: %d bytes, %v", space, n, err)
			}
		}
		if err := b.ScanBack(store.Nodes, nil, nil, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("ScanBack from nowhere: %v; want invalid", err)
		}
	})
}

func testConflict(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	apply(t, d, 0, put("a", "1"))
	for _, expect := range []store.Seq{0, 2} {
		outcome, err := d.Apply(expect, []store.Batch{{Seq: expect + 1, Puts: []store.Put{put("a", "2")}}})
		if outcome != store.Conflict || err == nil {
			t.Errorf("Apply expecting seq %d at 1 = %v, %v; want conflict and why", expect, outcome, err)
		}
	}
	view(t, d, func(r store.Reader) {
		if got := get(t, r, "a"); string(got) != "1" || r.Seq() != 1 {
			t.Errorf("after a conflict: a = %q at seq %d; want 1 at 1", got, r.Seq())
		}
	})
	apply(t, d, 1, put("a", "3"))
}

func testRefused(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	good := put("good", "1")
	for name, batches := range map[string][]store.Batch{
		"gap in seqs":   {{Seq: 1, Puts: []store.Put{good}}, {Seq: 3}},
		"empty key":     {{Seq: 1, Puts: []store.Put{good, put("", "1")}}},
		"long key":      {{Seq: 1, Puts: []store.Put{good, put(string(bytes.Repeat([]byte("k"), store.MaxKey+1)), "1")}}},
		"unknown space": {{Seq: 1, Puts: []store.Put{good, {Space: store.SpaceCount, Key: []byte("k")}}}},
	} {
		if outcome, err := d.Apply(0, batches); outcome != store.Failed || !errors.Is(err, store.ErrInvalid) {
			t.Errorf("%s: Apply = %v, %v; want failed, invalid", name, outcome, err)
		}
	}
	view(t, d, func(r store.Reader) {
		if got := get(t, r, "good"); got != nil || r.Seq() != 0 {
			t.Errorf("after refusals: good = %q at seq %d; want absent at 0", got, r.Seq())
		}
		if _, err := r.Get(store.SpaceCount, []byte("k")); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Get in an unknown space: %v; want invalid", err)
		}
		if err := r.Scan(store.SpaceCount, nil, nil, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("Scan of an unknown space: %v; want invalid", err)
		}
	})
	apply(t, d, 0, put(string(bytes.Repeat([]byte("k"), store.MaxKey)), "1"))
}

func testLastWins(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	deletion := store.Put{Space: store.Nodes, Key: []byte("b")}
	outcome, err := d.Apply(0, []store.Batch{
		{Seq: 1, Puts: []store.Put{put("a", "1"), put("b", "1"), deletionOf("c")}},
		{Seq: 2, Puts: []store.Put{put("a", "2"), deletion, put("c", "2")}},
	})
	if outcome != store.Committed || err != nil {
		t.Fatalf("Apply = %v, %v", outcome, err)
	}
	view(t, d, func(r store.Reader) {
		a, b, c := get(t, r, "a"), get(t, r, "b"), get(t, r, "c")
		if string(a) != "2" || b != nil || string(c) != "2" || r.Seq() != 2 {
			t.Errorf("a, b, c = %q, %q, %q at seq %d; want 2, absent, 2 at 2", a, b, c, r.Seq())
		}
	})
}

func deletionOf(key string) store.Put { return store.Put{Space: store.Nodes, Key: []byte(key)} }

func testSnapshot(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	apply(t, d, 0, put("a", "1"), put("b", "1"))
	old, err := d.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	for seq := store.Seq(1); seq < 30; seq++ {
		apply(t, d, seq, put("a", fmt.Sprint(seq+1)), deletionOf("b"), put(fmt.Sprintf("n%04d", seq), "new"))
	}
	if a, b := get(t, old, "a"), get(t, old, "b"); string(a) != "1" || string(b) != "1" || old.Seq() != 1 {
		t.Errorf("the old reader sees a, b = %q, %q at seq %d; want 1, 1 at 1", a, b, old.Seq())
	}
	n := 0
	if err := old.Scan(store.Nodes, nil, nil, func(_, _ []byte) bool { n++; return true }); err != nil || n != 2 {
		t.Errorf("the old reader scans %d keys, %v; want 2", n, err)
	}
	if err := old.Close(); err != nil {
		t.Errorf("closing the old reader: %v", err)
	}
}

func testConcurrentReader(t *testing.T, make Maker) {
	d, _ := make(t)
	defer closeDriver(t, d)
	var puts []store.Put
	for i := range 500 {
		puts = append(puts, put(fmt.Sprintf("k%03d", i), fmt.Sprint(i)))
	}
	apply(t, d, 0, puts...)
	view(t, d, func(r store.Reader) {
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for i := g; i < 500; i += 7 {
					if v, err := r.Get(store.Nodes, puts[i].Key); err != nil || !bytes.Equal(v, puts[i].Value) {
						t.Errorf("Get(%s) = %q, %v", puts[i].Key, v, err)
					}
				}
				n := 0
				if err := r.Scan(store.Nodes, nil, nil, func(_, _ []byte) bool { n++; return true }); err != nil || n != 500 {
					t.Errorf("Scan saw %d keys, %v; want 500", n, err)
				}
			})
		}
		for seq := store.Seq(1); seq < 20; seq++ {
			apply(t, d, seq, put(fmt.Sprintf("k%03d", seq), "changed"))
		}
		wg.Wait()
	})
}

func testClosed(t *testing.T, make Maker) {
	d, _ := make(t)
	closeDriver(t, d)
	if _, err := d.Snapshot(); !errors.Is(err, store.ErrClosed) {
		t.Errorf("Snapshot after Close: %v; want closed", err)
	}
	if outcome, err := d.Apply(0, []store.Batch{{Seq: 1}}); outcome != store.Failed || !errors.Is(err, store.ErrClosed) {
		t.Errorf("Apply after Close = %v, %v; want failed, closed", outcome, err)
	}
}

// testModel runs random batches, reads and reopenings against plain maps.
func testModel(r *rapid.T, make Maker) {
	d, reopen := make(r)
	defer func() { closeDriver(r, d) }()
	var model [store.SpaceCount]map[string]string
	for i := range model {
		model[i] = map[string]string{}
	}
	seq := store.Seq(0)
	keys := rapid.StringMatching(`[a-d]{1,3}`)
	spaces := rapid.SampledFrom([]store.Space{store.Meta, store.Nodes, store.Log, store.Weights})
	actions := map[string]func(*rapid.T){
		"apply": func(r *rapid.T) {
			n := rapid.IntRange(1, 3).Draw(r, "batches")
			batches := []store.Batch{}
			for i := range n {
				b := store.Batch{Seq: seq + store.Seq(i) + 1}
				used := map[string]bool{}
				for range rapid.IntRange(0, 8).Draw(r, "puts") {
					s, k := spaces.Draw(r, "space"), keys.Draw(r, "key")
					if used[fmt.Sprint(s, k)] {
						continue
					}
					used[fmt.Sprint(s, k)] = true
					p := store.Put{Space: s, Key: []byte(k)}
					delete(model[s], k)
					if rapid.IntRange(0, 3).Draw(r, "kind") > 0 {
						size := rapid.SampledFrom([]int{0, 1, 40, 3000}).Draw(r, "size")
						p.Value = bytes.Repeat([]byte{byte('a' + seq%26)}, size)
						model[s][k] = string(p.Value)
					}
					b.Puts = append(b.Puts, p)
				}
				batches = append(batches, b)
			}
			if outcome, err := d.Apply(seq, batches); outcome != store.Committed || err != nil {
				r.Fatalf("Apply = %v, %v", outcome, err)
			}
			seq += store.Seq(n)
		},
		"read": func(r *rapid.T) {
			view(r, d, func(reader store.Reader) {
				if reader.Seq() != seq {
					r.Fatalf("the store is at seq %d; want %d", reader.Seq(), seq)
				}
				compare(r, reader, spaces.Draw(r, "space"), model, keys.Draw(r, "from"), keys.Draw(r, "to"))
			})
		},
	}
	if reopen != nil {
		actions["reopen"] = func(*rapid.T) { d = reopen(d) }
	}
	r.Repeat(actions)
}

func compare(r *rapid.T, reader store.Reader, space store.Space, model [store.SpaceCount]map[string]string, from, to string) {
	var want, got []string
	for _, k := range slices.Sorted(maps.Keys(model[space])) {
		if k >= from && k < to {
			want = append(want, k+"="+model[space][k])
		}
	}
	err := reader.Scan(space, []byte(from), []byte(to), func(k, v []byte) bool {
		got = append(got, string(k)+"="+string(v))
		return true
	})
	if err != nil || !slices.Equal(got, want) {
		r.Fatalf("Scan(%v, %q, %q) = %q, %v; want %q", space, from, to, got, err, want)
	}
	v, err := reader.Get(space, []byte(from))
	value, ok := model[space][from]
	if err != nil || string(v) != value || (v != nil) != ok {
		r.Fatalf("Get(%v, %q) = %q, %v; want %q, %v", space, from, v, err, value, ok)
	}
}
