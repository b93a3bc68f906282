package query

import (
	"engram/graph/value"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/lifecycle"
	"engram/query/internal/physical"
)

// lifecycleClauses are the clauses that change memories; the parser makes calls of
// them.
var lifecycleClauses = []*physical.Procedure{
	joining("SUPERSEDE", lifecycle.Supersede, "new"),
	joining("CONTRADICT", lifecycle.Contradict, "other"),
	memoryClause("RESOLVE", func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
		return changedRow(lifecycle.Resolve(g, args[0], args[1]))
	}, "winner", "loser"),
	reasoned("FORGET", lifecycle.Forget),
	memoryClause("RESTORE", func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
		return changedRow(lifecycle.Restore(g, args[0]))
	}, "node"),
	reinforceClause, revertSince, revertEdge, pruneClause, consolidation(false), consolidation(true),
}

// memoryClause makes a clause over memories, each a node or its id, that yields the
// first one and whether anything changed.
func memoryClause(name string, change func(lifecycle.Graph, []value.Value) ([][]value.Value, error), memories ...string) *physical.Procedure {
	p := &physical.Procedure{Procedure: bind.Procedure{Name: name, Writes: true, Clause: true}, Change: change}
	for _, m := range memories {
		p.Args = append(p.Args, bind.Field{Name: m, Type: bound.OneOf(value.KindNode, value.KindString)})
	}
	p.Outputs = []bind.Field{
		{Name: "node", Type: bound.OneOf(value.KindNode)}, {Name: "changed", Type: bound.OneOf(value.KindBool)},
	}
	return p
}

// because adds the reason to a clause's arguments.
func because(p *physical.Procedure) *physical.Procedure {
	p.Args = append(p.Args, bind.Field{Name: "reason", Type: bound.OneOf(value.KindString)})
	p.Optional = 1
	return p
}

func joining(name string, change func(g lifecycle.Graph, a, b, reason value.Value) (value.NodeID, bool, error), other string) *physical.Procedure {
	return because(memoryClause(name, func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
		return changedRow(change(g, args[0], args[1], args[2]))
	}, "memory", other))
}

func reasoned(name string, change func(g lifecycle.Graph, m, reason value.Value) (value.NodeID, bool, error)) *physical.Procedure {
	return because(memoryClause(name, func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
		return changedRow(change(g, args[0], args[1]))
	}, "memory"))
}

// changedRow is the row that a clause yields; no node stands for a null argument.
func changedRow(id value.NodeID, changed bool, err error) ([][]value.Value, error) {
	return [][]value.Value{{nodeOrNull(id), value.Bool(changed)}}, err
}

func nodeOrNull(id value.NodeID) value.Value {
	if id == 0 {
		return value.Null
	}
	return value.NodeRef(id)
}

var pruneClause = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "PRUNE TELEMETRY", Writes: true, Clause: true, Deletes: true,
		Args: []bind.Field{{Name: "age", Type: bound.OneOf(value.KindDuration)}},
		Outputs: []bind.Field{
			{Name: "pruned", Type: bound.OneOf(value.KindInt)},
			{Name: "more", Type: bound.OneOf(value.KindBool)},
			{Name: "undated", Type: bound.OneOf(value.KindInt)},
		},
	},
	Change: func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
		p, err := lifecycle.PruneTelemetry(g, args[0])
		return [][]value.Value{{value.Int(p.Nodes), value.Bool(p.More), value.Int(p.Undated)}}, err
	},
}

// consolidation makes CONSOLIDATE, or the one that only says what it would do.
func consolidation(dry bool) *physical.Procedure {
	p := &physical.Procedure{
		Procedure: bind.Procedure{
			Name: "CONSOLIDATE", Writes: !dry, Clause: true,
			Args: []bind.Field{
				{Name: "nodes", Type: bound.OneOf(value.KindList)}, {Name: "tier", Type: bound.OneOf(value.KindString)},
			},
			Outputs: []bind.Field{
				{Name: "action", Type: bound.OneOf(value.KindString)},
				{Name: "node", Type: bound.OneOf(value.KindNode)},
				{Name: "other", Type: bound.OneOf(value.KindNode)},
				{Name: "from", Type: bound.OneOf(value.KindString)},
				{Name: "to", Type: bound.OneOf(value.KindString)},
				{Name: "reason", Type: bound.OneOf(value.KindString)},
			},
		},
		Change: func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) { return consolidate(g, args, dry) },
	}
	if dry {
		p.Name += " DRY RUN"
	}
	return p
}

func consolidate(g lifecycle.Graph, args []value.Value, dry bool) ([][]value.Value, error) {
	if args[1].IsNull() {
		return nil, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentType", "TO of CONSOLIDATE needs the name of a tier, but got null").
			WithHint("Leave TO out for any tier.")
	}
	c := lifecycle.Consolidation{To: args[1].AsString(), DryRun: dry}
	for _, n := range args[0].AsList() {
		c.Nodes = append(c.Nodes, n.NodeID())
	}
	found, err := lifecycle.Consolidate(g, c)
	if err != nil {
		return nil, err
	}
	var rows [][]value.Value
	for _, f := range found {
		to := value.Null
		if f.To != "" {
			to = value.String(f.To)
		}
		rows = append(rows, []value.Value{
			value.String(f.Action), value.NodeRef(f.Node), nodeOrNull(f.Other), value.String(f.From), to, value.String(f.Reason),
		})
	}
	return rows, nil
}
