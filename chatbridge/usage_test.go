package chatbridge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestUsageBySource holds that what a provider bills for input is told by source: in
// outcome, events and record, over a suspension, and always as a sum that is the whole.
func TestUsageBySource(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		bill := `"usage": {"input": 9973, "output": 7}`
		call := func(name, arguments string) string {
			return `{"calls": [{"name": "` + name + `", "arguments": ` + arguments + `}], ` + bill + `}`
		}
		end := `{"text": "Done.", ` + bill + `}`
		w := newWorld(t, wire, stream, `{"scenarios": [
			{"marker": "GATE-BARE", "steps": [`+end+`]},
			{"marker": "GATE-FILE", "steps": [`+call("read_file", `{"path": "long.txt"}`)+`, `+end+`]},
			{"marker": "GATE-RECALL", "steps": [`+call("recall", `{"query": "otter"}`)+`, `+end+`]},
			{"marker": "GATE-RUN", "steps": [`+call("run_command", `{"argv": ["touch", "made"]}`)+`, `+end+`]}]}`)
		if err := os.WriteFile(filepath.Join(w.dir, "long.txt"), []byte(strings.Repeat("herons wade. ", 400)), 0o600); err != nil {
			t.Fatal(err)
		}
		b := w.bridge()
		spent := func(out *chatbridge.Outcome, rounds int) chatbridge.BySource {
			t.Helper()
			u := out.Usage
			by := u.BySource
			if u.Rounds != rounds || u.Input != rounds*9973 || by.System+by.Memory+by.Files+by.Tools+by.History != u.Input || by.System <= 0 || by.History <= 0 {
				t.Errorf("%+v %+v", u, out.Failure)
			}
			return by
		}
		bare := spent(w.send(b, chatbridge.Message{Conversation: "bare", Text: "GATE-BARE", NoTools: true}), 1)
		if bare.Memory != 0 || bare.Files != 0 || bare.Tools != 0 {
			t.Errorf("nothing but words: %+v", bare)
		}
		longer := spent(w.send(b, chatbridge.Message{Conversation: "bare", Text: "GATE-BARE " + strings.Repeat("and more ", 500), NoTools: true}), 1)
		if longer.History < 3*bare.History || longer.System > bare.System {
			t.Errorf("more words: %+v, before %+v", longer, bare)
		}
		tools := spent(w.send(b, chatbridge.Message{Conversation: "tools", Text: "GATE-BARE"}), 1)
		if tools.Tools == 0 || tools.Files != 0 {
			t.Errorf("tools that are offered: %+v", tools)
		}
		file := w.send(b, chatbridge.Message{Conversation: "file", Text: "GATE-FILE"})
		if by := spent(file, 2); by.Files < 9973/4 || by.Files > 9973 || by.Memory != 0 {
			t.Errorf("a file of 5,200 bytes: %+v", by)
		}
		w.rows("REMEMBER 'the otter whistles' :Memory {id: 'm'} ALONE")
		if by := spent(w.send(b, chatbridge.Message{Conversation: "bare", Text: "GATE-RECALL"}), 2); by.Memory == 0 || by.Files != 0 {
			t.Errorf("recalled: %+v", by)
		}
		if by := spent(w.send(b, chatbridge.Message{Conversation: "otter", Text: "GATE-BARE the otter", NoTools: true}), 1); by.Memory == 0 {
			t.Errorf("told as a conversation begins: %+v", by)
		}
		out := w.send(b, chatbridge.Message{Conversation: "run", Text: "GATE-RUN"})
		first := spent(out, 1)
		out = w.answer(w.bridge(), chatbridge.Answer{Conversation: "run", Approve: true})
		if by := spent(out, 2); by.System <= first.System || by.Tools <= first.Tools {
			t.Errorf("over a suspension: %+v, before %+v", by, first)
		}
		shown, err := b.Show(t.Context(), "run")
		if err != nil || len(shown.Runs) != 1 || shown.Runs[0].Usage != out.Usage {
			t.Fatalf("%+v, error %v", shown, err)
		}
		for _, e := range shown.Runs[0].Events {
			if e.Type == chatbridge.EventUsage && *e.Usage != out.Usage {
				t.Errorf("the event tells %+v", e.Usage)
			}
		}
		by := out.Usage.BySource
		if got := w.rows("MATCH (r:Run {id: '" + out.Run + "'}) RETURN r.input_tokens, r.output_tokens, r.input_system, r.input_memory, r.input_files, r.input_tools, r.input_history"); got != fmt.Sprintf("[[19946 14 %d %d %d %d %d]]", by.System, by.Memory, by.Files, by.Tools, by.History) {
			t.Errorf("by EQL %s, not %+v", got, by)
		}
		if raw, err := json.Marshal(out.Usage); err != nil || !strings.Contains(string(raw), fmt.Sprintf(`"input_by_source":{"system":%d,`, by.System)) {
			t.Errorf("%s, error %v", raw, err)
		}
	})
}
