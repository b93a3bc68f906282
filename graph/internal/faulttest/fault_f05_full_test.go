package faulttest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
	"engram/graph/value"
)

// maxIdle is how often a second a graph may read or write that has nothing it could
// do.
const maxIdle = 200

// idle tells whether the process tries too often in vain.
func idle(d time.Duration) error {
	calls, err := busy(d)
	fmt.Println(calls, "calls in", d)
	if limit := int(maxIdle * d.Seconds()); err == nil && calls > limit {
		err = fmt.Errorf("it read and wrote %d times in %v, want %d at most", calls, d, limit)
	}
	return err
}

// mountSmall mounts a file system of so many KiB, of which a filler takes a part.
func mountSmall(path string, kib, filler int) (remove func() error, err error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, err
	}
	if err := syscall.Mount("none", path, "tmpfs", 0, fmt.Sprintf("size=%dk", kib)); err != nil {
		return nil, fmt.Errorf("mounting: %w", err)
	}
	fill := filepath.Join(path, "filler")
	if err := os.WriteFile(fill, make([]byte, filler<<10), 0o600); err != nil {
		return nil, err
	}
	return func() error { return os.Remove(fill) }, nil
}

// bulk commits a transaction with n KiB that belong to no model node.
func bulk(db *graph.DB, kib int) error {
	tx, err := db.Begin(context.Background())
	if err != nil {
		return err
	}
	defer tx.Rollback()
	for range kib {
		if err := createLabelled(tx, "Bulk", value.Prop{Key: "pad", Value: value.String(strings.Repeat("x", 1024))}); err != nil {
			return err
		}
	}
	_, err = tx.Commit(context.Background())
	return err
}

func nodes(db *graph.DB) int64 {
	s, err := db.Stats()
	if err != nil {
		return -1
	}
	return s.Nodes
}

// childFullData fills the disk under a whole data directory: DIR is empty.
func childFullData(args []string) error {
	free, err := mountSmall(args[0], 24<<10, 8<<10)
	if err != nil {
		return err
	}
	h, err := open(filepath.Join(args[0], "data"), true, workload.Options())
	if err != nil {
		return err
	}
	for err == nil {
		err = bulk(h.DB, 512)
	}
	fmt.Println("full:", graph.CodeOf(err), err)
	if graph.CodeOf(err) != graph.Full || h.Poisoned() != nil {
		return fmt.Errorf("a full disk is answered with %s: %w; poisoned: %w", graph.CodeOf(err), err, h.Poisoned())
	}
	before := nodes(h.DB)
	for range 3 { // it stays full, and stays refused
		if err := bulk(h.DB, 4096); graph.CodeOf(err) != graph.Full {
			return fmt.Errorf("the next write is answered with: %w", err)
		}
	}
	if n := nodes(h.DB); n != before {
		return fmt.Errorf("%d nodes, after refused writes %d", before, n)
	}
	if err := idle(time.Second); err != nil {
		return fmt.Errorf("while the disk is full: %w", err)
	}
	if err := checked(h.DB); err != nil {
		return err
	}
	if err := free(); err != nil {
		return err
	}
	if err := bulk(h.DB, 2048); err != nil {
		return fmt.Errorf("with room again: %w", err)
	}
	if n := nodes(h.DB); n != before+2048 {
		return fmt.Errorf("%d nodes with room again, want %d", n, before+2048)
	}
	if err := h.close(); err != nil {
		return err
	}
	if h, err = open(filepath.Join(args[0], "data"), false, workload.Options()); err != nil {
		return err
	}
	if n := nodes(h.DB); n != before+2048 {
		return fmt.Errorf("%d nodes after opening again, want %d", n, before+2048)
	}
	return errors.Join(checked(h.DB), h.close())
}

// checked runs check and makes an error of problems.
func checked(db *graph.DB) error {
	report, err := db.Check(context.Background())
	if err == nil && !report.OK() {
		err = errors.New(report.String())
	}
	return err
}

// TestFaultF05FullDataDisk fills the disk: writes are refused clearly, reads go
// on, nothing spins, and with room again writing goes on without a restart.
func TestFaultF05FullDataDisk(t *testing.T) {
	needMounts(t)
	cmd := job("fulldata", t.TempDir())
	ownMounts(cmd)
	t.Log(run(t, cmd))
}

// childFullIndex fills the disk under the text index alone: DIR has a database at
// transaction 20 of seed 5.
func childFullIndex(args []string) error {
	ctx := context.Background()
	dir, textDir := args[0], file(args[0], "text")
	aside := filepath.Join(filepath.Dir(dir), "aside")
	if err := copyDir(textDir, aside); err != nil {
		return err
	}
	free, err := mountSmall(textDir, 3000, 2700)
	if err != nil {
		return err
	}
	if err := copyDir(aside, textDir); err != nil {
		return err
	}
	h, err := open(dir, false, workload.Options())
	if err != nil {
		return err
	}
	m, err := resume(h, 5)
	if err != nil {
		return err
	}
	behind := func() bool {
		s, err := h.Stats()
		return err == nil && s.Text.Err != nil
	}
	for n := 0; !behind(); n++ {
		if n > 1500 {
			return errors.New("the index never met the full disk")
		}
		if err := m.Step(ctx, h.DB); err != nil {
			return fmt.Errorf("a full index disk stops writing: %w", err)
		}
		if n%20 == 19 && !until(func() bool { // the index is written in a lull
			s, err := h.Stats()
			return err == nil && (s.Text.Published-s.Text.Applied < 20 || s.Text.Err != nil)
		}) {
			return errors.New("the index is neither written nor refused")
		}
	}
	s, _ := h.Stats()
	fmt.Println("full at transaction", m.Done(), "with", s.Text.Err)
	if err := idle(2 * time.Second); err != nil {
		return fmt.Errorf("while the index disk is full: %w", err)
	}
	for range 20 {
		if err := m.Step(ctx, h.DB); err != nil {
			return fmt.Errorf("writing while the index is behind: %w", err)
		}
	}
	if err := compare(h.DB, m); err != nil {
		return fmt.Errorf("searching while the index is behind: %w", err)
	}
	if err := free(); err != nil {
		return err
	}
	if !until(func() bool {
		s, err := h.Stats()
		return err == nil && s.Text.Err == nil && s.Text.Applied == s.Text.Published
	}) {
		s, _ := h.Stats()
		return fmt.Errorf("with room again the index does not catch up: %+v", s.Text)
	}
	if err := errors.Join(compare(h.DB, m), checked(h.DB), h.close()); err != nil {
		return err
	}
	if h, err = open(dir, false, workload.Options()); err != nil {
		return err
	}
	return errors.Join(compare(h.DB, m), h.close())
}

// TestFaultF05FullIndexDisk fills the disk of the text index: writing and
// searching go on, nothing spins, and with room again the index catches up.
func TestFaultF05FullIndexDisk(t *testing.T) {
	needMounts(t)
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, 5, 20)
	cmd := job("fullindex", dir)
	ownMounts(cmd)
	t.Log(run(t, cmd))
}

// childFileLimit meets a limit on the size of files in the middle of a large
// transaction in DIR, which has a database at transaction 10 of seed 6.
func childFileLimit(args []string) error {
	h, err := open(args[0], false, workload.Options())
	if err != nil {
		return err
	}
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	before := nodes(h.DB)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 20 << 20, Max: old.Max}); err != nil {
		return err
	}
	err = bulk(h.DB, 50<<10)
	fmt.Println(graph.CodeOf(err), err)
	if graph.CodeOf(err) != graph.Full || h.Poisoned() != nil || nodes(h.DB) != before {
		return fmt.Errorf("the limit is answered with %s: %w; poisoned: %w, %d nodes", graph.CodeOf(err), err, h.Poisoned(), nodes(h.DB))
	}
	if err := bulk(h.DB, 10); err != nil {
		return fmt.Errorf("a transaction that fits: %w", err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	if err := bulk(h.DB, 50<<10); err != nil {
		return fmt.Errorf("without the limit: %w", err)
	}
	if n := nodes(h.DB); n != before+10+50<<10 {
		return fmt.Errorf("%d nodes", n)
	}
	return errors.Join(checked(h.DB), h.close())
}

// TestFaultF06FileSizeLimit meets RLIMIT_FSIZE in a transaction of 50 MiB: nothing
// of it is there, and writing goes on.
func TestFaultF06FileSizeLimit(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, 6, 10)
	t.Log(run(t, job("filelimit", dir)))
}
