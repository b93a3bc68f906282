package text

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph/value"
)

// later makes an index with documents 1 to 3 at seq 3 and opens it later, as it
// would be with documents 4 and 1 changed in seqs 4 and 5.
func later(t *testing.T, change func(dir string)) (*Index, Options) {
	t.Helper()
	o := manual(filepath.Join(t.TempDir(), "text"))
	ix := open(t, o)
	for n := value.NodeID(1); n <= 3; n++ {
		ix.Publish(uint64(n), []Doc{doc(n, "apple old")})
	}
	must(t, ix.Close())
	if change != nil {
		change(o.Dir)
	}
	o.Head = 5
	applied, err := Peek(o)
	if err != nil || applied != 3 {
		t.Fatalf("peek: %d, %v", applied, err)
	}
	ix, err = OpenLater(o, applied, []Doc{doc(4, "apple"), doc(1, "pear")})
	must(t, err)
	t.Cleanup(func() { must(t, ix.Close()) })
	return ix, o
}

func found(t *testing.T, v *View, query string) []value.NodeID {
	t.Helper()
	hits, err := v.Search(Query{Text: query, Limit: 10})
	must(t, err)
	var out []value.NodeID
	for _, h := range hits {
		out = append(out, h.Node)
	}
	slices.Sort(out)
	return out
}

func nodes(ids ...value.NodeID) []value.NodeID { return ids }

func TestOpenedLaterSeesEverythingAtItsSeq(t *testing.T) {
	ix, _ := later(t, nil)
	if ix.PublishedSeq() != 5 || ix.AppliedSeq() != 3 {
		t.Fatalf("published %d, applied %d", ix.PublishedSeq(), ix.AppliedSeq())
	}
	before, err := ix.At(5)
	must(t, err)
	ix.Publish(6, []Doc{doc(2, "pear"), doc(5, "apple")})
	after, err := ix.At(6)
	must(t, err)
	own := before.With([]Doc{doc(9, "apple")})
	ix.Begin(nil)
	for _, c := range []struct {
		view *View
		want []value.NodeID
	}{{before, nodes(2, 3, 4)}, {after, nodes(3, 4, 5)}, {own, nodes(2, 3, 4, 9)}, {before, nodes(2, 3, 4)}} {
		if got := found(t, c.view, "apple"); !slices.Equal(got, c.want) {
			t.Errorf("got %v, want %v", got, c.want)
		}
	}
	if n, err := after.Count(); err != nil || n != 5 {
		t.Errorf("%d documents, %v", n, err)
	}
	ix.Publish(7, []Doc{doc(3, "pear")})
	must(t, ix.Flush())
	if got := found(t, before, "apple"); !slices.Equal(got, nodes(2, 3, 4)) {
		t.Errorf("after a flush the old view has %v", got)
	}
	if ix.AppliedSeq() != 7 {
		t.Errorf("applied %d", ix.AppliedSeq())
	}
}

func TestClosedBeforeItWasOpened(t *testing.T) {
	ix, o := later(t, nil)
	ix.Begin(nil)
	v, err := ix.At(5)
	must(t, err)
	must(t, ix.Close())
	if _, err := v.Search(Query{Text: "apple", Limit: 1}); !errors.Is(err, ErrClosed) {
		t.Errorf("got %v", err)
	}
	if seq, err := Peek(o); err != nil || seq != 3 {
		t.Errorf("it stands at %d, %v", seq, err)
	}
}

func TestManyChangesAreWrittenAtClose(t *testing.T) {
	ix, o := later(t, nil)
	for n := range uint64(closingDocs) {
		ix.Publish(6+n, []Doc{doc(value.NodeID(100+n), "apple")})
	}
	ix.Begin(nil)
	must(t, ix.Close())
	o.Head = 0
	if seq, err := Peek(o); err != nil || seq != 5+closingDocs {
		t.Errorf("it stands at %d, %v", seq, err)
	}
}

// TestFoundDamagedLater flips a bit of a segment, which Peek does not read.
func TestFoundDamagedLater(t *testing.T) {
	damage := func(dir string) { flip(t, segments(t, dir)[0]) }
	ix, o := later(t, damage)
	old, err := ix.At(5)
	must(t, err)
	ix.Publish(6, []Doc{doc(5, "apple")})
	ix.Publish(8, []Doc{doc(6, "apple")})
	calls := 0
	ix.Begin(func(load func(uint64, iter.Seq2[Doc, error]) error) error {
		calls++
		return load(7, docs(doc(2, "apple"), doc(5, "apple")))
	})
	must(t, ix.Flush())
	now, err := ix.At(8)
	must(t, err)
	if got := found(t, now, "apple"); !slices.Equal(got, nodes(2, 5, 6)) || calls != 1 {
		t.Errorf("got %v after %d calls", got, calls)
	}
	if _, err := old.Search(Query{Text: "apple", Limit: 1}); !errors.Is(err, ErrGone) {
		t.Errorf("a view from before the rebuilding: %v", err)
	}
	if _, err := os.Stat(o.Dir + ".damaged"); err != nil {
		t.Errorf("the evidence is not kept: %v", err)
	}
}

func TestFoundDamagedLaterAndNotRebuilt(t *testing.T) {
	stop := errors.New("no")
	ix, _ := later(t, func(dir string) { flip(t, segments(t, dir)[0]) })
	ix.Begin(func(func(uint64, iter.Seq2[Doc, error]) error) error { return stop })
	if err := ix.Flush(); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	if _, err := ix.At(5); !errors.Is(err, stop) {
		t.Errorf("got %v", err)
	}
	ix.Publish(6, []Doc{doc(5, "apple")}) // goes nowhere and does no harm
	if s := ix.Stats(); !errors.Is(s.LastError, stop) || s.Tail != 0 {
		t.Errorf("%+v", s)
	}
}

func TestPeekRefuses(t *testing.T) {
	_, o := later(t, nil)
	for name, change := range map[string]func(*Options){
		"missing":          func(o *Options) { o.Dir += "x" },
		"ahead":            func(o *Options) { o.Head = 2 },
		"another database": func(o *Options) { o.Identity = "other" },
		"other fields":     func(o *Options) { o.Fields = []Field{{Name: "z"}} },
		"in memory":        func(o *Options) { o.Dir = "" },
	} {
		c := o
		change(&c)
		if seq, err := Peek(c); err == nil {
			t.Errorf("%s: peeked %d", name, seq)
		}
	}
	must(t, os.WriteFile(filepath.Join(o.Dir, damagedFile), nil, 0o600))
	if _, err := Peek(o); err == nil {
		t.Error("peeked at an index marked as damaged")
	}
}

// TestLoadLater gives an index everything anew, later: the first search brings it
// about, and sees what was published since. Closed before, the index is what it was.
func TestLoadLater(t *testing.T) {
	for _, searched := range []bool{true, false} {
		o := manual(filepath.Join(t.TempDir(), "text"))
		ix := open(t, o)
		for n := value.NodeID(1); n <= 3; n++ {
			ix.Publish(uint64(n), []Doc{doc(n, "apple old")})
		}
		must(t, ix.Flush())
		calls := 0
		must(t, ix.LoadLater(4, func(load func(uint64, iter.Seq2[Doc, error]) error) error {
			calls++
			return load(5, func(yield func(Doc, error) bool) {
				_ = yield(doc(1, "apple new"), nil) && yield(doc(9, "plum"), nil)
			})
		}))
		ix.Publish(6, []Doc{doc(2, "pear")})
		if s := ix.Stats(); calls != 0 || s.Applied != 3 || s.Published != 6 {
			t.Fatalf("it was filled %d times before anybody asked: %+v", calls, s)
		}
		if searched {
			early, err := ix.At(4)
			must(t, err)
			v, err := ix.At(6)
			must(t, err)
			for query, want := range map[string][]value.NodeID{"apple": {1}, "old": nil, "plum": {9}, "pear": {2}} {
				if got := found(t, v, query); !slices.Equal(got, want) {
					t.Errorf("%s finds %v, want %v", query, got, want)
				}
			}
			if _, err := early.Search(Query{Text: "plum", Limit: 1}); !errors.Is(err, ErrGone) {
				t.Errorf("a view from before the documents: %v", err)
			}
			must(t, ix.Flush())
		}
		ix.EndFilling()
		must(t, ix.Close())
		want := map[bool][2]int{true: {1, 6}, false: {0, 3}}[searched]
		ix = open(t, o)
		if got := [2]int{calls, int(ix.AppliedSeq())}; got != want {
			t.Errorf("searched %v: filled %d times, applied up to %d; want %v", searched, got[0], got[1], want)
		}
		must(t, ix.Close())
	}
}

// TestFillingEnds closes an index while it is being filled: that ends, and the index
// is what it was.
func TestFillingEnds(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "text"))
	ix := open(t, o)
	ix.Publish(1, []Doc{doc(1, "apple")})
	must(t, ix.Flush())
	under := make(chan bool)
	must(t, ix.LoadLater(2, func(load func(uint64, iter.Seq2[Doc, error]) error) error {
		return load(2, func(yield func(Doc, error) bool) {
			for n := value.NodeID(2); yield(doc(n, "pear"), nil); n++ {
				if n == 10 {
					close(under)
				}
			}
		})
	}))
	v, err := ix.At(2)
	must(t, err)
	answer := make(chan error)
	go func() {
		_, err := v.Search(Query{Text: "pear", Limit: 1})
		answer <- err
	}()
	<-under
	ix.EndFilling()
	if err := <-answer; !errors.Is(err, ErrClosed) {
		t.Errorf("a search that waited: %v", err)
	}
	must(t, ix.Close())
	ix = open(t, o)
	if ix.AppliedSeq() != 1 {
		t.Errorf("opened again, it has everything up to %d, want 1", ix.AppliedSeq())
	}
	must(t, ix.Close())
}
