package gate

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"
	"strings"
)

// Script is what a gate answers: scenarios by the marker that stands in a prompt.
type Script struct {
	// Scenarios, in no particular order: where a prompt holds several markers, the
	// longest one counts.
	Scenarios []Scenario `json:"scenarios"`
}

// Scenario is what follows a prompt that holds a marker.
type Scenario struct {
	// Marker is the text that chooses the scenario; at least 4 bytes.
	Marker string `json:"marker"`
	// Steps are the replies: the first one to the prompt, the next ones to the
	// results of the calls of the one before. A request past the last step is
	// answered with the text GATE-SCRIPT-EXHAUSTED.
	Steps []Step `json:"steps"`
}

// Step is one reply of the model.
type Step struct {
	// Text of the reply. "{result}" in it is replaced with the result that the
	// request holds last, "{results}" with all results since the prompt, one a line.
	Text string `json:"text,omitempty"`
	// Calls of tools, after the text.
	Calls []Call `json:"calls,omitempty"`
	// Stop replaces the reason why the reply ended, in the words of the wire. Empty:
	// what fits.
	Stop string `json:"stop,omitempty"`
	// Usage is what the reply counts; nil: a fourth of the bytes.
	Usage *Usage `json:"usage,omitempty"`

	// Status answers with this HTTP status in place of a reply; 0: 200.
	Status int `json:"status,omitempty"`
	// Times bounds how often Status or Body is answered, after which the step is
	// answered as if they were not there; 0: always.
	Times int `json:"times,omitempty"`
	// RetryAfter is sent as the header of that name, with Status. Seconds.
	RetryAfter string `json:"retry_after,omitempty"`
	// Body is sent verbatim in place of what Status or the reply would be.
	Body string `json:"body,omitempty"`

	// Mode makes the reply hostile: "" (not), ModeSilent, ModeDrop, ModeForever or
	// ModeBytes.
	Mode string `json:"mode,omitempty"`
	// Quirks are habits of real providers that the reply has: see Quirks.
	Quirks []string `json:"quirks,omitempty"`

	// ExpectResults are texts that the results in the request must hold, in sum.
	ExpectResults []string `json:"expect_results,omitempty"`
	// ExpectSystem are texts that the system prompt must hold.
	ExpectSystem []string `json:"expect_system,omitempty"`
	// ExpectTools are tools that the request must offer. NoTools: it must offer none.
	ExpectTools []string `json:"expect_tools,omitempty"`
	// NoTools refuses a request that offers tools.
	NoTools bool `json:"no_tools,omitempty"`
}

// Call is one call of a tool. Its id is made by the gate.
type Call struct {
	// Name of the tool.
	Name string `json:"name"`
	// Arguments as an object. The bytes of the file are what is sent.
	Arguments json.RawMessage `json:"arguments,omitempty"`
	// Raw is sent in place of Arguments as it is, also where it is no JSON.
	Raw string `json:"raw,omitempty"`
}

// sent is the text of the arguments.
func (c Call) sent() string {
	switch {
	case c.Raw != "":
		return c.Raw
	case len(c.Arguments) == 0:
		return "{}"
	}
	return string(c.Arguments)
}

// Usage is what a provider bills, in tokens.
type Usage struct {
	// Input and Output are the tokens of the request and of the reply.
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Hostile modes of a step.
const (
	// ModeSilent never answers: the connection stays open until the client leaves.
	ModeSilent = "silent"
	// ModeDrop closes the connection in the middle of the body.
	ModeDrop = "drop"
	// ModeForever repeats the step for ever, each time with new call ids.
	ModeForever = "forever"
	// ModeBytes sends the body byte by byte.
	ModeBytes = "bytes"
)

// Modes lists the hostile modes.
func Modes() []string { return []string{ModeSilent, ModeDrop, ModeForever, ModeBytes} }

// Quirks of a step, seen with real providers.
const (
	// QuirkObject sends arguments as an object where the wire wants a text.
	QuirkObject = "object_arguments"
	// QuirkNoIndex leaves out the index of a call in a stream.
	QuirkNoIndex = "no_index"
	// QuirkEmptyChoices puts chunks without choices into the stream.
	QuirkEmptyChoices = "empty_choices"
	// QuirkStop ends a reply that calls tools as if it did not.
	QuirkStop = "stop_with_calls"
	// QuirkCRLF ends lines of a stream with CR and LF.
	QuirkCRLF = "crlf"
	// QuirkNoDone leaves out the end marker of a stream.
	QuirkNoDone = "no_done"
	// QuirkComments puts comments and keep-alives into the stream.
	QuirkComments = "comments"
	// QuirkSplit splits characters of several bytes between two deltas.
	QuirkSplit = "split_characters"
)

// Quirks lists what Step.Quirks may hold.
func Quirks() []string {
	return []string{QuirkObject, QuirkNoIndex, QuirkEmptyChoices, QuirkStop, QuirkCRLF, QuirkNoDone, QuirkComments, QuirkSplit}
}

//go:embed default.json
var defaultScript []byte

// DefaultScenario is the scenario file that is built in, as text: one scenario for
// each class of behaviour, to try a loop and to begin a file of one's own with.
func DefaultScenario() []byte { return bytes.Clone(defaultScript) }

// ParseScenario reads a scenario file. Unknown fields, markers that repeat and modes
// or quirks that do not exist are errors that name the place.
func ParseScenario(text []byte) (*Script, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var s Script
	if err := d.Decode(&s); err != nil {
		return nil, fmt.Errorf("scenario file: %w", jsonError(text, err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("scenario file: text follows the JSON object")
	}
	return &s, s.validate()
}

// jsonError tells the place of an error in JSON as a line.
func jsonError(text []byte, err error) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", 1+bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n")), err)
	case errors.As(err, &kind):
		return fmt.Errorf("line %d: field %q cannot be a %s", 1+bytes.Count(text[:min(int(kind.Offset), len(text))], []byte("\n")), kind.Field, kind.Value)
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("it ends in the middle of the JSON object")
	}
	return errors.New(strings.TrimPrefix(err.Error(), "json: "))
}

func (s *Script) validate() error {
	if len(s.Scenarios) == 0 {
		return errors.New("scenario file: it holds no scenarios")
	}
	seen := map[string]bool{}
	for _, sc := range s.Scenarios {
		switch {
		case len(sc.Marker) < 4:
			return fmt.Errorf("scenario %q: a marker has at least 4 bytes", sc.Marker)
		case seen[sc.Marker]:
			return fmt.Errorf("scenario %q: the marker repeats", sc.Marker)
		case len(sc.Steps) == 0:
			return fmt.Errorf("scenario %q: it has no steps", sc.Marker)
		}
		seen[sc.Marker] = true
		for i, st := range sc.Steps {
			if err := st.validate(); err != nil {
				return fmt.Errorf("scenario %q, step %d: %w", sc.Marker, i+1, err)
			}
		}
	}
	return nil
}

func (s Step) validate() error {
	if s.Mode != "" && !slices.Contains(Modes(), s.Mode) {
		return fmt.Errorf("there is no mode %q; there are %s", s.Mode, strings.Join(Modes(), ", "))
	}
	for _, q := range s.Quirks {
		if !slices.Contains(Quirks(), q) {
			return fmt.Errorf("there is no quirk %q; there are %s", q, strings.Join(Quirks(), ", "))
		}
	}
	if s.Status != 0 && (s.Status < 300 || s.Status > 599) {
		return fmt.Errorf("status %d: want 300 to 599", s.Status)
	}
	if s.Text == "" && len(s.Calls) == 0 && s.Status == 0 && s.Body == "" && s.Mode != ModeSilent && s.Stop == "" {
		return errors.New("it answers nothing: give text, calls, status, body or mode")
	}
	for _, c := range s.Calls {
		if c.Name == "" {
			return errors.New("a call has no name")
		}
		if c.Raw != "" && len(c.Arguments) > 0 {
			return fmt.Errorf("call of %s: arguments and raw exclude each other", c.Name)
		}
		if len(c.Arguments) > 0 && c.Arguments[0] != '{' {
			return fmt.Errorf("call of %s: arguments are an object", c.Name)
		}
	}
	return nil
}

// has tells whether a step has a quirk.
func (s Step) has(quirk string) bool { return slices.Contains(s.Quirks, quirk) }

// find is the scenario for a prompt: the longest marker in it, else none.
func (s *Script) find(prompt string) *Scenario {
	var found []*Scenario
	for i := range s.Scenarios {
		if strings.Contains(prompt, s.Scenarios[i].Marker) {
			found = append(found, &s.Scenarios[i])
		}
	}
	if len(found) == 0 {
		return nil
	}
	sort.SliceStable(found, func(i, j int) bool { return len(found[i].Marker) > len(found[j].Marker) })
	return found[0]
}

// exhausted is the answer past a script's end.
var exhausted = Step{Text: "GATE-SCRIPT-EXHAUSTED"}

// background answers prompts without a marker.
var background = Step{Text: "ok"}

// at is a scenario's step by its number, from 0.
func (s *Scenario) at(n int) Step {
	for i, st := range s.Steps {
		if i == n || i < n && st.Mode == ModeForever {
			return st
		}
	}
	return exhausted
}
