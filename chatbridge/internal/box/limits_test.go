package box_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram/chatbridge/internal/box"

	"github.com/creack/pty"
)

// gone holds that a process runs no more.
func gone(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil || n <= 1 {
		t.Fatalf("%q is no number of a process", pid)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n))
	if err == nil && !strings.Contains(string(stat), ") Z ") {
		_ = syscall.Kill(n, syscall.SIGKILL)
		t.Errorf("the process %d still runs: %s", n, stat)
	}
}

// TestS39Escapes holds that what leaves the group of a command, its session, its parents,
// or closes its output is found, ended and named when the command ends, and that the
// answer does not wait for it.
func TestS39Escapes(t *testing.T) {
	for name, script := range map[string]string{
		"in the background":          `sleep 611 & echo $! > pid`,
		"that keeps its output":      `sleep 611 & echo $! > pid; exit 0`,
		"in another session":         `setsid sh -c 'echo $$ > pid; exec sleep 611' & while ! [ -s pid ]; do sleep 0.01; done`,
		"without its output":         `setsid sh -c 'echo $$ > pid; exec sleep 611' >/dev/null 2>&1 </dev/null & while ! [ -s pid ]; do sleep 0.01; done`,
		"a grandchild":               `(setsid sh -c '(setsid sh -c "echo \$\$ > pid; exec sleep 611" >/dev/null 2>&1 &)' &) ; while ! [ -s pid ]; do sleep 0.01; done`,
		"without an environment":     `env -i sh -c 'echo $$ > pid; exec sleep 611' & while ! [ -s pid ]; do sleep 0.01; done`,
		"child of one that is known": `setsid sh -c 'env -i setsid sh -c "echo \$\$ > pid; exec sleep 611" & wait' >/dev/null 2>&1 & while ! [ -s pid ]; do sleep 0.01; done`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			out, err := box.Run(t.Context(), dir, []string{"sh", "-c", script}, time.Minute)
			pid, readErr := os.ReadFile(dir + "/pid")
			if err != nil || readErr != nil {
				t.Fatalf("%q, error %v, %v", out, err, readErr)
			}
			gone(t, string(pid))
			want := regexp.MustCompile(`\[processes that outlived the command and were ended: .*\(process ` + strings.TrimSpace(string(pid)) + `\)`)
			if !want.MatchString(out) {
				t.Errorf("it is not named: %q", out)
			}
		})
	}
	if out, err := box.Run(t.Context(), t.TempDir(), []string{"true"}, time.Minute); err != nil || out != "" {
		t.Errorf("the control: %q, error %v", out, err)
	}
}

// TestS39Limit holds that at its limit a command is ended although it, or what it started,
// would go on, and that the output until then is kept to its bound.
func TestS39Limit(t *testing.T) {
	const limit = 300 * time.Millisecond
	for script, says := range map[string]string{
		`sleep 611 & wait`: "", `sleep 611`: "", `setsid sleep 611`: "", `trap '' TERM HUP INT; while :; do sleep 0.01; done`: "", `yes`: "more bytes were printed and are left out]",
	} {
		begin := time.Now()
		out, err := box.Run(t.Context(), t.TempDir(), []string{"sh", "-c", script}, limit)
		if took := time.Since(begin); took > limit+time.Minute { // a sleeping child that is waited for takes ten
			t.Errorf("%s took %s", script, took)
		}
		if err == nil || err.Error() != "the command was ended after 300ms" || !strings.Contains(out, says) || len(out) > 1<<20+200 {
			t.Errorf("%s: %d bytes, error %v", script, len(out), err)
		}
	}
}

// TestS39Cancel holds that a command which is cancelled, as at its limit, ends with all that
// came of it, and that what had left its group is named.
func TestS39Cancel(t *testing.T) {
	for name, c := range map[string]struct{ script, says string }{
		"a child in the background":             {`sleep 611 & echo $! > pid; wait`, ""},
		"a child that escaped":                  {`setsid sh -c 'echo $$ > pid; exec sleep 611' & wait`, "sleep 611 (process "},
		"an escaped one without an environment": {`env -i setsid sh -c 'echo $$ > pid; exec sleep 611' >/dev/null 2>&1 & wait`, " (process "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() {
				for ctx.Err() == nil { // until it runs
					if pid, err := os.ReadFile(dir + "/pid"); err == nil && strings.HasSuffix(string(pid), "\n") {
						cancel()
					}
				}
			}()
			out, err := box.Run(ctx, dir, []string{"sh", "-c", c.script}, 10*time.Minute)
			pid, readErr := os.ReadFile(dir + "/pid")
			if err == nil || err.Error() != "the command was cancelled" || !strings.Contains(out, c.says) || c.says == "" && out != "" || readErr != nil {
				t.Fatalf("%q, error %v, %v", out, err, readErr)
			}
			gone(t, string(pid))
		})
	}
}

// TestS39OutputAndInput holds that of 100 MB the beginning is kept, and told, and that input
// is empty.
func TestS39OutputAndInput(t *testing.T) {
	out, err := box.Run(t.Context(), t.TempDir(), []string{"sh", "-c", "head -c 100000000 /dev/zero | tr '\\0' x"}, time.Minute)
	if err != nil || !strings.HasSuffix(out, "x\n[98951424 more bytes were printed and are left out]") {
		t.Errorf("%d bytes, %q, error %v", len(out), out[max(0, len(out)-100):], err)
	}
	if out, err := box.Run(t.Context(), t.TempDir(), []string{"sh", "-c", `read x; echo "$? <$x>"; cat`}, time.Minute); err != nil || out != "1 <>\n" {
		t.Errorf("%q, error %v", out, err)
	}
}

// TestS39NoTerminal holds that a command cannot ask at the terminal of this program, which
// a child of the test has.
func TestS39NoTerminal(t *testing.T) {
	const asked = "ENGRAM_TEST_TERMINAL"
	if os.Getenv(asked) != "" {
		own, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
		if err != nil {
			t.Fatalf("the control: %v", err)
		}
		must(t, own.Close())
		out, err := box.Run(t.Context(), t.TempDir(), []string{"sh", "-c", `tty; (echo Password: > /dev/tty) 2>/dev/null && echo reached || echo none`}, time.Minute)
		if err != nil || out != "not a tty\nnone\n" {
			t.Errorf("%q, error %v", out, err)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^TestS39NoTerminal$", "-test.v")
	cmd.Env = append(os.Environ(), asked+"=1")
	f, err := pty.Start(cmd)
	must(t, err)
	defer f.Close()
	out, _ := io.ReadAll(f) // it ends with an error, as terminals do
	if err := cmd.Wait(); err != nil || !strings.Contains(string(out), "--- PASS") || strings.Contains(string(out), "Password:") {
		t.Errorf("%v\n%s", err, out)
	}
}
