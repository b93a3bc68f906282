package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"engram/chatbridge"
)

// reviewGroup is what waits for a person's decision.
type reviewGroup struct {
	List    reviewListCommand    `cmd:"" default:"1" help:"List what waits, the longest first."`
	Show    reviewShowCommand    `cmd:"" help:"Show a plan or proposal whole."`
	Approve reviewApproveCommand `cmd:"" help:"Approve one as it is, and have it carried out."`
	Revise  reviewReviseCommand  `cmd:"" help:"Say what to change; your words go to the model as they are."`
}

// Help is shown by --help.
func (reviewGroup) Help() string {
	return `Examples:
  engramd review
  engramd review show plan-r-7b3k2m-1
  engramd review approve plan-r-7b3k2m-1 --workspace ~/notes
  engramd review revise plan-r-7b3k2m-1 "Leave the drafts alone"

engramd help review tells the rest.`
}

type reviewListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *reviewListCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		list, err := b.Reviews(a.ctx, "")
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(map[string]any{"reviews": append([]chatbridge.PendingReview{}, list...)})
		}
		for _, r := range list {
			first, _, _ := strings.Cut(r.Pending.Shown, "\n")
			a.printf("%s  %s  %s left  %s\n", r.Pending.CallID, r.Since.Format("2006-01-02 15:04"), changes(&r.Pending), visible(first))
		}
		if len(list) == 0 {
			a.printf("Nothing waits for a review.\n")
		}
		return nil
	})
}

// changes is how often something else can be asked for.
func changes(p *chatbridge.Pending) string {
	if p.Review.Kind == chatbridge.ReviewProposal {
		return plural(int64(p.Review.Left), "attempt")
	}
	return plural(int64(p.Review.Left), "revision")
}

// findReview finds a review that waits.
func findReview(a *app, b *chatbridge.Bridge, id string) (*chatbridge.PendingReview, error) {
	list, err := b.Reviews(a.ctx, "")
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.Pending.CallID == id {
			return &r, nil
		}
	}
	return nil, &chatbridge.Refusal{Code: "unknown_call", Text: "no review " + visible(id) + " waits: engramd review lists those that do"}
}

type reviewShowCommand struct {
	ID   string `arg:"" help:"Of the review; engramd review lists it."`
	JSON bool   `help:"Print JSON."`
}

func (c *reviewShowCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		r, err := findReview(a, b, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(r)
		}
		a.printReview(&r.Pending)
		return nil
	})
}

// printReview shows a review whole. What is invisible was escaped before.
func (a *app) printReview(p *chatbridge.Pending) {
	a.printf("A %s to review (%s left, candidate %s):\n  %s\n", p.Review.Kind, changes(p), p.Review.Candidate, strings.ReplaceAll(p.Shown, "\n", "\n  "))
	for _, r := range p.Review.Rulings {
		words := ""
		if r.Words != "" {
			words = ": " + visible(r.Words)
		}
		a.printf("  attempt %d, %s %s%s\n", r.Attempt, r.By, strings.ReplaceAll(r.Status, "_", " "), words)
	}
	if v := p.Review.Verdict; v != nil {
		a.printf("  judged before: %s: %s (%s)\n", v.Decision, visible(v.Reason), v.At.Format("2006-01-02"))
	}
	a.printf("  sha256 %s\n", p.Digest)
}

type reviewApproveCommand struct {
	ID string `arg:"" help:"Of the review; engramd review lists it."`
	chatFlags
}

func (c *reviewApproveCommand) Run(a *app) error {
	return a.decide(&c.chatFlags, c.ID, chatbridge.Answer{Approve: true})
}

type reviewReviseCommand struct {
	ID    string   `arg:"" help:"Of the review; engramd review lists it."`
	Words []string `arg:"" help:"What to change."`
	chatFlags
}

func (c *reviewReviseCommand) Run(a *app) error {
	return a.decide(&c.chatFlags, c.ID, chatbridge.Answer{Words: strings.Join(c.Words, " ")})
}

// decide answers a review and follows what comes of it.
func (a *app) decide(flags *chatFlags, id string, answer chatbridge.Answer) error {
	return a.chat(flags, func(t *chatTerminal) error {
		r, err := findReview(a, t.b, id)
		if err != nil {
			return err
		}
		out, err := t.decided(r.Conversation, &r.Pending, answer)
		if err == nil {
			out, err = t.consent(out)
		}
		if err != nil {
			return err
		}
		return t.ended(out)
	})
}

// decided gives an answer on what was shown.
func (t *chatTerminal) decided(conversation string, p *chatbridge.Pending, answer chatbridge.Answer) (*chatbridge.Outcome, error) {
	answer.Conversation, answer.CallID, answer.Digest = conversation, p.CallID, p.Digest
	run, err := t.b.Answer(t.ctx, answer)
	if err != nil {
		return nil, err
	}
	return t.follow(run)
}

const reviewQuestion = "approve, revise WORDS, or later: "

// review asks about a plan or proposal and puts what comes of the answer into out. Only
// the word approve alone is a yes. Whatever ends the question leaves it waiting.
func (t *chatTerminal) review(out *chatbridge.Outcome) (waits bool, err error) {
	t.a.printReview(out.Pending)
	for {
		var line string
		ok := true
		if t.tty != nil {
			line, err = t.tty.answer(t.a.out, reviewQuestion)
			if errors.Is(err, errInterrupt) || errors.Is(err, errClosed) || errors.Is(err, errEscape) {
				t.left = errors.Is(err, errClosed)
				ok, err = false, nil
			}
			if err != nil {
				return false, err
			}
		} else {
			line, ok = t.line(reviewQuestion)
		}
		word, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		answer := chatbridge.Answer{}
		switch {
		case !ok || strings.EqualFold(word, "later") && words == "":
			t.a.printf("\nNot answered: it waits. Go on with: engramd review show %s\n", out.Pending.CallID)
			return true, nil
		case strings.EqualFold(word, "approve") && strings.TrimSpace(words) == "":
			answer.Approve = true
		case strings.EqualFold(word, "revise") && strings.TrimSpace(words) != "":
			answer.Words = words
		default:
			continue
		}
		next, err := t.decided(out.Conversation, out.Pending, answer)
		if err == nil {
			*out = *next
		}
		return false, err
	}
}

// readRules reads the rules of a proposal.
func readRules(path string) ([]chatbridge.Rule, error) {
	f, err := openInput(path)
	if err != nil {
		return nil, err
	}
	f.Close()
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	rules, err := chatbridge.ParseRules(text)
	if err != nil {
		return nil, &usageError{fmt.Errorf("%s: %w", path, err)}
	}
	return rules, nil
}

// Help is shown by --help.
func (reviewListCommand) Help() string {
	return `Examples:
  engramd review
  engramd review list --json`
}

// Help is shown by --help.
func (reviewShowCommand) Help() string {
	return `Examples:
  engramd review show plan-r-7b3k2m-1`
}

// Help is shown by --help.
func (reviewApproveCommand) Help() string {
	return `Examples:
  engramd review approve plan-r-7b3k2m-1 --workspace ~/notes`
}

// Help is shown by --help.
func (reviewReviseCommand) Help() string {
	return `Examples:
  engramd review revise plan-r-7b3k2m-1 "Leave the drafts alone"`
}
