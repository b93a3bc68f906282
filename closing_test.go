package engram_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"engram"
)

// TestCloseEndsReaders: a reading transaction that nobody ends does not keep a
// database open.
func TestCloseEndsReaders(t *testing.T) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	tx, err := db.Begin(ctx, false)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Query(ctx, "RETURN 1", nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatalf("Close with an open reader: %v", err)
	}
	if _, err := tx.Query(ctx, "RETURN 1", nil); !engram.IsCode(err, engram.CodeClosed) || !strings.Contains(err.Error(), "closed meanwhile") {
		t.Errorf("the reader goes on with %v", err)
	}
	tx.Rollback()
	if _, err := db.Begin(ctx, false); !engram.IsCode(err, engram.CodeClosed) {
		t.Errorf("a new reader: %v", err)
	}
}

// TestCloseWhileAReaderRuns: a statement that runs is waited for, then its
// transaction ends.
func TestCloseWhileAReaderRuns(t *testing.T) {
	ctx := context.Background()
	for range 20 {
		db, err := engram.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := db.Begin(ctx, false)
		if err != nil {
			t.Fatal(err)
		}
		begun, done := make(chan struct{}), make(chan error, 1)
		go func() {
			close(begun)
			for {
				if _, err := tx.Query(ctx, "UNWIND range(1, 20000) AS x RETURN sum(x)", nil); err != nil {
					done <- err
					return
				}
			}
		}()
		<-begun
		if err := db.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-done; !engram.IsCode(err, engram.CodeClosed) {
			t.Errorf("the reader ends with %v", err)
		}
	}
}

// TestNilContext: no public call panics.
func TestNilContext(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	data, err := engram.OpenData(path, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	db, err := data.Open("default", true)
	if err != nil {
		t.Fatal(err)
	}
	var none context.Context
	read, err := db.Begin(context.Background(), false)
	if err != nil {
		t.Fatal(err)
	}
	write, err := db.Begin(context.Background(), true)
	if err != nil {
		t.Fatal(err)
	}
	nothing := func(*engram.Tx) error { return nil }
	for name, call := range map[string]func() error{
		"Query":       func() error { _, err := db.Query(none, "RETURN 1", nil); return err },
		"Query write": func() error { _, err := db.Query(none, "CREATE ()", nil); return err },
		"Rows":        func() error { _, err := db.Rows(none, "RETURN 1", nil); return err },
		"Begin":       func() error { _, err := db.Begin(none, true); return err },
		"Begin read":  func() error { _, err := db.Begin(none, false); return err },
		"View":        func() error { return db.View(none, nothing) },
		"Update":      func() error { return db.Update(none, nothing) },
		"Tx.Query":    func() error { _, err := read.Query(none, "RETURN 1", nil); return err },
		"Tx.Rows":     func() error { _, err := read.Rows(none, "RETURN 1", nil); return err },
		"Tx.Commit":   func() error { return write.Commit(none) },
		"Session":     func() error { _, err := engram.NewSession(db).Query(none, "RETURN 1", nil); return err },
		"BEGIN":       func() error { _, err := engram.NewSession(db).Query(none, "BEGIN", nil); return err },
		"Check":       func() error { _, err := db.Check(none); return err },
		"Backup":      func() error { _, err := db.Backup(none, t.TempDir(), nil); return err },
		"Restore":     func() error { _, err := data.Restore(none, t.TempDir(), nil); return err },
		"Compact":     func() error { _, err := data.Compact(none, "default"); return err },
		"Load":        func() error { _, err := db.Load(none); return err },
		"GiveUpLoad":  func() error { return db.GiveUpLoad(none) },
	} {
		if err := call(); !engram.IsCode(err, engram.CodeInvalidArgument) || !strings.Contains(err.Error(), "context is nil") {
			t.Errorf("%s: %v", name, err)
		}
	}
	read.Rollback()
	write.Rollback()
	if err := db.Close(); err != nil {
		t.Error(err)
	}
	if err := data.Close(); err != nil {
		t.Error(err)
	}
}

// TestATooSmallLimitIsRefused instead of being raised in silence.
func TestATooSmallLimitIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data")
	for _, size := range []int64{1, -1, 32<<20 - 1} {
		_, err := engram.Open(path, &engram.Options{Create: true, MaxSize: size})
		if !engram.IsCode(err, engram.CodeInvalidArgument) || !strings.Contains(err.Error(), "33554432 or more") {
			t.Errorf("MaxSize %d: %v", size, err)
		}
	}
	db, err := engram.Open(path, &engram.Options{Create: true, MaxSize: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
