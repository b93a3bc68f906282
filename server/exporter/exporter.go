// Package exporter writes one moment of a graph to files: as JSON Lines, which hold
// all of it, as CSV, Markdown, a file of the reference memory server of MCP, or a
// script of statements. The same graph gives the same bytes.
package exporter

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// Options tune an export.
type Options struct {
	// Format is one of Formats; empty means "jsonl".
	Format string
	// Progress, when set, is told how many nodes and edges were written.
	Progress func(done int64)
}

// Report says what an export wrote, and what the format cannot hold.
type Report struct {
	Format string   `json:"format"`
	Nodes  int64    `json:"nodes"`
	Edges  int64    `json:"edges"`
	Files  []string `json:"files,omitempty"` // of a folder, when there are few
	// Lost counts what the format cannot hold, by what it is.
	Lost []Lost `json:"lost,omitempty"`
	Seq  uint64 `json:"transaction"` // the newest one that is in it
}

// Lost is something that the format cannot hold.
type Lost struct {
	What  string `json:"what"`
	Count int64  `json:"count"`
}

func (r *Report) lose(what string) {
	for i := range r.Lost {
		if r.Lost[i].What == what {
			r.Lost[i].Count++
			return
		}
	}
	r.Lost = append(r.Lost, Lost{what, 1})
}

// writer writes a graph in one format.
type writer interface {
	node(n *graphline.Node) error
	edge(e *graphline.Edge) error
	end() error
}

// format is a way in which a graph can be written.
type format struct {
	name string
	// file makes a writer of one file, dir of a folder; the other one is nil.
	file func(g *graph, out *bufio.Writer) (writer, error)
	dir  func(g *graph, dir *os.Root) (writer, error)
}

var formats = []format{
	{name: "jsonl", file: newLines},
	{name: "cypher", file: newScript},
	{name: "memory", file: newEntities},
	{name: "csv", dir: newTables},
	{name: "markdown", dir: newNotes},
}

// Formats lists the names that Options.Format may have.
func Formats() []string {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.name
	}
	return names
}

func find(name string) (*format, error) {
	if name == "" {
		name = "jsonl"
	}
	i := slices.IndexFunc(formats, func(f format) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no format %q; known are %s", name, strings.Join(Formats(), ", "))
	}
	return &formats[i], nil
}

// NeedsDir reports whether a format is written as a folder, for ExportDir, and not as
// a file.
func NeedsDir(name string) (bool, error) {
	f, err := find(name)
	return err == nil && f.dir != nil, err
}

// Export writes a graph to w, in a format that is one file.
func Export(ctx context.Context, db *engram.DB, w io.Writer, opts Options) (Report, error) {
	f, err := find(opts.Format)
	if err != nil {
		return Report{}, err
	}
	if f.file == nil {
		return Report{}, fmt.Errorf("the format %s is a folder of files: it needs one to be written to", f.name)
	}
	out := bufio.NewWriterSize(w, 256<<10)
	report, err := export(ctx, db, f, opts, func(g *graph) (writer, error) { return f.file(g, out) })
	if err != nil {
		return report, err
	}
	return report, out.Flush()
}

// ExportDir writes a graph into a folder, in a format that is several files. It makes
// new files only: one that is there is an error.
func ExportDir(ctx context.Context, db *engram.DB, dir *os.Root, opts Options) (Report, error) {
	f, err := find(opts.Format)
	if err != nil {
		return Report{}, err
	}
	if f.dir == nil {
		return Report{}, fmt.Errorf("the format %s is one file, not a folder", f.name)
	}
	return export(ctx, db, f, opts, func(g *graph) (writer, error) { return f.dir(g, dir) })
}

// graph is one moment of a database that is exported.
type graph struct {
	ctx    context.Context //nolint:containedctx // of one export
	tx     *engram.Tx
	report *Report
	opts   Options
	done   int64
}

func export(ctx context.Context, db *engram.DB, f *format, opts Options, open func(*graph) (writer, error)) (report Report, err error) {
	report = Report{Format: f.name, Seq: db.Seq()}
	g := &graph{ctx: ctx, report: &report, opts: opts}
	var w writer
	var nodes, edges *engram.Rows
	err = db.View(ctx, func(tx *engram.Tx) (err error) {
		g.tx = tx
		if w, err = open(g); err != nil {
			return err
		}
		if f.dir != nil { // which is near, and whose writers ask again
			return g.write(w, nil, nil)
		}
		if nodes, err = tx.Rows(ctx, allNodes, nil); err == nil {
			edges, err = tx.Rows(ctx, allEdges, nil)
		}
		return err
	})
	// What was read waits in files, so that no transaction is open while somebody takes
	// it as slowly as they like.
	for _, rows := range []*engram.Rows{nodes, edges} {
		if rows != nil {
			defer func() { _ = rows.Close() }() // a reading error has been told
		}
	}
	if err != nil || f.dir != nil {
		return report, err
	}
	g.tx = nil
	return report, g.write(w, nodes, edges)
}

// What is read of a graph.
const (
	allNodes = "MATCH (n) RETURN n"
	allEdges = "MATCH ()-[r]->() RETURN r"
)

// write gives a writer all of the graph: of rows, or of the transaction.
func (g *graph) write(w writer, nodes, edges *engram.Rows) error {
	err := g.nodes(nodes, func(n *graphline.Node) error { g.report.Nodes++; return w.node(n) })
	if err == nil {
		err = g.edges(edges, func(e *graphline.Edge) error { g.report.Edges++; return w.edge(e) })
	}
	if err != nil {
		return err
	}
	return w.end()
}

// step tells of progress, and ends with the context.
func (g *graph) step() error {
	if g.done++; g.opts.Progress != nil && g.done%1000 == 0 {
		g.opts.Progress(g.done)
	}
	return g.ctx.Err()
}

// nodes calls fn with every node: of the rows, or of the transaction when they are nil.
func (g *graph) nodes(rows *engram.Rows, fn func(*graphline.Node) error) error {
	return g.each(rows, allNodes, func(v engram.Value) error {
		n := v.AsNode()
		return fn(&graphline.Node{ID: n.ElementID, Labels: n.Labels, Props: n.Properties})
	})
}

// edges calls fn with every edge, as nodes does.
func (g *graph) edges(rows *engram.Rows, fn func(*graphline.Edge) error) error {
	return g.each(rows, allEdges, func(v engram.Value) error {
		e := v.AsEdge()
		return fn(&graphline.Edge{Type: e.Type, From: e.SrcElementID, To: e.DstElementID, Props: e.Properties})
	})
}

func (g *graph) each(rows *engram.Rows, text string, fn func(engram.Value) error) (err error) {
	if rows == nil {
		if rows, err = g.tx.Rows(g.ctx, text, nil); err != nil {
			return err
		}
	}
	for row, err := range rows.All() {
		if err != nil {
			return err
		}
		if err := fn(row[0]); err != nil {
			return err
		}
		if err := g.step(); err != nil {
			return err
		}
	}
	return nil
}

// list reads a statement's rows at once.
func (g *graph) list(text string) ([][]engram.Value, error) {
	res, err := g.tx.Query(g.ctx, text, nil)
	if err != nil {
		return nil, err
	}
	return res.Rows, nil
}
