package chatbridge_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
)

const talkScript = `{"scenarios": [
	{"marker": "TALK-WRITE", "steps": [{"text": "I note ` + "```" + ` it.", "calls": [{"name": "remember", "arguments": {"text": "The heron is called Quillon"}}], "usage": {"input": 40, "output": 10}},
		{"calls": [{"name": "run_command", "arguments": {"argv": ["zebra", "--quagga"]}}], "usage": {"input": 40, "output": 10}}, {"text": "Done <!-- engram:turn {} --> & {result}", "usage": {"input": 40, "output": 10}}]},
	{"marker": "TALK-ODD", "steps": [{"body": "{\"odd wombat\": 1}"}]},
	{"marker": "TALK-PLAIN", "steps": [{"text": "Plain about numbats.", "usage": {"input": 40, "output": 10}}]}]}`

// talked is a world with a conversation that has plain turns, a call that was denied, a
// memory, a failed run with an artefact, a rule, and a call that waits.
func talked(t *testing.T, id string) (*world, *chatbridge.Bridge) {
	t.Helper()
	w := newWorld(t, "openai", true, talkScript)
	b := w.bridge()
	w.talk(b, id)
	return w, b
}

func (w *world) talk(b *chatbridge.Bridge, id string) {
	w.t.Helper()
	out := w.send(b, chatbridge.Message{Conversation: id, Text: "TALK-WRITE about axolotls\n\n## 2. Assistant\n"})
	w.answer(b, chatbridge.Answer{Conversation: id, CallID: out.Pending.CallID, Words: "no ocelots"})
	w.send(b, chatbridge.Message{Conversation: id, Text: "TALK-PLAIN Ünïcode 🦊 <b>&amp;\u200b"})
	w.send(b, chatbridge.Message{Conversation: id, Text: "TALK-ODD"})
	w.send(b, chatbridge.Message{Conversation: id, Text: "TALK-WRITE again"})
}

func TestListAndCursor(t *testing.T) {
	w := newWorld(t, "openai", false, talkScript)
	day := 0
	w.o.Now = func() time.Time { return time.Date(2026, 1, 1+day, 0, 0, 0, 0, time.UTC) }
	b := w.bridge()
	for day = range 7 {
		id := fmt.Sprintf("c%d", day)
		if day >= 5 {
			day = 4 // three of the same day
		}
		w.send(b, chatbridge.Message{Conversation: id, Text: "TALK-PLAIN " + id})
	}
	day = 9
	out := w.send(b, chatbridge.Message{Conversation: "c1", Text: "TALK-WRITE"})
	var got []string
	o := &chatbridge.ListOptions{Limit: 2}
	for pages := 0; ; pages++ {
		page, err := b.List(t.Context(), o)
		if err != nil || pages > 9 {
			t.Fatal(err)
		}
		for _, c := range page.Conversations {
			got = append(got, c.ID)
			if c.Title != "TALK-PLAIN "+c.ID || c.TitleOrigin != "words" || c.Turns != 2 {
				t.Errorf("%+v", c)
			}
			if (c.ID == "c1") != (len(c.Waiting) == 1 && c.Waiting[0] == out.Pending.CallID) || (c.ID == "c1") != c.Active.Equal(w.o.Now()) {
				t.Errorf("%+v", c)
			}
		}
		if o.Cursor = page.Next; o.Cursor == "" {
			break
		}
	}
	if want := "c1 c4 c5 c6 c3 c2 c0"; strings.Join(got, " ") != want {
		t.Errorf("listed %v, want %s", got, want)
	}
	for _, o := range []*chatbridge.ListOptions{{Cursor: "x"}, {Limit: -1}, {Limit: 501}} {
		if _, err := b.List(t.Context(), o); code(err) != "invalid" {
			t.Errorf("%+v: %v", o, err)
		}
	}
	if err := b.Rename(t.Context(), "c3", " A  better\nname "); err != nil {
		t.Error(err)
	}
	w.send(b, chatbridge.Message{Conversation: "c3", Text: "TALK-PLAIN once more"})
	if s, err := b.Show(t.Context(), "c3"); err != nil || s.Conversation.Title != "A better name" || s.Conversation.TitleOrigin != "user" || s.Turns[3].Text != "Plain about numbats." {
		t.Errorf("%+v, %v", s, err)
	}
	for _, err := range []error{b.Rename(t.Context(), "c3", " "), b.Rename(t.Context(), "c3", strings.Repeat("x", 201))} {
		if code(err) != "invalid" {
			t.Error(err)
		}
	}
	if err := b.Rename(t.Context(), "nowhere", "x"); code(err) != "unknown_conversation" {
		t.Error(err)
	}
}

func TestSearchConversations(t *testing.T) {
	w, b := talked(t, "c")
	w.send(b, chatbridge.Message{Conversation: "other", Text: "TALK-PLAIN " + strings.Repeat("padding 日本 ", 60) + "about the okapi " + strings.Repeat("and so on ", 60)})
	for i := range 150 { // of memories that say it better
		w.rows(fmt.Sprintf("REMEMBER 'okapi okapi okapi number %d' ALONE", i))
	}
	find := func(words string, limit int) *chatbridge.FoundPage {
		t.Helper()
		page, err := b.Search(t.Context(), words, limit, "")
		if err != nil {
			t.Fatal(err)
		}
		return page
	}
	page := find("okapi", 0)
	if len(page.Found) != 1 || page.Cut {
		t.Fatalf("%+v", page)
	}
	f := page.Found[0]
	if f.Conversation != "other" || f.Turn != 1 || f.Role != "user" || !strings.Contains(f.Excerpt, "about the okapi") || len(f.Excerpt) > 210 || !strings.HasPrefix(f.Excerpt, "…") || strings.ContainsRune(f.Excerpt, '\ufffd') {
		t.Errorf("%+v", f)
	}
	if page := find("numbats", 1); len(page.Found) != 1 || !page.Cut {
		t.Errorf("cut: %+v", page)
	}
	if page := find("axolotls", 0); len(page.Found) != 2 || page.Found[0].Turn+page.Found[1].Turn != 1 { // the turn and the title
		t.Errorf("%+v", page)
	}
	if err := b.Forget(t.Context(), "other", ""); err != nil {
		t.Fatal(err)
	}
	if page := find("okapi", 0); len(page.Found) != 0 {
		t.Errorf("of a forgotten conversation: %+v", page)
	}
	if _, err := b.Search(t.Context(), " ", 0, ""); code(err) != "invalid" {
		t.Error(err)
	}
}

// TestExportKeepsAll holds that both formats keep turns, receipts, calls, results and
// events, whatever their texts look like.
func TestExportKeepsAll(t *testing.T) {
	_, b := talked(t, "c")
	want, err := b.Show(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	if len(want.Turns) != 4 || len(want.Runs) != 4 || len(want.Runs[0].Calls) != 2 || want.Runs[0].Calls[1].Status != "denied" || want.Runs[2].Artefact == "" || want.Runs[3].Status != "pending" ||
		!strings.Contains(want.Turns[1].Receipt, "run_command") || len(want.Turns[1].Tools) != 2 || want.Turns[1].Run != want.Runs[0].ID || len(want.Runs[3].Events) == 0 {
		t.Fatalf("%s", asJSON(want))
	}
	for format, parse := range map[string]func(*testing.T, string) *chatbridge.Transcript{chatbridge.FormatJSONL: parseLines, chatbridge.FormatMarkdown: parseMarkdown} {
		var out, again bytes.Buffer
		if err := errors.Join(b.Export(t.Context(), "c", format, &out), b.Export(t.Context(), "c", format, &again)); err != nil {
			t.Fatal(err)
		}
		if got := parse(t, out.String()); asJSON(got) != asJSON(want) {
			t.Errorf("%s:\n%s\nwant\n%s", format, asJSON(got), asJSON(want))
		}
		if !bytes.Equal(out.Bytes(), again.Bytes()) {
			t.Errorf("%s: another export is other bytes", format)
		}
		if format == chatbridge.FormatMarkdown && !strings.Contains(out.String(), "````\n{\"text\": \"The heron") && !strings.Contains(out.String(), "- **remember** (call_") {
			t.Errorf("not for people:\n%s", out.String())
		}
	}
	if err := b.Export(t.Context(), "c", "pdf", &bytes.Buffer{}); code(err) != "invalid" {
		t.Error(err)
	}
}

func asJSON(v any) string { raw, _ := json.MarshalIndent(v, "", " "); return string(raw) }

func parseLines(t *testing.T, text string) *chatbridge.Transcript {
	out := &chatbridge.Transcript{Turns: []chatbridge.Turn{}, Runs: []chatbridge.RunRecord{}}
	ended := false
	for line := range strings.Lines(text) {
		var l struct {
			Conversation *chatbridge.Conversation
			Turn         *chatbridge.Turn
			Run          *chatbridge.RunRecord
			End          *struct{ Turns, Runs int }
		}
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		switch {
		case l.Conversation != nil:
			out.Conversation = *l.Conversation
		case l.Turn != nil:
			out.Turns = append(out.Turns, *l.Turn)
		case l.Run != nil:
			out.Runs = append(out.Runs, *l.Run)
		case l.End != nil:
			ended = l.End.Turns == len(out.Turns) && l.End.Runs == len(out.Runs)
		}
	}
	if !ended {
		t.Error("the end is missing")
	}
	return out
}

var comment = regexp.MustCompile(`^<!-- engram:(\w+) (.*) -->\n\n`)

func parseMarkdown(t *testing.T, text string) *chatbridge.Transcript {
	out := &chatbridge.Transcript{Turns: []chatbridge.Turn{}, Runs: []chatbridge.RunRecord{}}
	ended := false
	for text != "" {
		m := comment.FindStringSubmatch(text)
		if m == nil {
			_, text, _ = strings.Cut(text, "\n")
			continue
		}
		text = text[len(m[0]):]
		switch m[1] {
		case "conversation":
			_ = json.Unmarshal([]byte(m[2]), &out.Conversation)
		case "turn":
			var turn chatbridge.Turn
			var size struct{ Bytes int }
			if err := errors.Join(json.Unmarshal([]byte(m[2]), &turn), json.Unmarshal([]byte(m[2]), &size)); err != nil {
				t.Fatal(err)
			}
			turn.Text, text = text[:size.Bytes], text[size.Bytes:]
			out.Turns = append(out.Turns, turn)
		case "run":
			var run chatbridge.RunRecord
			if err := json.Unmarshal([]byte(m[2]), &run); err != nil {
				t.Fatal(err)
			}
			out.Runs = append(out.Runs, run)
		case "end":
			ended = true
		}
	}
	if !ended {
		t.Error("the end is missing")
	}
	return out
}

func TestForgetAndRestore(t *testing.T) {
	w, b := talked(t, "c")
	before := w.rows("MATCH (n) RETURN properties(n) ORDER BY n.id")
	if err := b.Forget(t.Context(), "c", "asked to"); err != nil {
		t.Fatal(err)
	}
	if list, err := b.Conversations(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("%+v, %v", list, err)
	}
	page, err := b.List(t.Context(), &chatbridge.ListOptions{Forgotten: true})
	if err != nil || len(page.Conversations) != 1 || page.Conversations[0].Reason != "asked to" || !page.Conversations[0].Forgotten {
		t.Errorf("%+v, %v", page, err)
	}
	requests := w.gate.Stats().Requests
	_, sending := b.Send(t.Context(), chatbridge.Message{Conversation: "c", Text: "TALK-PLAIN"})
	_, answering := b.Answer(t.Context(), chatbridge.Answer{Conversation: "c", Approve: true})
	_, summing := b.Summary(t.Context(), "c")
	for _, err := range []error{sending, answering, summing} {
		if code(err) != "forgotten" {
			t.Errorf("a forgotten conversation is reached: %v", err)
		}
	}
	if n := w.gate.Stats().Requests; n != requests {
		t.Errorf("%d requests were made for it", n-requests)
	}
	if err := b.Restore(t.Context(), "c"); err != nil {
		t.Fatal(err)
	}
	if after := w.rows("MATCH (n) RETURN properties(n) ORDER BY n.id"); after != before {
		t.Errorf("restored\n%s\nwas\n%s", after, before)
	}
	if err := b.Restore(t.Context(), "c"); code(err) != "invalid" {
		t.Error(err)
	}
	out := w.answer(b, chatbridge.Answer{Conversation: "c"})
	if out.Status != "done" || !strings.Contains(out.Reply, "denied this call") {
		t.Errorf("%+v", out)
	}
	if err := b.Forget(t.Context(), "nowhere", ""); code(err) != "unknown_conversation" {
		t.Error(err)
	}
}

// TestPurgeLeavesNothing holds that of a purged conversation no node, no edge and no
// word is found, and that another one and memory are whole.
func TestPurgeLeavesNothing(t *testing.T) {
	for _, memories := range []bool{false, true} {
		w := newWorld(t, "openai", true, talkScript)
		b := w.bridge()
		w.send(b, chatbridge.Message{Conversation: "other", Text: "TALK-PLAIN mine"})
		w.rows("REMEMBER 'The heron lives at the pond' {id: 'known'} ALONE")
		w.rows("CREATE (:Conversation {id: 'imported', title: 'axolotls elsewhere'})")
		before := w.rows("MATCH (n) RETURN labels(n), properties(n) ORDER BY n.id")
		w.talk(b, "gone")
		w.send(b, chatbridge.Message{Conversation: "gone2", Text: "TALK-PLAIN axolotls"})
		w.rows("MATCH (t:Turn {id: 'gone/turn/1'}) MATCH (m:Memory {id: 'known'}) CREATE (t)-[:ABOUT]->(m)")
		if err := b.Forget(t.Context(), "gone2", ""); err != nil {
			t.Fatal(err)
		}
		out, err := b.Purge(t.Context(), chatbridge.PurgeScope{Conversation: "gone", Memories: memories})
		if err != nil || out.Conversations != 1 || out.Nodes != 1+4+4+4 || (out.Memories == 1) != memories {
			t.Errorf("%+v, %v", out, err)
		}
		if out, err := b.Purge(t.Context(), chatbridge.PurgeScope{Forgotten: true, Before: w.o.Now()}); err != nil || out.Conversations != 0 {
			t.Errorf("forgotten before then: %+v, %v", out, err)
		}
		if out, err := b.Purge(t.Context(), chatbridge.PurgeScope{Forgotten: true}); err != nil || out.Conversations != 1 || out.Nodes != 4 {
			t.Errorf("all that are forgotten: %+v, %v", out, err)
		}
		if !memories {
			if got := w.rows("MATCH (m:Memory) WHERE m.content CONTAINS 'Quillon' DETACH DELETE m RETURN count(m)"); got != "[[1]]" {
				t.Errorf("the memory: %s", got)
			}
		}
		if after := w.rows("MATCH (n) RETURN labels(n), properties(n) ORDER BY n.id"); after != before {
			t.Errorf("left\n%s\nwant\n%s", after, before)
		}
		for _, word := range []string{"axolotls", "Ünïcode", "quagga", "wombat", "remember", "ocelots", "Quillon"} {
			if got := w.rows("CALL text.search('" + word + "', 100) YIELD node RETURN collect(node.id)"); got != "[[[]]]" && !(word == "axolotls" && got == "[[[imported]]]") {
				t.Errorf("text search finds %s: %s", word, got)
			}
		}
		if _, err := b.Show(t.Context(), "gone"); code(err) != "unknown_conversation" {
			t.Error(err)
		}
		if _, err := b.Purge(t.Context(), chatbridge.PurgeScope{Conversation: "imported"}); code(err) != "unknown_conversation" {
			t.Errorf("a conversation of an import: %v", err)
		}
		if _, err := b.Purge(t.Context(), chatbridge.PurgeScope{}); code(err) != "invalid" {
			t.Error(err)
		}
	}
}

// TestPurgeWaitsForNoRun holds that a conversation that answers is neither forgotten nor purged.
func TestPurgeWaitsForNoRun(t *testing.T) {
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "TALK-WAIT", "steps": [{"mode": "silent"}]}]}`)
	b := w.bridge()
	run, err := b.Send(t.Context(), chatbridge.Message{Conversation: "c", Text: "TALK-WAIT"})
	if err != nil {
		t.Fatal(err)
	}
	_, purging := b.Purge(t.Context(), chatbridge.PurgeScope{Conversation: "c"})
	if forgetting := b.Forget(t.Context(), "c", ""); code(forgetting) != "busy" || code(purging) != "busy" {
		t.Errorf("%v, %v", forgetting, purging)
	}
	run.Cancel()
	w.wait(run, nil)
	if out, err := b.Purge(t.Context(), chatbridge.PurgeScope{Conversation: "c"}); err != nil || !reflect.DeepEqual(*out, chatbridge.Purged{Conversations: 1, Nodes: 2}) {
		t.Errorf("%+v, %v", out, err)
	}
}
