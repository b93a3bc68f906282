package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"engram"
	"engram/server"
	"engram/server/mcp"
	"engram/server/mcp/relay"
)

// ownerWait is how long engramd mcp waits for a process that has the data directory
// to answer, or to give it back.
const ownerWait = 10 * time.Second

type mcpCommand struct {
	Tools    []string `help:"Tools to offer: default, all, or names. Repeatable." placeholder:"NAME,..."`
	Compat   string   `help:"Be a drop-in for another server: memory, the reference memory server." placeholder:"NAME" complete:"memory"`
	ReadOnly bool     `help:"Offer no tool that writes."`
	logFlags
}

// Help is shown by --help.
func (mcpCommand) Help() string {
	return `Speaks the Model Context Protocol on stdin and stdout, for a client that starts it. Started several times on one
data directory, the first one serves the others. What tools write is logged to stderr by the process that has the directory: where, by which
tool and how much, never what. See engramd help mcp for how clients are set up.

Examples:
  engramd mcp
  engramd --data ~/memory mcp --tools all
  engramd mcp --compat memory`
}

func (c *mcpCommand) Run(a *app) error {
	if err := engram.CheckNamespace(a.namespace); err != nil {
		return &usageError{err}
	}
	hello := relay.Hello{
		Namespace: a.namespace, Tools: c.Tools, Compat: c.Compat, ReadOnly: c.ReadOnly, Session: strings.ToLower(rand.Text()),
	}
	if err := mcp.CheckOptions(mcpOptions(hello)); err != nil {
		return &usageError{err}
	}
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	o := &mcpOwner{app: a, ctx: ctx, log: c.logger(a.err)}
	front := &relay.Front{Connect: func(ctx context.Context) (io.ReadWriteCloser, error) { return o.connect(ctx, hello) }}
	err := front.Run(ctx, a.in, a.out)
	cancel()
	return errors.Join(err, o.close())
}

func mcpOptions(h relay.Hello) *mcp.Options {
	return &mcp.Options{Tools: h.Tools, Compat: h.Compat, ReadOnly: h.ReadOnly}
}

// mcpOwner is this process as the owner of a data directory, or on the way to
// become it.
type mcpOwner struct {
	app *app
	ctx context.Context // ends with the client
	log *slog.Logger

	registry *server.Registry
	hub      *mcp.Hub
	sessions sync.WaitGroup
}

// connect begins a session: with another process that has the directory, else in
// this one, which then owns it.
func (o *mcpOwner) connect(ctx context.Context, h relay.Hello) (io.ReadWriteCloser, error) {
	if o.registry != nil {
		return o.begin(h)
	}
	var last error
	for deadline := time.Now().Add(ownerWait); ; {
		err := o.own(h)
		if err == nil {
			return o.begin(h)
		}
		if !engram.IsCode(err, engram.CodeBusy) {
			return nil, err
		}
		conn, dialErr := relay.Dial(ctx, o.app.data, h)
		if dialErr == nil {
			return conn, nil
		}
		var refused *relay.RefusedError
		if errors.As(dialErr, &refused) {
			return nil, refused
		}
		if last = err; time.Now().After(deadline) {
			return nil, fmt.Errorf("%w; it does not speak MCP, so engramd mcp cannot use the directory before it ends", last)
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// own takes the data directory, and serves others that want to use it.
func (o *mcpOwner) own(h relay.Hello) error {
	r, err := server.OpenRegistry(o.app.data, o.app.registryOptions(server.RegistryOptions{Create: !h.ReadOnly}))
	if err != nil {
		return err
	}
	var l net.Listener
	if _, err = r.Open(h.Namespace, !h.ReadOnly); err == nil {
		l, err = relay.Listen(o.app.data)
	}
	if err != nil {
		return errors.Join(err, r.Close())
	}
	o.registry, o.hub = r, mcpHub(r)
	o.hub.Written = auditMCP(o.log)
	o.sessions.Go(func() { relay.Serve(o.ctx, l, mcpSessions(o.hub)) })
	return nil
}

// begin begins a session in this process.
func (o *mcpOwner) begin(h relay.Hello) (io.ReadWriteCloser, error) {
	session, err := mcpSessions(o.hub)(h)
	if err != nil {
		return nil, err
	}
	mine, its := net.Pipe()
	o.sessions.Go(func() {
		defer its.Close()
		_ = session(context.WithValue(o.ctx, ownClient{}, true), its, its) // the front tells its client
	})
	return mine, nil
}

// close ends the sessions of others, who find another owner, and gives the directory
// back.
func (o *mcpOwner) close() error {
	o.sessions.Wait()
	if o.registry == nil {
		return nil
	}
	return o.registry.Close()
}
