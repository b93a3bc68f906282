package main

import (
	"errors"
	"fmt"
	"strings"

	"engram/chatbridge"
)

// What is shown at first of a call that is long; v shows all.
const (
	shownLines = 40
	shownBytes = 4000
)

const question = "Run it? y once, c in this conversation, a always, v view all, l later, N no, with words for the model: "

// consent asks about the calls of an outcome that waits, until it does no more. Only a
// plain yes is one.
func (t *chatTerminal) consent(out *chatbridge.Outcome) (*chatbridge.Outcome, error) {
	for out.Status == "pending" {
		p := out.Pending
		if p.Review != nil {
			if waits, err := t.review(out); waits || err != nil {
				return out, err
			}
			continue
		}
		t.show(p)
		answer, later, err := t.asked(p)
		switch {
		case errors.Is(err, errInterrupt), errors.Is(err, errClosed):
			t.a.printf("\nDenied, and the answer is ended.\n")
			t.left = errors.Is(err, errClosed)
			return t.deny(out, p)
		case err != nil:
			return nil, err
		case later:
			t.a.printf("Not answered: the call waits. Go on with: engramd chat --conversation %s\n", out.Conversation)
			return out, nil
		case answer == nil:
			t.unasked = true
			return out, nil
		}
		answer.Conversation, answer.CallID, answer.Digest = out.Conversation, p.CallID, p.Digest
		run, err := t.b.Answer(t.ctx, *answer)
		var refused *chatbridge.Refusal
		if errors.As(err, &refused) {
			fmt.Fprintln(t.a.err, "engramd: "+err.Error())
			waiting, err := t.b.Waiting(t.ctx, out.Conversation)
			if err != nil || len(waiting) == 0 {
				return out, err
			}
			out.Pending = &waiting[0]
			continue
		}
		if err != nil {
			return nil, err
		}
		if out, err = t.follow(run); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// show shows what would happen, and the hash of all that an approval covers. What is
// invisible was escaped before.
func (t *chatTerminal) show(p *chatbridge.Pending) {
	t.a.printf("The model asks for consent to %s (%s", p.ToolName, p.RiskTier)
	if p.Directory != "" {
		t.a.printf(", in %s", visible(p.Directory))
	}
	begin, more := beginning(p.Shown)
	t.a.printf("):\n  %s\n", strings.ReplaceAll(begin, "\n", "\n  "))
	if more != "" {
		t.a.printf("  … %s more: v shows all\n", more)
	}
	t.a.printf("  sha256 %s\n", p.Digest)
}

// beginning is what is shown of a text at first, and how much is not, empty for nothing.
func beginning(text string) (begin, more string) {
	begin = text
	if len(begin) > shownBytes {
		begin = strings.ToValidUTF8(begin[:shownBytes], "")
	}
	if lines := strings.SplitAfterN(begin, "\n", shownLines+1); len(lines) > shownLines {
		begin = strings.Join(lines[:shownLines], "")
	}
	if len(begin) == len(text) {
		return text, ""
	}
	return strings.TrimRight(begin, "\n"), fmt.Sprintf("%s in %s", plural(int64(len(text)-len(begin)), "byte"), plural(int64(strings.Count(text[len(begin):], "\n")+1), "line"))
}

// unaskedError is a call that waits since nobody was there to be asked: nothing ran, and
// whoever gave the order is told so.
type unaskedError struct{ text string }

func (e *unaskedError) Error() string { return e.text }

func unasked(out *chatbridge.Outcome) error {
	return &unaskedError{fmt.Sprintf("the call of %s did not run: it waits for consent, and nobody was there to be asked. Answer it with: engramd chat --conversation %s", visible(out.Pending.ToolName), out.Conversation)}
}

// asked asks until there is an answer. Nothing typed, and Esc, is no; where input is no
// terminal and ends there is no answer.
func (t *chatTerminal) asked(p *chatbridge.Pending) (answer *chatbridge.Answer, later bool, err error) {
	for {
		var line string
		if t.tty != nil {
			line, err = t.tty.answer(t.a.out, question)
			if errors.Is(err, errEscape) {
				t.a.printf("\nDenied.\n")
				return &chatbridge.Answer{}, false, nil
			}
			if err != nil {
				return nil, false, err
			}
		} else {
			var ok bool
			if line, ok = t.line(question); !ok {
				t.a.printf("\n")
				return nil, false, nil // nobody was asked
			}
		}
		word, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		words = strings.TrimSpace(words)
		switch strings.ToLower(word) {
		case "", "n", "no":
			return &chatbridge.Answer{Words: words}, false, nil
		}
		if words != "" {
			continue // a yes with more behind is none
		}
		switch strings.ToLower(word) {
		case "y", "yes":
			return &chatbridge.Answer{Approve: true}, false, nil
		case "c":
			return &chatbridge.Answer{Approve: true, Remember: "conversation"}, false, nil
		case "a":
			return &chatbridge.Answer{Approve: true, Remember: "always"}, false, nil
		case "l", "later":
			return nil, true, nil
		case "v":
			t.a.printf("  %s\n  arguments: %s\n  sha256 %s\n", strings.ReplaceAll(p.Shown, "\n", "\n  "), p.ToolInput, p.Digest)
		}
	}
}
