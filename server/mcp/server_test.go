package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"engram"
	"engram/server/mcp"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"),
		goleak.IgnoreAnyFunction("github.com/blevesearch/bleve/v2/index/scorch/mergeplan.init"))
}

// clock gives times that go on by a millisecond each.
type clock struct{ ticks atomic.Int64 }

func (c *clock) now() time.Time {
	return time.Date(2026, 1, 15, 10, 0, 0, 0, time.UTC).Add(time.Duration(c.ticks.Add(1)) * time.Millisecond)
}

// client is a client of a server over a database in memory.
type client struct {
	t       *testing.T
	db      *engram.DB
	server  *mcp.Server
	session *sdk.ClientSession
	tools   map[string]*sdk.Tool
}

func newClient(t *testing.T, o mcp.Options) *client {
	t.Helper()
	c := &clock{}
	db, err := engram.OpenMemory(&engram.Options{Now: c.now, LearnEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	o.Now = c.now
	var ids atomic.Int64
	o.NewID = func() string { return fmt.Sprintf("n%d", ids.Add(1)) }
	return connect(t, db, o)
}

func connect(t *testing.T, db *engram.DB, o mcp.Options) *client {
	t.Helper()
	server, err := mcp.New(mcp.Database(db), &o)
	if err != nil {
		t.Fatal(err)
	}
	cl := &client{t: t, db: db, server: server, tools: map[string]*sdk.Tool{}}
	cl.session = dial(t, server, "", nil)
	for tool, err := range cl.session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		cl.tools[tool.Name] = tool
	}
	return cl
}

// dial begins a session over pipes; both ends are closed with the test.
func dial(t *testing.T, server *mcp.Server, name string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	toServer, toClient := newPipe(), newPipe()
	done := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	go func() { done <- server.Serve(ctx, toServer, toClient, name) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(ctx, &sdk.IOTransport{Reader: toClient, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		_ = toServer.Close()
		cancel()
		if err := <-done; err != nil {
			t.Errorf("serving ended with %v", err)
		}
		_ = toClient.Close()
	})
	return session
}

// call calls a tool, which must succeed, and checks what it returns against the
// tool's own schema.
func (c *client) call(name string, args any) map[string]any {
	c.t.Helper()
	text, data, isError := c.raw(name, args)
	if isError {
		c.t.Fatalf("%s: %s", name, text)
	}
	schema := c.tools[name].OutputSchema
	raw, err := json.Marshal(schema)
	if err != nil {
		c.t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(raw, &s); err != nil {
		c.t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if err := resolved.Validate(data); err != nil {
		c.t.Errorf("%s returned what its schema does not allow: %v", name, err)
	}
	for _, slip := range []string{"<nil>", "%!", "map[", "0x"} {
		if strings.Contains(text, slip) {
			c.t.Errorf("%s says %q in\n%s", name, slip, text)
		}
	}
	data["text"] = text
	return data
}

// refused calls a tool, which must fail, and returns what it says.
func (c *client) refused(name string, args any) string {
	c.t.Helper()
	text, _, isError := c.raw(name, args)
	if !isError {
		c.t.Fatalf("%s succeeded: %s", name, text)
	}
	return text
}

func (c *client) raw(name string, args any) (text string, data map[string]any, isError bool) {
	c.t.Helper()
	res, err := c.session.CallTool(c.t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		c.t.Fatalf("%s: %v", name, err)
	}
	for _, content := range res.Content {
		text += content.(*sdk.TextContent).Text
	}
	data, _ = res.StructuredContent.(map[string]any)
	if whole, err := json.Marshal(res); err != nil || len(whole) > 75_000 {
		c.t.Errorf("%s returned %d bytes, more than 25,000 tokens at 3 bytes each (%v)", name, len(whole), err)
	}
	return text, data, res.IsError
}

func (c *client) do(statement string) {
	c.t.Helper()
	if _, err := c.db.Query(context.Background(), statement, nil); err != nil {
		c.t.Fatal(err)
	}
}

// one returns the only value of a statement's only row, as JSON.
func (c *client) one(statement string) string {
	c.t.Helper()
	res, err := c.db.Query(context.Background(), statement, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	if len(res.Rows) != 1 {
		c.t.Fatalf("%s: %d rows", statement, len(res.Rows))
	}
	return string(res.Rows[0][0].AppendJSON(nil))
}

func (c *client) want(what string, got, want any) {
	c.t.Helper()
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if string(g) != string(w) {
		c.t.Errorf("%s: %s, want %s", what, g, w)
	}
}

// ids are the ids of a list of items.
func ids(list any) []string {
	out := []string{}
	items, _ := list.([]any)
	for _, item := range items {
		m, _ := item.(map[string]any)
		id, _ := m["id"].(string)
		out = append(out, id)
	}
	return out
}
