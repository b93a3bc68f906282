package server_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/server"
	"engram/server/token"

	"github.com/gorilla/websocket"
)

// login logs a browser in as a token and returns what sends its cookie in place of a token,
// and the csrf token.
func (h *harness) login(secret string) (cookie func(*http.Request), csrf string) {
	h.t.Helper()
	code := h.request(secret, "POST", "/v1/login/codes", "").json["code"].(string)
	a := h.request("", "POST", "/v1/login", toJSON(map[string]any{"code": code}))
	if a.status != http.StatusOK {
		h.t.Fatalf("%d %s", a.status, a.body)
	}
	return asBrowser(a), a.json["csrf"].(string)
}

// asBrowser sends the cookie of an answer in place of a token.
func asBrowser(a answer) func(*http.Request) {
	name, rest, _ := strings.Cut(a.header.Get("Set-Cookie"), "=")
	value, _, _ := strings.Cut(rest, ";")
	return func(r *http.Request) {
		r.Header.Del("Authorization")
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
}

// steady is a clock that tests turn.
type steady struct {
	mu  sync.Mutex
	now time.Time
}

func (c *steady) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *steady) turn(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// TestLoginCodes: a code lets in once, within two minutes, while its token works; guessing
// is slowed down.
func TestLoginCodes(t *testing.T) {
	clock := &steady{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	h := start(t, func(c *server.Config) { c.Now = clock.Now })
	code := func(secret string) string {
		return toJSON(map[string]any{"code": h.request(secret, "POST", "/v1/login/codes", "").json["code"]})
	}
	try := func(body string) (int, string) {
		a := h.request("", "POST", "/v1/login", body)
		return a.status, a.code()
	}
	once := code(h.root)
	a := h.request("", "POST", "/v1/login", once)
	cookie := a.header.Get("Set-Cookie")
	for _, want := range []string{"engram-" + h.port + "=", "; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age=43200"} {
		if !strings.Contains(cookie, want) {
			t.Errorf("the cookie lacks %q: %s", want, cookie)
		}
	}
	if a.status != 200 || strings.Contains(cookie, "Domain") || strings.Contains(a.body, strings.Split(cookie[strings.Index(cookie, "=")+1:], ";")[0]) {
		t.Errorf("%d %s, %s", a.status, a.body, cookie)
	}
	if status, got := try(once); status != 401 || got != "LoginRefused" {
		t.Errorf("a code used again: %d %s", status, got)
	}
	late := code(h.root)
	clock.turn(2 * time.Minute)
	if status, got := try(late); status != 401 || got != "LoginRefused" {
		t.Errorf("a code that has expired: %d %s", status, got)
	}
	revoked := code(h.token("gone", token.Read))
	if err := h.tokens.Revoke("gone"); err != nil {
		t.Fatal(err)
	}
	if status, got := try(revoked); status != 401 || got != "LoginRefused" {
		t.Errorf("a code of a token that ended: %d %s", status, got)
	}
	good := code(h.root)
	for range 10 {
		try(`{"code":"guessed"}`)
	}
	if status, got := try(good); status != 429 || got != "RateLimited" {
		t.Errorf("after many guesses: %d %s", status, got)
	}
	clock.turn(time.Minute)
	if status, _ := try(good); status != 200 {
		t.Errorf("a minute later: %d", status)
	}
	for range 16 {
		code(h.root)
	}
	if a := h.request(h.root, "POST", "/v1/login/codes", ""); a.status != 429 || a.code() != "RateLimited" {
		t.Errorf("a token with many codes: %d %s", a.status, a.body)
	}
	if log := h.log.String(); strings.Contains(log, strings.Trim(strings.Split(good, ":")[1], `"}`)) {
		t.Error("the log tells a code")
	}
}

// TestLoginEveryRoute: by a cookie, every route takes what its token may, of the Host that
// logged in and, for whatever is no GET, from the page that did.
func TestLoginEveryRoute(t *testing.T) {
	h := start(t)
	cookie, csrf := h.login(h.root)
	weak, weakCSRF := h.login(h.token("weak", token.Chat))
	_, other := h.login(h.root)
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		if r.Scope == "" {
			return
		}
		ask := func(change ...func(*http.Request)) answer { return h.request("", method, path, bodyFor(r), change...) }
		if a := ask(cookie, host("localhost:"+h.port), header("X-CSRF-Token", csrf)); a.status != 401 {
			t.Errorf("%s %s of another Host: %d %s", method, path, a.status, a.body)
		}
		if r.Scope != "chat" && r.Or != "chat" {
			if a := ask(weak, header("X-CSRF-Token", weakCSRF)); a.status != 403 || a.code() != "Forbidden" {
				t.Errorf("%s %s beyond its scopes: %d %s", method, path, a.status, a.body)
			}
		}
		if a := ask(cookie, header("Sec-Fetch-Site", "same-site"), header("X-CSRF-Token", csrf)); a.status != 403 || a.code() != "OriginRefused" {
			t.Errorf("%s %s of another port's page: %d %s", method, path, a.status, a.body)
		}
		if method == http.MethodGet {
			if a := ask(cookie); a.status == 401 || a.code() == "CSRFRefused" {
				t.Errorf("%s %s: %d %s", method, path, a.status, a.body)
			}
			return
		}
		for _, change := range []func(*http.Request){func(*http.Request) {}, header("X-CSRF-Token", ""), header("X-CSRF-Token", "1"), header("X-CSRF-Token", other)} {
			if a := ask(cookie, change); a.status != 403 || a.code() != "CSRFRefused" {
				t.Errorf("%s %s without the header: %d %s", method, path, a.status, a.body)
			}
		}
	})
	if got := h.eql("MATCH (n) RETURN count(n)"); got != "[[0]]" {
		t.Errorf("nodes: %s", got)
	}
	everyRoute(t, h, func(t *testing.T, r server.Route, method, path string) {
		if method == http.MethodGet || path == "/v1/login" { // which would log out
			return
		}
		if a := h.request("", method, path, bodyFor(r), cookie, header("X-CSRF-Token", csrf)); a.status == 401 || a.code() == "CSRFRefused" || a.code() == "Forbidden" && path != "/v1/login/codes" {
			t.Errorf("%s %s with the header: %d %s", method, path, a.status, a.body)
		}
	})
	if a := h.request("", "POST", "/v1/login/codes", "", cookie, header("X-CSRF-Token", csrf)); a.status != 403 || a.code() != "Forbidden" {
		t.Errorf("a session that makes a session: %d %s", a.status, a.body)
	}
}

// TestLoginEnds: a session ends with its time, its token and by logging out; so does what it
// has open.
func TestLoginEnds(t *testing.T) {
	clock := &steady{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	h := start(t, func(c *server.Config) { c.Now = clock.Now })
	status := func(cookie func(*http.Request)) int { return h.request("", "GET", "/v1/stats", "", cookie).status }
	first, _ := h.login(h.root)
	clock.turn(12*time.Hour - time.Second)
	if status(first) != 200 {
		t.Error("within its time")
	}
	clock.turn(time.Second)
	if status(first) != 401 {
		t.Error("a session that has expired")
	}
	named, _ := h.login(h.token("notes", token.Read))
	if a := h.request("", "GET", "/v1/login", "", named); a.json["token"] != "notes" || a.json["session"] != true {
		t.Errorf("%d %s", a.status, a.body)
	}
	if err := h.tokens.Revoke("notes"); err != nil {
		t.Fatal(err)
	}
	h.token("notes", token.Read) // the same name is not the same token
	if status(named) != 401 {
		t.Error("a session of a token that was revoked")
	}
	page, csrf := h.login(h.root)
	req, err := http.NewRequest("GET", h.url, nil)
	if err != nil {
		t.Fatal(err)
	}
	page(req)
	dial := func() (*websocket.Conn, *http.Response, error) {
		return websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(h.url, "http")+"/v1/ws", req.Header)
	}
	if _, res, err := dial(); err == nil || res.StatusCode != 403 {
		t.Errorf("a websocket without an Origin: %v", err)
	}
	req.Header.Set("Origin", h.url)
	conn, _, err := dial()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	a := h.request("", "DELETE", "/v1/login", "", page, header("X-CSRF-Token", csrf))
	if a.json["ended"] != true || !strings.Contains(a.header.Get("Set-Cookie"), "Max-Age=0") || status(page) != 401 {
		t.Errorf("logging out: %d %s %v, then %d", a.status, a.body, a.header, status(page))
	}
	if err := conn.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	_, _, err = conn.ReadMessage()
	if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) {
		t.Errorf("the websocket of a session that ended: %v", err)
	}
}
