package exporter

import (
	"bufio"

	"engram/server/internal/graphline"
)

// lines writes JSON Lines, which hold all of the graph.
type lines struct {
	g      *graph
	out    *bufio.Writer
	buf    []byte
	schema []string // what speaks of nodes, behind them
}

func newLines(g *graph, out *bufio.Writer) (writer, error) {
	w := &lines{g: g, out: out}
	before, after, err := declarations(g)
	if err != nil {
		return nil, err
	}
	w.schema = after
	w.buf = graphline.AppendHeader(w.buf)
	for _, s := range before {
		w.buf = graphline.AppendSchema(w.buf, s)
	}
	return w, w.flush()
}

func (w *lines) flush() error {
	_, err := w.out.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}

func (w *lines) node(n *graphline.Node) error {
	w.buf = graphline.AppendNode(w.buf, n)
	return w.flush()
}

func (w *lines) edge(e *graphline.Edge) error {
	w.buf = graphline.AppendEdge(w.buf, e)
	return w.flush()
}

func (w *lines) end() error {
	for _, s := range w.schema {
		w.buf = graphline.AppendSchema(w.buf, s)
	}
	w.buf = graphline.AppendEnd(w.buf, graphline.End{Nodes: w.g.report.Nodes, Edges: w.g.report.Edges})
	return w.flush()
}
