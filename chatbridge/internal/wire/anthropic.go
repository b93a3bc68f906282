package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"
	"github.com/anthropics/anthropic-sdk-go/packages/ssestream"
)

type anthropicWire struct{ *caller }

func (*anthropicWire) Name() string { return Anthropic }

type anthropicMessage struct {
	Role    string `json:"role"`
	Content any    `json:"content"`
}

type anthropicResult struct {
	Type    string `json:"type"`
	ID      string `json:"tool_use_id"`
	Content string `json:"content"`
	Failed  bool   `json:"is_error,omitempty"`
}

func (*anthropicWire) User(text string) json.RawMessage {
	return encode(anthropicMessage{"user", text})
}

func (*anthropicWire) Assistant(text string) json.RawMessage {
	return encode(anthropicMessage{"assistant", text})
}

func (*anthropicWire) Results(results []Result) []json.RawMessage {
	blocks := make([]anthropicResult, len(results))
	for i, r := range results {
		blocks[i] = anthropicResult{"tool_result", r.ID, r.Content, r.Failed}
	}
	return []json.RawMessage{encode(anthropicMessage{"user", blocks})}
}

// searches bounds the provider's own searches in one reply.
const searches = 5

func (w *anthropicWire) params(r *Request) anthropic.MessageNewParams {
	p := anthropic.MessageNewParams{Model: r.Model, MaxTokens: int64(r.MaxTokens)}
	if p.MaxTokens <= 0 {
		p.MaxTokens = 4096
	}
	if r.System != "" {
		p.System = []anthropic.TextBlockParam{{Text: r.System}}
	}
	for _, m := range r.Messages {
		p.Messages = append(p.Messages, param.Override[anthropic.MessageParam](m))
	}
	for _, t := range r.Tools {
		tool := encode(map[string]any{"name": t.Name, "description": t.Description, "input_schema": t.Schema})
		p.Tools = append(p.Tools, param.Override[anthropic.ToolUnionParam](tool))
	}
	if r.WebSearch {
		p.Tools = append(p.Tools, anthropic.ToolUnionParam{OfWebSearchTool20250305: &anthropic.WebSearchTool20250305Param{MaxUses: param.NewOpt(int64(searches))}})
	}
	if len(p.Tools) > 0 {
		p.ToolChoice = anthropic.ToolChoiceUnionParam{OfAuto: &anthropic.ToolChoiceAutoParam{DisableParallelToolUse: param.NewOpt(!r.Parallel)}}
	}
	return p
}

func (w *anthropicWire) Ask(ctx context.Context, r *Request, emit func(string)) (*Reply, error) {
	p := w.params(r)
	return w.attempt(ctx, func(ctx context.Context, x *exchange) (*Reply, error) {
		x.messages = r.Messages
		service := anthropic.NewMessageService(
			option.WithBaseURL(w.base.String()), option.WithHTTPClient(x.client()), option.WithMaxRetries(0))
		if !r.Stream {
			var raw []byte
			if _, err := service.New(ctx, p, option.WithResponseBodyInto(&raw)); err != nil {
				return nil, err
			}
			return anthropicReply(raw, emit)
		}
		return w.stream(service.NewStreaming(ctx, p), x, emit)
	})
}

// anthropicBlock is what is read of a block; it is echoed as it came.
type anthropicBlock struct {
	Type      string          `json:"type"`
	Text      string          `json:"text"`
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
	Content   json.RawMessage `json:"content"`
	Citations []struct {
		URL string `json:"url"`
	} `json:"citations"`
}

type anthropicUsage struct {
	Input  int `json:"input_tokens"`
	Output int `json:"output_tokens"`
	Cached int `json:"cache_read_input_tokens"`
	Made   int `json:"cache_creation_input_tokens"`
}

func anthropicReply(raw []byte, emit func(string)) (*Reply, error) {
	var whole struct {
		Type    string             `json:"type"`
		Content *[]json.RawMessage `json:"content"`
		Reason  string             `json:"stop_reason"`
		Usage   anthropicUsage     `json:"usage"`
	}
	if err := json.Unmarshal(raw, &whole); err != nil || whole.Content == nil || whole.Type != "message" {
		return nil, &Error{Kind: Shape, Err: errShape}
	}
	r := &Reply{}
	r.bill(whole.Usage)
	var echo []json.RawMessage
	for _, block := range *whole.Content {
		keep, err := r.block(block)
		if err != nil {
			return nil, err
		}
		if keep {
			echo = append(echo, block)
		}
	}
	if emit != nil {
		for _, b := range r.Blocks {
			if b.Text != "" {
				emit(b.Text)
			}
		}
	}
	return r.anthropicEnd(echo, whole.Reason), nil
}

func (r *Reply) bill(u anthropicUsage) {
	if in := u.Input + u.Cached + u.Made; in > 0 {
		r.Input = in
	}
	if u.Output > 0 {
		r.Output = u.Output
	}
}

// block takes a whole block; keep tells whether it may be echoed.
func (r *Reply) block(raw json.RawMessage) (keep bool, err error) {
	var b anthropicBlock
	if err := json.Unmarshal(raw, &b); err != nil || b.Type == "" {
		return false, &Error{Kind: Shape, Err: errShape}
	}
	for _, c := range b.Citations {
		r.Sources = addSource(r.Sources, c.URL)
	}
	switch b.Type {
	case "text":
		if b.Text == "" {
			return false, nil // the wire refuses empty texts
		}
		r.Blocks = append(r.Blocks, Block{Text: b.Text})
	case "tool_use":
		c := &Call{ID: b.ID, Name: b.Name, Arguments: string(b.Input)}
		check(c)
		r.Blocks = append(r.Blocks, Block{Call: c})
	case "thinking", "redacted_thinking":
	default:
		r.Blocks = append(r.Blocks, Block{Other: true})
		var found []struct {
			URL string `json:"url"`
		}
		if json.Unmarshal(b.Content, &found) == nil { // else the search failed
			for _, f := range found {
				r.Sources = addSource(r.Sources, f.URL)
			}
		}
	}
	return true, nil
}

func (r *Reply) anthropicEnd(echo []json.RawMessage, reason string) *Reply {
	if len(echo) > 0 {
		r.Message = encode(anthropicMessage{"assistant", echo})
	}
	r.Reason = reason
	calls := len(r.Calls()) > 0
	switch reason {
	case "tool_use":
		r.Stop = StopEnd
		if calls {
			r.Stop = StopCalls
		}
	case "end_turn", "stop_sequence":
		r.Stop = StopEnd
		if calls {
			r.Stop = StopCalls
		}
	case "max_tokens", "model_context_window_exceeded":
		r.Stop = StopLength
	case "pause_turn":
		r.Stop = StopPause
	case "refusal":
		r.Stop = StopRefused
	}
	return r
}

// anthropicStream puts the pieces of a stream together.
type anthropicStream struct {
	reply  Reply
	echo   []json.RawMessage
	blocks map[int]*anthropicPart
	reason string
}

type anthropicPart struct {
	start               map[string]json.RawMessage
	text, input         strings.Builder
	thinking, signature strings.Builder
	citations           []json.RawMessage
	kind                string
}

func (w *anthropicWire) stream(s *ssestream.Stream[anthropic.MessageStreamEventUnion], x *exchange, emit func(string)) (*Reply, error) {
	defer s.Close()
	st := &anthropicStream{blocks: map[int]*anthropicPart{}}
	e := &emitter{emit: emit}
	seen := false
	for s.Next() {
		event := s.Current()
		seen = true
		if err := st.add(event.RawJSON(), e); err != nil {
			return nil, err
		}
	}
	if err := s.Err(); err != nil {
		var api *anthropic.Error
		if errors.As(err, &api) {
			return nil, &Error{Kind: Stream, Body: Head(api.RawJSON(), quoted), Err: err}
		}
		return nil, err
	}
	if raw, isJSON := x.whole(); !seen && isJSON {
		return anthropicReply(raw, emit)
	}
	if !seen {
		return nil, &Error{Kind: Shape, Err: errShape}
	}
	if st.reason == "" {
		return nil, &Error{Kind: Cut, Detail: "it named no reason for its end"}
	}
	e.flush()
	return st.reply.anthropicEnd(st.echo, st.reason), nil
}

func (st *anthropicStream) add(raw string, e *emitter) error {
	var event struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Usage anthropicUsage `json:"usage"`
		} `json:"message"`
		Block map[string]json.RawMessage `json:"content_block"`
		Delta struct {
			Type      string          `json:"type"`
			Text      string          `json:"text"`
			Partial   string          `json:"partial_json"`
			Thinking  string          `json:"thinking"`
			Signature string          `json:"signature"`
			Citation  json.RawMessage `json:"citation"`
			Reason    string          `json:"stop_reason"`
		} `json:"delta"`
		Usage anthropicUsage `json:"usage"`
	}
	halved, err := decode(raw, &event)
	if err != nil {
		return &Error{Kind: Shape, Err: err}
	}
	part := st.blocks[event.Index]
	switch event.Type {
	case "message_start":
		st.reply.bill(event.Message.Usage)
	case "content_block_start":
		part = &anthropicPart{start: event.Block}
		_ = json.Unmarshal(event.Block["type"], &part.kind) // absent: finish refuses it
		var text string
		if json.Unmarshal(event.Block["text"], &text) == nil {
			part.text.WriteString(text)
			e.add(text)
		}
		st.blocks[event.Index] = part
	case "content_block_delta":
		if part == nil {
			return &Error{Kind: Shape, Detail: fmt.Sprintf("a piece of the block %d, which never began", event.Index)}
		}
		text := whole(event.Delta.Text, halved)
		part.text.WriteString(text)
		e.add(text)
		part.input.WriteString(whole(event.Delta.Partial, halved))
		part.thinking.WriteString(whole(event.Delta.Thinking, halved))
		part.signature.WriteString(event.Delta.Signature)
		if len(event.Delta.Citation) > 0 {
			part.citations = append(part.citations, event.Delta.Citation)
		}
	case "content_block_stop":
		if part == nil {
			return nil
		}
		delete(st.blocks, event.Index)
		return st.finish(part)
	case "message_delta":
		st.reply.bill(event.Usage)
		if event.Delta.Reason != "" {
			st.reason = event.Delta.Reason
		}
	}
	return nil
}

// finish makes a block of its pieces, as it would have come whole.
func (st *anthropicStream) finish(p *anthropicPart) error {
	problem := ""
	switch p.kind {
	case "text":
		p.start["text"] = encode(strings.ToValidUTF8(p.text.String(), "\ufffd"))
		if len(p.citations) > 0 {
			p.start["citations"] = encode(p.citations)
		}
	case "thinking":
		p.start["thinking"], p.start["signature"] = encode(p.thinking.String()), encode(p.signature.String())
	default:
		input := strings.TrimSpace(p.input.String())
		var object map[string]json.RawMessage
		switch {
		case input == "":
		case json.Unmarshal([]byte(input), &object) == nil && object != nil:
			p.start["input"] = json.RawMessage(input)
		default:
			problem = "the arguments are not a JSON object"
		}
	}
	raw := encode(p.start)
	keep, err := st.reply.block(raw)
	if err != nil {
		return err
	}
	if keep {
		st.echo = append(st.echo, raw)
	}
	if n := len(st.reply.Blocks); problem != "" && n > 0 && st.reply.Blocks[n-1].Call != nil {
		st.reply.Blocks[n-1].Call.Problem = problem
		st.reply.Blocks[n-1].Call.Arguments = p.input.String()
	}
	return nil
}
