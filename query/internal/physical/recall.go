package physical

import (
	"errors"

	"engram/activation"
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/logical"
	"engram/query/internal/recall"
	"engram/query/internal/syntax"
)

// recaller runs RECALL, ACTIVATE or COMPILE for every input row.
type recaller struct {
	fan
	def     *bound.Recall
	args    recallArgs
	explain bool // path or why is wanted
	receipt bool
	replay  replayed

	rows recalled
	pos  int
	out  []value.Value // of the batch at hand, a row's yields after the other's
	view [][]value.Value
	// within finds the nodes of which all that WHERE keeps are some; nil: nobody
	// knows any. found are those of the current row.
	within operator
	arg    *argument
	given  batch.Batch
	found  map[value.NodeID]bool
	held   int64
	one    [1]value.Value
}

// recalled are the rows for one input row.
type recalled interface {
	count() int
	field(i int, name string) value.Value
}

func (c *compiler) recall(o *logical.Recall) operator {
	out := &recaller{fan: c.fan(o), def: o.Call, args: c.recallArgs(o.Call)}
	for _, y := range o.Call.Yields {
		switch y.Field {
		case "path", "why", "salience", "recency":
			out.explain = true
		case "receipt":
			out.receipt, out.replay = true, c.replayed(o)
		}
	}
	if o.Within != nil {
		out.within, out.arg = c.inner(o.Within)
	}
	return out
}

func (o *recaller) open(f *frame) error {
	o.rows, o.pos, o.found, o.held = nil, 0, nil, 0
	return o.fan.open(f)
}

func (o *recaller) next() (*batch.Batch, error) {
	o.start()
	o.out = o.out[:0]
	for !o.full() {
		if o.rows != nil && o.pos < o.rows.count() {
			o.src = append(o.src, o.row)
			for _, y := range o.def.Yields {
				o.out = append(o.out, o.rows.field(o.pos, y.Field))
			}
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
	for k, y := range o.def.Yields {
		col := o.col(y.Slot, len(o.src))
		for i := range col {
			col[i] = o.out[i*len(o.def.Yields)+k]
		}
	}
	return o.finish(), nil
}

// recall runs the clause for the current row.
func (o *recaller) recall() error {
	o.rows, o.pos = nil, 0
	opts, nothing, err := o.options()
	if err != nil || nothing {
		return err
	}
	defer func() { o.f.env.Cols = o.cur.Cols }()
	switch {
	case o.def.Missing != nil:
		o.rows, err = o.whyNot(opts)
	case o.def.Verb == syntax.VerbActivate:
		o.rows, err = o.activate(opts)
	case o.def.Verb == syntax.VerbCompile:
		o.rows, err = o.compile(opts)
	default:
		o.rows, err = o.memories(opts)
	}
	if errors.Is(err, recall.ErrNothingToSearch) {
		return fault.AtRuntime(fault.ArgumentError, "NothingToSearch", "%s", err.Error()).Wrap(err)
	}
	if err != nil || o.rows == nil {
		return err
	}
	return o.f.step(o.rows.count() + 1)
}

// foundBytes is about what a node takes in found.
const foundBytes = 16

// narrow asks the index for the current row.
func (o *recaller) narrow() error {
	if o.within == nil {
		return nil
	}
	o.given = batch.Batch{Cols: o.view, N: 1}
	o.arg.given = &o.given
	if err := o.within.open(o.f); err != nil {
		return err
	}
	o.found = map[value.NodeID]bool{}
	for {
		b, err := o.within.next()
		if err != nil {
			return err
		}
		if b == nil {
			break
		}
		for _, v := range b.Cols[o.def.Node][:b.N] {
			o.found[v.NodeID()] = true
		}
		if err := o.f.step(b.N); err != nil {
			return err
		}
	}
	more := int64(len(o.found))*foundBytes - o.held
	o.held += more
	return o.f.grow(more)
}

// keep evaluates WHERE for a candidate.
func (o *recaller) keep(n value.NodeID) (bool, error) {
	if o.found != nil && !o.found[n] {
		return false, nil
	}
	if err := o.f.step(1); err != nil {
		return false, err
	}
	o.one[0] = value.NodeRef(n)
	o.view[o.def.Node] = o.one[:]
	o.f.env.Cols = o.view
	v, err := o.args.where(&o.f.env, 0)
	return v.AsBool(), err
}

// memoryRows are the rows of RECALL.
type memoryRows struct {
	rows    []recall.Row
	receipt value.Value
}

func (o *recaller) memories(opts recall.Options) (recalled, error) {
	if o.receipt {
		opts.Trace = &recall.Trace{}
	}
	rows, err := recall.Run(o.f.ctx, o.f.r, opts)
	if err != nil {
		return nil, err
	}
	o.f.recalled(rows, o.def.Reinforce)
	out := &memoryRows{rows: rows}
	if o.receipt {
		out.receipt, err = o.receiptOf(&opts, rows)
	}
	return out, err
}

func (r *memoryRows) count() int { return len(r.rows) }

func (r *memoryRows) field(i int, name string) value.Value {
	row := &r.rows[i]
	switch name {
	case "node":
		return value.NodeRef(row.Node)
	case "score":
		return value.Float(row.Score)
	case "lexical":
		return value.Float(row.Lexical)
	case "semantic":
		return value.Float(row.Semantic)
	case "activation":
		return value.Float(row.Activation)
	case "salience":
		return value.Float(row.Salience)
	case "recency":
		return value.Float(row.Recency)
	case "why":
		return value.String(row.Why)
	case "path":
		return pathOrNull(row.Path)
	case "receipt":
		return r.receipt
	}
	return value.Null
}

func pathOrNull(p *value.Path) value.Value {
	if p == nil {
		return value.Null
	}
	return value.OfPath(p)
}

// reasonRow is the row of EXPLAIN RECALL ... NOT.
type reasonRow struct {
	node     value.NodeID
	recalled bool
	reason   string
}

func (o *recaller) whyNot(opts recall.Options) (recalled, error) {
	v, err := o.args.missing(&o.f.env, o.row)
	if err != nil || v.IsNull() {
		return nil, err
	}
	id := v.NodeID()
	if v.Kind() == value.KindString {
		found, err := o.f.r.NodesByID(v, nil)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fault.AtRuntime(fault.ArgumentError, "NoSuchNode", "there is no node with the id %s", v)
		}
		id = found[0]
	} else if v.Kind() != value.KindNode {
		return nil, typeError("NOT needs a node or its id, but got %s", v.Kind().Named())
	}
	row := &reasonRow{node: id}
	row.recalled, row.reason, err = recall.WhyNot(o.f.ctx, o.f.r, opts, id)
	return row, err
}

func (r *reasonRow) count() int { return 1 }

func (r *reasonRow) field(_ int, name string) value.Value {
	switch name {
	case "node":
		return value.NodeRef(r.node)
	case "recalled":
		return value.Bool(r.recalled)
	}
	return value.String(r.reason)
}

// activatedRows are the rows of ACTIVATE.
type activatedRows []recall.Activated

func (o *recaller) activate(opts recall.Options) (recalled, error) {
	conversation, err := o.args.text(o, o.args.conversation, "OF CONVERSATION")
	if err != nil {
		return nil, err
	}
	var rows activatedRows
	run := func(mind recall.Mind) (err error) {
		rows, err = recall.Activate(o.f.ctx, o.f.r, opts, mind)
		return err
	}
	if o.f.in.Minds == nil {
		return rows, run(nil)
	}
	err = o.f.in.Minds.With(conversation, func(w *activation.WorkingMemory) error { return run(w) })
	return rows, err
}

func (r activatedRows) count() int { return len(r) }

func (r activatedRows) field(i int, name string) value.Value {
	row := &r[i]
	switch name {
	case "node":
		return value.NodeRef(row.Node)
	case "activation":
		return value.Float(row.Activation)
	case "weight":
		return value.Float(row.Weight)
	case "promoted":
		return value.Bool(row.Promoted)
	case "suppressed_by":
		if row.SuppressedBy != 0 {
			return value.NodeRef(row.SuppressedBy)
		}
	case "path":
		return pathOrNull(row.Path)
	case "reason":
		if row.Reason != "" {
			return value.String(row.Reason)
		}
	}
	return value.Null
}

// compiledRow is the row of COMPILE.
type compiledRow struct{ *recall.Compiled }

func (o *recaller) compile(opts recall.Options) (recalled, error) {
	budget := recall.DefaultBudget
	if err := o.args.count(o, o.args.budget, "BUDGET", &budget); err != nil {
		return nil, err
	}
	c, err := recall.Compile(o.f.ctx, o.f.r, opts, budget)
	if err != nil {
		return nil, err
	}
	return compiledRow{c}, nil
}

func (compiledRow) count() int { return 1 }

func (r compiledRow) field(_ int, name string) value.Value {
	switch name {
	case "text":
		return value.String(r.Text)
	case "tokens":
		return value.Int(int64(r.Tokens))
	case "nodes":
		nodes := make([]value.Value, len(r.Nodes))
		for i, n := range r.Nodes {
			nodes[i] = value.NodeRef(n)
		}
		return value.List(nodes)
	case "considered":
		return value.Int(int64(r.Considered))
	case "delivered":
		return value.Int(int64(r.Delivered))
	case "withheld":
		return value.Int(int64(r.Withheld))
	case "rule":
		return value.String(r.Rule)
	}
	return value.Bool(r.RestReachable)
}
