package faulttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph/internal/faulttest/workload"
)

// TestFaultF05KillAtTheTopologyFile fills the disk under the topology's file alone and
// kills the process when it gives up, twice: nothing that was acknowledged is lost, the old file or the records serve, what was left behind goes
// at the next opening, and with room again the file is written.
func TestFaultF05KillAtTheTopologyFile(t *testing.T) {
	need(t, "strace")
	const seed, n, more = 65, 60, 120
	base := filepath.Join(t.TempDir(), "data")
	populate(t, base, seed, n)
	before := hash(t, file(base, "topology.snap"))
	for _, full := range []string{"write:error=ENOSPC:when=1+", "write:error=ENOSPC:when=3+", "fsync:error=ENOSPC:when=1+"} {
		t.Run(full, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := copyDir(base, dir); err != nil {
				t.Fatal(err)
			}
			fresh := file(dir, "topology.snap.new")
			acked, begun := n, n
			for range 2 { // the second one finds what the first one left
				cmd := command("write", "strace", "-f", "-qq", "-o", os.DevNull, "-P", fresh,
					"-e", "trace=write,fsync,close", "-e", "inject="+full, "-e", "inject=close:signal=SIGKILL:when=1",
					os.Args[0], dir, fmt.Sprint(seed), fmt.Sprint(begun+more))
				out, err := cmd.Output()
				if err == nil || strings.Contains(string(out), "ERROR") {
					t.Fatalf("%v; it should have been killed, and came to\n%s", err, out[max(0, len(out)-500):])
				}
				for line := range strings.Lines(string(out)) {
					var k int
					if _, err := fmt.Sscanf(line, "ACK %d\n", &k); err == nil && strings.HasSuffix(line, "\n") {
						acked = max(acked, k)
					} else if _, err := fmt.Sscanf(line, "BEGIN %d\n", &k); err == nil && strings.HasSuffix(line, "\n") {
						begun = max(begun, k)
					}
				}
				if _, err := os.Stat(fresh); err != nil {
					t.Errorf("the kill left nothing behind: %v", err)
				}
				if hash(t, file(dir, "topology.snap")) != before {
					t.Error("the file that was there is another one")
				}
			}
			at := wantState(t, dir, seed, acked, begun)
			if _, err := os.Stat(fresh); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("what the kill left behind is still there: %v", err)
			}
			h := mustOpen(t, dir, false, workload.Options())
			m, err := resume(h, seed)
			for err == nil && m.Done() < at+more {
				err = m.Step(t.Context(), h.DB)
			}
			if err != nil {
				t.Fatal(err)
			}
			if !until(func() bool { s, err := h.Stats(); return err == nil && s.Topology.Written > 0 && s.Topology.Err == nil }) {
				t.Error("with room again the topology's file is not written")
			}
			if err := errors.Join(compare(h.DB, m), checked(h.DB)); err != nil {
				t.Error(err)
			}
		})
	}
}
