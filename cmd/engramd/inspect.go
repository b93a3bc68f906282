package main

import (
	"encoding/json"

	"engram"
)

type statsCommand struct {
	JSON bool `help:"Print one JSON object."`
}

func (c *statsCommand) Run(a *app) error {
	return a.withNamespace(false, func(db *engram.DB) error {
		if c.JSON {
			stats, err := db.Stats(a.ctx)
			if err != nil {
				return err
			}
			text, err := json.MarshalIndent(stats, "", "  ")
			if err != nil {
				return err
			}
			a.printf("%s\n", text)
			return nil
		}
		return printStats(a, db)
	})
}

type checkCommand struct {
	JSON bool `help:"Print one JSON object."`
}

// Help is shown by --help.
func (checkCommand) Help() string {
	return `Reads everything: the store's pages, every record's checksum, ids, indexes, edges and their ends,
counters, and the text index. Exits with 5 when something is wrong, and names it.`
}

func (c *checkCommand) Run(a *app) error {
	return a.withNamespace(false, func(db *engram.DB) error {
		report, err := db.Check(a.ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			text, err := json.MarshalIndent(report, "", "  ")
			if err != nil {
				return err
			}
			a.printf("%s\n", text)
		} else {
			a.printf("%s\n", report)
		}
		if !report.OK() {
			return errCheckFailed
		}
		return nil
	})
}

// printStats prints what a person wants to know of a namespace.
func printStats(a *app, db *engram.DB) error {
	s, err := db.Stats(a.ctx)
	if err != nil {
		return err
	}
	a.printf("namespace %s: %d nodes, %d edges, %d property names, transaction %d\n", a.namespace, s.Nodes, s.Edges, s.Keys, s.Seq)
	for _, list := range []struct {
		title  string
		counts []engram.NamedCount
	}{{"labels", s.Labels}, {"relation types", s.Types}} {
		if len(list.counts) == 0 {
			continue
		}
		a.printf("%s:\n", list.title)
		for _, c := range list.counts {
			a.printf("  %-24s %d\n", c.Name, c.Count)
		}
	}
	a.printf("file: %.1f MiB, of which %.1f MiB in use\n", mebibytes(s.Store.FileBytes), mebibytes(s.Store.UsedBytes))
	if s.Background != nil {
		a.printf("background work failed: %v\n", s.Background)
	}
	return nil
}

func mebibytes(n int64) float64 { return float64(n) / (1 << 20) }
