package main

import (
	"bufio"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// onlyOurs holds that files, folders and sockets below a folder are their user's alone.
func onlyOurs(t *testing.T, dir string) (n int) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if n++; info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", name, info.Mode())
		}
		return nil
	}))
	return n
}

// TestS67FileModes holds that with a umask that keeps nothing from anybody, what the daemon
// and the commands write is 0600 and 0700 - database, indexes, tokens, lock, socket, backups,
// exports, logs - and that the process has a umask of its own, for files that come and go,
// and writes no core.
func TestS67FileModes(t *testing.T) {
	root := t.TempDir()
	must(t, os.Chmod(root, 0o700))
	dir, out := filepath.Join(root, "data"), filepath.Join(root, "out")
	must(t, os.Mkdir(out, 0o700))
	open := func(args ...string) *exec.Cmd {
		cmd := exec.Command("sh", append([]string{"-c", `umask 0; ulimit -S -c unlimited 2>/dev/null; exec "$0" "$@"`, os.Args[0]}, args...)...)
		cmd.Env = append(os.Environ(), asProgram+"=1", "TMPDIR="+out, "ENGRAM_HOME="+dir)
		return cmd
	}
	do := func(args ...string) {
		t.Helper()
		if said, err := open(args...).CombinedOutput(); err != nil {
			t.Fatalf("%q: %v, %s", args, err, said)
		}
	}
	do("remember", "Ann lives in Lisbon")
	url, cmd := serveOpen(t, open("serve", "--listen", "127.0.0.1:0", "--log-level", "error"))
	secret, err := os.ReadFile(filepath.Join(dir, "token"))
	must(t, err)
	c := &chatClient{t, url, strings.TrimSpace(string(secret))}
	c.must("POST", "/v1/remember", `{"text": "Ben lives in Porto"}`)
	do("token", "create", "reader", "--scope", "read")
	do("export", "--out", filepath.Join(out, "graph.jsonl"))
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", cmd.Process.Pid))
	must(t, err)
	limits, err := os.ReadFile(fmt.Sprintf("/proc/%d/limits", cmd.Process.Pid))
	must(t, err)
	if !strings.Contains(string(status), "Umask:\t0077\n") || !regexp.MustCompile(`(?m)^Max core file size +0 `).Match(limits) {
		t.Errorf("%s%s", status, limits)
	}
	onlyOurs(t, root)
	must(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	do("backup", filepath.Join(out, "backup"))
	if n := onlyOurs(t, root); n < 15 {
		t.Errorf("only %d files were looked at", n)
	}
}

// serveOpen starts a server and returns its address.
func serveOpen(t *testing.T, cmd *exec.Cmd) (string, *exec.Cmd) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("serve: %q, %v", line, err)
	}
	return regexp.MustCompile(`http://\S+`).FindString(line), cmd
}

// TestS65Canary holds that keys are found nowhere but where they were put: providers that
// repeat them, refuse, redirect or are not there leave nothing of them in what is printed,
// logged, stored, exported or backed up.
func TestS65Canary(t *testing.T) {
	const canary = "sk-CANARY-5f1c77"
	root := t.TempDir()
	dir := filepath.Join(root, "data")
	provider := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key := r.Header.Get("Authorization") + r.Header.Get("X-Api-Key")
		if !strings.Contains(key, canary) {
			t.Errorf("the control: no key came, %v", r.Header)
		}
		how := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")[0]
		w.Header().Set("X-Echo", key)
		switch how {
		case "200":
			fmt.Fprintf(w, `{"error": %q, "sent": %q}`, "odd", key)
		case "cut":
			w.Header().Set("Content-Length", "9999")
			fmt.Fprintf(w, `{"choices": [{"sent": %q`, key)
		case "308":
			http.Redirect(w, r, "http://127.0.0.1:1/?key="+canary, http.StatusPermanentRedirect)
		default:
			var status int
			_, _ = fmt.Sscan(how, &status) // it is a number
			w.WriteHeader(status)
			fmt.Fprintf(w, strings.Repeat("x", 190)+"%s", key) // across the end of what is quoted
		}
	}))
	defer provider.Close()
	tls := httptest.NewTLSServer(http.NotFoundHandler())
	defer tls.Close()
	said := ""
	for i, base := range []string{"/400", "/401", "/403", "/404", "/422", "/200", "/cut", "/308", "tls", "gone"} {
		address := provider.URL + base
		switch base {
		case "tls":
			address = tls.URL
		case "gone":
			address = "http://127.0.0.1:1"
		}
		for _, wire := range []string{"openai", "anthropic"} {
			t.Setenv("ENGRAM_LLM_PROVIDER", "test")
			t.Setenv("ENGRAM_LLM_MODEL", "m")
			t.Setenv("ENGRAM_LLM_WIRE", wire)
			t.Setenv("ENGRAM_LLM_BASE_URL", address)
			t.Setenv("ENGRAM_LLM_KEY", canary)
			code, out, errOut := command("", "--data", dir, "chat", "-c", fmt.Sprintf("c%d-%s", i, wire), "hello")
			if code != exitError {
				t.Errorf("%s %s: exit %d, %s", base, wire, code, errOut)
			}
			said += out + errOut
		}
	}
	for _, args := range [][]string{{"models", "--provider", "test"}, {"chat", "list"}, {"chat", "show", "c0-openai", "--json"}, {"stats"}, {"export", "--out", filepath.Join(root, "out.jsonl")}, {"backup", filepath.Join(root, "backup")}, {"query", "MATCH (n) RETURN properties(n)", "--json"}} {
		_, out, errOut := command("", append([]string{"--data", dir}, args...)...)
		said += out + errOut
	}
	if !strings.Contains(said, "[key]") || strings.Contains(said, "CANARY") || strings.Contains(said, "sk-") {
		t.Errorf("printed was %.2000s", said[max(0, strings.Index(said, "CANARY")-500):])
	}
	looked := 0
	must(t, filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		if looked++; strings.Contains(string(content), "CANARY") {
			t.Errorf("%s holds the key", name)
		}
		return err
	}))
	if looked < 10 {
		t.Errorf("only %d files were looked at", looked)
	}
}
