package physical

import (
	"fmt"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/fn"
	"engram/query/internal/logical"
	"engram/query/internal/syntax"
)

// compiler makes operators of one part. Its first error stays in err.
type compiler struct {
	inst *instance
	part *logical.Part
	arg  *argument // what the tree being built starts from
	err  error
	// ordered is the seek built last that may yield its nodes in order.
	ordered *indexSeek
}

func (c *compiler) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *compiler) fn(e bound.Expr) eval.Fn {
	if e == nil {
		return nil
	}
	f, err := eval.Compile(e)
	if err != nil {
		c.fail(err)
	}
	return f
}

func (c *compiler) column(e bound.Expr) eval.Column {
	f, err := eval.CompileColumn(e)
	if err != nil {
		c.fail(err)
	}
	return f
}

func (c *compiler) item(it bound.Item) column {
	if s, ok := it.Expr.(*bound.Slot); ok {
		return column{to: it.Slot, from: s.Index}
	}
	return column{to: it.Slot, from: -1, fn: c.column(it.Expr)}
}

func (c *compiler) items(items []bound.Item) []column {
	var out []column
	for _, it := range items {
		out = append(out, c.item(it))
	}
	return out
}

func (c *compiler) keys(keys []bound.Sort) []sortKey {
	var out []sortKey
	for _, k := range keys {
		out = append(out, sortKey{fn: c.column(k.Expr), desc: k.Desc})
	}
	return out
}

// inner builds a tree that starts from an argument of its own.
func (c *compiler) inner(op logical.Op) (operator, *argument) {
	outer := c.arg
	defer func() { c.arg = outer }()
	c.arg = &argument{}
	root := c.build(op)
	return root, c.arg
}

func (c *compiler) fan(op logical.Op) fan {
	return fan{in: c.in(op), carry: op.Info().Carry}
}

func (c *compiler) in(op logical.Op) operator { return c.build(*op.Inputs()[0]) }

// live returns slot, or -1 when nobody reads it behind op.
func live(op logical.Op, slot int) int {
	if op.Info().Live.Has(slot) {
		return slot
	}
	return -1
}

// build makes the operator for op, in a wrapper that measures it if asked to.
func (c *compiler) build(op logical.Op) operator {
	out := c.operator(op)
	if c.inst.measure {
		m := &measured{op: out, meter: meter{inst: c.inst}}
		c.inst.measures[op] = m
		return m
	}
	return out
}

func (c *compiler) operator(op logical.Op) operator {
	switch o := op.(type) {
	case *logical.Argument:
		return c.arg
	case *logical.NodeScan:
		return &nodeScan{fan: c.fan(op), slot: o.Slot, label: o.Label, from: c.fn(o.After)}
	case *logical.IDSeek:
		return &idSeek{fan: c.fan(op), slot: o.Slot, id: c.fn(o.ID), any: o.Any}
	case *logical.IndexSeek:
		return c.indexSeek(o)
	case *logical.ValueJoin:
		return c.valueJoin(o)
	case *logical.Expand:
		e := &expand{
			fan: c.fan(op), from: o.From, rel: live(op, o.Rel), to: -1, types: edgeTypes{names: o.Types},
			dir: direction(o.Dir), into: o.Into, meet: o.Meet, intoSlot: o.To, unique: o.Unique,
		}
		if !o.Into {
			e.to = live(op, o.To)
		}
		return e
	case *logical.BoundExpand:
		return &boundExpand{
			fan: c.fan(op), from: o.From, rel: o.Rel, to: o.To, types: edgeTypes{names: o.Types}, dir: direction(o.Dir),
			fromBound: o.FromBound, toBound: o.ToBound, list: o.List, min: o.Min, max: o.Max, unique: o.Unique,
		}
	case *logical.VarExpand:
		if o.Reach {
			return &reach{
				fan: c.fan(op), from: o.From, to: o.To, types: edgeTypes{names: o.Types}, dir: direction(o.Dir),
				min: o.Min, max: o.Max, props: c.edgeProps(o.Props), unique: o.Unique, within: c.within(&o.Within),
			}
		}
		v := &varExpand{
			fan: c.fan(op), from: o.From, rel: live(op, o.Rel), to: -1, types: edgeTypes{names: o.Types},
			dir: direction(o.Dir), min: o.Min, max: o.Max, props: c.edgeProps(o.Props),
			into: o.Into, intoSlot: o.To, reverse: o.Reverse, unique: o.Unique, within: c.within(&o.Within),
		}
		if !o.Into {
			v.to = live(op, o.To)
		}
		return v
	case *logical.ShortestPath:
		return &shortestPath{
			fan: c.fan(op), from: o.From, rel: live(op, o.Rel), to: o.To, types: edgeTypes{names: o.Types},
			dir: direction(o.Dir), min: o.Min, max: o.Max, props: c.edgeProps(o.Props), all: o.All, count: o.Count,
			single: o.Single, unique: o.Unique, within: c.within(&o.Within),
		}
	case *logical.Filter:
		return c.filter(c.in(op), op.Info().Carry, o.Preds)
	case *logical.SemiJoin:
		return c.semiJoin(o)
	case *logical.Degree:
		return &degree{in: c.in(op), from: o.From, types: edgeTypes{names: o.Types}, dir: direction(o.Dir)}
	case *logical.PathBuild:
		return &pathBuild{in: c.in(op), carry: op.Info().Carry, slot: o.Slot, pattern: o.Pattern}
	case *logical.Project:
		return &project{in: c.in(op), carry: op.Info().Carry, items: c.items(o.Items)}
	case *logical.Aggregate:
		return c.aggregate(o)
	case *logical.CountLookup:
		return &countLookup{in: c.in(op), slot: o.Slot, label: o.Label, edges: o.Edges, types: o.Types, args: o.Args}
	case *logical.Distinct:
		return &distinct{in: c.in(op), carry: op.Info().Carry, slots: o.Slots}
	case *logical.Sort:
		return &sorter{in: c.in(op), keys: c.keys(o.Keys), rows: table{slots: op.Info().Carry}}
	case *logical.TopK:
		return c.topK(o)
	case *logical.Skip:
		n := c.fn(o.N)
		return &window{in: c.in(op), carry: op.Info().Carry, bounds: func(f *frame) (int64, int64, error) {
			skip, err := count(f, n, o.N.At(), "SKIP")
			return skip, 1 << 62, err
		}}
	case *logical.Limit:
		n := c.fn(o.N)
		return &window{in: c.in(op), carry: op.Info().Carry, drain: o.Drain, bounds: func(f *frame) (int64, int64, error) {
			limit, err := count(f, n, o.N.At(), "LIMIT")
			return 0, limit, err
		}}
	case *logical.Optional:
		out := &optional{in: c.in(op), carry: op.Info().Carry, rowSlot: o.RowSlot}
		for _, s := range o.New {
			if op.Info().Live.Has(s) {
				out.fresh = append(out.fresh, s)
			}
		}
		out.inner, out.arg = c.inner(o.Inner)
		return out
	case *logical.Unwind:
		return &unwind{fan: c.fan(op), list: c.fn(o.List), slot: o.Slot}
	case *logical.Eager:
		return &eager{in: c.in(op), rows: table{slots: op.Info().Carry}}
	}
	return c.writer(op)
}

// writer is operator for the operators that write or call.
func (c *compiler) writer(op logical.Op) operator {
	switch o := op.(type) {
	case *logical.Create:
		out := &create{in: c.in(op)}
		var fresh logical.Slots
		for _, p := range o.Patterns {
			out.makers = append(out.makers, c.maker(p, false))
		}
		fresh = fresh.With(logical.Created(o.Patterns...)...)
		out.fresh = fresh.List()
		return out
	case *logical.Merge:
		out := &merge{
			in: c.in(op), maker: c.maker(o.Pattern, true), fresh: logical.Created(o.Pattern),
			onCreate: c.setters(o.OnCreate), onMatch: c.setters(o.OnMatch),
		}
		out.slots = logical.Reads(op).With(op.Info().Carry...).With(o.New...).With(out.fresh...).List()
		out.inner, out.arg = c.inner(o.Inner)
		return out
	case *logical.Set:
		out := &changer{in: c.in(op)}
		for _, s := range c.setters(o.Items) {
			out.items = append(out.items, s.apply)
		}
		return out
	case *logical.Remove:
		out := &changer{in: c.in(op)}
		for _, it := range o.Items {
			r := &remover{at: it.Span, target: c.target(it.Target), key: it.Key, labels: it.Labels}
			out.items = append(out.items, r.apply)
		}
		return out
	case *logical.Delete:
		out := &remove{in: c.in(op), detach: o.Detach}
		for _, e := range o.Exprs {
			out.exprs = append(out.exprs, c.fn(e))
			out.spans = append(out.spans, e.At())
		}
		return out
	case *logical.Foreach:
		out := &foreach{in: c.in(op), slot: o.Slot, list: c.fn(o.List)}
		out.body, out.arg = c.inner(o.Body)
		return out
	}
	switch o := op.(type) {
	case *logical.CallProc:
		return c.callProc(o)
	case *logical.CallSubquery:
		q, err := c.inst.query(o.Query)
		if err != nil {
			c.fail(err)
		}
		out := &callSubquery{fan: c.fan(op), def: o.Call, query: q, cols: make([][]value.Value, len(o.Call.Out))}
		for i := range o.Call.Out {
			out.rows.slots = append(out.rows.slots, i)
		}
		return out
	case *logical.SchemaChange:
		return &schemaChange{in: c.in(op), cmd: o.Cmd}
	case *logical.Remember:
		return c.remember(o)
	case *logical.Recall:
		return c.recall(o)
	}
	c.fail(fault.Unsupported(syntax.Span{}, fmt.Sprintf("the operator %s", op.Name())))
	return nil
}

func (c *compiler) edgeProps(props []bound.PropPat) edgeProps {
	var out edgeProps
	for _, p := range props {
		out.keys = append(out.keys, p.Key)
		out.exprs = append(out.exprs, c.fn(p.Expr))
	}
	return out
}

func (c *compiler) callProc(o *logical.CallProc) operator {
	out := &callProc{fan: c.fan(o), span: o.Call.Span}
	proc, ok := c.inst.procs.Lookup(o.Call.Name)
	if !ok {
		c.fail(fault.New(fault.ProcedureError, fault.CompileTime, "ProcedureNotFound", o.Call.Span,
			"there is no procedure %s", o.Call.Name))
		return nil
	}
	out.proc = proc
	for _, a := range o.Call.Args {
		out.args = append(out.args, c.fn(a))
	}
	for _, y := range o.Call.Yields {
		for i, f := range proc.Outputs {
			if f.Name == y.Field {
				out.fields = append(out.fields, i)
				out.slots = append(out.slots, y.Slot)
			}
		}
	}
	return out
}

func (c *compiler) target(e bound.Expr) eval.Fn {
	if p, ok := e.(*bound.Prop); ok {
		return c.fn(p.E)
	}
	return c.fn(e)
}

func (c *compiler) setters(items []*bound.SetItem) []setter {
	var out []setter
	for _, it := range items {
		out = append(out, setter{
			at: it.Span, kind: it.Kind, target: c.fn(it.Target), value: c.fn(it.Value), key: it.Key, labels: it.Labels,
		})
	}
	return out
}

func (c *compiler) aggregate(o *logical.Aggregate) operator {
	out := &aggregate{in: c.in(o), groups: c.items(o.Group), args: o.Args}
	for _, a := range o.Aggs {
		spec := aggSpec{slot: a.Slot, distinct: a.Distinct, at: func(err error) error { return at(err, a.Span) }}
		def, ok := fn.LookupAggregate(a.Name)
		if !ok {
			c.fail(fault.Unsupported(a.Span, "the aggregate "+a.Name))
		}
		spec.def = def
		if a.Distinct && a.Name == "count" && len(o.Group) == 0 {
			spec.count = &countDistinct{}
		}
		for _, e := range a.Args {
			spec.args = append(spec.args, c.column(e))
		}
		out.aggs = append(out.aggs, spec)
	}
	return out
}

func (c *compiler) topK(o *logical.TopK) operator {
	skip, limit := c.fn(o.Skip), c.fn(o.Limit)
	out := &sorter{in: c.in(o), keys: c.keys(o.Keys), rows: table{slots: o.Carry}}
	out.top = func() (s, l int64, err error) {
		if skip != nil {
			if s, err = count(out.f, skip, o.Skip.At(), "SKIP"); err != nil {
				return 0, 0, err
			}
		}
		l, err = count(out.f, limit, o.Limit.At(), "LIMIT")
		return s, l, err
	}
	if o.InOrder {
		out.first.source = c.ordered
	}
	return out
}

func (c *compiler) maker(p *bound.Pattern, merge bool) *maker {
	m := &maker{pattern: p, merge: merge}
	for _, n := range p.Nodes {
		m.nodes = append(m.nodes, nodeMaker{
			slot: n.Slot, bound: n.Bound, name: c.part.Vars[n.Slot].Name,
			labels: plainLabels(n.Labels, nil), more: c.fn(n.LabelsFrom), props: c.propMaker(n.Props, n.PropsFrom),
		})
	}
	for _, r := range p.Rels {
		rm := relMaker{slot: r.Slot, from: c.fn(r.TypeFrom), at: r.Span, dir: r.Dir, props: c.propMaker(r.Props, r.PropsFrom)}
		if len(r.Types) == 1 {
			rm.typ = r.Types[0]
		}
		m.rels = append(m.rels, rm)
	}
	return m
}

func (c *compiler) propMaker(props []bound.PropPat, from bound.Expr) propMaker {
	out := propMaker{from: c.fn(from)}
	for _, p := range props {
		out.keys = append(out.keys, p.Key)
		out.values = append(out.values, c.fn(p.Expr))
		out.spans = append(out.spans, p.Expr.At())
	}
	return out
}

// plainLabels lists the labels of a conjunction, the only form that CREATE and
// MERGE take.
func plainLabels(l syntax.LabelExpr, out []string) []string {
	switch l := l.(type) {
	case *syntax.LabelName:
		return append(out, l.Text)
	case *syntax.LabelAnd:
		return plainLabels(l.R, plainLabels(l.L, out))
	}
	return out
}
