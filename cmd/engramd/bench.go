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
	Set     []string `help:"A folder with memories.jsonl, questions.jsonl and optionally links.jsonl. Repeatable." required:"" type:"existingdir" placeholder:"DIR"`
	Legs    []string `help:"Legs of recall to use: lexical, associative. Default all." enum:"lexical,associative" placeholder:"LEG"`
	NoTimes bool     `help:"Leave out latencies, so that two runs print the same bytes."`
	JSON    bool     `help:"Print one JSON object a line."`
}

func (c *benchRecallCommand) Run(a *app) error {
	return benchmarks.Recall(a.ctx, benchmarks.RecallOptions{Sets: c.Set, Legs: c.Legs, NoTimes: c.NoTimes, JSON: c.JSON}, a.out)
}

type benchSpeedCommand struct {
	Set  string   `help:"A folder made by engramd bench generate." required:"" type:"existingdir" placeholder:"DIR"`
	Only []string `help:"Metrics to run, such as point,hop2." placeholder:"METRIC"`
	JSON bool     `help:"Print one JSON object a line."`
}

func (c *benchSpeedCommand) Run(a *app) error {
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

func (c *benchGenerateCommand) Run(*app) error { return benchmarks.Generate(c.Dir, c.Size, c.Seed) }
