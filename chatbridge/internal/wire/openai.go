package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/shared"
)

type openaiWire struct{ *caller }

func (*openaiWire) Name() string { return OpenAI }

type openaiMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
	CallID  string `json:"tool_call_id,omitempty"`
}

func (*openaiWire) User(text string) json.RawMessage {
	return encode(openaiMessage{Role: "user", Content: text})
}

func (*openaiWire) Assistant(text string) json.RawMessage {
	return encode(openaiMessage{Role: "assistant", Content: text})
}

func (*openaiWire) Results(results []Result) []json.RawMessage {
	var out []json.RawMessage
	for _, r := range results {
		out = append(out, encode(openaiMessage{Role: "tool", Content: r.Content, CallID: r.ID}))
	}
	return out
}

func (w *openaiWire) params(r *Request, messages []json.RawMessage) (openai.ChatCompletionNewParams, error) {
	p := openai.ChatCompletionNewParams{Model: r.Model}
	if r.MaxTokens > 0 {
		p.MaxTokens = param.NewOpt(int64(r.MaxTokens))
	}
	for _, m := range messages {
		p.Messages = append(p.Messages, param.Override[openai.ChatCompletionMessageParamUnion](m))
	}
	for _, t := range r.Tools {
		var schema shared.FunctionParameters
		if err := json.Unmarshal(t.Schema, &schema); err != nil {
			return p, fmt.Errorf("the schema of the tool %s is no JSON object", t.Name)
		}
		p.Tools = append(p.Tools, openai.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: schema,
		}))
	}
	if len(p.Tools) > 0 {
		p.ToolChoice = openai.ChatCompletionToolChoiceOptionUnionParam{OfAuto: param.NewOpt("auto")}
		p.ParallelToolCalls = param.NewOpt(r.Parallel)
	}
	if r.Stream {
		p.StreamOptions.IncludeUsage = param.NewOpt(true)
	}
	return p, nil
}

func (w *openaiWire) Ask(ctx context.Context, r *Request, emit func(string)) (*Reply, error) {
	messages := r.Messages
	if r.System != "" {
		messages = append([]json.RawMessage{encode(openaiMessage{Role: "system", Content: r.System})}, messages...)
	}
	p, err := w.params(r, messages)
	if err != nil {
		return nil, &Error{Provider: w.Label, Kind: Shape, Detail: err.Error(), Err: err}
	}
	return w.attempt(ctx, func(ctx context.Context, x *exchange) (*Reply, error) {
		x.messages = messages
		service := openai.NewChatCompletionService(
			option.WithBaseURL(w.base.String()), option.WithHTTPClient(x.client()), option.WithMaxRetries(0), option.WithUnsafeAllowHTTP())
		if !r.Stream {
			var raw []byte
			if _, err := service.New(ctx, p, option.WithResponseBodyInto(&raw)); err != nil {
				return nil, err
			}
			return openaiReply(raw, emit)
		}
		return w.stream(service.NewStreaming(ctx, p), x, emit)
	})
}

// openaiCall is a call in a reply, or a piece of one in a stream.
type openaiCall struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

type openaiUsage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
}

type openaiBody struct {
	Content     *string           `json:"content"`
	Refusal     string            `json:"refusal"`
	Calls       []json.RawMessage `json:"tool_calls"`
	Annotations []struct {
		URL struct {
			URL string `json:"url"`
		} `json:"url_citation"`
	} `json:"annotations"`
}

// arguments are the text of arguments, and whether they came as an object.
func arguments(raw json.RawMessage) (text string, object bool) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", false
	}
	if json.Unmarshal(raw, &text) == nil {
		return text, false
	}
	return string(raw), true
}

var errShape = errors.New("the answer holds no message")

// openaiReply reads a whole reply.
func openaiReply(raw []byte, emit func(string)) (*Reply, error) {
	var whole struct {
		Choices []struct {
			Message json.RawMessage `json:"message"`
			Reason  string          `json:"finish_reason"`
		} `json:"choices"`
		Usage openaiUsage `json:"usage"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil || len(whole.Choices) == 0 || len(whole.Choices[0].Message) == 0 {
		return nil, &Error{Kind: Shape, Err: errShape}
	}
	var fields map[string]json.RawMessage
	var m openaiBody
	choice := whole.Choices[0]
	if json.Unmarshal(choice.Message, &fields) != nil || json.Unmarshal(choice.Message, &m) != nil {
		return nil, &Error{Kind: Shape, Err: errShape}
	}
	r := &Reply{Input: whole.Usage.Prompt, Output: whole.Usage.Completion}
	if m.Content != nil && *m.Content != "" {
		r.Blocks = append(r.Blocks, Block{Text: *m.Content})
		if emit != nil {
			emit(*m.Content)
		}
	}
	calls := make([]json.RawMessage, len(m.Calls))
	for i, rawCall := range m.Calls {
		var c openaiCall
		if json.Unmarshal(rawCall, &c) != nil {
			return nil, &Error{Kind: Shape, Err: errShape}
		}
		calls[i] = rawCall
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i+1)
			calls[i] = withField(rawCall, "id", c.ID)
		}
		args, _ := arguments(c.Function.Arguments)
		r.Blocks = append(r.Blocks, Block{Call: &Call{ID: c.ID, Name: c.Function.Name, Arguments: args}})
	}
	echo := map[string]json.RawMessage{"role": json.RawMessage(`"assistant"`), "content": json.RawMessage("null")}
	for _, key := range []string{"content", "refusal"} {
		if v, ok := fields[key]; ok && (key == "content" || string(v) != "null") {
			echo[key] = v
		}
	}
	if len(calls) > 0 {
		echo["tool_calls"] = encode(calls)
	}
	for _, a := range m.Annotations {
		r.Sources = addSource(r.Sources, a.URL.URL)
	}
	r.Message = encode(echo)
	return r.openaiEnd(choice.Reason, m.Refusal), nil
}

func withField(raw json.RawMessage, key string, v any) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil || fields == nil {
		fields = map[string]json.RawMessage{}
	}
	fields[key] = encode(v)
	return encode(fields)
}

func (r *Reply) openaiEnd(reason, refusal string) *Reply {
	r.Reason = reason
	calls := r.Calls()
	for i := range r.Blocks {
		if c := r.Blocks[i].Call; c != nil {
			check(c)
		}
	}
	switch {
	case reason == "length":
		r.Stop = StopLength
	case refusal != "", reason == "content_filter":
		r.Stop = StopRefused
	case len(calls) > 0 && (reason == "stop" || reason == "tool_calls" || reason == "function_call"):
		r.Stop = StopCalls
	case reason == "stop":
		r.Stop = StopEnd
	}
	return r
}

// openaiStream puts the pieces of a stream together.
type openaiStream struct {
	reply   Reply
	text    strings.Builder
	content bool // a text, be it empty, came
	refusal strings.Builder
	halved  bool
	calls   []*openaiPart
	reason  string
}

type openaiPart struct {
	index     int
	id        string
	name      string
	arguments strings.Builder
	object    json.RawMessage
	more      map[string]json.RawMessage // what else the provider sent with the call
}

func (w *openaiWire) stream(s *ssestream.Stream[openai.ChatCompletionChunk], x *exchange, emit func(string)) (*Reply, error) {
	defer s.Close()
	st := &openaiStream{}
	e := &emitter{emit: emit}
	seen := false
	for s.Next() {
		chunk := s.Current()
		seen = true
		if err := st.add(chunk.RawJSON(), e); err != nil {
			return nil, err
		}
	}
	if err := s.Err(); err != nil {
		var se *ssestream.StreamError
		if errors.As(err, &se) {
			return nil, &Error{Kind: Stream, Body: Head(strings.TrimSpace(string(se.Event.Data)), quoted), Err: err}
		}
		return nil, err
	}
	if raw, isJSON := x.whole(); !seen && isJSON {
		return openaiReply(raw, emit)
	}
	if !seen {
		return nil, &Error{Kind: Shape, Err: errShape}
	}
	if st.reason == "" {
		return nil, &Error{Kind: Cut, Detail: "it named no reason for its end"}
	}
	e.flush()
	return st.finish(), nil
}

func (st *openaiStream) add(raw string, e *emitter) error {
	var chunk struct {
		Choices []struct {
			Delta  openaiBody `json:"delta"`
			Reason *string    `json:"finish_reason"`
		} `json:"choices"`
		Usage *openaiUsage `json:"usage"`
	}
	halved, err := decode(raw, &chunk)
	if err != nil {
		return &Error{Kind: Shape, Err: err}
	}
	st.halved = st.halved || halved
	if chunk.Usage != nil {
		st.reply.Input, st.reply.Output = chunk.Usage.Prompt, chunk.Usage.Completion
	}
	if len(chunk.Choices) == 0 {
		return nil
	}
	c := chunk.Choices[0]
	if c.Delta.Content != nil {
		st.content = true
		text := whole(*c.Delta.Content, halved)
		st.text.WriteString(text)
		e.add(text)
	}
	st.refusal.WriteString(c.Delta.Refusal)
	for _, a := range c.Delta.Annotations {
		st.reply.Sources = addSource(st.reply.Sources, a.URL.URL)
	}
	for _, rawCall := range c.Delta.Calls {
		if err := st.call(rawCall, halved); err != nil {
			return err
		}
	}
	if c.Reason != nil && *c.Reason != "" {
		st.reason = *c.Reason
	}
	return nil
}

// call adds a piece of a call. Without an index, or where an index is used for two
// calls, a new id begins a call and anything else continues the last one.
func (st *openaiStream) call(raw json.RawMessage, halved bool) error {
	var c openaiCall
	var more map[string]json.RawMessage
	if json.Unmarshal(raw, &c) != nil || json.Unmarshal(raw, &more) != nil {
		return &Error{Kind: Shape, Err: errShape}
	}
	var part *openaiPart
	if n := len(st.calls); n > 0 {
		part = st.calls[n-1]
	}
	if c.Index != nil {
		part = nil
		for _, p := range st.calls {
			if p.index == *c.Index {
				part = p
			}
		}
	}
	if part == nil || c.ID != "" && part.id != "" && c.ID != part.id {
		part = &openaiPart{index: len(st.calls), more: map[string]json.RawMessage{}}
		if c.Index != nil {
			part.index = *c.Index
		}
		st.calls = append(st.calls, part)
	}
	if c.ID != "" {
		part.id = c.ID
	}
	if part.name == "" {
		part.name = whole(c.Function.Name, halved)
	}
	if text, object := arguments(c.Function.Arguments); object {
		part.object = c.Function.Arguments
	} else {
		part.arguments.WriteString(whole(text, halved))
	}
	for k, v := range more {
		if k != "index" && k != "id" && k != "type" && k != "function" {
			part.more[k] = v
		}
	}
	return nil
}

func (st *openaiStream) finish() *Reply {
	r := &st.reply
	text := strings.ToValidUTF8(st.text.String(), "\ufffd")
	if text != "" {
		r.Blocks = append(r.Blocks, Block{Text: text})
	}
	echo := map[string]any{"role": "assistant", "content": nil}
	if st.content && (text != "" || len(st.calls) > 0) {
		echo["content"] = text
	}
	var calls []json.RawMessage
	for i, p := range st.calls {
		if p.id == "" {
			p.id = fmt.Sprintf("call_%d", i+1)
		}
		function := map[string]any{"name": p.name, "arguments": strings.ToValidUTF8(p.arguments.String(), "\ufffd")}
		args := p.arguments.String()
		if p.object != nil {
			function["arguments"], args = p.object, string(p.object)
		}
		call := map[string]any{"id": p.id, "type": "function", "function": function}
		for k, v := range p.more {
			call[k] = v
		}
		calls = append(calls, encode(call))
		r.Blocks = append(r.Blocks, Block{Call: &Call{ID: p.id, Name: p.name, Arguments: args}})
	}
	if len(calls) > 0 {
		echo["tool_calls"] = calls
	}
	r.Message = encode(echo)
	return r.openaiEnd(st.reason, st.refusal.String())
}
