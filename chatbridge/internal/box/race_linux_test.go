package box_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"
)

// memoryFolder is a folder where waiting for the disk costs nothing, where there is one.
func memoryFolder(t *testing.T) {
	const shared = "/dev/shm"
	if dir, err := os.MkdirTemp(shared, "engram-race-*"); err == nil {
		t.Cleanup(func() { os.RemoveAll(dir) })
		t.Setenv("TMPDIR", dir)
	}
}

// swapping exchanges pairs of names for as long as the test does not say stop, so that
// there is always one or the other at a name. It tells how often it did.
func swapping(t *testing.T, ws string, pairs [][2]string) (swaps *atomic.Int64, stop func()) {
	t.Helper()
	dir, err := unix.Open(ws, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	must(t, err)
	swaps = &atomic.Int64{}
	ended, done := make(chan struct{}), make(chan error, 1)
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			default:
			}
			for _, p := range pairs {
				if err := unix.Renameat2(dir, p[0], dir, p[1], unix.RENAME_EXCHANGE); err != nil {
					done <- err
					return
				}
			}
			swaps.Add(1)
		}
	}()
	return swaps, func() {
		close(ended)
		must(t, errors.Join(<-done, unix.Close(dir)))
	}
}

// TestS22SwappedLinks exchanges a folder and a file for links to the outside, again and
// again, while every file tool goes through them, 100,000 times (5,000 in short runs).
// Between any check and its use there may be the one or the other.
func TestS22SwappedLinks(t *testing.T) {
	memoryFolder(t)
	f, base := workspace(t)
	ws, out := filepath.Join(base, "ws"), filepath.Join(base, "out")
	must(t, os.WriteFile(filepath.Join(ws, "sub/secret"), []byte("MINE"), 0o600))
	must(t, os.Symlink("../out", filepath.Join(ws, "other")))
	must(t, os.WriteFile(filepath.Join(ws, "file"), []byte("MINE"), 0o600))
	must(t, os.Symlink(filepath.Join(out, "secret"), filepath.Join(ws, "link")))
	mine := f.Hash("file")
	swaps, stop := swapping(t, ws, [][2]string{{"sub", "other"}, {"file", "link"}})
	reads := func(name string) bool {
		text, err := f.Read(name)
		if strings.Contains(text, "SECRET") {
			t.Errorf("read %q", text)
		}
		return err == nil
	}
	ways := []func() bool{
		func() bool { return reads("sub/secret") },
		func() bool { return reads("file") },
		func() bool { return f.Write("sub/written", "mine") == nil },
		func() bool { return f.Write("sub/deep/er/written", "mine") == nil },
		func() bool {
			list, err := f.List("sub")
			if strings.Contains(list, "outside") {
				t.Errorf("listed %q", list)
			}
			return err == nil
		},
		func() bool {
			h := f.Hash("file")
			if h != mine && h != "refused" {
				t.Errorf("the hash of %s", h)
			}
			return h == mine
		},
		func() bool {
			found, err := f.Search("SECRET", "sub")
			if strings.Contains(found, "SECRET") {
				t.Errorf("found %q", found)
			}
			return err == nil
		},
		func() bool {
			text, err := f.Edited("sub/secret", "SECRET", "x")
			if text != "" {
				t.Errorf("edited %q", text)
			}
			return err == nil
		},
	}
	must(t, os.WriteFile(filepath.Join(out, "outside"), nil, 0o600))
	var passed, refused int
	rounds := 100_000
	if testing.Short() {
		rounds = 5_000
	}
	for i := 0; i < rounds || passed < 1000 || refused < 1000; i++ { // both were met, so they were raced
		if ways[i%len(ways)]() {
			passed++
		} else {
			refused++
		}
		if t.Failed() {
			break
		}
	}
	stop()
	t.Logf("%d passed, %d were refused, %d swaps", passed, refused, swaps.Load())
	entries, err := os.ReadDir(out)
	if err != nil || len(entries) != 2 {
		t.Errorf("outside there is %v, error %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(out, "secret")); err != nil || string(text) != "SECRET" {
		t.Errorf("the file outside holds %q, error %v", text, err)
	}
}
