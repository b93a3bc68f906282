package box_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram/chatbridge/internal/box"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// workspace is a folder beside others: a secret next to it, and a folder whose name
// begins like its own.
func workspace(t *testing.T) (*box.Files, string) {
	t.Helper()
	base := t.TempDir()
	for _, dir := range []string{"ws/sub", "ws-evil", "out"} {
		must(t, os.MkdirAll(filepath.Join(base, dir), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(base, "out/secret"), []byte("SECRET"), 0o600))
	must(t, os.WriteFile(filepath.Join(base, "ws-evil/secret"), []byte("SECRET"), 0o600))
	must(t, os.WriteFile(filepath.Join(base, "ws/a.txt"), []byte("line one\nLine TWO\n"), 0o600))
	f, err := box.OpenFiles(filepath.Join(base, "ws"))
	must(t, err)
	t.Cleanup(func() { f.Close() })
	return f, base
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestFiles(t *testing.T) {
	f, base := workspace(t)
	if h := f.Hash("new.txt"); h != "absent" {
		t.Errorf("hash of nothing: %s", h)
	}
	torture := "a \"b\" \\ tab\t日本 🦊\r\nend\\"
	must(t, f.Write("deep/er/new.txt", torture))
	if text, err := os.ReadFile(filepath.Join(base, "ws/deep/er/new.txt")); err != nil || string(text) != torture {
		t.Errorf("on disk: %q, error %v", text, err)
	}
	if text, err := f.Read("deep/er/new.txt"); err != nil || text != torture {
		t.Errorf("read %q, error %v", text, err)
	}
	must(t, os.Chmod(filepath.Join(base, "ws/a.txt"), 0o666))
	before := f.Hash("a.txt")
	text, err := f.Edited("a.txt", "Line TWO", "line 2")
	must(t, err)
	must(t, f.Write("a.txt", text))
	if text, _ := f.Read("a.txt"); text != "line one\nline 2\n" || f.Hash("a.txt") == before {
		t.Errorf("edited: %q", text)
	}
	if info, err := os.Stat(filepath.Join(base, "ws/a.txt")); err != nil || info.Mode().Perm() != 0o666 {
		t.Errorf("its mode became %v, error %v", info.Mode(), err)
	}
	for _, old := range []string{"", "line", "nowhere"} {
		if _, err := f.Edited("a.txt", old, "x"); err == nil {
			t.Errorf("%q was replaced", old)
		}
	}
	if list, err := f.List("."); err != nil || list != "a.txt (16 bytes)\ndeep/\nsub/\n" {
		t.Errorf("list %q, error %v", list, err)
	}
	if found, err := f.Search("LINE", "."); err != nil || found != "a.txt:1: line one\na.txt:2: line 2\n" {
		t.Errorf("found %q, error %v", found, err)
	}
	must(t, os.WriteFile(filepath.Join(base, "ws/binary"), []byte{0, 1, 2}, 0o600))
	big, err := os.Create(filepath.Join(base, "ws/sparse"))
	must(t, err)
	must(t, big.Truncate(1<<40))
	must(t, big.Close())
	for _, name := range []string{"binary", "sparse", "missing"} {
		if _, err := f.Read(name); err == nil {
			t.Errorf("%s was read", name)
		}
	}
	if list, _ := f.List("deep/er"); strings.Contains(list, "writing") {
		t.Errorf("a temporary file is left: %s", list)
	}
}

func TestProtected(t *testing.T) {
	for name, want := range map[string]bool{
		".git/hooks/pre-commit": true, ".GIT/config": true, "sub/.env": true, ".Engram/config": true, ".ｇit/x": true, ".bashrc": true, "Makefile. ": true,
		".github/workflows/ci.yml": true, "notes/a.txt": false, "git/x": false, "a.env": false,
	} {
		if got := box.Protected(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
}

func TestCommands(t *testing.T) {
	t.Setenv("SECRET_KEY", "canary")
	dir := t.TempDir()
	run := func(limit time.Duration, argv ...string) (string, error) {
		return box.Run(t.Context(), dir, argv, limit)
	}
	if out, err := run(time.Minute, "printf", "%s", "; rm -rf x && `y` $(z) > f"); err != nil || out != "; rm -rf x && `y` $(z) > f" {
		t.Errorf("arguments are not literal: %q, error %v", out, err)
	}
	if out, err := run(time.Minute, "env"); err != nil || strings.Contains(out, "canary") || !strings.Contains(out, "HOME="+dir) {
		t.Errorf("environment %q, error %v", out, err)
	}
	if out, err := run(time.Minute, "sh", "-c", "echo told; exit 3"); err == nil || out != "told\n" || !strings.Contains(err.Error(), "exit status 3") {
		t.Errorf("failing: %q, error %v", out, err)
	}
	if _, err := run(time.Minute, "no-such-program"); err == nil {
		t.Error("a program that is not there ran")
	}
	if out, err := run(time.Minute, "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"); err != nil || !strings.HasSuffix(out, "[1951424 more bytes were printed and are left out]") {
		t.Errorf("much output: %d bytes, error %v", len(out), err)
	}
	if out, err := run(time.Minute, "cat"); err != nil || out != "" {
		t.Errorf("standard input: %q, error %v", out, err)
	}
	out, err := run(time.Minute, "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!")
	if err != nil || !strings.Contains(out, "outlived the command and were ended: sleep 600 (process ") {
		t.Errorf("left running: %q, error %v", out, err)
	}
	if _, err := run(50*time.Millisecond, "sh", "-c", "sleep 600 & wait"); err == nil || !strings.Contains(err.Error(), "ended after 50ms") {
		t.Errorf("limit: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := box.Run(ctx, dir, []string{"sleep", "600"}, time.Minute); err == nil {
		t.Error("a cancelled command ran")
	}
	for _, argv := range [][]string{nil, {""}, {"a\x00b"}, make([]string, 300)} {
		if _, err := box.Run(t.Context(), dir, argv, time.Minute); err == nil {
			t.Errorf("%q ran", argv)
		}
	}
}

func TestReadOnlyShapes(t *testing.T) {
	for argv, want := range map[string]bool{
		"pwd": true, "ls": true, "ls -la": true, "ls ..": false, "ls -R": false, "pwd -P x": false, "git status": false, "cat a": false, "date": true,
		"date -s 2020": false, "find . -exec x": false, "": false, "LS": false, "/tmp/pwd": false,
	} {
		if got := box.ReadOnly(strings.Fields(argv)); got != want {
			t.Errorf("%q: %v", argv, got)
		}
	}
	for argv, want := range map[string]bool{"gofmt -l": true, "bash -c": false, "/bin/bash": false, "git status": false, "env": false, "xargs": false, "": false} {
		if got := box.Prefixable(strings.Fields(argv)); got != want {
			t.Errorf("prefix %q: %v", argv, got)
		}
	}
}

// TestS41Visible holds that what is not seen, or looks like something else, is told.
func TestS41Visible(t *testing.T) {
	for text, want := range map[string]string{
		"plain 日本\n\t": "plain 日本\n\t", "Grüße, привет, Ωμέγα, שלום, क्षि": "Grüße, привет, Ωμέγα, שלום, क्षि", "a\u200bb": `a\u{200b}b`, "\u202Eevil": `\u{202e}evil`, "\x1b[31m": `\u{1b}[31m`,
		"\x1b]0;t\x07": `\u{1b}]0;t\u{7}`, "\u009b2J": `\u{9b}2J`, "\U000E0041": `\u{e0041}`, "\xff": `\xff`, "a\u00a0b": `a\u{a0}b`, "\r": `\u{d}`, "a\u2028b": `a\u{2028}b`, "x\ufe0f": `x\u{fe0f}`, "\u2800": `\u{2800}`, "a\u3164": `a\u{3164}`,
		"x" + strings.Repeat(" ", 500) + "rm": `x \u{20}*500 rm`, "a" + strings.Repeat(" ", 60) + "b": "a" + strings.Repeat(" ", 60) + "b", "p\u0430ypal": `p\u{430}ypal`, "r\u043c -rf": `r\u{43c} -rf`, "\uff52\uff4d": `\u{ff52}\u{ff4d}`,
		"\U0001D5EB1": `\u{1d5eb}1`, "gi\u03c4": `gi\u{3c4}`, "\u041c\u0438\u0440": "\u041c\u0438\u0440", "": "",
	} {
		if got := box.Visible(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := box.ASCII("\u0441\u043e\u0440\u0443 é"); got != `\u{441}\u{43e}\u{440}\u{443} \u{e9}` {
		t.Errorf("plain: %q", got)
	}
}

func TestCut(t *testing.T) {
	if got := box.Cut("日本日本", 7); got != "日本\n[cut here: 6 of 12 bytes are shown]" {
		t.Errorf("cut: %q", got)
	}
	if got := box.Cut("日本", 6); got != "日本" {
		t.Errorf("not cut: %q", got)
	}
}
