package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// terminal is engramd in a terminal of its own.
type terminal struct {
	t      *testing.T
	master *os.File
	cmd    *exec.Cmd
	mu     sync.Mutex
	more   *sync.Cond
	shown  bytes.Buffer
	ended  bool
	read   int // how much of shown was looked at
}

// openTerminal runs engramd in a terminal of so many columns and rows.
func openTerminal(t *testing.T, columns, rows uint16, env []string, args ...string) *terminal {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fd := int(master.Fd())
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: rows, Col: columns}); err != nil {
		t.Fatal(err)
	}
	tty, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, master: master, cmd: exec.Command(os.Args[0], args...)}
	x.more = sync.NewCond(&x.mu)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = tty, tty, tty
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	x.cmd.Env = append(append(os.Environ(), asProgram+"=1", "TERM=xterm"), env...)
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := tty.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			x.mu.Lock()
			x.shown.Write(buf[:n])
			x.ended = err != nil
			x.more.Broadcast()
			x.mu.Unlock()
			if err != nil {
				return // the program has closed its side
			}
		}
	}()
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill() // it has ended, unless the test failed
		_ = x.cmd.Wait()
		_ = master.Close()
		<-done
	})
	return x
}

// typing sends keys.
func (x *terminal) typing(keys string) {
	x.t.Helper()
	if _, err := x.master.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;?]*[A-Za-z]|\r|\a")

// waits until the screen shows a text behind what was waited for before, and
// returns all in between.
func (x *terminal) waits(text string) string {
	x.t.Helper()
	stuck := time.AfterFunc(60*time.Second, func() {
		x.mu.Lock()
		x.ended = true
		x.more.Broadcast()
		x.mu.Unlock()
	})
	defer stuck.Stop()
	x.mu.Lock()
	defer x.mu.Unlock()
	for {
		rest := x.shown.Bytes()[x.read:]
		if at := bytes.Index(rest, []byte(text)); at >= 0 {
			x.read += at + len(text)
			return escapes.ReplaceAllString(string(rest[:at+len(text)]), "")
		}
		if x.ended {
			x.t.Fatalf("the screen never shows %q; it shows\n%s", text, x.shown.String())
		}
		x.more.Wait()
	}
}

// leaves waits until the program ends, and returns its exit code.
func (x *terminal) leaves() int {
	stuck := time.AfterFunc(60*time.Second, func() { _ = x.cmd.Process.Kill() }) // then the code tells
	defer stuck.Stop()
	_ = x.cmd.Wait() // the code tells
	return x.cmd.ProcessState.ExitCode()
}

// consoleData makes a directory with a small graph.
func consoleData(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{
		{"query", "CREATE (a:Person {id: 'ann', name: 'Ann'})-[:KNOWS]->(b:Person {id: 'ben', name: 'Ben'})-[:LIVES_IN]->(c:City {id: 'lis', name: 'Lisbon'}), (a)-[:KNOWS]->(:Person {id: 'cy', name: 'Cy'})"},
		{"-n", "other", "query", "CREATE (:Elsewhere)"},
	} {
		if code, _, errs := command("", append([]string{"--data", dir}, args...)...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
	}
	return dir
}

// TestConsoleOfAPerson types as a person does: completion, several lines, errors, commands,
// and what is kept of it.
func TestConsoleOfAPerson(t *testing.T) {
	dir := consoleData(t)
	s := serve(t, dir) // completion asks the owner
	kept := filepath.Join(t.TempDir(), "state", "history")
	for _, where := range []string{dir, s.url} {
		x := openTerminal(t, 80, 24, []string{"ENGRAM_HISTORY=" + kept, "ENGRAM_TOKEN=" + s.token, "NO_COLOR=1"}, "console", where)
		x.waits("engram> ")
		x.typing("MAT\t(p:Per\t {na\t'Ann'})-[:KN\t]->(q)\r")
		x.waits("...> ")
		x.typing("RET\tq.na\t AS who ORDER BY who;\r")
		if got := x.waits("2 rows"); !strings.Contains(got, "│ Ben │\n│ Cy  │") {
			t.Errorf("%s", got)
		}
		x.waits(" ms")
		x.typing("RETURN toUpp\t'x') AS big;\r")
		x.waits("│ X   │")
		x.typing(":tim\toff\r")
		x.waits("engram> ")
		x.typing(":fo\tjs\t\r")
		x.waits("engram> ")
		x.typing("RETURN 1 AS x;\r")
		x.waits("{\"x\":1}")
		x.typing("RETRN 1;\r")
		if got := x.waits("Did you mean RETURN?"); strings.Contains(got, "\x1b[31m") {
			t.Errorf("colored: %q", got)
		}
		x.typing(" RETURN 'not to be kept' AS secret;\r")
		x.waits("{\"secret\":\"not to be kept\"}")
		x.typing(":history 2\r")
		x.waits("RETRN 1;")
		x.typing("MATCH (n)\r")
		x.waits("...> ")
		x.typing("\x03") // drops it
		x.waits("engram> ")
		x.typing(":param who Ann\r:params\r")
		x.waits("$who = 'Ann'")
		x.typing("\x1b[A\x1b[A\x1b[A\x1b[A\r") // up: the statement that failed
		x.waits("Did you mean RETURN?")
		x.typing(":quit\r")
		if code := x.leaves(); code != exitOK {
			t.Errorf("exit code %d", code)
		}
	}
	content, err := os.ReadFile(kept)
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(kept)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the history has the mode %v, %v", info.Mode(), err)
	}
	if !strings.Contains(string(content), "MATCH (p:Person {name: 'Ann'})-[:KNOWS]->(q) RETURN q.name AS who ORDER BY who;\n") || strings.Contains(string(content), "not to be kept") {
		t.Errorf("kept is\n%s", content)
	}
}

// TestConsoleWithoutColors: with NO_COLOR no sequence that colours is written, also not
// by the list of completions; a dumb terminal gets no sequence at all, prompt included.
func TestConsoleWithoutColors(t *testing.T) {
	dir := consoleData(t)
	color := regexp.MustCompile("\x1b\\[[0-9;]*m")
	typed := func(env string) string {
		x := openTerminal(t, 80, 24, []string{"ENGRAM_HISTORY=", env}, "--data", dir, "console")
		x.waits("engram> ")
		if env != "TERM=dumb" {
			x.typing("RE\t\t\t\x07") // a list of words, one of them chosen; then left
			x.waits("RETURN")
			x.typing("\x15") // drops the line
		}
		x.typing("RETRN;\r")
		x.waits("Did you mean RETURN?")
		x.typing("RETURN\r")
		x.waits("...> ")
		x.typing("'a' + 'b' AS x;\r")
		x.waits("│ ab │")
		x.typing(":history 2\r")
		x.waits("RETURN 'a' + 'b' AS x;")
		x.typing(":quit\r")
		if code := x.leaves(); code != exitOK {
			t.Errorf("%s: exit code %d", env, code)
		}
		x.mu.Lock()
		defer x.mu.Unlock()
		return x.shown.String()
	}
	if got := typed("NO_COLOR="); !color.MatchString(got) {
		t.Errorf("nothing is coloured, so this test tells nothing: %q", got)
	}
	if got := typed("NO_COLOR=1"); color.MatchString(got) {
		t.Errorf("coloured: %q", got)
	}
	if got := typed("TERM=dumb"); strings.Contains(got, "\x1b") {
		t.Errorf("a dumb terminal is steered: %q", got)
	}
}

// TestConsoleUse goes from namespace to namespace, of a directory and of a server.
func TestConsoleUse(t *testing.T) {
	dir := consoleData(t)
	s := serve(t, dir)
	for _, where := range []string{dir, s.url} {
		t.Setenv("ENGRAM_TOKEN", s.token)
		script := "MATCH (n:City) RETURN n.name AS city;\n:use other\nMATCH (n) RETURN labels(n) AS l;\n:use\n:use default\nMATCH (n:City) RETURN n.id AS id;\n:use nowhere\nRETURN 'never' AS x;\n"
		code, out, errs := command(script, "console", where, "--format", "csv")
		if want := "city\nLisbon\nl\n['Elsewhere']\nnamespace other\nid\nlis\n"; out != want || code != exitError {
			t.Errorf("%s: exit %d\n%s\nwant\n%s", where, code, out, want)
		}
		if !strings.Contains(errs, "script line 7: :use nowhere: there is no such namespace") {
			t.Errorf("%s: %s", where, errs)
		}
	}
}

// TestConsoleFitsTheScreen: tables are no wider than the screen, what is longer goes
// to the pager, paths are trees, and errors are red unless NO_COLOR says otherwise.
func TestConsoleFitsTheScreen(t *testing.T) {
	dir := consoleData(t)
	pager := filepath.Join(t.TempDir(), "pager")
	if err := os.WriteFile(pager, []byte("#!/bin/sh\necho PAGED with \"$1\"\ncat\necho END\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	x := openTerminal(t, 50, 20, []string{"ENGRAM_HISTORY=", "PAGER=" + pager + " -x"}, "--data", dir, "console")
	x.waits("engram> ")
	x.typing("RETURN 'a text of many words that is wider than the screen' AS one, 'and another one of them' AS two;\r")
	got := x.waits("1 row")
	_, table, _ := strings.Cut(got, "┌")
	for line := range strings.Lines(table) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > 50 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(table, "│ two") {
		t.Errorf("%s", got)
	}
	x.typing("RETURN 1 AS a, 2 AS b, 3 AS c, 4 AS d, 5 AS e, 6 AS f, 7 AS g, 8 AS h, 9 AS i, 'much longer' AS j, 11 AS k;\r")
	x.waits("── row 1")
	x.waits("j  much longer")
	x.typing("MATCH p = ({id: 'ann'})-[*1..2]->() RETURN p ORDER BY length(p), p;\r")
	if got := x.waits("3 rows"); !strings.Contains(got, "(:Person Ann)\n├─ KNOWS → (:Person Ben)\n│  └─ LIVES_IN → (:City Lisbon)\n└─ KNOWS → (:Person Cy)\n") {
		t.Errorf("%s", got)
	}
	x.typing("MATCH p = ({id: 'lis'})<--(b) RETURN b.name AS who, p;\r")
	if got := x.waits("1 row"); !strings.Contains(got, "│ (:City Lisbon)              │\n│     │ └─ LIVES_IN ← (:Person Ben) │") {
		t.Errorf("%s", got)
	}
	x.typing("UNWIND range(1, 30) AS x RETURN x;\r")
	x.waits("PAGED with -x")
	x.waits("30 rows")
	x.waits("END")
	x.typing(":pager off\rUNWIND range(1, 30) AS x RETURN x + 1000 AS x;\r")
	if got := x.waits("30 rows"); strings.Contains(got, "PAGED") {
		t.Errorf("paged though it is off: %s", got)
	}
	x.typing("RETRN;\r")
	x.waits("\x1b[31m")
	x.typing(":use other\r")
	x.waits("namespace other.")
	x.typing("MATCH (n) RETURN labels(n) AS l;\r")
	x.waits("Elsewhere")
	x.typing(":use nowhere\r")
	x.waits("there is no such namespace")
	x.waits("engram> ")
	x.typing("\x04") // the end of input
	if code := x.leaves(); code != exitOK {
		t.Errorf("exit code %d", code)
	}
}
