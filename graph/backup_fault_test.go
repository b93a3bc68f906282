package graph_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"engram/graph"
)

const (
	childJob = "ENGRAM_TEST_JOB" // what the child does
	childDir = "ENGRAM_TEST_DIR" // where
)

// childMain is a process that does one thing to a directory with data and a
// backup in it, on one thread, so that its calls of the system can be counted.
func childMain(job string) int {
	runtime.LockOSThread()
	dir := os.Getenv(childDir)
	data, err := graph.OpenData(filepath.Join(dir, "data"), graph.DataOptions{MaxSize: 256 << 20})
	if err == nil {
		switch job {
		case "restore":
			_, err = data.Restore(context.Background(), filepath.Join(dir, "backup"), graph.RestoreOptions{Replace: true})
		case "compact":
			_, err = data.Compact(context.Background(), "main")
		case "backup":
			var db *graph.DB
			if db, err = data.Open(context.Background(), "main", nil); err == nil {
				_, err = db.Backup(context.Background(), filepath.Join(dir, "backups"), graph.BackupOptions{Namespace: "main", Keep: 1})
			}
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// changing are the calls of the system by which a process changes the disk.
var changing = []string{"write", "pwrite64", "fsync", "fdatasync", "rename,renameat,renameat2", "unlink,unlinkat", "mkdir,mkdirat", "ftruncate"}

// runJob runs the child; with at > 0 it is killed at the at-th of those calls.
func runJob(t *testing.T, job, dir, calls string, at int) (killed bool) {
	t.Helper()
	args := []string{os.Args[0]}
	if at > 0 {
		args = append([]string{
			"strace", "-f", "-qq", "-o", os.DevNull, "-e", "trace=" + calls,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", calls, at),
		}, args...)
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), childJob+"="+job, childDir+"="+dir, "GOMAXPROCS=1")
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return false
	case at > 0 && cmd.ProcessState.ExitCode() == -1, at > 0 && cmd.ProcessState.ExitCode() == 128+9:
		return true
	}
	t.Fatalf("%s: %v: %s", job, err, out)
	return false
}

// content tells what the graph main in a data directory holds, after checking it.
func content(t *testing.T, dir string) string {
	t.Helper()
	data := must(graph.OpenData(filepath.Join(dir, "data"), graph.DataOptions{MaxSize: 256 << 20}))(t)
	db, err := data.Open(context.Background(), "main", nil)
	if err != nil {
		t.Fatalf("opening after the kill: %v", err)
	}
	r := checkClean(t, db)
	closeDB(t, db)
	if err := data.Close(); err != nil {
		t.Error(err)
	}
	return fmt.Sprintf("%d nodes at %d", r.Nodes, r.Seq)
}

// TestFaultF25KilledAtEachStep kills restoring over an existing graph, compacting
// and backing up at each call that changes the disk. What is left is the old or the
// new state, whole; doing it again succeeds and leaves nothing aside.
func TestFaultF25KilledAtEachStep(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed, so nothing can be killed at a given call")
	}
	template := t.TempDir()
	func() {
		data := must(openAt(filepath.Join(template, "data")))(t)
		db := must(data.Open(context.Background(), "main", nil))(t)
		addPair(t, db, 1)
		b := must(db.Backup(context.Background(), filepath.Join(template, "first"), graph.BackupOptions{Namespace: "main"}))(t)
		if err := os.Rename(b.Path, filepath.Join(template, "backup")); err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			addPair(t, db, 2+i)
		}
		must(db.Backup(context.Background(), filepath.Join(template, "backups"), graph.BackupOptions{Namespace: "main"}))(t)
		closeDB(t, db)
		if err := data.Close(); err != nil {
			t.Fatal(err)
		}
	}()
	for _, job := range []string{"restore", "compact", "backup"} {
		t.Run(job, func(t *testing.T) {
			olds, news := 0, 0
			for _, calls := range changing {
				o, n := killAtEach(t, job, calls, template)
				olds, news = olds+o, news+n
			}
			t.Logf("%d kills left the old state, %d the new one", olds, news)
			if job == "restore" && (olds == 0 || news == 0) {
				t.Errorf("%d kills left the old state, %d the new one; want some of both", olds, news)
			}
		})
	}
}

// killAtEach kills the job at the first call, the second, and so on, until it ends
// by itself, each time in a copy of the template.
func killAtEach(t *testing.T, job, calls, template string) (olds, news int) {
	t.Helper()
	step := 1
	if testing.Short() {
		step = 4
	}
	for at := 1; ; at += step {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS(template)); err != nil {
			t.Fatal(err)
		}
		was := content(t, dir)
		killed := runJob(t, job, dir, calls, at)
		is := content(t, dir)
		backupsAreWhole(t, dir)
		want := was
		if job == "restore" {
			want = "2 nodes at "
		}
		switch {
		case !killed && !strings.HasPrefix(is, want), killed && is != was && !strings.HasPrefix(is, want):
			t.Fatalf("at %s %d (killed: %v): there is %q, before %q", calls, at, killed, is, was)
		case !killed:
			return olds, news
		case strings.HasPrefix(is, want):
			news++
		default:
			olds++
		}
		runJob(t, job, dir, "", 0)
		if is := content(t, dir); !strings.HasPrefix(is, want) {
			t.Fatalf("at %s %d: doing it again left %q", calls, at, is)
		}
		nothingAside(t, dir)
	}
}

func openAt(path string) (*graph.Data, error) {
	if err := graph.CreateData(path); err != nil {
		return nil, err
	}
	data, err := graph.OpenData(path, graph.DataOptions{MaxSize: 256 << 20})
	if err != nil {
		return nil, err
	}
	return data, data.Create("main", nil)
}

// backupsAreWhole restores every backup that has its name.
func backupsAreWhole(t *testing.T, dir string) {
	t.Helper()
	folders, err := filepath.Glob(filepath.Join(dir, "backups", "main-*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("there are the backups %v, %v; want one at least", folders, err)
	}
	for i, path := range folders {
		data := openedData(t, filepath.Join(dir, fmt.Sprint("from-backup-", i)))
		if _, err := data.Restore(context.Background(), path, graph.RestoreOptions{}); err != nil && graph.CodeOf(err) != graph.Exists {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// nothingAside fails for what an interrupted step left.
func nothingAside(t *testing.T, dir string) {
	t.Helper()
	for _, pattern := range []string{"data/.tmp-*", "data/ns/.tmp-*", "data/ns/main/.tmp-*", "backups/.tmp-*"} {
		if left := must(filepath.Glob(filepath.Join(dir, pattern)))(t); len(left) > 0 {
			t.Errorf("left aside: %v", left)
		}
	}
}
