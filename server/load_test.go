package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"engram"
	"engram/server"
)

// TestWritersLeaveReadersPlaces: while as many writers as may run wait for a
// transaction, others read, the transaction goes on, and all of them write at its end.
func TestWritersLeaveReadersPlaces(t *testing.T) {
	h := start(t, func(c *server.Config) { c.MaxRunning, c.MaxWriting = 1, 2 })
	tx := h.must("POST", "/v1/transactions", `{"mode":"write"}`).json["id"].(string)
	inTx := func(statement string) answer {
		return h.must("POST", "/v1/query", toJSON(map[string]any{"statement": statement, "transaction": tx}))
	}
	inTx("CREATE (:N {by: 'transaction'})")
	var writers sync.WaitGroup
	answers := make([]answer, 2)
	for i := range answers {
		writers.Go(func() {
			answers[i], _ = h.try(h.root, "POST", "/v1/query", `{"statement":"CREATE (:N {by: 'writer'})"}`)
		})
	}
	writing := "engram_statements_writing 2"
	deadline := time.Now().Add(time.Minute)
	for !strings.Contains(h.must("GET", "/metrics", "").body, writing) {
		if time.Now().After(deadline) {
			t.Fatal("the writers do not wait")
		}
	}
	for range 3 {
		if got := h.eql("MATCH (n:N) RETURN count(n)"); got != "[[0]]" {
			t.Errorf("read beside them: %s", got)
		}
	}
	h.must("POST", "/v1/recall", `{"query":"anything"}`)
	if a := inTx("MATCH (n:N) RETURN count(n)"); toJSON(a.json["rows"]) != "[[1]]" {
		t.Errorf("in the transaction: %s", a.body)
	}
	h.must("POST", "/v1/transactions/"+tx+"/commit", "")
	writers.Wait()
	for _, a := range answers {
		if a.status != 200 {
			t.Errorf("a writer: %d %s", a.status, a.body)
		}
	}
	if got := h.eql("MATCH (n:N) RETURN count(n)"); got != "[[3]]" {
		t.Errorf("at the end: %s", got)
	}
}

// TestPagesCostAlike: any page of the nodes is read within a bound of steps that a scan
// of all of them, or of those before it, would break; and each node is on one page.
func TestPagesCostAlike(t *testing.T) {
	const nodes = 12_000
	h := startWith(t, server.RegistryOptions{Database: &engram.Options{StatementSteps: nodes / 2}})
	for i := range 24 {
		h.must("POST", "/v1/query", fmt.Sprintf(`{"statement":"UNWIND range(%d, %d) AS i CREATE (n:Odd {id: 'n' + toString(i)}) SET n:Node"}`, i*nodes/24, (i+1)*nodes/24-1))
	}
	for _, label := range []string{"", "&label=Odd"} {
		seen, cursor := map[string]bool{}, ""
		for page := 0; page == 0 || cursor != ""; page++ {
			a := h.request(h.root, "GET", "/v1/nodes?limit=1000"+label+cursor, "")
			if a.status != 200 {
				t.Fatalf("page %d: %d %s", page, a.status, a.body)
			}
			for _, n := range a.json["nodes"].([]any) {
				id := n.(map[string]any)["id"].(string)
				if seen[id] {
					t.Errorf("%s is there twice", id)
				}
				seen[id] = true
			}
			cursor = ""
			if next, ok := a.json["next_cursor"].(string); ok {
				cursor = "&cursor=" + next
			}
		}
		if len(seen) != nodes {
			t.Errorf("%d nodes on all pages, want %d", len(seen), nodes)
		}
	}
	for _, cursor := range []string{"ann", "n", "n-1", "n0", "n!", "nzzzzzzzzzzzzzzzz"} {
		if a := h.request(h.root, "GET", "/v1/nodes?cursor="+cursor, ""); a.status != 400 || a.code() != "InvalidArgument" {
			t.Errorf("cursor %s: %d %s", cursor, a.status, a.body)
		}
	}
}
