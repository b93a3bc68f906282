package gate_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"engram/chatbridge/gate"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	anthropic = "/v1/messages"
	openai    = "/v1/chat/completions"
)

func start(t *testing.T, script string, o *gate.Options) (*gate.Gate, string) {
	t.Helper()
	s, err := gate.ParseScenario([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	g := gate.New(s, o)
	server := httptest.NewServer(g)
	t.Cleanup(func() { g.Close(); server.Close() })
	return g, server.URL
}

func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("anthropic-version", "2023-06-01")
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res.StatusCode, string(text) + "<cut>"
	}
	return res.StatusCode, string(text)
}

const oneTool = `{"scenarios": [{"marker": "MARK-ONE", "steps": [
	{"text": "Looking.", "calls": [{"name": "look", "arguments": {"q": "a \"b\" \\ 日本 <&>"}}]},
	{"text": "Seen: {result}"}]}]}`

const (
	anthropicTools = `"tools": [{"name": "look", "input_schema": {"type": "object"}}], "tool_choice": {"type": "auto", "disable_parallel_tool_use": true}`
	openaiTools    = `"tools": [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}], "tool_choice": "auto", "parallel_tool_calls": false`
)

func TestScriptedAnswers(t *testing.T) {
	g, url := start(t, oneTool, nil)
	_, first := post(t, url+anthropic, `{"model": "m", "max_tokens": 9, `+anthropicTools+`, "messages": [{"role": "user", "content": "please MARK-ONE now"}]}`)
	var reply struct {
		Content    []json.RawMessage
		StopReason string `json:"stop_reason"`
	}
	if err := json.Unmarshal([]byte(first), &reply); err != nil || reply.StopReason != "tool_use" || len(reply.Content) != 2 {
		t.Fatalf("first reply %s, error %v", first, err)
	}
	content := append(append([]byte("["), bytes.Join([][]byte{reply.Content[0], reply.Content[1]}, []byte(","))...), ']')
	var use struct{ ID string }
	if err := json.Unmarshal(reply.Content[1], &use); err != nil {
		t.Fatal(err)
	}
	history := `[{"role": "user", "content": "please MARK-ONE now"}, {"role": "assistant", "content": ` + string(content) + `},
		{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "` + use.ID + `", "content": "it is blue"}]}`
	status, second := post(t, url+anthropic, `{"model": "m", "max_tokens": 9, `+anthropicTools+`, "messages": `+history+`]}`)
	if status != 200 || !strings.Contains(second, "Seen: it is blue") {
		t.Errorf("second reply %d %s", status, second)
	}
	_, third := post(t, url+anthropic, `{"model": "m", "max_tokens": 9, `+anthropicTools+`, "messages": `+history+`, {"role": "assistant", "content": "x"}, {"role": "assistant", "content": "y"}]}`)
	if !strings.Contains(third, "GATE-SCRIPT-EXHAUSTED") {
		t.Errorf("past the end: %s", third)
	}
	_, fourth := post(t, url+openai, `{"model": "m", "messages": [{"role": "user", "content": "no marker"}]}`)
	if !strings.Contains(fourth, `"content":"ok"`) {
		t.Errorf("background: %s", fourth)
	}
	entries := g.Entries()
	if len(entries) != 4 || entries[0].Calls[0].Arguments != `{"q": "a \"b\" \\ 日本 <&>"}` || entries[1].Results[0].Content != "it is blue" ||
		entries[1].Text != "Seen: it is blue" || !entries[2].Exhausted || !entries[3].Background || entries[3].Wire != "openai" {
		t.Errorf("log: %+v", entries)
	}
	want := gate.Stats{
		Requests: 4, Background: 1, Exhausted: 1, Codes: map[string]int{},
		Wires: map[string]int{"anthropic": 3, "openai": 1}, Markers: map[string]int{"MARK-ONE": 3},
	}
	if got := g.Stats(); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("stats %+v, want %+v", got, want)
	}
	res, err := http.Get(url + "/gate/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	var served gate.Stats
	if err := json.NewDecoder(res.Body).Decode(&served); err != nil || served.Requests != 4 {
		t.Errorf("served stats %+v, error %v", served, err)
	}
	http.DefaultClient.CloseIdleConnections()
}

// TestRefusals holds what is refused, by wire and code.
func TestRefusals(t *testing.T) {
	user := `{"role": "user", "content": "MARK-ONE"}`
	a := func(more, messages string) string {
		return `{"model": "m", "max_tokens": 9, "messages": [` + messages + `]` + more + `}`
	}
	o := func(more, messages string) string {
		return `{"model": "m", "messages": [` + messages + `]` + more + `}`
	}
	const aID, oID = "call_markone_1_1_1", "call_markone_1_1_1"
	aCall := func(input string) string {
		return `{"role": "assistant", "content": [{"type": "tool_use", "id": "` + aID + `", "name": "look", "input": ` + input + `}]}`
	}
	aResult := `{"type": "tool_result", "tool_use_id": "` + aID + `", "content": "x"}`
	oCall := func(arguments string) string {
		return `{"role": "assistant", "content": null, "tool_calls": [{"id": "` + oID + `", "type": "function", "function": {"name": "look", "arguments": ` + arguments + `}}]}`
	}
	oResult := `{"role": "tool", "tool_call_id": "` + oID + `", "content": "x"}`
	args := `{"q": "a \"b\" \\ 日本 <&>"}`
	quoted, err := json.Marshal(args)
	if err != nil {
		t.Fatal(err)
	}
	twice, err := json.Marshal(string(quoted))
	if err != nil {
		t.Fatal(err)
	}
	cases := []struct{ path, body, code string }{
		{anthropic, `{"model": `, gate.CodeInvalidJSON},
		{anthropic, `{"model": "m", "model": "n"}`, gate.CodeDuplicateKey},
		{anthropic, strings.Repeat("[", 5000), gate.CodeInvalidJSON},
		{anthropic, a("", user) + "x", gate.CodeInvalidJSON},
		{anthropic, a(`, "parallel_tool_calls": false`, user), gate.CodeOtherDialect},
		{anthropic, a(`, "flavour": 1`, user), gate.CodeUnknownField},
		{anthropic, `{"model": "m", "messages": [` + user + `]}`, gate.CodeInvalid},
		{anthropic, a("", `{"role": "system", "content": "x"}`), gate.CodeOtherDialect},
		{anthropic, a("", `{"role": "user", "content": ""}`), gate.CodeEmptyContent},
		{anthropic, a("", `{"role": "user", "content": null}`), gate.CodeEmptyContent},
		{anthropic, a("", `{"role": "user", "content": [{"type": "text", "text": ""}]}`), gate.CodeEmptyContent},
		{anthropic, a("", ""), gate.CodeMissing},
		{anthropic, a(`, "tools": []`, user), gate.CodeEmptyTools},
		{anthropic, a(`, "tool_choice": {"type": "auto"}`, user), gate.CodeNoTools},
		{anthropic, a(`, "tools": [{"type": "function", "function": {"name": "x", "parameters": {"type": "object"}}}]`, user), gate.CodeOtherDialect},
		{anthropic, a(`, "tools": [{"name": "x", "parameters": {"type": "object"}}]`, user), gate.CodeOtherDialect},
		{anthropic, a(`, "tools": [{"name": "x"}]`, user), gate.CodeMissing},
		{anthropic, a(`, "tools": [{"name": "x", "input_schema": {"type": "object"}}, {"name": "x", "input_schema": {"type": "object"}}]`, user), gate.CodeDuplicateTool},
		{anthropic, a(`, "tools": [{"name": "x", "input_schema": {"type": "object"}}], "tool_choice": "auto"`, user), gate.CodeOtherDialect},
		{anthropic, a("", user+","+aCall(args)), gate.CodeUnanswered},
		{anthropic, a("", user+","+aCall(args)+`, {"role": "user", "content": "what?"}`), gate.CodeUnanswered},
		{anthropic, a("", user+","+aCall(args)+`, {"role": "user", "content": [`+aResult+","+aResult+`]}`), gate.CodeAnsweredTwice},
		{anthropic, a("", user+`, {"role": "assistant", "content": "x"}, {"role": "user", "content": [`+aResult+`]}`), gate.CodeUnknownCall},
		{anthropic, a("", user+","+strings.ReplaceAll(aCall(args), aID, "call_other")), gate.CodeUnknownCall},
		{anthropic, a("", user+","+aCall(`{"q": "b"}`)), gate.CodeArguments},
		{anthropic, a("", user+","+aCall(string(quoted))), gate.CodeDoubleEncoded},
		{anthropic, a("", user+`, {"role": "assistant", "content": "x", "tool_calls": []}`), gate.CodeOtherDialect},

		{openai, o(`, "system": "x"`, user), gate.CodeOtherDialect},
		{openai, o(`, "top_k": 3`, user), gate.CodeOtherDialect},
		{openai, o(`, "flavour": 1`, user), gate.CodeUnknownField},
		{openai, o(`, "tools": []`, user), gate.CodeEmptyTools},
		{openai, o(`, "parallel_tool_calls": false`, user), gate.CodeNoTools},
		{openai, o(`, "tools": [{"name": "x", "input_schema": {"type": "object"}}]`, user), gate.CodeOtherDialect},
		{openai, o(`, "tools": [{"type": "web_search_20250305", "name": "web_search"}]`, user), gate.CodeOtherDialect},
		{openai, o(`, `+strings.Replace(openaiTools, `"auto"`, `{"type": "auto"}`, 1), user), gate.CodeOtherDialect},
		{openai, o(`, "stream_options": {"include_usage": true}`, user), gate.CodeInvalid},
		{openai, o("", `{"role": "user", "content": null}`), gate.CodeEmptyContent},
		{openai, o("", `{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x"}]}`), gate.CodeOtherDialect},
		{openai, o("", user+`, {"role": "assistant", "content": null}`), gate.CodeEmptyContent},
		{openai, o("", user+`, {"role": "assistant", "content": "x", "tool_calls": []}`), gate.CodeInvalid},
		{openai, o("", user+","+oCall(string(quoted))), gate.CodeUnanswered},
		{openai, o("", user+","+oCall(string(quoted))+","+user), gate.CodeUnanswered},
		{openai, o("", user+","+oCall(string(quoted))+","+oResult+","+oResult), gate.CodeAnsweredTwice},
		{openai, o("", user+","+oResult), gate.CodeUnknownCall},
		{openai, o("", user+","+strings.Replace(oCall(string(quoted)), oID, "call_other", 1)+","+strings.Replace(oResult, oID, "call_other", 1)), gate.CodeUnknownCall},
		{openai, o("", user+","+oCall(string(twice))+","+oResult), gate.CodeDoubleEncoded},
		{openai, o("", user+","+oCall(args)+","+oResult), gate.CodeInvalid},
		{openai, o("", user+","+oCall(`"{}"`)+","+oResult), gate.CodeArguments},
		{openai, o("", user+`, {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "y", "input": {}}]}`), gate.CodeOtherDialect},
	}
	g, url := start(t, oneTool, nil)
	for _, path := range []string{anthropic, openai} { // issues the call that the cases echo
		body := a(", "+anthropicTools, user)
		if path == openai {
			body = o(", "+openaiTools, user)
		}
		if status, text := post(t, url+path, body); status != 200 {
			t.Fatalf("%s: %d %s", path, status, text)
		}
	}
	for _, c := range cases {
		status, text := post(t, url+c.path, c.body)
		if status != 400 || !strings.Contains(text, `"code":"`+c.code+`"`) {
			t.Errorf("%s %.200s\nanswered %d %s, want %s", c.path, c.body, status, text, c.code)
		}
	}
	if s := g.Stats(); s.Refused != len(cases) {
		t.Errorf("%d refused, want %d", s.Refused, len(cases))
	}
	if e := g.Entries()[2]; e.Body != `{"model": ` || !strings.Contains(e.Error, "at byte ") {
		t.Errorf("the unparseable body is kept as %+v", e)
	}
	for path, body := range map[string]string{
		anthropic: a(", "+anthropicTools, user+","+aCall(args)+`, {"role": "user", "content": [`+aResult+`]}`),
		openai:    o(", "+openaiTools, `{"role": "system", "content": "s"},`+user+","+oCall(string(quoted))+","+oResult),
	} {
		if status, text := post(t, url+path, body); status != 200 {
			t.Errorf("%s: the control is refused: %s", path, text)
		}
	}
}

func TestExpectations(t *testing.T) {
	_, url := start(t, `{"scenarios": [
		{"marker": "WANT-TOOL", "steps": [{"text": "x", "expect_tools": ["look"]}]},
		{"marker": "WANT-NONE", "steps": [{"text": "x", "no_tools": true}]},
		{"marker": "WANT-SYSTEM", "steps": [{"text": "x", "expect_system": ["be kind"]}]},
		{"marker": "WANT-RESULT", "steps": [{"text": "x", "expect_results": ["blue"]}]}]}`, nil)
	body := `{"model": "m", "messages": [{"role": "system", "content": "%s"}, {"role": "user", "content": "%s"}]%s}`
	for _, c := range []struct{ system, marker, more, want string }{
		{"s", "WANT-TOOL", "", gate.CodeUnexpectedTools},
		{"s", "WANT-TOOL", ", " + openaiTools, ""},
		{"s", "WANT-NONE", ", " + openaiTools, gate.CodeUnexpectedTools},
		{"s", "WANT-NONE", "", ""},
		{"s", "WANT-SYSTEM", "", gate.CodeSystemLacks},
		{"always be kind", "WANT-SYSTEM", "", ""},
		{"s", "WANT-RESULT", "", gate.CodeResultLacks},
	} {
		status, text := post(t, url+openai, fmt.Sprintf(body, c.system, c.marker, c.more))
		if (c.want == "") != (status == 200) || !strings.Contains(text, c.want) {
			t.Errorf("%+v: %d %s", c, status, text)
		}
	}
}

func TestFailuresAndHostileModes(t *testing.T) {
	g, url := start(t, `{"scenarios": [
		{"marker": "BUSY-ONCE", "steps": [{"status": 429, "retry_after": "2", "times": 1, "text": "room"}]},
		{"marker": "SHAPE", "steps": [{"body": "{\"a\": 1}"}]},
		{"marker": "DROP", "steps": [{"text": "abcdefghij", "mode": "drop"}]},
		{"marker": "BYTES", "steps": [{"text": "Grüße 🦊", "mode": "bytes"}]},
		{"marker": "SILENT", "steps": [{"mode": "silent"}]}]}`, &gate.Options{Key: "k"})
	ask := func(marker, stream string) (int, string) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		req, err := http.NewRequestWithContext(ctx, http.MethodPost, url+openai,
			strings.NewReader(`{"model": "m", "stream": `+stream+`, "messages": [{"role": "user", "content": "`+marker+`"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer k")
		res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req)
		if err != nil {
			return 0, err.Error()
		}
		defer res.Body.Close()
		text, err := io.ReadAll(res.Body)
		if err != nil {
			text = append(text, "<cut>"...)
		}
		return res.StatusCode, string(text)
	}
	if status, _ := post(t, url+openai, `{}`); status != 401 {
		t.Errorf("without the key: %d", status)
	}
	if status, text := ask("BUSY-ONCE", "false"); status != 429 {
		t.Errorf("busy: %d %s", status, text)
	}
	if status, text := ask("BUSY-ONCE", "false"); status != 200 || !strings.Contains(text, "room") {
		t.Errorf("no more busy: %d %s", status, text)
	}
	if _, text := ask("SHAPE", "true"); text != `{"a": 1}` {
		t.Errorf("shape: %s", text)
	}
	for _, stream := range []string{"true", "false"} {
		if _, text := ask("DROP", stream); !strings.HasSuffix(text, "<cut>") {
			t.Errorf("drop, stream %s: %s", stream, text)
		}
		if _, text := ask("BYTES", stream); strings.HasSuffix(text, "<cut>") || !strings.Contains(text, " 🦊") {
			t.Errorf("bytes, stream %s: %s", stream, text)
		}
	}
	go g.Close()
	if status, text := ask("SILENT", "false"); status != 0 {
		t.Errorf("silent: %d %s", status, text)
	}
	if s := g.Stats(); s.Undelivered != 3 {
		t.Errorf("%d undelivered, want 3", s.Undelivered)
	}
}

// TestSameEveryTime sends the same requests twice, on both wires, and compares bytes.
func TestSameEveryTime(t *testing.T) {
	var got [2]bytes.Buffer
	for i := range got {
		_, url := start(t, string(gate.DefaultScenario()), &gate.Options{Log: &got[i]})
		for _, marker := range []string{"GATE-PLAIN", "GATE-TORTURE", "GATE-PARALLEL", "GATE-BYTES"} {
			for _, stream := range []string{"true", "false"} {
				messages := `"stream": ` + stream + `, "messages": [{"role": "user", "content": "` + marker + `"}]`
				for path, body := range map[string]string{anthropic: `{"model": "m", "max_tokens": 9, ` + messages + `}`, openai: `{"model": "m", ` + messages + `}`} {
					if status, text := post(t, url+path, body); status != 200 || text == "" {
						t.Errorf("%s %s: %d %s", path, marker, status, text)
					}
				}
			}
		}
	}
	if a, b := sortedLines(got[0].String()), sortedLines(got[1].String()); a != b || a == "" {
		t.Errorf("the logs differ:\n%s\n%s", a, b)
	}
}

// sortedLines counts what a log holds but for the numbers of its entries, since a map
// gives the requests in any order.
func sortedLines(log string) string {
	seen := map[string]int{}
	for line := range strings.Lines(log) {
		_, rest, _ := strings.Cut(line, ",")
		seen[rest]++
	}
	text, _ := json.Marshal(seen) // keys come sorted
	return string(text)
}

func TestScenarioErrors(t *testing.T) {
	for script, want := range map[string]string{
		`{`:                      "ends in the middle",
		"{\n\"scenarios\": 3}":   `line 2: field "scenarios"`,
		`{"scenarios": []}`:      "no scenarios",
		`{"scenarios": []} x`:    "text follows",
		`{"scenario": []}`:       `unknown field "scenario"`,
		"{\n\n\"scenarios\": [}": "line 3",
		`{"scenarios": [{"marker": "abc", "steps": [{"text": "x"}]}]}`:                                                "at least 4 bytes",
		`{"scenarios": [{"marker": "abcd", "steps": []}]}`:                                                            "no steps",
		`{"scenarios": [{"marker": "abcd", "steps": [{"text": "x"}]}, {"marker": "abcd", "steps": [{"text": "x"}]}]}`: "repeats",
		`{"scenarios": [{"marker": "abcd", "steps": [{}]}]}`:                                                          "step 1: it answers nothing",
		`{"scenarios": [{"marker": "abcd", "steps": [{"text": "x", "mode": "odd"}]}]}`:                                `no mode "odd"`,
		`{"scenarios": [{"marker": "abcd", "steps": [{"text": "x", "quirks": ["odd"]}]}]}`:                            `no quirk "odd"`,
		`{"scenarios": [{"marker": "abcd", "steps": [{"status": 99}]}]}`:                                              "want 300 to 599",
		`{"scenarios": [{"marker": "abcd", "steps": [{"calls": [{"name": "x", "arguments": [1]}]}]}]}`:                "arguments are an object",
		`{"scenarios": [{"marker": "abcd", "steps": [{"calls": [{"name": "x", "arguments": {}, "raw": "x"}]}]}]}`:     "exclude each other",
		`{"scenarios": [{"marker": "abcd", "steps": [{"text": "x"}, {"calls": [{"arguments": {}}]}]}]}`:               "step 2: a call has no name",
	} {
		_, err := gate.ParseScenario([]byte(script))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", script, err, want)
		}
	}
	if _, err := gate.ParseScenario(gate.DefaultScenario()); err != nil {
		t.Errorf("the default scenario file: %v", err)
	}
}
