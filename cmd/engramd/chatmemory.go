package main

import (
	"context"
	"net/url"
	"strings"

	"engram"
	"engram/chatbridge"
	"engram/server"
	"engram/server/client"
)

// chatMemory is a database, here or of a server, as memory of chats.
type chatMemory struct {
	db interface {
		Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
		Read(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
	}
}

func (m chatMemory) Query(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return chatResult(m.db.Query(withDoor(ctx), text, params))
}

func (m chatMemory) Read(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return chatResult(m.db.Read(withDoor(ctx), text, params))
}

// withDoor keeps statements from verdicts that do not come through their door, and those
// of models from conversations.
func withDoor(ctx context.Context) context.Context {
	if chatbridge.ThroughVerdictDoor(ctx) {
		return client.WithVerdicts(ctx)
	}
	without := chatbridge.Without(ctx)
	return client.WithoutLabels(engram.WithLimits(ctx, engram.Limits{NoVerdicts: true, Without: without}), without)
}

func chatResult(res *engram.Result, err error) (chatbridge.Result, error) {
	if err != nil {
		return chatbridge.Result{}, plain(err)
	}
	return server.ChatResult(res), nil
}

// Read runs a statement that cannot write.
func (l local) Read(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	return l.Query(engram.WithLimits(ctx, engram.Limits{ReadOnly: true}), text, params)
}

// withMemory is withDatabase for chats.
func (a *app) withMemory(how access, fn func(chatbridge.Querier) error) error {
	return a.withDatabase(how, func(d database) error { return fn(memoryOf(d)) })
}

// memoryOf is a database as memory of chats.
func memoryOf(d database) chatbridge.Querier {
	if r, ok := d.(remote); ok {
		return chatMemory{r.Client}
	}
	return chatMemory{d.(local)}
}

// isServer tells the address of a server from what is said.
func isServer(text string) bool {
	u, err := url.Parse(text)
	return err == nil && isURL(text) && u.Host != "" && strings.Trim(u.Path, "/") == "" && u.RawQuery == "" && u.Fragment == ""
}
