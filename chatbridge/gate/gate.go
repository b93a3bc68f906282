package gate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Options of a Gate; nil: the defaults.
type Options struct {
	// Key that requests must carry (x-api-key, or Authorization: Bearer). Empty: none
	// is asked for.
	Key string
	// Mode makes every reply hostile, as Step.Mode does one. With ModeForever the first
	// tool that a request offers is called for ever, with no arguments.
	Mode string
	// Log takes each entry of the log as a line of JSON, as it comes about. The gate
	// writes one at a time. nil: nowhere.
	Log io.Writer
	// Entries bounds the entries that are kept for Entries and /gate/log; the oldest go
	// first. 0: 10,000.
	Entries int
	// BodyLimit bounds a request in bytes, past which it is answered with 413.
	// 0: 16 MiB.
	BodyLimit int64
}

// Gate is the scripted provider, an http.Handler. It serves
//
//	POST /v1/messages          Anthropic Messages
//	POST /v1/chat/completions  OpenAI Chat Completions
//	GET  /v1/models            the one model there is, "gate"
//	GET  /gate/stats           counts, as JSON: see Stats
//	GET  /gate/log             the log, a line of JSON each: see Entry
//
// It may be used by several goroutines.
type Gate struct {
	script *Script
	o      Options
	mux    *http.ServeMux
	closed chan struct{}
	once   sync.Once

	mu      sync.Mutex
	seq     int
	entries []Entry
	stats   Stats
	issued  map[string]Issued
	failed  map[string]int // how often a step was answered with its status or body
}

// Issued is a call that the gate made.
type Issued struct {
	// ID of the call, Name of the tool.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments as they were sent; Object: as an object on a wire that wants a text.
	Arguments string `json:"arguments"`
	Object    bool   `json:"object,omitempty"`
}

// Entry is one request and what was answered: the ground truth.
type Entry struct {
	// Seq counts the requests from 1.
	Seq int `json:"seq"`
	// Wire is "anthropic" or "openai", Stream tells how the reply was asked for.
	Wire   string `json:"wire"`
	Stream bool   `json:"stream"`
	// Marker of the scenario, empty for a prompt without one; Step counts from 1.
	Marker string `json:"marker,omitempty"`
	Step   int    `json:"step,omitempty"`
	// Background: the prompt held no marker. Exhausted: the script had ended.
	Background bool `json:"background,omitempty"`
	Exhausted  bool `json:"exhausted,omitempty"`
	// Status that was answered, and the code where it was refused.
	Status int    `json:"status"`
	Code   string `json:"code,omitempty"`
	Error  string `json:"error,omitempty"`
	// Prompt, System and Tools of the request, and the results in it since the prompt.
	Prompt  string   `json:"prompt,omitempty"`
	System  string   `json:"system,omitempty"`
	Tools   []string `json:"tools,omitempty"`
	Results []Result `json:"results,omitempty"`
	// Text and Calls that were delivered.
	Text  string   `json:"text,omitempty"`
	Calls []Issued `json:"calls,omitempty"`
	// Delivered: the whole answer was written to the connection.
	Delivered bool `json:"delivered"`
	// Body is a request that could not be parsed, its first 4,096 bytes verbatim.
	Body string `json:"body,omitempty"`
}

// Result is a result of a call that a request brought.
type Result = result

// Stats counts what a gate has done since it was made.
type Stats struct {
	// Requests in all; of them Refused with 400, Background (no marker), Exhausted
	// (past the script's end), Undelivered (hostile, or the client left).
	Requests    int `json:"requests"`
	Refused     int `json:"refused"`
	Background  int `json:"background"`
	Exhausted   int `json:"exhausted"`
	Undelivered int `json:"undelivered"`
	// Codes counts the refusals by code, Wires the requests by wire, Markers by
	// scenario.
	Codes   map[string]int `json:"codes"`
	Wires   map[string]int `json:"wires"`
	Markers map[string]int `json:"markers"`
	// Dropped entries of the log, which holds only the newest.
	Dropped int `json:"dropped"`
}

// New makes a gate that answers as the script says. The script is not changed and may
// be shared.
func New(script *Script, o *Options) *Gate {
	g := &Gate{
		script: script, closed: make(chan struct{}), issued: map[string]Issued{}, failed: map[string]int{},
		stats: Stats{Codes: map[string]int{}, Wires: map[string]int{}, Markers: map[string]int{}},
	}
	if o != nil {
		g.o = *o
	}
	if g.o.Entries <= 0 {
		g.o.Entries = 10_000
	}
	if g.o.BodyLimit <= 0 {
		g.o.BodyLimit = 16 << 20
	}
	g.mux = http.NewServeMux()
	g.mux.HandleFunc("POST /v1/messages", func(w http.ResponseWriter, r *http.Request) { g.answer(w, r, anthropicDialect{}) })
	g.mux.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { g.answer(w, r, openaiDialect{}) })
	g.mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]any{"object": "list", "data": []any{map[string]any{"id": "gate", "object": "model", "type": "model"}}})
	})
	g.mux.HandleFunc("GET /gate/stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, g.Stats()) })
	g.mux.HandleFunc("GET /gate/log", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, e := range g.Entries() {
			_, _ = w.Write(line(e)) // the client left
		}
	})
	return g
}

// ServeHTTP answers one request.
func (g *Gate) ServeHTTP(w http.ResponseWriter, r *http.Request) { g.mux.ServeHTTP(w, r) }

// Close ends the requests that a hostile mode keeps open.
func (g *Gate) Close() { g.once.Do(func() { close(g.closed) }) }

// Entries are the entries of the log, oldest first.
func (g *Gate) Entries() []Entry {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.entries)
}

// Stats are the counts so far.
func (g *Gate) Stats() Stats {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := g.stats
	s.Codes, s.Wires, s.Markers = copied(s.Codes), copied(s.Wires), copied(s.Markers)
	return s
}

func copied(m map[string]int) map[string]int {
	out := make(map[string]int, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}

// dialect is what the wires do differently.
type dialect interface {
	name() string
	check(h http.Header, body []byte, issued func(string) (Issued, bool)) (*request, error)
	failure(status int, code, text string) any
	whole(r *reply) []byte
	stream(r *reply) []byte
}

// reply is a reply that is about to be sent.
type reply struct {
	step   Step
	req    *request
	text   string
	calls  []Issued
	usage  Usage
	number int
}

func (g *Gate) answer(w http.ResponseWriter, r *http.Request, d dialect) {
	e := Entry{Wire: d.name()}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, g.o.BodyLimit))
	if err != nil {
		status := http.StatusBadRequest
		if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
			status = http.StatusRequestEntityTooLarge
		}
		g.fail(w, d, &e, status, CodeInvalid, "the body could not be read")
		return
	}
	if g.o.Key != "" && r.Header.Get("x-api-key") != g.o.Key && r.Header.Get("Authorization") != "Bearer "+g.o.Key {
		g.fail(w, d, &e, http.StatusUnauthorized, "unauthorized", "the key is missing or another one")
		return
	}
	req, err := d.check(r.Header, body, g.issuedCall)
	if err != nil {
		g.refuse(w, d, &e, err, body)
		return
	}
	e.Stream, e.Prompt, e.System, e.Tools, e.Results = req.Stream, req.Prompt, req.System, req.Tools, req.Results
	step, failing := g.choose(req, &e)
	if err := step.expect(req); err != nil {
		g.refuse(w, d, &e, err, nil)
		return
	}
	if failing && (step.Status != 0 || step.Body != "") {
		g.sendFailure(w, d, &e, step)
		return
	}
	g.send(w, r, d, &e, g.prepare(d, req, step, &e))
}

// choose finds the step that answers a request, and whether it is one that fails now.
func (g *Gate) choose(req *request, e *Entry) (Step, bool) {
	sc := g.script.find(req.Prompt)
	if g.o.Mode == ModeForever && len(req.Tools) > 0 {
		return Step{Calls: []Call{{Name: req.Tools[0]}}, Mode: ModeForever}, false
	}
	if sc == nil {
		e.Background = true
		return background, false
	}
	step := sc.at(req.Rounds)
	e.Marker, e.Step = sc.Marker, req.Rounds+1
	e.Exhausted = step.Text == exhausted.Text
	if step.Status == 0 && step.Body == "" {
		return step, false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	key := fmt.Sprint(sc.Marker, " ", req.Rounds)
	g.failed[key]++
	return step, step.Times == 0 || g.failed[key] <= step.Times
}

// prepare makes the reply of a step: ids are a function of the scenario, the step and
// the length of the conversation, so that they differ within one and repeat with it.
func (g *Gate) prepare(d dialect, req *request, step Step, e *Entry) *reply {
	r := &reply{step: step, req: req, number: req.Messages}
	r.text = strings.ReplaceAll(step.Text, "{results}", req.results())
	last := ""
	if n := len(req.Results); n > 0 {
		last = req.Results[n-1].Content
	}
	r.text = strings.ReplaceAll(r.text, "{result}", last)
	g.mu.Lock()
	for i, c := range step.Calls {
		id := fmt.Sprintf("call_%s_%d_%d_%d", slug(e.Marker), req.Rounds+1, req.Messages, i+1)
		made := Issued{ID: id, Name: c.Name, Arguments: c.sent(), Object: d.name() == "openai" && step.has(QuirkObject)}
		g.issued[id] = made
		r.calls = append(r.calls, made)
	}
	g.mu.Unlock()
	out := len(r.text)
	for _, c := range r.calls {
		out += len(c.Name) + len(c.Arguments)
	}
	in := len(req.System) + len(req.Prompt) + len(req.results())
	if r.usage = (Usage{in/4 + 1, out/4 + 1}); step.Usage != nil {
		r.usage = *step.Usage
	}
	return r
}

// slug is a marker as part of an id.
func slug(marker string) string {
	out := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, strings.ToLower(marker))
	return out[:min(len(out), 24)]
}

func (g *Gate) issuedCall(id string) (Issued, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	c, ok := g.issued[id]
	return c, ok
}

// record takes an entry into the log. That happens before the last byte of the answer
// leaves, so that a client which has its answer finds it in the log.
func (g *Gate) record(e *Entry) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.seq++
	e.Seq = g.seq
	g.stats.Requests++
	g.stats.Wires[e.Wire]++
	if e.Code != "" && e.Status == http.StatusBadRequest {
		g.stats.Refused++
		g.stats.Codes[e.Code]++
	}
	if e.Marker != "" {
		g.stats.Markers[e.Marker]++
	}
	g.stats.Background += count(e.Background)
	g.stats.Exhausted += count(e.Exhausted)
	g.stats.Undelivered += count(!e.Delivered)
	g.entries = append(g.entries, *e)
	if n := len(g.entries) - g.o.Entries; n > 0 {
		g.entries = slices.Delete(g.entries, 0, n)
		g.stats.Dropped += n
	}
	if g.o.Log != nil {
		_, _ = g.o.Log.Write(line(*e)) // whoever gave the writer sees its errors
	}
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func line(e Entry) []byte {
	text, err := encode(e)
	if err != nil {
		text = []byte(`{"error": "the entry cannot be encoded"}`)
	}
	return append(text, '\n')
}

// encode is JSON whose texts keep <, > and & as they are.
func encode(v any) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n")), err
}
