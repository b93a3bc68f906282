package server

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"engram"
	"engram/chatbridge"
	"engram/server/token"
)

// chats are the bridges of namespaces, made when they are first used. A bridge holds its
// namespace only while a statement of it runs.
type chats struct {
	s      *Server
	mu     sync.Mutex
	of     map[string]*chat
	closed bool
}

type chat struct {
	bridge *chatbridge.Bridge
	used   time.Time
}

// chatIdle is how long a bridge is kept that nothing runs on.
const chatIdle = 10 * time.Minute

// bridge is that of a namespace.
func (c *chats) bridge(namespace string) (*chatbridge.Bridge, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, newProblem(http.StatusServiceUnavailable, codeShutdown, "the server is ending: nothing was done")
	}
	found := c.of[namespace]
	if found == nil {
		o := c.s.config.Chat
		o.Memory = chatMemory{c.s, namespace}
		if o.Log == nil {
			o.Log = c.s.config.Log
		}
		b, err := chatbridge.New(o)
		if err != nil {
			return nil, err
		}
		found = &chat{bridge: b}
		c.of[namespace] = found
	}
	found.used = c.s.config.Now()
	return found.bridge, nil
}

// running is how many runs go on.
func (c *chats) running() (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, found := range c.of {
		n += found.bridge.Running()
	}
	return n
}

// trim closes bridges that nothing runs on.
func (c *chats) trim(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, found := range c.of {
		if found.bridge.Running() > 0 {
			found.used = now
		} else if now.Sub(found.used) >= chatIdle {
			delete(c.of, name)
			if err := found.bridge.Close(c.s.base); err != nil {
				c.s.config.Log.Error("a bridge was not closed", "namespace", name, "cause", err.Error())
			}
		}
	}
}

// closeAll cancels the runs and waits for their ends, which are stored.
func (c *chats) closeAll(ctx context.Context) error {
	c.mu.Lock()
	c.closed = true
	all := c.of
	c.of = map[string]*chat{}
	c.mu.Unlock()
	var failed []error
	var wait sync.WaitGroup
	var mu sync.Mutex
	for _, found := range all {
		wait.Go(func() {
			err := found.bridge.Close(ctx)
			mu.Lock()
			defer mu.Unlock()
			failed = append(failed, err)
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

// chatMemory is a namespace as memory of chats.
type chatMemory struct {
	s         *Server
	namespace string
}

// Query runs a statement that may write.
func (m chatMemory) Query(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return m.run(ctx, text, params, engram.Limits{})
}

// Read runs a statement that cannot write.
func (m chatMemory) Read(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return m.run(ctx, text, params, engram.Limits{ReadOnly: true})
}

func (m chatMemory) run(ctx context.Context, text string, params map[string]any, limits engram.Limits) (chatbridge.Result, error) {
	done, err := m.s.turn(ctx, !limits.ReadOnly, text)
	if err != nil {
		return chatbridge.Result{}, err
	}
	defer done()
	db, release, err := m.s.registry.Acquire(m.namespace)
	if err != nil {
		return chatbridge.Result{}, m.told(err)
	}
	defer release()
	limits.NoVerdicts, limits.Without = !chatbridge.ThroughVerdictDoor(ctx), chatbridge.Without(ctx)
	res, err := db.Query(engram.WithLimits(ctx, limits), text, params)
	if err != nil {
		return chatbridge.Result{}, m.told(err)
	}
	return ChatResult(res), nil
}

// told is an error in words that clients may see; the log has its cause.
func (m chatMemory) told(err error) error {
	p := asProblem(err)
	if p.cause == nil {
		return err
	}
	m.s.config.Log.Error("a statement of a chat failed", "namespace", m.namespace, "code", p.Code, "cause", p.cause.Error())
	return p
}

// ChatResult is a result as chats read it.
func ChatResult(res *engram.Result) chatbridge.Result {
	out := chatbridge.Result{Columns: res.Columns, Rows: make([][]any, len(res.Rows))}
	for i, row := range res.Rows {
		out.Rows[i] = make([]any, len(row))
		for j, v := range row {
			out.Rows[i][j] = v.Any()
		}
	}
	return out
}

// withheld are the tools that chats of a token do without: what writes into memory needs
// the scope write, what runs programs run-commands.
func withheld(who token.Identity) []string {
	var out []string
	if !who.May(token.RunCommands) {
		out = append(out, "run_command")
	}
	if !who.May(token.Write) {
		out = append(out, "remember", "link")
	}
	return out
}

// conversation is the bridge of a conversation that the token may use. One of another
// token is told like one that is not there; the scope admin may use all.
func (s *Server) conversation(ctx context.Context, who token.Identity, namespace, id string) (*chatbridge.Bridge, error) {
	b, err := s.chats.bridge(namespace)
	if err != nil {
		return nil, err
	}
	owner, found, err := b.Owner(ctx, id)
	if err != nil {
		return nil, err
	}
	if !found || owner != who.Owner() && !who.May(token.Admin) {
		return nil, newProblem(http.StatusNotFound, codeNoConversation, "there is no such conversation")
	}
	return b, nil
}

// refusals are the statuses and codes of what a bridge refuses.
var refusals = map[string]struct {
	status int
	code   string
}{
	"busy":                 {http.StatusConflict, "ConversationBusy"},
	"pending":              {http.StatusConflict, "CallPending"},
	"unknown_call":         {http.StatusNotFound, "CallNotFound"},
	"used_call":            {http.StatusConflict, "CallUsed"},
	"ambiguous":            {http.StatusConflict, "CallAmbiguous"},
	"changed":              {http.StatusConflict, "CallChanged"},
	"closed":               {http.StatusServiceUnavailable, codeShutdown},
	"safe_mode":            {http.StatusServiceUnavailable, "SafeMode"},
	"no_model":             {http.StatusConflict, "NoModel"},
	"unknown_conversation": {http.StatusNotFound, codeNoConversation},
	"forgotten":            {http.StatusNotFound, codeNoConversation},
	"unknown_candidate":    {http.StatusNotFound, "CandidateNotFound"},
}

// refused makes a problem of what a bridge refuses.
func refused(err error) error {
	var r *chatbridge.Refusal
	if !errors.As(err, &r) {
		return err
	}
	known, ok := refusals[r.Code]
	if !ok {
		return newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), r.Text)
	}
	return newProblem(known.status, known.code, r.Text)
}
