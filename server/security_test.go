package server_test

import (
	"bufio"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"engram/server"
	"engram/server/token"
)

// filled is a route's path with values in it.
func filled(r server.Route) string {
	path := strings.NewReplacer("{id}", "x", "{name}", "default").Replace(r.Pattern)
	return path
}

// bodyFor is a body that a route takes so far that its token matters.
func bodyFor(r server.Route) string {
	if r.Body {
		return "{}"
	}
	return ""
}

// everyRoute calls fn for each route of the table: a new one cannot be forgotten.
func everyRoute(t *testing.T, h *harness, fn func(t *testing.T, r server.Route, method, path string)) {
	t.Helper()
	n := 0
	for _, r := range h.server.Routes() {
		n++
		fn(t, r, r.Method, filled(r))
	}
	if n < 20 {
		t.Fatalf("only %d routes", n)
	}
}

// TestS01DNSRebinding: a page of evil.example whose name leads to this machine is
// kept out of every route by the Host, with and without a token.
func TestS01DNSRebinding(t *testing.T) {
	h := start(t)
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		for _, name := range []string{
			"evil.example", "evil.example:" + h.port, "0.0.0.0:" + h.port, "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:" + h.port,
			"127.0.0.1.nip.io:" + h.port, "localhost.:" + h.port, "[::ffff:127.0.0.1]:" + h.port, "2130706433:" + h.port, "",
		} {
			if name == "" && method == "GET" {
				continue // the client puts its own in
			}
			a := h.request(h.root, method, path, bodyFor(r), host(name), header("Origin", "http://"+name))
			if name != "" && (a.status != http.StatusForbidden || a.code() != "HostRefused") {
				t.Errorf("%s %s with Host %q: %d %s", method, path, name, a.status, a.body)
			}
		}
	})
	for _, name := range []string{"localhost:" + h.port, "127.0.0.1:" + h.port, "LocalHost:" + h.port, "[::1]:" + h.port} {
		if a := h.request(h.root, "GET", "/v1/stats", "", host(name)); a.status != http.StatusOK {
			t.Errorf("Host %s: %d %s", name, a.status, a.body)
		}
	}
	for _, raw := range []string{"GET /v1/stats HTTP/1.1\r\n\r\n", "GET /v1/stats HTTP/1.0\r\n\r\n", "GET http://evil.example/v1/stats HTTP/1.1\r\nHost: 127.0.0.1:" + h.port + "\r\n\r\n", "OPTIONS * HTTP/1.1\r\nHost: evil.example\r\n\r\n"} {
		if line := h.raw(t, strings.Replace(raw, "\r\n\r\n", "\r\nAuthorization: Bearer "+h.root+"\r\n\r\n", 1)); !strings.Contains(line, " 403 ") && !strings.Contains(line, " 400 ") {
			t.Errorf("%q: %s", raw, line)
		}
	}
}

// raw sends bytes and returns the first line of the answer.
func (h *harness) raw(t *testing.T, text string) string {
	t.Helper()
	c, err := net.Dial("tcp", "127.0.0.1:"+h.port)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(c).ReadString('\n') // a closed connection gives none
	return line
}

// TestS02RebindingWithoutOrigin: browsers leave the Origin out of a GET of the same
// origin; the Host is enough to refuse it. Names that were configured are let in.
func TestS02RebindingWithoutOrigin(t *testing.T) {
	h := start(t, func(c *server.Config) { c.Hosts = []string{"memory.example", "proxied.example:443"} })
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		if a := h.request(h.root, method, path, bodyFor(r), host("evil.example:"+h.port)); a.status != http.StatusForbidden || a.code() != "HostRefused" {
			t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
		}
	})
	for name, want := range map[string]int{
		"memory.example:" + h.port: 200, "memory.example": 200, "memory.example:1": 403, "proxied.example:443": 200, "proxied.example": 403,
	} {
		if a := h.request(h.root, "GET", "/v1/stats", "", host(name)); a.status != want {
			t.Errorf("Host %s: %d, want %d", name, a.status, want)
		}
	}
}

// TestS04CrossSite: what a page of another site can send is refused, and nothing is
// done.
func TestS04CrossSite(t *testing.T) {
	h := start(t, func(c *server.Config) { c.Origins = []string{"https://notes.example"} })
	statement := `{"statement":"CREATE (:Evil)"}`
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		for _, change := range []func(*http.Request){
			header("Origin", "https://evil.example"), header("Origin", "null"), header("Origin", "http://127.0.0.1:1"), header("Origin", "https://127.0.0.1:"+h.port),
			header("Sec-Fetch-Site", "cross-site"), header("Sec-Fetch-Site", "same-site"), header("Sec-Fetch-Site", "strange"),
			func(q *http.Request) {
				q.Header["Origin"] = []string{"http://127.0.0.1:" + h.port, "https://evil.example"}
			},
		} {
			if a := h.request(h.root, method, path, bodyFor(r), change); a.status != http.StatusForbidden || a.code() != "OriginRefused" || a.header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
		}
		if !r.Body {
			return
		}
		for _, media := range []string{"text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "application/json, text/plain", "application/json; charset=utf-16"} {
			if a := h.request(h.root, method, path, statement, header("Content-Type", media)); a.status != http.StatusUnsupportedMediaType || a.code() != "UnsupportedMediaType" {
				t.Errorf("%s %s as %q: %d %s", method, path, media, a.status, a.body)
			}
		}
	})
	for _, path := range []string{"/v1/query?statement=CREATE%20(:Evil)", "/v1/query", "/v1/recall?query=x"} {
		if a := h.request(h.root, "GET", path, ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "POST" {
			t.Errorf("GET %s: %d %s", path, a.status, a.body)
		}
	}
	if a := h.request("", "OPTIONS", "/v1/query", "", header("Origin", "https://evil.example"), header("Access-Control-Request-Method", "POST")); a.status != http.StatusForbidden {
		t.Errorf("preflight of another page: %d", a.status)
	}
	if a := h.request("", "OPTIONS", "/v1/query", "", header("Origin", "https://notes.example")); a.status != http.StatusNoContent || a.header.Get("Access-Control-Allow-Origin") != "https://notes.example" {
		t.Errorf("preflight of a configured page: %d %v", a.status, a.header)
	}
	if a := h.request(h.root, "GET", "/v1/stats", "", header("Origin", "https://notes.example"), header("Sec-Fetch-Site", "cross-site")); a.status != http.StatusOK {
		t.Errorf("a configured page: %d %s", a.status, a.body)
	}
	if a := h.request(h.root, "GET", "/v1/stats", "", header("Origin", "http://127.0.0.1:"+h.port), header("Sec-Fetch-Site", "same-origin")); a.status != http.StatusOK {
		t.Errorf("a page of its own: %d %s", a.status, a.body)
	}
	if got := h.eql("MATCH (n:Evil) RETURN count(n)"); got != "[[0]]" {
		t.Errorf("evil nodes: %s", got)
	}
}

// TestS05NoToken and TestS07EveryRoute: every route refuses who has no token, a wrong
// or an expired one, and one whose scopes do not allow it.
func TestS05NoToken(t *testing.T) {
	h := start(t)
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		a := h.request("", method, path, bodyFor(r))
		if r.Scope == "" {
			if (path != "/healthz" || a.status != http.StatusOK) && (path != "/v1/login" || method != "POST" || a.code() != "InvalidArgument") {
				t.Errorf("%s %s needs no token: %d", method, path, a.status)
			}
			return
		}
		if a.status != http.StatusUnauthorized || a.code() != "Unauthenticated" || !strings.HasPrefix(a.header.Get("Www-Authenticate"), "Bearer") {
			t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
		}
	})
	for _, path := range []string{"/", "/v1", "/v2/query", "/v1/nothing", "/mcp", "/debug/pprof/", "/v1/../metrics", "//metrics"} {
		if a := h.request("", "GET", path, ""); a.status != http.StatusUnauthorized {
			t.Errorf("%s without a token: %d: it tells what there is", path, a.status)
		}
	}
}

func TestS07EveryRoute(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	h := start(t)
	secrets := map[token.Scope]string{}
	for _, s := range token.Scopes() {
		secrets[s] = h.token("only-"+string(s), s)
	}
	old := token.Open(h.dir, &token.Options{Now: func() time.Time { return now }})
	expired, err := old.Create(token.Spec{Name: "expired", Scopes: token.Scopes(), Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		if r.Scope == "" {
			return
		}
		for _, wrong := range []string{expired, h.root + "x", h.root[:len(h.root)-1], "engram_", "null", strings.Repeat("a", 5000), "eyJhbGciOiJub25lIn0.eyJzY29wZSI6ImFkbWluIn0."} {
			if a := h.request(wrong, method, path, bodyFor(r)); a.status != http.StatusUnauthorized {
				t.Errorf("%s %s with a token that does not work: %d %s", method, path, a.status, a.body)
			}
		}
		for scope, secret := range secrets {
			allowed := string(scope) == r.Scope || string(scope) == r.Or || r.Scope == "read" && (scope == token.Write || scope == token.Admin) || r.Scope == "write" && scope == token.Admin
			a := h.request(secret, method, path, bodyFor(r))
			if forbidden := a.status == http.StatusForbidden && a.code() == "Forbidden"; forbidden == allowed {
				t.Errorf("%s %s with the scope %s: %d %s", method, path, scope, a.status, a.body)
			}
			if a.status == http.StatusUnauthorized || a.status >= 500 {
				t.Errorf("%s %s with the scope %s: %d %s", method, path, scope, a.status, a.body)
			}
		}
	})
}

// TestS08ClaimedScope: what a client claims to be allowed changes nothing.
func TestS08ClaimedScope(t *testing.T) {
	h := start(t)
	secret := h.token("reader", token.Read)
	for _, change := range []func(*http.Request){
		header("X-Scope", "admin"), header("Scope", "write"), header("X-Forwarded-User", "root"), header("X-Original-Method", "GET"), header("X-HTTP-Method-Override", "GET"),
		func(r *http.Request) { r.URL.RawQuery = "access_token=" + h.root },
		func(r *http.Request) { r.URL.RawQuery = "token=" + h.root },
		func(r *http.Request) { r.AddCookie(&http.Cookie{Name: "token", Value: h.root}) },
		func(r *http.Request) { r.Header["Authorization"] = append(r.Header["Authorization"], "Bearer "+h.root) },
		func(r *http.Request) { r.SetBasicAuth("root", h.root) },
	} {
		a := h.request(secret, "POST", "/v1/remember", `{"text":"evil"}`, change)
		if a.status != http.StatusForbidden && a.status != http.StatusUnauthorized && a.status != http.StatusBadRequest {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
	if a := h.request(secret, "POST", "/v1/query", `{"statement":"CREATE (:Evil)","scope":"admin"}`); a.status != 400 || a.code() != "UnknownField" || a.json["field"] != "scope" {
		t.Errorf("%d %s", a.status, a.body)
	}
	if got := h.eql("MATCH (n) RETURN count(n)"); got != "[[0]]" {
		t.Errorf("nodes: %s", got)
	}
}

// TestS09Rotation: a token that ended is refused by the next request.
func TestS09Rotation(t *testing.T) {
	h := start(t)
	named := h.token("notes", token.Read)
	if a := h.request(named, "GET", "/v1/stats", ""); a.status != 200 {
		t.Fatalf("%d %s", a.status, a.body)
	}
	other := token.Open(h.dir, nil) // as another process does
	if err := other.Revoke("notes"); err != nil {
		t.Fatal(err)
	}
	fresh, err := other.Rotate()
	if err != nil {
		t.Fatal(err)
	}
	for secret, want := range map[string]int{named: 401, h.root: 401, fresh: 200} {
		if a := h.request(secret, "GET", "/v1/stats", ""); a.status != want {
			t.Errorf("%d, want %d: %s", a.status, want, a.body)
		}
	}
	if err := os.Chmod(filepath.Join(h.dir, "token"), 0o644); err != nil {
		t.Fatal(err)
	}
	if a := h.request(fresh, "GET", "/v1/stats", ""); a.status != 401 {
		t.Errorf("a token that all users can read: %d", a.status)
	}
}

// TestS10OthersTransaction: the id of another token's transaction is worth nothing.
func TestS10OthersTransaction(t *testing.T) {
	h := start(t)
	mine, theirs := h.token("mine", token.Write), h.token("theirs", token.Write, token.Admin)
	id := h.request(mine, "POST", "/v1/transactions", `{"mode":"read"}`).json["id"].(string)
	use := toJSON(map[string]any{"statement": "RETURN 1", "transaction": id})
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/v1/query", use}, {"POST", "/v1/transactions/" + id + "/commit", ""}, {"DELETE", "/v1/transactions/" + id, ""},
	} {
		if a := h.request(theirs, c.method, c.path, c.body); a.status != 404 || a.code() != "TransactionNotFound" {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	if err := h.tokens.Revoke("mine"); err != nil {
		t.Fatal(err)
	}
	again := h.token("mine", token.Write) // the same name is not the same token
	if a := h.request(again, "POST", "/v1/query", use); a.status != 404 {
		t.Errorf("by name: %d %s", a.status, a.body)
	}
}

// TestS13OtherAudience: a token of another data directory is refused.
func TestS13OtherAudience(t *testing.T) {
	h := start(t)
	foreign, err := token.Open(t.TempDir(), nil).Ensure()
	if err != nil {
		t.Fatal(err)
	}
	if a := h.request(foreign, "GET", "/v1/stats", ""); a.status != 401 {
		t.Errorf("%d %s", a.status, a.body)
	}
}

// TestS14SlowClients: clients that send or take nothing are cut off; others are
// served meanwhile.
func TestS14SlowClients(t *testing.T) {
	h := start(t, func(c *server.Config) {
		c.BodyTimeout, c.MaxConnsPerClient = 300*time.Millisecond, 40
	})
	slow := "POST /v1/recall HTTP/1.1\r\nHost: 127.0.0.1:" + h.port + "\r\nAuthorization: Bearer " + h.root + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{\"query\""
	for range 3 {
		if line := h.raw(t, slow); !strings.Contains(line, " 408 ") {
			t.Errorf("a body that stops: %q", line)
		}
	}
	var held []net.Conn
	defer func() {
		for _, c := range held {
			_ = c.Close() // the server may have done so
		}
	}()
	for range 30 {
		c, err := net.Dial("tcp", "127.0.0.1:"+h.port)
		if err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
		if _, err := c.Write([]byte("GET /v1/stats HTTP/1.1\r\nHost: 127.0.0.1:" + h.port + "\r\nX-Slow")); err != nil {
			t.Fatal(err)
		}
	}
	if a := h.request(h.root, "GET", "/v1/stats", ""); a.status != 200 {
		t.Errorf("another client: %d", a.status)
	}
	refused := false
	for range 30 {
		c, err := net.Dial("tcp", "127.0.0.1:"+h.port)
		if err != nil {
			refused = true
			break
		}
		held = append(held, c)
		if err := c.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if len(held) > 45 {
			if _, err := c.Read(make([]byte, 1)); err != nil && !os.IsTimeout(err) {
				refused = true
				break
			}
		}
	}
	if !refused {
		t.Error("one client has more connections than it may")
	}
}

// TestS15Bodies: what is too large or too deep is refused before it costs memory.
func TestS15Bodies(t *testing.T) {
	h := start(t, func(c *server.Config) { c.MaxBody = 1 << 20 })
	before := heap()
	big := `{"statement":"` + strings.Repeat("a", 2<<20) + `"}`
	keys := strings.Builder{}
	for i := range 60_000 {
		fmt.Fprintf(&keys, `,"k%d":1`, i)
	}
	for name, c := range map[string]struct {
		body   string
		status int
		code   string
		change func(*http.Request)
	}{
		"large":            {big, 413, "BodyTooLarge", nil},
		"large in chunks":  {big, 413, "BodyTooLarge", func(r *http.Request) { r.ContentLength = -1 }},
		"packed":           {"{}", 415, "UnsupportedMediaType", header("Content-Encoding", "gzip")},
		"deep":             {strings.Repeat(`{"parameters":`, 1) + strings.Repeat("[", 500_000), 400, "TooComplex", nil},
		"many keys":        {`{"parameters":{"a":1` + keys.String() + `}}`, 400, "TooComplex", nil},
		"half":             {`{"statement":"RETURN`, 400, "InvalidJSON", nil},
		"nested brackets":  {toJSON(map[string]any{"statement": "RETURN " + strings.Repeat("(", 100_000)}), 422, "ResourceExhausted", nil},
		"nested lists":     {toJSON(map[string]any{"statement": "RETURN " + strings.Repeat("[", 100_000)}), 422, "ResourceExhausted", nil},
		"a list of lists":  {`[{"statement":"RETURN 1"}]`, 400, "InvalidJSON", nil},
		"several requests": {`{"statement":"RETURN 1"}{"statement":"RETURN 2"}`, 400, "InvalidJSON", nil},
	} {
		change := c.change
		if change == nil {
			change = func(*http.Request) {}
		}
		a, err := h.try(h.root, "POST", "/v1/query", c.body, change)
		if err != nil && c.status == 413 {
			continue // cut off before the client had sent it all
		}
		if err != nil || a.status != c.status || a.code() != c.code {
			t.Errorf("%s: %d %.300s %v, want %d %s", name, a.status, a.body, err, c.status, c.code)
		}
	}
	if a, err := h.try(h.root, "GET", "/v1/stats", "", header("X-Long", strings.Repeat("a", 64<<10))); err == nil && a.status != http.StatusRequestHeaderFieldsTooLarge {
		t.Errorf("long headers: %d", a.status) // an error: cut off before the client had sent it all
	}
	if a := h.request(h.root, "GET", "/v1/stats?"+strings.Repeat("a", 8<<10), ""); a.status != 400 || len(a.body) > 64<<10 {
		t.Errorf("long query: %d, %d bytes", a.status, len(a.body))
	}
	if after := heap(); after > before+64<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestS16Keys: keys that two readers might read differently are refused.
func TestS16Keys(t *testing.T) {
	h := start(t)
	for body, code := range map[string]string{
		`{"statement":"RETURN 1","statement":"CREATE (:Evil)"}`:           "DuplicateKey",
		`{"statement":"RETURN 1","Statement":"CREATE (:Evil)"}`:           "UnknownField",
		`{"statement":"RETURN 1","ſtatement":"CREATE (:Evil)"}`:           "UnknownField",
		`{"statement":"RETURN 1","statement\u0000":"CREATE (:Evil)"}`:     "UnknownField",
		`{"statement":"RETURN 1","st\u0061tement":"CREATE (:Evil)"}`:      "DuplicateKey",
		`{"statement":"RETURN $x","parameters":{"x":1,"x":2}}`:            "DuplicateKey",
		`{"statement":"RETURN 1","mode":"read","Mode":"write"}`:           "UnknownField",
		`{"statement":"RETURN 1","budget":{"rows":1,"Rows":100}}`:         "UnknownField",
		`{"statement":"RETURN 1","parameters":{"x":{"y":{"z":1,"z":2}}}}`: "DuplicateKey",
	} {
		if a := h.request(h.root, "POST", "/v1/query", body); a.status != 400 || a.code() != code {
			t.Errorf("%s: %d %s, want %s", body, a.status, a.body, code)
		}
	}
	for path, code := range map[string]string{
		"/v1/stats?namespace=default&namespace=other": "DuplicateKey", "/v1/stats?Namespace=other": "UnknownField", "/v1/nodes?limit=1&x=2": "UnknownField", "/v1/stats?a;b": "InvalidArgument",
	} {
		if a := h.request(h.root, "GET", path, ""); a.status != 400 || a.code() != code {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.body, code)
		}
	}
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		if r.Body && !r.Stream || path == "/v1/backup" {
			if a := h.request(h.root, method, path, `{"no_such_field":1}`); a.status != 400 || a.code() != "UnknownField" || a.json["field"] != "no_such_field" {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
		}
	})
}

// TestS17DeclaredSizes: a length that is declared is not believed.
func TestS17DeclaredSizes(t *testing.T) {
	h := start(t, func(c *server.Config) { c.BodyTimeout = 300 * time.Millisecond })
	head := "POST /v1/%s HTTP/1.1\r\nHost: 127.0.0.1:" + h.port + "\r\nAuthorization: Bearer " + h.root + "\r\nContent-Type: application/json\r\n"
	before := heap()
	for _, c := range []struct{ route, rest, want string }{
		{"query", "Content-Length: 16000000\r\n\r\n{", " 408 "},
		{"query", "Content-Length: 999999999999\r\n\r\n{", " 413 "},
		{"query", "Content-Length: 99999999999999999999\r\n\r\n{", " 400 "},
		{"query", "Content-Length: -1\r\n\r\n{", " 400 "},
		{"query", "Content-Length: 5\r\nContent-Length: 6\r\n\r\n{", " 400 "},
		{"query", "Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFF\r\n{", " 408 "},
		{"import", "Content-Length: 4000000000\r\n\r\n{", " 408 "},
		{"import", "Content-Length: 999999999999\r\n\r\n{", " 413 "},
	} {
		if line := h.raw(t, fmt.Sprintf(head, c.route)+c.rest); !strings.Contains(line, c.want) {
			t.Errorf("%s %q: %q, want%s", c.route, c.rest, line, c.want)
		}
	}
	if after := heap(); after > before+32<<20 {
		t.Errorf("the heap grew from %d to %d bytes", before, after)
	}
}

// TestS18GenericErrors: a refusal tells nothing of what is behind it, and no answer or
// log tells tokens, paths or content.
func TestS18GenericErrors(t *testing.T) {
	h := start(t)
	reader := h.token("reader", token.Read)
	secret := "canary-content-8d1f"
	var bodies []string
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		if path == "/metrics" {
			return // tells of the process by design
		}
		bodies = append(bodies, h.request("", method, path, bodyFor(r)).body, h.request("engram_wrong", method, path, bodyFor(r)).body, h.request(reader, method, path, bodyFor(r)).body)
	})
	h.must("POST", "/v1/remember", `{"text":"`+secret+`"}`)
	for _, a := range []answer{
		h.request(h.root, "POST", "/v1/query", `{"statement":"RETURN nosuch(1)"}`), h.request(h.root, "GET", "/v1/nodes/nobody", ""),
		h.request(h.root, "GET", "/v1/stats?namespace=nobody", ""), h.request(h.root, "GET", "/v1/stats?namespace=../etc", ""),
		h.request(h.root, "POST", "/v1/namespaces", `{"name":"default"}`), h.request(h.root, "DELETE", "/v1/namespaces/nobody", ""),
		h.request(h.root, "PATCH", "/v1/namespaces/nobody", `{"name":"x"}`), h.request(h.root, "PATCH", "/v1/namespaces/nobody", `{"quota_bytes":33554432}`),
	} {
		if a.status < 400 || a.status >= 500 || a.code() == "" || a.header.Get("Content-Type") != "application/problem+json" {
			t.Errorf("%d %s", a.status, a.body)
		}
		bodies = append(bodies, a.body)
	}
	hidden := []string{h.dir, "/tmp", "graph.db", ".go:", "goroutine", "bbolt", "sha256", "struct {", "<nil>", "%!"}
	for _, body := range bodies {
		for _, word := range append(slices.Clone(hidden), h.root, reader) {
			if strings.Contains(body, word) {
				t.Errorf("an answer tells %q: %s", word, body)
			}
		}
	}
	log := h.log.String()
	for _, word := range []string{h.root, reader, secret, "nosuch"} {
		if strings.Contains(log, word) {
			t.Errorf("the log tells %q", word)
		}
	}
	before := strings.Count(log, `"msg":"write"`)
	h.must("POST", "/v1/query", `{"statement":"MATCH (n) RETURN n"}`)
	h.must("POST", "/v1/query", `{"statement":"CREATE (:N)"}`)
	if n := strings.Count(h.log.String(), `"msg":"write"`) - before; n != 1 {
		t.Errorf("a reading and a writing statement are told as %d writes", n)
	}
	if !strings.Contains(log, `"route":"/v1/remember"`) || !strings.Contains(log, `"token":"root"`) {
		t.Errorf("the log does not tell of the write: %s", log)
	}
	unauthorized := h.request("", "GET", "/v1/stats", "").json
	delete(unauthorized, "request")
	if got := toJSON(unauthorized); got != `{"code":"Unauthenticated","detail":"a valid token is needed, as Authorization: Bearer","status":401,"title":"Unauthorized","type":"urn:engram:problem:Unauthenticated"}` {
		t.Errorf("401: %s", got)
	}
}
