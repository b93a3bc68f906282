package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// sample makes a database of a few seqs with trees of more than one level.
func sample(t *testing.T) (path string, seq store.Seq) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "graph.db")
	if err := Create(path, []store.Put{{Space: store.Meta, Key: []byte("id"), Value: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path)
	for seq = range store.Seq(5) {
		var puts []store.Put
		for i := range 300 {
			key := fmt.Appendf(nil, "%d-%04d", seq%2, i)
			puts = append(puts,
				store.Put{Space: store.Nodes, Key: key, Value: fmt.Appendf(nil, "node %d of seq %d", i, seq)},
				store.Put{Space: store.Index, Key: key, Value: []byte{1}})
		}
		puts = append(puts, store.Put{Space: store.Overflow, Key: []byte("long"), Value: make([]byte, 20_000)})
		if outcome, err := d.Apply(seq, []store.Batch{{Seq: seq + 1, Puts: puts}}); outcome != store.Committed {
			t.Fatalf("Apply: %v, %v", outcome, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	return path, 5
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func overwrite(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func page(content []byte, n int) []byte { return content[n*4096 : (n+1)*4096] }

// newestMeta tells which of the two pages bbolt would use.
func newestMeta(t *testing.T, content []byte) (page int, m meta) {
	t.Helper()
	first, _, err := parseMeta(content)
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := parseMeta(content[4096:])
	if err != nil {
		t.Fatal(err)
	}
	if second.txid > first.txid {
		return 1, second
	}
	return 0, first
}

// TestRefusedFiles: each file is refused for its reason, with path and advice, and
// stays as it was.
func TestRefusedFiles(t *testing.T) {
	cases := []struct {
		name   string
		change func(t *testing.T, path string, content []byte)
		acked  store.Seq
		want   error
		says   string
	}{
		{"missing", func(t *testing.T, path string, _ []byte) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, 0, store.ErrMissing, "create it first"},
		{"empty", func(t *testing.T, path string, _ []byte) { overwrite(t, path, nil) }, 0, store.ErrEmpty, "backup"},
		{"one byte", func(t *testing.T, path string, c []byte) { overwrite(t, path, c[:1]) }, 0, store.ErrForeign, ""},
		{"text", func(t *testing.T, path string, _ []byte) { overwrite(t, path, []byte(strings.Repeat("hello ", 2000))) }, 0, store.ErrForeign, "check the path"},
		{"another program's", func(t *testing.T, path string, _ []byte) { overwrite(t, path, read(t, foreign(t))) }, 0, store.ErrForeign, "another program"},
		{"another program's without a list of free pages", func(t *testing.T, path string, _ []byte) {
			overwrite(t, path, read(t, foreign(t, func(db *bbolt.DB) { db.NoFreelistSync = true })))
		}, 0, store.ErrForeign, "another program"},
		{"a directory", func(t *testing.T, path string, _ []byte) {
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
		}, 0, store.ErrForeign, "regular"},
		{"newer", func(t *testing.T, path string, _ []byte) { setHeader(t, path, formatKey, []byte{0, 0, 0, 9}) }, 0, store.ErrNewer, "format is 9"},
		{"without a format", func(t *testing.T, path string, _ []byte) { setHeader(t, path, formatKey, nil) }, 0, store.ErrDamaged, "format"},
		{"without a seq", func(t *testing.T, path string, _ []byte) { setHeader(t, path, seqKey, []byte("x")) }, 0, store.ErrDamaged, "seq"},
		{"both meta pages damaged", func(t *testing.T, path string, c []byte) { c[40]++; c[4096+40]++; overwrite(t, path, c) }, 0, store.ErrDamaged, "both meta pages"},
		{"newest meta page damaged", func(t *testing.T, path string, c []byte) {
			n, _ := newestMeta(t, c)
			page(c, n)[40]++
			overwrite(t, path, c)
		}, 5, store.ErrLostCommits, "at seq 4, but seq 5 was acknowledged"},
		{"restored from an older copy", func(*testing.T, string, []byte) {}, 6, store.ErrLostCommits, "at seq 5, but seq 6"},
		{"cut at a page", func(t *testing.T, path string, c []byte) { overwrite(t, path, c[:8192]) }, 0, store.ErrTruncated, "8192 bytes"},
		{"cut to a half", func(t *testing.T, path string, c []byte) {
			_, m := newestMeta(t, c)
			overwrite(t, path, c[:int(m.pages)*4096/2])
		}, 0, store.ErrTruncated, "needs"},
		{"cut by a byte", func(t *testing.T, path string, c []byte) {
			_, m := newestMeta(t, c)
			overwrite(t, path, c[:int(m.pages)*4096-1])
		}, 0, store.ErrTruncated, "needs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path, _ := sample(t)
			c.change(t, path, read(t, path))
			before, _ := os.ReadFile(path) // not there in some cases
			for _, readOnly := range []bool{false, true} {
				_, err := Open(path, &Options{MaxSize: MinMaxSize, ReadOnly: readOnly, Acked: c.acked})
				var fe *store.FileError
				if !errors.Is(err, c.want) || !errors.As(err, &fe) || fe.Path != path || !strings.Contains(err.Error(), c.says) {
					t.Errorf("Open (read-only %v): %v; want %v saying %q", readOnly, err, c.want, c.says)
				}
			}
			if after, _ := os.ReadFile(path); string(after) != string(before) {
				t.Error("the refused file was changed")
			}
			entries, err := os.ReadDir(filepath.Dir(path))
			if err != nil || len(entries) > 1 {
				t.Errorf("files appeared beside the refused one: %v, %v", entries, err)
			}
		})
	}
}

// foreign makes a bbolt file that is not engram's.
func foreign(t *testing.T, options ...func(*bbolt.DB)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "foreign.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range options {
		o(db)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		_, err := tx.CreateBucket([]byte("things"))
		return err
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func setHeader(t *testing.T, path string, key, value []byte) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		if value == nil {
			return tx.Bucket(headerBucket).Delete(key)
		}
		return tx.Bucket(headerBucket).Put(key, value)
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}

// TestAnOlderMetaPageHeals: damage of the meta page that is not the newest loses
// nothing, is told, and is gone after the next commit.
func TestAnOlderMetaPageHeals(t *testing.T) {
	path, seq := sample(t)
	content := read(t, path)
	n, _ := newestMeta(t, content)
	page(content, 1-n)[40]++
	overwrite(t, path, content)
	info, err := Examine(path, seq, Roots{})
	if err != nil || info.Seq != seq || info.Damaged == "" {
		t.Fatalf("Examine = %+v, %v; want seq %d and the damage told", info, err, seq)
	}
	d := mustOpen(t, path)
	var problems []string
	if err := d.Check(func(p string) { problems = append(problems, p) }); err != nil || len(problems) != 1 {
		t.Errorf("Check reports %q, %v; want the meta page", problems, err)
	}
	if outcome, err := d.Apply(seq, []store.Batch{{Seq: seq + 1}}); outcome != store.Committed {
		t.Fatalf("Apply: %v, %v", outcome, err)
	}
	if err := d.Check(func(p string) { t.Errorf("after the next commit: %s", p) }); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

func TestASoundFileHasNoProblems(t *testing.T) {
	path, _ := sample(t)
	d := mustOpen(t, path)
	if err := d.Check(func(p string) { t.Errorf("Check: %s", p) }); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}

// TestDamagedPagesNeverCrash changes single bytes of pages in use, most of them
// where the structure is, and then opens, checks, reads and writes. Nothing may
// panic or fault, and a changed page header must be found.
func TestDamagedPagesNeverCrash(t *testing.T) {
	path, seq := sample(t)
	sound := read(t, path)
	_, m := newestMeta(t, sound)
	random := rand.New(rand.NewPCG(7, 7))
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for range rounds {
		content := append([]byte(nil), sound...)
		n := 2 + random.IntN(int(m.pages)-2)
		at := random.IntN(48)
		if random.IntN(4) == 0 {
			at = random.IntN(4096)
		}
		bit := byte(1) << random.IntN(8)
		page(content, n)[at] ^= bit
		overwrite(t, path, content)
		exercise(t, path, seq)
	}
}

// exercise uses a file that may be damaged in every way; errors are fine.
func exercise(t *testing.T, path string, seq store.Seq) {
	t.Helper()
	d, err := Open(path, &Options{MaxSize: MinMaxSize, Acked: seq})
	if err != nil {
		if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrForeign) && !errors.Is(err, store.ErrLostCommits) && !errors.Is(err, store.ErrNewer) {
			t.Errorf("Open: %v; want a sentinel that says what is wrong", err)
		}
		return
	}
	if err := d.Check(func(string) {}); err != nil {
		t.Errorf("Check: %v", err)
	}
	if r, err := d.Snapshot(); err == nil {
		for space := range store.SpaceCount {
			_ = r.Scan(space, nil, nil, func(k, v []byte) bool { return len(k)+len(v) >= 0 })
			_, _ = r.Get(space, []byte("1-0200"))
		}
		if err := r.Close(); err != nil {
			t.Errorf("closing a reader: %v", err)
		}
	}
	puts := []store.Put{{Space: store.Nodes, Key: []byte("1-0150x"), Value: []byte("new")}, {Space: store.Index, Key: []byte("0-0000")}}
	if outcome, err := d.Apply(seq, []store.Batch{{Seq: seq + 1, Puts: puts}}); (outcome == store.Committed) != (err == nil) {
		t.Errorf("Apply = %v, %v", outcome, err)
	}
	_ = d.Close()
}

// TestCheckFindsDamage plants one fault of each kind.
func TestCheckFindsDamage(t *testing.T) {
	path, _ := sample(t)
	sound := read(t, path)
	_, m := newestMeta(t, sound)
	root := int(m.root)
	leaf := findPage(t, sound, m, leafPage)
	branch := findPage(t, sound, m, branchPage)
	ne := binary.NativeEndian
	cases := map[string]struct {
		change func(c []byte)
		says   string
	}{
		"self number":        {func(c []byte) { page(c, leaf)[0] ^= 1 }, "calls itself"},
		"kind":               {func(c []byte) { ne.PutUint16(page(c, leaf)[8:], 0x40) }, "of kind"},
		"too long":           {func(c []byte) { ne.PutUint32(page(c, leaf)[12:], 1<<30) }, "pages long"},
		"child outside":      {func(c []byte) { ne.PutUint64(page(c, branch)[16+8:], 1<<40) }, "outside of the file"},
		"child twice":        {func(c []byte) { copy(page(c, branch)[16+8:16+16], page(c, branch)[32+8:32+16]) }, "used twice"},
		"element outside":    {func(c []byte) { ne.PutUint32(page(c, leaf)[16+4:], 1<<31) }, "outside of the page"},
		"too many elements":  {func(c []byte) { ne.PutUint16(page(c, leaf)[10:], 60_000) }, "outside of the page"},
		"root is a freelist": {func(c []byte) { ne.PutUint16(page(c, root)[8:], freelistPage) }, "instead of a tree page"},
		"free page in use": {func(c []byte) {
			list := page(c, int(m.freelist))
			ne.PutUint64(list[16:], uint64(leaf))
		}, "used and free"},
		"keys out of order": {func(c []byte) {
			p := page(c, leaf)
			key := 16 + int(ne.Uint32(p[16+4:]))
			p[key] = 0xff
		}, "out of order"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			content := append([]byte(nil), sound...)
			c.change(content)
			overwrite(t, path, content)
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			var problems []string
			walkFile(f, m, func(p string) { problems = append(problems, p) })
			if err := f.Close(); err != nil {
				t.Error(err)
			}
			if !strings.Contains(strings.Join(problems, "; "), c.says) {
				t.Errorf("reported %q; want %q", problems, c.says)
			}
			exercise(t, path, 5)
		})
	}
}

// findPage finds a page of the kind in use, of a tree of its own.
func findPage(t *testing.T, content []byte, m meta, kind uint16) int {
	t.Helper()
	w := &walker{f: strings.NewReader(string(content)), meta: m, use: make([]uint8, m.pages), report: func(p string) { t.Fatal(p) }}
	w.tree(m.root, 0, nil, nil)
	for id, use := range w.use {
		p := page(content, id)
		if use == used && id != int(m.root) && binary.NativeEndian.Uint16(p[8:]) == kind && binary.NativeEndian.Uint16(p[10:]) > 2 {
			return id
		}
	}
	t.Fatalf("no page of kind %#x", kind)
	return 0
}

// rechecksum fixes the meta page's checksum after a change.
func rechecksum(page []byte) {
	sum := fnv.New64a()
	_, _ = sum.Write(page[pageHeaderSize : pageHeaderSize+metaSize-8])
	binary.NativeEndian.PutUint64(page[pageHeaderSize+metaSize-8:], sum.Sum64())
}

// TestAMetaPageWithImpossibleNumbers: sums match, numbers do not.
func TestAMetaPageWithImpossibleNumbers(t *testing.T) {
	path, seq := sample(t)
	sound := read(t, path)
	n, _ := newestMeta(t, sound)
	for _, field := range []int{8, 16, 32, 40} { // page size, root, freelist, pages
		for _, value := range []uint64{0, 1, 3, 1 << 40, ^uint64(0)} {
			content := append([]byte(nil), sound...)
			p := page(content, n)
			if field == 8 {
				binary.NativeEndian.PutUint32(p[pageHeaderSize+field:], uint32(value))
			} else {
				binary.NativeEndian.PutUint64(p[pageHeaderSize+field:], value)
			}
			rechecksum(p)
			overwrite(t, path, content)
			if _, err := inspect(path); err == nil {
				exercise(t, path, seq)
			}
		}
	}
}
