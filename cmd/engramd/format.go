package main

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode"

	"engram"
)

// rowFormat is a way of printing rows.
type rowFormat string

const (
	formatTable rowFormat = "table"
	formatJSON  rowFormat = "json"
	formatCSV   rowFormat = "csv"
)

// printResult prints rows, what was changed, and a plan if there is one.
func printResult(w io.Writer, res *engram.Result, format rowFormat) error {
	if res.Plan != nil {
		plan := res.Plan.String()
		if format == formatTable {
			plan = printable(plan)
		}
		if err := printPlan(w, plan, format); err != nil || len(res.Rows) == 0 {
			return err // EXPLAIN has no rows
		}
	}
	if format != formatTable {
		return printEach(w, res.Columns, held(res.Rows), format)
	}
	printTable(w, res)
	return nil
}

// querier runs statements: a database or a session.
type querier interface {
	Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
	Rows(ctx context.Context, text string, params map[string]any) (rows, error)
}

// printQuery runs a statement and prints its answer: a table, whose columns are as
// wide as their widest row, from memory, the other formats row by row.
func printQuery(ctx context.Context, w io.Writer, q querier, text string, params map[string]any, format rowFormat) error {
	if format == formatTable {
		res, err := q.Query(ctx, text, params)
		if err != nil {
			return err
		}
		if firstWord(text) == "RECALL" {
			res = recalled(res)
		}
		return printResult(w, res, format)
	}
	rows, err := q.Rows(ctx, text, params)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // a reading error has been told by All
	if plan := rows.Result().Plan; plan != nil {
		if err := printPlan(w, plan.String(), format); err != nil || rows.Count() == 0 {
			return err
		}
	}
	return printEach(w, rows.Columns(), rows.All(), format)
}

// rowSeq yields rows and what ends them early.
type rowSeq = iter.Seq2[[]engram.Value, error]

// held yields rows that are in memory.
func held(rows [][]engram.Value) rowSeq {
	return func(yield func([]engram.Value, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
}

// printEach prints rows one after the other.
func printEach(w io.Writer, columns []string, rows rowSeq, format rowFormat) error {
	buf := bufio.NewWriter(w)
	var err error
	if format == formatJSON {
		err = printJSON(buf, columns, rows)
	} else {
		err = printCSV(buf, columns, rows)
	}
	if err != nil {
		_ = buf.Flush() // the first error is the one to tell
		return err
	}
	return buf.Flush()
}

// printPlan prints a plan as text, or as an object of its own.
func printPlan(w io.Writer, plan string, format rowFormat) error {
	if format == formatJSON {
		text, err := json.Marshal(map[string]string{"plan": plan})
		if err != nil {
			return err
		}
		plan = string(text) + "\n"
	}
	_, err := io.WriteString(w, plan)
	return err
}

// printable spells what would steer a terminal instead of being seen, such as
// an escape sequence or a change of the direction of writing, as \uXXXX: what is stored
// may come from anybody.
func printable(s string) string {
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r)
}

// cell is a value as a person reads it: text, dates and times without quotes.
func cell(v engram.Value) string {
	switch v.Kind() {
	case engram.KindString:
		return v.AsString()
	case engram.KindDate, engram.KindTime, engram.KindLocalTime, engram.KindDateTime, engram.KindLocalDateTime, engram.KindDuration:
		return strings.Trim(v.String(), "'")
	}
	return v.String()
}

func summary(res *engram.Result) string {
	var parts []string
	if len(res.Columns) > 0 {
		parts = append(parts, plural(int64(len(res.Rows)), "row"))
	}
	c := res.Counters
	for _, n := range []struct {
		n    int64
		what string
	}{
		{c.NodesCreated, "node created"},
		{c.NodesDeleted, "node deleted"},
		{c.EdgesCreated, "edge created"},
		{c.EdgesDeleted, "edge deleted"},
		{c.PropertiesSet, "property set"},
		{c.PropertiesRemoved, "property removed"},
		{c.LabelsAdded, "label added"},
		{c.LabelsRemoved, "label removed"},
		{c.IndexesAdded, "index added"},
		{c.IndexesRemoved, "index removed"},
		{c.ConstraintsAdded, "constraint added"},
		{c.ConstraintsRemoved, "constraint removed"},
		{c.VocabularyChanges, "vocabulary change"},
	} {
		if n.n > 0 {
			parts = append(parts, plural(n.n, n.what))
		}
	}
	if len(parts) == 0 {
		return "nothing changed"
	}
	return strings.Join(parts, ", ")
}

// plural puts a count before a phrase and its first word in the plural.
func plural(n int64, phrase string) string {
	if n == 1 {
		return "1 " + phrase
	}
	word, rest, _ := strings.Cut(phrase, " ")
	if stem, ok := strings.CutSuffix(word, "y"); ok {
		word = stem + "ies"
	} else {
		word += "s"
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", n, word, rest))
}

func printJSON(w io.Writer, columns []string, rows rowSeq) error {
	keys := make([][]byte, len(columns))
	for i, c := range columns {
		key, err := json.Marshal(c)
		if err != nil {
			return err
		}
		keys[i] = append(key, ':')
	}
	var line []byte
	for row, err := range rows {
		if err != nil {
			return err
		}
		line = append(line[:0], '{')
		for i, v := range row {
			if i > 0 {
				line = append(line, ',')
			}
			line = v.AppendJSON(append(line, keys[i]...))
		}
		if _, err := w.Write(append(line, "}\n"...)); err != nil {
			return err
		}
	}
	return nil
}

func printCSV(w io.Writer, columns []string, rows rowSeq) error {
	if len(columns) == 0 {
		return nil // not even a header
	}
	out := csv.NewWriter(w)
	if err := out.Write(columns); err != nil {
		return err
	}
	cells := make([]string, len(columns))
	for row, err := range rows {
		if err != nil {
			return err
		}
		for i, v := range row {
			cells[i] = ""
			if !v.IsNull() {
				cells[i] = cell(v)
			}
		}
		if err := out.Write(cells); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}
