package main

import (
	"context"
	"encoding/json"
	"fmt"

	"engram"
	"engram/server/idle"
)

type ponderCommand struct {
	JSON bool `help:"Print the report as one JSON object." name:"json"`
}

// Help is shown by --help.
func (ponderCommand) Help() string {
	return `Looks at memories that are rare, unfinished or recent, and proposes links between those that are alike, and questions about what
contradicts itself, waits or is in doubt. It changes nothing: carry out what you like. A server does this by itself with
engramd serve --heartbeat, and tells it at GET /v1/idle.

Examples:
  engramd ponder
  engramd ponder --json
  engramd serve --heartbeat 15m`
}

// Run thinks once.
func (c *ponderCommand) Run(a *app) error {
	var report *idle.Report
	err := a.withDatabase(reading, func(db database) error {
		var err error
		report, err = idle.New(nil).Beat(a.ctx, onlyAsked{db})
		return err
	})
	if err != nil {
		return err
	}
	for _, g := range report.Gauges {
		if g.Failed > 0 {
			return fmt.Errorf("looking for %s ended with %s: try again when less is going on", g.Producer, g.LastError)
		}
	}
	if c.JSON {
		e := json.NewEncoder(a.out)
		e.SetEscapeHTML(false)
		return e.Encode(report)
	}
	if len(report.Findings) == 0 {
		a.printf("Nothing to propose.\n")
		return nil
	}
	for _, f := range report.Findings {
		a.printf("%s: %s\n", f.Kind, f.Text)
		for _, id := range f.Nodes {
			a.printf("  %s\n", id)
		}
	}
	return nil
}

// onlyAsked is a database whose learning queue is its owner's to write.
type onlyAsked struct{ database }

// DrainLearning does nothing: this process has learned nothing.
func (onlyAsked) DrainLearning(context.Context) error { return nil }

// Query runs a statement.
func (d onlyAsked) Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	return d.database.Query(ctx, text, params)
}
