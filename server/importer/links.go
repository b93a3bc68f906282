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
	set, err := ReadLinks(from, opts)
	if err != nil {
		return Report{}, err
	}
	return set.Import(ctx, to, opts)
}

// LinkSet are the links of a file that was read and understood, so that they can be
// imported behind the memories that they join.
type LinkSet struct {
	links   []Link
	largest float64 // weight, 1 if all are less
	ends    map[string]bool
	report  Report
}

// ReadLinks reads a file of links. A line that cannot be understood is an error, or
// with Options.SkipBad left out and reported by Import.
func ReadLinks(from io.Reader, opts Options) (*LinkSet, error) {
	s := &LinkSet{largest: 1, ends: map[string]bool{}}
	err := eachLine(from, func(line int, text []byte, _ int64) error {
		l, err := decodeLink(text)
		if err != nil && opts.SkipBad {
			s.report.Skipped++
			s.report.problem(line, "%v; it is skipped", err)
			return nil
		}
		if err != nil {
			return &LineError{line, err}
		}
		if l.Weight != nil {
			s.largest = max(s.largest, *l.Weight)
		}
		l.line = line
		s.links = append(s.links, l)
		s.ends[l.A], s.ends[l.B] = false, false
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func decodeLink(text []byte) (Link, error) {
	var l Link
	if err := decodeLine(text, &l, "link", linkFields); err != nil {
		return l, err
	}
	if l.A == "" || l.B == "" {
		return l, errors.New("a link needs a and b, the ids of two memories")
	}
	if l.Weight != nil && *l.Weight < 0 {
		return l, fmt.Errorf("the weight is %v, want 0 or more", *l.Weight)
	}
	return l, nil
}

// Brought tells of a node that is imported before the links are. A dry run needs it:
// then the node is not there.
func (s *LinkSet) Brought(id string) {
	if _, ok := s.ends[id]; ok {
		s.ends[id] = true
	}
}

// Import imports the links, once. to may be nil in a dry run: then nothing is there.
func (s *LinkSet) Import(ctx context.Context, to Target, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	w := &linkWriter{ctx: ctx, to: to, opts: opts, report: s.report}
	w.report.DryRun = opts.DryRun
	if err := w.present(s); err != nil {
		return w.report, err
	}
	byType := map[string][]any{}
	var order []string
	for _, l := range s.links {
		t := relationType(l.Type)
		if byType[t] == nil {
			order = append(order, t)
		}
		row := map[string]any{"from": l.A, "to": l.B, "weight": 1.0}
		if l.Weight != nil {
			row["weight"] = *l.Weight / s.largest
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

type linkWriter struct {
	ctx    context.Context //nolint:containedctx // of one import
	to     Target
	opts   Options
	report Report
}

// present leaves out the links whose ends are missing, and reports them.
func (w *linkWriter) present(s *LinkSet) error {
	var ids []string
	missing := map[string]bool{}
	for _, l := range s.links {
		for _, id := range []string{l.A, l.B} {
			if s.ends[id] && w.opts.DryRun {
				continue
			}
			ids, missing[id] = append(ids, id), w.to == nil
		}
	}
	if w.to != nil {
		var err error
		if missing, err = missingIDs(w.ctx, w.to, ids); err != nil {
			return err
		}
	}
	kept := s.links[:0]
	for _, l := range s.links {
		switch {
		case missing[l.A]:
			w.report.problem(l.line, "no memory has the id %q; the link is left out", l.A)
		case missing[l.B]:
			w.report.problem(l.line, "no memory has the id %q; the link is left out", l.B)
		default:
			kept = append(kept, l)
		}
	}
	s.links = kept
	return nil
}

func (w *linkWriter) write(relType string, rows []any) error {
	text := "UNWIND $rows AS row\nMATCH (a {id: row.from}), (b {id: row.to})\nMERGE (a)-[r:" + quoteName(relType) + "]->(b)\nON CREATE SET r.weight = row.weight"
	there := map[[2]string]bool{}
	for len(rows) > 0 {
		n := min(len(rows), w.opts.Batch)
		batch := map[string]any{"rows": rows[:n]}
		if err := w.compare(relType, batch, there); err != nil {
			return err
		}
		if w.opts.Begin != nil && !w.opts.DryRun {
			w.opts.Begin(w.report.Lines + n)
		}
		var seq uint64
		if !w.opts.DryRun {
			var err error
			if seq, err = w.to.Write(w.ctx, []Statement{{text, batch}}); err != nil {
				return err
			}
			w.report.Transactions++
		}
		rows = rows[n:]
		w.report.Lines += n
		w.report.Edges += n
		if w.opts.Ack != nil && !w.opts.DryRun {
			w.opts.Ack(seq, w.report.Lines)
		}
	}
	return nil
}

// compare counts which links of a batch are there already, and adds them all to those
// that are.
func (w *linkWriter) compare(relType string, batch map[string]any, there map[[2]string]bool) error {
	if w.to != nil {
		found, err := w.to.Read(w.ctx, Statement{
			"UNWIND $rows AS row MATCH (a {id: row.from})-[:" + quoteName(relType) + "]->(b {id: row.to}) RETURN DISTINCT row.from, row.to", batch,
		})
		if err != nil {
			return err
		}
		for _, row := range found {
			there[[2]string{row[0].AsString(), row[1].AsString()}] = true
		}
	}
	for _, r := range batch["rows"].([]any) {
		row := r.(map[string]any)
		ends := [2]string{row["from"].(string), row["to"].(string)}
		if there[ends] {
			w.report.EdgesSame++
		} else {
			w.report.EdgesCreated++
		}
		there[ends] = true
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
