package server_test

import (
	"strings"
	"testing"
)

// TestQueryWithoutLabels holds that a statement does not see nodes of the labels that its
// request leaves out, nor gives one; and how many there may be.
func TestQueryWithoutLabels(t *testing.T) {
	h := start(t)
	h.must("POST", "/v1/query", `{"statement":"CREATE (:Memory {id: 'm'})-[:SAID]->(:Turn {id: 't'})"}`)
	ask := func(statement, without string) answer {
		return h.request(h.root, "POST", "/v1/query", `{"statement":"`+statement+`","without":`+without+`}`)
	}
	if got := ask("MATCH (n) RETURN n.id", `["Turn","Nowhere"]`); got.status != 200 || !strings.Contains(got.body, `"rows":[["m"]]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ask("MATCH ()-[r]->() RETURN count(r)", `["Turn"]`); !strings.Contains(got.body, `"rows":[[0]]`) {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := ask("CREATE (:Turn)", `["Turn"]`); got.code() != "Withheld" {
		t.Errorf("%d %s", got.status, got.body)
	}
	many := `["` + strings.Repeat(`L","`, 32) + `L"]`
	if got := ask("RETURN 1", many); got.status != 400 || !strings.Contains(got.body, "33 labels; at most 32") {
		t.Errorf("%d %s", got.status, got.body)
	}
	if got := h.must("POST", "/v1/query", `{"statement":"MATCH (n) RETURN count(n)"}`); !strings.Contains(got.body, `"rows":[[2]]`) {
		t.Errorf("afterwards: %s", got.body)
	}
}
