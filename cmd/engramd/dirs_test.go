package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"engram"

	"go.etcd.io/bbolt"
)

// listing tells everything about the files below a directory that opening must
// not change.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		fmt.Fprintf(&b, "%s %v %v", rel, info.Mode(), info.ModTime())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %d %x", len(content), sha256.Sum256(content))
		}
		b.WriteString("\n")
		return nil
	})
	if os.IsNotExist(err) {
		return "missing"
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// engramd runs the program in this process.
func engramd(args ...string) (code int, stdout, stderr string) {
	var out, errOut bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(""), &out, &errOut)
	return code, out.String(), errOut.String()
}

// made returns a data directory with a node in it.
func made(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if code, _, stderr := engramd("--data", dir, "query", "CREATE (:Memory {id: 'm', content: 'the stored text'})"); code != exitOK {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	return dir
}

func graphFile(dir string) string { return filepath.Join(dir, "ns", "default", "graph.db") }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// withBolt changes a bbolt file behind engram's back.
func withBolt(t *testing.T, file string, fn func(*bbolt.Tx) error) {
	t.Helper()
	db, err := bbolt.Open(file, 0o600, nil)
	must(t, err)
	must(t, db.Update(fn))
	must(t, db.Close())
}

// truncated is a directory whose graph.db is cut to a part of its used length.
func truncated(part func(used int64) int64) func(*testing.T) string {
	return func(t *testing.T) string {
		dir := made(t)
		var used int64
		db, err := bbolt.Open(graphFile(dir), 0o600, nil)
		must(t, err)
		must(t, db.View(func(tx *bbolt.Tx) error { used = tx.Size(); return nil }))
		must(t, db.Close())
		must(t, os.Truncate(graphFile(dir), part(used)))
		return dir
	}
}

// unfit are the data directories that cannot be opened, what reading and writing
// commands exit with, and what they tell: what, where, what to do.
var unfit = []struct {
	name         string
	make         func(*testing.T) string
	read, write  int // exit codes; exitOK for writing: it makes what is missing
	what, whatTo string
}{
	{"missing", func(t *testing.T) string { return filepath.Join(t.TempDir(), "no", "such") }, exitNotFound, exitOK, "no database here", "create it first, or check the path"},
	{"empty", func(t *testing.T) string { return t.TempDir() }, exitNotFound, exitOK, "the directory holds nothing", "create a database in it first"},
	{"a file", func(t *testing.T) string {
		file := filepath.Join(t.TempDir(), "file")
		must(t, os.WriteFile(file, []byte("text"), 0o600))
		return file
	}, exitDamaged, exitDamaged, "it is not a directory", "check the path"},
	{"other files", func(t *testing.T) string {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "thesis.tex"), []byte("mine"), 0o600))
		return dir
	}, exitDamaged, exitDamaged, "it holds other files", "check the path"},
	{"foreign catalog", func(t *testing.T) string {
		dir := t.TempDir()
		must(t, os.WriteFile(filepath.Join(dir, "catalog"), []byte("books"), 0o600))
		return dir
	}, exitDamaged, exitDamaged, "its file catalog is not engram's", "check the path"},
	{"foreign bbolt file", func(t *testing.T) string {
		dir := made(t)
		must(t, os.Remove(graphFile(dir)))
		withBolt(t, graphFile(dir), func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket([]byte("theirs"))
			return err
		})
		return dir
	}, exitDamaged, exitDamaged, "it is a bbolt file of another program", "check the path"},
	{"foreign graph.db", func(t *testing.T) string {
		dir := made(t)
		must(t, os.WriteFile(graphFile(dir), bytes.Repeat([]byte("SQLite format 3 "), 4096), 0o600))
		return dir
	}, exitDamaged, exitDamaged, "graph.db", "check the path"},
	{"newer layout", func(t *testing.T) string {
		dir := made(t)
		must(t, os.WriteFile(filepath.Join(dir, "catalog"), []byte("engram data directory\nlayout 99\n"), 0o600))
		return dir
	}, exitDamaged, exitDamaged, "its layout is 99 and this program knows up to", "use the newer program"},
	{"newer format", func(t *testing.T) string {
		dir := made(t)
		withBolt(t, graphFile(dir), func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte("engram")).Put([]byte("format"), binary.BigEndian.AppendUint32(nil, 99))
		})
		return dir
	}, exitDamaged, exitDamaged, "its format is 99 and this program knows up to", "use the newer program"},
	{"emptied", truncated(func(int64) int64 { return 0 }), exitDamaged, exitDamaged, "a database is never empty", "restore it from a backup"},
	{"cut within the first page", truncated(func(int64) int64 { return 100 }), exitDamaged, exitDamaged, "graph.db", "restore it from a backup"},
	{"cut after the first page", truncated(func(int64) int64 { return 4096 }), exitDamaged, exitDamaged, "graph.db", "restore it from a backup"},
	{"cut after the meta pages", truncated(func(int64) int64 { return 8192 }), exitDamaged, exitDamaged, "graph.db", "restore it from a backup"},
	{"cut in half", truncated(func(used int64) int64 { return used / 2 }), exitDamaged, exitDamaged, "graph.db", "restore it from a backup"},
	{"cut by a byte", truncated(func(used int64) int64 { return used - 1 }), exitDamaged, exitDamaged, "and needs", "restore it from a backup"},
	{"no namespace", func(t *testing.T) string {
		dir := made(t)
		must(t, os.RemoveAll(filepath.Join(dir, "ns", "default")))
		return dir
	}, exitNotFound, exitOK, "no database here", "create the namespace first, or check its name"},
}

func TestUnfitDirectories(t *testing.T) {
	for _, c := range unfit {
		t.Run(c.name, func(t *testing.T) {
			dir := c.make(t)
			before := listing(t, dir)
			refused := func(by string, want, code int, message string) {
				t.Helper()
				if code != want {
					t.Errorf("%s: exit code %d, want %d: %s", by, code, want, message)
				}
				for _, part := range []string{dir, c.what, c.whatTo} {
					if !strings.Contains(message, part) {
						t.Errorf("%s: the message %q does not tell %q", by, message, part)
					}
				}
				if after := listing(t, dir); after != before {
					t.Errorf("%s changed the directory from\n%s\nto\n%s", by, before, after)
				}
			}
			for _, command := range [][]string{{"stats"}, {"check"}, {"query", "MATCH (n) RETURN n"}, {"recall", "text"}} {
				code, stdout, stderr := engramd(append([]string{"--data", dir}, command...)...)
				refused(command[0], c.read, code, stderr)
				if stdout != "" {
					t.Errorf("%s printed %q", command[0], stdout)
				}
			}
			if _, err := engram.Open(dir, nil); err == nil {
				t.Error("engram.Open opened it")
			} else {
				refused("engram.Open", c.read, exitCodeOf(err), err.Error())
			}
			for _, command := range [][]string{{"remember", "text"}, {"console"}, {"query", "CREATE (n)"}} {
				code, _, stderr := engramd(append([]string{"--data", dir}, command...)...)
				if c.write != exitOK {
					refused(command[0], c.write, code, stderr)
				} else if code != exitOK {
					t.Errorf("%s: exit code %d: %s", command[0], code, stderr)
				}
			}
		})
	}
}

func exitCodeOf(err error) int { return report(&bytes.Buffer{}, err) }

// TestBusyDirectory holds a directory in another process.
func TestBusyDirectory(t *testing.T) {
	dir := made(t)
	owner := exec.Command(os.Args[0], "--data", dir, "console", "--format", "csv")
	owner.Env = append(os.Environ(), asProgram+"=1")
	in, err := owner.StdinPipe()
	must(t, err)
	out, err := owner.StdoutPipe()
	must(t, err)
	must(t, owner.Start())
	defer func() {
		_ = in.Close() // ends the console
		if err := owner.Wait(); err != nil {
			t.Errorf("the owner: %v", err)
		}
	}()
	_, err = in.Write([]byte("RETURN 'open' AS state;\n"))
	must(t, err)
	if _, err := out.Read(make([]byte, 64)); err != nil { // it has the directory now
		t.Fatal(err)
	}
	who := fmt.Sprintf("by process %d", owner.Process.Pid)
	// The owner may be writing its text index.
	quiet := func() string {
		var lines []string
		for line := range strings.Lines(listing(t, dir)) {
			if !strings.HasPrefix(line, filepath.Join("ns", "default", "text")) && !strings.HasPrefix(line, filepath.Join("ns", "default")+" ") {
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "")
	}
	before := quiet()
	for _, command := range [][]string{
		{"stats"},
		{"check"},
		{"query", "MATCH (n) RETURN n"},
		{"recall", "text"},
		{"query", "CREATE (n)"},
		{"remember", "text"},
		{"console"},
		{"-n", "other", "query", "CREATE (n)"},
	} {
		code, stdout, stderr := engramd(append([]string{"--data", dir}, command...)...)
		if code != exitInUse || !strings.Contains(stderr, dir) || !strings.Contains(stderr, who) || !strings.Contains(stderr, "close it there first") {
			t.Errorf("%v: exit code %d, %q; want %d and %q", command, code, stderr, exitInUse, who)
		}
		if stdout != "" {
			t.Errorf("%v printed %q", command, stdout)
		}
	}
	_, err = engram.Open(dir, &engram.Options{Create: true})
	if !engram.IsCode(err, engram.CodeBusy) || !strings.Contains(err.Error(), who) {
		t.Errorf("engram.Open: %v", err)
	}
	if after := quiet(); after != before {
		t.Errorf("the directory changed from\n%s\nto\n%s", before, after)
	}
}

// onlyReads holds a directory that cannot be written to what it must answer and
// refuse.
func onlyReads(t *testing.T, dir string, engramd func(args ...string) (int, string, string)) {
	t.Helper()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"query", "MATCH (n) RETURN n.content AS c", "--format", "csv"}, "the stored text"},
		{[]string{"recall", "stored"}, "the stored text"},
		{[]string{"stats"}, "1 node,"},
		{[]string{"check"}, "nothing is wrong"},
	} {
		code, stdout, stderr := engramd(append([]string{"--data", dir}, c.args...)...)
		if code != exitOK || !strings.Contains(stdout, c.want) {
			t.Errorf("%v: exit code %d, printed %q and %q", c.args, code, stdout, stderr)
		}
	}
	for _, args := range [][]string{{"query", "CREATE (n)"}, {"remember", "text"}, {"-n", "other", "query", "CREATE (n)"}} {
		code, _, stderr := engramd(append([]string{"--data", dir}, args...)...)
		if code != exitRefused || !strings.Contains(stderr, dir) || !strings.Contains(stderr, "open it for reading only, or make it writable") {
			t.Errorf("%v: exit code %d, %q", args, code, stderr)
		}
	}
	code, _, stderr := engramd("--data", dir, "console")
	if code != exitOK || !strings.Contains(stderr, "statements can only read") {
		t.Errorf("console: exit code %d, %q", code, stderr)
	}
}

// TestReadOnlyMount mounts a data directory for reading, in a mount namespace of
// its own.
func TestReadOnlyMount(t *testing.T) {
	if out, err := exec.Command("unshare", "-Urm", "true").CombinedOutput(); err != nil {
		t.Skipf("this machine allows no mount namespaces: %v %s", err, out)
	}
	dir := made(t)
	before := listing(t, dir)
	onlyReads(t, dir, func(args ...string) (int, string, string) {
		return child(t, exec.Command("unshare", append([]string{
			"-Urm", "sh", "-c",
			`mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"`, dir, os.Args[0],
		}, args...)...))
	})
	if after := listing(t, dir); after != before {
		t.Errorf("the directory changed from\n%s\nto\n%s", before, after)
	}
}

// child runs engramd in another process.
func child(t *testing.T, cmd *exec.Cmd) (int, string, string) {
	t.Helper()
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errOut.String()
}
