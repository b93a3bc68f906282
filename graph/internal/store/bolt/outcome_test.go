package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	berrors "go.etcd.io/bbolt/errors"

	"engram/graph/internal/store"
)

// TestOutcomeOfAnError: only no room before the first sync is failed.
func TestOutcomeOfAnError(t *testing.T) {
	path, _ := sample(t)
	_, m := newestMeta(t, read(t, path))
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	write := func(errno syscall.Errno) error { return &fs.PathError{Op: "write", Path: path, Err: errno} }
	cases := []struct {
		name   string
		err    error
		before uint64
		want   store.Outcome
	}{
		{"size limit", berrors.ErrMaxSizeReached, m.txid, store.Failed},
		{"no room to grow", errors.New("file resize error: file too large"), m.txid, store.Failed},
		{"no room to write", write(syscall.ENOSPC), m.txid, store.Failed},
		{"limit of the process", write(syscall.EFBIG), m.txid, store.Failed},
		{"quota", write(syscall.EDQUOT), m.txid, store.Failed},
		{"no room, but the meta page is written", write(syscall.ENOSPC), m.txid - 1, store.Unknown},
		{"bad disk at a write", write(syscall.EIO), m.txid, store.Unknown},
		{"bad disk at a sync", syscall.EIO, m.txid, store.Unknown},
		{"no room at a sync", syscall.ENOSPC, m.txid, store.Unknown},
		{"sync of a grown file", errors.New("file sync error: no space left on device"), m.txid, store.Unknown},
		{"anything else", errors.New("surprise"), m.txid, store.Unknown},
	}
	for _, c := range cases {
		got, err := classify(c.err, f, c.before)
		if got != c.want || err == nil || (got == store.Failed) != errors.Is(err, store.ErrFull) {
			t.Errorf("%s: %v, %v; want %v", c.name, got, err, c.want)
		}
	}
}

// fillUp applies batches of random values until one fails and returns that failure
// with the seq reached.
func fillUp(d *Driver) (seq store.Seq, outcome store.Outcome, err error) {
	random := rand.New(rand.NewPCG(1, 1))
	for {
		var puts []store.Put
		for i := range 40 {
			puts = append(puts, store.Put{Space: store.Nodes, Key: fmt.Appendf(nil, "%06d-%03d", seq, i), Value: fmt.Appendf(nil, "%02000x", random.Uint64())})
		}
		outcome, err = d.Apply(seq, []store.Batch{{Seq: seq + 1, Puts: puts}})
		if outcome != store.Committed {
			return seq, outcome, err
		}
		seq++
	}
}

// usable tells what is wrong with a store that an Apply failed on at seq.
func usable(d *Driver, path string, seq store.Seq) error {
	r, err := d.Snapshot()
	if err != nil {
		return err
	}
	n := 0
	err = errors.Join(r.Scan(store.Nodes, nil, nil, func(_, _ []byte) bool { n++; return true }), r.Close())
	if err != nil || r.Seq() != seq || n != int(seq)*40 {
		return fmt.Errorf("it shows seq %d with %d keys, %w; want %d with %d", r.Seq(), n, err, seq, seq*40)
	}
	var problems []string
	if err := d.Check(func(p string) { problems = append(problems, p) }); err != nil || len(problems) > 0 {
		return fmt.Errorf("check: %v, %q", err, problems)
	}
	// Deleting makes pages free, so that small commits fit again.
	var puts []store.Put
	for i := range 40 {
		puts = append(puts, store.Put{Space: store.Nodes, Key: fmt.Appendf(nil, "%06d-%03d", 0, i)})
	}
	for range 3 {
		if outcome, err := d.Apply(seq, []store.Batch{{Seq: seq + 1, Puts: puts}}); outcome != store.Committed {
			return fmt.Errorf("a small commit afterwards: %v, %v", outcome, err)
		}
		seq, puts = seq+1, nil
	}
	if err := d.Close(); err != nil {
		return err
	}
	info, err := Examine(path, seq, Roots{})
	if err != nil || info.Seq != seq {
		return fmt.Errorf("reopened: %+v, %v; want seq %d", info, err, seq)
	}
	return nil
}

func TestTheSizeLimitFailsAndTheStoreStaysUsable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	if err := Create(path, nil); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path)
	reader, err := d.Snapshot() // must not stop the writer, however the file grows
	if err != nil {
		t.Fatal(err)
	}
	seq, outcome, err := fillUp(d)
	if outcome != store.Failed || !errors.Is(err, store.ErrFull) || seq < 100 {
		t.Fatalf("filled up at seq %d: %v, %v; want failed, no room", seq, outcome, err)
	}
	if size := d.Stats().FileBytes; size > MinMaxSize {
		t.Errorf("the file has %d bytes; the limit is %d", size, MinMaxSize)
	}
	if err := reader.Close(); err != nil {
		t.Error(err)
	}
	if err := usable(d, path, seq); err != nil {
		t.Error(err)
	}
}

// The tests below need a process, a mount or a limit of their own: TestMain runs
// them in a child.
const childEnv = "ENGRAM_TEST_FULL"

// fullDisk is the child: it fills up the store below dir until the system refuses.
func fullDisk(kind, dir string) int {
	var err error
	switch kind {
	case "tmpfs":
		err = syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=6m")
	case "limit":
		limit := syscall.Rlimit{Cur: 10 << 20, Max: 10 << 20}
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
	}
	if err != nil {
		fmt.Println("cannot:", err)
		return 0
	}
	path := filepath.Join(dir, "graph.db")
	if err := Create(path, nil); err != nil {
		fmt.Println(err)
		return 1
	}
	d, err := Open(path, small)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	seq, outcome, err := fillUp(d)
	if outcome != store.Failed || !errors.Is(err, store.ErrFull) {
		fmt.Printf("filled up at seq %d: %v, %v; want failed, no room\n", seq, outcome, err)
		return 1
	}
	if err := usable(d, path, seq); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Printf("ok, full at seq %d: %v\n", seq, err)
	return 0
}

func TestAFullDiskFailsAndTheStoreStaysUsable(t *testing.T) {
	for _, kind := range []string{"tmpfs", "limit"} {
		t.Run(kind, func(t *testing.T) {
			cmd := child(t, childEnv+"="+kind+":"+t.TempDir())
			out, err := cmd.Output()
			if strings.HasPrefix(string(out), "cannot") || errors.Is(err, syscall.EPERM) {
				t.Skipf("no mount namespace here, so a full disk is not tested: %v %s", err, out)
			}
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			t.Logf("%s", out)
		})
	}
}

// TestALongListOfFreePagesIsLeftOut: after a large deletion commits stay small, and
// opening finds the free pages by a scan, or in the file after Close.
func TestALongListOfFreePagesIsLeftOut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "graph.db")
	var names []store.Put
	for i := range 300 {
		names = append(names, store.Put{Space: store.Names, Key: fmt.Appendf(nil, "name %04d", i), Value: []byte("x")})
	}
	if err := Create(path, names); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path)
	var puts, deletions []store.Put
	for i := range 3000 {
		key := fmt.Appendf(nil, "%05d", i)
		puts = append(puts, store.Put{Space: store.Overflow, Key: key, Value: make([]byte, 3000)})
		deletions = append(deletions, store.Put{Space: store.Overflow, Key: key})
	}
	apply := func(seq store.Seq, puts ...store.Put) (pages uint64) {
		t.Helper()
		before := d.Stats().PagesWritten
		if outcome, err := d.Apply(seq-1, []store.Batch{{Seq: seq, Puts: puts}}); outcome != store.Committed {
			t.Fatalf("Apply: %v, %v", outcome, err)
		}
		return d.Stats().PagesWritten - before
	}
	one := store.Put{Space: store.Nodes, Key: []byte("a"), Value: []byte("1")}
	apply(1, one)
	usual := apply(2, one)
	apply(3, puts...)
	apply(4, deletions...)
	apply(5, one)
	if after := apply(6, one); after > usual {
		t.Errorf("a commit writes %d pages after a large deletion, %d before", after, usual)
	}
	if s := d.Stats(); s.FreePages < 2500 {
		t.Errorf("%d pages are free; want those of the deletion", s.FreePages)
	}
	crashed := read(t, path)
	if in, err := inspect(path); err != nil || in.newest.freelist != noFreelist {
		t.Errorf("the list of free pages is in the file: %+v, %v", in, err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if in, err := inspect(path); err != nil || in.newest.freelist == noFreelist {
		t.Errorf("Close left the list of free pages out: %+v, %v", in, err)
	}
	d = mustOpen(t, path)
	if s := d.Stats(); s.FreePages < 2500 {
		t.Errorf("%d pages are free after reopening; want those of the deletion", s.FreePages)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	overwrite(t, path, crashed)
	d = mustOpen(t, path)
	if s := d.Stats(); s.FreePages < 2500 || s.UsedBytes < int64(s.FreePages*s.PageBytes) {
		t.Errorf("after a crash %+v; want the free pages found", s)
	}
	used := d.Stats().UsedBytes
	apply(7, puts[:2000]...)
	if now := d.Stats().UsedBytes; now > used {
		t.Errorf("the file grew from %d to %d bytes instead of using free pages", used, now)
	}
	if err := d.Check(func(p string) { t.Errorf("Check: %s", p) }); err != nil {
		t.Error(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}

	_, m := newestMeta(t, crashed)
	page(crashed, findPage(t, crashed, m, leafPage))[0] ^= 1 // it calls itself by another number
	overwrite(t, path, crashed)
	if _, err := Open(path, small); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("a damaged file that must be scanned: %v; want damaged, instead of a crash in bbolt's scan", err)
	}
}

// TestAFileThatWasMovedIsNotWritten: a commit notices that nobody would find it
// again, and goes on when the file is back.
func TestAFileThatWasMovedIsNotWritten(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "ns")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "graph.db")
	if err := Create(path, nil); err != nil {
		t.Fatal(err)
	}
	t.Chdir(top)
	d, err := Open(filepath.Join("ns", "graph.db"), small)
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir) // a relative path still names the same file
	seq := store.Seq(0)
	apply := func() (store.Outcome, error) {
		outcome, err := d.Apply(seq, []store.Batch{{Seq: seq + 1, Puts: []store.Put{{Space: store.Nodes, Key: []byte("a"), Value: []byte{byte(seq)}}}}})
		if outcome == store.Committed {
			seq++
		}
		return outcome, err
	}
	if outcome, err := apply(); outcome != store.Committed {
		t.Fatalf("before: %v, %v", outcome, err)
	}
	away := filepath.Join(top, "away")
	for name, step := range map[string]struct{ move, back func() error }{
		"the directory is gone": {
			func() error { return os.Rename(dir, away) },
			func() error { return os.Rename(away, dir) },
		},
		"the file is another one": {
			func() error { return errors.Join(os.Rename(path, away), Create(path, nil)) },
			func() error { return os.Rename(away, path) },
		},
	} {
		if err := step.move(); err != nil {
			t.Fatal(err)
		}
		outcome, err := apply()
		if outcome != store.Failed || !errors.Is(err, store.ErrMoved) || !strings.Contains(fmt.Sprint(err), "backup") {
			t.Errorf("%s: %v, %v; want it refused, saying what to do", name, outcome, err)
		}
		if err := step.back(); err != nil {
			t.Fatal(err)
		}
		if outcome, err := apply(); outcome != store.Committed {
			t.Errorf("%s, and back: %v, %v", name, outcome, err)
		}
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
