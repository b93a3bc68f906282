package mcp

import (
	"context"
	"encoding/json"
	"sync"

	"engram"
)

// Hub makes the servers of a process that has several namespaces: one for each
// kind of session, so that sessions hear what others change. It is safe for
// concurrent use.
type Hub struct {
	// Acquire opens a namespace, and makes it when it is missing and create is set.
	// release is called when the namespace is used no more.
	Acquire func(namespace string, create bool) (db *engram.DB, release func(), err error)
	// Version is told to clients.
	Version string
	// Written hears of each transaction in which a tool wrote or failed to, before the
	// tool answers; nil: nobody does. It is called by several goroutines at once.
	Written func(context.Context, Written)

	mu      sync.Mutex
	servers map[string]*Server
}

// maxServers bounds how many servers are kept; others are made for each session.
const maxServers = 1_000

// Server returns the server of a namespace for sessions with such options, of which
// Version is the hub's. The namespace must be there, unless create is set.
func (h *Hub) Server(namespace string, create bool, o Options) (*Server, error) {
	tools, err := o.chosen()
	if err != nil {
		return nil, err
	}
	_, release, err := h.Acquire(namespace, create)
	if err != nil {
		return nil, err
	}
	release()
	kind := []any{namespace, o.Compat, o.ReadOnly}
	for _, t := range tools {
		kind = append(kind, t.name)
	}
	key, err := json.Marshal(kind)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if s, ok := h.servers[string(key)]; ok {
		return s, nil
	}
	o.Version = h.Version
	s, err := New(&passing{h, namespace}, &o)
	if err == nil && len(h.servers) < maxServers {
		if h.servers == nil {
			h.servers = map[string]*Server{}
		}
		h.servers[string(key)] = s
	}
	return s, err
}

// passing is a Store that holds its namespace only while it is used, so that it
// can be unloaded in between.
type passing struct {
	hub       *Hub
	namespace string
}

func (p *passing) with(fn func(database) error) error {
	db, release, err := p.hub.Acquire(p.namespace, false)
	if err != nil {
		return err
	}
	defer release()
	return fn(database{db})
}

func (p *passing) Query(ctx context.Context, statement string, params map[string]any) (res *engram.Result, err error) {
	err = p.with(func(d database) (err error) {
		res, err = d.Query(ctx, statement, params)
		return err
	})
	return res, err
}

func (p *passing) View(ctx context.Context, fn func(Querier) error) error {
	return p.with(func(d database) error { return d.View(ctx, fn) })
}

func (p *passing) Update(ctx context.Context, key string, fn func(Querier) error) error {
	return p.with(func(d database) error { return p.hub.told(ctx, p.namespace, d, key, fn) })
}
