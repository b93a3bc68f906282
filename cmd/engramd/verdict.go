package main

import (
	"strings"

	"engram/chatbridge"
)

// verdictGroup is what a person judges of outcomes.
type verdictGroup struct {
	Candidates verdictCandidatesCommand `cmd:"" default:"1" help:"List what can be judged, the newest first."`
	List       verdictListCommand       `cmd:"" help:"List the verdicts, the newest first."`
	Approve    verdictApproveCommand    `cmd:"" help:"Approve an outcome: it is recalled when the same comes again."`
	Reject     verdictRejectCommand     `cmd:"" help:"Reject an outcome, or take an approval back."`
}

// Help is shown by --help.
func (verdictGroup) Help() string {
	return `Examples:
  engramd verdict
  engramd verdict approve cand-1f0c... --reason "the budget held"
  engramd verdict reject --run r-7b3k2m --reason "it forgot the deposit"
  engramd verdict list

engramd help review tells the rest.`
}

type verdictCandidatesCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *verdictCandidatesCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		list, err := b.Candidates(a.ctx, "")
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(map[string]any{"candidates": list})
		}
		for _, k := range list {
			judged := "not judged"
			if k.Verdicts > 0 {
				judged = plural(int64(k.Verdicts), "verdict")
			}
			first, _, _ := strings.Cut(k.Outcome, "\n")
			a.printf("%s  %s  %s  %s\n", k.Key, k.Kind, judged, visible(first))
		}
		if len(list) == 0 {
			a.printf("There are no candidates.\n")
		}
		return nil
	})
}

type verdictListCommand struct {
	Candidate string `arg:"" optional:"" help:"Only those on this candidate."`
	JSON      bool   `help:"Print JSON."`
}

func (c *verdictListCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		list, err := b.Verdicts(a.ctx, c.Candidate, "")
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(map[string]any{"verdicts": list})
		}
		for _, v := range list {
			promoted := ""
			if v.Promoted {
				promoted = ", in canonical memory"
			}
			a.printf("%s  %s  %s%s: %s\n", v.Candidate, v.At.Format("2006-01-02"), v.Decision, promoted, visible(v.Reason))
		}
		if len(list) == 0 {
			a.printf("There are no verdicts.\n")
		}
		return nil
	})
}

// judged are the flags of a verdict. It has no defaults.
type judged struct {
	Candidate string `arg:"" optional:"" help:"Key of the candidate; engramd verdict lists it."`
	Run       string `name:"run" help:"Judge the answer of this run in place of a candidate." placeholder:"RUN"`
	Reason    string `help:"Why, in your words; it has to be there." placeholder:"WORDS"`
}

func (j *judged) give(a *app, decision string) error {
	return a.withChats(writing, func(b *chatbridge.Bridge) error {
		v, err := b.Judge(a.ctx, chatbridge.Judgement{Candidate: j.Candidate, Run: j.Run, Decision: decision, Reason: j.Reason})
		if err != nil {
			return err
		}
		a.printf("%s: %s\n", v.Candidate, v.Decision)
		return nil
	})
}

type verdictApproveCommand struct {
	Of judged `embed:""`
}

// Run keeps the verdict.
func (c *verdictApproveCommand) Run(a *app) error { return c.Of.give(a, chatbridge.VerdictApproved) }

type verdictRejectCommand struct {
	Of judged `embed:""`
}

// Run keeps the verdict.
func (c *verdictRejectCommand) Run(a *app) error { return c.Of.give(a, chatbridge.VerdictRejected) }

// Help is shown by --help.
func (verdictCandidatesCommand) Help() string {
	return `Examples:
  engramd verdict
  engramd verdict candidates --json`
}

// Help is shown by --help.
func (verdictListCommand) Help() string {
	return `Examples:
  engramd verdict list`
}

// Help is shown by --help.
func (verdictApproveCommand) Help() string {
	return `Examples:
  engramd verdict approve cand-1f0c... --reason "the budget held"`
}

// Help is shown by --help.
func (verdictRejectCommand) Help() string {
	return `Examples:
  engramd verdict reject --run r-7b3k2m --reason "it forgot the deposit"`
}
