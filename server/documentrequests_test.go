package server_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/server"
)

const documentScript = `{"scenarios": [
	{"marker": "GATE-RUN", "steps": [{"text": "I run it.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "Told."}]},
	{"marker": "Ann?", "steps": [{"text": "She lives in Lisbon."}]},
	{"marker": "Plan the trip", "steps": [{"text": "1. Go by bus."}, {"text": "1. Go by train."}]},
	{"marker": "hello", "steps": [{"text": "Hello."}]},
	{"marker": "GATE-BAD", "steps": [{"status": 400}]},
	{"marker": "GATE-EMPTY", "steps": [{"text": " "}]},
	{"marker": "GATE-FILTER", "steps": [{"text": "half", "stop": "content_filter"}]},
	{"marker": "GATE-SILENT", "steps": [{"mode": "silent"}]},
	{"marker": "GATE-FOREVER", "steps": [{"calls": [{"name": "recall", "arguments": {"query": "x"}}], "mode": "forever"}]},
	{"marker": "RUN-BAD", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"status": 400}]},
	{"marker": "RUN-EMPTY", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": " "}]},
	{"marker": "RUN-FILTER", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "half", "stop": "content_filter"}]},
	{"marker": "RUN-SILENT", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"mode": "silent"}]},
	{"marker": "RUN-FOREVER", "steps": [{"calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"calls": [{"name": "recall", "arguments": {"query": "x"}}], "mode": "forever"}]}]}`

// exerciser sends what the document of a server tells, and holds the answers to it.
type exerciser struct {
	*harness
	d       *documented
	n       int    // of things that were made
	backups string // where they are
}

// exercise makes the things that the examples of the document are about.
func exercise(t *testing.T, h *harness, d *documented) *exerciser {
	t.Helper()
	e := &exerciser{harness: h, d: d}
	h.must("POST", "/v1/query", `{"statement":"MERGE (a:Person {id: 'ann'}) MERGE (b:Person {id: 'ben'}) MERGE (a)-[:KNOWS]->(b) SET a.name = 'Ann', b.name = 'Ben'"}`)
	h.must("POST", "/v1/remember", `{"text":"Ann lives in Lisbon","id":"m0","alone":true,"links":[{"to":"ann","type":"ABOUT"}]}`)
	h.must("POST", "/v1/remember", `{"text":"Ben likes the sea","id":"m1","alone":true}`)
	return e
}

// waiting makes a conversation in which the call of a script waits.
func (e *exerciser) waiting(marker string) string {
	e.t.Helper()
	a := e.must("POST", "/v1/conversations/new/messages", say(marker))
	if a.json["status"] != "tool_pending" {
		e.t.Fatalf("%s: %s", marker, a.body)
	}
	return a.json["conversation_id"].(string)
}

// ready is the path of an operation, with something of the right kind in it that was just
// made.
func (e *exerciser) ready(op *operation) string {
	e.t.Helper()
	e.n++
	id := "ann"
	switch {
	case op.id == "DELETE /v1/nodes/{id}":
		id = fmt.Sprint("gone-", e.n)
		e.must("POST", "/v1/remember", toJSON(map[string]any{"text": id, "id": id, "alone": true}))
	case strings.HasPrefix(op.pattern, "/v1/namespaces/"):
		id = fmt.Sprint("made-", e.n)
		e.must("POST", "/v1/namespaces", toJSON(map[string]any{"name": id}))
		return strings.ReplaceAll(op.pattern, "{name}", id)
	case strings.HasPrefix(op.pattern, "/v1/transactions/"):
		id = e.must("POST", "/v1/transactions", `{}`).json["id"].(string)
	case op.pattern == "/v1/conversations/{id}/messages", op.id == "DELETE /v1/conversations/{id}":
		id = e.must("POST", "/v1/conversations", `{}`).json["conversation_id"].(string)
	case op.pattern == "/v1/conversations/{id}/restore":
		id = e.must("POST", "/v1/conversations", `{}`).json["conversation_id"].(string)
		e.must("DELETE", "/v1/conversations/"+id, "")
	case strings.HasPrefix(op.pattern, "/v1/conversations/"):
		id = e.waiting("GATE-RUN")
	}
	return strings.ReplaceAll(op.pattern, "{id}", id)
}

// send sends one request that has to be answered with 200, as documented.
func (e *exerciser) send(op *operation, path, media, body string, change ...func(*http.Request)) answer {
	e.t.Helper()
	if op.id == "POST /v1/login" {
		body = toJSON(map[string]any{"code": e.must("POST", "/v1/login/codes", "").json["code"]})
	}
	if op.id == "POST /v1/verdicts" {
		body = strings.ReplaceAll(body, "r-1", e.must("POST", "/v1/conversations/new/messages", say("What of Ann?")).json["run_id"].(string))
	}
	e.d.fits(e.t, op, path, media, body)
	if media != "" {
		change = append([]func(*http.Request){header("Content-Type", media)}, change...)
	}
	a := e.request(e.root, op.method, path, body, change...)
	if a.status != http.StatusOK {
		e.t.Errorf("%s %s %.200s: %d %s", op.method, path, body, a.status, a.body)
	}
	e.d.holds(e.t, op, path, media, a)
	if op.id == "POST /v1/transactions" && a.status == http.StatusOK {
		e.must("DELETE", "/v1/transactions/"+a.json["id"].(string), "") // a writing one keeps others out
	}
	return a
}

// plainest is a request's body of the operation: the first example by name.
func (op *operation) plainest() (media, body string) {
	for _, m := range sorted(op.bodies) {
		for _, name := range sorted(op.bodies[m]) {
			return m, op.bodies[m][name]
		}
	}
	return "", ""
}

func sorted[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// choices are the values of parameters that the document does not name.
func (e *exerciser) choices(op *operation, path string, p documentedParam) []string {
	e.t.Helper()
	switch {
	case op.id == "GET /v1/conversations" && p.name == "cursor":
		e.must("POST", "/v1/conversations", `{}`)
		e.must("POST", "/v1/conversations", `{}`)
		return []string{e.must("GET", "/v1/conversations?limit=1", "").json["next_cursor"].(string)}
	case p.name == "run":
		return []string{e.must("GET", path, "").json["run_id"].(string)}
	}
	return p.values
}

// toImport is a body for an import with a parameter.
func (e *exerciser) toImport(param, value string) (media, body string) {
	e.t.Helper()
	switch {
	case value == "cypher":
		return "application/octet-stream", "MERGE (:Place {id: 'evora'});\n"
	case param == "split":
		return "application/x-tar", tarText(e.t, "vault/b.md", "# One\ntext\n# Two\nmore\n")
	case param == "name":
		return "application/octet-stream", "# One\ntext\n# Two\nmore\n"
	case param != "format" || value == "memories":
		return "application/x-ndjson", `{"id":"f2","text":"The boat is blue"}` + "\n"
	case value == "openai":
		return "application/json", `[{"id":"o1","title":"Trip","create_time":1700000000,"mapping":{"a":{"id":"a","parent":null,"children":[],"message":{"id":"a","author":{"role":"user"},"create_time":1700000000,"content":{"content_type":"text","parts":["When does it leave?"]}}}},"current_node":"a"}]`
	case value == "anthropic":
		return "application/json", `[{"uuid":"u1","name":"Trip","created_at":"2024-05-01T10:00:00Z","chat_messages":[{"uuid":"u2","sender":"human","created_at":"2024-05-01T10:00:00Z","text":"When does it leave?"}]}]`
	case value == "backup":
		name := e.must("POST", "/v1/backup", `{}`).json["name"].(string)
		return "application/x-tar", e.tarOf(filepath.Join(e.backups, name))
	case value == "csv" || value == "markdown":
		return "application/x-tar", e.must("GET", "/v1/export?format="+value, "").body
	}
	return "application/octet-stream", e.must("GET", "/v1/export?format="+value, "").body
}

// tarOf is an archive of a folder.
func (e *exerciser) tarOf(dir string) string {
	e.t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close()); err != nil {
		e.t.Fatal(err)
	}
	return b.String()
}

// beside are parameters that go with others.
var beside = map[string]string{"memories=true": "&hard=true"}

// TestDocumentedRequests sends every request that the document of a running server tells:
// each operation, media type, example, and parameter with each of its values, and asks for
// each media type of the answers. All are answered as documented.
func TestDocumentedRequests(t *testing.T) {
	change, _, _ := chatting(t, documentScript)
	backups := t.TempDir()
	h := start(t, change, func(c *server.Config) { c.BackupDir = backups })
	e := exercise(t, h, readDocumented(t, h))
	e.backups = backups
	for _, op := range e.d.all {
		media, body := op.plainest()
		if media == "" {
			e.send(op, e.ready(op), "", "")
		}
		for m, examples := range op.bodies {
			if m == "application/x-tar" {
				examples = map[string]string{"folder": tarText(t, "vault/a.md", "# A\ntext")}
			}
			for name, text := range examples {
				path := e.ready(op)
				if name == "revise" {
					path = strings.ReplaceAll(op.pattern, "{id}", e.must("POST", "/v1/conversations/new/messages", `{"text":"Plan the trip","plan":true}`).json["conversation_id"].(string))
				}
				e.send(op, path, m, text)
				e.d.mark(op.id, "request", m, name)
				e.d.mark(op.id, "request", m)
			}
		}
		for _, p := range op.params {
			path := e.ready(op)
			for _, value := range e.choices(op, path, p) {
				m, text := media, body
				if op.pattern == "/v1/import" {
					m, text = e.toImport(p.name, value)
				}
				e.send(op, e.ready2(op, path, p)+"?"+p.name+"="+url.QueryEscape(value)+beside[p.name+"="+value], m, text)
				e.d.mark(op.id, "parameter", p.name, value)
				e.d.mark(op.id, "parameter", p.name)
			}
		}
		for _, accept := range op.answers {
			if !e.d.marked(op.id, "answer", accept) && !strings.Contains(accept, "text/plain") {
				e.send(op, e.ready(op), media, body, header("Accept", accept))
			}
		}
	}
	for _, op := range e.d.all {
		for m, examples := range op.bodies {
			e.need(op, "request", m)
			for name := range examples {
				e.need(op, "request", m, name)
			}
		}
		for _, p := range op.params {
			e.need(op, "parameter", p.name)
			for _, value := range p.values {
				e.need(op, "parameter", p.name, value)
			}
		}
		for _, m := range op.answers {
			m, _, _ = strings.Cut(m, ";")
			e.need(op, "answer", m)
		}
	}
}

// ready2 makes something new for operations that use up what they are about.
func (e *exerciser) ready2(op *operation, path string, p documentedParam) string {
	if op.method == http.MethodGet || p.name == "run" {
		return path
	}
	return e.ready(op)
}

// need fails for what the document lists and nobody exercised.
func (e *exerciser) need(op *operation, parts ...string) {
	e.t.Helper()
	if !e.d.marked(append([]string{op.id}, parts...)...) {
		e.t.Errorf("%s: the document lists %s, and nothing exercised it", op.id, strings.Join(parts, " "))
	}
}
