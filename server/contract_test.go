package server_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"engram/chatbridge"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// contract is what one route is held to: its own answer to its own request.
type contract struct {
	route string // method and pattern
	path  string // with values
	body  string
	setup func(h *harness) // what is there before
	want  string           // a part of the answer, or all of it when it begins with "= "
	check func(t *testing.T, h *harness, a answer)
}

// plannedKey is the key of the plan of the contracts.
var plannedKey = chatbridge.CandidateKey("GATE-PLAN", "1. Touch nothing.")

// contracts are in an order in which each finds what those before left.
var contracts = []contract{
	{route: "GET /healthz", path: "/healthz", want: `= {"status":"ok"}`},
	{route: "GET /readyz", path: "/readyz", want: `= {"status":"ok"}`},
	{
		route: "POST /v1/query", path: "/v1/query",
		body: `{"statement":"CREATE (a:Person {id: $id, name: 'Ann'})-[:KNOWS {since: 2020}]->(b:Person {id: 'ben', name: 'Ben'}) RETURN a.name AS name, b","parameters":{"id":"ann"}}`,
		want: `{"columns":["name","b"],"rows":[["Ann",{"id":"ben","labels":["Person"],"properties":{"id":"ben","name":"Ben"}}]],"summary":{"rows":1,"counters":{"nodes_created":2,"edges_created":1,"properties_set":5,"labels_added":1}`,
	},
	{
		route: "POST /v1/remember", path: "/v1/remember",
		body: `{"text":"Ann moved to Lisbon in May","id":"m1","labels":["Note"],"properties":{"valid_from":"2024-05-01","mood":"glad"},"links":[{"to":"ann","type":"ABOUT","weight":0.5}],"alone":true}`,
		want: `{"id":"m1","created":true,"summary":{"rows":1,"counters":{"nodes_created":1,"edges_created":1,`,
		check: func(t *testing.T, h *harness, _ answer) {
			if got := h.eql("MATCH (m:Memory:Note {id: 'm1'})-[r:ABOUT]->(p) RETURN m.content, m.mood, m.valid_from, r.weight, p.name"); got != `[["Ann moved to Lisbon in May","glad","2024-05-01T00:00Z",0.5,"Ann"]]` {
				t.Errorf("stored: %s", got)
			}
		},
	},
	{
		route: "POST /v1/recall", path: "/v1/recall", body: `{"query":"Lisbon","limit":1,"explain":true}`,
		want: `{"memories":[{"node":{"id":"m1","labels":["Memory","Note"],"properties":{"confidence":1.0,"content":"Ann moved to Lisbon in May",`,
		check: func(t *testing.T, _ *harness, a answer) {
			m := a.json["memories"].([]any)[0].(map[string]any)
			if m["lexical"] != 1.0 || m["score"].(float64) <= 0 || m["why"] == "" {
				t.Errorf("%v", m)
			}
		},
	},
	{
		route: "POST /v1/activate", path: "/v1/activate", body: `{"ids":["m1"],"depth":1}`,
		want: `{"nodes":[{"node":{"id":"m1"`,
		check: func(t *testing.T, _ *harness, a answer) {
			if !strings.Contains(a.body, `{"node":{"id":"ann"`) {
				t.Errorf("Ann is not activated: %s", a.body)
			}
		},
	},
	{
		route: "POST /v1/compile", path: "/v1/compile", body: `{"intent":"visit Ann in Lisbon","budget":200}`,
		want: `Ann moved to Lisbon in May`,
		check: func(t *testing.T, _ *harness, a answer) {
			if toJSON(a.json["nodes"]) != `["m1","ann"]` || a.json["delivered"] != 2.0 || a.json["withheld"] != 0.0 || a.json["tokens"].(float64) <= 0 {
				t.Errorf("%s", a.body)
			}
		},
	},
	{
		route: "GET /v1/nodes", path: "/v1/nodes?label=Person&limit=1",
		want: `= {"nodes":[{"id":"ann","labels":["Person"],"properties":{"id":"ann","name":"Ann"}}],"next_cursor":"n1"}`,
		check: func(t *testing.T, h *harness, a answer) {
			next := h.must("GET", "/v1/nodes?label=Person&limit=1&cursor="+a.json["next_cursor"].(string), "")
			if next.json["next_cursor"] != nil || !strings.Contains(next.body, `"id":"ben"`) || strings.Contains(next.body, `"id":"ann"`) {
				t.Errorf("the next page: %s", next.body)
			}
		},
	},
	{
		route: "GET /v1/nodes/{id}", path: "/v1/nodes/ben",
		want: `= {"id":"ben","labels":["Person"],"properties":{"id":"ben","name":"Ben"}}`,
	},
	{
		route: "PATCH /v1/nodes/{id}", path: "/v1/nodes/ben", body: `{"properties":{"name":"Benjamin","age":30,"since":null},"add_labels":["Friend"]}`,
		want: `= {"node":{"id":"ben","labels":["Friend","Person"],"properties":{"age":30,"id":"ben","name":"Benjamin"}}}`,
		check: func(t *testing.T, h *harness, _ answer) {
			h.must("PATCH", "/v1/nodes/m1", `{"properties":{"content":"Ann moved to Porto in June"},"remove_labels":["Note"]}`)
			if got := h.eql("MATCH (m {id: 'm1'})-[:SUPERSEDES]->(old) RETURN m.content, m.mood, labels(m), old.content, old.status"); got != `[["Ann moved to Porto in June","glad",["Memory"],"Ann moved to Lisbon in May","superseded"]]` {
				t.Errorf("new content: %s", got)
			}
		},
	},
	{
		route: "GET /v1/nodes/{id}/neighbours", path: "/v1/nodes/ann/neighbours?direction=out&type=KNOWS&depth=2",
		want: `= {"nodes":[{"node":{"id":"ben","labels":["Friend","Person"],"properties":{"age":30,"id":"ben","name":"Benjamin"}},"distance":1}],"edges":[{"id":`,
		check: func(t *testing.T, h *harness, a answer) {
			if !strings.Contains(a.body, `"type":"KNOWS","start":"ann","end":"ben","properties":{`) || !strings.HasSuffix(strings.TrimSpace(a.body), `"more":false}`) {
				t.Errorf("%s", a.body)
			}
			if in := h.must("GET", "/v1/nodes/ann/neighbours?direction=in&type=KNOWS", ""); toJSON(in.json["nodes"]) != "[]" {
				t.Errorf("against the edge: %s", in.body)
			}
		},
	},
	{
		route: "POST /v1/edges:batch", path: "/v1/edges:batch", body: `{"edges":[{"from":"ann","to":"ben","type":"KNOWS","properties":{"since":2021}},{"from":"ben","to":"ann","type":"LIKES","weight":0.7}]}`,
		want: `{"created":1,"merged":1,"seq":`,
		check: func(t *testing.T, h *harness, _ answer) {
			if got := h.eql("MATCH (a)-[r:KNOWS|LIKES]->(b) RETURN type(r), r.since, r.weight ORDER BY type(r)"); got != `[["KNOWS",2021,null],["LIKES",null,0.7]]` {
				t.Errorf("edges: %s", got)
			}
		},
	},
	{
		route: "POST /v1/merge", path: "/v1/merge",
		body: `{"nodes":[{"id":"cleo","labels":["Person"],"properties":{"name":"Cleo"}},{"id":"ann","labels":["Person"],"properties":{"name":"Anna"}}],` +
			`"edges":[{"from":"cleo","to":"ann","type":"KNOWS"}],"updates":[{"id":"ben","properties":{"age":31}}]}`,
		want: `{"nodes_created":1,"edges_created":1,"same":0,"updated":1,"forgotten":0,"collisions":[{"kind":"node","id":"ann","source":"graph","fields":["name"]}],"seq":`,
		check: func(t *testing.T, h *harness, _ answer) {
			again := h.must("POST", "/v1/merge", `{"nodes":[{"id":"cleo","labels":["Person"],"properties":{"name":"Cleo"}}],"edges":[{"from":"cleo","to":"ann","type":"KNOWS"}]}`)
			if again.json["same"] != 2.0 || again.json["nodes_created"] != 0.0 || toJSON(again.json["collisions"]) != "[]" {
				t.Errorf("merging again: %s", again.body)
			}
			if got := h.eql("MATCH (n:Person) RETURN n.name ORDER BY n.name"); got != `[["Ann"],["Benjamin"],["Cleo"]]` {
				t.Errorf("names: %s", got)
			}
		},
	},
	{
		route: "DELETE /v1/nodes/{id}", path: "/v1/nodes/m1?because=asked", want: `= {"id":"m1","changed":true}`,
		check: func(t *testing.T, h *harness, _ answer) {
			if got := h.eql("MATCH (m {id: 'm1'}) RETURN m.status, m.reason"); got != `[["forgotten","asked"]]` {
				t.Errorf("forgotten: %s", got)
			}
			if again := h.must("DELETE", "/v1/nodes/m1", ""); again.json["changed"] != false {
				t.Errorf("again: %s", again.body)
			}
			h.must("DELETE", "/v1/nodes/cleo?hard=true", "")
			if got := h.eql("MATCH (m {id: 'cleo'}) RETURN count(m)"); got != `[[0]]` {
				t.Errorf("deleted for good: %s", got)
			}
		},
	},
	{route: "GET /v1/idle", path: "/v1/idle", want: `= {"namespace":"default","heartbeat":0}`},
	{
		route: "GET /v1/stats", path: "/v1/stats", want: `{"namespace":"default","seq":`,
		check: func(t *testing.T, _ *harness, a answer) {
			if a.json["nodes"] != 4.0 || a.json["healthy"] != true || !strings.Contains(a.body, `{"name":"Person","count":2}`) {
				t.Errorf("%s", a.body)
			}
		},
	},
	{
		route: "GET /v1/schema", path: "/v1/schema", want: `"types":[{"name":`,
		check: func(t *testing.T, _ *harness, a answer) {
			if !strings.Contains(toJSON(a.json["relation_types"]), "SUPERSEDES") || len(a.json["layers"].([]any)) < 3 {
				t.Errorf("%s", a.body)
			}
		},
	},
	{
		route: "POST /v1/import", path: "/v1/import", body: `{"id":"i1","text":"Imported","conversation":"c"}` + "\n" + `{"id":"i2","text":"Twice","conversation":"c","date":"someday"}` + "\n",
		want: `{"format":"memories","lines":2,"memories":2,"conversations":1,`,
		check: func(t *testing.T, h *harness, a answer) {
			if a.json["problem_count"] != 1.0 || !strings.Contains(a.body, `"line":2`) {
				t.Errorf("the date that is none: %s", a.body)
			}
			if got := h.eql("MATCH (m {id: 'i1'}) RETURN m.content"); got != `[["Imported"]]` {
				t.Errorf("imported: %s", got)
			}
			bad := h.request(h.root, "POST", "/v1/import", `{"id":"i3","text":"x"}`+"\n"+`{"id":}`+"\n")
			if bad.status != 400 || bad.json["line"] != 2.0 || h.eql("MATCH (m {id: 'i3'}) RETURN count(m)") != `[[0]]` {
				t.Errorf("a broken line: %d %s", bad.status, bad.body)
			}
		},
	},
	{
		route: "GET /v1/export", path: "/v1/export", want: `"id":"ann"`,
		check: func(t *testing.T, h *harness, a answer) {
			h.must("POST", "/v1/namespaces", `{"name":"copy"}`)
			into := h.must("POST", "/v1/import?namespace=copy", a.body)
			from := h.must("GET", "/v1/stats", "")
			to := h.must("GET", "/v1/stats?namespace=copy", "")
			if into.json["format"] != "jsonl" || from.json["nodes"] != to.json["nodes"] || from.json["edges"] != to.json["edges"] || to.json["nodes"] == 0.0 {
				t.Errorf("imported: %s of %s, it was %s", into.body, to.body, from.body)
			}
			if dry := h.must("POST", "/v1/import?dry_run=true", `{"id":"never","text":"x"}`); dry.json["dry_run"] != true || h.eql("MATCH (n {id: 'never'}) RETURN count(n)") != "[[0]]" {
				t.Errorf("a dry run: %s", dry.body)
			}
			h.must("DELETE", "/v1/namespaces/copy", "")
		},
	},
	{
		route: "POST /v1/audit/structural", path: "/v1/audit/structural", body: `{"only":["orphans_and_dangling"],"limit":5}`, want: `"finding":"orphans_and_dangling"`,
		check: func(t *testing.T, h *harness, a answer) {
			if len(a.json["findings"].([]any)) != 1 || a.json["seq"].(float64) == 0 {
				t.Errorf("%s", a.body)
			}
			if bad := h.request(h.root, "POST", "/v1/audit/structural", `{"only":["nonsense"]}`); bad.status != 400 {
				t.Errorf("an unknown finding: %d %s", bad.status, bad.body)
			}
		},
	},
	{
		route: "POST /v1/backup", path: "/v1/backup", body: `{"keep":2}`, want: `{"name":"default-`,
		check: func(t *testing.T, _ *harness, a answer) {
			if a.json["bytes"].(float64) <= 0 || strings.Contains(a.body, "/") {
				t.Errorf("%s", a.body)
			}
		},
	},
	{
		route: "POST /v1/session/begin", path: "/v1/session/begin", body: `{"conversation":"c","about":"Lisbon","budget":200}`, want: `{"conversation":"c","text":"Conversation: c\nThe memory holds `,
		check: func(t *testing.T, h *harness, a answer) {
			h.must("POST", "/v1/remember", `{"text":"Ann is back in Lisbon","alone":true}`)
			a = h.must("POST", "/v1/session/begin", `{"about":"Lisbon"}`)
			text, recent := a.json["text"].(string), toJSON(a.json["recent"])
			if strings.Count(text, "Ann is back in Lisbon") != 2 || !strings.Contains(recent, "Ann is back in Lisbon") || !strings.Contains(a.json["context"].(string), "Ann is back in Lisbon") || a.json["stats"].(map[string]any)["nodes"].(float64) < 4 || a.json["open_work"] == nil {
				t.Errorf("%s", a.body)
			}
			fresh := h.must("POST", "/v1/session/begin", "{}")
			if name, _ := fresh.json["conversation"].(string); len(name) < 20 || fresh.json["context"] != nil {
				t.Errorf("a new one: %s", fresh.body)
			}
			for _, bad := range []string{`{"budget":9}`, `{"about":"` + strings.Repeat("a", 20_001) + `"}`, `{"conversation":"` + strings.Repeat("a", 201) + `"}`} {
				if a := h.request(h.root, "POST", "/v1/session/begin", bad); a.status != 400 {
					t.Errorf("%.40s: %d %s", bad, a.status, a.body)
				}
			}
		},
	},
	{
		route: "POST /v1/conversations", path: "/v1/conversations", body: `{}`, want: `{"conversation_id":"c-`,
		check: func(t *testing.T, h *harness, a answer) {
			if got := h.eql("MATCH (c:Conversation) WHERE c.owner IS NOT NULL RETURN c.id, c.owner, c.rounds"); got != `[["`+a.json["conversation_id"].(string)+`","root",0]]` {
				t.Errorf("stored: %s", got)
			}
		},
	},
	{
		route: "POST /v1/conversations/{id}/messages", path: "/v1/conversations/{conversation}/messages", body: `{"text":"GATE-PLAIN","no_tools":true}`,
		want: `"reply":"Grüße \u003cb\u003e \u0026 日本 🦊.","response":"Grüße \u003cb\u003e \u0026 日本 🦊.","model":"m","provider":"gate","agentic":false,"tools_used":[],"sources":[],"iterations":1,"usage":{"rounds":1,`,
	},
	{
		route: "POST /v1/conversations/{id}/approvals", path: "/v1/conversations/{pending}/approvals", body: `{"decision":"deny","words":"no"}`,
		want: `"reply":"I run it.\n\nTold: The person denied this call. They said: no"`,
	},
	{
		route: "GET /v1/conversations/{id}/events", path: "/v1/conversations/{pending}/events?after=5", want: `"status":"pending","events":[{"seq":6,"type":"tool_pending","pending":{"call_id":"call_gaterun_1_`,
	},
	{
		route: "POST /v1/conversations/{id}/cancel", path: "/v1/conversations/{pending}/cancel", want: `= {"canceled":true}`,
		check: func(t *testing.T, h *harness, _ answer) {
			if got := h.eql("MATCH (r:Run {status: 'pending'}) RETURN count(r)"); got != "[[1]]" { // of the contract before
				t.Errorf("%s calls wait", got)
			}
		},
	},
	{
		route: "GET /v1/conversations", path: "/v1/conversations?limit=1", want: `{"conversations":[{"id":"`,
		check: func(t *testing.T, h *harness, a answer) {
			seen := map[string]bool{}
			for a.json["next_cursor"] != nil {
				seen[a.json["conversations"].([]any)[0].(map[string]any)["id"].(string)] = true
				a = h.must("GET", "/v1/conversations?limit=1&cursor="+a.json["next_cursor"].(string), "")
			}
			if len(seen) != 4 || h.request(h.root, "GET", "/v1/conversations?cursor=nobody", "").status != 400 {
				t.Errorf("pages: %v and %s", seen, a.body)
			}
		},
	},
	{route: "GET /v1/conversations/{id}", path: "/v1/conversations/{pending}", want: `"turns":0,"first":"GATE-RUN","waiting":["call_gaterun_1_`},
	{route: "PATCH /v1/conversations/{id}", path: "/v1/conversations/{conversation}", body: `{"title":"About herons"}`, want: `,"title":"About herons","title_origin":"user",`},
	{
		route: "DELETE /v1/conversations/{id}", path: "/v1/conversations/{conversation}?because=asked", want: `"forgotten":true}`,
		check: func(t *testing.T, h *harness, a answer) {
			id := a.json["conversation_id"].(string)
			if got := h.eql("MATCH (c:Conversation {status: 'forgotten', forgotten_because: 'asked'}) RETURN c.id"); got != `[["`+id+`"]]` {
				t.Errorf("forgotten: %s, not %s", got, id)
			}
			if list := h.must("GET", "/v1/conversations", ""); strings.Contains(list.body, id) {
				t.Errorf("it is listed: %s", list.body)
			}
		},
	},
	{
		route: "POST /v1/conversations/{id}/restore", path: "/v1/conversations/{forgotten}/restore", want: `"turns":0}`,
		check: func(t *testing.T, h *harness, a answer) {
			if list := h.must("GET", "/v1/conversations", ""); !strings.Contains(list.body, a.json["id"].(string)) {
				t.Errorf("it is not listed: %s", list.body)
			}
		},
	},
	{
		route: "GET /v1/conversations/{id}/export", path: "/v1/conversations/{pending}/export", want: `"name":"run_command","arguments":"{\"argv\":`,
		check: func(t *testing.T, _ *harness, a answer) {
			if !strings.HasPrefix(a.body, `{"conversation":{"id":"c-`) || !strings.HasSuffix(a.body, "\n"+`{"end":{"turns":0,"runs":1}}`+"\n") {
				t.Errorf("%s", a.body)
			}
		},
	},
	{route: "POST /v1/conversations:search", path: "/v1/conversations:search", body: `{"words":"Grüße"}`, want: `"turn":2,"role":"assistant","excerpt":"Grüße \u003cb\u003e \u0026 日本 🦊.","score":`},
	{
		route: "GET /v1/reviews", path: "/v1/reviews", want: `"shown":"1. Touch nothing.","risk_tier":"review",`,
		setup: func(h *harness) {
			h.must("POST", "/v1/conversations/new/messages", `{"text":"GATE-PLAN","plan":true}`)
		},
	},
	{route: "GET /v1/candidates", path: "/v1/candidates", want: `= {"candidates":[{"key":"` + plannedKey + `","kind":"plan","task":"GATE-PLAN","outcome":"1. Touch nothing.","at":"`},
	{
		route: "POST /v1/verdicts", path: "/v1/verdicts", body: `{"candidate":"` + plannedKey + `","decision":"approved","reason":"it held"}`,
		want: `= {"candidate":"` + plannedKey + `","decision":"approved","reason":"it held","promoted":true,"at":"`,
	},
	{route: "GET /v1/verdicts", path: "/v1/verdicts?candidate=" + plannedKey, want: `= {"verdicts":[{"candidate":"` + plannedKey + `","decision":"approved","reason":"it held","promoted":true,"at":"`},
	{route: "POST /v1/namespaces", path: "/v1/namespaces", body: `{"name":"notes","quota_bytes":67108864}`, want: `= {"name":"notes","quota_bytes":67108864}`},
	{
		route: "PATCH /v1/namespaces/{name}", path: "/v1/namespaces/notes", body: `{"name":"letters"}`, want: `= {"name":"letters","quota_bytes":67108864}`,
		check: func(t *testing.T, h *harness, _ answer) {
			if a := h.must("GET", "/v1/stats?namespace=letters", ""); a.json["quota_bytes"] != 67108864.0 {
				t.Errorf("%s", a.body)
			}
			if a := h.request(h.root, "GET", "/v1/stats?namespace=notes", ""); a.status != 404 || a.code() != "NotFound" {
				t.Errorf("the old name: %d %s", a.status, a.body)
			}
		},
	},
	{
		route: "GET /v1/namespaces", path: "/v1/namespaces",
		want: `= {"namespaces":[{"name":"default","quota_bytes":0},{"name":"letters","quota_bytes":67108864}]}`,
	},
	{
		route: "DELETE /v1/namespaces/{name}", path: "/v1/namespaces/letters", want: `= {"dropped":true}`,
		check: func(t *testing.T, h *harness, _ answer) {
			if a := h.request(h.root, "DELETE", "/v1/namespaces/letters", ""); a.status != 404 {
				t.Errorf("dropping again: %d %s", a.status, a.body)
			}
			if a := h.must("POST", "/v1/namespaces", `{"name":"letters"}`); a.json["quota_bytes"] != 0.0 {
				t.Errorf("the quota outlived its namespace: %s", a.body)
			}
		},
	},
	{route: "POST /v1/login/codes", path: "/v1/login/codes", want: `","expires_in":120}`},
	{route: "POST /v1/login", path: "/v1/login", body: `{"code":"{code}"}`, want: `"who":{"token":"root","scopes":["read","write","chat","run-commands","admin"],"namespaces":[],"session":true,"expires":"`},
	{route: "GET /v1/login", path: "/v1/login", want: `= {"token":"root","scopes":["read","write","chat","run-commands","admin"],"namespaces":[],"session":false}`},
	{route: "DELETE /v1/login", path: "/v1/login", want: `= {"ended":false}`},
	{
		route: "POST /v1/batch", path: "/v1/batch", body: `{"values":"typed","statements":[{"statement":"CREATE (:Batch {on: $d})","parameters":{"d":{"$kind":"date","value":"2024-05-01"}}},{"statement":"MATCH (b:Batch) SET b.n = 1"}]}`,
		want: `{"executed":2,"skipped":0,"counters":{"nodes_created":1,`,
		check: func(t *testing.T, h *harness, _ answer) {
			a := h.must("POST", "/v1/query", `{"statement":"MATCH (b:Batch) RETURN b.on, b.n, {m: 1.0}","values":"typed"}`)
			if got := toJSON(a.json["rows"]); got != `[[{"$kind":"date","value":"2024-05-01"},1,{"$kind":"map","value":{"m":1}}]]` {
				t.Errorf("stored: %s", got)
			}
			bad := h.request(h.root, "POST", "/v1/batch", `{"statements":[{"statement":"CREATE (:Batch)"},{"statement":"CREATE (:"}]}`)
			if bad.status != 400 || bad.json["field"] != "statements[1]" || h.eql("MATCH (b:Batch) RETURN count(b)") != "[[1]]" {
				t.Errorf("one that is wrong: %d %s", bad.status, bad.body)
			}
		},
	},
	{
		route: "POST /v1/transactions", path: "/v1/transactions", body: `{"mode":"write"}`, want: `"mode":"write","idle_ms":2000,"total_ms":10000}`,
		check: func(t *testing.T, h *harness, a answer) {
			id := a.json["id"].(string)
			h.must("POST", "/v1/query", toJSON(map[string]any{"statement": "CREATE (:Tx {id: 't1'})", "transaction": id}))
			if got := h.eql("MATCH (n:Tx) RETURN count(n)"); got != "[[0]]" {
				t.Errorf("seen before the commit: %s", got)
			}
			h.must("DELETE", "/v1/transactions/"+id, "")
			if a := h.request(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": "RETURN 1", "transaction": id})); a.status != 404 || a.code() != "TransactionNotFound" {
				t.Errorf("after the rollback: %d %s", a.status, a.body)
			}
		},
	},
	{
		route: "DELETE /v1/transactions/{id}", path: "/v1/transactions/{tx}", want: `= {"rolled_back":true}`,
		check: func(t *testing.T, h *harness, _ answer) {
			if got := h.eql("MATCH (n:Tx) RETURN count(n)"); got != "[[0]]" {
				t.Errorf("seen after the rollback: %s", got)
			}
		},
	},
	{
		route: "POST /v1/transactions/{id}/commit", path: "/v1/transactions/{tx}/commit", want: `{"seq":`,
		check: func(t *testing.T, h *harness, _ answer) {
			if got := h.eql("MATCH (n:Tx) RETURN n.id"); got != `[["in-tx"]]` {
				t.Errorf("after the commit: %s", got)
			}
		},
	},
	{route: "GET /metrics", path: "/metrics", want: `engram_http_requests_total{method="POST",route="/v1/recall",status="200"} 1`},
	{
		route: "GET /v1/openapi.json", path: "/v1/openapi.json", want: `"openapi":"3.1.0"`,
	},
}

// TestContracts holds every route to its contract, and its request and answer to the
// OpenAPI document.
func TestContracts(t *testing.T) {
	change, _, _ := chatting(t, chatScript)
	h := start(t, change)
	doc := loadDocument(t, h)
	open := map[string]bool{}
	for _, r := range h.server.Routes() {
		if !r.Hidden { // those have tests of their own
			open[r.Method+" "+r.Pattern] = true
		}
	}
	for _, c := range contracts {
		if !open[c.route] {
			t.Errorf("%s: there is no such route, or it has two contracts", c.route)
		}
		delete(open, c.route)
		method, _, _ := strings.Cut(c.route, " ")
		path := c.path
		if strings.Contains(path, "{tx}") {
			id := h.must("POST", "/v1/transactions", `{"mode":"write"}`).json["id"].(string)
			h.must("POST", "/v1/query", toJSON(map[string]any{"statement": "CREATE (:Tx {id: 'in-tx'})", "transaction": id}))
			path = strings.ReplaceAll(path, "{tx}", id)
		}
		if strings.Contains(path, "{conversation}") {
			path = strings.ReplaceAll(path, "{conversation}", h.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string))
		}
		if strings.Contains(path, "{forgotten}") {
			id := h.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string)
			h.must("DELETE", "/v1/conversations/"+id, "")
			path = strings.ReplaceAll(path, "{forgotten}", id)
		}
		if c.setup != nil {
			c.setup(h)
		}
		if strings.Contains(path, "{pending}") {
			id, _ := h.pendingIn(h.root)
			path = strings.ReplaceAll(path, "{pending}", id)
		}
		if strings.Contains(c.body, "{code}") {
			c.body = strings.ReplaceAll(c.body, "{code}", h.must("POST", "/v1/login/codes", "").json["code"].(string))
		}
		a := h.request(h.root, method, path, c.body)
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", c.route, a.status, a.body)
			continue
		}
		whole, exact := strings.CutPrefix(c.want, "= ")
		if exact && !strings.HasPrefix(a.body, whole) || !strings.Contains(a.body, whole) {
			t.Errorf("%s:\n got %s\nwant %s", c.route, a.body, c.want)
		}
		doc.check(t, method, path, c.body, a)
		if c.check != nil {
			c.check(t, h, a)
		}
	}
	for route := range open {
		t.Errorf("%s has no contract", route)
	}
}

// checkedDocument is an OpenAPI document that requests and answers are compared with.
type checkedDocument struct {
	spec   *openapi3.T
	router interface {
		FindRoute(*http.Request) (*routers.Route, map[string]string, error)
	}
}

func loadDocument(t *testing.T, h *harness) *checkedDocument {
	t.Helper()
	a := h.must("GET", "/v1/openapi.json", "")
	spec, err := openapi3.NewLoader().LoadFromData([]byte(a.body))
	if err != nil {
		t.Fatal(err)
	}
	if err := spec.Validate(context.Background()); err != nil {
		t.Fatalf("the document does not hold to OpenAPI: %v", err)
	}
	router, err := gorillamux.NewRouter(spec)
	if err != nil {
		t.Fatal(err)
	}
	return &checkedDocument{spec, router}
}

// check compares a request and its answer with the document.
func (d *checkedDocument) check(t *testing.T, method, path, body string, a answer) {
	t.Helper()
	req := httptest.NewRequest(method, path, strings.NewReader(body))
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	route, params, err := d.router.FindRoute(req)
	if err != nil {
		t.Errorf("%s %s is not in the document: %v", method, path, err)
		return
	}
	in := &openapi3filter.RequestValidationInput{
		Request: req, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, ExcludeRequestBody: strings.HasPrefix(path, "/v1/import"), IncludeResponseStatus: true},
	}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil && a.status == http.StatusOK {
		t.Errorf("%s %s: the request is not as documented: %v", method, path, err)
	}
	if media := a.header.Get("Content-Type"); !strings.Contains(media, "json") || strings.Contains(media, "ndjson") {
		return
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: a.status, Header: a.header, Options: in.Options}
	out.Body = io.NopCloser(bytes.NewReader([]byte(a.body)))
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		t.Errorf("%s %s: the answer is not as documented: %v", method, path, fmt.Sprintf("%.600s", err.Error()))
	}
}
