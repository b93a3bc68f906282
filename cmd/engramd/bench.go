package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"engram"
	"engram/benchmarks"
)

type benchCommand struct {
	Recall   benchRecallCommand   `cmd:"" help:"How well recall finds evidence: recall@5, recall@10, hit@5, precision@5, MRR."`
	Speed    benchSpeedCommand    `cmd:"" help:"How fast statements run, with the results checked."`
	Serve    benchServeCommand    `cmd:"" help:"What a server takes for a request, under load from many clients."`
	Generate benchGenerateCommand `cmd:"" help:"Write the graph that bench speed and bench serve run on, or what to try imports with."`
}

type benchRecallCommand struct {
	Set       []string `help:"A folder with memories.jsonl, questions.jsonl and optionally links.jsonl. Repeatable." sep:"none" placeholder:"DIR"`
	Legs      []string `help:"Legs of recall to use: lexical, semantic, associative. Default all." enum:"lexical,semantic,associative" placeholder:"LEG"`
	Off       []string `help:"Rules of recall to switch off; --ablation lists them." placeholder:"RULE"`
	NoTimes   bool     `help:"Leave out latencies, so that two runs print the same bytes."`
	JSON      bool     `help:"Print one JSON object a line."`
	Crowd     int      `help:"Ask in one namespace of at least N memories: all conversations, and copies of them with words exchanged." placeholder:"N"`
	Save      string   `help:"Write what came of each question to a file, for --compare." placeholder:"FILE"`
	Compare   bool     `help:"Compare two saved files or configurations, A and B, question by question."`
	Ablation  bool     `help:"Switch every leg and rule off, one at a time, and show what that does."`
	BuildGold string   `help:"Make a set of questions of the namespace in --data and write it to DIR." placeholder:"DIR"`
	Each      int      `help:"With --build-gold: at most N questions of a category." default:"50" placeholder:"N"`
	Seed      uint64   `help:"With --build-gold: starts the choice of memories." default:"1" placeholder:"N"`
	A         string   `arg:"" optional:"" help:"With --compare: a saved file, or all, legs=NAME+NAME, off=NAME+NAME."`
	B         string   `arg:"" optional:"" help:"With --compare: the other one."`
}

// Help is shown by --help.
func (benchRecallCommand) Help() string {
	return `Imports every conversation of the set into a namespace of its own, in a temporary directory, asks
the questions of the set with RECALL, and tells how much of the evidence was among the first 5 and 10.

--compare prints the questions that only one side finds, McNemar's exact p, and the smallest difference that
could show. --build-gold asks for rare words, phrases, synonyms, neighbours and what was superseded, and for
nonsense, and tells with each question how it was derived; it works on a copy.

--crowd asks among many: the copies have the frequencies, lengths and structure of the set and none of the
evidence, so that times are those of a large namespace.

Examples:
  engramd bench recall --set ./locomo
  engramd bench recall --set ./locomo --set ./2wiki --legs lexical --no-times --json
  engramd bench recall --set ./locomo --save before.jsonl
  engramd bench recall --compare before.jsonl after.jsonl
  engramd bench recall --set ./locomo --compare all off=speaker
  engramd bench recall --set ./locomo --ablation
  engramd bench recall --set ./locomo --crowd 100000
  engramd bench recall --build-gold ./mine`
}

func (c *benchRecallCommand) Run(a *app) error {
	modes := 0
	for _, on := range []bool{c.Compare, c.Ablation, c.BuildGold != "", c.Save != ""} {
		if on {
			modes++
		}
	}
	switch {
	case modes > 1:
		return &usageError{errors.New("--save, --compare, --ablation and --build-gold go alone")}
	case c.Compare != (c.B != "") || !c.Compare && c.A != "":
		return &usageError{errors.New("--compare wants two files or configurations behind it, and nothing else takes any")}
	case c.BuildGold != "" && len(c.Set) > 0:
		return &usageError{errors.New("--build-gold makes a set of the namespace in --data; it takes no --set")}
	case c.BuildGold == "" && !c.Compare && len(c.Set) == 0:
		return &usageError{errors.New("name a set with --set DIR")}
	case c.Compare && len(c.Legs)+len(c.Off) > 0:
		return &usageError{errors.New("--compare takes legs and rules in its configurations: legs=NAME,off=NAME")}
	case c.Crowd < 0:
		return &usageError{errors.New("--crowd wants a number of memories")}
	case c.Each < 1:
		return &usageError{errors.New("--each wants 1 or more")}
	}
	for _, set := range c.Set {
		if err := existingDir(set); err != nil {
			return err
		}
	}
	opts := benchmarks.RecallOptions{Sets: c.Set, Legs: c.Legs, Off: c.Off, NoTimes: c.NoTimes, JSON: c.JSON, Save: c.Save, Crowd: c.Crowd}
	switch {
	case c.Compare:
		return benchmarks.Compare(a.ctx, c.A, c.B, opts, a.out)
	case c.Ablation:
		return benchmarks.Ablation(a.ctx, opts, a.out)
	case c.BuildGold != "":
		return a.withNamespace(reading, func(db *engram.DB) error {
			return benchmarks.BuildGold(a.ctx, db, benchmarks.GoldOptions{Dir: c.BuildGold, Each: c.Each, Seed: c.Seed}, a.out)
		})
	}
	return benchmarks.Recall(a.ctx, opts, a.out)
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

type benchServeCommand struct {
	Set      string `help:"A folder made by engramd bench generate." required:"" placeholder:"DIR"`
	Clients  int    `help:"Clients that ask at a time, by default ${default}." default:"32" placeholder:"N"`
	Requests int    `help:"Requests that are measured, by default ${default}." default:"10000" placeholder:"N"`
	Sockets  int    `help:"Websockets that are open and idle first, by default ${default}." default:"0" placeholder:"N"`
	JSON     bool   `help:"Print one JSON object a line."`
}

// Help is shown by --help.
func (benchServeCommand) Help() string {
	return `Loads the set into a temporary directory, starts a server on it as a process of its own, and asks it to
recall two words, by HTTP. Times are the clients'; CPU, allocations and memory are the server's, as its
/metrics tells them. With --sockets, idle websockets are opened first, and their share of its memory is told.

Examples:
  engramd bench serve --set ./medium
  engramd bench serve --set ./medium --clients 1 --requests 2000 --sockets 2000 --json`
}

func (c *benchServeCommand) Run(a *app) error {
	if c.Clients < 1 || c.Requests < 1 || c.Sockets < 0 {
		return &usageError{errors.New("--clients and --requests want 1 or more, --sockets 0 or more")}
	}
	if err := existingDir(c.Set); err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	return benchmarks.Serve(a.ctx, benchmarks.ServeOptions{Set: c.Set, Program: program, Clients: c.Clients, Requests: c.Requests, Sockets: c.Sockets, JSON: c.JSON}, a.out)
}

type benchGenerateCommand struct {
	Size string `arg:"" help:"Of a graph tiny, small, medium, large or a number of nodes; of a chat the MB; otherwise a number of notes or memories."`
	Dir  string `arg:"" help:"Folder to write to; it is made if missing." type:"path"`
	Kind string `help:"What to write: ${enum}. A graph is for bench speed, all are for trying imports." enum:"graph,chat,markdown,memories" default:"graph"`
	Seed uint32 `help:"Seed; the published checksums hold for the default." default:"20261130"`
}

// Help is shown by --help.
func (benchGenerateCommand) Help() string {
	return `A graph has five edges a node. The same size and seed give the same bytes.

Examples:
  engramd bench generate small ./small
  engramd bench generate 500 ./chat --kind chat
  engramd bench generate 100000 ./vault --kind markdown
  engramd bench generate 5000 ./mine --seed 7`
}

func (c *benchGenerateCommand) Run(a *app) error {
	if c.Kind != "graph" {
		return c.input(a)
	}
	err := benchmarks.Generate(c.Dir, c.Size, c.Seed)
	if errors.Is(err, benchmarks.ErrSize) {
		return &usageError{err}
	}
	return err
}

// input writes something to import, and tells what is in it.
func (c *benchGenerateCommand) input(a *app) error {
	size, err := strconv.Atoi(c.Size)
	if err != nil || size < 1 {
		return &usageError{fmt.Errorf("size %q: with --kind %s want a number from 1", c.Size, c.Kind)}
	}
	counts, err := benchmarks.GenerateInput(c.Dir, c.Kind, size, uint64(c.Seed))
	if err != nil {
		return err
	}
	a.printf("%d bytes in %s: %s, %s, %s\n", counts.Bytes, plural(int64(counts.Files), "file"),
		plural(int64(counts.Conversations), "conversation"), fmt.Sprintf("%d memories", counts.Memories), plural(int64(counts.Links), "link"))
	return nil
}
