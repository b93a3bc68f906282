package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// Graph imports a CSV file of nodes and, unless edges is nil, one of edges. Into
// an empty database it loads in bulk, and goes on where an interrupted import of
// the same files ended; otherwise nodes are merged by id and edges by ends and
// type: a node that an import made and nobody has edited is changed, any other one
// and edges that are there are left as they are. Both files are verified before
// anything is written. An edge that repeats an earlier one's ends and type is left
// out and reported.
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
		return g.report, err
	}
	if missing {
		if err := g.verifyEnds(nil, true); err != nil {
			return g.report, err
		}
	}
	if missing && opts.DryRun {
		err = g.merge(nil)
		return g.report, err
	}
	db, err := open()
	if err != nil {
		return Report{}, err
	}
	bulk, err := emptied(ctx, db, opts)
	if err != nil {
		return Report{}, err
	}
	if err := g.verifyEnds(Into(db), bulk); err != nil {
		return Report{}, err
	}
	if bulk && !opts.DryRun {
		err = g.load(db)
	} else {
		err = g.merge(db)
	}
	return g.report, err
}

// graphImport is one import of a graph.
type graphImport struct {
	ctx          context.Context //nolint:containedctx // of one import
	opts         Options
	batch        int    // as it was given, 0 if it was not
	nodes, edges *table // edges nil if there are none
	report       Report

	ids     idTable         // numbers of the file's nodes, then those of other ends
	others  []other         // the other ends
	missing map[uint32]bool // those of them that no node has
	types   map[string]uint16
	repeats repeats
}

// other is an end of an edge that the file of nodes does not hold.
type other struct {
	id   string
	line int // of the first edge that names it
}

// badNode is told of a row of nodes that is not understood, badEdge of one of edges.
func (g *graphImport) badNode(line int, err error) error { return g.bad(origin{line: line}, err) }

func (g *graphImport) badEdge(line int, err error) error {
	return g.bad(origin{file: "edges", line: line}, err)
}

func (g *graphImport) bad(at origin, err error) error {
	if !g.opts.SkipBad {
		return &LineError{at.line, err}
	}
	g.report.Skipped++
	g.report.problemAt(at, "%v; it is skipped", err)
	return nil
}

// verify reads both files once.
func (g *graphImport) verify(nodes, edges io.ReadSeeker) (err error) {
	g.nodes, err = openTable(nodes, nodeRoles, []string{"id"}, g.badNode, func(line int, roles map[string]string) error {
		id := roles["id"]
		if id == "" {
			return &LineError{line, errors.New("the id is empty")}
		}
		if _, added := g.ids.add(id); !added {
			return &LineError{line, fmt.Errorf("the id %q stands twice", id)}
		}
		return g.ctx.Err()
	})
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	if edges == nil {
		return nil
	}
	g.edges, err = openTable(edges, edgeRoles, []string{"src", "dst", "type"}, g.badEdge, func(line int, roles map[string]string) error {
		_, ok := g.types[roles["type"]]
		switch {
		case roles["src"] == "" || roles["dst"] == "":
			return &LineError{line, errors.New("an end of the edge is empty")}
		case roles["type"] == "":
			return &LineError{line, errors.New("the type is empty")}
		case !ok && len(g.types) > math.MaxUint16:
			return fmt.Errorf("the file has more than %d types of edges", len(g.types))
		case !ok:
			g.types[strings.Clone(roles["type"])] = uint16(len(g.types))
		}
		src, dst := g.end(roles["src"], line), g.end(roles["dst"], line)
		g.repeats.note(link{src, dst, g.types[roles["type"]]})
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
func (g *graphImport) end(id string, line int) uint32 {
	n, added := g.ids.add(id)
	if added {
		g.others = append(g.others, other{strings.Clone(id), line})
	}
	return n
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
	g.missing = map[uint32]bool{}
	for _, o := range g.others {
		if !empty && !missing[o.id] {
			continue
		}
		if !g.opts.SkipBad {
			return fmt.Errorf("edges: %w", &LineError{o.line, errNoNode(o.id)})
		}
		n, _ := g.ids.get(o.id)
		g.missing[n] = true
	}
	return nil
}

func errNoNode(id string) error { return fmt.Errorf("no node has the id %q", id) }

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
	if err := g.nodes.each(&g.report, "", l.node); err != nil {
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
	n := l.graphImport.node(roles, props)
	if _, err := l.load.Node(n.Labels, n.Props); err != nil {
		return &LineError{line, err}
	}
	l.report.Created++
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
	l.report.EdgesCreated++
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
	err := g.edges.each(&g.report, "edges", func(line int, roles map[string]string, props []engram.Prop) error {
		l := g.link(roles)
		if g.missing[l.src] {
			return g.badEdge(line, errNoNode(roles["src"]))
		}
		if g.missing[l.dst] {
			return g.badEdge(line, errNoNode(roles["dst"]))
		}
		if g.repeats.repeated(l) {
			g.report.problemAt(origin{file: "edges", line: line}, "an earlier line has an edge %s from %q to %q; this one is left out", roles["type"], roles["src"], roles["dst"])
			return nil
		}
		return fn(line, roles, props)
	})
	if err != nil {
		return fmt.Errorf("edges: %w", err)
	}
	return nil
}

// merge merges rows in batches, all of them in one transaction when they are few. A
// database of nil is one that a dry run does not make.
func (g *graphImport) merge(db *engram.DB) error {
	p := &publisher{stage: &stage{ctx: g.ctx, report: &g.report, owned: true, props: true}, db: db, opts: g.opts, columns: map[string]bool{}}
	for i := range g.nodes.columns {
		p.columns[g.nodes.columns[i].name] = true
	}
	rows := g.nodes.rows
	if g.edges != nil {
		rows += g.edges.rows
	}
	if db == nil || g.opts.DryRun || rows > wholeRows || g.nodes.size+g.edges.bytes() > batchBytes || g.batch != 0 {
		return g.mergeRows(p)
	}
	err := p.transaction(func(tx *engram.Tx) error {
		p.one = tx
		defer func() { p.one = nil }()
		return g.mergeRows(p)
	})
	if err == nil && g.opts.Ack != nil {
		g.opts.Ack(p.seq, g.report.Lines)
	}
	return err
}

func (g *graphImport) mergeRows(p *publisher) error {
	flush := func(n int, nodes []row[*graphline.Node], edges []row[*graphline.Edge]) error {
		if n == 0 {
			return nil
		}
		told := p.one == nil && !g.opts.DryRun
		if told && g.opts.Begin != nil {
			g.opts.Begin(g.report.Lines)
		}
		if err := p.rows(nodes, edges); err != nil {
			return err
		}
		if g.opts.Progress != nil {
			g.opts.Progress(g.nodes.read() + g.edges.read())
		}
		if told && g.opts.Ack != nil {
			g.opts.Ack(p.seq, g.report.Lines)
		}
		return nil
	}
	nodes := &batch[*graphline.Node]{limit: g.opts.Batch, flush: func(rows []row[*graphline.Node]) error { return flush(len(rows), rows, nil) }}
	err := g.nodes.each(&g.report, "", func(line int, roles map[string]string, props []engram.Prop) error {
		g.report.Nodes++
		g.report.Lines++
		n := g.node(roles, props)
		return nodes.add(origin{line: line}, n, sizeOf(n.Props))
	})
	if err == nil {
		err = nodes.end()
	}
	if err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	edges := &batch[*graphline.Edge]{limit: g.opts.Batch, flush: func(rows []row[*graphline.Edge]) error { return flush(len(rows), nil, rows) }}
	err = g.eachEdge(func(line int, roles map[string]string, props []engram.Prop) error {
		g.report.Edges++
		g.report.Lines++
		return edges.add(origin{file: "edges", line: line}, &graphline.Edge{From: strings.Clone(roles["src"]), To: strings.Clone(roles["dst"]), Type: strings.Clone(roles["type"]), Props: props}, sizeOf(props))
	})
	if err == nil {
		err = edges.end()
	}
	if err != nil && g.edges != nil {
		return fmt.Errorf("edges: %w", err)
	}
	return err
}

// node makes a node of a row. It tells that it was imported, and what it said then.
func (g *graphImport) node(roles map[string]string, props []engram.Prop) *graphline.Node {
	labels := splitLabels(roles["label"])
	slices.Sort(labels)
	return ownedNode(&graphline.Node{ID: strings.Clone(roles["id"]), Labels: slices.Compact(labels), Props: props})
}

func stringValue(s string) engram.Value {
	v, _ := engram.ValueOf(s) // a string is always a value
	return v
}

func propMap(props []engram.Prop) map[string]any {
	out := make(map[string]any, len(props))
	for _, p := range props {
		out[p.Key] = p.Value
	}
	return out
}
