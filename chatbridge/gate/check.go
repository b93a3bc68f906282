package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Codes of requests that are refused with HTTP 400.
const (
	CodeInvalidJSON     = "invalid_json"      // the body is no JSON object
	CodeDuplicateKey    = "duplicate_key"     // an object holds a key twice
	CodeUnknownField    = "unknown_field"     // a field that no dialect has
	CodeOtherDialect    = "other_dialect"     // a field, role or block of the other wire
	CodeMissing         = "missing"           // something required is not there
	CodeInvalid         = "invalid"           // something is there and has the wrong form
	CodeEmptyTools      = "empty_tools"       // tools without an entry
	CodeNoTools         = "no_tools"          // a choice among tools where none is offered
	CodeDuplicateTool   = "duplicate_tool"    // two tools of one name
	CodeEmptyContent    = "empty_content"     // a message without content
	CodeUnanswered      = "unanswered_call"   // a call without a result
	CodeAnsweredTwice   = "answered_twice"    // two results of a call
	CodeUnknownCall     = "unknown_call"      // a result or a call that was never issued
	CodeDoubleEncoded   = "double_encoded"    // arguments that were encoded twice
	CodeArguments       = "arguments_changed" // arguments other than were issued
	CodeUnexpectedTools = "unexpected_tools"  // the scenario expects other tools
	CodeResultLacks     = "result_lacks"      // the scenario expects another result
	CodeSystemLacks     = "system_lacks"      // the scenario expects another system prompt
)

// refusal is a request that is answered with 400.
type refusal struct{ code, text string }

func (r *refusal) Error() string { return r.code + ": " + r.text }

func refuse(code, format string, args ...any) error {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// object is a JSON object whose values are not decoded yet.
type object map[string]json.RawMessage

// request is what both dialects come down to.
type request struct {
	Stream      bool
	StreamUsage bool
	Model       string
	System      string
	Tools       []string
	Prompt      string   // of the last message that a person wrote
	Rounds      int      // replies since the prompt
	Messages    int      // in all
	Results     []result // since the prompt
}

// result is what a tool answered.
type result struct {
	ID      string `json:"id"`
	Content string `json:"content"`
}

// call is a call in a message of the model.
type call struct {
	id, name, arguments string
	object              bool // the arguments came as an object
}

// parse decodes a body as one object, in which no object holds a key twice.
func parse(body []byte) (object, error) {
	if err := checkKeys(body); err != nil {
		return nil, err
	}
	var o object
	if err := json.Unmarshal(body, &o); err != nil || o == nil {
		return nil, refuse(CodeInvalidJSON, "the body is not a JSON object")
	}
	return o, nil
}

// maxDepth bounds how deep a body is nested.
const maxDepth = 1000

// checkKeys refuses what is no JSON, is followed by text, nested too deep, or repeats a key.
func checkKeys(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var seen []map[string]bool // nil: an array
	key := false
	for {
		token, err := d.Token()
		if err != nil {
			return refuse(CodeInvalidJSON, "the body cannot be parsed at byte %d", d.InputOffset())
		}
		switch t := token.(type) {
		case json.Delim:
			switch t {
			case '{':
				seen = append(seen, map[string]bool{})
			case '[':
				seen = append(seen, nil)
			default:
				seen = seen[:len(seen)-1]
			}
			if len(seen) > maxDepth {
				return refuse(CodeInvalidJSON, "the body is nested more than %d deep", maxDepth)
			}
			key = true
		case string:
			if top := len(seen) - 1; top >= 0 && seen[top] != nil && key {
				if seen[top][t] {
					return refuse(CodeDuplicateKey, "the key %q repeats in an object", t)
				}
				seen[top][t] = true
				key = false
				continue
			}
			key = true
		default:
			key = true
		}
		if len(seen) == 0 {
			if _, err := d.Token(); !errors.Is(err, io.EOF) {
				return refuse(CodeInvalidJSON, "text follows the object")
			}
			return nil
		}
	}
}

// fields refuses what is not known, telling what belongs to the other dialect.
func (o object) fields(where string, known, other []string) error {
	for _, k := range sortedKeys(o) {
		switch {
		case slices.Contains(known, k):
		case slices.Contains(other, k):
			return refuse(CodeOtherDialect, "%s: %q belongs to the other wire", where, k)
		default:
			return refuse(CodeUnknownField, "%s: there is no field %q", where, k)
		}
	}
	return nil
}

func sortedKeys(o object) []string {
	keys := make([]string, 0, len(o))
	for k := range o {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// text is a string field that must be there and not be empty.
func (o object) text(where, key string) (string, error) {
	raw, ok := o[key]
	if !ok {
		return "", refuse(CodeMissing, "%s: %q is missing", where, key)
	}
	var s string
	if json.Unmarshal(raw, &s) != nil || isNull(raw) {
		return "", refuse(CodeInvalid, "%s: %q must be a text", where, key)
	}
	if s == "" {
		return "", refuse(CodeInvalid, "%s: %q is empty", where, key)
	}
	return s, nil
}

// flag is a boolean field, false where it is not there.
func (o object) flag(where, key string) (bool, error) {
	raw, ok := o[key]
	if !ok {
		return false, nil
	}
	var b bool
	if json.Unmarshal(raw, &b) != nil || isNull(raw) {
		return false, refuse(CodeInvalid, "%s: %q must be true or false", where, key)
	}
	return b, nil
}

// number is an integer field above 0.
func (o object) number(where, key string) error {
	var n int64
	if raw := o[key]; json.Unmarshal(raw, &n) != nil || isNull(raw) || n <= 0 {
		return refuse(CodeInvalid, "%s: %q must be a whole number above 0", where, key)
	}
	return nil
}

// list is an array field that must be there and not be empty.
func (o object) list(where, key, empty string) ([]object, error) {
	var list []object
	raw, ok := o[key]
	if !ok {
		return nil, refuse(CodeMissing, "%s: %q is missing", where, key)
	}
	if json.Unmarshal(raw, &list) != nil || isNull(raw) {
		return nil, refuse(CodeInvalid, "%s: %q must be an array of objects", where, key)
	}
	if len(list) == 0 {
		return nil, refuse(empty, "%s: %q is empty", where, key)
	}
	return list, nil
}

func (o object) object(where, key string) (object, error) {
	var inner object
	raw, ok := o[key]
	if !ok {
		return nil, refuse(CodeMissing, "%s: %q is missing", where, key)
	}
	if json.Unmarshal(raw, &inner) != nil || inner == nil {
		return nil, refuse(CodeInvalid, "%s: %q must be an object", where, key)
	}
	return inner, nil
}

func isNull(raw json.RawMessage) bool { return bytes.Equal(bytes.TrimSpace(raw), []byte("null")) }

// pairing follows which calls of a conversation wait for a result.
type pairing struct {
	issued   func(id string) (Issued, bool)
	waiting  []string
	answered map[string]bool
}

// calls takes the calls of a message of the model.
func (p *pairing) calls(where string, calls []call) error {
	if err := p.settled(where); err != nil {
		return err
	}
	p.answered = map[string]bool{}
	for _, c := range calls {
		if slices.Contains(p.waiting, c.id) {
			return refuse(CodeAnsweredTwice, "%s: the call %s is there twice", where, c.id)
		}
		p.waiting = append(p.waiting, c.id)
		issued, ok := p.issued(c.id)
		if !ok || issued.Name != c.name {
			return refuse(CodeUnknownCall, "%s: the call %s of %s was never issued", where, c.id, c.name)
		}
		if err := sameArguments(where, c, issued); err != nil {
			return err
		}
	}
	return nil
}

// sameArguments tells whether arguments came back as they were issued: the same text,
// or, as an object, the same but for white space.
func sameArguments(where string, c call, issued Issued) error {
	if c.object {
		if json.Valid([]byte(issued.Arguments)) && compact(c.arguments) != compact(issued.Arguments) {
			return refuse(CodeArguments, "%s: the arguments of %s are not what was issued", where, c.id)
		}
		return nil
	}
	var once any
	if json.Unmarshal([]byte(c.arguments), &once) == nil {
		if _, twice := once.(string); twice {
			return refuse(CodeDoubleEncoded, "%s: the arguments of %s were encoded twice", where, c.id)
		}
	}
	if c.arguments != issued.Arguments {
		return refuse(CodeArguments, "%s: the arguments of %s are not what was issued", where, c.id)
	}
	return nil
}

func compact(text string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(text)) != nil {
		return text
	}
	return b.String()
}

// answer takes the result of a call.
func (p *pairing) answer(where, id string) error {
	switch {
	case p.answered[id]:
		return refuse(CodeAnsweredTwice, "%s: the call %s is answered twice", where, id)
	case !slices.Contains(p.waiting, id):
		return refuse(CodeUnknownCall, "%s: no call %s waits for a result", where, id)
	}
	p.answered[id] = true
	return nil
}

// settled refuses calls that wait for a result.
func (p *pairing) settled(where string) error {
	for _, id := range p.waiting {
		if !p.answered[id] {
			return refuse(CodeUnanswered, "%s: the call %s has no result before it", where, id)
		}
	}
	p.waiting = nil
	return nil
}

// expect checks what a step of the scenario wants of a request.
func (s Step) expect(r *request) error {
	for _, name := range s.ExpectTools {
		if !slices.Contains(r.Tools, name) {
			return refuse(CodeUnexpectedTools, "the scenario expects that %s is offered; offered: %s", name, strings.Join(r.Tools, ", "))
		}
	}
	if s.NoTools && len(r.Tools) > 0 {
		return refuse(CodeUnexpectedTools, "the scenario expects that no tools are offered; offered: %s", strings.Join(r.Tools, ", "))
	}
	all := r.results()
	for _, want := range s.ExpectResults {
		if !strings.Contains(all, want) {
			return refuse(CodeResultLacks, "the scenario expects %q in the results", want)
		}
	}
	for _, want := range s.ExpectSystem {
		if !strings.Contains(r.System, want) {
			return refuse(CodeSystemLacks, "the scenario expects %q in the system prompt", want)
		}
	}
	return nil
}

func (r *request) results() string {
	texts := make([]string, len(r.Results))
	for i, res := range r.Results {
		texts[i] = res.Content
	}
	return strings.Join(texts, "\n")
}
