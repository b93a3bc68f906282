// Package wire speaks to model providers: Anthropic Messages and OpenAI Chat
// Completions, each through its official SDK, behind one interface. What a provider
// sent is kept as its own bytes and echoed as they are.
package wire

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// Names of the wires.
const (
	Anthropic = "anthropic"
	OpenAI    = "openai"
)

// Wire is one provider.
type Wire interface {
	// Name is Anthropic or OpenAI: what messages are made for.
	Name() string
	// Ask sends a request and gives text to emit as it arrives. Errors are *Error.
	Ask(ctx context.Context, r *Request, emit func(text string)) (*Reply, error)
	// User is a message of a person, Assistant one of the model that it did not make
	// on this wire, Results answers the calls of the last reply.
	User(text string) json.RawMessage
	Assistant(text string) json.RawMessage
	Results(results []Result) []json.RawMessage
}

// Tool is what a model may call.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // of an object
}

// Request is what a model is asked.
type Request struct {
	Model     string
	System    string // empty: none
	Messages  []json.RawMessage
	Tools     []Tool // none: neither tools nor a choice are sent
	WebSearch bool   // offer the provider's own search, where the wire has it
	Parallel  bool   // allow several calls in one reply
	MaxTokens int    // of the reply
	Stream    bool
}

// Result answers a call.
type Result struct {
	ID      string
	Content string
	Failed  bool
}

// Stop is why a reply ended.
type Stop int

// Why a reply ended.
const (
	StopUnknown Stop = iota // a reason that is not known: no completed answer
	StopEnd
	StopCalls
	StopLength
	StopPause // the provider wants its own message back, to go on
	StopRefused
)

// Reply is what a model answered.
type Reply struct {
	Message json.RawMessage // to be echoed
	Blocks  []Block
	Stop    Stop
	Reason  string // as the provider said it
	Input   int    // tokens billed
	Output  int
	Sources []string // addresses that the provider names, in order, once each
}

// Block is a piece of a reply.
type Block struct {
	Text string
	Call *Call
	// Other: neither text nor a call for us, such as a search; it separates texts.
	Other bool
}

// Call is a call of a tool.
type Call struct {
	ID, Name string
	// Arguments is the text of an object, decoded once from the wire.
	Arguments string
	// Problem tells what is wrong with the arguments; empty: nothing.
	Problem string
}

// Calls are the calls of a reply, in order.
func (r *Reply) Calls() []Call {
	var out []Call
	for _, b := range r.Blocks {
		if b.Call != nil {
			out = append(out, *b.Call)
		}
	}
	return out
}

// Joiner joins texts by the one rule: a separator only where something else than text
// stood between.
type Joiner struct {
	b     strings.Builder
	apart bool
}

// Text adds a text and returns what it adds to the whole, with the separator.
func (j *Joiner) Text(text string) string {
	if text == "" {
		return ""
	}
	if j.apart && j.b.Len() > 0 {
		text = "\n\n" + text
	}
	j.apart = false
	j.b.WriteString(text)
	return text
}

// Apart says that something else than text stood here.
func (j *Joiner) Apart() { j.apart = true }

// String is the whole.
func (j *Joiner) String() string { return j.b.String() }

// Clock is the time that waits are measured by.
type Clock interface {
	Now() time.Time
	// AfterFunc calls f in a goroutine of its own after d; stop prevents it.
	AfterFunc(d time.Duration, f func()) (stop func() bool)
}

type systemClock struct{}

func (systemClock) Now() time.Time { return time.Now() }
func (systemClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d, f).Stop
}

// Config is how a provider is reached.
type Config struct {
	Label   string // for errors, such as "ollama"
	Wire    string
	BaseURL string
	Key     string // goes to the host of BaseURL only; empty: none is sent
	// Silence bounds how long a call may go without a byte; 0: 180 s.
	Silence time.Duration
	// Retries bounds how often a call is repeated after 429 and 5xx; below 0: never, 0: twice.
	Retries   int
	Clock     Clock             // nil: the system's
	Transport http.RoundTripper // nil: the default
}

// New makes the wire of a configuration.
func New(c Config) (Wire, error) {
	base, err := baseURL(c.Wire, c.BaseURL)
	if err != nil {
		return nil, err
	}
	if c.Silence <= 0 {
		c.Silence = 180 * time.Second
	}
	switch {
	case c.Retries == 0:
		c.Retries = 2
	case c.Retries < 0:
		c.Retries = 0
	}
	if c.Clock == nil {
		c.Clock = systemClock{}
	}
	if c.Transport == nil {
		c.Transport = http.DefaultTransport
	}
	if c.Label == "" {
		c.Label = c.Wire
	}
	caller := &caller{Config: c, base: base}
	if c.Wire == Anthropic {
		return &anthropicWire{caller}, nil
	}
	return &openaiWire{caller}, nil
}

// encode is JSON whose texts keep <, > and & as they are.
func encode(v any) json.RawMessage {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(v) != nil { // only raw messages can fail, and those were decoded before
		return json.RawMessage("null")
	}
	return json.RawMessage(strings.TrimSuffix(b.String(), "\n"))
}
