package gate

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

var (
	anthropicFields = []string{
		"model", "max_tokens", "messages", "system", "stream", "tools", "tool_choice", "temperature", "top_p", "top_k",
		"stop_sequences", "metadata", "thinking", "service_tier",
	}
	openaiFields = []string{
		"model", "messages", "stream", "stream_options", "tools", "tool_choice", "parallel_tool_calls", "max_tokens", "max_completion_tokens",
		"temperature", "top_p", "n", "stop", "user", "seed", "frequency_penalty", "presence_penalty", "response_format",
		"reasoning_effort", "metadata", "store",
	}
	anthropicBlocks = []string{"text", "tool_use", "tool_result", "thinking", "redacted_thinking", "server_tool_use", "web_search_tool_result"}
)

// checkAnthropic checks a request to /v1/messages.
func checkAnthropic(h http.Header, body []byte, issued func(string) (Issued, bool)) (*request, error) {
	o, err := parse(body)
	if err != nil {
		return nil, err
	}
	if h.Get("anthropic-version") == "" {
		return nil, refuse(CodeMissing, "the header anthropic-version is missing")
	}
	if err := o.fields("request", anthropicFields, openaiFields); err != nil {
		return nil, err
	}
	r := &request{}
	if r.Model, err = o.text("request", "model"); err != nil {
		return nil, err
	}
	if err = o.number("request", "max_tokens"); err != nil {
		return nil, err
	}
	if r.Stream, err = o.flag("request", "stream"); err != nil {
		return nil, err
	}
	if raw, ok := o["system"]; ok {
		if r.System, err = texts("system", raw); err != nil {
			return nil, err
		}
	}
	if err = anthropicTools(o, r); err != nil {
		return nil, err
	}
	return r, anthropicMessages(o, r, issued)
}

func anthropicTools(o object, r *request) error {
	if _, ok := o["tools"]; !ok {
		if _, ok := o["tool_choice"]; ok {
			return refuse(CodeNoTools, "request: tool_choice without tools")
		}
		return nil
	}
	tools, err := o.list("request", "tools", CodeEmptyTools)
	if err != nil {
		return err
	}
	for i, t := range tools {
		where := fmt.Sprintf("tools[%d]", i)
		var kind string
		_ = json.Unmarshal(t["type"], &kind) // absent or another kind: refused below
		if kind == "function" {
			return refuse(CodeOtherDialect, "%s: the type function belongs to the other wire", where)
		}
		server := strings.HasPrefix(kind, "web_search_")
		known := []string{"name", "description", "input_schema", "type", "cache_control"}
		if server {
			known = []string{"name", "type", "max_uses", "allowed_domains", "blocked_domains", "user_location", "cache_control"}
		}
		if err := t.fields(where, known, []string{"function", "parameters", "strict"}); err != nil {
			return err
		}
		name, err := t.text(where, "name")
		if err != nil {
			return err
		}
		if !server {
			if err := schema(where, "input_schema", t); err != nil {
				return err
			}
		}
		if slices.Contains(r.Tools, name) {
			return refuse(CodeDuplicateTool, "%s: the tool %s is there twice", where, name)
		}
		r.Tools = append(r.Tools, name)
	}
	raw, ok := o["tool_choice"]
	if !ok {
		return nil
	}
	var choice object
	if json.Unmarshal(raw, &choice) != nil || choice == nil {
		return refuse(CodeOtherDialect, "tool_choice: a text belongs to the other wire")
	}
	if err := choice.fields("tool_choice", []string{"type", "name", "disable_parallel_tool_use"}, []string{"function"}); err != nil {
		return err
	}
	kind, err := choice.text("tool_choice", "type")
	if err == nil && !slices.Contains([]string{"auto", "any", "tool", "none"}, kind) {
		return refuse(CodeInvalid, "tool_choice: there is no type %q", kind)
	}
	return err
}

func schema(where, key string, t object) error {
	s, err := t.object(where, key)
	if err != nil {
		return err
	}
	if kind, err := s.text(where+"."+key, "type"); err != nil || kind != "object" {
		return refuse(CodeInvalid, "%s: %q must be a schema of an object", where, key)
	}
	return nil
}

func anthropicMessages(o object, r *request, issued func(string) (Issued, bool)) error {
	messages, err := o.list("request", "messages", CodeMissing)
	if err != nil {
		return err
	}
	pairs := &pairing{issued: issued}
	r.Messages = len(messages)
	for i, m := range messages {
		where := fmt.Sprintf("messages[%d]", i)
		if err := m.fields(where, []string{"role", "content"}, []string{"tool_calls", "tool_call_id", "name", "refusal", "function_call"}); err != nil {
			return err
		}
		role, err := m.text(where, "role")
		if err != nil {
			return err
		}
		switch role {
		case "user":
			err = r.anthropicUser(where, m, pairs)
		case "assistant":
			if i == 0 {
				return refuse(CodeInvalid, "%s: the first message is the user's", where)
			}
			r.Rounds++
			err = anthropicAssistant(where, m, pairs)
		case "system", "tool", "developer":
			return refuse(CodeOtherDialect, "%s: the role %s belongs to the other wire", where, role)
		default:
			return refuse(CodeInvalid, "%s: there is no role %q", where, role)
		}
		if err != nil {
			return err
		}
	}
	return pairs.settled("the end of the messages")
}

// blocks are the blocks of a message's content.
func blocks(where string, m object) ([]object, error) {
	raw, ok := m["content"]
	if !ok || isNull(raw) {
		return nil, refuse(CodeEmptyContent, "%s: the content is missing", where)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		if text == "" {
			return nil, refuse(CodeEmptyContent, "%s: the content is empty", where)
		}
		return []object{{"type": json.RawMessage(`"text"`), "text": raw}}, nil
	}
	list, err := m.list(where, "content", CodeEmptyContent)
	if err != nil {
		return nil, err
	}
	for i, b := range list {
		kind, err := b.text(fmt.Sprintf("%s.content[%d]", where, i), "type")
		if err != nil {
			return nil, err
		}
		if kind == "image_url" || kind == "input_text" {
			return nil, refuse(CodeOtherDialect, "%s: the block %s belongs to the other wire", where, kind)
		}
		if !slices.Contains(anthropicBlocks, kind) {
			return nil, refuse(CodeInvalid, "%s: there is no block %q", where, kind)
		}
		if kind == "text" {
			if _, err := b.text(where, "text"); err != nil {
				return nil, refuse(CodeEmptyContent, "%s: a text block is empty", where)
			}
		}
	}
	return list, nil
}

func (o object) kind() string {
	var s string
	_ = json.Unmarshal(o["type"], &s) // blocks has checked it
	return s
}

func (r *request) anthropicUser(where string, m object, pairs *pairing) error {
	list, err := blocks(where, m)
	if err != nil {
		return err
	}
	var prompt []string
	answers := 0
	for _, b := range list {
		switch b.kind() {
		case "tool_result":
			if len(prompt) > 0 {
				return refuse(CodeInvalid, "%s: results come before text", where)
			}
			if err := b.fields(where, []string{"type", "tool_use_id", "content", "is_error", "cache_control"}, []string{"tool_call_id"}); err != nil {
				return err
			}
			id, err := b.text(where, "tool_use_id")
			if err != nil {
				return err
			}
			if err := pairs.answer(where, id); err != nil {
				return err
			}
			text := ""
			if raw, ok := b["content"]; ok {
				if text, err = texts(where, raw); err != nil {
					return err
				}
			}
			r.Results = append(r.Results, result{id, text})
			answers++
		case "text":
			text, _ := b.text(where, "text") // blocks has checked it
			prompt = append(prompt, text)
		default:
			return refuse(CodeInvalid, "%s: a user has no block %s", where, b.kind())
		}
	}
	if err := pairs.settled(where); err != nil {
		return err
	}
	if answers == 0 {
		r.Prompt, r.Rounds, r.Results = strings.Join(prompt, "\n"), 0, nil
	}
	return nil
}

func anthropicAssistant(where string, m object, pairs *pairing) error {
	list, err := blocks(where, m)
	if err != nil {
		return err
	}
	var calls []call
	for _, b := range list {
		switch b.kind() {
		case "tool_result":
			return refuse(CodeInvalid, "%s: an assistant has no results", where)
		case "tool_use":
			if err := b.fields(where, []string{"type", "id", "name", "input", "caller", "cache_control"}, []string{"function", "arguments"}); err != nil {
				return err
			}
			id, err := b.text(where, "id")
			if err != nil {
				return err
			}
			name, err := b.text(where, "name")
			if err != nil {
				return err
			}
			if _, err := b.object(where, "input"); err != nil {
				var twice string
				if json.Unmarshal(b["input"], &twice) == nil && len(b["input"]) > 0 {
					return refuse(CodeDoubleEncoded, "%s: the input of %s is a text", where, id)
				}
				return err
			}
			calls = append(calls, call{id, name, string(b["input"]), true})
		}
	}
	return pairs.calls(where, calls)
}

// texts is a text, or the texts of blocks.
func texts(where string, raw json.RawMessage) (string, error) {
	var s string
	if json.Unmarshal(raw, &s) == nil && !isNull(raw) {
		return s, nil
	}
	var list []object
	if json.Unmarshal(raw, &list) != nil || isNull(raw) {
		return "", refuse(CodeInvalid, "%s: the content must be a text or blocks", where)
	}
	var out []string
	for _, b := range list {
		if b.kind() != "text" {
			return "", refuse(CodeInvalid, "%s: the content has a block that is not text", where)
		}
		text, err := b.text(where, "text")
		if err != nil {
			return "", err
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n"), nil
}
