package mcp

import (
	"context"
	"crypto/rand"
	"strings"
)

// BeginSession is the tool begin_session for other ways in: what is worth knowing at
// once, as a text and as the fields of the tool's output. An empty conversation gets a
// name; about may be empty; budget is in tokens, 0: 1,000.
func BeginSession(ctx context.Context, store Store, conversation, about string, budget int64) (text string, data map[string]any, err error) {
	if budget == 0 {
		budget = 1000
	}
	a, err := beginSession(ctx, &call{
		args: arguments{"conversation": conversation, "about": about, "budget": budget}, store: store,
		newID: func() string { return strings.ToLower(rand.Text()) },
	})
	if err != nil {
		return "", nil, err
	}
	return a.text, a.data, nil
}
