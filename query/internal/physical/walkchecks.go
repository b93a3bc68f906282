package physical

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/logical"
)

// walkChecks are conditions on every edge and every node of a walk.
type walkChecks struct {
	edges, nodes []condition
}

// condition is a predicate on the element that a local variable stands for.
type condition struct {
	local int
	holds eval.Fn
}

func (c *compiler) within(w *logical.Within) walkChecks {
	list := func(qs []*bound.Quantifier) []condition {
		var out []condition
		for _, q := range qs {
			out = append(out, condition{local: q.Var, holds: c.fn(q.Where)})
		}
		return out
	}
	return walkChecks{edges: list(w.Edges), nodes: list(w.Nodes)}
}

// follow reports whether a walk of the current row may go over an edge to a
// node.
func (w *walkChecks) follow(f *frame, row int, e value.EdgeID, n value.NodeID) (bool, error) {
	if len(w.edges) > 0 {
		if ok, err := allHold(f, row, w.edges, value.EdgeRef(e)); !ok || err != nil {
			return false, err
		}
	}
	return w.node(f, row, n)
}

// node reports whether a walk may come by a node.
func (w *walkChecks) node(f *frame, row int, n value.NodeID) (bool, error) {
	if len(w.nodes) == 0 {
		return true, nil
	}
	return allHold(f, row, w.nodes, value.NodeRef(n))
}

func allHold(f *frame, row int, list []condition, v value.Value) (bool, error) {
	for i := range list {
		f.env.SetLocal(list[i].local, v)
		got, err := list[i].holds(&f.env, row)
		if err != nil || got.Kind() != value.KindBool || !got.AsBool() {
			return false, err
		}
	}
	return true, nil
}
