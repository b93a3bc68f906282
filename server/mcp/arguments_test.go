package mcp_test

import (
	"encoding/json"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"engram/server/mcp"
)

// TestLenientArguments holds what is read although it is not quite what the schema
// says: clients send such things.
func TestLenientArguments(t *testing.T) {
	c := newClient(t, mcp.Options{Tools: []string{"all"}})
	c.do("CREATE (:Memory {id: 'a', content: 'The pump leaks'}), (:Memory {id: 'b', content: 'The floor is wet'})")
	for _, args := range []string{
		`"{\"query\": \"pump\"}"`,                               // the whole object as a text
		`{"question": "pump"}`,                                  // an alias
		`{"query": "pump", "limit": "5"}`,                       // a number as a text
		`{"query": "pump", "limit": 5.0, "self": "false"}`,      // and others
		`{"query": "pump", "from": null, "cursor": null}`,       // null for what is absent
		`{"query": "pump", "labels": "Memory"}`,                 // one value for a list
		`{"query": "pump", "labels": "[\"Memory\"]"}`,           // a list as a text
		`{"query": "pump", "include": ["SUPERSEDED"]}`,          // another case
		`{"query": "pump", "cursor": "", "labels": []}`,         // nothing
		`{"q": "pump", "top_k": 3}`,                             // other names
		`{"query": "pump", "limit": 1e1}`,                       // an exponent
		`{"query": "pump", "layers": "[\"core\", \"domain\"]"}`, // another list as a text
	} {
		if got := ids(c.call("recall", json.RawMessage(args))["memories"]); len(got) != 1 || got[0] != "a" {
			t.Errorf("%s: %v", args, got)
		}
	}
	got := c.call("remember", json.RawMessage(`{"text": "Ann has a boat", "metadata": "{\"speaker\": \"Ann\"}", "link": "[{\"to\": \"a\"}]"}`))
	c.want("stored", c.one("MATCH (m {id: '"+got["id"].(string)+"'})-[:RELATED]->(x) RETURN [m.speaker, x.id]"), `["Ann","a"]`)
}

// TestStrictArguments holds what is refused, and that the words help.
func TestStrictArguments(t *testing.T) {
	c := newClient(t, mcp.Options{Tools: []string{"all"}})
	for _, a := range []struct{ tool, args, says string }{
		{"recall", `{"query": "x", "limitt": 3}`, "there is no argument limitt; did you mean limit?"},
		{"recall", `{"query": "x", "zebra": 3}`, "there is no argument zebra; there are against, as_of, cursor"},
		{"recall", `{"query": "x", "question": "y"}`, "query and question are the same argument"},
		{"recall", `{"query": "x", "limit": 0}`, "limit is 0; it can be 1 to 50"},
		{"recall", `{"query": "x", "limit": 2.5}`, "want a whole number"},
		{"recall", `{"query": "x", "limit": [1]}`, "limit: want a number, not a list"},
		{"recall", `{"query": 12, "limit": "many"}`, "limit: want a number, not a text"},
		{"recall", `{"query": "x", "include": ["all"]}`, `include[0] is "all"; it can be superseded, forgotten, telemetry, verdicts`},
		{"recall", `[1]`, "want an object, not a list"},
		{"recall", `{"query": "x", "within": "a week"}`, "a week"},
		{"remember", `{}`, "content is missing"},
		{"remember", `{"content": "  "}`, "content is empty"},
		{"remember", `{"content": "x", "properties": {"a": {"b": 1}}}`, "property a cannot be stored"},
		{"remember", `{"content": "x", "properties": "not an object"}`, "properties: want an object, not a text"},
		{"remember", `{"content": "x", "properties": "{\"a\": 1, \"a\": 2}"}`, `the key "a" is given twice`},
		{"remember", `{"content": "x", "links": [{"to": "a", "wait": 1}]}`, "there is no argument links[0].wait"},
		{"link", `{"from": "a"}`, "to is missing"},
		{"query", `{"statement": "RETURN $x"}`, "x"},
	} {
		text := c.refused(a.tool, json.RawMessage(a.args))
		if !strings.Contains(text, a.says) || strings.Contains(text, "map[") || strings.Contains(text, "json:") {
			t.Errorf("%s %s: %s", a.tool, a.args, text)
		}
	}
	_, err := c.session.CallTool(t.Context(), callParams("recall", json.RawMessage(`{"query": "x", "limit": 3, "limit": 4}`)))
	if err == nil || !strings.Contains(err.Error(), `the key "limit" is given twice`) {
		t.Errorf("a key twice: %v", err)
	}
	_, err = c.session.CallTool(t.Context(), callParams("recall", json.RawMessage(`{"query": "x", "Query": "y"}`)))
	if err == nil || !strings.Contains(err.Error(), `the keys "query" and "Query" differ only in case`) {
		t.Errorf("a key in another case: %v", err)
	}
	deep := json.RawMessage(`{"statement": "RETURN 1", "params": {"x": ` + strings.Repeat("[", 200) + strings.Repeat("]", 200) + `}}`)
	if _, err := c.session.CallTool(t.Context(), callParams("query", deep)); err == nil || !strings.Contains(err.Error(), "nested deeper than 100") {
		t.Errorf("deep arguments: %v", err)
	}
	if got := c.one("MATCH (n) RETURN count(n)"); got != "0" {
		t.Errorf("there are %s nodes", got)
	}
}

// TestIdempotency holds that a request with a key happens once.
func TestIdempotency(t *testing.T) {
	c := newClient(t, mcp.Options{Tools: []string{"all"}})
	plan := func(key, title string) {
		params := callParams("plan_work", map[string]any{"title": title})
		params.Meta = sdk.Meta{"engram/idempotency-key": key}
		if res, err := c.session.CallTool(t.Context(), params); err != nil || res.IsError {
			t.Fatal(err, res)
		}
	}
	plan("k1", "one")
	plan("k1", "one")
	plan("k2", "two")
	c.want("items", c.one("MATCH (w:BacklogItem) WITH w ORDER BY w.title RETURN collect(w.title)"), `["one","two"]`)

	// The requests of a named session have keys by themselves, which its ids make.
	again := dial(t, c.server, "front", nil)
	other := dial(t, c.server, "front", nil) // the same client, connected again
	third := dial(t, c.server, "another", nil)
	for _, s := range []*sdk.ClientSession{again, other, third} {
		if res, err := s.CallTool(t.Context(), callParams("plan_work", map[string]any{"title": "three"})); err != nil || res.IsError {
			t.Fatal(err, res)
		}
	}
	c.want("items of sessions", c.one("MATCH (w:BacklogItem {title: 'three'}) RETURN count(w)"), "2")
}

func TestResources(t *testing.T) {
	c := newClient(t, mcp.Options{})
	c.do("CREATE (a:Memory:Lesson {id: 'a/b', content: 'The pump leaks'})-[:CAUSES]->(:Memory {id: 'c'})")
	c.do("CREATE INDEX lessons FOR (n:Lesson) ON (n.content)")
	read := func(uri string) string {
		t.Helper()
		res, err := c.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Fatal(err)
		}
		return res.Contents[0].Text
	}
	schema := read("engram://schema")
	for _, part := range []string{"- Lesson: 1\n", "- Memory: 2\n", "- CAUSES (1): The start brings the end about.\n", "- content\n", "- lessons on Lesson content\n"} {
		c.says("the schema", schema, part)
	}
	c.says("a node", read("engram://node/a%2Fb"), `"content": "The pump leaks"`)
	c.says("nothing on the mind", read("engram://working-memory"), `"nodes": []`)
	c.do("MATCH (n {id: 'a/b'}) ACTIVATE n YIELD node RETURN count(*)")
	c.says("something on the mind", read("engram://working-memory"), `"id": "a/b"`)
	_, err := c.session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "engram://node/zz"})
	if err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("no node: %v", err)
	}
	var uris []string
	for r, err := range c.session.Resources(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URI)
	}
	for r, err := range c.session.ResourceTemplates(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		uris = append(uris, r.URITemplate)
	}
	c.want("resources", uris, []string{"engram://schema", "engram://working-memory", "engram://node/{id}"})
}

func TestPrompts(t *testing.T) {
	c := newClient(t, mcp.Options{})
	c.do("CREATE (:Memory {id: 'a', content: 'The pump leaks'}), (:BacklogItem {id: 'w', title: 'Mend the pump', priority: 1})")
	get := func(name string, args map[string]string) string {
		t.Helper()
		res, err := c.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: name, Arguments: args})
		if err != nil {
			t.Fatal(err)
		}
		return res.Messages[0].Content.(*sdk.TextContent).Text
	}
	c.says("recall_about", get("recall_about", map[string]string{"topic": "pump"}), "- The pump leaks")
	c.says("keep_what_matters", get("keep_what_matters", nil), "call remember")
	c.says("review_work", get("review_work", nil), "[w] Mend the pump (open, most urgent)")
	if _, err := c.session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "recall_about"}); err == nil || !strings.Contains(err.Error(), "topic is missing") {
		t.Errorf("no topic: %v", err)
	}
	count := 0
	for p, err := range c.session.Prompts(t.Context(), nil) {
		if err != nil || p.Title == "" || p.Description == "" {
			t.Error(p, err)
		}
		count++
	}
	c.want("prompts", count, 3)
}
