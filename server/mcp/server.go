// Package mcp lets clients of the Model Context Protocol use a memory: tools,
// resources and prompts over one graph, spoken over stdio, sockets and HTTP.
//
//	server, err := mcp.New(mcp.Database(db), nil)
//	if err != nil {
//		return err
//	}
//	return server.Serve(ctx, os.Stdin, os.Stdout, "")
package mcp

import (
	"context"
	"crypto/rand"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options say what a server offers. The zero value, like nil, offers the default
// tools for reading and writing.
type Options struct {
	// Tools are the names of the tools that are offered. "all" stands for all of them,
	// "default" for the default ones. Empty means default.
	Tools []string
	// Compat "memory" offers the nine tools of the reference memory server in place
	// of the native ones; Tools must be empty then.
	Compat string
	// ReadOnly offers no tool that writes.
	ReadOnly bool
	// Version is told to clients.
	Version string
	// Now is the clock, read by several goroutines at once. Default time.Now.
	Now func() time.Time
	// NewID makes the names of conversations and the ids of work. Default: random.
	NewID func() string
}

// Server offers a store to clients. It is safe for concurrent use and serves any
// number of sessions.
type Server struct {
	store Store
	opts  Options
	sdk   *sdk.Server
	names []string
}

//go:embed instructions.md
var instructions string

// New makes a server over a store.
func New(store Store, o *Options) (*Server, error) {
	s := &Server{store: store}
	if o != nil {
		s.opts = *o
	}
	if s.opts.Now == nil {
		s.opts.Now = time.Now
	}
	if s.opts.NewID == nil {
		s.opts.NewID = func() string { return strings.ToLower(rand.Text()) }
	}
	tools, err := s.opts.chosen()
	if err != nil {
		return nil, err
	}
	options := &sdk.ServerOptions{Instructions: instructions, Capabilities: &sdk.ServerCapabilities{}, SetCacheable: private}
	name := "engram"
	if s.opts.Compat == compatMemory {
		options.Instructions, name = "", "memory-server"
		keepSubscriptions(options)
	}
	s.sdk = sdk.NewServer(&sdk.Implementation{Name: name, Title: "engram", Version: version(s.opts.Version)}, options)
	for _, t := range tools {
		s.names = append(s.names, t.name)
		s.sdk.AddTool(t.described(), s.handler(t))
	}
	if s.opts.Compat == compatMemory {
		s.addKnowledgeGraph()
	} else {
		s.addResources()
		s.addPrompts()
	}
	return s, nil
}

// private tells that nobody may keep for others what a session got.
func private(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope = "private" }

func version(v string) string {
	if v == "" {
		return "dev"
	}
	return v
}

// CheckOptions tells what is wrong with options, such as a tool that does not
// exist.
func CheckOptions(o *Options) error {
	_, err := o.chosen()
	return err
}

// chosen are the tools that the options ask for, in the order of the table.
func (o *Options) chosen() ([]tool, error) {
	var out []tool
	switch o.Compat {
	case "":
		for _, name := range o.Tools {
			known := func(t tool) bool { return t.name == name }
			if name != "all" && name != "default" && !slices.ContainsFunc(nativeTools, known) {
				return nil, fmt.Errorf("there is no tool %q; there are all, default, %s", name, strings.Join(ToolNames(), ", "))
			}
		}
		for _, t := range nativeTools {
			if slices.Contains(o.Tools, "all") || slices.Contains(o.Tools, t.name) ||
				t.standard && (len(o.Tools) == 0 || slices.Contains(o.Tools, "default")) {
				out = append(out, t)
			}
		}
	case compatMemory:
		if len(o.Tools) > 0 {
			return nil, fmt.Errorf("tools cannot be chosen in the compat mode memory: it has nine of its own")
		}
		out = slices.Clone(memoryTools)
	default:
		return nil, fmt.Errorf("there is no compat mode %q; there is %s", o.Compat, compatMemory)
	}
	if o.ReadOnly {
		out = slices.DeleteFunc(out, func(t tool) bool { return !t.definition().Annotations.ReadOnlyHint })
	}
	return out, nil
}

// ToolNames are the names of all native tools, the default ones first.
func ToolNames() []string {
	var names []string
	for _, t := range nativeTools {
		names = append(names, t.name)
	}
	return names
}

// Tools are the names of the tools that the server offers.
func (s *Server) Tools() []string { return slices.Clone(s.names) }

// Serve speaks with one client until it leaves or ctx ends: JSON-RPC, a message a
// line. A session that is not empty, a name of the caller's choice, makes
// every request with it happen once, however often it arrives.
func (s *Server) Serve(ctx context.Context, in io.Reader, out io.Writer, session string) error {
	err := s.sdk.Run(ctx, &lineTransport{in: in, out: out, session: session})
	if ctx.Err() != nil {
		return nil
	}
	return err
}
