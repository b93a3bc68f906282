package faulttest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
)

// childOpen opens DIR, searches once, so that the text index is complete, and
// closes it.
func childOpen(args []string) error {
	h, err := open(args[0], false, workload.Options())
	if err != nil {
		return err
	}
	_, err = scores(h.DB)
	return errors.Join(err, h.close())
}

// TestFaultF24KillWhileRebuilding kills the opening of a database whose text index
// is gone, again and again in one directory: the rebuilding ends at last, and
// nothing piles up beside it.
func TestFaultF24KillWhileRebuilding(t *testing.T) {
	need(t, "strace")
	const seed, n = 24, 60
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, seed, n)
	if err := os.RemoveAll(file(dir, "text")); err != nil {
		t.Fatal(err)
	}
	killed := 0
	for round := range 20 {
		call := []string{"pwrite64", "fdatasync", "openat", "renameat", "write", "mkdirat", "fsync"}[round%7]
		nth := 1 + round/7*3
		if call == "openat" {
			nth += 15 + round
		}
		cmd := command("open", "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace="+call,
			"-e", fmt.Sprintf("inject=%s:signal=SIGKILL:when=%d", call, nth), os.Args[0], dir)
		if err := cmd.Run(); err != nil {
			killed++
		} else if err := os.RemoveAll(file(dir, "text")); err != nil { // it went through: again
			t.Fatal(err)
		}
		entries, err := os.ReadDir(filepath.Dir(file(dir, "x")))
		if err != nil {
			t.Fatal(err)
		}
		if len(entries) > 8 {
			t.Errorf("after %d kills the directory holds %v", killed, entries)
		}
	}
	t.Logf("%d of 20 rounds killed", killed)
	if killed < 10 {
		t.Errorf("only %d of 20 rounds were killed", killed)
	}
	wantFresh(t, dir, seed, n)
}

// TestFaultF26NewerFormat meets files of a later version: they are refused and
// left as they are.
func TestFaultF26NewerFormat(t *testing.T) {
	for name, change := range map[string]func(dir string) error{
		"directory": func(dir string) error {
			b, err := os.ReadFile(filepath.Join(dir, "catalog"))
			if err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "catalog"), []byte(strings.Replace(string(b), "layout 1", "layout 99", 1)), 0o600)
		},
		"store": func(dir string) error {
			db, err := bbolt.Open(file(dir, "graph.db"), 0o600, nil)
			if err != nil {
				return err
			}
			changed := false
			err = db.Update(func(tx *bbolt.Tx) error {
				return tx.ForEach(func(_ []byte, b *bbolt.Bucket) error {
					if b.Get([]byte("format")) == nil {
						return nil
					}
					changed = true
					return b.Put([]byte("format"), []byte{0, 0, 0, 99})
				})
			})
			if err == nil && !changed {
				err = errors.New("no format number found")
			}
			return errors.Join(err, db.Close())
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			populate(t, dir, 26, 3)
			if err := change(dir); err != nil {
				t.Fatal(err)
			}
			before := hash(t, file(dir, "graph.db"))
			for _, readOnly := range []bool{false, true} {
				_, err := openWith(dir, false, graph.DataOptions{ReadOnly: readOnly}, nil)
				wantCode(t, err, graph.NewerFormat, "99")
			}
			if hash(t, file(dir, "graph.db")) != before {
				t.Error("the file changed")
			}
		})
	}
}

// childSlow writes to DIR, whose disk takes its time with each sync: reads go on
// meanwhile, and a caller who waits no longer is told that it is not known.
func childSlow(args []string) error {
	ctx := context.Background()
	h, err := open(args[0], false, workload.Options())
	if err != nil {
		return err
	}
	m, err := resume(h, uint64(number(args[1])))
	if err != nil {
		return err
	}
	before, err := resume(h, uint64(number(args[1])))
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	ops := m.Next()
	go func() { done <- workload.Run(ctx, h.DB, ops) }()
	reads := 0
	for waiting := true; waiting; {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			waiting = false
		default:
			if err := compare(h.DB, before); err != nil && h.Seq() == uint64(before.Done()) {
				return fmt.Errorf("reading meanwhile: %w", err)
			}
			reads++
		}
	}
	fmt.Println("reads while one commit waited:", reads)
	if reads < 5 {
		return errors.New("readers wait for the disk")
	}
	ops = m.Next()
	// Whoever gives up before it is their turn has written nothing, and tries again.
	for tries := 0; tries == 0 || graph.CodeOf(err) == graph.Canceled && tries < 500; tries++ {
		short, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
		err = workload.Run(short, h.DB, ops)
		cancel()
	}
	if code := graph.CodeOf(err); code != graph.OutcomeUnknown {
		return fmt.Errorf("a caller who waits no longer is told %s: %w", code, err)
	}
	fmt.Println("who waits no longer is told:", err)
	if err := m.Step(ctx, h.DB); err != nil { // comes after it
		return err
	}
	return errors.Join(compare(h.DB, m), h.close())
}

// TestFaultF27SlowDisk delays each sync by half a second.
func TestFaultF27SlowDisk(t *testing.T) {
	need(t, "strace")
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, 27, 20)
	cmd := command("slow", "strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=fdatasync", "-e", "inject=fdatasync:delay_enter=500000",
		os.Args[0], dir, "27")
	t.Log(run(t, cmd))
	wantState(t, dir, 27, 23, 23)
}

// childFiles opens DIR with ever more file descriptors allowed: it is refused with
// a reason, or works, and a refusal leaves nothing half open.
func childFiles(args []string) error {
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
		return err
	}
	used, err := openFiles()
	if err != nil {
		return err
	}
	refusals := 0
	for limit := used; limit < used+24; limit++ {
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Cur: uint64(limit), Max: old.Max}); err != nil {
			return err
		}
		h, err := open(args[0], false, workload.Options())
		if err == nil {
			_, err = scores(h.DB)
			_ = h.close()
		}
		if rerr := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old); rerr != nil {
			return rerr
		}
		if err != nil {
			refusals++
			if !strings.Contains(err.Error(), "too many open files") {
				return fmt.Errorf("with %d files: %w", limit, err)
			}
		}
		if now, err := openFiles(); err != nil || now > used {
			return fmt.Errorf("with %d files: %d stay open, %d were before (%w)", limit, now, used, err)
		}
	}
	fmt.Println("refusals:", refusals)
	if refusals < 3 {
		return errors.New("the limit was never met")
	}
	h, err := open(args[0], false, workload.Options())
	if err != nil {
		return err
	}
	m, err := resume(h, 28)
	if err != nil {
		return err
	}
	return errors.Join(m.Step(context.Background(), h.DB), compare(h.DB, m), h.close())
}

// openFiles counts the descriptors in use, without one for counting.
func openFiles() (int, error) {
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0, err
	}
	defer func() { _ = d.Close() }()
	names, err := d.Readdirnames(-1)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	return len(names) - 1, nil
}

// TestFaultF28FewFiles runs out of file descriptors at each step of opening.
func TestFaultF28FewFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, 28, 20)
	t.Log(run(t, job("files", dir)))
	wantState(t, dir, 28, 21, 21)
}

// FuzzFaultF30DatabaseFile changes bytes of a database file: whatever they are,
// opening, reading and checking end with an answer.
func FuzzFaultF30DatabaseFile(f *testing.F) {
	f.Add([]byte{0, 0, 16, 1}, true)
	f.Add([]byte{0, 16, 16, 0xff, 0, 32, 10, 7}, false)
	top := f.TempDir()
	base := filepath.Join(top, "base")
	h, err := open(base, true, workload.Options())
	if err != nil {
		f.Fatal(err)
	}
	m := workload.New(30)
	for err == nil && m.Done() < 10 {
		err = m.Step(context.Background(), h.DB)
	}
	if err := errors.Join(err, h.close()); err != nil {
		f.Fatal(err)
	}
	good, err := os.ReadFile(file(base, "graph.db"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, changes []byte, readOnly bool) {
		dir := filepath.Join(t.TempDir(), "data")
		if err := sparseCopy(base, dir); err != nil {
			t.Fatal(err)
		}
		bad := append([]byte(nil), good...)
		for ; len(changes) >= 4; changes = changes[4:] {
			at := int(changes[0])<<16 | int(changes[1])<<8 | int(changes[2])
			bad[at%len(bad)] ^= changes[3]
		}
		if err := writeSparse(file(dir, "graph.db"), bad); err != nil {
			t.Fatal(err)
		}
		h, err := openWith(dir, false, graph.DataOptions{ReadOnly: readOnly}, workload.Options())
		if err != nil {
			if graph.CodeOf(err) == graph.Internal {
				t.Errorf("no reason: %v", err)
			}
			return
		}
		tx, err := h.Snapshot()
		if err == nil {
			_, _ = workload.Lines(tx)
			tx.Rollback()
		}
		_ = checked(h.DB)
		_ = h.close()
	})
}
