package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"engram"
)

// Graph imports a CSV file of nodes and, unless edges is nil, one of edges. Into
// an empty database it loads in bulk; otherwise nodes are merged by id and edges
// by ends and type.
func Graph(ctx context.Context, db *engram.DB, nodes, edges io.ReadSeeker, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	nodeTable, err := openTable(nodes, nodeRoles, "id")
	if err != nil {
		return Report{}, fmt.Errorf("nodes: %w", err)
	}
	var edgeTable *table
	if edges != nil {
		if edgeTable, err = openTable(edges, edgeRoles, "src", "dst", "type"); err != nil {
			return Report{}, fmt.Errorf("edges: %w", err)
		}
	}
	stats, err := db.Stats(ctx)
	if err != nil {
		return Report{}, err
	}
	if stats.Nodes == 0 {
		return bulkLoad(ctx, db, nodeTable, edgeTable, opts)
	}
	return mergeGraph(ctx, Into(db), nodeTable, edgeTable, opts)
}

// splitLabels reads A, A;B or A:B.
func splitLabels(cell string) []string {
	return strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == ':' })
}

func bulkLoad(ctx context.Context, db *engram.DB, nodes, edges *table, opts Options) (Report, error) {
	load, err := db.Load(ctx)
	if err != nil {
		return Report{}, err
	}
	defer load.Abort()
	var report Report
	ids := make(map[string]engram.NodeID, nodes.rows)
	progress := func() {
		if opts.Progress != nil && report.Lines%1000 == 0 {
			opts.Progress(nodes.read() + edges.read())
		}
	}
	err = nodes.each(func(line int, roles map[string]string, props []engram.Prop) error {
		id := roles["id"]
		if id == "" {
			return &LineError{line, errors.New("the id is empty")}
		}
		if _, ok := ids[id]; ok {
			return &LineError{line, fmt.Errorf("the id %q stands twice", id)}
		}
		n, err := load.Node(splitLabels(roles["label"]), append(props, engram.Prop{Key: "id", Value: stringValue(id)}))
		if err != nil {
			return &LineError{line, err}
		}
		ids[id] = n
		report.Lines++
		report.Nodes++
		progress()
		return ctx.Err()
	})
	if err != nil {
		return report, fmt.Errorf("nodes: %w", err)
	}
	if edges != nil {
		err = edges.each(func(line int, roles map[string]string, props []engram.Prop) error {
			src, dst, err := ends(ids, roles)
			if err == nil {
				_, err = load.Edge(src, dst, roles["type"], props)
			}
			if err != nil {
				return &LineError{line, err}
			}
			report.Lines++
			report.Edges++
			progress()
			return ctx.Err()
		})
		if err != nil {
			return report, fmt.Errorf("edges: %w", err)
		}
	}
	loaded, err := load.Close()
	if err != nil {
		return report, err
	}
	report.Transactions = int(loaded.Batches)
	if opts.Ack != nil {
		opts.Ack(loaded.Seq, report.Lines)
	}
	return report, nil
}

func ends(ids map[string]engram.NodeID, roles map[string]string) (src, dst engram.NodeID, err error) {
	src, dst = ids[roles["src"]], ids[roles["dst"]]
	switch {
	case src == 0:
		err = fmt.Errorf("no node has the id %q, where the edge starts", roles["src"])
	case dst == 0:
		err = fmt.Errorf("no node has the id %q, where the edge ends", roles["dst"])
	case roles["type"] == "":
		err = errors.New("the type is empty")
	}
	return src, dst, err
}

func stringValue(s string) engram.Value {
	v, _ := engram.ValueOf(s) // a string is always a value
	return v
}

// mergeGraph merges rows in batches of the same labels or type, which can't be
// parameters.
func mergeGraph(ctx context.Context, to Target, nodes, edges *table, opts Options) (Report, error) {
	m := &merger{ctx: ctx, to: to, opts: opts}
	err := nodes.each(func(line int, roles map[string]string, props []engram.Prop) error {
		if roles["id"] == "" {
			return &LineError{line, errors.New("the id is empty")}
		}
		var labels strings.Builder
		for _, l := range splitLabels(roles["label"]) {
			labels.WriteString(":" + quoteName(l))
		}
		text := "UNWIND $rows AS row\nMERGE (n {id: row.id})\nSET n += row.props"
		if labels.Len() > 0 {
			text += ", n" + labels.String()
		}
		m.report.Nodes++
		return m.add(text, map[string]any{"id": roles["id"], "props": propMap(props)})
	})
	if err == nil {
		err = m.flush()
	}
	if err != nil {
		return m.report, fmt.Errorf("nodes: %w", err)
	}
	if edges == nil {
		return m.report, nil
	}
	err = edges.each(func(line int, roles map[string]string, props []engram.Prop) error {
		if roles["type"] == "" {
			return &LineError{line, errors.New("the type is empty")}
		}
		text := "UNWIND $rows AS row\nMATCH (a {id: row.src}), (b {id: row.dst})\nMERGE (a)-[r:" + quoteName(roles["type"]) + "]->(b)\nSET r += row.props"
		m.report.Edges++
		return m.add(text, map[string]any{"src": roles["src"], "dst": roles["dst"], "props": propMap(props)})
	})
	if err == nil {
		err = m.flush()
	}
	if err != nil {
		return m.report, fmt.Errorf("edges: %w", err)
	}
	return m.report, nil
}

func propMap(props []engram.Prop) map[string]any {
	out := make(map[string]any, len(props))
	for _, p := range props {
		out[p.Key] = p.Value
	}
	return out
}

// merger gathers rows by statement and writes a batch as one transaction.
type merger struct {
	ctx    context.Context
	to     Target
	opts   Options
	report Report
	rows   int
	texts  []string
	byText map[string][]any
}

func (m *merger) add(text string, row map[string]any) error {
	if m.byText == nil {
		m.byText = map[string][]any{}
	}
	if _, ok := m.byText[text]; !ok {
		m.texts = append(m.texts, text)
	}
	m.byText[text] = append(m.byText[text], row)
	m.report.Lines++
	if m.rows++; m.rows < m.opts.Batch {
		return nil
	}
	return m.flush()
}

func (m *merger) flush() error {
	if m.rows == 0 {
		return nil
	}
	var statements []Statement
	for _, t := range m.texts {
		statements = append(statements, Statement{t, map[string]any{"rows": m.byText[t]}})
	}
	if m.opts.Begin != nil {
		m.opts.Begin(m.report.Lines)
	}
	seq, err := m.to.Write(m.ctx, statements)
	if err != nil {
		return err
	}
	m.report.Transactions++
	m.rows, m.texts, m.byText = 0, nil, nil
	if m.opts.Ack != nil {
		m.opts.Ack(seq, m.report.Lines)
	}
	return nil
}
