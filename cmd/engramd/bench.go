package main

import (
	"errors"
	"fmt"

	"engram/benchmarks"
)

type benchCommand struct {
	Recall   benchRecallCommand   `cmd:"" help:"How well recall finds evidence: recall@5, recall@10, hit@5, precision@5, MRR."`
	Speed    benchSpeedCommand    `cmd:"" help:"How fast statements run, with the results checked."`
	Generate benchGenerateCommand `cmd:"" help:"Write the graph that bench speed runs on."`
}

type benchRecallCommand struct {
	Set     []string `help:"A folder with memories.jsonl, questions.jsonl and optionally links.jsonl. Repeatable." required:"" sep:"none" placeholder:"DIR"`
	Legs    []string `help:"Legs of recall to use: lexical, semantic, associative. Default all." enum:"lexical,semantic,associative" placeholder:"LEG"`
	NoTimes bool     `help:"Leave out latencies, so that two runs print the same bytes."`
	JSON    bool     `help:"Print one JSON object a line."`
}

// Help is shown by --help.
func (benchRecallCommand) Help() string {
	return `Imports every conversation of the set into a namespace of its own, in a temporary directory, asks
the questions of the set with RECALL, and tells how much of the evidence was among the first 5 and 10.

Examples:
  engramd bench recall --set ./locomo
  engramd bench recall --set ./locomo --set ./2wiki --legs lexical --no-times --json`
}

func (c *benchRecallCommand) Run(a *app) error {
	for _, set := range c.Set {
		if err := existingDir(set); err != nil {
			return err
		}
	}
	return benchmarks.Recall(a.ctx, benchmarks.RecallOptions{Sets: c.Set, Legs: c.Legs, NoTimes: c.NoTimes, JSON: c.JSON}, a.out)
}

type benchSpeedCommand struct {
	Set  string   `help:"A folder made by engramd bench generate." required:"" placeholder:"DIR"`
	Only []string `help:"Metrics to run, such as point,hop2." placeholder:"METRIC"`
	JSON bool     `help:"Print one JSON object a line."`
}

// Help is shown by --help.
func (benchSpeedCommand) Help() string {
	return `Loads the set into a temporary directory and runs its queries and transactions as EQL text.
Exits with 5 when a result is wrong. Needs a folder made by engramd bench generate.

Examples:
  engramd bench speed --set ./small
  engramd bench speed --set ./small --only point,hop2 --json`
}

func (c *benchSpeedCommand) Run(a *app) error {
	if err := existingDir(c.Set); err != nil {
		return err
	}
	err := benchmarks.Speed(a.ctx, benchmarks.SpeedOptions{Set: c.Set, Only: c.Only, JSON: c.JSON}, a.out)
	if errors.Is(err, benchmarks.ErrChecksum) {
		return fmt.Errorf("%w: %w", errCheckFailed, err)
	}
	return err
}

type benchGenerateCommand struct {
	Size string `arg:"" help:"tiny, small, medium, large or a number of nodes."`
	Dir  string `arg:"" help:"Folder to write to; it is made if missing." type:"path"`
	Seed uint32 `help:"Seed; the published checksums hold for the default." default:"20261130"`
}

// Help is shown by --help.
func (benchGenerateCommand) Help() string {
	return `Five edges a node. The same size and seed give the same bytes.

Examples:
  engramd bench generate small ./small
  engramd bench generate 5000 ./mine --seed 7`
}

func (c *benchGenerateCommand) Run(*app) error {
	err := benchmarks.Generate(c.Dir, c.Size, c.Seed)
	if errors.Is(err, benchmarks.ErrSize) {
		return &usageError{err}
	}
	return err
}
