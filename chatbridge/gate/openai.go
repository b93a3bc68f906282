package gate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
)

// checkOpenAI checks a request to /v1/chat/completions.
func checkOpenAI(_ http.Header, body []byte, issued func(string) (Issued, bool)) (*request, error) {
	o, err := parse(body)
	if err != nil {
		return nil, err
	}
	if err := o.fields("request", openaiFields, anthropicFields); err != nil {
		return nil, err
	}
	r := &request{}
	if r.Model, err = o.text("request", "model"); err != nil {
		return nil, err
	}
	if r.Stream, err = o.flag("request", "stream"); err != nil {
		return nil, err
	}
	for _, key := range []string{"max_tokens", "max_completion_tokens"} {
		if _, ok := o[key]; ok {
			if err := o.number("request", key); err != nil {
				return nil, err
			}
		}
	}
	if _, ok := o["stream_options"]; ok {
		options, err := o.object("request", "stream_options")
		if err != nil {
			return nil, err
		}
		if !r.Stream {
			return nil, refuse(CodeInvalid, "request: stream_options without stream")
		}
		if r.StreamUsage, err = options.flag("stream_options", "include_usage"); err != nil {
			return nil, err
		}
	}
	if err := openaiTools(o, r); err != nil {
		return nil, err
	}
	return r, openaiMessages(o, r, issued)
}

func openaiTools(o object, r *request) error {
	if _, ok := o["tools"]; !ok {
		for _, key := range []string{"tool_choice", "parallel_tool_calls"} {
			if _, ok := o[key]; ok {
				return refuse(CodeNoTools, "request: %s without tools", key)
			}
		}
		return nil
	}
	tools, err := o.list("request", "tools", CodeEmptyTools)
	if err != nil {
		return err
	}
	for i, t := range tools {
		where := fmt.Sprintf("tools[%d]", i)
		if err := t.fields(where, []string{"type", "function"}, []string{"name", "description", "input_schema"}); err != nil {
			return err
		}
		if kind, err := t.text(where, "type"); err != nil || kind != "function" {
			return refuse(CodeInvalid, "%s: the type must be function", where)
		}
		f, err := t.object(where, "function")
		if err != nil {
			return err
		}
		if err := f.fields(where+".function", []string{"name", "description", "parameters", "strict"}, []string{"input_schema"}); err != nil {
			return err
		}
		name, err := f.text(where, "name")
		if err != nil {
			return err
		}
		if err := schema(where, "parameters", f); err != nil {
			return err
		}
		if slices.Contains(r.Tools, name) {
			return refuse(CodeDuplicateTool, "%s: the tool %s is there twice", where, name)
		}
		r.Tools = append(r.Tools, name)
	}
	if raw, ok := o["tool_choice"]; ok {
		var choice string
		if json.Unmarshal(raw, &choice) != nil || isNull(raw) {
			var named object
			if json.Unmarshal(raw, &named) != nil || named.kind() != "function" {
				return refuse(CodeOtherDialect, "tool_choice: an object of another type than function belongs to the other wire")
			}
		} else if !slices.Contains([]string{"auto", "none", "required"}, choice) {
			return refuse(CodeInvalid, "tool_choice: there is no choice %q", choice)
		}
	}
	_, err = o.flag("request", "parallel_tool_calls")
	return err
}

func openaiMessages(o object, r *request, issued func(string) (Issued, bool)) error {
	messages, err := o.list("request", "messages", CodeMissing)
	if err != nil {
		return err
	}
	pairs := &pairing{issued: issued}
	r.Messages = len(messages)
	for i, m := range messages {
		where := fmt.Sprintf("messages[%d]", i)
		role, err := m.text(where, "role")
		if err != nil {
			return err
		}
		known := map[string][]string{
			"system": {"role", "content", "name"}, "developer": {"role", "content", "name"}, "user": {"role", "content", "name"},
			"assistant": {"role", "content", "name", "tool_calls", "refusal", "annotations", "audio", "reasoning_content"},
			"tool":      {"role", "content", "tool_call_id"},
		}[role]
		if known == nil {
			return refuse(CodeInvalid, "%s: there is no role %q", where, role)
		}
		if err := m.fields(where, known, []string{"tool_use_id", "stop_reason", "tool_result", "is_error"}); err != nil {
			return err
		}
		if role == "assistant" {
			r.Rounds++
			if err := openaiAssistant(where, m, pairs); err != nil {
				return err
			}
			continue
		}
		if err := r.openaiText(where, role, m, pairs); err != nil {
			return err
		}
	}
	return pairs.settled("the end of the messages")
}

func (r *request) openaiText(where, role string, m object, pairs *pairing) error {
	raw, ok := m["content"]
	if !ok || isNull(raw) {
		return refuse(CodeEmptyContent, "%s: the content is missing", where)
	}
	var parts []object
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			if slices.Contains([]string{"tool_result", "tool_use", "thinking"}, p.kind()) {
				return refuse(CodeOtherDialect, "%s: the block %s belongs to the other wire", where, p.kind())
			}
		}
	}
	text, err := texts(where, raw)
	if err != nil {
		return err
	}
	if role == "tool" {
		id, err := m.text(where, "tool_call_id")
		if err != nil {
			return err
		}
		if err := pairs.answer(where, id); err != nil {
			return err
		}
		r.Results = append(r.Results, result{id, text})
		return nil
	}
	if text == "" {
		return refuse(CodeEmptyContent, "%s: the content is empty", where)
	}
	if err := pairs.settled(where); err != nil {
		return err
	}
	if role == "user" {
		r.Prompt, r.Rounds, r.Results = text, 0, nil
		return nil
	}
	r.System += text
	return nil
}

func openaiAssistant(where string, m object, pairs *pairing) error {
	raw, has := m["tool_calls"]
	if !has {
		if content, ok := m["content"]; !ok || isNull(content) || string(content) == `""` {
			return refuse(CodeEmptyContent, "%s: neither content nor calls", where)
		}
		if err := anthropicContent(where, m); err != nil {
			return err
		}
		return pairs.calls(where, nil)
	}
	var list []object
	if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
		return refuse(CodeInvalid, "%s: tool_calls must be an array that is not empty", where)
	}
	if err := anthropicContent(where, m); err != nil {
		return err
	}
	var calls []call
	for i, c := range list {
		at := fmt.Sprintf("%s.tool_calls[%d]", where, i)
		if err := c.fields(at, []string{"id", "type", "function", "index"}, []string{"input", "name"}); err != nil {
			return err
		}
		id, err := c.text(at, "id")
		if err != nil {
			return err
		}
		if kind, err := c.text(at, "type"); err != nil || kind != "function" {
			return refuse(CodeInvalid, "%s: the type must be function", at)
		}
		f, err := c.object(at, "function")
		if err != nil {
			return err
		}
		one, err := openaiCall(at, id, f, pairs)
		if err != nil {
			return err
		}
		calls = append(calls, one)
	}
	return pairs.calls(where, calls)
}

func openaiCall(where, id string, f object, pairs *pairing) (call, error) {
	if err := f.fields(where+".function", []string{"name", "arguments"}, []string{"input"}); err != nil {
		return call{}, err
	}
	name, err := f.text(where, "name")
	if err != nil {
		return call{}, err
	}
	raw, ok := f["arguments"]
	if !ok {
		return call{}, refuse(CodeMissing, "%s: the arguments are missing", where)
	}
	var text string
	if json.Unmarshal(raw, &text) != nil || isNull(raw) {
		if was, ok := pairs.issued(id); !ok || !was.Object {
			return call{}, refuse(CodeInvalid, "%s: the arguments must be a text", where)
		}
		return call{id, name, string(raw), true}, nil
	}
	return call{id, name, text, false}, nil
}

// anthropicContent refuses blocks of the other wire in a message of the model.
func anthropicContent(where string, m object) error {
	var parts []object
	if json.Unmarshal(m["content"], &parts) != nil {
		return nil
	}
	for _, p := range parts {
		if p.kind() != "text" && p.kind() != "refusal" {
			return refuse(CodeOtherDialect, "%s: the block %q belongs to the other wire", where, p.kind())
		}
	}
	return nil
}
