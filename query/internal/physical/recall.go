package physical

import (
	"errors"
	"math"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/logical"
	"engram/query/internal/recall"
)

// recaller finds memories for every input row.
type recaller struct {
	fan
	def     *bound.Recall
	query   eval.Fn
	from    []eval.Fn
	weights []eval.Fn
	where   eval.Fn
	depth   eval.Fn
	limit   eval.Fn

	rows []recall.Row
	pos  int
	out  []recall.Row
	view [][]value.Value
	one  [1]value.Value
}

func (c *compiler) recall(o *logical.Recall) operator {
	r := o.Call
	out := &recaller{
		fan: c.fan(o), def: r, query: c.fn(r.Query), where: c.fn(r.Where), depth: c.fn(r.Depth), limit: c.fn(r.Limit),
	}
	for _, s := range r.From {
		out.from = append(out.from, c.fn(s.Node))
		out.weights = append(out.weights, c.fn(s.Weight))
	}
	return out
}

func (o *recaller) open(f *frame) error {
	o.rows, o.pos = nil, 0
	return o.fan.open(f)
}

func (o *recaller) next() (*batch.Batch, error) {
	o.start()
	o.out = o.out[:0]
	for !o.full() {
		if o.pos < len(o.rows) {
			o.src = append(o.src, o.row)
			o.out = append(o.out, o.rows[o.pos])
			o.pos++
			continue
		}
		ok, err := o.advance()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		if err := o.recall(); err != nil {
			return nil, at(err, o.def.Span)
		}
	}
	if len(o.src) == 0 {
		return nil, nil
	}
	for _, y := range o.def.Yields {
		col := o.col(y.Slot, len(o.out))
		for i := range o.out {
			col[i] = recallField(&o.out[i], y.Field)
		}
	}
	return o.finish(), nil
}

func recallField(r *recall.Row, field string) value.Value {
	switch field {
	case "node":
		return value.NodeRef(r.Node)
	case "score":
		return value.Float(r.Score)
	case "lexical":
		return value.Float(r.Lexical)
	case "semantic":
		return value.Float(r.Semantic)
	case "activation":
		return value.Float(r.Activation)
	case "why":
		return value.String(r.Why)
	case "path":
		if r.Path != nil {
			return value.OfPath(r.Path)
		}
	}
	return value.Null
}

// recall runs RECALL for the current row.
func (o *recaller) recall() error {
	opts := recall.Options{Via: o.def.Via, Against: o.def.Not, Legs: o.f.in.Legs, Tuning: o.f.in.Tuning}
	for _, y := range o.def.Yields {
		opts.Explain = opts.Explain || y.Field == "path" || y.Field == "why"
	}
	if err := o.seeds(&opts); err != nil {
		return err
	}
	for _, n := range []struct {
		fn   eval.Fn
		to   *int
		what string
	}{{o.depth, &opts.Depth, "DEPTH"}, {o.limit, &opts.Limit, "LIMIT"}} {
		if n.fn == nil {
			continue
		}
		v, err := n.fn(&o.f.env, o.row)
		if err != nil {
			return err
		}
		if v.Kind() != value.KindInt || v.AsInt() < 0 {
			return typeError("%s of RECALL needs an integer that is not negative, but got %s", n.what, v)
		}
		if *n.to = int(min(v.AsInt(), math.MaxInt32)); *n.to == 0 && n.what == "LIMIT" {
			return nil // no rows were asked for, and 0 would mean the default
		}
	}
	if o.where != nil {
		o.view = append(o.view[:0], o.cur.Cols...)
		for s, c := range o.view {
			if c != nil {
				o.view[s] = c[o.row : o.row+1]
			}
		}
		opts.Where = o.keep
	}
	var err error
	o.rows, err = recall.Run(o.f.ctx, o.f.r, opts)
	o.pos = 0
	o.f.env.Cols = o.cur.Cols
	if errors.Is(err, recall.ErrNothingToSearch) {
		return fault.AtRuntime(fault.ArgumentError, "NothingToSearch", "%s", err.Error()).Wrap(err)
	}
	if err != nil {
		return err
	}
	o.f.recalled(o.rows, o.def.Reinforce)
	return o.f.step(len(o.rows) + 1)
}

// keep evaluates WHERE for a candidate.
func (o *recaller) keep(n value.NodeID) (bool, error) {
	if err := o.f.step(1); err != nil {
		return false, err
	}
	o.one[0] = value.NodeRef(n)
	o.view[o.def.Node] = o.one[:]
	o.f.env.Cols = o.view
	v, err := o.where(&o.f.env, 0)
	return v.AsBool(), err
}

// seeds reads the query, which is a text or nodes, and FROM.
func (o *recaller) seeds(opts *recall.Options) error {
	q, err := o.query(&o.f.env, o.row)
	if err != nil {
		return err
	}
	switch q.Kind() {
	case value.KindString:
		opts.Query = q.AsString()
	case value.KindNode, value.KindList:
		if err := addSeeds(opts, q, 1); err != nil {
			return err
		}
	default:
		return typeError("RECALL needs a text, a node or a list of nodes, but got a %s", q.Kind())
	}
	for i, from := range o.from {
		v, err := from(&o.f.env, o.row)
		if err != nil {
			return err
		}
		weight := 1.0
		if o.weights[i] != nil {
			w, err := o.weights[i](&o.f.env, o.row)
			if err != nil {
				return err
			}
			if !w.IsNumber() {
				return typeError("WEIGHT needs a number, but got a %s", w.Kind())
			}
			weight = w.AsFloat()
		}
		if err := addSeeds(opts, v, weight); err != nil {
			return err
		}
	}
	return nil
}

func addSeeds(opts *recall.Options, v value.Value, weight float64) error {
	switch v.Kind() {
	case value.KindNull:
		return nil
	case value.KindNode:
		opts.From = append(opts.From, recall.Seed{Node: v.NodeID(), Weight: weight})
		return nil
	case value.KindList:
		for _, e := range v.AsList() {
			if err := addSeeds(opts, e, weight); err != nil {
				return err
			}
		}
		return nil
	}
	return typeError("RECALL starts from nodes, but this is a %s", v.Kind())
}
