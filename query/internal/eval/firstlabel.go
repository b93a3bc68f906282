package eval

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
)

// labelsOfSlot returns the slot n of labels(n)[0], else nil.
func labelsOfSlot(e *bound.Index) *bound.Slot {
	call, ok := e.E.(*bound.Call)
	if !ok || call.Name != "labels" || len(call.Args) != 1 {
		return nil
	}
	if i, ok := e.I.(*bound.Const); !ok || i.Value.Kind() != value.KindInt || i.Value.AsInt() != 0 {
		return nil
	}
	s, _ := call.Args[0].(*bound.Slot)
	return s
}

// firstLabel computes labels(n)[0] for a column of nodes without making the
// lists. What is no plain column of nodes is left to rows, and so is a statement
// that deletes: it has to tell a node without labels from one that is gone.
func firstLabel(slot int, rows Column) Column {
	p := slotProp{slot: slot}
	return func(env *Env, n int, out []value.Value) error {
		labels, ok := env.Reader.(access.LabelReader)
		if !ok || !env.ReadOnly {
			return rows(env, n, out)
		}
		ids := p.nodes(env, nil, n)
		if ids == nil {
			return rows(env, n, out)
		}
		if cap(env.labels) < n {
			env.labels = make([]value.LabelID, n)
		}
		first := env.labels[:n]
		labels.FirstLabels(ids, first)
		var names [16]value.Value // by label, of this column
		var known [16]value.LabelID
		for i, l := range first {
			if l == 0 {
				out[i] = value.Null
				continue
			}
			if at := l % 16; known[at] != l {
				known[at], names[at] = l, value.String(env.Reader.LabelName(l))
			}
			out[i] = names[l%16]
		}
		return env.step(n)
	}
}
