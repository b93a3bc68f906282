package server_test

import (
	"net/http"
	"strings"
	"testing"

	"engram/server/token"
)

// TestVerdictsAreRefused holds that ordinary requests neither name nor see verdicts,
// whatever their token may, that the attempt is logged and counted, and that the door of
// verdicts needs the scope admin.
func TestVerdictsAreRefused(t *testing.T) {
	h := start(t)
	door := func(secret, statement string) answer {
		return h.request(secret, "POST", "/v1/query", toJSON(map[string]any{"statement": statement, "verdicts": true}))
	}
	if a := door(h.root, "CREATE (:Memory {id: 'm', content: 'an open word'})<-[:JUDGES]-(:Verdict {id: 'v', content: 'hushword', reason: 'hushword'})"); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	asks := []struct{ path, body string }{
		{"/v1/query", toJSON(map[string]any{"statement": "MATCH (v:Verdict) RETURN v"})},
		{"/v1/query", toJSON(map[string]any{"statement": "RECALL 'hushword' INCLUDING VERDICTS YIELD node RETURN node"})},
		{"/v1/query", toJSON(map[string]any{"statement": "CREATE (:Verdict {id: 'x'})"})},
		{"/v1/recall", toJSON(map[string]any{"query": "hushword", "include": []string{"verdicts"}})},
		{"/v1/compile", toJSON(map[string]any{"intent": "hushword", "include": []string{"verdicts"}})},
	}
	for _, c := range asks {
		if a := h.request(h.root, "POST", c.path, c.body); a.status != http.StatusForbidden || a.code() != "Withheld" || strings.Contains(a.body, "reason") {
			t.Errorf("%s %s: %d %s", c.path, c.body, a.status, a.body)
		}
	}
	if got := strings.Count(h.log.String(), "a statement that asks for verdicts was refused"); got != len(asks) {
		t.Errorf("%d attempts are in the log", got)
	}
	if a := h.must("GET", "/v1/stats", ""); a.json["verdicts_refused"] != float64(len(asks)) {
		t.Errorf("counted as %v", a.json["verdicts_refused"])
	}
	for statement, want := range map[string]string{
		"MATCH (n) RETURN n.id": `[["m"]]`, "MATCH (m)--(x) RETURN x": `[]`, "MATCH (n {id: 'v'}) RETURN n": `[]`, "RECALL 'hushword' YIELD node RETURN node.id": `[]`,
	} {
		if got := h.eql(statement); got != want {
			t.Errorf("%s: %s", statement, got)
		}
	}
	writer := h.token("writer", token.Read, token.Write)
	if a := door(writer, "MATCH (v:Verdict) RETURN v.reason"); a.status != http.StatusForbidden || strings.Contains(a.body, "hush") {
		t.Errorf("the door without the scope: %d %s", a.status, a.body)
	}
	if a := door(h.root, "MATCH (v:Verdict) RETURN v.reason"); !strings.Contains(a.body, "hushword") {
		t.Errorf("through the door: %d %s", a.status, a.body)
	}
}
