package remotetool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"engram/chatbridge/internal/box"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	maxListed      = 1000 // tools of a server that are looked at
	maxDescription = 2000 // bytes
	maxSchema      = 32 << 10
)

// Tool is a tool of a server, as a model may call it.
type Tool struct {
	Server Server
	// Name at the server, Offered to the model: letters, digits, _ and - only.
	Name, Offered string
	Description   string // what is invisible escaped
	Schema        json.RawMessage
}

// Session is the connections of one run. It must be closed.
type Session struct {
	Tools []Tool
	// Problems tell what could not be used, by the server's name. They end nothing.
	Problems []string

	open map[string]*connection
}

type connection struct {
	session *mcp.ClientSession
	process *process
	client  *http.Client
}

func (c *connection) close() {
	if c.process != nil {
		_ = c.process.Close() // first, so that closing the session waits for nobody
	}
	if c.session != nil {
		_ = c.session.Close() // the server may have gone
	}
	if c.client != nil {
		c.client.CloseIdleConnections()
	}
}

// Open connects to servers, all at once, and lists the tools that are allowed. What does
// not answer within limit is left out.
func Open(ctx context.Context, servers []Server, limit time.Duration) *Session {
	type found struct {
		c     *connection
		tools []Tool
		err   error
	}
	all := make([]found, len(servers))
	var wg sync.WaitGroup
	for i, s := range servers {
		wg.Go(func() {
			f := &all[i]
			f.c, f.tools, f.err = connect(ctx, s, limit)
		})
	}
	wg.Wait()
	out := &Session{open: map[string]*connection{}}
	offered := map[string]bool{}
	for i, s := range servers {
		f := all[i]
		if f.err != nil {
			out.Problems = append(out.Problems, fmt.Sprintf("the MCP server %s cannot be used: %s", s.Name, box.Cut(box.Visible(f.err.Error()), 300)))
			continue
		}
		out.open[s.Name] = f.c
		there := map[string]bool{}
		for _, t := range f.tools {
			there[t.Name] = true
			if offered[t.Offered] {
				out.Problems = append(out.Problems, fmt.Sprintf("the MCP server %s: the tool %s has a name that another one has", s.Name, box.Visible(t.Name)))
				continue
			}
			offered[t.Offered] = true
			out.Tools = append(out.Tools, t)
		}
		for _, name := range s.Tools {
			if !there[name] {
				out.Problems = append(out.Problems, fmt.Sprintf("the MCP server %s has no tool %s that can be used", s.Name, box.Visible(name)))
			}
		}
	}
	return out
}

// connect connects to one server and lists its tools. After limit all of it is ended.
func connect(ctx context.Context, s Server, limit time.Duration) (*connection, []Tool, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	c := &connection{}
	var transport mcp.Transport
	if s.URL != "" {
		c.client = httpClient()
		transport = &mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: c.client, MaxRetries: -1, DisableStandaloneSSE: true}
	} else {
		var err error
		if c.process, err = start(s); err != nil {
			return nil, nil, fmt.Errorf("it does not start: %w", err)
		}
		defer context.AfterFunc(ctx, func() {
			if ctx.Err() == context.DeadlineExceeded {
				_ = c.process.Close() // what waits for it goes on
			}
		})()
		transport = &mcp.IOTransport{Reader: c.process, Writer: c.process}
	}
	tools, err := c.list(ctx, s, transport)
	if err == nil {
		return c, tools, nil
	}
	c.close()
	if ctx.Err() != nil && context.Cause(ctx) == context.DeadlineExceeded {
		return nil, nil, fmt.Errorf("it did not answer within %s", limit)
	}
	return nil, nil, err
}

func (c *connection) list(ctx context.Context, s Server, transport mcp.Transport) ([]Tool, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "engram", Version: "1"}, &mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}})
	var err error
	if c.session, err = client.Connect(ctx, transport, nil); err != nil {
		return nil, fmt.Errorf("it does not speak: %w", err)
	}
	var out []Tool
	n := 0
	for t, err := range c.session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("its tools cannot be listed: %w", err)
		}
		if n++; n > maxListed {
			break
		}
		if !slices.Contains(s.Tools, t.Name) {
			continue
		}
		schema, err := json.Marshal(t.InputSchema)
		var object map[string]json.RawMessage
		if err != nil || len(schema) > maxSchema || json.Unmarshal(schema, &object) != nil || object == nil {
			continue // told as one that cannot be used
		}
		out = append(out, Tool{
			Server: s, Name: t.Name, Offered: offeredName(s.Name, t.Name), Schema: schema,
			Description: box.Visible(box.Cut(t.Description, maxDescription)),
		})
	}
	return out, nil
}

// offeredName is a name that both wires take; other characters stand as their number.
func offeredName(server, tool string) string {
	var b strings.Builder
	b.WriteString(strings.ReplaceAll(server, "-", "_") + "__")
	for _, r := range tool {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "_x%x_", r)
		}
	}
	return b.String()[:min(b.Len(), 64)]
}

// httpClient follows redirects of the same host only and uses no proxy.
func httpClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{MaxResponseHeaderBytes: 64 << 10},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if len(via) >= 5 || req.URL.Host != via[0].URL.Host || req.URL.Scheme != via[0].URL.Scheme {
				return errors.New("it redirects to another host, which is not followed")
			}
			return nil
		},
	}
}

// Call calls a tool with a JSON object. That the tool failed is an error with what it said.
func (s *Session) Call(ctx context.Context, t Tool, arguments json.RawMessage, limit time.Duration) (string, error) {
	c := s.open[t.Server.Name]
	if c == nil {
		return "", fmt.Errorf("the MCP server %s is not connected", t.Server.Name)
	}
	inner, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := c.session.CallTool(inner, &mcp.CallToolParams{Name: t.Name, Arguments: arguments})
	switch {
	case err != nil && ctx.Err() == nil && inner.Err() != nil:
		return "", fmt.Errorf("the MCP server %s did not answer within %s", t.Server.Name, limit)
	case err != nil:
		return "", fmt.Errorf("the MCP server %s: %s", t.Server.Name, box.Cut(box.Visible(err.Error()), 300))
	}
	text := content(res)
	if res.IsError {
		return text, errors.New("the tool says that it failed")
	}
	return text, nil
}

// content is the text of a result; what is none is told.
func content(res *mcp.CallToolResult) string {
	var parts []string
	for _, c := range res.Content {
		switch c := c.(type) {
		case *mcp.TextContent:
			parts = append(parts, strings.ToValidUTF8(c.Text, "?"))
		case *mcp.EmbeddedResource:
			if c.Resource != nil && c.Resource.Text != "" {
				parts = append(parts, strings.ToValidUTF8(c.Resource.Text, "?"))
				continue
			}
			parts = append(parts, "[a resource that is no text is left out]")
		case *mcp.ResourceLink:
			parts = append(parts, "[link: "+box.Visible(c.URI)+"]")
		default:
			parts = append(parts, "[something that is no text is left out]")
		}
	}
	if len(parts) == 0 && res.StructuredContent != nil {
		if text, err := json.Marshal(res.StructuredContent); err == nil {
			parts = append(parts, string(text))
		}
	}
	return strings.Join(parts, "\n")
}

// Close ends every connection, and every program that was started.
func (s *Session) Close() {
	for _, name := range sorted(s.open) {
		s.open[name].close()
	}
	s.open = nil
}

func sorted[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
