package mcp

import (
	"context"

	"engram"
)

// Written is a transaction of a tool that ended. It tells nothing of what was
// written.
type Written struct {
	Namespace string
	Tool      string
	Counters  engram.Counters
	// Err is why nothing was kept, or why it is not known.
	Err error
}

// toolKey is where the context of a call has the tool's name.
type toolKey struct{}

// counting adds up what the statements of a transaction change.
type counting struct {
	q     Querier
	total *engram.Counters
}

func (c counting) Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error) {
	res, err := c.q.Query(ctx, statement, params)
	if err == nil {
		*c.total = c.total.Plus(res.Counters)
	}
	return res, err
}

// told runs a writing transaction and tells of it, unless nothing changed or it was
// committed before.
func (h *Hub) told(ctx context.Context, namespace string, d database, key string, fn func(Querier) error) error {
	if h.Written == nil {
		return d.Update(ctx, key, fn)
	}
	if key != "" {
		if _, repeated, err := d.Committed(key); err == nil && repeated {
			return d.Update(ctx, key, fn)
		}
	}
	w := Written{Namespace: namespace}
	w.Tool, _ = ctx.Value(toolKey{}).(string)
	w.Err = d.Update(ctx, key, func(q Querier) error { return fn(counting{q, &w.Counters}) })
	if w.Err != nil || w.Counters.Any() {
		h.Written(ctx, w)
	}
	return w.Err
}
