package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Link is one line of a links file: an edge between two memories.
type Link struct {
	A      string   `json:"a"`
	B      string   `json:"b"`
	Type   string   `json:"type"`
	Weight *float64 `json:"weight"`

	line int
}

var linkFields = []string{"a", "b", "type", "weight"}

// Links imports edges between memories, one JSON object a line. The type is
// written in capitals with underscores: "cited by" becomes CITED_BY. Weights
// above 1 are scaled by the largest of the file's own, so that they lie in 0
// to 1. A link to a memory that is not there is left out and reported. Nothing
// is written before the whole file was understood.
func Links(ctx context.Context, to Target, from io.Reader, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	links, largest, err := readLinks(from)
	if err != nil {
		return Report{}, err
	}
	w := &linkWriter{ctx: ctx, to: to, opts: opts}
	if links, err = w.present(links); err != nil {
		return w.report, err
	}
	byType := map[string][]any{}
	var order []string
	for _, l := range links {
		t := relationType(l.Type)
		if byType[t] == nil {
			order = append(order, t)
		}
		row := map[string]any{"from": l.A, "to": l.B, "weight": 1.0}
		if l.Weight != nil {
			row["weight"] = *l.Weight / largest
		}
		byType[t] = append(byType[t], row)
	}
	for _, t := range order {
		if err := w.write(t, byType[t]); err != nil {
			return w.report, err
		}
	}
	return w.report, nil
}

// readLinks returns the links of a file and its largest weight, 1 if that is
// less.
func readLinks(from io.Reader) (links []Link, largest float64, err error) {
	largest = 1
	err = eachLine(from, func(line int, text []byte, _ int64) error {
		l := Link{line: line}
		if err := decodeLine(text, &l, "link", linkFields); err != nil {
			return &LineError{line, err}
		}
		if l.A == "" || l.B == "" {
			return &LineError{line, errors.New("a link needs a and b, the ids of two memories")}
		}
		if l.Weight != nil {
			if *l.Weight < 0 {
				return &LineError{line, fmt.Errorf("the weight is %v, want 0 or more", *l.Weight)}
			}
			largest = max(largest, *l.Weight)
		}
		links = append(links, l)
		return nil
	})
	return links, largest, err
}

type linkWriter struct {
	ctx    context.Context //nolint:containedctx // of one import
	to     Target
	opts   Options
	report Report
}

// present leaves out the links whose ends are missing, and reports them.
func (w *linkWriter) present(links []Link) ([]Link, error) {
	var ids []string
	for _, l := range links {
		ids = append(ids, l.A, l.B)
	}
	missing, err := missingIDs(w.ctx, w.to, ids)
	if err != nil || len(missing) == 0 {
		return links, err
	}
	kept := links[:0]
	for _, l := range links {
		switch {
		case missing[l.A]:
			w.report.problem(l.line, "no memory has the id %q; the link is left out", l.A)
		case missing[l.B]:
			w.report.problem(l.line, "no memory has the id %q; the link is left out", l.B)
		default:
			kept = append(kept, l)
		}
	}
	return kept, nil
}

func (w *linkWriter) write(relType string, rows []any) error {
	text := "UNWIND $rows AS row\nMATCH (a {id: row.from}), (b {id: row.to})\nMERGE (a)-[r:" + quoteName(relType) + "]->(b)\nON CREATE SET r.weight = row.weight"
	for len(rows) > 0 {
		n := min(len(rows), w.opts.Batch)
		if w.opts.Begin != nil {
			w.opts.Begin(w.report.Lines + n)
		}
		seq, err := w.to.Write(w.ctx, []Statement{{text, map[string]any{"rows": rows[:n]}}})
		if err != nil {
			return err
		}
		rows = rows[n:]
		w.report.Lines += n
		w.report.Edges += n
		w.report.Transactions++
		if w.opts.Ack != nil {
			w.opts.Ack(seq, w.report.Lines)
		}
	}
	return nil
}

// missingIDs tells which of the ids no node has.
func missingIDs(ctx context.Context, to Target, ids []string) (map[string]bool, error) {
	const batch = 10_000
	missing, asked := map[string]bool{}, make(map[string]bool, len(ids))
	var rows []any
	ask := func() error {
		found, err := to.Read(ctx, Statement{
			"UNWIND $ids AS id OPTIONAL MATCH (n {id: id}) WITH id, n WHERE n IS NULL RETURN id", map[string]any{"ids": rows},
		})
		for _, row := range found {
			missing[row[0].AsString()] = true
		}
		rows = nil
		return err
	}
	for _, id := range ids {
		if asked[id] {
			continue
		}
		asked[id] = true
		if rows = append(rows, id); len(rows) == batch {
			if err := ask(); err != nil {
				return nil, err
			}
		}
	}
	if len(rows) == 0 {
		return missing, nil
	}
	return missing, ask()
}

// relationType writes a name as relation types are written.
func relationType(name string) string {
	t := strings.ToUpper(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), "_"))
	if t == "" {
		return "RELATED"
	}
	return t
}

// quoteName makes a name safe in EQL: identifiers can't be parameters.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
