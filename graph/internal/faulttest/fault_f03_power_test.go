package faulttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"engram/graph"
	"engram/graph/internal/faulttest/powerloss"
)

// record runs a child under strace over an existing directory and returns what
// it did to it.
func record(t *testing.T, root string, inject []string, name string, args ...string) *powerloss.Log {
	t.Helper()
	need(t, "strace")
	r, err := powerloss.Record(root)
	if err != nil {
		t.Fatal(err)
	}
	trace := filepath.Join(t.TempDir(), "trace")
	line := powerloss.Strace(trace, inject, append([]string{os.Args[0]}, args...)...)
	out, err := command(name, line...).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%.2000s", name, err, out)
	}
	log, err := r.Read(trace)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// powerCuts verifies n states of the log and returns how many are bad and the
// first of them, with evidence kept unless e is nil. data is the directory's name
// below the root.
func powerCuts(t *testing.T, e *evidence, log *powerloss.Log, data string, n int, seed uint64, floor int) (bad int, first string) {
	t.Helper()
	return states(t, e, data, seed, floor, func(yield func(*powerloss.State) bool) { log.States(n, seed, yield) })
}

// states verifies each state.
func states(t *testing.T, e *evidence, data string, seed uint64, floor int, each func(func(*powerloss.State) bool)) (bad int, first string) {
	t.Helper()
	v := &verifier{}
	defer v.stop()
	root := filepath.Join(fastDir(t), "state")
	each(func(s *powerloss.State) bool {
		if err := os.Mkdir(root, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := s.Store(root); err != nil {
			t.Fatal(err)
		}
		acked, begun := max(s.Acked, floor), max(s.Begun, floor)
		if _, err := v.verify(filepath.Join(root, data), seed, acked, begun); err != nil {
			bad++
			if e == nil && first == "" {
				first = fmt.Sprintf("%v: %v", s, err)
			}
			if e != nil && bad <= keptImages {
				first += e.bad(v, s, seed, acked, begun, err) + "\n"
			}
		}
		if err := os.RemoveAll(root); err != nil {
			t.Fatal(err)
		}
		return true
	})
	return bad, first
}

// TestFaultF03PowerLoss cuts the power while a database is created, written,
// swept, closed, opened and written again.
func TestFaultF03PowerLoss(t *testing.T) {
	const seed = 3
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	log := record(t, root, nil, "write", dir, fmt.Sprint(seed), "60")
	t.Logf("seed %d: creating and writing: %d events, %d syncs", seed, log.Events(), log.Syncs())
	if bad, first := powerCuts(t, &evidence{t: t, data: "data"}, log, "data", sample(60, 400, 12_000), seed, -1); bad > 0 {
		t.Errorf("creating and writing: %d bad states, first: %s", bad, first)
	}
	log = record(t, root, nil, "write", dir, fmt.Sprint(seed), "120")
	t.Logf("opening and writing: %d events, %d syncs", log.Events(), log.Syncs())
	if bad, first := powerCuts(t, &evidence{t: t, data: "data"}, log, "data", sample(40, 300, 8_000), seed, 60); bad > 0 {
		t.Errorf("opening and writing: %d bad states, first: %s", bad, first)
	}
}

// TestFaultF03LyingDiskIsCaught shows that the simulator bites: a process whose
// syncs do nothing loses acknowledged transactions.
func TestFaultF03LyingDiskIsCaught(t *testing.T) {
	const seed = 3
	root := t.TempDir()
	log := record(t, root, []string{"fsync,fdatasync:retval=0"}, "write", filepath.Join(root, "data"), fmt.Sprint(seed), "20")
	if log.Syncs() > 0 {
		t.Fatalf("%d syncs took place", log.Syncs())
	}
	n := sample(30, 60, 1000)
	if bad, first := powerCuts(t, nil, log, "data", n, seed, -1); bad < n/2 {
		t.Errorf("only %d of %d states of a disk that lies are bad: %s", bad, n, first)
	}
}

// TestFaultF03PowerLossInBackup cuts the power while backups are made and older
// ones removed: what has its name is whole, and of what was acknowledged the newest
// is there.
func TestFaultF03PowerLossInBackup(t *testing.T) {
	const seed = 33
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	populate(t, dir, seed, 20)
	log := record(t, root, nil, "backup", dir, fmt.Sprint(seed), "60", filepath.Join(root, "backups"))
	t.Logf("%d events, %d syncs", log.Events(), log.Syncs())
	v, e := &verifier{}, &evidence{t: t, data: "data"}
	defer v.stop()
	n := sample(10, 80, 2000)
	log.States(n, seed, func(s *powerloss.State) bool {
		top := filepath.Join(fastDir(t), "state")
		if err := errors.Join(os.Mkdir(top, 0o700), s.Store(top)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(top) }()
		if _, err := v.verify(filepath.Join(top, "data"), seed, max(s.Acked, 20), 60); err != nil {
			t.Error(e.bad(v, s, seed, max(s.Acked, 20), 60, err))
		}
		newest, err := backupsIn(v, top, seed)
		if err != nil {
			t.Error(e.bad(v, s, seed, max(s.Acked, 20), 60, err))
		}
		if newest < s.Acked {
			t.Errorf("%v: the newest backup is of transaction %d", s, newest)
		}
		return !t.Failed()
	})
}

// backupsIn restores every backup below top and returns the newest transaction
// found in one, -1 if there is none.
func backupsIn(v *verifier, top string, seed uint64) (newest int, err error) {
	newest = -1
	folders, err := filepath.Glob(filepath.Join(top, "backups", graphName+"-*"))
	if err != nil {
		return 0, err
	}
	for i, folder := range folders {
		dir := filepath.Join(top, fmt.Sprint("restored", i))
		if err := graph.CreateData(dir); err != nil {
			return 0, err
		}
		data, err := graph.OpenData(dir, graph.DataOptions{})
		if err != nil {
			return 0, err
		}
		_, err = data.Restore(context.Background(), folder, graph.RestoreOptions{})
		if err := errors.Join(err, data.Close()); err != nil {
			return 0, fmt.Errorf("restoring %s: %w", filepath.Base(folder), err)
		}
		n, err := v.verify(dir, seed, 0, 60)
		if err != nil {
			return 0, fmt.Errorf("%s, restored: %w", filepath.Base(folder), err)
		}
		newest = max(newest, n)
	}
	return newest, nil
}

// TestFaultF03PowerLossInRestore cuts the power while a backup takes the place of
// a graph: there is the old graph or the backup's, whole.
func TestFaultF03PowerLossInRestore(t *testing.T) {
	const seed = 34
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	populate(t, dir, seed, 10)
	run(t, job("backup", dir, fmt.Sprint(seed), "20", filepath.Join(root, "backups")))
	populate(t, dir, seed, 40)
	folders, err := filepath.Glob(filepath.Join(root, "backups", graphName+"-*"))
	if err != nil || len(folders) != 1 {
		t.Fatal(folders, err)
	}
	log := record(t, root, nil, "restore", dir, folders[0])
	t.Logf("%d events, %d syncs", log.Events(), log.Syncs())
	found := map[int]int{}
	v, e := &verifier{}, &evidence{t: t, data: "data"}
	defer v.stop()
	log.States(sample(20, 150, 2000), seed, func(s *powerloss.State) bool {
		top := filepath.Join(fastDir(t), "state")
		if err := errors.Join(os.Mkdir(top, 0o700), s.Store(top)); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(top) }()
		n, err := v.verify(filepath.Join(top, "data"), seed, 20, 40)
		found[n]++
		if err != nil {
			t.Error(e.bad(v, s, seed, 20, 40, err))
		} else if n != 20 && (n != 40 || s.Acked == 1) {
			t.Errorf("%v: at transaction %d, %v", s, n, err)
		}
		return !t.Failed()
	})
	t.Logf("transaction found: how often: %v", found)
}

// TestFaultF03PowerLossInCompact cuts the power while a graph's file is written
// anew: the old one or the new one is there, whole, and opens.
func TestFaultF03PowerLossInCompact(t *testing.T) {
	const seed = 35
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	populate(t, dir, seed, 60)
	log := record(t, root, nil, "compact", dir)
	t.Logf("%d events, %d syncs", log.Events(), log.Syncs())
	if log.Syncs() < 4 {
		t.Errorf("%d syncs; want those of the new file, its name, and the side file", log.Syncs())
	}
	e := &evidence{t: t, data: "data"}
	count := func(each func(func(*powerloss.State) bool)) {
		t.Helper()
		bad, first := states(t, e, "data", seed, 60, func(yield func(*powerloss.State) bool) {
			each(func(s *powerloss.State) bool {
				s.Acked, s.Begun = -1, -1 // what it acknowledges is no transaction
				return yield(s)
			})
		})
		if bad > 0 {
			t.Errorf("%d bad states, first: %s", bad, first)
		}
	}
	n := sample(20, 150, 2000)
	count(func(yield func(*powerloss.State) bool) { log.States(n, seed, yield) })
	count(func(yield func(*powerloss.State) bool) { log.Kills(min(n, log.Events()), yield) })
}
