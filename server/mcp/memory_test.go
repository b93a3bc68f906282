package mcp_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"engram/server/mcp"
)

// memoryStep is a call of the reference memory server and what it answers. The
// steps of testdata/memory.json build on each other; .ci/mcp runs them against that
// server too.
type memoryStep struct {
	About      string          `json:"about"`
	Tool       string          `json:"tool"`
	Args       json.RawMessage `json:"args"`
	Text       string          `json:"text"`
	TextOf     string          `json:"textOf"` // the text is this part of structured, as JSON
	Structured json.RawMessage `json:"structured"`
	Error      *string         `json:"error"` // "": whatever it says
}

// TestMemoryCompat runs the steps.
func TestMemoryCompat(t *testing.T) {
	raw, err := os.ReadFile("testdata/memory.json")
	if err != nil {
		t.Fatal(err)
	}
	var steps []memoryStep
	if err := json.Unmarshal(raw, &steps); err != nil || len(steps) < 20 {
		t.Fatalf("%d steps: %v", len(steps), err)
	}
	c := newClient(t, mcp.Options{Compat: "memory"})
	called := map[string]bool{}
	for _, s := range steps {
		called[s.Tool] = true
		if s.Error != nil {
			text := c.refused(s.Tool, s.Args)
			if text == "" || *s.Error != "" && text != *s.Error {
				t.Errorf("%s: %s", s.About, text)
			}
			continue
		}
		data := c.call(s.Tool, s.Args)
		text := data["text"].(string)
		delete(data, "text")
		var want map[string]json.RawMessage
		if err := json.Unmarshal(s.Structured, &want); err != nil {
			t.Fatal(err)
		}
		var wanted any
		_ = json.Unmarshal(s.Structured, &wanted)
		c.want(s.About, data, wanted)
		if part := s.TextOf; part != "" {
			s.Text = script(t, s.Structured)
			if part != "." {
				s.Text = script(t, want[part])
			}
		}
		if text != s.Text {
			t.Errorf("%s: the text is\n%q, want\n%q", s.About, text, s.Text)
		}
	}
	for _, name := range c.server.Tools() {
		if !called[name] {
			t.Errorf("no step calls %s", name)
		}
	}
	if len(c.tools) != 9 {
		t.Errorf("%d tools", len(c.tools))
	}
	c.want("no name is left without a relation", c.one("MATCH (n:EntityName) RETURN count(n)"), "0")
}

// script is JSON as JavaScript writes it with two spaces.
func script(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return strings.NewReplacer(`\u2028`, "\u2028", `\u2029`, "\u2029").Replace(b.String())
}

// TestMemoryIsRecalled holds that the native tools see what the nine tools wrote,
// and the other way round.
func TestMemoryIsRecalled(t *testing.T) {
	c := newClient(t, mcp.Options{Compat: "memory"})
	c.call("create_entities", map[string]any{"entities": []m{
		{"name": "John", "entityType": "person", "observations": []string{"Speaks fluent Spanish"}}, {"name": "Acme", "entityType": "firm", "observations": []string{}},
	}})
	c.call("create_relations", map[string]any{"relations": []m{{"from": "John", "to": "Acme", "relationType": "works_at"}}})
	native := connect(t, c.db, mcp.Options{})
	got := native.call("recall", m{"query": "who speaks Spanish?", "depth": 2})
	c.want("the observation first", got["memories"].([]any)[0].(m)["content"], "Speaks fluent Spanish")
	c.want("then whose it is", ids(got["memories"])[1], "entity:John")
	native.call("link", m{"from": "entity:Acme", "to": "entity:John", "type": "EMPLOYS"})
	c.want("a native link", c.call("read_graph", m{})["relations"], []m{
		{"from": "John", "to": "Acme", "relationType": "works_at"}, {"from": "Acme", "to": "John", "relationType": "EMPLOYS"},
	})
	native.call("forget", m{"id": got["memories"].([]any)[0].(m)["id"]})
	c.want("what was forgotten", c.call("open_nodes", m{"names": []string{"John"}})["entities"], []m{{"name": "John", "entityType": "person", "observations": []string{}}})
}

// TestMemoryResource holds that who watches the graph hears of changes, also of
// those that other sessions make.
func TestMemoryResource(t *testing.T) {
	c := newClient(t, mcp.Options{Compat: "memory"})
	updated := make(chan string, 20_000)
	watcher := dial(t, c.server, "", &sdk.ClientOptions{
		ResourceUpdatedHandler: func(_ context.Context, req *sdk.ResourceUpdatedNotificationRequest) { updated <- req.Params.URI },
	})
	if err := watcher.Subscribe(t.Context(), &sdk.SubscribeParams{URI: "memory://knowledge-graph"}); err != nil {
		t.Fatal(err)
	}
	// Subscribing ends when the request is sent, not when the server has it: another
	// call that changes nothing tells again.
	for calls, told := 0, false; !told; calls++ {
		if calls == 10_000 {
			t.Fatal("nothing is told of a change")
		}
		c.call("create_entities", m{"entities": []m{{"name": "A", "entityType": "t", "observations": []string{"x"}}}})
		select {
		case uri := <-updated:
			told = true
			if uri != "memory://knowledge-graph" {
				t.Errorf("updated: %s", uri)
			}
		default:
		}
	}
	res, err := watcher.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "memory://knowledge-graph"})
	want := "{\n  \"entities\": [\n    {\n      \"name\": \"A\",\n      \"entityType\": \"t\",\n      \"observations\": [\n        \"x\"\n      ]\n    }\n  ],\n  \"relations\": []\n}"
	if err != nil || res.Contents[0].Text != want {
		t.Errorf("%v, %v", res, err)
	}
	if init := watcher.InitializeResult(); init.ServerInfo.Name != "memory-server" || init.Instructions != "" || !init.Capabilities.Resources.Subscribe {
		t.Errorf("%+v", init)
	}
}
