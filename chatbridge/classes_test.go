package chatbridge_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"engram/chatbridge"
	"engram/chatbridge/gate"
)

// class is a class of behaviour with how it is asked for and what must hold.
type class struct {
	name, marker string
	steps        string
	noTools      bool
	check        func(t *testing.T, w *world, out *chatbridge.Outcome)
}

const torture = `a \"b\" \\\"c\\\" \t tab 日本 🦊 {\"json\": \"in \\\"json\\\"\", \"n\": [1, 2.50]} <&> ends with \\`

func classes() []class {
	return []class{
		{"plain", "GATE-PLAIN", `{"text": "Grüße 日本 🦊."}`, false, func(t *testing.T, w *world, out *chatbridge.Outcome) {
			if out.Reply != "Grüße 日本 🦊." || len(out.ToolsUsed) != 0 || out.Usage.Rounds != 1 {
				t.Errorf("%+v", out)
			}
		}},
		{"tools off", "GATE-OFF", `{"text": "None offered.", "no_tools": true}`, true, func(t *testing.T, w *world, out *chatbridge.Outcome) {
			if out.Reply != "None offered." {
				t.Errorf("%+v", out)
			}
		}},
		{
			"one tool", "GATE-ONE", `{"text": "I write.", "calls": [{"name": "write_file", "arguments": {"path": "n/one.txt", "content": "one\n"}}]}, {"text": "It says: {result}"}`, false,
			func(t *testing.T, w *world, out *chatbridge.Outcome) {
				if w.file("n/one.txt") != "one\n" || out.Reply != "I write.\n\nIt says: Wrote 4 bytes to n/one.txt." {
					t.Errorf("file %q, reply %q", w.file("n/one.txt"), out.Reply)
				}
			},
		},
		{
			"argument torture", "GATE-TORTURE", `{"calls": [{"name": "write_file", "arguments": {"path": "t.txt", "content": "` + torture + `"}}]}, {"text": "Done."}`, false,
			func(t *testing.T, w *world, out *chatbridge.Outcome) {
				var want string
				if err := json.Unmarshal([]byte(`"`+torture+`"`), &want); err != nil || w.file("t.txt") != want {
					t.Errorf("file %q, want %q, error %v", w.file("t.txt"), want, err)
				}
			},
		},
		{
			"parallel", "GATE-PARALLEL", `{"calls": [{"name": "write_file", "arguments": {"path": "p1", "content": "1"}}, {"name": "write_file", "arguments": {"path": "p2", "content": "2"}},
			{"name": "no_such_tool", "arguments": {}}]}, {"text": "All: {results}"}`, false,
			func(t *testing.T, w *world, out *chatbridge.Outcome) {
				if w.file("p1")+w.file("p2") != "12" || len(out.ToolsUsed) != 3 || out.ToolsUsed[2].Status != "failed" || !strings.Contains(out.Reply, "There is no tool no_such_tool.") {
					t.Errorf("%+v", out)
				}
			},
		},
		{
			"mission", "GATE-MISSION", `{"text": "First.", "calls": [{"name": "list_dir", "arguments": {"path": "."}}]},
			{"calls": [{"name": "write_file", "arguments": {"path": "m.txt", "content": "one\ntwo\n"}}]},
			{"calls": [{"name": "edit_file", "arguments": {"path": "m.txt", "old": "two", "new": "three"}}]},
			{"calls": [{"name": "read_file", "arguments": {"path": "m.txt"}}]},
			{"text": "Now: {result}", "expect_results": ["one\nthree"]}`, false,
			func(t *testing.T, w *world, out *chatbridge.Outcome) {
				if w.file("m.txt") != "one\nthree\n" || out.Reply != "First.\n\nNow: one\nthree" || out.Usage.Rounds != 5 {
					t.Errorf("%+v, file %q", out, w.file("m.txt"))
				}
			},
		},
		{
			"memory", "GATE-MEMORY", `{"calls": [{"name": "remember", "arguments": {"text": "Ann moved to Lisbon in May"}}]}, {"calls": [{"name": "recall", "arguments": {"query": "Lisbon"}}]},
			{"text": "{result}", "expect_results": ["Ann moved to Lisbon in May"]}`, false,
			func(t *testing.T, w *world, out *chatbridge.Outcome) {
				if got := w.rows("MATCH (m:Memory) RETURN m.content, m.origin"); got != "[[Ann moved to Lisbon in May model]]" {
					t.Errorf("memory %s, %+v", got, out)
				}
			},
		},
	}
}

// TestClasses runs each class on both wires, streaming and not, asking for everything
// and not, in two phrasings and one that is drawn. It passes on what the reply says and
// on what really happened: the files, the memory, the gate's log.
func TestClasses(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 1))
	words := strings.Fields("please kindly now today could you the a small large folder note for me and then again before lunch über 日本")
	for _, c := range classes() {
		var drawn []string
		for range 4 + random.IntN(8) {
			drawn = append(drawn, words[random.IntN(len(words))])
		}
		phrasings := []string{c.marker + ", please.", "Would you kindly do this for me? It is about " + c.marker + " and nothing else.", strings.Join(drawn, " ") + " " + c.marker}
		if testing.Short() {
			phrasings = phrasings[2:]
		}
		t.Run(c.name, func(t *testing.T) {
			everyWay(t, func(t *testing.T, wire string, stream bool) {
				for _, askAll := range []bool{false, true} {
					for _, phrase := range phrasings {
						w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "`+c.marker+`", "steps": [`+c.steps+`]}]}`)
						b := w.bridge()
						out := w.send(b, chatbridge.Message{Text: phrase, AskAll: askAll, NoTools: c.noTools})
						for n := 0; out.Status == "pending" && n < 20; n++ {
							out = w.answer(b, chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Digest: out.Pending.Digest, Approve: true})
						}
						if out.Status != "done" {
							t.Fatalf("%s: %+v %+v", phrase, out, out.Failure)
						}
						c.check(t, w, out)
						checkTruth(t, w, out)
					}
				}
			})
		})
	}
}

// checkTruth compares what the outcome claims with what the gate delivered and got.
func checkTruth(t *testing.T, w *world, out *chatbridge.Outcome) {
	t.Helper()
	var issued []gate.Issued
	for _, e := range w.gate.Entries() {
		if e.Status != 200 || e.Exhausted || e.Wire != w.wire || e.Stream != w.stream {
			t.Errorf("the gate: %+v", e)
		}
		issued = append(issued, e.Calls...)
	}
	if len(issued) != len(out.ToolsUsed) {
		t.Fatalf("%d calls were issued, %d are claimed", len(issued), len(out.ToolsUsed))
	}
	for i, u := range out.ToolsUsed {
		var a, b any
		if u.CallID != issued[i].ID || u.Name != issued[i].Name || json.Unmarshal([]byte(u.Arguments), &a) != nil || json.Unmarshal([]byte(issued[i].Arguments), &b) != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("call %d: claimed %+v, issued %+v", i, u, issued[i])
		}
	}
	if got := w.rows("MATCH (r:Run)-[:CALLED]->(t:ToolCall) RETURN count(t)"); got != fmt.Sprintf("[[%d]]", len(issued)) {
		t.Errorf("%s calls are stored, %d were issued", got, len(issued))
	}
}
