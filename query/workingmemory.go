package query

import (
	"context"

	"engram/activation"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/mind"
	"engram/query/internal/physical"
)

// showWorkingMemory lists what is on the mind of a conversation, strongest first,
// with how much that is. Nodes that are gone are left out.
func showWorkingMemory(minds *mind.Minds) *physical.Procedure {
	p := &physical.Procedure{Procedure: bind.Procedure{
		Name: "SHOW WORKING MEMORY",
		Args: []bind.Field{{Name: "conversation", Type: bound.OneOf(value.KindString)}},
		Outputs: []bind.Field{
			{Name: "node", Type: bound.OneOf(value.KindNode)},
			{Name: "weight", Type: bound.OneOf(value.KindFloat)},
			{Name: "count", Type: bound.OneOf(value.KindInt)},
			{Name: "mean", Type: bound.OneOf(value.KindFloat)},
		},
	}}
	p.Call = func(_ context.Context, g access.Reader, args []value.Value) (rows [][]value.Value, err error) {
		if args[0].IsNull() {
			return nil, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentType", "OF CONVERSATION needs a text, but got null").
				WithHint("Leave it out for the conversation without a name.")
		}
		less, failed := byElementID(g)
		err = minds.Look(args[0].AsString(), func(w *activation.WorkingMemory) error {
			if w == nil {
				return nil
			}
			items := w.Items(less)
			for _, h := range items {
				if id := value.NodeID(h.ID); g.NodeExists(id) {
					rows = append(rows, []value.Value{
						value.NodeRef(id), value.Float(h.Weight), value.Int(int64(len(items))), value.Float(w.Mean(less)),
					})
				}
			}
			return *failed
		})
		return rows, err
	}
	return p
}

// byElementID orders nodes by external id. An error is kept, since comparing can't
// return one.
func byElementID(g access.Reader) (less func(a, b activation.ID) bool, failed *error) {
	failed = new(error)
	of := func(id activation.ID) string {
		s, err := g.ElementID(value.NodeID(id))
		if err != nil && *failed == nil && g.NodeExists(value.NodeID(id)) {
			*failed = err
		}
		return s
	}
	return func(a, b activation.ID) bool {
		if x, y := of(a), of(b); x != y {
			return x < y
		}
		return a < b
	}, failed
}
