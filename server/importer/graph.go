package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"engram"
)

// Graph imports a CSV file of nodes and, unless edges is nil, one of edges. Into
// an empty database it loads in bulk, and goes on where an interrupted import of
// the same files ended; otherwise nodes are merged by id and edges by ends and
// type. Both files are verified before anything is written. An edge that repeats
// an earlier one's ends and type is left out and reported.
//
// It keeps about 30 bytes in memory for each node and 8 for each edge.
func Graph(ctx context.Context, db *engram.DB, nodes, edges io.ReadSeeker, opts Options) (Report, error) {
	return GraphLater(ctx, func() (*engram.DB, error) { return db, nil }, false, nodes, edges, opts)
}

// GraphLater is Graph into a database that is opened once the files have been read
// and found good by themselves. missing tells that opening makes it: then nothing is
// made for files that are refused.
func GraphLater(ctx context.Context, open func() (*engram.DB, error), missing bool, nodes, edges io.ReadSeeker, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	g := &graphImport{ctx: ctx, opts: opts, batch: opts.chosen, types: map[string]uint16{}}
	if err := g.verify(nodes, edges); err != nil {
		return Report{}, err
	}
	if missing {
		if err := g.verifyEnds(nil, true); err != nil {
			return Report{}, err
		}
	}
	if missing && opts.DryRun {
		return g.report, g.count()
	}
	db, err := open()
	if err != nil {
		return Report{}, err
	}
	stats, err := db.Stats(ctx)
	if err != nil {
		return Report{}, err
	}
	unfinished, err := db.UnfinishedLoad()
	if err != nil {
		return Report{}, err
	}
	if unfinished != nil && opts.Restart && !opts.DryRun {
		if err := db.GiveUpLoad(ctx); err != nil {
			return Report{}, err
		}
		unfinished = nil
	}
	to := Into(db)
	bulk := stats.Nodes == 0 || unfinished != nil
	if err := g.verifyEnds(to, bulk); err != nil {
		return Report{}, err
	}
	if opts.DryRun {
		return g.report, g.count()
	}
	if bulk {
		err = g.load(db)
	} else {
		err = g.merge(to)
	}
	return g.report, err
}

// count reads the files again for what is told about their lines.
func (g *graphImport) count() error {
	err := g.nodes.each(g.report.problem, func(int, map[string]string, []engram.Prop) error {
		g.report.Nodes++
		g.report.Lines++
		return g.ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	return g.eachEdge(func(int, map[string]string, []engram.Prop) error {
		g.report.Edges++
		g.report.Lines++
		return g.ctx.Err()
	})
}

// graphImport is one import of a graph.
type graphImport struct {
	ctx          context.Context //nolint:containedctx // of one import
	opts         Options
	batch        int    // as it was given, 0 if it was not
	nodes, edges *table // edges nil if there are none
	report       Report

	ids     idTable // numbers of the file's nodes, then those of other ends
	others  []other // the other ends
	types   map[string]uint16
	repeats repeats
}

// other is an end of an edge that the file of nodes does not hold.
type other struct {
	id   string
	line int // of the first edge that names it
}

// verify reads both files once.
func (g *graphImport) verify(nodes, edges io.ReadSeeker) (err error) {
	g.nodes, err = openTable(nodes, nodeRoles, []string{"id"}, func(_ int, roles map[string]string) error {
		id := roles["id"]
		if id == "" {
			return errors.New("the id is empty")
		}
		if _, added := g.ids.add(id); !added {
			return fmt.Errorf("the id %q stands twice", id)
		}
		return g.ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	if edges == nil {
		return nil
	}
	g.edges, err = openTable(edges, edgeRoles, []string{"src", "dst", "type"}, func(line int, roles map[string]string) error {
		_, ok := g.types[roles["type"]]
		switch {
		case roles["src"] == "" || roles["dst"] == "":
			return errors.New("an end of the edge is empty")
		case roles["type"] == "":
			return errors.New("the type is empty")
		case !ok && len(g.types) > math.MaxUint16:
			return fmt.Errorf("the file has more than %d types of edges", len(g.types))
		case !ok:
			g.types[strings.Clone(roles["type"])] = uint16(len(g.types))
		}
		g.end(roles["src"], line)
		g.end(roles["dst"], line)
		g.repeats.note(g.link(roles))
		return g.ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	g.repeats.settle()
	return nil
}

// link makes the numbers of an edge, whose ends and type are known.
func (g *graphImport) link(roles map[string]string) link {
	src, _ := g.ids.get(roles["src"])
	dst, _ := g.ids.get(roles["dst"])
	return link{src, dst, g.types[roles["type"]]}
}

// end numbers an edge's end.
func (g *graphImport) end(id string, line int) {
	if _, added := g.ids.add(id); added {
		g.others = append(g.others, other{strings.Clone(id), line})
	}
}

// verifyEnds finds edges that hang on nothing.
func (g *graphImport) verifyEnds(to Target, empty bool) error {
	ids := make([]string, len(g.others))
	for i, o := range g.others {
		ids[i] = o.id
	}
	var missing map[string]bool
	if !empty {
		var err error
		if missing, err = missingIDs(g.ctx, to, ids); err != nil {
			return err
		}
	}
	for _, o := range g.others {
		if empty || missing[o.id] {
			return fmt.Errorf("edges: %w", &LineError{o.line, fmt.Errorf("no node has the id %q", o.id)})
		}
	}
	return nil
}

// splitLabels reads A, A;B or A:B.
func splitLabels(cell string) []string {
	return strings.FieldsFunc(cell, func(r rune) bool { return r == ';' || r == ':' })
}

func (g *graphImport) progress() {
	if g.opts.Progress != nil && g.report.Lines%1000 == 0 {
		g.opts.Progress(g.nodes.read() + g.edges.read())
	}
}

// load fills an empty database in bulk, behind what an interrupted import of the
// same files left.
func (g *graphImport) load(db *engram.DB) error {
	load, err := db.LoadFrom(g.ctx, engram.LoadOptions{Source: g.fingerprint(), BatchKeys: g.batch, TextLater: g.opts.NoText})
	if err != nil {
		return err
	}
	defer load.Abort()
	l := &bulkLoad{graphImport: g, load: load}
	l.skipNodes, l.skipEdges = load.Done()
	g.report.Resumed = int(l.skipNodes + l.skipEdges)
	if err := g.nodes.each(g.report.problem, l.node); err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	if err := g.eachEdge(l.edge); err != nil {
		return err
	}
	g.ids, g.repeats = idTable{}, repeats{} // closing needs the room
	loaded, err := load.Close()
	if err != nil {
		return err
	}
	g.report.Transactions = int(loaded.Batches)
	if g.opts.Ack != nil {
		g.opts.Ack(loaded.Seq, g.report.Lines)
	}
	return nil
}

// fingerprint names the files by their content.
func (g *graphImport) fingerprint() string {
	if g.edges == nil {
		return "csv " + g.nodes.sum
	}
	return "csv " + g.nodes.sum + " " + g.edges.sum
}

// bulkLoad hands rows to a load.
type bulkLoad struct {
	*graphImport
	load                 *engram.Loader
	skipNodes, skipEdges int64
	acked                uint64
}

func (l *bulkLoad) node(line int, roles map[string]string, props []engram.Prop) error {
	if l.skipNodes > 0 {
		l.skipNodes--
		return l.done(&l.report.Nodes)
	}
	_, err := l.load.Node(splitLabels(roles["label"]), append(props, engram.Prop{Key: "id", Value: stringValue(roles["id"])}))
	if err != nil {
		return &LineError{line, err}
	}
	return l.done(&l.report.Nodes)
}

func (l *bulkLoad) edge(line int, roles map[string]string, props []engram.Prop) error {
	if l.skipEdges > 0 {
		l.skipEdges--
		return l.done(&l.report.Edges)
	}
	k := l.link(roles)
	src, err := l.load.NodeAt(int64(k.src))
	if err != nil {
		return &LineError{line, err}
	}
	dst, err := l.load.NodeAt(int64(k.dst))
	if err == nil {
		_, err = l.load.Edge(src, dst, roles["type"], props)
	}
	if err != nil {
		return &LineError{line, err}
	}
	return l.done(&l.report.Edges)
}

// done counts a row and tells of the batch that it ended.
func (l *bulkLoad) done(count *int) error {
	*count++
	l.report.Lines++
	l.progress()
	if nodes, edges, seq := l.load.Progress(); seq > l.acked {
		l.acked = seq
		l.report.Transactions++
		if l.opts.Ack != nil {
			l.opts.Ack(seq, int(nodes+edges))
		}
	}
	return l.ctx.Err()
}

// eachEdge calls fn with every edge that is no repetition.
func (g *graphImport) eachEdge(fn func(line int, roles map[string]string, props []engram.Prop) error) error {
	if g.edges == nil {
		return nil
	}
	err := g.edges.each(g.report.problem, func(line int, roles map[string]string, props []engram.Prop) error {
		if g.repeats.repeated(g.link(roles)) {
			g.report.problem(line, "an earlier line has an edge %s from %q to %q; this one is left out", roles["type"], roles["src"], roles["dst"])
			return nil
		}
		return fn(line, roles, props)
	})
	if err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	return nil
}

func stringValue(s string) engram.Value {
	v, _ := engram.ValueOf(s) // a string is always a value
	return v
}

// merge merges rows in batches of the same labels or type, which can't be
// parameters.
func (g *graphImport) merge(to Target) error {
	m := &merger{ctx: g.ctx, to: to, opts: g.opts, report: &g.report, read: func() int64 { return g.nodes.read() + g.edges.read() }}
	err := g.nodes.each(g.report.problem, func(_ int, roles map[string]string, props []engram.Prop) error {
		var labels strings.Builder
		for _, l := range splitLabels(roles["label"]) {
			labels.WriteString(":" + quoteName(l))
		}
		text := "UNWIND $rows AS row\nMERGE (n {id: row.id})\nSET n += row.props"
		if labels.Len() > 0 {
			text += ", n" + labels.String()
		}
		g.report.Nodes++
		return m.add(text, map[string]any{"id": roles["id"], "props": propMap(props)})
	})
	if err == nil {
		err = m.flush()
	}
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	err = g.eachEdge(func(_ int, roles map[string]string, props []engram.Prop) error {
		text := "UNWIND $rows AS row\nMATCH (a {id: row.src}), (b {id: row.dst})\nMERGE (a)-[r:" + quoteName(roles["type"]) + "]->(b)\nSET r += row.props"
		g.report.Edges++
		return m.add(text, map[string]any{"src": roles["src"], "dst": roles["dst"], "props": propMap(props)})
	})
	if err != nil {
		return err
	}
	if err := m.flush(); err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	return nil
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
	report *Report
	read   func() int64 // bytes so far
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
	if m.opts.Progress != nil {
		m.opts.Progress(m.read())
	}
	if m.opts.Ack != nil {
		m.opts.Ack(seq, m.report.Lines)
	}
	return nil
}
