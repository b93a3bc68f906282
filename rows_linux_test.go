package engram_test

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"engram"
)

// openIn counts the open files of this process that are, or were, in a directory.
func openIn(t *testing.T, dir string) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, fd := range fds {
		name, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name()))
		if err == nil && strings.HasPrefix(name, dir) {
			n++
		}
	}
	return n
}

// TestRowsCloseTheirFile counts files, which have no names any more.
func TestRowsCloseTheirFile(t *testing.T) {
	dir := t.TempDir()
	db := memory(t, &engram.Options{SpoolDir: dir, StatementRows: 200_000})
	const text = "UNWIND range(1, $n) AS a UNWIND range(1, 1000) AS b RETURN a, b"
	ctx := context.Background()
	open := func(n int) *engram.Rows {
		rows, err := db.Rows(ctx, text, map[string]any{"n": n})
		if err != nil {
			t.Fatal(err)
		}
		if openIn(t, dir) != 1 {
			t.Fatalf("%d files are open", openIn(t, dir))
		}
		return rows
	}
	if err := open(100).Close(); err != nil {
		t.Fatal(err)
	}
	for range open(100).All() {
		break
	}
	for rows := open(100); rows.Next(); {
	}
	if _, err := db.Rows(ctx, text, map[string]any{"n": 300}); !engram.IsCode(err, engram.CodeResourceExhausted) {
		t.Errorf("got %v", err)
	}
	if n := openIn(t, dir); n != 0 {
		t.Errorf("%d files are open", n)
	}
}

// TestRowsOnAFullDisk lets the system refuse to write more.
func TestRowsOnAFullDisk(t *testing.T) {
	dir := t.TempDir()
	db := memory(t, &engram.Options{SpoolDir: dir})
	signal.Ignore(syscall.SIGXFSZ)
	defer signal.Reset(syscall.SIGXFSZ)
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1 << 20, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
			t.Error(err)
		}
	}()
	_, err := db.Rows(context.Background(), "UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b RETURN a, b", nil)
	if !engram.IsCode(err, engram.CodeFull) || !strings.Contains(err.Error(), "writing the temporary file for the rows of a large result in "+dir) {
		t.Errorf("got %v", err)
	}
	if n := openIn(t, dir); n != 0 {
		t.Errorf("%d files are open", n)
	}
	if n := len(read(t, openRows(t, db, "UNWIND range(1, 1000) AS a RETURN a"))); n != 1000 {
		t.Errorf("afterwards: %d rows", n)
	}
}
