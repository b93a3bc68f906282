package chatbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/remotetool"
	"engram/chatbridge/internal/wire"
)

// MCPServer is a server of the Model Context Protocol whose tools a model may call. Each
// call asks for consent, but for exact ones that a person allowed; an allowance holds as
// long as the server's entry and what it says of the tool stay the same. A server whose
// entry is another one than it was used with is not started before a person allowed that.
type MCPServer struct {
	// Name: small letters, digits and -, at most 24. Its tools are offered as NAME__TOOL.
	Name string
	// Command is a program and its arguments, run without a shell for as long as a leg of a
	// run; or URL is an address that speaks streamable HTTP.
	Command []string
	URL     string
	// Env is what the program has in its environment beside PATH, HOME, LANG and TMPDIR.
	Env map[string]string
	// Tools are the names of those that may be used; none is an error.
	Tools []string
}

// ParseMCPServers reads servers from a JSON object, name → command or url, env, tools.
func ParseMCPServers(text []byte) ([]MCPServer, error) {
	servers, err := remotetool.Parse(text)
	out := make([]MCPServer, len(servers))
	for i, s := range servers {
		out[i] = MCPServer(s)
	}
	return out, err
}

// String tells for people what a server is, and what of it may be used.
func (m MCPServer) String() string {
	tools := make([]string, len(m.Tools))
	for i, t := range m.Tools {
		tools[i] = box.Visible(t)
	}
	return remotetool.Server(m).Where() + ", tools: " + strings.Join(tools, ", ")
}

const mcpTime = 10 * time.Second

// checkMCP refuses servers that cannot be.
func checkMCP(servers []MCPServer) ([]remotetool.Server, error) {
	names := map[string]bool{}
	var out []remotetool.Server
	for _, m := range servers {
		s := remotetool.Server(m)
		if err := s.Check(); err != nil {
			return nil, err
		}
		if names[s.Name] {
			return nil, fmt.Errorf("the MCP server %s is there twice", s.Name)
		}
		names[s.Name] = true
		out = append(out, s)
	}
	return out, nil
}

// connect connects a leg of a run to the MCP servers, once, and lists their tools. Each
// is announced before, and what cannot be used is told and ends nothing. Those whose entry
// changed are not started: a person is asked first, see askAboutServer.
func (b *Bridge) connect(ctx context.Context, run *Run, s *state) error {
	if len(b.mcp) == 0 || s.NoTools || s.remote != nil {
		return nil
	}
	var known []remotetool.Server
	for _, m := range b.mcp {
		changed, _, err := b.changedServer(ctx, m)
		switch {
		case err != nil:
			return err
		case changed:
			run.emit(Event{Type: EventWorking, Text: "the MCP server " + m.Name + " is not started: its entry changed since it was used last, and nobody allowed that"})
			continue
		}
		known = append(known, m)
		run.emit(Event{Type: EventWorking, Text: "MCP server " + m.Name + ": " + MCPServer(m).String()})
	}
	s.remote = remotetool.Open(ctx, known, b.o.MCPTime)
	for _, t := range s.remote.Tools {
		run.emit(Event{Type: EventWorking, Text: "tool " + t.Offered + ": " + box.Visible(t.Name) + " of the MCP server " + t.Server.Name})
	}
	for _, p := range s.remote.Problems {
		run.emit(Event{Type: EventWorking, Text: p})
		b.o.Log.Warn("an MCP server or tool cannot be used", "run", s.ID)
	}
	return nil
}

func (s *state) disconnect() {
	if s.remote != nil {
		s.remote.Close()
		s.remote = nil
	}
}

// remoteTools are the tools of the MCP servers that a leg is connected to.
func (s *state) remoteTools() []tool {
	if s.remote == nil {
		return nil
	}
	var out []tool
	for _, t := range s.remote.Tools {
		out = append(out, tool{
			t.Offered, t.Description,
			[]field{{kind: "object"}},
			func(_ context.Context, _ *Bridge, d *decision) error {
				d.tier = TierEscalate
				sum := sha256.Sum256([]byte(encoded([]any{t.Server.Hash(), t.Name, t.Description, t.Schema})))
				d.bound = hex.EncodeToString(sum[:])
				raw, _ := d.args[""].(json.RawMessage)
				d.shown = fmt.Sprintf("call %s of the MCP server %s (%s)\n+ %s", box.Visible(t.Name), t.Server.Name, t.Server.Where(), lines("+ ", string(raw)))
				return nil
			},
			func(ctx context.Context, b *Bridge, a arguments) (string, error) {
				raw, _ := a[""].(json.RawMessage)
				return s.remote.Call(ctx, t, raw, b.o.CommandTime)
			},
		})
	}
	return out
}

// offeredRemote are those tools as a model is told of them.
func (s *state) offeredRemote() []wire.Tool {
	if s.remote == nil {
		return nil
	}
	var out []wire.Tool
	for _, t := range s.remote.Tools {
		out = append(out, wire.Tool{Name: t.Offered, Description: t.Description, Schema: t.Schema})
	}
	return out
}

// decodeWhole takes the arguments of a tool that is not ours: an object without keys that
// repeat, in letters of either case, at any depth.
func decodeWhole(raw string) (arguments, error) {
	d := json.NewDecoder(strings.NewReader(raw))
	d.UseNumber()
	t, err := d.Token()
	if err != nil || t != json.Delim('{') {
		return nil, errors.New("the arguments are not a JSON object")
	}
	if err := strictObject(d, 1); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("something follows the arguments")
	}
	return arguments{"": json.RawMessage(raw)}, nil
}

const maxDepth = 100

var errNoObject = errors.New("the arguments are not a JSON object")

// strictObject reads an object whose beginning was read.
func strictObject(d *json.Decoder, depth int) error {
	if depth > maxDepth {
		return errors.New("the arguments are nested too deep")
	}
	seen := map[string]bool{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return errNoObject
		}
		name, _ := key.(string)
		if folded := strings.ToLower(name); seen[folded] {
			return fmt.Errorf("the argument %q is there twice", box.Visible(name))
		} else {
			seen[folded] = true
		}
		if err := strictValue(d, depth); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errNoObject
	}
	return nil
}

func strictValue(d *json.Decoder, depth int) error {
	t, err := d.Token()
	switch {
	case err != nil:
		return errNoObject
	case t == json.Delim('{'):
		return strictObject(d, depth+1)
	case t == json.Delim('['):
		if depth > maxDepth {
			return errors.New("the arguments are nested too deep")
		}
		for d.More() {
			if err := strictValue(d, depth+1); err != nil {
				return err
			}
		}
		if _, err := d.Token(); err != nil {
			return errNoObject
		}
	}
	return nil
}
