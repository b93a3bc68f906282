package faulttest

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"engram/graph"
	"engram/graph/internal/faulttest/workload"
)

// childEnv names what a process started by a test is to do.
const childEnv = "ENGRAM_FAULT_CHILD"

// jobs are what a child can do, with its arguments.
var jobs = map[string]func(args []string) error{
	"write":     childWrite,
	"verify":    childVerify,
	"hold":      childHold,
	"sync":      childSync,
	"keyed":     childKeyed,
	"fulldata":  childFullData,
	"fullindex": childFullIndex,
	"filelimit": childFileLimit,
	"readonly":  childReadOnly,
	"damage":    childDamage,
	"open":      childOpen,
	"backup":    childBackup,
	"restore":   childRestore,
	"compact":   childCompact,
	"slow":      childSlow,
	"files":     childFiles,
	"elsewhere": childElsewhere,
	"syncs":     childSyncs,
}

func TestMain(m *testing.M) {
	name := os.Getenv(childEnv)
	if name == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := jobs[name](os.Args[1:]); err != nil {
		fmt.Printf("ERROR %s %v\n", graph.CodeOf(err), err)
		os.Exit(1)
	}
	os.Exit(0)
}

// long reports whether the night version is wanted.
func long() bool { return os.Getenv("ENGRAM_LONG") != "" }

// sample is n, small under -short, or night with ENGRAM_LONG.
func sample(short, n, night int) int {
	switch {
	case long():
		return night
	case testing.Short():
		return short
	}
	return n
}

// job makes the command of a child.
func job(name string, args ...string) *exec.Cmd {
	return command(name, append([]string{os.Args[0]}, args...)...)
}

// command is job with a command line of its own, for running the child under
// another program.
func command(name string, line ...string) *exec.Cmd {
	cmd := exec.Command(line[0], line[1:]...)
	cmd.Env = append(os.Environ(), childEnv+"="+name)
	return cmd
}

// need ends the test with a skip where a program is missing.
func need(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("this test needs %s: install it to run the test", program)
	}
}

// fastDir is a temporary directory whose syncs cost nothing, where there is one:
// states of a disk need no disk.
func fastDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "engram-fault-")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// graphName is the graph that all tests use.
const graphName = "main"

// handle is an open graph with its directory.
type handle struct {
	*graph.DB
	data *graph.Data
}

// open opens a graph in dir, creating what is missing if create is set.
func open(dir string, create bool, o *graph.Options) (*handle, error) {
	return openWith(dir, create, graph.DataOptions{}, o)
}

func openWith(dir string, create bool, do graph.DataOptions, o *graph.Options) (*handle, error) {
	data, err := graph.OpenData(dir, do)
	if graph.CodeOf(err) == graph.NotFound && create {
		if err = graph.CreateData(dir); err == nil {
			data, err = graph.OpenData(dir, do)
		}
	}
	if err != nil {
		return nil, err
	}
	db, err := data.Open(context.Background(), graphName, o)
	if graph.CodeOf(err) == graph.NotFound && create {
		if err = data.Create(graphName, o); err == nil {
			db, err = data.Open(context.Background(), graphName, o)
		}
	}
	if err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return &handle{db, data}, nil
}

func (h *handle) close() error {
	return errors.Join(h.Close(context.Background()), h.data.Close())
}

// mustOpen opens a graph until the end of the test.
func mustOpen(t *testing.T, dir string, create bool, o *graph.Options) *handle {
	t.Helper()
	h, err := open(dir, create, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.close() })
	return h
}

// file is the path of a file of the graph.
func file(dir, name string) string { return filepath.Join(dir, "ns", graphName, name) }

// childWrite does transactions of the workload up to number n: write DIR SEED N.
// It says BEGIN and ACK with the number around each; ACK 0 is the creation.
func childWrite(args []string) error {
	ctx := context.Background()
	seed, n := number(args[1]), number(args[2])
	fmt.Println("BEGIN 0")
	h, err := open(args[0], true, workload.Options())
	if err != nil {
		return err
	}
	fmt.Println("ACK 0")
	m, err := resume(h, uint64(seed))
	if err != nil {
		return err
	}
	for m.Done() < n {
		ops := m.Next()
		fmt.Println("BEGIN", m.Done())
		if err := workload.Run(ctx, h.DB, ops); err != nil {
			return fmt.Errorf("transaction %d: %w", m.Done(), err)
		}
		fmt.Println("ACK", m.Done())
	}
	return h.close()
}

// resume returns the model that the graph is at.
func resume(h *handle, seed uint64) (*workload.Model, error) {
	tx, err := h.Snapshot()
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	done, err := workload.Found(tx)
	m := workload.New(seed)
	for m.Done() < done {
		m.Next()
	}
	return m, err
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		panic(err)
	}
	return n
}

// said reads the output of a child: the last transaction acknowledged and begun,
// -1 for none, and the other lines.
func said(output []byte) (acked, begun int, rest string) {
	acked, begun = -1, -1
	for line := range strings.Lines(string(output)) {
		var n int
		if _, err := fmt.Sscanf(line, "ACK %d\n", &n); err == nil && strings.HasSuffix(line, "\n") {
			acked = n
		} else if _, err := fmt.Sscanf(line, "BEGIN %d\n", &n); err == nil && strings.HasSuffix(line, "\n") {
			begun = n
		} else {
			rest += line
		}
	}
	return acked, begun, rest
}

// childVerify reads lines "SEED ACKED BEGUN DIR" and answers each with the number
// of the last transaction found there, or with what is wrong.
func childVerify([]string) error {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		var seed uint64
		var acked, begun int
		var dir string
		if _, err := fmt.Sscan(in.Text(), &seed, &acked, &begun, &dir); err != nil {
			return err
		}
		n, err := verifyDir(dir, seed, acked, begun)
		if err != nil {
			fmt.Println("bad", oneLine(err.Error()))
		} else {
			fmt.Println("ok", n)
		}
	}
	return in.Err()
}

// verifyDir opens what a fault left and compares it; see workload.Verify. Where
// creating was not acknowledged there may be nothing.
func verifyDir(dir string, seed uint64, acked, begun int) (int, error) {
	h, err := open(dir, false, workload.Options())
	if err != nil {
		if acked < 0 && graph.CodeOf(err) == graph.NotFound {
			return -1, createAgain(dir)
		}
		return 0, fmt.Errorf("opening: %w", err)
	}
	n, err := workload.Verify(context.Background(), h.DB, seed, acked, begun)
	return n, errors.Join(err, h.close())
}

// createAgain shows that an interrupted creation does not stand in the way.
func createAgain(dir string) error {
	h, err := open(dir, true, workload.Options())
	if err != nil {
		return fmt.Errorf("creating where it was interrupted: %w", err)
	}
	return h.close()
}

// verifier is a child that verifies many directories, because a damaged one may
// end a process.
type verifier struct {
	cmd *exec.Cmd
	in  *os.File
	out *bufio.Scanner
	err bytes.Buffer
}

func (v *verifier) start(name string) error {
	v.cmd = job(name)
	v.err.Reset()
	v.cmd.Stderr = &v.err
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	v.cmd.Stdin, v.in = r, w
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	v.out = bufio.NewScanner(out)
	v.out.Buffer(nil, 1<<20)
	return v.cmd.Start()
}

func (v *verifier) stop() *os.ProcessState {
	if v.cmd == nil {
		return nil
	}
	_ = v.in.Close()
	_ = v.cmd.Wait()
	state := v.cmd.ProcessState
	v.cmd = nil
	return state
}

// deathError tells of a verifying process that ended in place of answering.
type deathError struct {
	status   string // how it ended
	resident int64  // its largest resident size in bytes
	stderr   string
}

func (e *deathError) Error() string {
	return fmt.Sprintf("the verifying process died, or hung and was ended: %s, at most %d MiB resident, standard error %.20000q",
		e.status, e.resident>>20, e.stderr)
}

// verify returns the last transaction found in dir, or what is wrong.
func (v *verifier) verify(dir string, seed uint64, acked, begun int) (int, error) {
	if v.cmd == nil {
		if err := v.start("verify"); err != nil {
			return 0, err
		}
	}
	// A write that fails tells less than how the process ended.
	_, _ = fmt.Fprintln(v.in, seed, acked, begun, dir)
	answer, err := v.answer()
	if err != nil {
		return 0, err
	}
	var n int
	if _, err := fmt.Sscanf(answer, "ok %d", &n); err != nil {
		return 0, errors.New(answer)
	}
	return n, nil
}

// patience is after how long a child that does not answer is taken for hanging; it
// needs milliseconds, but a disk may be slow.
const patience = 5 * time.Minute

// answer reads a line of the child.
func (v *verifier) answer() (line string, err error) {
	process := v.cmd.Process
	// The signal makes it tell where it hangs.
	timer := time.AfterFunc(patience, func() { _ = process.Signal(syscall.SIGQUIT) })
	defer timer.Stop()
	if v.out.Scan() {
		return v.out.Text(), nil
	}
	ended := v.stop()
	death := &deathError{status: ended.String(), stderr: v.err.String()}
	if usage, ok := ended.SysUsage().(*syscall.Rusage); ok {
		death.resident = usage.Maxrss << 10
	}
	return "", death
}

// oneLine makes a text fit for a line of an answer.
func oneLine(text string) string {
	return fmt.Sprintf("%.2000s", strings.ReplaceAll(text, "\n", " | "))
}

// childBackup writes transactions to number N of DIR, which exists, and makes a
// backup in TO after every tenth, which ACK with the number acknowledges.
func childBackup(args []string) error {
	ctx := context.Background()
	h, err := open(args[0], false, workload.Options())
	if err != nil {
		return err
	}
	m, err := resume(h, uint64(number(args[1])))
	for err == nil && m.Done() < number(args[2]) {
		err = m.Step(ctx, h.DB)
		if err == nil && m.Done()%10 == 0 {
			if _, err = h.Backup(ctx, args[3], graph.BackupOptions{Namespace: graphName, Keep: 2}); err == nil {
				fmt.Println("ACK", m.Done())
			}
		}
	}
	return errors.Join(err, h.close())
}

// childCompact rewrites the graph in DIR.
func childCompact(args []string) error {
	data, err := graph.OpenData(args[0], graph.DataOptions{})
	if err != nil {
		return err
	}
	if _, err = data.Compact(context.Background(), graphName); err == nil {
		fmt.Println("ACK 1")
	}
	return errors.Join(err, data.Close())
}

// childRestore puts the backup FROM in the place of the graph in DIR.
func childRestore(args []string) error {
	data, err := graph.OpenData(args[0], graph.DataOptions{})
	if err != nil {
		return err
	}
	if _, err = data.Restore(context.Background(), args[1], graph.RestoreOptions{Replace: true}); err == nil {
		fmt.Println("ACK 1")
	}
	return errors.Join(err, data.Close())
}
