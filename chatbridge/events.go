package chatbridge

import (
	"context"
	"io"
	"sync"
)

// Types of events.
const (
	EventStarted     = "started"
	EventWorking     = "working" // before every call of a model
	EventDelta       = "delta"   // a piece of text, provisional
	EventToolCall    = "tool_call"
	EventToolResult  = "tool_result"
	EventToolPending = "tool_pending" // the run waits for an answer
	EventReceipt     = "receipt"
	EventUsage       = "usage"
	EventDone        = "done"  // terminal; its text is the authoritative one
	EventError       = "error" // terminal
)

// Event is one step of a run. Numbers begin with 1 and go on over suspensions.
type Event struct {
	Seq     int      `json:"seq"`
	Type    string   `json:"type"`
	Text    string   `json:"text,omitempty"`
	Used    *Used    `json:"tool,omitempty"`
	Pending *Pending `json:"pending,omitempty"`
	Usage   *Usage   `json:"usage,omitempty"`
	Failure *Failure `json:"failure,omitempty"`
	Outcome *Outcome `json:"outcome,omitempty"`
}

// Used is a call of a tool: what it was called with and what became of it.
type Used struct {
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	// Status is called, ok, failed or denied.
	Status string `json:"status"`
	Result string `json:"result,omitempty"`
}

// Usage is what a run has spent.
type Usage struct {
	Rounds int `json:"rounds"`
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	// BySource is what Input was spent on.
	BySource BySource `json:"input_by_source"`
}

// Failure is why a run ended without an answer.
type Failure struct {
	// Kind is ceiling, provider, cancelled, shutdown, empty, reason, store, interrupted (a
	// program was killed while it ran) or internal.
	Kind string `json:"kind"`
	Text string `json:"text"`
	// Ceiling tells which limit was met.
	Ceiling *Ceiling `json:"ceiling,omitempty"`
}

// Ceiling is a limit that was met.
type Ceiling struct {
	Kind     string `json:"kind"` // rounds, tokens, conversation_rounds, conversation_tokens, revisions or attempts
	Limit    int    `json:"limit"`
	Observed int    `json:"observed"`
}

// Pending is a call that waits for consent.
type Pending struct {
	CallID   string `json:"call_id"`
	ToolName string `json:"tool_name"`
	// ToolInput are the arguments with what is invisible escaped, never cut.
	ToolInput string `json:"tool_input"`
	// Shown is what will happen, for people: a command, a path, what a file becomes.
	Shown    string `json:"shown"`
	RiskTier string `json:"risk_tier"`
	// Directory the tool works in; Digest is of all that an approval covers.
	Directory string `json:"directory,omitempty"`
	Digest    string `json:"digest"`
	Narration string `json:"narration,omitempty"`
	// Review is set where it is no call that waits but a plan or a proposal: it is approved
	// as it is, or the words of the answer ask for something else.
	Review *Review `json:"review,omitempty"`
}

// Outcome is how a run, or a leg of it, ended.
type Outcome struct {
	// Status is done, pending or failed.
	Status       string `json:"status"`
	Conversation string `json:"conversation_id"`
	Run          string `json:"run_id"`
	Reply        string `json:"reply,omitempty"`
	Model        string `json:"model,omitempty"`
	Provider     string `json:"provider,omitempty"`
	// Agentic: the model had tools.
	Agentic   bool     `json:"agentic"`
	ToolsUsed []Used   `json:"tools_used"`
	Sources   []string `json:"sources"`
	Usage     Usage    `json:"usage"`
	Pending   *Pending `json:"tool_pending,omitempty"`
	Failure   *Failure `json:"failure,omitempty"`
	// Rulings on the proposals of the run, in their order.
	Rulings []Ruling `json:"rulings,omitempty"`
	// Candidate is the key that a verdict on what was approved is kept by.
	Candidate string `json:"candidate,omitempty"`
	// Unsaved: the answer could not be stored.
	Unsaved bool `json:"unsaved,omitempty"`
}

// Run is a run of this process, or a leg of one. It goes on whoever listens.
type Run struct {
	// ID of the run and of its conversation.
	ID, Conversation string

	ctx    context.Context
	cancel context.CancelCauseFunc
	begun  bool // guarded by the bridge
	// settled is closed when the run has begun, or was given up before.
	settled chan struct{}
	held    bool // the conversation, among all processes; read and written by who goes on with the run
	mu      sync.Mutex
	first   int // the number of the last event before this leg
	events  []Event
	more    chan struct{} // closed when there are more events, or the end
	out     *Outcome
}

// Next waits for events after a number and returns them. When the leg has ended and
// there are none, the error is io.EOF.
func (r *Run) Next(ctx context.Context, after int) ([]Event, error) {
	for {
		r.mu.Lock()
		events, more, ended := r.sinceLocked(after), r.more, r.out != nil
		r.mu.Unlock()
		switch {
		case len(events) > 0:
			return events, nil
		case ended:
			return nil, io.EOF
		}
		select {
		case <-more:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Wait waits for the end of the leg. That ctx ends does not end the run.
func (r *Run) Wait(ctx context.Context) (*Outcome, error) {
	after := 0
	for {
		events, err := r.Next(ctx, after)
		if err == io.EOF {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.out, nil
		}
		if err != nil {
			return nil, err
		}
		after = events[len(events)-1].Seq
	}
}

// Cancel ends the run, which then fails as cancelled.
func (r *Run) Cancel() { r.cancel(context.Canceled) }

// next is an event as it will be emitted next.
func (r *Run) next(e Event) Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.numbered(e)
}

// with is all events so far and the one that is emitted next, as they are stored.
func (r *Run) with(e Event) string { return encoded(append(r.all(), r.next(e))) }

func (r *Run) numbered(e Event) Event {
	e.Seq = 1
	if n := len(r.events); n > 0 {
		e.Seq = r.events[n-1].Seq + 1
	}
	return e
}

func (r *Run) emit(e Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e = r.numbered(e)
	r.events = append(r.events, e)
	close(r.more)
	r.more = make(chan struct{})
}

func (r *Run) all() []Event { return r.Events(0) }

// Events are those so far after a number. Unlike Next it does not wait.
func (r *Run) Events(after int) []Event {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.sinceLocked(after)
}

func (r *Run) sinceLocked(after int) []Event {
	i := len(r.events)
	for i > 0 && r.events[i-1].Seq > after {
		i--
	}
	return r.events[i:len(r.events):len(r.events)]
}

func (r *Run) restore(events []Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = events
	if n := len(events); n > 0 {
		r.first = events[n-1].Seq
	}
}

// First is the number after which the events of this leg come, 0 for those of a message.
func (r *Run) First() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first
}

func (r *Run) end(out *Outcome) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.out = out
	close(r.more)
	r.more = make(chan struct{})
}
