package main

import (
	"encoding/json"
	"fmt"

	"engram"
)

type statsCommand struct {
	JSON bool `help:"Print one JSON object."`
}

// Help is shown by --help.
func (statsCommand) Help() string {
	return `Examples:
  engramd stats
  engramd stats --json`
}

func (c *statsCommand) Run(a *app) error {
	return a.withDatabase(reading, func(db database) error {
		if c.JSON {
			return statsJSON(a, db)
		}
		return printStats(a, db)
	})
}

// count is a name and how often it is used.
type count struct {
	Name  string `json:"name"`
	Count int64  `json:"count"`
}

func statsJSON(a *app, db database) error {
	s, err := db.Stats(a.ctx)
	if err != nil {
		return err
	}
	counts := func(list []engram.NamedCount) []count {
		out := []count{}
		for _, c := range list {
			out = append(out, count{c.Name, c.Count})
		}
		return out
	}
	return printObject(a, struct {
		Namespace   string   `json:"namespace"`
		Transaction uint64   `json:"transaction"`
		Nodes       int64    `json:"nodes"`
		Edges       int64    `json:"edges"`
		Keys        int64    `json:"property_names"`
		Labels      []count  `json:"labels"`
		Types       []count  `json:"relation_types"`
		FileBytes   int64    `json:"file_bytes"`
		UsedBytes   int64    `json:"used_bytes"`
		Notes       []string `json:"notes"`
	}{
		a.namespace, s.Seq, s.Nodes, s.Edges, int64(s.Keys), counts(s.Labels), counts(s.Types),
		s.Store.FileBytes, s.Store.UsedBytes, append([]string{}, s.Notes...), // [] and not null
	})
}

func printObject(a *app, object any) error {
	text, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		return err
	}
	a.printf("%s\n", text)
	return nil
}

type checkCommand struct {
	JSON   bool `help:"Print one JSON object."`
	Repair bool `help:"First make anew what is derived from the records: the copy of the topology, the text index, the declared indexes."`
}

// Help is shown by --help.
func (checkCommand) Help() string {
	return `Reads everything: the store's pages, every record's checksum, ids, indexes, edges and their ends,
counters, the copy of the topology and the text index. Changes nothing. Exits with 5 when something is
wrong, and names it; a text index of another version, which is going to be made anew, is only noted. With --repair what is derived from the records is made anew before; the old files are
kept beside as *.damaged. Records are never changed: damaged ones need a backup.

Examples:
  engramd check
  engramd check --repair
  engramd --data ./backup check --json`
}

func (c *checkCommand) Run(a *app) error {
	check := func(db *engram.DB) error {
		if err := c.notes(a, db); err != nil {
			return err
		}
		report, err := db.Check(a.ctx)
		if err != nil {
			return err
		}
		if c.JSON {
			err = checkJSON(a, report)
		} else {
			a.printf("%s\n", report)
		}
		if err == nil && !report.OK() {
			return errCheckFailed
		}
		return err
	}
	if c.Repair {
		return a.withRebuilt(check)
	}
	return a.withNamespace(reading, check)
}

// notes prints what was repaired, unless the report is for a program.
func (c *checkCommand) notes(a *app, db *engram.DB) error {
	if !c.Repair || c.JSON {
		return nil
	}
	s, err := db.Stats(a.ctx)
	for _, note := range s.Notes {
		a.printf("%s\n", note)
	}
	return err
}

func checkJSON(a *app, r *engram.Report) error {
	problems := append([]string{}, r.Problems...) // [] and not null
	return printObject(a, struct {
		OK          bool     `json:"ok"`
		Transaction uint64   `json:"transaction"`
		Records     int64    `json:"records"`
		Nodes       int64    `json:"nodes"`
		Edges       int64    `json:"edges"`
		Problems    []string `json:"problems"`
		More        int64    `json:"more_problems"`
		Notes       []string `json:"notes"`
	}{r.OK(), r.Seq, r.Records, r.Nodes, r.Edges, problems, r.More, append([]string{}, r.Notes...)})
}

// printStats prints what a person wants to know of a namespace.
func printStats(a *app, db database) error {
	s, err := db.Stats(a.ctx)
	if err != nil {
		return err
	}
	a.printf("namespace %s: %s, %s, %s, transaction %d\n", a.namespace, plural(s.Nodes, "node"),
		plural(s.Edges, "edge"), plural(int64(s.Keys), "name of properties"), s.Seq)
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
	a.printf("file: %s, of which %s in use\n", size(s.Store.FileBytes), size(s.Store.UsedBytes))
	for _, note := range s.Notes {
		a.printf("note: %s\n", note)
	}
	if l := s.Learning; l.Written+l.Refused+l.Lost > 0 {
		a.printf("learning: %s written, %d refused, %d lost\n", plural(int64(l.Written), "use"), l.Refused, l.Lost)
	}
	if s.Background != nil {
		a.printf("background work failed: %v\n", s.Background)
	}
	return nil
}

// size writes a number of bytes as people read it.
func size(n int64) string {
	if n < 1<<20 {
		return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}
