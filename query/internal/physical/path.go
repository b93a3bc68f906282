package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
)

// pathBuild puts paths together from the slots of their pattern.
type pathBuild struct {
	output
	f       *frame
	in      operator
	carry   []int
	slot    int
	pattern *bound.Pattern
}

func (o *pathBuild) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *pathBuild) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	o.begin(o.f.width)
	o.pass(in, o.carry)
	col := o.col(o.slot, in.N)
	for i := range col {
		col[i] = buildPath(o.f, in.Cols, i, o.pattern)
	}
	o.b.N = in.N
	return &o.b, nil
}

// buildPath makes the path of one row; null when one of its parts is null.
func buildPath(f *frame, cols [][]value.Value, row int, p *bound.Pattern) value.Value {
	at := cols[p.Nodes[0].Slot][row]
	path := &value.Path{Nodes: []value.Value{at}}
	for i, r := range p.Rels {
		rel, end := cols[r.Slot][row], cols[p.Nodes[i+1].Slot][row]
		if at.IsNull() || rel.IsNull() || end.IsNull() {
			return value.Null
		}
		if !r.VarLength {
			path.Edges = append(path.Edges, rel)
			path.Nodes = append(path.Nodes, end)
			at = end
			continue
		}
		for _, e := range rel.AsList() {
			at = otherEnd(f, e, at)
			path.Edges = append(path.Edges, e)
			path.Nodes = append(path.Nodes, at)
		}
	}
	if at.IsNull() {
		return value.Null
	}
	return value.OfPath(path)
}

// otherEnd returns the node that edge e leads to from node at.
func otherEnd(f *frame, e, at value.Value) value.Value {
	src, dst, _, _ := f.r.EdgeEnds(e.EdgeID())
	if src == at.NodeID() {
		return value.NodeRef(dst)
	}
	return value.NodeRef(src)
}
