package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// served is a server that a test runs.
type served struct {
	url   string
	token string
	stop  func() (code int, errors string)
}

// serve runs engramd serve on a data directory until the test ends.
func serve(t *testing.T, dir string, flags ...string) *served {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	var errOut lockedBuffer
	done := make(chan int, 1)
	go func() {
		done <- run(ctx, append([]string{"--data", dir, "serve", "--listen", "127.0.0.1:0"}, flags...), strings.NewReader(""), in, &errOut)
		_ = in.Close() // never fails
	}()
	lines := bufio.NewReader(out)
	first, err := lines.ReadString('\n')
	if err != nil {
		cancel()
		t.Fatalf("serve: %v, %d, %s", err, <-done, errOut.String())
	}
	go func() { _, _ = io.Copy(io.Discard, lines) }() // until it is closed
	s := &served{url: regexp.MustCompile(`https?://\S+`).FindString(first)}
	secret, err := os.ReadFile(filepath.Join(dir, "token"))
	if err != nil {
		t.Error(err)
	}
	s.token = strings.TrimSpace(string(secret))
	var once sync.Once
	code := 0
	s.stop = func() (int, string) {
		once.Do(func() {
			cancel()
			code = <-done
		})
		return code, errOut.String()
	}
	t.Cleanup(func() {
		if code, errs := s.stop(); code != 0 {
			t.Errorf("serve ended with %d: %s", code, errs)
		}
	})
	return s
}

type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// command runs engramd and returns what it says.
func command(stdin string, args ...string) (code int, out, errs string) {
	var o, e bytes.Buffer
	code = run(context.Background(), args, strings.NewReader(stdin), &o, &e)
	return code, o.String(), e.String()
}

// TestCommandsTalkToTheOwner: what a command says is the same whether the directory is
// free, in use by a server, or named by the server's URL.
func TestCommandsTalkToTheOwner(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	for _, args := range [][]string{
		{"remember", "Ann moved to Lisbon in May", "-p", "id=m1", "-p", "speaker=Ben", "-p", "created_at=2024-05-02", "-p", "valid_from=2024-05-01"},
		{"query", "CREATE (:City {id: 'lisbon', name: 'Lisbon', founded: date('1147-10-25'), parts: ['Alfama', 'Graça'], area: 100.0})"},
		{"query", "MATCH (m {id: 'm1'}), (c:City) CREATE (m)-[:ABOUT {weight: 0.5}]->(c)"},
	} {
		if code, _, errs := command("", append([]string{"--data", dir}, args...)...); code != 0 {
			t.Fatalf("%v: %d %s", args, code, errs)
		}
	}
	script := "MATCH (n) RETURN n.id ORDER BY n.id;\n:stats\nBEGIN;\nCREATE (:Gone);\nMATCH (g:Gone) RETURN count(g);\nROLLBACK;\nMATCH (g:Gone) RETURN count(g);\nRETURN nosuch;\n"
	commands := []struct {
		stdin string
		args  []string
	}{
		{"", []string{"query", "MATCH (n)-[r]->(c) RETURN c, r.weight, c.founded, c.area, duration('P1M')", "--json"}},
		{"", []string{"query", "MATCH p = (n)-[r]->(c) RETURN nodes(p)", "--format", "csv"}},
		{"", []string{"query", "MATCH (c:City) RETURN c, c.parts, null AS nothing, 1.0 AS whole"}},
		{"", []string{"query", "EXPLAIN MATCH (c:City) RETURN c.name"}},
		{"", []string{"query", "EXPLAIN MATCH (c:City) RETURN c.name", "--json"}},
		{"", []string{"query", "MATCH (c:City) WHERE c.nme = $x RETURN c", "-p", "x=[1, 2.5, \"a\"]"}},
		{"", []string{"query", "RETURN nosuch"}},
		{"", []string{"query", "MATCH (a)\nRETRUN a"}},
		{"", []string{"query", "UNWIND range(1, 3000) AS x RETURN x, 'text'", "--json"}},
		{"", []string{"query", "RETURN $missing"}},
		{"", []string{"recall", "Lisbon", "--at", "2024-06-01"}},
		{"", []string{"audit", "--only", "owner_runtime_divergence,typed_edge_distribution,orphans_and_dangling,provenance", "--suggest"}},
		{"", []string{"audit", "--only", "typed_edge_distribution,components_and_hubs", "--json", "--limit", "1", "--with", "hub_edges=1"}},
		{"", []string{"audit", "--only", "supersession,provenance", "--fail-on", "any", "--sarif"}},
		{"", []string{"audit", "--with", "hub_edge=1"}},
		{"", []string{"recall", "Lisbon", "--at", "2024-06-01", "--json", "--explain"}},
		{"", []string{"recall", "Lisbon", "--from", "nobody"}},
		{"", []string{"recall", "the of"}},
		{"", []string{"compile", "a visit to Lisbon", "--at", "2024-06-01"}},
		{"", []string{"activate", "m1"}},
		{"", []string{"stats"}},
		{"", []string{"stats", "--json"}},
		{"", []string{"--namespace", "nowhere", "query", "RETURN 1"}},
		{script, []string{"console"}},
		{script, []string{"console", "--format", "json"}},
	}
	all := func(data string) (said []string) {
		for _, c := range commands {
			code, out, errs := command(c.stdin, append([]string{"--data", data}, c.args...)...)
			said = append(said, strings.Join([]string{strings.Join(c.args, " "), "stdout: " + out, "stderr: " + errs, "code: " + string(rune('0'+code))}, "\n"))
		}
		return said
	}
	here := all(dir)
	s := serve(t, dir)
	owner := all(dir)
	t.Setenv("ENGRAM_TOKEN", s.token)
	byURL := all(s.url)
	for i := range commands {
		want := comparable(here[i])
		if got := comparable(owner[i]); got != want {
			t.Errorf("through the owner:\n%s\nhere:\n%s", got, want)
		}
		if got := comparable(byURL[i]); got != want {
			t.Errorf("by URL:\n%s\nhere:\n%s", got, want)
		}
	}
	other := filepath.Join(t.TempDir(), "other")
	if code, _, errs := command("", "--data", other, "query", "CREATE (:City)"); code != 0 {
		t.Fatal(errs)
	}
	against := []string{"--data", other, "audit", "--only", "owner_runtime_divergence", "--against"}
	if code, out, errs := command("", append(against, s.url)...); code != 0 || !strings.Contains(out, "nodes 1, edges 0, owner nodes 2, owner edges 1") {
		t.Errorf("compared with the server: %d %s %s", code, out, errs)
	}
	if code, out, errs := command("", append(against, "http://127.0.0.1:1")...); code != 0 || !strings.Contains(out, "unknown   owner_runtime_divergence") || !strings.Contains(out, "owner nodes unknown") {
		t.Errorf("compared with nobody: %d %s %s", code, out, errs)
	}
	for _, where := range []string{dir, s.url} {
		if code, out, errs := command("RETURN 'here' AS x;", "console", where, "--format", "json"); code != 0 || out != "{\"x\":\"here\"}\n" {
			t.Errorf("console %s: %d %s %s", where, code, out, errs)
		}
	}
	if code, out, errs := command("", "--data", dir, "--namespace", "fresh", "remember", "Bo likes tea"); code != 0 || !strings.Contains(out, "Bo likes tea") {
		t.Errorf("into a new namespace: %d %s %s", code, out, errs)
	}
	if code, _, errs := command("", "--data", dir, "check"); code != exitInUse || !strings.Contains(errs, s.url) {
		t.Errorf("what only the owner can do: %d %s", code, errs)
	}
	t.Setenv("ENGRAM_TOKEN", "engram_wrong")
	if code, _, errs := command("", "--data", dir, "stats"); code != exitRefused || !strings.Contains(errs, "token") {
		t.Errorf("with a wrong token: %d %s", code, errs)
	}
}

// comparable leaves out what differs from call to call, or is told shorter by a
// server: the path of a namespace that is missing, and how much of a file is used.
func comparable(said string) string {
	for _, r := range []struct{ pattern, with string }{
		{`stderr: engramd: [^\n]*(no database|no namespace)[^\n]*`, "stderr: missing"},
		{`(?m)^file: .*$|"(file|used)_bytes": \d+,?|transaction \d+|"(transaction|seq)": \d+,?`, "…"},
		{`(?m)^learning: .*\n`, ""},
	} {
		said = regexp.MustCompile(r.pattern).ReplaceAllString(said, r.with)
	}
	return said
}

// TestS06OpenListening: an address that other machines reach is refused without TLS
// and a token that was made before, and nothing is left behind.
func TestS06OpenListening(t *testing.T) {
	for _, address := range []string{"0.0.0.0:0", ":0", "[::]:0", "192.0.2.1:0", "memory.example:0"} {
		dir := filepath.Join(t.TempDir(), "data")
		code, out, errs := command("", "--data", dir, "serve", "--listen", address)
		if code != exitRefused || out != "" || !strings.Contains(errs, "TLS") {
			t.Errorf("%s: %d %q %s", address, code, out, errs)
		}
		code, _, errs = command("", "--data", dir, "serve", "--listen", address, "--tls-cert", "c.pem", "--tls-key", "k.pem")
		if code != exitRefused || !strings.Contains(errs, "token") {
			t.Errorf("%s without a token: %d %s", address, code, errs)
		}
		if _, err := os.Stat(dir); !os.IsNotExist(err) {
			t.Errorf("%s left something behind: %v", address, err)
		}
	}
	for _, args := range [][]string{{"--listen", "nonsense"}, {"--tls-cert", "c.pem"}, {"--listen", "unix:/x", "--tls-cert", "c", "--tls-key", "k"}} {
		if code, _, errs := command("", append([]string{"--data", filepath.Join(t.TempDir(), "data"), "serve"}, args...)...); code != exitUsage {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
}

// TestServe: what a person sees of a server, and what one sees by HTTP.
func TestServe(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	config := filepath.Join(t.TempDir(), "config.json")
	if err := os.WriteFile(config, []byte(`{"backups": "`+filepath.Join(t.TempDir(), "backups")+`", "log-format": "json"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	s := serve(t, dir, "--config", config)
	post := func(path, body string) (int, map[string]any) {
		req, err := http.NewRequest(http.MethodPost, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+s.token)
		req.Header.Set("Content-Type", "application/json")
		res, err := (&http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		var out map[string]any
		if err := json.NewDecoder(res.Body).Decode(&out); err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, out
	}
	if status, out := post("/v1/remember", `{"text":"Ann moved to Lisbon","id":"m1"}`); status != 200 || out["id"] != "m1" {
		t.Errorf("%d %v", status, out)
	}
	if status, out := post("/v1/backup", `{}`); status != 200 {
		t.Errorf("the configuration file: %d %v", status, out)
	}
	if info, err := os.Stat(filepath.Join(dir, "token")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the token's file: %v, %v", info, err)
	}
	code, errs := s.stop()
	if code != 0 || !strings.Contains(errs, `"route":"/v1/remember"`) || strings.Contains(errs, "Lisbon") || strings.Contains(errs, s.token) {
		t.Errorf("%d, log: %s", code, errs)
	}
	if code, out, errs := command("", "--data", dir, "recall", "Lisbon"); code != 0 || !strings.Contains(out, "Ann moved to Lisbon") {
		t.Errorf("afterwards: %d %s %s", code, out, errs)
	}
	for content, want := range map[string]string{`{"lissten": "x"}`: "no flag --lissten", `[]`: "one JSON object", `{"listen": {}}`: "no value"} {
		if err := os.WriteFile(config, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, _, errs := command("", "--data", dir, "--config", config, "serve", "--listen", "0.0.0.0:0"); code != exitUsage && code != exitRefused || !strings.Contains(errs, want) && content != `{"listen": {}}` {
			t.Errorf("%s: %d %s", content, code, errs)
		}
	}
}

// TestTokenLogin: the code that the command prints lets in at the running server, once;
// without a server there is nothing to log in at.
func TestTokenLogin(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, dir)
	code, out, errs := command("", "--data", dir, "token", "login")
	if code != 0 || len(strings.TrimSpace(out)) < 20 || !strings.Contains(errs, "within 2m0s") {
		t.Fatalf("%d %q %q", code, out, errs)
	}
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	for _, want := range []int{http.StatusOK, http.StatusUnauthorized} {
		res, err := client.Post(s.url+"/v1/login", "application/json", strings.NewReader(`{"code":"`+strings.TrimSpace(out)+`"}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only read
		if res.StatusCode != want || want == http.StatusOK && len(res.Cookies()) != 1 {
			t.Errorf("%d %v, want %d", res.StatusCode, res.Cookies(), want)
		}
	}
	if code, out, errs := command("", "--data", dir, "token", "login", "--json"); code != 0 || errs != "" || !strings.HasPrefix(out, `{"code":"`) || !strings.HasSuffix(out, "\",\"expires_in\":120}\n") {
		t.Errorf("%d %q %q", code, out, errs)
	}
	alone := filepath.Join(t.TempDir(), "data")
	if code, _, errs := command("", "--data", alone, "remember", "x"); code != 0 {
		t.Fatal(errs)
	}
	if code, out, errs := command("", "--data", alone, "token", "login"); code != 1 || out != "" || !strings.Contains(errs, "engramd serve") {
		t.Errorf("%d %q %q", code, out, errs)
	}
}

func TestTokens(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	s := serve(t, dir)
	code, secret, errs := command("", "--data", dir, "token", "create", "notes", "--scope", "read", "--only", "default", "--expires", "1h")
	if code != 0 || !strings.HasPrefix(secret, "engram_") {
		t.Fatalf("%d %s %s", code, secret, errs)
	}
	t.Setenv("ENGRAM_TOKEN", strings.TrimSpace(secret))
	if code, out, errs := command("", "--data", s.url, "query", "RETURN 1", "--json"); code != 0 || out != "{\"1\":1}\n" {
		t.Errorf("reading: %d %s %s", code, out, errs)
	}
	if code, _, _ := command("", "--data", s.url, "query", "CREATE (n)"); code != exitRefused {
		t.Errorf("writing: %d", code)
	}
	if code, _, _ := command("", "--data", s.url, "-n", "other", "query", "RETURN 1"); code != exitNotFound {
		t.Errorf("another namespace: %d", code)
	}
	if code, out, errs := command("", "--data", dir, "token", "list"); code != 0 || !strings.Contains(out, "notes") || !strings.Contains(out, "default") || strings.Contains(out, strings.TrimSpace(secret)) {
		t.Errorf("%d %s %s", code, out, errs)
	}
	for _, args := range [][]string{{"create", "notes", "--scope", "read"}, {"create", "root", "--scope", "read"}, {"create", "a b", "--scope", "read"}, {"revoke", "nobody"}} {
		if code, _, errs := command("", append([]string{"--data", dir, "token"}, args...)...); code != exitError || errs == "" {
			t.Errorf("%v: %d %s", args, code, errs)
		}
	}
	if code, _, errs := command("", "--data", dir, "token", "create", "x", "--scope", "everything"); code != exitUsage {
		t.Errorf("an unknown scope: %d %s", code, errs)
	}
	if code, _, errs := command("", "--data", dir, "token", "revoke", "notes"); code != 0 {
		t.Errorf("revoke: %d %s", code, errs)
	}
	if code, _, _ := command("", "--data", s.url, "query", "RETURN 1"); code != exitRefused {
		t.Errorf("after it was revoked: %d", code)
	}
}
