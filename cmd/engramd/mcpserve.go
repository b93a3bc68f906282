package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"engram"
	"engram/server"
	"engram/server/mcp"
	"engram/server/mcp/relay"
	"engram/server/token"
)

// mcpHub makes MCP servers over the namespaces of a registry.
func mcpHub(r *server.Registry) *mcp.Hub {
	return &mcp.Hub{Version: version(), Acquire: func(namespace string, create bool) (*engram.DB, func(), error) {
		if err := engram.CheckNamespace(namespace); err != nil {
			return nil, nil, err
		}
		if create {
			if err := r.Create(namespace); err != nil && !engram.IsCode(err, engram.CodeExists) {
				return nil, nil, err
			}
		}
		return r.Acquire(namespace)
	}}
}

// ownClient marks the context of the session of the client that started this process.
type ownClient struct{}

// auditMCP tells the log of what tools write: who wrote where, with which tool and how
// much, never what.
func auditMCP(log *slog.Logger) func(context.Context, mcp.Written) {
	return func(ctx context.Context, w mcp.Written) {
		name, route := "", "mcp.sock" // another process of the same user
		if who, ok := token.FromContext(ctx); ok {
			name, route = who.Name, "/mcp"
		} else if ctx.Value(ownClient{}) != nil {
			route = "stdio"
		}
		outcome := "ok"
		var e *engram.Error
		if errors.As(w.Err, &e) {
			outcome = string(e.Code)
		} else if w.Err != nil {
			outcome = "refused"
		}
		n := w.Counters
		log.Info("write", "token", name, "route", route, "tool", w.Tool, "namespace", w.Namespace, "outcome", outcome,
			"nodes_created", n.NodesCreated, "nodes_deleted", n.NodesDeleted, "edges_created", n.EdgesCreated, "edges_deleted", n.EdgesDeleted,
			"properties_set", n.PropertiesSet)
	}
}

// mcpHandler answers MCP over HTTP: what a token may do decides what tools there are.
func mcpHandler(hub *mcp.Hub) http.Handler {
	return mcp.Handler(func(req *http.Request) (*mcp.Server, error) {
		who, ok := token.FromContext(req.Context())
		if !ok {
			return nil, &mcp.HTTPError{Status: http.StatusUnauthorized, Reason: "a valid token is needed"}
		}
		query := req.URL.Query()
		namespace := query.Get("namespace")
		if namespace == "" {
			namespace = server.DefaultNamespace
		}
		missing := &mcp.HTTPError{Status: http.StatusNotFound, Reason: "there is no namespace " + namespace}
		if err := engram.CheckNamespace(namespace); err != nil {
			return nil, err
		}
		if !who.MayUse(namespace) {
			return nil, missing
		}
		o := mcp.Options{Compat: query.Get("compat"), ReadOnly: !who.May(token.Write)}
		if tools := query.Get("tools"); tools != "" {
			o.Tools = strings.Split(tools, ",")
		}
		s, err := hub.Server(namespace, false, o)
		if engram.IsCode(err, engram.CodeNotFound) {
			return nil, missing
		}
		return s, err
	})
}

// mcpSessions makes sessions of what other processes ask for.
func mcpSessions(hub *mcp.Hub) func(relay.Hello) (relay.Session, error) {
	return func(h relay.Hello) (relay.Session, error) {
		s, err := hub.Server(h.Namespace, !h.ReadOnly, *mcpOptions(h))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, in io.Reader, out io.Writer) error { return s.Serve(ctx, in, out, h.Session) }, nil
	}
}

// shareMCP lets processes that run engramd mcp use the directory while it is served.
// What it returns ends that.
func shareMCP(a *app, hub *mcp.Hub, log *slog.Logger) (stop func()) {
	l, err := relay.Listen(a.data)
	if err != nil {
		log.Error("engramd mcp cannot share the directory", "cause", err)
		return func() {}
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(a.ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		relay.Serve(ctx, l, mcpSessions(hub))
	}()
	return func() {
		cancel()
		<-done
	}
}
