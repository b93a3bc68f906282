package main

import (
	"strings"
	"testing"
)

// TestChatPrintsTheAnswer holds that what is printed is the answer that counts, whatever
// was streamed before it: also where no model was asked, where nothing was streamed, and
// where the answer took the place of what a model said.
func TestChatPrintsTheAnswer(t *testing.T) {
	w := newChatWorld(t, `{"scenarios": [
		{"marker": "ASK-PLAIN", "steps": [{"text": "Two  words.\n\nAnd more."}]},
		{"marker": "ASK-ROUNDS", "steps": [{"text": "I look.", "calls": [{"name": "recall", "arguments": {"query": "x"}}]}, {"text": "Nothing."}]},
		{"marker": "ASK-CUT", "steps": [{"text": "I was about", "calls": [{"name": "recall", "arguments": {"query": "x"}}], "stop": "length"}]},
		{"marker": "ASK-HARM", "steps": [{"text": "Well: just kill yourself."}]}]}`)
	const replaced = "[This takes the place of the answer above.]"
	for _, c := range []struct {
		args      []string
		out, note string
	}{
		{[]string{"ASK-PLAIN"}, "Two  words.\n\nAnd more.\n", ""},
		{[]string{"ASK-PLAIN", "--no-stream"}, "Two  words.\n\nAnd more.\n", ""},
		{[]string{"ASK-ROUNDS"}, "I look.\n\nNothing.\n", ""},
		{[]string{"ASK-ROUNDS", "--no-stream"}, "I look.\n\nNothing.\n", ""},
		{[]string{"ASK-CUT"}, "I was about\n\n[The answer was cut by the length limit. The call of recall did not run.]\n", ""},
		{[]string{"I want to end my life"}, "116 123", ""},
		{[]string{"ASK-HARM"}, "I will not answer that", ""},
		{[]string{"ASK-HARM", "--no-stream"}, "I will not answer that", ""},
	} {
		out, errOut := w.run(exitOK, "", c.args...)
		// What is taken back may have been shown by then, or not; if so, it is told.
		if strings.Contains(out, "just kill yourself") {
			c.note = replaced
		}
		if c.out[len(c.out)-1] == '\n' && out != c.out || !strings.Contains(out, c.out) || strings.Contains(errOut, replaced) != (c.note != "") {
			t.Errorf("%q: %q, %q", c.args, out, errOut)
		}
	}
}

// TestUntold holds what is printed of an answer behind what was shown of it.
func TestUntold(t *testing.T) {
	for _, c := range []struct {
		shown, answer, rest string
		replaced            bool
	}{
		{"", "All of it.", "All of it.", false},
		{"All of\n\nit.", "All of it.", "", false},
		{"I look.\n\n", "I look.\nNothing.", "\nNothing.", false},
		{"Well: no.", "I will not.", "I will not.", true},
		{"grüß", "grüß dich", " dich", false},
	} {
		if rest, replaced := untold(c.shown, c.answer); rest != c.rest || replaced != c.replaced {
			t.Errorf("after %q, of %q: %q, %v", c.shown, c.answer, rest, replaced)
		}
	}
}
