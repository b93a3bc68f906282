package bolt

import (
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"engram/graph/internal/store"
	"engram/graph/internal/store/storetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// small keeps tests within the least mapping.
var small = &Options{MaxSize: MinMaxSize}

func TestConformance(t *testing.T) {
	dir := t.TempDir()
	var n atomic.Int64
	storetest.Run(t, func(tb storetest.TB, initial ...store.Put) (store.Driver, func(store.Driver) store.Driver) {
		tb.Helper()
		path := filepath.Join(dir, fmt.Sprintf("%d.db", n.Add(1)))
		if err := Create(path, initial); err != nil {
			tb.Fatalf("Create: %v", err)
		}
		d := mustOpen(tb, path)
		return d, func(d store.Driver) store.Driver {
			if err := d.Close(); err != nil {
				tb.Fatalf("Close: %v", err)
			}
			return mustOpen(tb, path)
		}
	})
}

func mustOpen(tb storetest.TB, path string) *Driver {
	tb.Helper()
	d, err := Open(path, small)
	if err != nil {
		tb.Fatalf("Open: %v", err)
	}
	return d
}
