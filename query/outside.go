package query

import (
	"context"
	"math"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/logical"
	"engram/query/internal/physical"
)

// Vectors are those of texts, by text.
type Vectors map[string][]float32

// Outside is what a statement needs of a model that must not be called with a
// transaction open.
type Outside struct {
	// Backfill is how many texts CALL embed.backfill may embed; 0: none.
	Backfill int
	// Texts are those that RECALL searches for, as far as they are known before.
	Texts []string
	// Later tells that others are known only from rows, so that no vector can be had for
	// them but by the table in the program.
	Later bool
}

// Backfilled is what became of Outside.Backfill.
type Backfilled struct{ Made, Waiting int }

// Outside tells what the statement needs of a model.
func (p *Plan) Outside(params map[string]value.Value) Outside {
	var out Outside
	if p.batches != nil {
		return out
	}
	for _, op := range p.asking {
		switch o := op.(type) {
		case *logical.CallProc:
			n := constant(o.Call.Args[0], params)
			switch {
			case n.IsNull():
				out.Backfill = defaultBackfill
			case n.Kind() == value.KindInt && n.AsInt() > 0:
				out.Backfill = int(min(n.AsInt(), math.MaxInt32))
			}
		case *logical.Recall:
			text := constant(o.Call.Query, params)
			switch o.Call.Query.(type) {
			case nil, *bound.Const, *bound.Param:
			default:
				out.Later = true
			}
			if text.Kind() == value.KindString && text.AsString() != "" {
				out.Texts = append(out.Texts, text.AsString())
			}
		}
	}
	return out
}

// constant is the value of an expression that reads nothing; null for others.
func constant(e bound.Expr, params map[string]value.Value) value.Value {
	switch e := e.(type) {
	case *bound.Const:
		return e.Value
	case *bound.Param:
		return params[e.Name]
	}
	return value.Null
}

// asking are the operators of a tree that need a model.
func asking(op logical.Op) []logical.Op {
	var out []logical.Op
	switch o := op.(type) {
	case *logical.Recall:
		out = append(out, o)
	case *logical.CallProc:
		if o.Call.Name == embedBackfill.Name {
			out = append(out, o)
		}
	case *logical.CallSubquery:
		for _, part := range o.Query.Parts {
			out = append(out, asking(part.Op)...)
		}
	}
	for _, in := range op.Inputs() {
		out = append(out, asking(*in)...)
	}
	return out
}

const defaultBackfill = 1000

// embedBackfill is embed.backfill(limit): what it tells was done before the statement
// began.
var embedBackfill = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "embed.backfill",
		Args: []bind.Field{{Name: "limit", Type: bound.OneOf(value.KindInt)}}, Optional: 1,
		Outputs: []bind.Field{
			{Name: "embedded", Type: bound.OneOf(value.KindInt)}, {Name: "waiting", Type: bound.OneOf(value.KindInt)},
		},
	},
	Call: func(ctx context.Context, _ access.Reader, args []value.Value) ([][]value.Value, error) {
		done, ok := ctx.Value(backfilled{}).(*Backfilled)
		switch {
		case args[0].Kind() == value.KindInt && args[0].AsInt() <= 0:
			return nil, fault.AtRuntime(fault.ArgumentError, "InvalidLimit", "the limit of embed.backfill is a number from 1, not %s", args[0])
		case !ok || done == nil:
			return nil, fault.AtRuntime(fault.ArgumentError, "TransactionOfItsOwn",
				"embed.backfill asks a model, so it cannot run inside a transaction, and its limit is a number or a parameter").
				WithHint("Run it as a statement of its own.")
		}
		return [][]value.Value{{value.Int(int64(done.Made)), value.Int(int64(done.Waiting))}}, nil
	},
}

// backfilled is the key of a *Backfilled in a run's context.
type backfilled struct{}
