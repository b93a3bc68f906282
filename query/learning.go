package query

import (
	"context"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/lifecycle"
	"engram/query/internal/physical"
)

// reinforceClause is REINFORCE. It changes nothing by itself: what it is told is
// queued.
var reinforceClause = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "REINFORCE",
		Args: []bind.Field{
			{Name: "memory", Type: bound.OneOf(value.KindNode, value.KindString)},
			{Name: "strength", Type: bound.OneOf(value.KindFloat)},
			{Name: "conversation", Type: bound.OneOf(value.KindString)},
		},
		Outputs: []bind.Field{
			{Name: "node", Type: bound.OneOf(value.KindNode)}, {Name: "queued", Type: bound.OneOf(value.KindBool)},
		},
	},
	Change: func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
		return changedRow(lifecycle.Reinforce(g, args[0], args[1], args[2]))
	},
}

var revertSince = reverting("REVERT LEARNING SINCE", func(g lifecycle.Graph, args []value.Value) (int64, error) {
	return lifecycle.RevertSince(g, args[0])
}, bind.Field{Name: "since", Type: bound.OneOf(value.KindDateTime)})

var revertEdge = reverting("REVERT LEARNING OF", func(g lifecycle.Graph, args []value.Value) (int64, error) {
	return lifecycle.RevertEdge(g, args[0], args[1], args[2])
}, bind.Field{Name: "start", Type: bound.OneOf(value.KindNode)}, bind.Field{Name: "relationship", Type: bound.OneOf(value.KindEdge)},
	bind.Field{Name: "end", Type: bound.OneOf(value.KindNode)})

// reverting makes a clause that yields how many events it took back.
func reverting(name string, revert func(lifecycle.Graph, []value.Value) (int64, error), args ...bind.Field) *physical.Procedure {
	return &physical.Procedure{
		Procedure: bind.Procedure{
			Name: name, Writes: true, Clause: true, Learning: true, Deletes: true, Args: args,
			Outputs: []bind.Field{{Name: "reverted", Type: bound.OneOf(value.KindInt)}},
		},
		Change: func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
			n, err := revert(g, args)
			return [][]value.Value{{value.Int(n)}}, err
		},
	}
}

// showLearning is SHOW LEARNING: the events that can be taken back.
var showLearning = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "SHOW LEARNING", Learning: true, Optional: 1,
		Args: []bind.Field{{Name: "since", Type: bound.OneOf(value.KindDateTime)}},
		Outputs: []bind.Field{
			{Name: "at", Type: bound.OneOf(value.KindDateTime)},
			{Name: "kind", Type: bound.OneOf(value.KindString)},
			{Name: "node", Type: bound.OneOf(value.KindNode)},
			{Name: "relationship", Type: bound.OneOf(value.KindEdge)},
			{Name: "weight", Type: bound.OneOf(value.KindFloat)},
		},
	},
	Call: func(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
		at, err := lifecycle.Millis(args[0], "SHOW LEARNING SINCE")
		log, ok := g.(access.LearningLog)
		if err != nil || !ok {
			return nil, err
		}
		events, err := log.LearningSince(at)
		if err != nil {
			return nil, err
		}
		rows := make([][]value.Value, len(events))
		for i, e := range events {
			rows[i] = learnedRow(g, e)
		}
		return rows, nil
	},
}

// learnedRow shows an event; elements that are gone are null.
func learnedRow(g access.Reader, e value.Learned) []value.Value {
	row := []value.Value{lifecycle.Moment(e.At), value.String(e.Kind), value.Null, value.Null, value.Null}
	if e.Node != 0 && g.NodeExists(e.Node) {
		row[2] = value.NodeRef(e.Node)
	}
	if e.Edge != 0 {
		if _, _, _, ok := g.EdgeEnds(e.Edge); ok {
			row[3] = value.EdgeRef(e.Edge)
		}
	}
	if e.Kind == "strengthened" {
		row[4] = value.Float(e.Weight)
	}
	return row
}
