package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"engram"
)

// outputFlags choose how rows are printed.
type outputFlags struct {
	JSON   bool   `help:"Print one JSON object a row (the same as --format json)."`
	Format string `help:"How to print rows: table (the default), json or csv." placeholder:"FORMAT" complete:"table,json,csv"`
}

// Validate is called by the parser.
func (f outputFlags) Validate() error {
	switch rowFormat(f.Format) {
	case "", formatTable, formatJSON, formatCSV:
	default:
		return fmt.Errorf("--format %s: want table, json or csv", f.Format)
	}
	if f.JSON && f.Format != "" && f.Format != string(formatJSON) {
		return fmt.Errorf("--json and --format %s contradict each other", f.Format)
	}
	return nil
}

func (f outputFlags) format() rowFormat {
	switch {
	case f.JSON:
		return formatJSON
	case f.Format == "":
		return formatTable
	}
	return rowFormat(f.Format)
}

type queryCommand struct {
	Statement string   `arg:"" help:"The statement, such as 'MATCH (n) RETURN count(n)'."`
	Param     []string `help:"A parameter: name=JSON, or name=text when it is no JSON. Repeatable." short:"p" placeholder:"NAME=VALUE" sep:"none"`
	ReadOnly  bool     `help:"Refuse a statement that writes."`
	outputFlags
}

// Help is shown by --help.
func (queryCommand) Help() string {
	return `Examples:
  engramd query 'MATCH (m:Memory) RETURN m.content LIMIT 5'
  engramd query 'MATCH (p {id: $id})-->(q) RETURN q' -p id=ann --json`
}

func (c *queryCommand) Run(a *app) error {
	params, err := parseParams(c.Param)
	if err != nil {
		return err
	}
	writes, err := engram.Writes(c.Statement)
	if err != nil {
		return err
	}
	if writes && c.ReadOnly {
		return &usageError{fmt.Errorf("the statement writes, and --read-only was given")}
	}
	return a.withDatabase(access(writes), func(db database) error {
		return printQuery(a.ctx, a.out, db, c.Statement, params, c.format())
	})
}

// parseParams reads name=value; a value that is no JSON is text.
func parseParams(list []string) (map[string]any, error) {
	params := map[string]any{}
	for _, p := range list {
		name, text, ok := strings.Cut(p, "=")
		if !ok || name == "" {
			return nil, &usageError{fmt.Errorf("parameter %q: want name=value", p)}
		}
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var v any
		if err := d.Decode(&v); err != nil || d.More() {
			v = text
		}
		name = strings.TrimPrefix(name, "$")
		if _, ok := params[name]; ok {
			return nil, &usageError{fmt.Errorf("parameter %q is given twice", name)}
		}
		params[name] = v
	}
	return params, nil
}
