package box_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram/chatbridge/internal/box"
)

// TestS21SiblingWithTheSamePrefix holds that a folder beside the workspace whose name
// begins like its own is outside, by every way there.
func TestS21SiblingWithTheSamePrefix(t *testing.T) {
	f, base := workspace(t)
	must(t, os.Symlink("../ws-evil", filepath.Join(base, "ws/near")))
	for _, name := range []string{base + "/ws-evil/secret", "../ws-evil/secret", "near/secret", "sub/../../ws-evil/secret"} {
		if text, err := f.Read(name); err == nil {
			t.Errorf("reading %s gave %q", name, text)
		}
		if err := f.Write(name, "mine"); err == nil {
			t.Errorf("writing %s succeeded", name)
		}
		if h := f.Hash(name); h != "refused" {
			t.Errorf("the hash of %s is %s", name, h)
		}
	}
	if text, err := os.ReadFile(filepath.Join(base, "ws-evil/secret")); err != nil || string(text) != "SECRET" {
		t.Errorf("it holds %q, error %v", text, err)
	}
}

// TestS23NewFileBelowALink holds that a file which does not exist yet is not made below a
// folder that is a link, however deep.
func TestS23NewFileBelowALink(t *testing.T) {
	f, base := workspace(t)
	must(t, os.Symlink("../out", filepath.Join(base, "ws/dir")))
	must(t, os.Symlink("../../out", filepath.Join(base, "ws/sub/dir")))
	for _, name := range []string{"dir/new", "dir/deep/er/new", "sub/dir/new"} {
		if err := f.Write(name, "mine"); err == nil {
			t.Errorf("writing %s succeeded", name)
		}
	}
	if entries, err := os.ReadDir(filepath.Join(base, "out")); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, error %v", entries, err)
	}
}

// TestS25VariantsOfProtectedNames and S26: what configures programs, holds secrets or runs
// is protected in whatever letters.
func TestS25VariantsOfProtectedNames(t *testing.T) {
	for _, name := range []string{
		".Engram/config", ".ENGRAM/rules", ".GIT/hooks/pre-commit", ".git /config", ".git./config", "sub/.Git/HEAD", "\uff0egit/config", ".g\u0131t/x", "TOKEN", "engram-DATA/token", "Engram-Data. /x",
	} {
		if !box.Protected(name) {
			t.Errorf("%q is not protected", name)
		}
	}
}

// TestS26OwnAndRunFiles: nothing that is run or trusted later is written unasked.
func TestS26OwnAndRunFiles(t *testing.T) {
	for _, name := range []string{
		"engram-data/token", "engram-data/catalog", ".mcp.json", "mcp.json", ".cursor/mcp.json", ".git/hooks/post-checkout", ".bashrc", ".zshrc", ".profile", ".env", ".env.local",
		".github/workflows/ci.yml", ".gitlab-ci.yml", ".vscode/tasks.json", ".envrc", "Makefile", "package.json", "a/b/conftest.py", "authorized_keys", ".ssh/config",
	} {
		if !box.Protected(name) {
			t.Errorf("%s is not protected", name)
		}
	}
}

// TestS30NoShell holds that what a shell would take for more than an argument is one.
func TestS30NoShell(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"; touch made", "&& touch made", "|| touch made", "| tee made", "\ntouch made", "\rtouch made", "$(touch made)", "`touch made`", "<(touch made)", "> made", "${IFS}", "<<EOF\nx\nEOF", "~", "*"} {
		out, err := box.Run(t.Context(), dir, []string{"printf", "%s", text}, time.Minute)
		if err != nil || out != text {
			t.Errorf("%q became %q, error %v", text, out, err)
		}
		if box.ReadOnly([]string{"ls", text}) || box.ReadOnly([]string{"ls" + text}) {
			t.Errorf("ls %q runs unasked", text)
		}
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("there is %v, error %v", entries, err)
	}
}

// TestS31ManyArguments holds that a long command is refused, and one of many arguments is
// looked at to its end.
func TestS31ManyArguments(t *testing.T) {
	long := append([]string{"ls"}, strings.Fields(strings.Repeat("-l ", 60))...)
	if !box.ReadOnly(long) || box.ReadOnly(append(long, "/etc")) {
		t.Error("the last argument is not looked at")
	}
	if _, err := box.Run(t.Context(), t.TempDir(), append(long, strings.Fields(strings.Repeat("-l ", 200))...), time.Minute); err == nil || !strings.Contains(err.Error(), "more than 256 arguments") {
		t.Errorf("error %v", err)
	}
}

// TestS32RunnersHaveNoPrefix holds that no beginning of a program that runs what its
// arguments say is allowed once and for all.
func TestS32RunnersHaveNoPrefix(t *testing.T) {
	for _, command := range []string{
		"bash -c", "sh -c", "/usr/bin/sh", "env X=1", "xargs", "find .", "sed -n", "awk", "git -c core.pager=x", "git status", "git fetch --upload-pack=x", "tar --checkpoint-action=exec=x", "npx -c",
		"npx --yes", "python -c", "python3.12 -c", "pip3 install", "docker run", "nohup", "timeout 5", "busybox sh", "gawk", "mawk", "perl5.36 -e", "bunx x", "deno run", "uv run", "pnpm dlx", "unshare", "chroot /",
	} {
		if argv := strings.Fields(command); box.Prefixable(argv) || box.ReadOnly(argv) {
			t.Errorf("%s can be allowed by how it begins", command)
		}
	}
	if !box.Prefixable([]string{"gofmt", "-l"}) {
		t.Error("the control cannot be allowed")
	}
}

// TestS33Environment holds that a command has a fixed environment, whatever this process has.
func TestS33Environment(t *testing.T) {
	for _, name := range []string{"LD_PRELOAD_CANARY", "BASH_ENV", "GIT_SSH_COMMAND", "PROMPT_COMMAND", "ENGRAM_LLM_KEY", "OPENAI_API_KEY"} {
		t.Setenv(name, "CANARY")
	}
	t.Setenv("PATH", os.Getenv("PATH")+":/CANARY")
	out, err := box.Run(t.Context(), t.TempDir(), []string{"env"}, time.Minute)
	if err != nil || strings.Contains(out, "CANARY") {
		t.Errorf("%s, error %v", out, err)
	}
	names := []string{}
	for line := range strings.Lines(out) {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	if got := strings.Join(names, " "); got != "PATH LANG TERM HOME PWD ENGRAM_COMMAND" {
		t.Errorf("the variables are %s", got)
	}
}
