package chatbridge

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/remotetool"
	"engram/chatbridge/internal/wire"
)

// Querier is memory: an embedded database or a remote one. Values of parameters and
// results are nil, bool, int64, float64, string, []any, map[string]any and time.Time.
type Querier interface {
	// Query runs one statement in a transaction of its own, durable when it returns.
	Query(ctx context.Context, text string, params map[string]any) (Result, error)
	// Read runs one statement that must not be able to change anything, whatever it
	// looks like.
	Read(ctx context.Context, text string, params map[string]any) (Result, error)
}

// Result is what a statement returned.
type Result struct {
	Columns []string
	Rows    [][]any
}

// Provider is one model provider. Where several are given, the next one is tried when
// one cannot be reached, never after it has begun to answer.
type Provider struct {
	// Name for people, such as "ollama"; one of each name.
	Name string
	// Wire is "anthropic" or "openai".
	Wire string
	// BaseURL, with /v1 at its end or without.
	BaseURL string
	// Model to ask for.
	Model string
	// Key goes to the host of BaseURL only; empty: none is sent.
	Key string
	// Silence bounds how long a call may go without a byte; 0: 180 s.
	Silence time.Duration
}

// Limits bound what runs may spend. They span suspensions. 0: the default.
type Limits struct {
	// Rounds of one run: calls of the model. Default 12.
	Rounds int
	// Tokens of one run, in and out. Default 200,000.
	Tokens int
	// ConversationRounds and ConversationTokens bound all runs of a conversation.
	// Defaults 2,000 and 5,000,000.
	ConversationRounds int
	ConversationTokens int
	// Reply bounds the tokens of one reply. Default 4,096.
	Reply int
	// Revisions of the plans of one run, and Attempts at one proposal, the first one
	// included. They span suspensions. Defaults 8 and 4.
	Revisions int
	Attempts  int
	// Window is how many turns of a conversation the model sees. Default 20.
	Window int
	// Preload bounds what of memory is told as a conversation begins, in tokens, by an
	// estimate of four bytes each. Default 4,000.
	Preload int
}

// Options of a Bridge.
type Options struct {
	// Memory must be given.
	Memory Querier
	// Providers in the order they are tried. None: answers come from memory alone.
	Providers []Provider
	// Workspace is the folder of the file tools and of commands. Empty: neither is
	// offered.
	Workspace string
	// MCP are servers whose tools are offered too.
	MCP []MCPServer
	// MCPTime bounds how long one of them may take to start and list its tools. 0: 10 s.
	MCPTime time.Duration
	// AllowAddresses are addresses (host:port as dialled) that fetch_url may reach
	// although they are not public.
	AllowAddresses []string
	// System is put before the system prompt.
	System string
	Limits Limits
	// Phrases is the phrase file that distress is told by. nil: the one that is built in.
	// With one that cannot be read, messages are refused.
	Phrases []byte
	// Validation is the rule file that replies of models have to keep to. nil: the one that
	// is built in. With one that cannot be read, messages are refused.
	Validation []byte
	// Continuity is the file that the status and the register of a conversation are told
	// by. nil: the one that is built in. With one that cannot be read, messages are refused.
	Continuity []byte
	// Steward is the file of what the steward says and tells good news by. nil: the one
	// that is built in. With one that cannot be read, messages are refused.
	Steward []byte
	// CommandTime bounds one command. 0: 60 s.
	CommandTime time.Duration
	// NoStream asks providers for whole replies.
	NoStream bool
	// NoTitles asks no model for titles: the first words are those of conversations.
	NoTitles bool
	// Operator is told to the model where a run is offered tools for files or commands, and
	// nowhere else. nil: the user, home folder and machine of this process.
	Operator *Operator
	// NoPreload tells the model nothing of memory as a conversation begins: it then knows
	// what its tools find.
	NoPreload bool
	// WebSearch offers the provider's own search, where its wire has one.
	WebSearch bool
	// Now is the clock, NewID makes names that are not used twice. nil: the system's.
	Now   func() time.Time
	NewID func() string
	// Log never gets content or keys. nil: nothing is logged.
	Log *slog.Logger
}

// Bridge runs conversations. It may be used by several goroutines.
type Bridge struct {
	o     Options
	wires []provider
	// phrases are nil in safe mode, for the reason that unsafe tells.
	phrases *phraseFile
	rules   *replyRules
	manners *continuityFile
	notes   *stewardFile
	unsafe  error
	files   *box.Files
	mcp     []remotetool.Server
	fetch   *box.Fetcher
	ctx     context.Context
	stop    context.CancelCauseFunc
	hold    time.Duration // of a conversation, without a sign of life

	mu     sync.Mutex
	closed bool
	live   map[string]*Run // by conversation
	watch  watchers
	runs   sync.WaitGroup
	titles titling
}

type provider struct {
	Provider
	wire.Wire
}

var errShutdown = errors.New("the program ends")

// New makes a bridge. It fails where an option cannot be.
func New(o Options) (*Bridge, error) {
	if o.Memory == nil {
		return nil, errors.New("chatbridge needs a memory")
	}
	fill(&o.Limits.Rounds, 12)
	fill(&o.Limits.Tokens, 200_000)
	fill(&o.Limits.ConversationRounds, 2_000)
	fill(&o.Limits.ConversationTokens, 5_000_000)
	fill(&o.Limits.Reply, 4096)
	fill(&o.Limits.Revisions, 8)
	fill(&o.Limits.Attempts, 4)
	fill(&o.Limits.Window, 20)
	fill(&o.Limits.Preload, 4_000)
	if o.CommandTime <= 0 {
		o.CommandTime = time.Minute
	}
	if o.MCPTime <= 0 {
		o.MCPTime = mcpTime
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return strings.ToLower(rand.Text()) }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Operator == nil {
		o.Operator = thisOperator()
	}
	b := &Bridge{o: o, fetch: &box.Fetcher{Allow: o.AllowAddresses}, live: map[string]*Run{}, hold: holdTime, watch: watchers{}}
	if err := b.readSafety(o); err != nil {
		b.phrases, b.unsafe = nil, err
	}
	var err error
	if b.mcp, err = checkMCP(o.MCP); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, p := range o.Providers {
		if p.Name == "" || p.Model == "" || names[p.Name] {
			return nil, fmt.Errorf("provider %q: each one has a name of its own and a model", p.Name)
		}
		names[p.Name] = true
		w, err := wire.New(wire.Config{Label: p.Name, Wire: p.Wire, BaseURL: p.BaseURL, Key: p.Key, Silence: p.Silence})
		if err != nil {
			return nil, fmt.Errorf("provider %s: %w", p.Name, err)
		}
		b.wires = append(b.wires, provider{p, w})
	}
	if o.Workspace != "" {
		var err error
		if b.files, err = box.OpenFiles(o.Workspace); err != nil {
			return nil, err
		}
	}
	b.ctx, b.stop = context.WithCancelCause(context.Background())
	return b, nil
}

func fill(n *int, value int) {
	if *n <= 0 {
		*n = value
	}
}

// Close cancels the runs and waits for their end, but not longer than ctx.
func (b *Bridge) Close(ctx context.Context) error {
	b.mu.Lock()
	closed := b.closed
	b.closed = true
	b.mu.Unlock()
	if closed {
		return nil
	}
	b.stop(errShutdown)
	done := make(chan struct{})
	go func() { b.runs.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		return ctx.Err()
	}
	if b.files != nil {
		return b.files.Close()
	}
	return nil
}
