package faulttest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
)

// ownMounts lets a child mount things for itself alone, without privileges.
func ownMounts(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
}

// needMounts ends the test with a skip where mounts of one's own are not allowed.
func needMounts(t *testing.T) {
	t.Helper()
	cmd := exec.Command("true")
	ownMounts(cmd)
	if err := cmd.Run(); err != nil {
		t.Skipf("this test needs user namespaces for mounts of its own: %v", err)
	}
}

// run runs a child that must succeed and returns what it printed.
func run(t *testing.T, cmd *exec.Cmd) string {
	t.Helper()
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%.3000s", err, out)
	}
	return string(out)
}

// populate makes a database with n transactions of the workload and closes it.
func populate(t *testing.T, dir string, seed uint64, n int) {
	t.Helper()
	populateWith(t, dir, seed, n, workload.Options())
}

func populateWith(t *testing.T, dir string, seed uint64, n int, o *graph.Options) {
	t.Helper()
	h, err := open(dir, true, o)
	if err != nil {
		t.Fatal(err)
	}
	m, err := resume(h, seed)
	for err == nil && m.Done() < n {
		err = m.Step(context.Background(), h.DB)
	}
	if err := errors.Join(err, h.close()); err != nil {
		t.Fatal(err)
	}
}

// wantState checks that dir opens and holds a state between acked and begun.
func wantState(t *testing.T, dir string, seed uint64, acked, begun int) int {
	t.Helper()
	v := &verifier{}
	defer v.stop()
	n, err := v.verify(dir, seed, acked, begun)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return n
}

// compare compares an open graph with the model.
func compare(db *graph.DB, m *workload.Model) error {
	tx, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	return m.Compare(tx)
}

// until calls ok until it is true, which takes longer than patience only if it never will be.
func until(ok func() bool) bool {
	for deadline := time.Now().Add(patience); !ok(); runtime.Gosched() {
		if time.Now().After(deadline) {
			return false
		}
		time.Sleep(5 * time.Millisecond) // polling another goroutine's work
	}
	return true
}

// busy counts how often the process reads and writes, with and without success,
// while the caller waits d: who tries again without a pause does so thousands of
// times, however slow the machine is.
func busy(d time.Duration) (calls int, err error) {
	count := func() (n int) {
		var b []byte
		if b, err = os.ReadFile("/proc/self/io"); err != nil {
			return 0
		}
		for line := range strings.Lines(string(b)) {
			var c int
			if _, err := fmt.Sscanf(line, "syscr: %d", &c); err == nil {
				n += c
			} else if _, err := fmt.Sscanf(line, "syscw: %d", &c); err == nil {
				n += c
			}
		}
		return n
	}
	before := count()
	timer := time.NewTimer(d)
	<-timer.C
	return count() - before, err
}

// copyTree copies files and directories, with holes.
func copyTree(t *testing.T, from, to string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := copyDir(from, to); err != nil {
		t.Fatal(err)
	}
}

func copyDir(from, to string) error {
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		src, dst := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		if e.IsDir() {
			err = copyDir(src, dst)
		} else {
			var b []byte
			if b, err = os.ReadFile(src); err == nil {
				err = os.WriteFile(dst, b, 0o600)
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// holder is a child that has the database open until it is let go.
type holder struct {
	cmd *exec.Cmd
	in  io.WriteCloser
}

// hold starts a child that opens dir and keeps it.
func hold(t *testing.T, dir string) *holder {
	t.Helper()
	h := &holder{cmd: job("hold", dir)}
	var err error
	if h.in, err = h.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := h.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := h.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.release)
	line, _ := bufio.NewReader(out).ReadString('\n')
	if line != "READY\n" {
		t.Fatalf("the holder says %q", line)
	}
	return h
}

func (h *holder) release() {
	if h.cmd != nil {
		_ = h.in.Close()
		_ = h.cmd.Wait()
		h.cmd = nil
	}
}

// childHold opens DIR until its standard input ends.
func childHold(args []string) error {
	h, err := open(args[0], true, workload.Options())
	if err != nil {
		return err
	}
	fmt.Println("READY")
	_, err = io.Copy(io.Discard, os.Stdin)
	return errors.Join(err, h.close())
}

// wantCode checks that an error has a code and says something of use.
func wantCode(t *testing.T, err error, code graph.Code, says ...string) {
	t.Helper()
	if err == nil || graph.CodeOf(err) != code {
		t.Errorf("the error is %q (%v); want %s", graph.CodeOf(err), err, code)
		return
	}
	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("the error %q does not say %q", err, s)
		}
	}
}
