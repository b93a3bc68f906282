package server_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"engram/server"
	"engram/server/token"
)

// hostile are names that try to be more than a name.
var hostile = []string{
	"a`b", "a``) DETACH DELETE n //", "x') DELETE n //", "a\nDELETE n", "/* x */", "ˋ", "a\"b", "a'b", "$x", "n) RETURN 1 UNION MATCH (m", "\u202eevil", "\\u0060", "a;b", "Ünïcode",
}

// TestS50NamesAreData: labels, types, properties and ids are stored as they are, or
// refused; none of them becomes a statement.
func TestS50NamesAreData(t *testing.T) {
	h := start(t)
	h.must("POST", "/v1/query", `{"statement":"CREATE (:Keep {id: 'keep'})"}`)
	for i, name := range hostile {
		id := fmt.Sprintf("h%d", i) + name
		requests := []struct{ method, path, body string }{
			{"POST", "/v1/remember", toJSON(map[string]any{"text": "memory " + name, "id": id, "labels": []string{name}, "properties": map[string]any{name: name}, "links": []any{map[string]any{"to": "keep", "type": name}}, "alone": true})},
			{"POST", "/v1/recall", toJSON(map[string]any{"query": name + " memory", "labels": []string{name}, "via": []string{name}, "from": []string{id}})},
			{"POST", "/v1/edges:batch", toJSON(map[string]any{"edges": []any{map[string]any{"from": id, "to": "keep", "type": name, "properties": map[string]any{name: 1}}}})},
			{"POST", "/v1/merge", toJSON(map[string]any{"nodes": []any{map[string]any{"id": "m" + id, "labels": []string{name}, "properties": map[string]any{name: 1}}}, "edges": []any{map[string]any{"from": "m" + id, "to": "keep", "type": name}}})},
			{"POST", "/v1/compile", toJSON(map[string]any{"intent": name + " memory", "layers": []string{}})},
			{"POST", "/v1/namespaces", toJSON(map[string]any{"name": name})},
		}
		for _, r := range requests {
			a := h.request(h.root, r.method, r.path, r.body)
			if a.status >= 500 || a.code() == "SyntaxError" {
				t.Errorf("%s %s %s: %d %s", r.method, r.path, r.body, a.status, a.body)
			}
		}
		a := h.must("POST", "/v1/query", toJSON(map[string]any{
			"statement": "MATCH (m {id: $id})-[r]->(k) RETURN $name IN labels(m), m[$name] = $name, type(r) = $name, k.id", "parameters": map[string]any{"id": id, "name": name},
		}))
		if got := toJSON(a.json["rows"]); got != `[[true,true,true,"keep"]]` {
			t.Errorf("%q is stored as %s", name, got)
		}
		if label := h.request(h.root, "GET", "/v1/nodes?label="+query(name), ""); label.status != 200 || len(label.json["nodes"].([]any)) != 2 {
			t.Errorf("by label %q: %d %s", name, label.status, label.body)
		}
	}
	if got := h.eql("MATCH (k:Keep) RETURN count(k)"); got != "[[1]]" {
		t.Errorf("what was there: %s", got)
	}
	if a := h.must("GET", "/v1/namespaces", ""); len(a.json["namespaces"].([]any)) != 1 {
		t.Errorf("namespaces of such names: %s", a.body)
	}
	for _, name := range []string{"", "\x00", strings.Repeat("a", 300)} {
		if a := h.request(h.root, "POST", "/v1/remember", toJSON(map[string]any{"text": "x", "labels": []string{name}})); a.status != 400 {
			t.Errorf("the label %.20q: %d %s", name, a.status, a.body)
		}
	}
}

func query(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		fmt.Fprintf(&b, "%%%02x", c)
	}
	return b.String()
}

// writes are statements that write, some of them hidden.
var writes = []string{
	"CREATE (:Evil)", "MERGE (:Evil)", "MATCH (n) SET n.evil = 1", "MATCH (n) SET n:Evil", "MATCH (n) REMOVE n.id", "MATCH (n) DELETE n", "MATCH (n) DETACH DELETE n",
	"cReAtE (:Evil)", "/* MATCH (n) RETURN n */ CREATE (:Evil)", "// RETURN 1\nCREATE (:Evil)", "PROFILE CREATE (:Evil)", "  \n\t CREATE (:Evil)",
	"MATCH (n) CALL { WITH n CREATE (:Evil) } RETURN n", "UNWIND [1] AS x CALL { WITH x CREATE (:Evil) } IN TRANSACTIONS OF 1 ROWS", "MATCH (n) FOREACH (x IN [1] | SET n.evil = x)",
	"MATCH (n) WITH n CALL { CREATE (:Evil) RETURN 1 AS x UNION MATCH (n) RETURN 1 AS x } RETURN n",
	"REMEMBER 'evil'", "RECALL 'seed' REINFORCE", "MATCH (n) REINFORCE n", "MATCH (n) FORGET n", "CONSOLIDATE", "PRUNE TELEMETRY OLDER THAN duration('P1D')", "RECORD AUDIT",
	"CREATE INDEX FOR (n:Evil) ON (n.x)", "CREATE LAYER evil {priority: 1}", "CREATE RELATION TYPE EVIL", "DECLARE SELF 'seed'", "SUPERSEDE 'seed' BY 'other'", "CONTRADICT 'seed' WITH 'other'",
	"CALL embed.backfill(1)", "REVERT LEARNING SINCE datetime('2020-01-01')", "EXPLAIN CREATE (:X) RETURN 1; CREATE (:Evil)", "RETURN 1; CREATE (:Evil)",
}

// TestS51HiddenWrites, with S53 and S56: who may only read cannot write by any
// statement, in a transaction or out of one, nor by any route.
func TestS51HiddenWrites(t *testing.T) {
	h := start(t)
	reader := h.token("reader", token.Read)
	h.must("POST", "/v1/remember", `{"text":"seed","id":"seed"}`)
	h.must("POST", "/v1/remember", `{"text":"another thing","id":"other"}`)
	before := h.must("GET", "/v1/stats", "")
	tx := h.request(reader, "POST", "/v1/transactions", `{"mode":"read"}`).json["id"]
	for _, statement := range writes {
		for _, body := range []map[string]any{
			{"statement": statement}, {"statement": statement, "mode": "read"}, {"statement": statement, "mode": "auto"}, {"statement": statement, "mode": "write"}, {"statement": statement, "transaction": tx},
		} {
			if a := h.request(reader, "POST", "/v1/query", toJSON(body)); a.status < 400 || a.status >= 500 && a.status != 501 {
				t.Errorf("%s: %d %s", toJSON(body), a.status, a.body)
			}
			if a := h.request(reader, "POST", "/v1/query", toJSON(body), header("Idempotency-Key", "k")); a.status < 400 {
				t.Errorf("with a key %s: %d %s", toJSON(body), a.status, a.body)
			}
		}
		if a := h.request(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": statement, "mode": "read"})); a.status < 400 {
			t.Errorf("asked to read only: %s: %d %s", statement, a.status, a.body)
		}
	}
	if a := h.request(reader, "POST", "/v1/transactions", `{"mode":"write"}`); a.status != http.StatusForbidden {
		t.Errorf("a writing transaction: %d %s", a.status, a.body)
	}
	if a := h.request(reader, "POST", "/v1/recall", `{"query":"seed","reinforce":true}`); a.status != http.StatusForbidden {
		t.Errorf("reinforce: %d %s", a.status, a.body)
	}
	after := h.must("GET", "/v1/stats", "")
	for _, field := range []string{"seq", "nodes", "edges", "commits"} {
		if before.json[field] != after.json[field] {
			t.Errorf("%s was %v and is %v", field, before.json[field], after.json[field])
		}
	}
	if l := after.json["learning"].(map[string]any); l["pending"] != 0.0 {
		t.Errorf("learned: %v", l)
	}
	// The same statements do write for who may, so the refusals above mean something.
	if a := h.must("POST", "/v1/query", `{"statement":"CREATE (:Evil)"}`); a.status != 200 {
		t.Errorf("%d", a.status)
	}
}

// TestS52NoVerbs: there is nothing that reads files or the network.
func TestS52NoVerbs(t *testing.T) {
	h := start(t)
	for _, statement := range []string{
		"LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "LOAD CSV WITH HEADERS FROM 'http://169.254.169.254/' AS row RETURN row", "COPY x FROM '/etc/passwd'", "ATTACH 'x'", "INSTALL httpfs",
		"CALL apoc.load.json('http://127.0.0.1') YIELD value RETURN value", "CALL dbms.listConfig()", "RETURN file('/etc/passwd')", "RETURN http('http://127.0.0.1')", "RETURN readFile('/etc/passwd')",
		"CALL db.import('/etc/passwd')", "CALL dbms.security.listUsers()", "EXPORT DATABASE '/tmp/x'", "IMPORT DATABASE '/tmp/x'", "USE other MATCH (n) RETURN n",
	} {
		if a := h.request(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": statement})); a.status != 400 && a.status != 501 {
			t.Errorf("%s: %d %s", statement, a.status, a.body)
		}
	}
}

// TestS54OtherNamespaces: a token for one namespace learns nothing of another, by any
// route, not even that it is there.
func TestS54OtherNamespaces(t *testing.T) {
	h := start(t)
	h.must("POST", "/v1/namespaces", `{"name":"private"}`)
	h.must("POST", "/v1/remember?namespace=private", `{"text":"canary secret","id":"canary","labels":["Canary"]}`)
	secret, err := h.tokens.Create(token.Spec{Name: "only", Scopes: token.Scopes(), Namespaces: []string{"default"}})
	if err != nil {
		t.Fatal(err)
	}
	tx := h.must("POST", "/v1/transactions?namespace=private", `{"mode":"read"}`).json["id"].(string)
	for _, r := range h.server.Routes() {
		if r.Global || r.Scope == "" || r.Hidden {
			continue
		}
		there := h.request(secret, r.Method, filled(r)+"?namespace=private", bodyFor(r))
		missing := h.request(secret, r.Method, filled(r)+"?namespace=missing", bodyFor(r))
		delete(there.json, "request")
		delete(missing.json, "request")
		if there.status != 404 || strings.ReplaceAll(toJSON(there.json), "private", "missing") != toJSON(missing.json) {
			t.Errorf("%s %s: %d %s, of one that is missing %d %s", r.Method, r.Pattern, there.status, there.body, missing.status, missing.body)
		}
	}
	for _, c := range []struct{ method, path, body string }{
		{"DELETE", "/v1/namespaces/private", ""},
		{"PATCH", "/v1/namespaces/private", `{"name":"mine"}`},
		{"PATCH", "/v1/namespaces/default", `{"name":"private"}`},
		{"POST", "/v1/namespaces", `{"name":"private"}`},
		{"POST", "/v1/transactions/" + tx + "/commit", ""},
		{"POST", "/v1/query", `{"statement":"RETURN 1","transaction":"` + tx + `"}`},
	} {
		if a := h.request(secret, c.method, c.path, c.body); a.status != 404 {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
	for _, statement := range []string{
		"MATCH (n) RETURN n", "RECALL 'canary secret'", "CALL text.search('canary') YIELD node RETURN node", "SHOW STATS", "MATCH (n:Canary) RETURN count(n)", "MATCH (n {id: 'canary'}) RETURN n", "SHOW INDEXES",
		"MATCH (n) WHERE n.namespace = 'private' OR true RETURN n",
	} {
		a := h.request(secret, "POST", "/v1/query", toJSON(map[string]any{"statement": statement}))
		if a.status == 200 && strings.Contains(toJSON(a.json["rows"]), "anary") {
			t.Errorf("%s: %s", statement, a.body)
		}
	}
	for _, path := range []string{"/v1/namespaces", "/v1/stats", "/v1/schema", "/v1/nodes", "/v1/export", "/metrics"} {
		if a := h.request(secret, "GET", path, ""); a.status != 200 || strings.Contains(a.body, "private") || strings.Contains(a.body, "anary") {
			t.Errorf("%s: %d %.300s", path, a.status, a.body)
		}
	}
}

// TestS55Bombs: statements that would take everything end at their bounds, and others
// are answered meanwhile.
func TestS55Bombs(t *testing.T) {
	h := start(t)
	h.must("POST", "/v1/query", `{"statement":"UNWIND range(1, 30) AS i CREATE (:C {n: i})"}`)
	h.must("POST", "/v1/query", `{"statement":"MATCH (a:C), (b:C) WHERE a <> b CREATE (a)-[:R]->(b)"}`)
	bombs := []string{
		"RETURN size(collect(range(1, 1000000000)))", "MATCH p = (a:C)-[:R*]->(b:C) RETURN count(p)", "RETURN " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000),
		"MATCH (a:C), (b:C), (c:C), (d:C), (e:C), (f:C), (g:C) RETURN count(*)", "UNWIND range(1, 100000000) AS x RETURN collect(x)", "RETURN reduce(s = 'a', x IN range(1, 60) | s + s)",
		"RETURN 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!' =~ '(a+)+b'", "CALL text.search('" + strings.Repeat("a* ", 3000) + "') YIELD node RETURN node",
		"UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y WITH x, y ORDER BY y, x RETURN count(*)",
	}
	var wait sync.WaitGroup
	failures := make(chan string, len(bombs))
	for _, statement := range bombs {
		wait.Go(func() {
			a, err := h.try(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": statement, "budget": map[string]any{"time_ms": 3000, "memory": 64 << 20}}))
			if err != nil || a.status >= 500 || a.status == 200 && len(a.body) > 1<<20 {
				failures <- fmt.Sprintf("%.80s: %d %.200s %v", statement, a.status, a.body, err)
			}
		})
	}
	finished := make(chan struct{})
	go func() { wait.Wait(); close(finished) }()
	served := 0
	for alive := true; alive; {
		select {
		case <-finished:
			alive = false
		default:
			if a := h.request(h.root, "POST", "/v1/query", `{"statement":"MATCH (c:C {n: 7}) RETURN c.n"}`); a.status != 200 {
				t.Fatalf("another client: %d %s", a.status, a.body)
			}
			served++
		}
	}
	close(failures)
	for f := range failures {
		t.Error(f)
	}
	if served < 3 {
		t.Errorf("another client was served %d times meanwhile", served)
	}
}

// TestBudgets: a request narrows the bounds of its statement, and cannot widen them.
func TestBudgets(t *testing.T) {
	h := start(t)
	for budget, want := range map[string]int{
		`{"rows":3}`: 422, `{"rows":5}`: 200, `{"memory":1000}`: 422, `{"steps":-1}`: 400, `{"time_ms":100000000000000}`: 200, `{}`: 200,
	} {
		a := h.request(h.root, "POST", "/v1/query", `{"statement":"UNWIND range(1, 5) AS x RETURN collect(range(1, 100)), x","budget":`+budget+`}`)
		if a.status != want || want == 422 && a.code() != "ResourceExhausted" {
			t.Errorf("%s: %d %s, want %d", budget, a.status, a.body, want)
		}
	}
}

// TestIdempotency: a request that is sent again with its key writes nothing.
func TestIdempotency(t *testing.T) {
	h := start(t)
	key := header("Idempotency-Key", "once-1")
	for i, c := range []struct{ path, body string }{
		{"/v1/query", `{"statement":"CREATE (:A {id: 'q'})"}`},
		{"/v1/remember", `{"text":"told once"}`},
		{"/v1/batch", `{"statements":[{"statement":"CREATE (:A)"}]}`},
		{"/v1/edges:batch", `{"edges":[{"from":"q","to":"q","type":"R"}]}`},
		{"/v1/merge", `{"nodes":[{"id":"merged"}]}`},
	} {
		key := header("Idempotency-Key", fmt.Sprintf("once-%d", i))
		first := h.must("POST", c.path, c.body, key)
		seq := h.must("GET", "/v1/stats", "").json["seq"]
		again := h.must("POST", c.path, c.body, key)
		repeated := again.json["repeated"] == true
		if s, ok := again.json["summary"].(map[string]any); ok {
			repeated = s["repeated"] == true
		}
		if !repeated || h.must("GET", "/v1/stats", "").json["seq"] != seq {
			t.Errorf("%s: first %s, again %s", c.path, first.body, again.body)
		}
	}
	for _, c := range []struct {
		method, path, body string
		change             func(*http.Request)
	}{
		{"POST", "/v1/recall", `{"query":"x"}`, key},
		{"GET", "/v1/stats", "", key},
		{"POST", "/v1/query", `{"statement":"RETURN 1"}`, key},
		{"POST", "/v1/remember", `{"text":"x"}`, header("Idempotency-Key", strings.Repeat("a", 201))},
		{"POST", "/v1/remember", `{"text":"x"}`, header("Idempotency-Key", "a b")},
		{"POST", "/v1/remember", `{"text":"x"}`, func(r *http.Request) { r.Header["Idempotency-Key"] = []string{"a", "b"} }},
	} {
		if c.path == "/v1/query" {
			c.change = header("Idempotency-Key", "unused")
		}
		if a := h.request(h.root, c.method, c.path, c.body, c.change); a.status != 400 {
			t.Errorf("%s %s: %d %s", c.method, c.path, a.status, a.body)
		}
	}
}

// TestStreaming: rows come as lines, with the summary or the problem as the last one.
func TestStreaming(t *testing.T) {
	h := start(t)
	lines := func(statement string) []string {
		a := h.request(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": statement}), header("Accept", "application/x-ndjson"))
		if a.header.Get("Content-Type") != "application/x-ndjson" && a.status == 200 {
			t.Errorf("%s: %v", statement, a.header)
		}
		return strings.Split(strings.TrimSpace(a.body), "\n")
	}
	got := lines("UNWIND range(1, 50000) AS x RETURN x, 'a text'")
	if len(got) != 50002 || got[0] != `{"columns":["x","'a text'"]}` || got[50000] != `{"row":[50000,"a text"]}` || !strings.HasPrefix(got[50001], `{"summary":{"rows":50000,`) {
		t.Errorf("%d lines: %s ... %s", len(got), got[0], got[len(got)-1])
	}
	if got := lines("CREATE (:N)"); len(got) != 2 || got[0] != `{"columns":[]}` || !strings.Contains(got[1], `"nodes_created":1`) {
		t.Errorf("%v", got)
	}
	if got := lines("RETURN nosuch"); len(got) != 1 || !strings.Contains(got[0], `"code":"SyntaxError"`) || !strings.Contains(got[0], `"line":1,"column":8`) {
		t.Errorf("%v", got)
	}
	if a := h.must("POST", "/v1/query", `{"statement":"PROFILE MATCH (n:N) RETURN n"}`); !strings.Contains(toJSON(a.json["summary"]), `"plan":"`) {
		t.Errorf("a plan: %s", a.body)
	}
	if a := h.must("POST", "/v1/query", `{"statement":"MATCH (n:Nowhere) RETURN n"}`); !strings.Contains(toJSON(a.json["summary"]), "UnknownLabel") {
		t.Errorf("a notice: %s", a.body)
	}
}

// TestTransactionsEnd: a writing transaction that is idle is rolled back and its client
// told; others write meanwhile.
func TestTransactionsEnd(t *testing.T) {
	h := start(t)
	id := h.must("POST", "/v1/transactions", `{"mode":"write"}`).json["id"].(string)
	h.must("POST", "/v1/query", toJSON(map[string]any{"statement": "CREATE (:Idle)", "transaction": id}))
	h.must("POST", "/v1/query", `{"statement":"CREATE (:Other)"}`) // waits until the idle one ends
	if a := h.request(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": "RETURN 1", "transaction": id})); a.status != 409 || a.code() != "TxExpired" {
		t.Errorf("idle for too long: %d %s", a.status, a.body)
	}
	if got := h.eql("MATCH (n) RETURN labels(n)[0]"); got != `[["Other"]]` {
		t.Errorf("%s", got)
	}
	bad := h.must("POST", "/v1/transactions", `{"mode":"write"}`).json["id"].(string)
	h.request(h.root, "POST", "/v1/query", toJSON(map[string]any{"statement": "RETURN nosuch", "transaction": bad}))
	if a := h.request(h.root, "POST", "/v1/transactions/"+bad+"/commit", ""); a.status != 409 || a.code() != "TxDone" {
		t.Errorf("after an error: %d %s", a.status, a.body)
	}
	var ids []string
	for range 16 {
		ids = append(ids, h.must("POST", "/v1/transactions", `{}`).json["id"].(string))
	}
	if a := h.request(h.root, "POST", "/v1/transactions", `{}`); a.status != 429 {
		t.Errorf("too many: %d %s", a.status, a.body)
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 16 {
		t.Error("ids repeat")
	}
}

// TestNamespacesUnload: many namespaces take turns, none of them is lost.
func TestNamespacesUnload(t *testing.T) {
	h := startWith(t, server.RegistryOptions{MaxLoaded: 4})
	n := 12
	for i := range n {
		h.must("POST", "/v1/namespaces", fmt.Sprintf(`{"name":"n%d"}`, i))
		h.must("POST", fmt.Sprintf("/v1/query?namespace=n%d", i), fmt.Sprintf(`{"statement":"CREATE (:N {i: %d})"}`, i))
	}
	if loaded := h.registry.Loaded(); loaded > 4 {
		t.Errorf("%d namespaces are loaded", loaded)
	}
	for _, i := range []int{0, 1, n - 1} {
		if a := h.must("POST", fmt.Sprintf("/v1/query?namespace=n%d", i), `{"statement":"MATCH (n) RETURN n.i"}`); toJSON(a.json["rows"]) != fmt.Sprintf("[[%d]]", i) {
			t.Errorf("namespace %d: %s", i, a.body)
		}
	}
	if a := h.request(h.root, "PATCH", "/v1/namespaces/n0", `{"quota_bytes":1000}`); a.status != 400 {
		t.Errorf("a quota that is too small: %d %s", a.status, a.body)
	}
	tx := h.must("POST", "/v1/transactions?namespace=n1", `{}`).json["id"].(string)
	if a := h.request(h.root, "DELETE", "/v1/namespaces/n1", ""); a.status != 409 || a.code() != "Aborted" {
		t.Errorf("dropping what is in use: %d %s", a.status, a.body)
	}
	h.must("DELETE", "/v1/transactions/"+tx, "")
	h.must("DELETE", "/v1/namespaces/n1", "")
}
