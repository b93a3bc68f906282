package main

import (
	_ "embed"
	"fmt"
	"os"
	"strings"

	"engram"
)

// demoScript is the demo: a memory written for it, and what can be asked of it.
//
//go:embed demo.eql
var demoScript string

type demoCommand struct {
	Keep string `help:"Build the memory in this data directory, which must be new or empty, and keep it." placeholder:"DIR"`
}

// Help is shown by --help.
func (demoCommand) Help() string {
	return `Needs no network and touches nothing but its temporary directory.

Examples:
  engramd demo
  engramd demo --keep ./yard`
}

func (c *demoCommand) Run(a *app) (err error) {
	dir := c.Keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "engram-demo-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	} else if entries, err := os.ReadDir(dir); err == nil && len(entries) > 0 {
		return &usageError{fmt.Errorf("--keep %s: the directory is not empty", dir)}
	}
	demo := &app{ctx: a.ctx, in: a.in, out: a.out, err: a.err, data: dir, namespace: "default", embedding: a.embedding}
	err = demo.withNamespace(writing, func(db *engram.DB) error {
		statements, rest := engram.SplitStatements(demoScript)
		if strings.TrimSpace(rest) != "" {
			return fmt.Errorf("demo: unfinished statement %q", rest)
		}
		for _, s := range statements {
			if err := demo.show(db, s); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	a.printf("\nThat was a memory of a small boat yard. Your own:\n\n" +
		"  engramd remember \"Ann moved to Lisbon in May\"\n" +
		"  engramd recall \"where does Ann live?\"\n" +
		"  engramd import memories.jsonl\n" +
		"  engramd console\n")
	if c.Keep != "" {
		a.printf("\nIt was kept: engramd --data %s console\n", c.Keep)
	}
	return nil
}

// show prints the comment lines before a statement, the statement and its
// result.
func (a *app) show(db *engram.DB, statement string) error {
	var code []string
	for line := range strings.Lines(strings.TrimSpace(statement)) {
		line = strings.TrimRight(line, "\n")
		if comment, ok := strings.CutPrefix(line, "// "); ok && len(code) == 0 {
			a.printf("\n%s\n", comment)
			continue
		}
		code = append(code, line)
	}
	for i, line := range code {
		prompt := "  ...> "
		if i == 0 {
			prompt = "engram> "
		}
		a.printf("%s%s\n", prompt, line)
	}
	res, err := db.Query(a.ctx, statement, nil)
	if err != nil {
		return err
	}
	return printResult(a.out, res, formatTable)
}
