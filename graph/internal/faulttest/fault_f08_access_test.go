package faulttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
)

// childReadOnly finds DIR, at transaction 20 of seed 8, on a read-only mount, or
// without the right to write when how is "rights".
func childReadOnly(args []string) error {
	dir := args[0]
	if args[1] == "mount" {
		if err := syscall.Mount(dir, dir, "", syscall.MS_BIND, ""); err != nil {
			return err
		}
		if err := syscall.Mount(dir, dir, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, ""); err != nil {
			return err
		}
	} else if os.Geteuid() == 0 {
		if err := syscall.Setuid(65534); err != nil { // root may write everywhere
			return err
		}
	}
	_, err := open(dir, false, workload.Options())
	fmt.Println("writing:", graph.CodeOf(err), err)
	if graph.CodeOf(err) != graph.ReadOnly {
		return errors.New("it is not refused as read-only")
	}
	h, err := openWith(dir, false, graph.DataOptions{ReadOnly: true}, workload.Options())
	if err != nil {
		return fmt.Errorf("opening for reading: %w", err)
	}
	m := workload.New(8)
	for m.Done() < 20 {
		m.Next()
	}
	if _, err := h.Begin(context.Background()); graph.CodeOf(err) != graph.ReadOnly {
		return fmt.Errorf("a write is answered with: %w", err)
	}
	return errors.Join(compare(h.DB, m), h.close())
}

// TestFaultF08ReadOnly opens a database on a read-only mount, and one whose files
// may not be written: refused clearly for writing, served for reading, unchanged.
func TestFaultF08ReadOnly(t *testing.T) {
	t.Run("mount", func(t *testing.T) {
		needMounts(t)
		dir := filepath.Join(t.TempDir(), "data")
		populate(t, dir, 8, 20)
		cmd := job("readonly", dir, "mount")
		ownMounts(cmd)
		t.Log(run(t, cmd))
	})
	t.Run("rights", func(t *testing.T) {
		top, err := os.MkdirTemp("", "engram-fault-")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(top) }()
		dir := filepath.Join(top, "data")
		populate(t, dir, 8, 20)
		chmod := func(files, dirs os.FileMode) {
			_ = filepath.WalkDir(top, func(path string, e os.DirEntry, err error) error {
				if err != nil {
					return err
				}
				if e.IsDir() {
					return os.Chmod(path, dirs)
				}
				return os.Chmod(path, files)
			})
		}
		chmod(0o444, 0o755)
		if os.Geteuid() != 0 {
			chmod(0o444, 0o555)
		}
		defer chmod(0o600, 0o700)
		t.Log(run(t, job("readonly", dir, "rights")))
	})
}

// TestFaultF09SecondProcess: whoever comes second, on whatever way, is told who
// has the database.
func TestFaultF09SecondProcess(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "data")
	populate(t, dir, 9, 5)
	link := filepath.Join(top, "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	holder := hold(t, dir)
	pid := fmt.Sprintf("process %d", holder.cmd.Process.Pid)
	for _, path := range []string{dir, link} {
		_, err := open(path, false, nil)
		wantCode(t, err, graph.Busy, pid)
		_, err = openWith(path, false, graph.DataOptions{ReadOnly: true}, nil)
		wantCode(t, err, graph.Busy, pid)
	}
	t.Run("hard link", func(t *testing.T) {
		other := filepath.Join(top, "other")
		populate(t, other, 10, 1)
		if err := os.Remove(file(other, "graph.db")); err != nil {
			t.Fatal(err)
		}
		if err := os.Link(file(dir, "graph.db"), file(other, "graph.db")); err != nil {
			t.Fatal(err)
		}
		_, err := open(other, false, nil)
		wantCode(t, err, graph.Busy)
	})
	t.Run("mount", func(t *testing.T) {
		needMounts(t)
		cmd := job("elsewhere", dir, t.TempDir())
		ownMounts(cmd)
		t.Log(run(t, cmd))
	})
	holder.release()
	wantState(t, dir, 9, 5, 5)
}

// childElsewhere opens DIR, which another process has, on a second path AT.
func childElsewhere(args []string) error {
	if err := syscall.Mount(args[0], args[1], "", syscall.MS_BIND, ""); err != nil {
		return err
	}
	_, err := open(args[1], false, nil)
	fmt.Println(graph.CodeOf(err), err)
	if graph.CodeOf(err) != graph.Busy {
		return errors.New("it is not refused as busy")
	}
	return nil
}

// TestFaultF10SameProcess opens a database twice in one process.
func TestFaultF10SameProcess(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	h := mustOpen(t, dir, true, workload.Options())
	_, err := open(dir, false, nil)
	wantCode(t, err, graph.Busy, "this process")
	_, err = h.data.Open(context.Background(), graphName, nil)
	wantCode(t, err, graph.Busy, "this process")
	if err := workload.New(10).Step(context.Background(), h.DB); err != nil {
		t.Errorf("the first one is harmed: %v", err)
	}
}
