package bolt

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"engram/graph/internal/store"
	"engram/graph/internal/store/storetest"
)

// TestMain doubles as the child of tests that need a process of their own.
func TestMain(m *testing.M) {
	if kind, dir, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		os.Exit(fullDisk(kind, dir))
	}
	goleak.VerifyTestMain(m)
}

// child runs this test binary as a process with a mount namespace of its own.
func child(t *testing.T, env string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	return cmd
}

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
