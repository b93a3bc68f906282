package text

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/graph/value"
)

func doc(node value.NodeID, content string) Doc {
	return Doc{Node: node, Fields: []FieldText{{"content", content}}}
}

// search returns the nodes found at the newest seq.
func search(t testing.TB, ix *Index, query string) []value.NodeID {
	t.Helper()
	v, err := ix.At(ix.PublishedSeq())
	if err != nil {
		t.Fatal(err)
	}
	hits, err := v.Search(Query{Text: query, Limit: 100})
	if err != nil {
		t.Fatal(err)
	}
	var out []value.NodeID
	for _, h := range hits {
		out = append(out, h.Node)
	}
	slices.Sort(out)
	return out
}

// filled makes an index of two segments at seq 4 and closes it.
func filled(t *testing.T, o Options) {
	t.Helper()
	ix := open(t, o)
	for seq := uint64(1); seq <= 4; seq++ {
		ix.Publish(seq, []Doc{doc(value.NodeID(seq), fmt.Sprintf("graph number%d", seq))})
		if seq%2 == 0 {
			if err := ix.Flush(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
}

func segments(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.zap"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no segments in %s: %v", dir, err)
	}
	return files
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestUselessIndexIsSetAside damages an index in every way we know, or opens it
// for another database. Each time it is moved aside untouched, an empty one takes
// its place, and replaying fills it again.
func TestUselessIndexIsSetAside(t *testing.T) {
	cases := map[string]func(t *testing.T, o *Options){
		"root missing":     func(t *testing.T, o *Options) { must(t, os.Remove(filepath.Join(o.Dir, rootFile))) },
		"root empty":       func(t *testing.T, o *Options) { must(t, os.Truncate(filepath.Join(o.Dir, rootFile), 0)) },
		"root cut":         func(t *testing.T, o *Options) { must(t, os.Truncate(filepath.Join(o.Dir, rootFile), 5000)) },
		"root garbage":     func(t *testing.T, o *Options) { overwrite(t, filepath.Join(o.Dir, rootFile)) },
		"segment missing":  func(t *testing.T, o *Options) { must(t, os.Remove(segments(t, o.Dir)[0])) },
		"segment cut":      func(t *testing.T, o *Options) { must(t, os.Truncate(segments(t, o.Dir)[0], 20)) },
		"segment empty":    func(t *testing.T, o *Options) { must(t, os.Truncate(segments(t, o.Dir)[0], 0)) },
		"segment halved":   func(t *testing.T, o *Options) { halve(t, segments(t, o.Dir)[0]) },
		"segment flipped":  func(t *testing.T, o *Options) { flip(t, segments(t, o.Dir)[0]) },
		"root halved":      func(t *testing.T, o *Options) { halve(t, filepath.Join(o.Dir, rootFile)) },
		"marked":           func(t *testing.T, o *Options) { must(t, os.WriteFile(filepath.Join(o.Dir, damagedFile), nil, 0o600)) },
		"another database": func(_ *testing.T, o *Options) { o.Identity = "another" },
		"other fields":     func(_ *testing.T, o *Options) { o.Fields = testFields[:2] },
		"another kind":     func(_ *testing.T, o *Options) { o.Fields = []Field{{Name: "content", Kind: Words}} },
		"ahead":            func(_ *testing.T, o *Options) { o.Head = 3 },
	}
	for name, damage := range cases {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			o := manual(filepath.Join(t.TempDir(), "index"))
			filled(t, o)
			damage(t, &o)
			before := listing(t, o.Dir)
			ix := open(t, o)
			if ix.AppliedSeq() != 0 {
				t.Fatalf("applied %d", ix.AppliedSeq())
			}
			if after := listing(t, o.Dir+".damaged"); !slices.Equal(before, after) {
				t.Errorf("set aside: %v, was %v", after, before)
			}
			for seq := uint64(1); seq <= 4; seq++ {
				ix.Publish(seq, []Doc{doc(value.NodeID(seq), "graph again")})
			}
			if got := search(t, ix, "graph"); len(got) != 4 {
				t.Errorf("found %v", got)
			}
			must(t, ix.Close())
			if again := open(t, o); again.AppliedSeq() != 4 && o.Head != 3 {
				t.Errorf("the new one is at %d", again.AppliedSeq())
			}
		})
	}
}

// TestVerify finds a flipped bit anywhere in a segment, which no read notices.
func TestVerify(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	filled(t, o)
	file := segments(t, o.Dir)[0]
	content, err := os.ReadFile(file)
	must(t, err)
	for _, at := range []int{0, len(content) / 2, len(content) - 1} {
		content[at] ^= 4
		must(t, os.WriteFile(file, content, 0o600))
		if err := verifySegment(file); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("byte %d of %d: %v", at, len(content), err)
		}
		content[at] ^= 4
	}
	must(t, os.WriteFile(file, content, 0o600))
	must(t, open(t, o).Verify())
}

func flip(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	must(t, err)
	content[len(content)/2] ^= 1
	must(t, os.WriteFile(file, content, 0o600))
}

func halve(t *testing.T, file string) {
	info, err := os.Stat(file)
	must(t, err)
	must(t, os.Truncate(file, info.Size()/2))
}

func overwrite(t *testing.T, file string) {
	info, err := os.Stat(file)
	must(t, err)
	must(t, os.WriteFile(file, []byte(strings.Repeat("x", int(info.Size()))), 0o600))
}

// listing returns names and sizes of the files in a directory.
func listing(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var out []string
	for _, e := range entries {
		info, err := e.Info()
		must(t, err)
		out = append(out, fmt.Sprintf("%s %d", e.Name(), info.Size()))
	}
	return out
}

// TestWeightsMayChange reopens with other weights: they are no part of the index.
func TestWeightsMayChange(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	filled(t, o)
	o.Fields = slices.Clone(o.Fields)
	o.Fields[0].Weight = 9
	if ix := open(t, o); ix.AppliedSeq() != 4 {
		t.Errorf("applied %d", ix.AppliedSeq())
	}
}

func TestSecondOpenerIsToldBusy(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	open(t, o)
	if _, err := Open(o); !errors.Is(err, ErrBusy) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(o.Dir + ".damaged"); err == nil {
		t.Error("a busy index was set aside")
	}
}

// TestUnreadableIndexStopsAndIsRebuilt breaks a lookup while running.
func TestUnreadableIndexStopsAndIsRebuilt(t *testing.T) {
	o := manual(filepath.Join(t.TempDir(), "index"))
	ix := open(t, o)
	ix.Publish(1, []Doc{doc(1, "graph")})
	ix.breakDown(errors.New("unreadable"))
	if _, err := ix.At(1); err == nil || !strings.Contains(err.Error(), "unreadable") {
		t.Errorf("got %v", err)
	}
	if err := ix.Flush(); err == nil {
		t.Error("flushed all the same")
	}
	must(t, ix.Close())
	if again := open(t, o); again.AppliedSeq() != 0 {
		t.Errorf("applied %d", again.AppliedSeq())
	}
}

func TestBatchesEndWithTransactions(t *testing.T) {
	cases := []struct {
		seqs []int // entries of each transaction
		want []int // ends of batches
	}{
		{nil, []int{0}},
		{[]int{1, 1}, []int{2}},
		{[]int{2400, 2400, 1200}, []int{2400, 6000}},
		{[]int{4000, 1}, []int{4000, 4001}},
		{[]int{5, 12000, 5}, []int{5, 12005, 12010}},
		{[]int{12000}, []int{12000}},
	}
	for _, c := range cases {
		var docs []*tailDoc
		for seq, n := range c.seqs {
			for range n {
				docs = append(docs, &tailDoc{document: &document{seq: uint64(seq + 1)}})
			}
		}
		var got []int
		for end := 0; len(got) == 0 || end < len(docs); {
			end = batchEnd(docs, end)
			got = append(got, end)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%v: got %v, want %v", c.seqs, got, c.want)
		}
	}
}

func docs(list ...Doc) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		for _, d := range list {
			if !yield(d, nil) {
				return
			}
		}
	}
}

func TestLoadReplacesEverything(t *testing.T) {
	for _, dir := range []string{"", filepath.Join(t.TempDir(), "index")} {
		ix := open(t, manual(dir))
		ix.Publish(1, []Doc{doc(1, "graph"), doc(2, "graph")})
		must(t, ix.Flush())
		ix.Publish(2, []Doc{doc(3, "graph")})
		must(t, ix.Load(7, docs(doc(5, "graph"), doc(6, ""), doc(7, "graph lake"))))
		if got := search(t, ix, "graph"); !slices.Equal(got, []value.NodeID{5, 7}) {
			t.Errorf("dir %q: found %v", dir, got)
		}
		ix.Publish(8, []Doc{doc(7, "lake"), doc(8, "graph")})
		if got := search(t, ix, "graph"); !slices.Equal(got, []value.NodeID{5, 8}) {
			t.Errorf("dir %q: found %v after a change", dir, got)
		}
		if dir == "" {
			continue
		}
		must(t, ix.Close())
		again := open(t, manual(dir))
		if got := search(t, again, "graph"); again.AppliedSeq() != 8 || !slices.Equal(got, []value.NodeID{5, 8}) {
			t.Errorf("after reopening at %d: found %v", again.AppliedSeq(), got)
		}
	}
}

func TestFailedLoadChangesNothing(t *testing.T) {
	ix := open(t, manual(filepath.Join(t.TempDir(), "index")))
	ix.Publish(1, []Doc{doc(1, "graph")})
	broken := errors.New("broken")
	err := ix.Load(7, func(yield func(Doc, error) bool) { _ = yield(doc(5, "graph"), nil) && yield(Doc{}, broken) })
	if !errors.Is(err, broken) {
		t.Fatalf("got %v", err)
	}
	if got := search(t, ix, "graph"); !slices.Equal(got, []value.NodeID{1}) {
		t.Errorf("found %v", got)
	}
	must(t, ix.Flush())
	if ix.AppliedSeq() != 1 {
		t.Errorf("applied %d", ix.AppliedSeq())
	}
}
