package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
)

// screen is engramd chat in a terminal.
type screen struct {
	t   *testing.T
	cmd *exec.Cmd
	f   *os.File

	mu    sync.Mutex
	more  *sync.Cond
	text  string // what was printed
	seen  int    // of it, what was expected already
	ended bool
}

func (w *chatWorld) screen(args ...string) *screen {
	w.t.Helper()
	s := &screen{t: w.t, cmd: exec.Command(os.Args[0], append([]string{"--data", w.data}, args...)...)}
	s.more = sync.NewCond(&s.mu)
	s.cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm", "NO_COLOR=")
	var err error
	if s.f, err = pty.StartWithSize(s.cmd, &pty.Winsize{Rows: 50, Cols: 200}); err != nil {
		w.t.Fatal(err)
	}
	backstop := time.AfterFunc(time.Minute, func() { _ = s.cmd.Process.Kill() })
	read := make(chan struct{})
	go func() {
		defer close(read)
		for b := make([]byte, 4096); ; {
			n, err := s.f.Read(b)
			s.mu.Lock()
			s.text += string(b[:n])
			s.ended = err != nil
			s.more.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	w.t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
		_ = s.f.Close()
		<-read
		backstop.Stop()
	})
	return s
}

// expect waits until a text is printed, and returns what came before it.
func (s *screen) expect(want string) string {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if before, _, ok := strings.Cut(s.text[s.seen:], want); ok {
			s.seen += len(before) + len(want)
			return before
		}
		if s.ended {
			s.t.Fatalf("%q was never printed:\n%s", want, s.text)
		}
		s.more.Wait()
	}
}

func (s *screen) keys(keys string) {
	s.t.Helper()
	if _, err := s.f.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// leaves waits for the end and holds the exit code.
func (s *screen) leaves(code int) {
	s.t.Helper()
	err := s.cmd.Wait()
	var exit *exec.ExitError
	if got := s.cmd.ProcessState.ExitCode(); got != code || err != nil && !errors.As(err, &exit) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.t.Errorf("exit %d, %v, want %d:\n%s", got, err, code, s.text)
	}
}

const (
	long = `{"marker": "ASK-LONG", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made", "LINES"]}}]}, {"text": "Told: {result}"}]}`
)

func ttyScript() string {
	var lines strings.Builder
	for range 5000 {
		lines.WriteString("danger ")
	}
	return `{"scenarios": [
	{"marker": "ASK-MARK", "steps": [{"text": "# Head\n\nSome **bold** \u001b]0;owned\u0007 text.\n\n- one\n- two\n"}]},
	{"marker": "ASK-RUN", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made\u202e\u200b"]}}]}, {"text": "Told: {result}"}]},
	` + strings.Replace(long, "LINES", lines.String()+"end", 1) + `,
	{"marker": "ASK-WAIT", "steps": [{"mode": "silent"}]}]}`
}

// ttyWorld is a chatWorld with a workspace.
func ttyWorld(t *testing.T) (*chatWorld, func() int) {
	w := newChatWorld(t, ttyScript())
	ws := filepath.Join(w.dir, "ws")
	if err := os.Mkdir(ws, 0o755); err != nil {
		t.Fatal(err)
	}
	return w, func() int {
		files, err := os.ReadDir(ws)
		if err != nil {
			t.Fatal(err)
		}
		return len(files)
	}
}

// TestTerminalTalks talks in a terminal: Markdown, a call that is approved after all of
// it was looked at, and the end by Ctrl-D.
func TestTerminalTalks(t *testing.T) {
	w, files := ttyWorld(t)
	s := w.screen("chat", "--workspace", filepath.Join(w.dir, "ws"))
	s.expect("Talk, or :help.")
	s.expect("> ")
	s.keys("ASK-MARK\r")
	s.expect("\x1b[1m\x1b[4mHead\x1b[0m")
	if got := s.expect("• two"); !strings.Contains(got, "Some \x1b[1mbold\x1b[0m \ufffd]0;owned\ufffd text.") {
		t.Errorf("shown %q", got)
	}
	s.keys("ASK-RUN\r")
	shown := s.expect("Run it?")
	if !strings.Contains(shown, `run "touch" "made`) || strings.ContainsAny(shown, "\u202e\u200b") || !strings.Contains(shown, "sha256 ") || !strings.Contains(shown, "202e") {
		t.Errorf("shown %q", shown)
	}
	s.keys("y\r")
	s.expect("Told: It printed nothing.")
	if files() != 1 {
		t.Error("what was approved did not run")
	}
	s.keys("ASK-LONG\r")
	if shown := s.expect("Run it?"); strings.Contains(shown, "danger end") || !strings.Contains(shown, "more: v shows all") {
		t.Errorf("a long call: %d bytes shown", len(shown))
	}
	s.keys("v\r")
	if all := s.expect("Run it?"); strings.Count(all, "danger ") != 10000 { // as shown and as arguments
		t.Errorf("v shows %d of 10000", strings.Count(all, "danger "))
	}
	s.keys("maybe\r")
	s.expect("Run it?")
	s.keys("\r")
	s.expect("Told: The person denied this call.")
	if files() != 1 {
		t.Error("what was denied ran")
	}
	s.expect("> ")
	s.keys("\x04")
	s.leaves(exitOK)
}

// TestS44TerminalDenies holds that whatever closes the question is no, and the run ends.
func TestS44TerminalDenies(t *testing.T) {
	for name, c := range map[string]struct {
		keys, says string
		status     string
		leaves     bool
	}{
		"escape":          {"\x1b", "Told: The person denied this call.", "done", false},
		"an arrow":        {"y\x1b[A\r", "Told: The person denied this call.", "done", false},
		"ctrl-c":          {"y\x03", "the answer is ended", "failed", false},
		"ctrl-d":          {"\x04", "the answer is ended", "failed", true},
		"hangup":          {"", "", "failed", true},
		"typed too early": {"\r", "Told: The person denied this call.", "done", false},
	} {
		t.Run(name, func(t *testing.T) {
			w, files := ttyWorld(t)
			s := w.screen("chat", "--workspace", filepath.Join(w.dir, "ws"), "-c", "mine")
			s.expect("> ")
			s.keys("ASK-RUN\r")
			if name == "typed too early" {
				s.keys("y\r")
			}
			s.expect("Run it?")
			switch {
			case name == "hangup":
				if err := s.cmd.Process.Signal(syscall.SIGHUP); err != nil { // as when a window is closed
					t.Fatal(err)
				}
			default:
				s.keys(c.keys)
				s.expect(c.says)
			}
			switch {
			case name == "typed too early": // what was typed may be said next
				_ = s.cmd.Process.Kill()
			case !c.leaves:
				s.expect("> ")
				s.keys("\x04")
			}
			_ = s.cmd.Wait()
			if files() != 0 {
				t.Error("it ran")
			}
			out, _ := w.run(exitOK, "", "show", "mine", "--json")
			if !strings.Contains(out, `"status":"`+c.status+`"`) || !strings.Contains(out, `"name":"run_command"`) || strings.Contains(out, `"status":"pending"`) {
				t.Errorf("stored %s", out)
			}
			if c.status == "failed" && !strings.Contains(out, `"type":"error"`) {
				t.Errorf("no terminal event: %s", out)
			}
		})
	}
}

// TestS44EndOfInput holds that where input is no terminal, its end is never a yes: nothing
// runs, the exit code and the last line tell that the call waits and how it is answered,
// and what is typed there later is asked for anew.
func TestS44EndOfInput(t *testing.T) {
	w, files := ttyWorld(t)
	flags := []string{"--workspace", filepath.Join(w.dir, "ws"), "-c"}
	waits := "the call of run_command did not run: it waits for consent, and nobody was there to be asked. Answer it with: engramd chat --conversation "
	for conversation, c := range map[string]struct {
		in   string
		args []string
	}{
		"empty": {"", []string{"ASK-RUN"}}, "other-words": {"yes please\nok\nY es\n", []string{"ASK-RUN"}}, "as-json": {"y\n", []string{"--json", "ASK-RUN"}}, "talk": {"ASK-RUN\n", nil}, "looked": {"v\n", []string{"ASK-RUN"}},
	} {
		out, errOut := w.run(exitRefused, c.in, append(append(flags, conversation), c.args...)...)
		if !strings.HasSuffix(errOut, "engramd: "+waits+conversation+"\n") || strings.Count(errOut, waits) != 1 || files() != 0 {
			t.Errorf("%s: %q %q", conversation, out, errOut)
		}
		if stored, _ := w.run(exitOK, "", "show", conversation, "--json"); !strings.Contains(stored, `"status":"pending"`) || strings.Contains(stored, `"status":"approved"`) {
			t.Errorf("%s: stored %s", conversation, stored)
		}
	}
	if out, _ := w.run(exitRefused, "", append(flags, "empty")...); !strings.Contains(out, "Run it?") || files() != 0 {
		t.Errorf("asked again: %q", out)
	}
	w.run(exitOK, "n\n", append(flags, "empty")...)
	w.run(exitOK, "l\n", append(flags, "looked")...) // a person's own later is no failure
	if files() != 0 {
		t.Error("it ran")
	}
	w.run(exitOK, "y\n", append(flags, "talk")...)
	if files() != 1 {
		t.Error("what was approved did not run")
	}
}

// TestTerminalCancels holds that Ctrl-C ends an answer, whose terminal event is stored,
// and a second one leaves.
func TestTerminalCancels(t *testing.T) {
	w, _ := ttyWorld(t)
	s := w.screen("chat", "-c", "mine")
	s.expect("> ")
	s.keys("ASK-WAIT\r")
	w.waitFor(1)
	s.keys("\x03")
	s.expect("the answer was cancelled")
	s.expect("> ")
	s.keys("\x03")
	s.leaves(exitOK)
	if out, _ := w.run(exitOK, "", "show", "mine", "--json"); !strings.Contains(out, `"failure":"cancelled: the answer was cancelled"`) || !strings.Contains(out, `"type":"error"`) {
		t.Errorf("stored %s", out)
	}
	s = w.screen("chat", "say", "ASK-WAIT")
	w.waitFor(2)
	s.keys("\x03\x03")
	s.leaves(exitError)
}

// TestTerminalResumes holds that a call that was left for later is asked about again by
// another process, and by the console's :chat.
func TestTerminalResumes(t *testing.T) {
	w, files := ttyWorld(t)
	flags := []string{"--workspace", filepath.Join(w.dir, "ws")}
	s := w.screen(append([]string{"chat", "-c", "mine"}, flags...)...)
	s.expect("> ")
	s.keys("ASK-RUN\r")
	s.expect("Run it?")
	s.keys("l\r")
	s.expect("the call waits")
	s.keys(":quit\r")
	s.leaves(exitOK)
	s = w.screen(append([]string{"chat", "resume"}, flags...)...)
	s.expect("conversation mine: ASK-RUN")
	s.expect("Run it?")
	s.keys("y\r")
	s.expect("Told: It printed nothing.")
	s.keys(":quit\r")
	s.leaves(exitOK)
	if files() != 1 {
		t.Error("what was approved did not run")
	}
	s = w.screen("console")
	s.expect("engram> ")
	s.keys(":chat mine\r")
	s.expect("Talk, or :help.")
	s.expect("> ")
	s.keys("ASK-MARK\r")
	s.expect("• two")
	s.keys(":quit\r")
	s.expect("engram> ")
	s.keys("MATCH (t:Turn {role: 'user'}) RETURN count(t) + 40 AS n;\r")
	s.expect("42")
	s.keys(":quit\r")
	s.leaves(exitOK)
}
