package wire_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/chatbridge/gate"
	"engram/chatbridge/internal/wire"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// clock is a clock that tells what it was asked to wait for, and is done at once with
// waits of up to instant.
type clock struct {
	mu      sync.Mutex
	waits   []time.Duration
	instant time.Duration
}

func (c *clock) Now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func (c *clock) AfterFunc(d time.Duration, f func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d <= c.instant {
		c.waits = append(c.waits, d)
		go f()
	}
	return func() bool { return true }
}

func (c *clock) waited() []time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.waits)
}

// transport has no connections that stay open after a test.
func transport() *http.Transport { return &http.Transport{DisableKeepAlives: true} }

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func newGate(t *testing.T, steps string) (*gate.Gate, string) {
	t.Helper()
	script, err := gate.ParseScenario([]byte(`{"scenarios": [{"marker": "MARK", "steps": [` + steps + `]}]}`))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(script, &gate.Options{Key: "secret"})
	url := serve(t, g)
	t.Cleanup(g.Close)
	return g, url
}

func newWire(t *testing.T, c wire.Config) wire.Wire {
	t.Helper()
	if c.Key == "" {
		c.Key = "secret"
	}
	if c.Transport == nil {
		c.Transport = transport()
	}
	w, err := wire.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

var tools = []wire.Tool{{Name: "note", Description: "Take a <note> & keep it.", Schema: json.RawMessage(`{"type":"object","properties":{"text":{"type":"string"}}}`)}}

// everyWay runs a test on both wires, streaming and not.
func everyWay(t *testing.T, test func(t *testing.T, name string, stream bool)) {
	for _, name := range []string{wire.Anthropic, wire.OpenAI} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", name, stream), func(t *testing.T) { test(t, name, stream) })
		}
	}
}

const torture = `{"text":"a \"b\" \\\"c\\\" \t tab 日本 🦊 {\"json\": \"in \\\"json\\\"\", \"n\": [1, 2.50, 1e3]} <&> \\","n":2.50}`

// TestEveryQuirk takes a call and its answer through every quirk of a provider. The
// gate refuses arguments that come back otherwise than they were issued.
func TestEveryQuirk(t *testing.T) {
	for _, quirk := range append(gate.Quirks(), "") {
		t.Run("quirk="+quirk, func(t *testing.T) {
			everyWay(t, func(t *testing.T, name string, stream bool) {
				quirks := `[]`
				if quirk != "" {
					quirks = `["` + quirk + `"]`
				}
				g, url := newGate(t, `{"text": "Grüße 🦊 vorab.", "calls": [{"name": "note", "arguments": `+torture+`}, {"name": "note", "arguments": {}}], "quirks": `+quirks+
					`, "usage": {"input": 70, "output": 8}}, {"text": "Done: {result}", "quirks": `+quirks+`}`)
				w := newWire(t, wire.Config{Wire: name, BaseURL: url})
				r := &wire.Request{Model: "m", System: "s", Messages: []json.RawMessage{w.User("MARK")}, Tools: tools, MaxTokens: 99, Stream: stream}
				var seen strings.Builder
				reply, err := w.Ask(t.Context(), r, func(s string) { seen.WriteString(s) })
				if err != nil {
					t.Fatal(err)
				}
				calls := reply.Calls()
				if reply.Stop != wire.StopCalls || len(calls) != 2 || seen.String() != "Grüße 🦊 vorab." || reply.Blocks[0].Text != seen.String() || reply.Input != 70 || reply.Output != 8 {
					t.Fatalf("reply %+v, seen %q", reply, seen.String())
				}
				var got, want any
				if calls[0].Problem != "" || json.Unmarshal([]byte(calls[0].Arguments), &got) != nil || json.Unmarshal([]byte(torture), &want) != nil || fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("arguments %s (%s)", calls[0].Arguments, calls[0].Problem)
				}
				r.Messages = append(append(r.Messages, reply.Message), w.Results([]wire.Result{{ID: calls[0].ID, Content: "one"}, {ID: calls[1].ID, Content: "two <&>", Failed: true}})...)
				last, err := w.Ask(t.Context(), r, nil)
				if err != nil || last.Stop != wire.StopEnd || last.Blocks[0].Text != "Done: two <&>" {
					t.Errorf("the answer to the results: %+v, error %v", last, err)
				}
				if e := g.Entries(); len(e) != 2 || e[1].System != "s" || !slices.Equal(e[1].Tools, []string{"note"}) {
					t.Errorf("log %+v", e)
				}
			})
		})
	}
}

func TestTextOnlyAndBytes(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		_, url := newGate(t, `{"text": "日本 one byte at a time 🦊", "mode": "bytes", "no_tools": true}`)
		w := newWire(t, wire.Config{Wire: name, BaseURL: url + "/v1/"})
		var pieces []string
		reply, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Stream: stream}, func(s string) { pieces = append(pieces, s) })
		if err != nil || reply.Stop != wire.StopEnd || strings.Join(pieces, "") != "日本 one byte at a time 🦊" || stream == (len(pieces) == 1) {
			t.Errorf("%+v, %q, error %v", reply, pieces, err)
		}
	})
}

func TestReasons(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		for reason, want := range map[string]wire.Stop{"length": wire.StopLength, "galactic": wire.StopUnknown} {
			_, url := newGate(t, `{"text": "x", "calls": [{"name": "note", "arguments": {}}], "stop": "`+reason+`"}`)
			w := newWire(t, wire.Config{Wire: name, BaseURL: url})
			reply, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Tools: tools, Stream: stream}, nil)
			if err != nil || reply.Stop != want || want == wire.StopUnknown && reply.Reason != reason {
				t.Errorf("%s: %+v, error %v", reason, reply, err)
			}
		}
	})
}

func TestBrokenArguments(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		_, url := newGate(t, `{"calls": [{"name": "note", "raw": "{\"text\": \"cut o"}]}, {"text": "sorry"}`)
		w := newWire(t, wire.Config{Wire: name, BaseURL: url})
		r := &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Tools: tools, Stream: stream}
		reply, err := w.Ask(t.Context(), r, nil)
		if err != nil || len(reply.Calls()) != 1 || reply.Calls()[0].Problem == "" {
			t.Fatalf("%+v, error %v", reply, err)
		}
		if name == wire.Anthropic && !stream {
			return // the wire cannot carry it: the gate sends a text where an object belongs
		}
		r.Messages = append(append(r.Messages, reply.Message), w.Results([]wire.Result{{ID: reply.Calls()[0].ID, Content: "bad", Failed: true}})...)
		if _, err := w.Ask(t.Context(), r, nil); err != nil {
			t.Error(err)
		}
	})
}

// TestErrors holds that each failure names provider, status and body, and comes once.
func TestErrors(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		long := strings.Repeat("日", 100)
		for _, c := range []struct {
			step, kind string
			status     int
			says       string
			requests   int
		}{
			{`{"status": 400}`, wire.Status, 400, "the provider P answered HTTP 400: ", 1},
			{`{"status": 401}`, wire.Status, 401, "HTTP 401", 1},
			{`{"status": 429, "retry_after": "7"}`, wire.Status, 429, "HTTP 429", 3},
			{`{"status": 429, "retry_after": "9000"}`, wire.Status, 429, "asks to wait 2h30m0s", 1},
			{`{"status": 500}`, wire.Status, 500, "HTTP 500", 3},
			{`{"status": 503}`, wire.Status, 503, "HTTP 503", 3},
			{`{"status": 502, "body": "` + long + `"}`, wire.Status, 502, `"` + strings.Repeat("日", 66), 3},
			{`{"body": "{\"odd\": [1]}"}`, wire.Shape, 200, `odd`, 1},
			{`{"body": "[]"}`, wire.Shape, 200, "no reply", 1},
			{`{"text": "abcdefghijklmnopqrstuvwxyz, and then on and on", "mode": "drop"}`, wire.Cut, 200, "in the middle", 1},
		} {
			g, url := newGate(t, c.step)
			clk := &clock{instant: time.Minute}
			w := newWire(t, wire.Config{Label: "P", Wire: name, BaseURL: url, Clock: clk})
			_, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Stream: stream}, nil)
			var e *wire.Error
			if !errors.As(err, &e) || e.Kind != c.kind || e.Status != c.status || !strings.Contains(err.Error(), c.says) || len(e.Body) > 200 || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v (%+v)", c.step, err, e)
			}
			if n := g.Stats().Requests; n != c.requests {
				t.Errorf("%s: %d requests, want %d", c.step, n, c.requests)
			}
			if c.status == 429 && c.requests == 3 && !slices.Equal(clk.waited(), []time.Duration{7 * time.Second, 7 * time.Second}) {
				t.Errorf("waited %v", clk.waited())
			}
			if c.kind == wire.Shape && e.Raw == "" {
				t.Errorf("%s: what could not be parsed is not kept", c.step)
			}
		}
	})
}

func TestBusyOnceThenAnswers(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		g, url := newGate(t, `{"status": 503, "times": 1, "text": "room"}`)
		clk := &clock{instant: time.Minute}
		w := newWire(t, wire.Config{Wire: name, BaseURL: url, Clock: clk})
		reply, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Stream: stream}, nil)
		if err != nil || reply.Blocks[0].Text != "room" || g.Stats().Requests != 2 {
			t.Errorf("%+v, error %v", reply, err)
		}
	})
}

func TestSilence(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		_, url := newGate(t, `{"mode": "silent"}`)
		w := newWire(t, wire.Config{Label: "P", Wire: name, BaseURL: url, Clock: &clock{instant: 5 * time.Minute}})
		_, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Stream: stream}, nil)
		var e *wire.Error
		if !errors.As(err, &e) || e.Kind != wire.Silent || !strings.Contains(err.Error(), "P sent nothing for too long: waited 3m0s") {
			t.Errorf("error %v", err)
		}
	})
}

func TestCancel(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		_, url := newGate(t, `{"mode": "silent"}`)
		w := newWire(t, wire.Config{Wire: name, BaseURL: url})
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, err := w.Ask(ctx, &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("MARK")}, Stream: stream}, nil)
		var e *wire.Error
		if !errors.As(err, &e) || e.Kind != wire.Cancelled || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
}

// TestS63KeyStaysWithItsHost holds that neither key nor conversation follow a redirect to
// another host, scheme or port, or an address that a challenge names, on either wire, and
// that nothing of the environment is sent.
func TestS63KeyStaysWithItsHost(t *testing.T) {
	t.Setenv("ANTHROPIC_API_KEY", "canary")
	t.Setenv("OPENAI_API_KEY", "canary")
	t.Setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
	everyWay(t, func(t *testing.T, name string, stream bool) {
		var mu sync.Mutex
		var got []string
		other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, fmt.Sprint(r.Header))
		}))
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if fmt.Sprint(r.Header["X-Api-Key"], r.Header["Authorization"]) != map[string]string{wire.Anthropic: "[secret] []", wire.OpenAI: "[] [Bearer secret]"}[name] {
				t.Errorf("headers %v", r.Header)
			}
			http.Redirect(w, r, other+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		w := newWire(t, wire.Config{Wire: name, BaseURL: url, Label: "P"})
		_, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("hello")}, Stream: stream}, nil)
		var e *wire.Error
		if !errors.As(err, &e) || e.Kind != wire.Redirect || strings.Contains(err.Error(), "canary") {
			t.Errorf("error %v", err)
		}
		challenges := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="`+other+`/token",service="x"`)
			w.Header().Set("Location", other)
			http.Error(w, "sent: "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key"), http.StatusUnauthorized)
		}))
		w = newWire(t, wire.Config{Wire: name, BaseURL: challenges, Label: "P"})
		_, err = w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("hello")}, Stream: stream}, nil)
		if !errors.As(err, &e) || e.Kind != wire.Status || e.Status != 401 || !strings.Contains(err.Error(), "[key]") || strings.Contains(fmt.Sprintf("%v %+v", err, e), "secret") {
			t.Errorf("challenged: %v %+v", err, e)
		}
		mu.Lock()
		defer mu.Unlock()
		if len(got) != 0 {
			t.Errorf("the other host got %q", got)
		}
	})
}

func TestUnreachable(t *testing.T) {
	everyWay(t, func(t *testing.T, name string, stream bool) {
		s := httptest.NewServer(http.NotFoundHandler())
		s.Close()
		w := newWire(t, wire.Config{Label: "P", Wire: name, BaseURL: s.URL})
		_, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("hello")}, Stream: stream}, nil)
		var e *wire.Error
		if !errors.As(err, &e) || e.Kind != wire.Unreachable || !strings.Contains(err.Error(), "the provider P cannot be reached: ") {
			t.Errorf("error %v", err)
		}
	})
}

func TestBaseURL(t *testing.T) {
	for _, c := range []struct{ wire, base, path string }{
		{wire.Anthropic, "", "/v1/messages"},
		{wire.Anthropic, "/", "/v1/messages"},
		{wire.Anthropic, "/v1", "/v1/messages"},
		{wire.Anthropic, "/proxy/v1/", "/proxy/v1/messages"},
		{wire.OpenAI, "", "/v1/chat/completions"},
		{wire.OpenAI, "/v1", "/v1/chat/completions"},
		{wire.OpenAI, "/v1/", "/v1/chat/completions"},
		{wire.OpenAI, "/openai", "/openai/v1/chat/completions"},
		{wire.OpenAI, "/v1beta/openai", "/v1beta/openai/chat/completions"},
	} {
		var path string
		url := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { path = r.URL.Path; w.WriteHeader(http.StatusTeapot) }))
		w := newWire(t, wire.Config{Wire: c.wire, BaseURL: url + c.base})
		if _, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("x")}}, nil); err == nil || path != c.path {
			t.Errorf("%s %q: path %s, error %v", c.wire, c.base, path, err)
		}
	}
	for _, bad := range []string{"", "localhost:80", "ftp://x", "http://u:p@x", "http://x?key=1"} {
		if _, err := wire.New(wire.Config{Wire: wire.OpenAI, BaseURL: bad}); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if _, err := wire.New(wire.Config{Wire: "smoke", BaseURL: "http://x"}); err == nil || !strings.Contains(err.Error(), `no wire "smoke"`) {
		t.Errorf("error %v", err)
	}
}

// TestProviderWords holds replies as real providers send them, without the gate.
func TestProviderWords(t *testing.T) {
	answer := func(kind, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", kind)
			fmt.Fprint(w, text)
		}
	}
	ask := func(t *testing.T, name string, stream bool, h http.Handler) (*wire.Reply, string, error) {
		w := newWire(t, wire.Config{Wire: name, BaseURL: serve(t, h)})
		var b strings.Builder
		r, err := w.Ask(t.Context(), &wire.Request{Model: "m", Messages: []json.RawMessage{w.User("x")}, Stream: stream}, func(s string) { b.WriteString(s) })
		return r, b.String(), err
	}
	t.Run("search", func(t *testing.T) {
		content := `[{"type":"text","text":"I look. "},{"type":"server_tool_use","id":"s1","name":"web_search","input":{"query":"x"}},
			{"type":"web_search_tool_result","tool_use_id":"s1","content":[{"type":"web_search_result","url":"https://a.example/","title":"A","encrypted_content":"zz"}]},
			{"type":"text","text":"It is "},{"type":"text","text":"blue","citations":[{"type":"web_search_result_location","url":"https://b.example/","title":"B","cited_text":"c","encrypted_index":"e"}]},{"type":"text","text":"."}]`
		r, _, err := ask(t, wire.Anthropic, false, answer("application/json", `{"type":"message","role":"assistant","content":`+content+`,"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`))
		if err != nil {
			t.Fatal(err)
		}
		var j wire.Joiner
		for _, b := range r.Blocks {
			if b.Other {
				j.Apart()
			}
			j.Text(b.Text)
		}
		if j.String() != "I look. \n\nIt is blue." || fmt.Sprint(r.Sources) != "[https://a.example/ https://b.example/]" || !strings.Contains(string(r.Message), `"encrypted_content":"zz"`) {
			t.Errorf("text %q, sources %v, echo %s", j.String(), r.Sources, r.Message)
		}
	})
	t.Run("null content", func(t *testing.T) {
		r, _, err := ask(t, wire.OpenAI, false, answer("application/json", `{"choices":[{"message":{"role":"assistant","content":null,"refusal":null,
			"tool_calls":[{"id":"","type":"function","extra":{"sig":"z"},"function":{"name":"note","arguments":""}}]},"finish_reason":"tool_calls"}]}`))
		if err != nil || r.Calls()[0].ID != "call_1" || r.Calls()[0].Arguments != "{}" {
			t.Fatalf("%+v, error %v", r, err)
		}
		if want := `{"content":null,"role":"assistant","tool_calls":[{"extra":{"sig":"z"},"function":{"name":"note","arguments":""},"id":"call_1","type":"function"}]}`; string(r.Message) != want {
			t.Errorf("echo %s", r.Message)
		}
	})
	t.Run("no stream though asked", func(t *testing.T) {
		r, text, err := ask(t, wire.OpenAI, true, answer("application/json", `{"choices":[{"message":{"role":"assistant","content":"whole"},"finish_reason":"stop"}]}`))
		if err != nil || r.Stop != wire.StopEnd || text != "whole" {
			t.Errorf("%+v %q, error %v", r, text, err)
		}
	})
	t.Run("one index for two calls", func(t *testing.T) {
		call := func(id, args string) string {
			return `data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"` + id + `","function":{"name":"note","arguments":"` + args + `"}}]}}]}` + "\n\n"
		}
		r, _, err := ask(t, wire.OpenAI, true, answer("text/event-stream", call("a", `{}`)+call("b", `{\"x\":`)+
			`data: {"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]},"finish_reason":"stop"}]}`+"\n\n"))
		if err != nil || len(r.Calls()) != 2 || r.Calls()[1].Arguments != `{"x":1}` || r.Stop != wire.StopCalls {
			t.Errorf("%+v, error %v", r, err)
		}
	})
	t.Run("error in the stream", func(t *testing.T) {
		for name, text := range map[string]string{
			wire.OpenAI:    "data: {\"error\":{\"message\":\"melted\"}}\n\n",
			wire.Anthropic: "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"melted\"}}\n\n",
		} {
			_, _, err := ask(t, name, true, answer("text/event-stream", text))
			var e *wire.Error
			if !errors.As(err, &e) || e.Kind != wire.Stream || !strings.Contains(err.Error(), "melted") {
				t.Errorf("%s: error %v", name, err)
			}
		}
	})
}
