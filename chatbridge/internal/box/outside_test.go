package box_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram/chatbridge/internal/box"
)

// refusesAll holds that no file tool takes a name, and that none makes anything.
func refusesAll(t *testing.T, f *box.Files, name string) {
	t.Helper()
	if text, err := f.Read(name); err == nil {
		t.Errorf("reading %.80q gave %q", name, text)
	}
	if err := f.Write(name, "mine"); err == nil {
		t.Errorf("writing %.80q succeeded", name)
	}
	if text, err := f.Edited(name, "SECRET", "x"); err == nil {
		t.Errorf("editing %.80q gave %q", name, text)
	}
	if h := f.Hash(name); h != "refused" && h != "absent" {
		t.Errorf("the hash of %.80q is %s", name, h)
	}
}

// untouched holds that what is outside is as it was, and that the workspace holds what it did.
func untouched(t *testing.T, base string, before int) {
	t.Helper()
	if entries, err := os.ReadDir(filepath.Join(base, "out")); err != nil || len(entries) != 1 {
		t.Errorf("outside there is %v, error %v", entries, err)
	}
	if text, err := os.ReadFile(filepath.Join(base, "out/secret")); err != nil || string(text) != "SECRET" {
		t.Errorf("the file outside holds %q, error %v", text, err)
	}
	if n := filesBelow(t, base); n != before {
		t.Errorf("%d files became %d", before, n)
	}
}

func filesBelow(t *testing.T, base string) (n int) {
	t.Helper()
	must(t, filepath.WalkDir(base, func(string, os.DirEntry, error) error { n++; return nil }))
	return n
}

// TestS20Paths holds that a path which leaves the folder, or might be read as one that
// does, is refused by every tool, and makes nothing.
func TestS20Paths(t *testing.T) {
	f, base := workspace(t)
	before := filesBelow(t, base)
	outside := []string{
		"..", "../", "../out/secret", "sub/../../out/secret", "./../out/secret", "sub/../..", "/", "/etc/passwd", filepath.Join(base, "out/secret"), "//etc/passwd", "../ws-evil/secret",
		"%2e%2e/out/secret", "%2E%2E/out/secret", "%2e./out/secret", `..\out\secret`, `sub\..\..\out\secret`, "a\x00b", "../out/secret\x00.txt", "a\nb", "\xff", strings.Repeat("x", 5000), strings.Repeat("a/", 600), "sub/..", "",
	}
	for _, name := range outside {
		refusesAll(t, f, name)
		if text, err := f.List(name); err == nil {
			t.Errorf("listing %.80q gave %q", name, text)
		}
		if text, err := f.Search("SECRET", name); err == nil {
			t.Errorf("searching %.80q gave %q", name, text)
		}
	}
	for _, folder := range []string{".", "./", "sub", "sub/"} {
		refusesAll(t, f, folder) // a folder is no file
	}
	untouched(t, base, before)
	if text, err := f.Read("./sub/./../a.txt"); err == nil {
		t.Errorf("a path with .. in it gave %q", text)
	}
	if text, err := f.Read("./a.txt"); err != nil || !strings.HasPrefix(text, "line one") {
		t.Errorf("the control: %q, error %v", text, err)
	}
}

// TestS22Links holds that links lead nowhere outside: to files and folders, relative and
// absolute, to the folder above, through others, and to what is not there.
func TestS22Links(t *testing.T) {
	f, base := workspace(t)
	ws := filepath.Join(base, "ws")
	for name, to := range map[string]string{
		"relative": "../out/secret", "absolute": filepath.Join(base, "out/secret"), "dir": "../out", "up": "..", "chain": "dir", "longer": "chain", "dangling": "../out/new",
		"around": "../ws/../out/secret", "self": "self", "sub/up": "../..", "root": "/",
	} {
		must(t, os.Symlink(to, filepath.Join(ws, name)))
	}
	before := filesBelow(t, base)
	for _, name := range []string{
		"relative", "absolute", "dir/secret", "chain/secret", "longer/secret", "dangling", "around", "self", "up/out/secret", "sub/up/out/secret", "root/etc/passwd",
		"dir/new", "chain/new", "up/new", "root/tmp/engram-new", "dir", "up",
	} {
		refusesAll(t, f, name)
	}
	for _, name := range []string{"dir", "chain", "up", "sub/up", "root"} {
		if text, err := f.List(name); err == nil {
			t.Errorf("listing %q gave %q", name, text)
		}
		if text, err := f.Search("SECRET", name); err == nil {
			t.Errorf("searching %q gave %q", name, text)
		}
	}
	if text, err := f.Search("SECRET", "."); err != nil || strings.Contains(text, "SECRET") {
		t.Errorf("searching all gave %q, error %v", text, err)
	}
	untouched(t, base, before)
	must(t, os.Symlink("../a.txt", filepath.Join(ws, "sub/inside")))
	if text, err := f.Read("sub/inside"); err != nil || !strings.HasPrefix(text, "line one") {
		t.Errorf("a link inside: %q, error %v", text, err)
	}
}

// TestS24NoRegularFiles holds that what is no regular file, has other names outside, or is
// huge is refused, and that nothing waits for it, as for a pipe that nobody writes to.
func TestS24NoRegularFiles(t *testing.T) {
	f, base := workspace(t)
	ws := filepath.Join(base, "ws")
	must(t, os.Link(filepath.Join(base, "out/secret"), filepath.Join(ws, "hard")))
	must(t, syscall.Mkfifo(filepath.Join(ws, "fifo"), 0o600))
	t.Chdir(ws) // the name of a socket is short
	l, err := net.Listen("unix", "socket")
	must(t, err)
	defer l.Close()
	huge, err := os.Create(filepath.Join(ws, "sparse"))
	must(t, err)
	must(t, errors.Join(huge.Truncate(1<<40), huge.Close()))
	before := filesBelow(t, base)
	for _, name := range []string{"fifo", "socket"} {
		refusesAll(t, f, name)
	}
	if err := f.Write("hard", "mine"); err == nil || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("writing through a hard link: %v", err)
	}
	if _, err := f.Read("sparse"); err == nil || !strings.Contains(err.Error(), "more than 1048576 bytes") {
		t.Errorf("reading 1 TB: %v", err)
	}
	if h := f.Hash("sparse"); h == "" {
		t.Error("no hash of 1 TB")
	}
	if list, err := f.List("."); err != nil || !strings.Contains(list, "fifo (no regular file)") || !strings.Contains(list, "socket (no regular file)") {
		t.Errorf("listed %q, error %v", list, err)
	}
	if found, err := f.Search("line", "."); err != nil || !strings.Contains(found, "a.txt:1:") {
		t.Errorf("found %q, error %v", found, err)
	}
	untouched(t, base, before)
}

// TestS24Devices holds that devices and files of processes that are mounted in the folder
// are not read for ever: they are refused, or end at the bound. It needs a mount namespace.
func TestS24Devices(t *testing.T) {
	if dir := os.Getenv("ENGRAM_TEST_MOUNTED"); dir != "" {
		f, err := box.OpenFiles(dir)
		must(t, err)
		defer f.Close()
		for _, name := range []string{"zero", "environ"} {
			refusesAll(t, f, name)
		}
		return
	}
	base := t.TempDir()
	for _, name := range []string{"zero", "environ"} {
		must(t, os.WriteFile(filepath.Join(base, name), nil, 0o600))
	}
	cmd := exec.Command("unshare", "-Urm", "sh", "-c", `mount --bind /dev/zero "$1/zero" && mount --bind /proc/self/environ "$1/environ" && exec "$0" -test.run '^TestS24Devices$' -test.v`, os.Args[0], base)
	cmd.Env = append(os.Environ(), "ENGRAM_TEST_MOUNTED="+base, "SECRET=CANARY")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestS24Devices") || strings.Contains(string(out), "CANARY") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestS35OutsideByCommand holds that there is no way to say where a command runs: it is the
// workspace, which is also its home, and no command that names another place runs unasked
// or is allowed by how it begins.
func TestS35OutsideByCommand(t *testing.T) {
	_, base := workspace(t)
	ws := filepath.Join(base, "ws")
	out, err := box.Run(t.Context(), ws, []string{"sh", "-c", "pwd; cd; pwd; echo ~"}, time.Minute)
	if err != nil || out != ws+"\n"+ws+"\n"+ws+"\n" {
		t.Errorf("it ran in %q, error %v", out, err)
	}
	for _, command := range []string{
		"git init ../.ssh", "git -C /root/.ssh init", "git add ../../.kube/config", "git --git-dir=../out init", "ls ..", "ls /", "ls -la ../out", "ls --directory ..", "cat ../out/secret", "find ..", "cp ../out/secret x", "tar -C / -c etc",
	} {
		if argv := strings.Fields(command); box.ReadOnly(argv) {
			t.Errorf("%s runs unasked", command)
		}
	}
	for _, prefix := range []string{"git", "git init", "git -C", "cp", "tar", "find", "env -C"} {
		if box.Prefixable(strings.Fields(prefix)) {
			t.Errorf("%s can be allowed by how it begins", prefix)
		}
	}
}
