package gate

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"unicode/utf8"
)

// events writes server-sent events, with the quirks of a step.
type events struct {
	b    bytes.Buffer
	step Step
	n    int
}

// fields is an object whose fields keep their order.
type fields []any // key, value, key, value ...

// MarshalJSON encodes the fields in their order.
func (f fields) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i+1 < len(f); i += 2 {
		if i > 0 {
			b.WriteByte(',')
		}
		k, err := encode(f[i])
		if err != nil {
			return nil, err
		}
		v, err := encode(f[i+1])
		if err != nil {
			return nil, err
		}
		b.Write(k)
		b.WriteByte(':')
		b.Write(v)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

func (e *events) end() string {
	if e.step.has(QuirkCRLF) {
		return "\r\n"
	}
	return "\n"
}

func (e *events) send(name string, v any) { e.raw(name, mustEncode(v)) }

func (e *events) raw(name string, data []byte) {
	if e.step.has(QuirkComments) && e.n%2 == 0 {
		e.b.WriteString(": keep-alive" + e.end() + e.end())
	}
	e.n++
	if name != "" {
		e.b.WriteString("event: " + name + e.end())
	}
	e.b.WriteString("data: ")
	e.b.Write(data)
	e.b.WriteString(e.end() + e.end())
}

// mustEncode is for what the gate makes itself, which can be encoded, but for raw
// arguments that are no JSON, which a whole reply then holds as a text.
func mustEncode(v any) json.RawMessage {
	text, err := encode(v)
	if err != nil {
		return json.RawMessage(`"the gate cannot encode this"`)
	}
	return text
}

type anthropicDialect struct{}

func (anthropicDialect) name() string { return "anthropic" }

func (anthropicDialect) check(h http.Header, body []byte, issued func(string) (Issued, bool)) (*request, error) {
	return checkAnthropic(h, body, issued)
}

func (anthropicDialect) failure(status int, code, text string) any {
	kinds := map[int]string{400: "invalid_request_error", 401: "authentication_error", 413: "request_too_large", 429: "rate_limit_error", 503: "overloaded_error"}
	kind, ok := kinds[status]
	if !ok {
		kind = "api_error"
	}
	return fields{"type", "error", "error", fields{"type", kind, "code", code, "message", text}}
}

func (r *reply) anthropicStop() string {
	switch {
	case r.step.Stop == "length":
		return "max_tokens"
	case r.step.Stop != "":
		return r.step.Stop
	case len(r.calls) > 0 && !r.step.has(QuirkStop):
		return "tool_use"
	}
	return "end_turn"
}

func (anthropicDialect) whole(r *reply) []byte {
	content := []any{}
	if r.text != "" {
		content = append(content, fields{"type", "text", "text", r.text})
	}
	for _, c := range r.calls {
		input := json.RawMessage(c.Arguments)
		if !json.Valid(input) {
			input = mustEncode(c.Arguments)
		}
		content = append(content, fields{"type", "tool_use", "id", c.ID, "name", c.Name, "input", input})
	}
	return mustEncode(fields{
		"id", fmt.Sprintf("msg_gate_%d", r.number), "type", "message", "role", "assistant", "model", r.req.Model, "content", content,
		"stop_reason", r.anthropicStop(), "stop_sequence", nil,
		"usage",
		fields{"input_tokens", r.usage.Input, "output_tokens", r.usage.Output},
	})
}

func (anthropicDialect) stream(r *reply) []byte {
	e := &events{step: r.step}
	e.send("message_start", fields{"type", "message_start", "message", fields{
		"id", fmt.Sprintf("msg_gate_%d", r.number), "type", "message", "role", "assistant", "model", r.req.Model, "content",
		[]any{},
		"stop_reason", nil, "stop_sequence", nil, "usage",
		fields{"input_tokens", r.usage.Input, "output_tokens", 1},
	}})
	e.send("ping", fields{"type", "ping"})
	index := 0
	block := func(start any, kind, key string, parts []string) {
		e.send("content_block_start", fields{"type", "content_block_start", "index", index, "content_block", start})
		for _, p := range parts {
			e.delta(p, func(text any) (string, any) {
				return "content_block_delta", fields{"type", "content_block_delta", "index", index, "delta", fields{"type", kind, key, text}}
			})
		}
		e.send("content_block_stop", fields{"type", "content_block_stop", "index", index})
		index++
	}
	if r.text != "" {
		block(fields{"type", "text", "text", ""}, "text_delta", "text", pieces(r.text))
	}
	for _, c := range r.calls {
		block(fields{"type", "tool_use", "id", c.ID, "name", c.Name, "input", fields{}}, "input_json_delta", "partial_json", pieces(c.Arguments))
	}
	e.send("message_delta", fields{
		"type", "message_delta", "delta",
		fields{"stop_reason", r.anthropicStop(), "stop_sequence", nil},
		"usage",
		fields{"output_tokens", r.usage.Output},
	})
	if !r.step.has(QuirkNoDone) {
		e.send("message_stop", fields{"type", "message_stop"})
	}
	return e.b.Bytes()
}

// delta sends a piece of text. With QuirkSplit a character of several bytes is cut in
// two, half in each of two events, as providers do that stream tokens.
func (e *events) delta(text string, event func(text any) (string, any)) {
	if at := splitPoint(text); e.step.has(QuirkSplit) && at > 0 {
		for _, half := range []string{text[:at], text[at:]} {
			const stand = "GATE-HALF"
			name, v := event(stand)
			e.raw(name, bytes.Replace(mustEncode(v), []byte(`"`+stand+`"`), halfQuoted(half), 1))
		}
		return
	}
	name, v := event(text)
	e.send(name, v)
}

// splitPoint is inside of the first character that has several bytes, else 0.
func splitPoint(text string) int {
	for i, r := range text {
		if utf8.RuneLen(r) > 1 {
			return i + 1
		}
	}
	return 0
}

// halfQuoted is a JSON text whose bytes need not be characters.
func halfQuoted(text string) []byte {
	out := []byte{'"'}
	for i := 0; i < len(text); i++ {
		switch b := text[i]; {
		case b == '"' || b == '\\':
			out = append(out, '\\', b)
		case b < ' ':
			out = fmt.Appendf(out, "\\u%04x", b)
		default:
			out = append(out, b)
		}
	}
	return append(out, '"')
}

type openaiDialect struct{}

func (openaiDialect) name() string { return "openai" }

func (openaiDialect) check(h http.Header, body []byte, issued func(string) (Issued, bool)) (*request, error) {
	return checkOpenAI(h, body, issued)
}

func (openaiDialect) failure(status int, code, text string) any {
	kind := "invalid_request_error"
	if status >= 500 {
		kind = "server_error"
	}
	return fields{"error", fields{"message", text, "type", kind, "param", nil, "code", code}}
}

func (r *reply) openaiStop() string {
	switch {
	case r.step.Stop != "":
		return r.step.Stop
	case len(r.calls) > 0 && !r.step.has(QuirkStop):
		return "tool_calls"
	}
	return "stop"
}

// arguments are a text, or with QuirkObject what the text says.
func (c Issued) wire() any {
	if c.Object && json.Valid([]byte(c.Arguments)) {
		return json.RawMessage(c.Arguments)
	}
	return c.Arguments
}

func (openaiDialect) whole(r *reply) []byte {
	message := fields{"role", "assistant", "content", nil}
	if r.text != "" {
		message[3] = r.text
	}
	if len(r.calls) > 0 {
		var calls []any
		for _, c := range r.calls {
			calls = append(calls, fields{"id", c.ID, "type", "function", "function", fields{"name", c.Name, "arguments", c.wire()}})
		}
		message = append(message, "tool_calls", calls)
	}
	return mustEncode(fields{
		"id", fmt.Sprintf("chatcmpl-gate-%d", r.number), "object", "chat.completion", "created", 0, "model", r.req.Model,
		"choices",
		[]any{fields{"index", 0, "message", message, "finish_reason", r.openaiStop()}},
		"usage",
		fields{"prompt_tokens", r.usage.Input, "completion_tokens", r.usage.Output, "total_tokens", r.usage.Input + r.usage.Output},
	})
}

func (openaiDialect) stream(r *reply) []byte {
	e := &events{step: r.step}
	chunk := func(choices []any, more ...any) fields {
		return append(fields{
			"id", fmt.Sprintf("chatcmpl-gate-%d", r.number), "object", "chat.completion.chunk", "created", 0, "model", r.req.Model, "choices", choices,
		}, more...)
	}
	delta := func(d fields) fields { return chunk([]any{fields{"index", 0, "delta", d, "finish_reason", nil}}) }
	if r.step.has(QuirkEmptyChoices) {
		e.send("", chunk([]any{}))
	}
	e.send("", delta(fields{"role", "assistant", "content", ""}))
	for _, p := range pieces(r.text) {
		e.delta(p, func(text any) (string, any) { return "", delta(fields{"content", text}) })
	}
	for i, c := range r.calls {
		head := fields{}
		if !r.step.has(QuirkNoIndex) {
			head = fields{"index", i}
		}
		first := append(append(fields{}, head...), "id", c.ID, "type", "function", "function", fields{"name", c.Name, "arguments", ""})
		if c.Object {
			first[len(first)-1] = fields{"name", c.Name, "arguments", c.wire()}
			e.send("", delta(fields{"tool_calls", []any{first}}))
			continue
		}
		e.send("", delta(fields{"tool_calls", []any{first}}))
		for _, p := range pieces(c.Arguments) {
			e.delta(p, func(text any) (string, any) {
				return "", delta(fields{"tool_calls", []any{append(append(fields{}, head...), "function", fields{"arguments", text})}})
			})
		}
	}
	e.send("", chunk([]any{fields{"index", 0, "delta", fields{}, "finish_reason", r.openaiStop()}}))
	if r.req.StreamUsage {
		e.send("", chunk([]any{}, "usage", fields{"prompt_tokens", r.usage.Input, "completion_tokens", r.usage.Output, "total_tokens", r.usage.Input + r.usage.Output}))
	}
	if !r.step.has(QuirkNoDone) {
		e.raw("", []byte("[DONE]"))
	}
	return e.b.Bytes()
}
