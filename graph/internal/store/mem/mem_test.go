package mem_test

import (
	"testing"

	"engram/graph/internal/store"
	"engram/graph/internal/store/mem"
	"engram/graph/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(tb storetest.TB, initial ...store.Put) (store.Driver, func(store.Driver) store.Driver) {
		tb.Helper()
		d, err := mem.New(initial...)
		if err != nil {
			tb.Fatalf("New: %v", err)
		}
		return d, nil
	})
}
