package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"engram/chatbridge"
)

// TestTrimmingKeepsWhatRang holds that the window forgets calm turns only: what rang a
// bell stays in what the model sees and the screen counts, with its answer and receipt.
func TestTrimmingKeepsWhatRang(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-NEVER", "steps": [{"text": "x"}]}]}`)
		w.o.Limits.Window = 2
		b := w.bridge()
		for _, conversation := range []string{"rang", "calm"} {
			w.send(b, chatbridge.Message{Conversation: conversation, Text: "good day"})
			if conversation == "rang" {
				w.send(b, chatbridge.Message{Conversation: conversation, Text: "I hurt myself, it is hopeless"})
			}
			for i := range 3 {
				w.send(b, chatbridge.Message{Conversation: conversation, Text: fmt.Sprintf("calm %d", i)})
			}
		}
		w.send(b, chatbridge.Message{Conversation: "rang", Text: "and now"})
		entries := w.gate.Entries()
		if got := receiptsIn(entries[len(entries)-1].System); got != "4 8 10" { // the numbers of the answers
			t.Errorf("the model saw the answers %s", got)
		}
		for _, c := range []struct{ conversation, kind string }{{"rang", "hard"}, {"calm", "soft"}} { // 50, with a third of 60 or of nothing
			w.send(b, chatbridge.Message{Conversation: c.conversation, Text: "I can't go on"})
			if got := w.rows("MATCH (b:BellEvent {conversation: '" + c.conversation + "'}) RETURN b.kind ORDER BY b.score DESC LIMIT 1"); got != "[["+c.kind+"]]" {
				t.Errorf("%s: the bell is %s", c.conversation, got)
			}
		}
	})
}

const receiptMark = "What ran for your message "

// receiptsIn are the numbers of the answers whose receipts a system prompt tells.
func receiptsIn(system string) string {
	var out []string
	for _, line := range strings.Split(system, "\n") {
		if rest, ok := strings.CutPrefix(line, receiptMark); ok {
			number, _, _ := strings.Cut(rest, ",")
			out = append(out, number)
		}
	}
	return strings.Join(out, " ")
}

// TestTrimmingCutsNoReceipt holds that an answer that stays in the window has its whole
// receipt, however long, and one that does not has none.
func TestTrimmingCutsNoReceipt(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		call := `{"calls": [{"name": "search_files", "arguments": {"text": "` + strings.Repeat("Ünï ", 60) + `"}}]}`
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "GATE-LONG", "steps": [`+strings.Repeat(call+",", 6)+`{"text": "found nothing"}]}]}`)
		w.o.Limits.Window = 2
		b := w.bridge()
		for range 4 {
			if out := w.send(b, chatbridge.Message{Conversation: "c", Text: "GATE-LONG"}); out.Status != "done" {
				t.Fatalf("%+v", out.Failure)
			}
		}
		entries := w.gate.Entries()
		system := entries[len(entries)-1].System
		if got := receiptsIn(system); got != "4 6" {
			t.Errorf("receipts of %s", got)
		}
		s, err := b.Show(t.Context(), "c")
		if err != nil {
			t.Fatal(err)
		}
		for _, turn := range s.Turns[2:6] {
			if turn.Role == "assistant" && (len(turn.Receipt) < 1000 || !strings.Contains(system, fmt.Sprintf("%s%d, as the program recorded it: %s\n", receiptMark, turn.Number, turn.Receipt)) &&
				!strings.HasSuffix(system, turn.Receipt)) {
				t.Errorf("the receipt of %d is not whole: %d bytes", turn.Number, len(turn.Receipt))
			}
		}
	})
}
