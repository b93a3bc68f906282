package faulttest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"engram/graph/internal/faulttest/workload"
)

// TestSyncsAreCounted compares the counter of syncs, on which figures rest, with
// what the system sees.
func TestSyncsAreCounted(t *testing.T) {
	need(t, "strace")
	dir, trace := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "trace")
	populate(t, dir, 1, 10)
	line := []string{"strace", "-f", "-qq", "-y", "-e", "trace=fsync,fdatasync", "-o", trace, os.Args[0], dir}
	var told int
	out := run(t, command("syncs", line...))
	if _, err := fmt.Sscanf(out, "SYNCS %d", &told); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	log, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	seen := len(regexp.MustCompile(`sync\(\d+<[^>]*/graph\.db>`).FindAll(log, -1))
	if told < 2*200 || told != seen {
		t.Errorf("the counter tells %d syncs of graph.db in 200 transactions, the system saw %d", told, seen)
	}
}

// childSyncs does 200 transactions in DIR, which make the file grow, and tells how
// many syncs they took. It does not close, which would take more.
func childSyncs(args []string) error {
	h, err := open(args[0], false, workload.Options())
	for i := 0; err == nil && i < 200; i++ {
		err = bulk(h.DB, 100)
	}
	if err != nil {
		return err
	}
	s, err := h.Stats()
	fmt.Println("SYNCS", s.Store.Syncs)
	return err
}
