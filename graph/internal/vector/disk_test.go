package vector

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"engram/graph/value"
)

func docsOf(seed uint64, from, to int) []Doc {
	r := source(seed)
	var docs []Doc
	for i := from; i < to; i++ {
		docs = append(docs, Doc{Node: value.NodeID(i), Vector: gaussian(r, 4, 1)})
	}
	return docs
}

// written makes a space with three files, closed, and returns what a query finds.
func written(t *testing.T, dir string) (want []Hit) {
	t.Helper()
	ix := must(Open(manual(dir, 4)))(t)
	ix.Publish(1, docsOf(1, 1, 400))
	for seq, size := range []int{100, 20} {
		if err := ix.Flush(); err != nil {
			t.Fatal(err)
		}
		ix.Publish(uint64(seq+2), append(docsOf(2, 300, 300+size), Doc{Node: value.NodeID(seq + 1)}))
	}
	want = search(t, ix, 3)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	if n := len(files(t, dir, ".vec")); n != 3 {
		t.Fatalf("%d files, want 3", n)
	}
	return want
}

func search(t *testing.T, ix *Index, seq uint64) []Hit {
	t.Helper()
	return must(must(ix.At(seq))(t).Search(Query{Vector: []float32{1, 2, 3, -4}, Limit: 10, Floor: -1}))(t)
}

func files(t *testing.T, dir, suffix string) []string {
	t.Helper()
	found := must(filepath.Glob(filepath.Join(SpaceDir(dir, manual("", 1).Model), "*")))(t)
	return slices.DeleteFunc(found, func(s string) bool { return !strings.HasSuffix(s, suffix) })
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	want := written(t, dir)
	ix := open(t, manual(dir, 4))
	if ix.AppliedSeq() != 3 || ix.PublishedSeq() != 3 {
		t.Errorf("at seq %d, %d; want 3", ix.AppliedSeq(), ix.PublishedSeq())
	}
	sameHits(t, search(t, ix, 3), want)
	if _, err := ix.At(2); err != ErrGone {
		t.Errorf("view of an older seq: %v", err)
	}
	ix.Publish(4, []Doc{{Node: want[0].Node}})
	if got := search(t, ix, 4); got[0].Node != want[1].Node {
		t.Errorf("best is %v, want %v", got[0], want[1])
	}
}

// TestAfterACrash opens a copy of the files as they were after a flush, with what an
// interrupted write leaves.
func TestAfterACrash(t *testing.T) {
	dir, copied := t.TempDir(), t.TempDir()
	ix := open(t, manual(dir, 4))
	ix.Publish(1, docsOf(1, 1, 50))
	if err := ix.Flush(); err != nil {
		t.Fatal(err)
	}
	want := search(t, ix, 1)
	ix.Publish(2, docsOf(2, 1, 50))
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".tmp-1", "00000009.vec"} {
		if err := os.WriteFile(filepath.Join(SpaceDir(copied, manual("", 1).Model), name), []byte("cut"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	again := open(t, manual(copied, 4))
	if again.AppliedSeq() != 1 {
		t.Fatalf("at seq %d, want 1", again.AppliedSeq())
	}
	sameHits(t, search(t, again, 1), want)
	if n := len(files(t, copied, "")); n != 2 {
		t.Errorf("%v left, want the manifest and one file", files(t, copied, ""))
	}
	again.Publish(2, docsOf(2, 1, 50))
	sameHits(t, search(t, again, 2), search(t, ix, 2))
}

func TestDamageIsSetAside(t *testing.T) {
	change := func(suffix string, fn func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			path := files(t, dir, suffix)[0]
			data := must(os.ReadFile(path))(t)
			if err := os.WriteFile(path, fn(bytes.Clone(data)), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	cut := func(b []byte) []byte { return b[:len(b)/2] }
	flip := func(b []byte) []byte { b[len(b)/2] ^= 1; return b }
	empty := func([]byte) []byte { return nil }
	remove := func(suffix string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			if err := os.Remove(files(t, dir, suffix)[0]); err != nil {
				t.Fatal(err)
			}
		}
	}
	options := func(fn func(*Options)) Options {
		o := manual("", 4)
		fn(&o)
		return o
	}
	same := func(*Options) {}
	tests := []struct {
		name   string
		damage func(*testing.T, string)
		opts   Options
	}{
		{"file cut", change(".vec", cut), options(same)},
		{"file flipped", change(".vec", flip), options(same)},
		{"file empty", change(".vec", empty), options(same)},
		{"file missing", remove(".vec"), options(same)},
		{"manifest cut", change("MANIFEST", cut), options(same)},
		{"manifest flipped", change("MANIFEST", flip), options(same)},
		{"manifest empty", change("MANIFEST", empty), options(same)},
		{"manifest missing", remove("MANIFEST"), options(same)},
		{"other database", nil, options(func(o *Options) { o.Identity = "other" })},
		{"other dimensions", nil, options(func(o *Options) { o.Dim = 5 })},
		{"ahead", nil, options(func(o *Options) { o.Head = 2 })},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			written(t, dir)
			if test.damage != nil {
				test.damage(t, dir)
			}
			test.opts.Dir = dir
			ix := open(t, test.opts)
			if s := ix.Stats(); s.Applied != 0 || s.Live != 0 {
				t.Errorf("%+v, want an empty space", s)
			}
			if _, err := os.Stat(SpaceDir(dir, test.opts.Model) + ".damaged"); err != nil {
				t.Errorf("nothing was set aside: %v", err)
			}
			ix.Publish(1, []Doc{{Node: 1, Vector: make1(test.opts.Dim)}})
			if err := ix.Flush(); err != nil || ix.AppliedSeq() != 1 {
				t.Errorf("at %d after a flush, %v", ix.AppliedSeq(), err)
			}
		})
	}
}

func make1(dim int) []float32 { return append(make([]float32, dim-1), 1) }

// TestDamageFoundWhileMerging has it written anew from memory.
func TestDamageFoundWhileMerging(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	ix := must(Open(manual(dir, 4)))(t)
	if err := os.Truncate(files(t, dir, ".vec")[1], 30); err != nil {
		t.Fatal(err)
	}
	ix.Publish(4, docsOf(9, 1000, 1100))
	want := search(t, ix, 4)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	again := open(t, manual(dir, 4))
	if again.AppliedSeq() != 4 {
		t.Fatalf("at %d, want 4", again.AppliedSeq())
	}
	sameHits(t, search(t, again, 4), want)
}

func TestFailedWrite(t *testing.T) {
	dir := t.TempDir()
	ix := must(Open(manual(dir, 4)))(t)
	ix.Publish(1, docsOf(1, 1, 50))
	space := SpaceDir(dir, ix.Model())
	if err := os.Rename(space, space+".away"); err != nil {
		t.Fatal(err)
	}
	if err := ix.Flush(); err == nil || ix.Stats().LastError == nil || ix.AppliedSeq() != 0 {
		t.Fatalf("flush: %v, %+v", err, ix.Stats())
	}
	want := search(t, ix, 1)
	if err := os.Rename(space+".away", space); err != nil {
		t.Fatal(err)
	}
	if err := ix.Flush(); err != nil || ix.Stats().LastError != nil || ix.AppliedSeq() != 1 {
		t.Fatalf("flush: %v, %+v", err, ix.Stats())
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	sameHits(t, search(t, open(t, manual(dir, 4)), 1), want)
}

func TestFilesStayFew(t *testing.T) {
	dir := t.TempDir()
	ix := open(t, manual(dir, 4))
	for seq := range 200 {
		ix.Publish(uint64(seq+1), docsOf(uint64(seq), seq*3, seq*3+3))
		if err := ix.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if s := ix.Stats(); s.Files > 8 || s.Flushes != 200 || s.Unwritten != 0 {
		t.Errorf("%+v, want few files", s)
	}
	for seq := 200; seq < 400; seq++ {
		ix.Publish(uint64(seq+1), docsOf(uint64(seq), 1, 4))
		if err := ix.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	spaces := must(Spaces(dir))(t)
	if len(spaces) != 1 || spaces[0].Model != ix.Model() || spaces[0].Seq != 400 || spaces[0].Entries > 1000 || spaces[0].Bytes == 0 {
		t.Errorf("%+v, want what newer vectors replaced merged away", spaces)
	}
}

func TestModelsNeverMeet(t *testing.T) {
	dir := t.TempDir()
	names := []string{"a/b", "a_b", "A/b", "../../etc", strings.Repeat("long", 50), "模型"}
	for i, name := range names {
		o := manual(dir, 4)
		o.Model = name
		ix := open(t, o)
		ix.Publish(1, docsOf(uint64(i), i*10+1, i*10+2))
		if err := ix.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	spaces := must(Spaces(dir))(t)
	if len(spaces) != len(names) {
		t.Fatalf("%d spaces, want %d: %+v", len(spaces), len(names), spaces)
	}
	for _, s := range spaces {
		if s.Entries != 1 || !slices.Contains(names, s.Model) {
			t.Errorf("%+v", s)
		}
	}
	if err := Remove(dir, "a/b"); err != nil {
		t.Fatal(err)
	}
	if left := must(Spaces(dir))(t); len(left) != len(names)-1 || slices.ContainsFunc(left, func(s Space) bool { return s.Model == "a/b" }) {
		t.Errorf("left %+v", left)
	}
	if none, err := Spaces(filepath.Join(dir, "none")); none != nil || err != nil {
		t.Errorf("%v, %v", none, err)
	}
}

func TestPendingSurvives(t *testing.T) {
	dir := t.TempDir()
	ix := must(Open(manual(dir, 4)))(t)
	ix.Publish(1, docsOf(1, 1, 10))
	ix.Publish(2, []Doc{{Node: 3, Pending: true}, {Node: 20, Pending: true}, {Node: 21, Pending: true}})
	ix.Publish(3, []Doc{{Node: 21}})
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	ix = open(t, manual(dir, 4))
	if got := fmt.Sprint(ix.Missing(10)); got != "[{3 2} {20 2}]" {
		t.Errorf("missing %s", got)
	}
	if s := ix.Stats(); s.Pending != 2 || s.Live != 8 {
		t.Errorf("%+v", s)
	}
}

func TestLoadReplaces(t *testing.T) {
	dir := t.TempDir()
	written(t, dir)
	ix := must(Open(manual(dir, 4)))(t)
	docs := docsOf(7, 5, 60)
	err := ix.Load(9, func(yield func(Doc, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	want := search(t, ix, 9)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	ix = open(t, manual(dir, 4))
	if s := ix.Stats(); s.Applied != 9 || s.Live != 55 || s.Files != 1 {
		t.Errorf("%+v", s)
	}
	sameHits(t, search(t, ix, 9), want)
	if err := ix.Load(10, func(yield func(Doc, error) bool) { yield(Doc{}, os.ErrInvalid) }); err == nil {
		t.Error("no error from documents that cannot be read")
	}
	sameHits(t, search(t, ix, 9), want)
}

func TestFollowerWritesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := manual(t.TempDir(), 4)
		o.FlushDocs = 10
		ix := open(t, o)
		ix.Publish(1, docsOf(1, 1, 20))
		synctest.Wait()
		if ix.AppliedSeq() != 1 {
			t.Error("a full batch was not written")
		}
		ix.Publish(2, docsOf(2, 1, 5))
		synctest.Wait()
		if ix.AppliedSeq() != 1 {
			t.Error("a few changes were written at once")
		}
		time.Sleep(o.FlushEvery + 1)
		synctest.Wait()
		if ix.AppliedSeq() != 2 {
			t.Error("changes were not written in time")
		}
	})
}

func FuzzDecodeFile(f *testing.F) {
	f.Add(encodeFile([]entry{{node: 1, seq: 2, kind: isGone}, {node: 2, seq: 3, code: encode([]float32{1, 2})}}, 2), 2)
	f.Fuzz(func(t *testing.T, data []byte, count int) {
		if entries, err := decodeFile(data, max(count, 0), 2); err == nil && len(encodeFile(entries, 2)) != len(data) {
			t.Error("read what cannot be written")
		}
	})
}
