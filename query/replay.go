package query

import (
	"context"
	"maps"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/physical"
	"engram/query/internal/receipt"
)

// replay makes the recall of a receipt again and compares.
func (e *Engine) replay() *physical.Procedure {
	p := &physical.Procedure{Procedure: bind.Procedure{
		Name: "REPLAY",
		Args: []bind.Field{{Name: "receipt", Type: bound.OneOf(value.KindString)}},
		Outputs: []bind.Field{
			{Name: "id", Type: bound.OneOf(value.KindString)},
			{Name: "node", Type: bound.OneOf(value.KindNode)},
			{Name: "rank", Type: bound.OneOf(value.KindInt)},
			{Name: "score", Type: bound.OneOf(value.KindFloat)},
			{Name: "was_rank", Type: bound.OneOf(value.KindInt)},
			{Name: "was_score", Type: bound.OneOf(value.KindFloat)},
			{Name: "change", Type: bound.OneOf(value.KindString)},
			{Name: "reason", Type: bound.OneOf(value.KindString)},
		},
	}}
	p.Call = func(ctx context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
		if args[0].IsNull() {
			return nil, nil
		}
		r, err := receipt.Decode(args[0].AsString())
		if err != nil {
			return nil, fault.AtRuntime(fault.ArgumentError, "InvalidReceipt", "REPLAY needs the receipt of a RECALL: %v", err)
		}
		if r.Statement == "" {
			return nil, fault.AtRuntime(fault.ArgumentError, "NotReplayable", "this recall cannot be made again: %s", r.Why)
		}
		return (&replaying{ctx: ctx, e: e, g: g, r: r}).rows()
	}
	return p
}

// replaying is one replay.
type replaying struct {
	ctx context.Context //nolint:containedctx // of one call
	e   *Engine
	g   access.Reader
	r   *receipt.Receipt
}

// run runs the receipt's statement with what is behind it.
func (p *replaying) run(mode, tail string, more map[string]value.Value) ([][]value.Value, error) {
	plan, err := p.e.Prepare(mode+p.r.Statement+tail, p.g)
	if err != nil {
		return nil, fault.AtRuntime(fault.ArgumentError, "InvalidReceipt", "the statement of this receipt does not work: %v", err)
	}
	if plan.Writes() || plan.InTransactions() {
		return nil, fault.AtRuntime(fault.ArgumentError, "InvalidReceipt", "the statement of this receipt writes")
	}
	params := maps.Clone(map[string]value.Value(p.r.Parameters))
	maps.Copy(params, more)
	res, err := plan.Run(p.ctx, p.g, params, nil)
	if err != nil {
		return nil, err
	}
	return res.Rows, nil
}

// rows compares the rows of now with those of then: first those of now, by rank,
// then those that are gone.
func (p *replaying) rows() ([][]value.Value, error) {
	node := bound.Quote(p.r.Node)
	now, err := p.run("", " YIELD node AS "+node+", score RETURN "+node+", score", nil)
	if err != nil {
		return nil, err
	}
	was := map[string]int{}
	for i, row := range p.r.Rows {
		was[row.ID] = i
	}
	var out [][]value.Value
	for i, row := range now {
		n := row[0].NodeID()
		id, err := p.g.ElementID(n)
		if err != nil {
			return nil, err
		}
		line := []value.Value{value.String(id), value.NodeRef(n), value.Int(int64(i + 1)), row[1], value.Null, value.Null, value.String("new"), value.Null}
		if k, ok := was[id]; ok {
			delete(was, id)
			before := p.r.Rows[k]
			line[4], line[5], line[6] = value.Int(int64(k+1)), value.Float(before.Score), value.String("same")
			if k != i || before.Score != row[1].AsFloat() {
				line[6] = value.String("changed")
			}
		}
		out = append(out, line)
	}
	for i, row := range p.r.Rows {
		if _, gone := was[row.ID]; !gone {
			continue
		}
		n, reason, err := p.gone(row.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, []value.Value{
			value.String(row.ID), n, value.Null, value.Null, value.Int(int64(i + 1)), value.Float(row.Score), value.String("gone"), reason,
		})
	}
	return out, nil
}

// gone tells why a row is there no more.
func (p *replaying) gone(id string) (node, reason value.Value, err error) {
	found, err := p.g.NodesByID(value.String(id), nil)
	if err != nil {
		return value.Null, value.Null, err
	}
	if len(found) == 0 {
		return value.Null, value.String("it is deleted"), nil
	}
	const missing = "recall_missing"
	rows, err := p.run("EXPLAIN ", " NOT $"+missing+" YIELD node AS "+bound.Quote(p.r.Node)+", reason RETURN reason",
		map[string]value.Value{missing: value.String(id)})
	if err != nil || len(rows) == 0 {
		return value.NodeRef(found[0]), value.Null, err
	}
	return value.NodeRef(found[0]), rows[0][0], nil
}
