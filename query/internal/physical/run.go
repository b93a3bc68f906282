package physical

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/logical"
	"engram/query/result"
)

// Program is a plan ready to run, by any number of goroutines at once: each run
// takes an instance of its operators from a pool.
type Program struct {
	plan  *logical.Plan
	procs Procedures
	pool  sync.Pool
}

// Compile makes a program of a plan; procs may be nil. The error is one that no
// run could avoid.
func Compile(p *logical.Plan, procs Procedures) (*Program, error) {
	if procs == nil {
		procs = noProcedures{}
	}
	prog := &Program{plan: p, procs: procs}
	inst, err := newInstance(p, procs, false)
	if err != nil {
		return nil, err
	}
	prog.pool.Put(inst)
	return prog, nil
}

// Run executes the program.
func (p *Program) Run(ctx context.Context, in Input) (*result.Result, error) {
	inst, err := p.instance(in.Measure)
	if err != nil {
		return nil, err
	}
	res, err := inst.run(ctx, in)
	if err == nil && !in.Measure {
		inst.release()
		p.pool.Put(inst)
	}
	return res, err
}

func (p *Program) instance(measure bool) (*instance, error) {
	if !measure {
		if inst, ok := p.pool.Get().(*instance); ok {
			return inst, nil
		}
	}
	return newInstance(p.plan, p.procs, measure)
}

// instance is one set of operators of a program, with their memory.
type instance struct {
	exec
	plan    *logical.Plan
	procs   Procedures
	root    *union
	tracker *tracker // kept from run to run
	held    heldRows // of a result that is not spooled
	unions  []*union // of all queries, those inside others too
	subs    map[*bound.Subquery]*union
	// known are the answers of subqueries that do not depend on the row.
	known    map[*bound.Subquery]value.Value
	deletes  bool
	src      *rand.PCG
	rand     *rand.Rand
	start    time.Time
	started  value.DateTime
	begun    value.DateTime
	stepFn   func(int) error
	growFn   func(int64) error
	nowFn    func() value.DateTime
	measure  bool
	measures map[logical.Op]*measured
	queries  map[*logical.Query]*union // when measuring
}

func newInstance(p *logical.Plan, procs Procedures, measure bool) (*instance, error) {
	inst := &instance{plan: p, procs: procs, measure: measure, src: rand.NewPCG(0, 0)}
	if measure {
		inst.measures = map[logical.Op]*measured{}
		inst.queries = map[*logical.Query]*union{}
	}
	inst.rand = rand.New(inst.src)
	inst.stepFn = inst.exec.step
	inst.growFn = inst.exec.grow
	inst.nowFn = func() value.DateTime { return dateTime(inst.in.Now()) }
	inst.deletes = logical.Deletes(p.Query)
	var err error
	if inst.root, err = inst.query(p.Query); err != nil {
		return nil, err
	}
	return inst, nil
}

// query builds the operators of a query.
func (inst *instance) query(q *logical.Query) (*union, error) {
	u := &union{distinct: q.Distinct}
	if inst.measure {
		u.meter.inst = inst
		inst.queries[q] = u
	}
	for _, p := range q.Parts {
		c := &compiler{inst: inst, part: p, arg: &argument{}}
		part := &part{def: p, arg: c.arg}
		part.root = c.build(p.Op)
		if c.err != nil {
			return nil, c.err
		}
		part.frame.width = p.Width
		if err := checkLayout(p); err != nil {
			return nil, err
		}
		u.parts = append(u.parts, part)
	}
	inst.unions = append(inst.unions, u)
	return u, nil
}

func (inst *instance) run(ctx context.Context, in Input) (*result.Result, error) {
	if err := inst.prepare(ctx, in); err != nil {
		return nil, err
	}
	out := inst.rows()
	defer out.drop()
	n, err := inst.collect(out)
	if err != nil {
		return nil, err
	}
	if err := inst.settle(); err != nil {
		return nil, err
	}
	if err := inst.associateMade(); err != nil {
		return nil, err
	}
	res := &result.Result{Columns: inst.plan.Columns}
	if inst.w != nil {
		if res.Counters, err = inst.w.finish(); err != nil {
			return nil, err
		}
	}
	if res.Rows, err = out.finish(); err != nil {
		return nil, err
	}
	inst.learn()
	if inst.measure {
		held := inst.in.Budget.Memory - inst.memory
		res.Plan = inst.describe(&meter{
			rows: n, time: inst.in.Now().Sub(inst.start), hits: inst.taken(), peak: max(held, inst.root.meter.peak),
		})
	}
	return res, nil
}

// prepare readies the instance for a run.
func (inst *instance) prepare(ctx context.Context, in Input) error {
	if in.Now == nil {
		in.Now = time.Now
	}
	in.Budget = in.Budget.filled()
	now := in.Now()
	inst.exec = exec{
		ctx: ctx, in: in, r: in.Reader, deadline: now.Add(in.Budget.Time),
		steps: in.Budget.Steps, memory: in.Budget.Memory, check: checkEvery, inst: inst,
	}
	if in.Budget.Time > 1<<62 {
		inst.deadline = now.AddDate(1000, 0, 0)
	}
	if in.Writer != nil {
		inst.tracker = inst.tracker.reset(in.Writer)
		inst.w = inst.tracker
		inst.r = in.Writer
	} else if inst.plan.Writes {
		return errors.New("a statement that writes was run without a writer")
	}
	for _, name := range inst.plan.Implicit {
		if _, ok := in.Params[name]; !ok {
			return fault.New(fault.ParameterMissing, fault.CompileTime, "MissingParameter", fault.Span{},
				"the procedure takes its argument from the parameter $%s, which has no value", name)
		}
	}
	inst.src.Seed(in.Seed[0], in.Seed[1])
	inst.start, inst.started = now, dateTime(now)
	inst.begun = inst.started
	if !in.Transaction.IsZero() {
		inst.begun = dateTime(in.Transaction)
	}
	return ctx.Err()
}

// release lets go of what the run was given. Columns keep old values until they
// are overwritten; that is bounded by the size of a batch.
func (inst *instance) release() {
	for _, u := range inst.unions {
		for _, p := range u.parts {
			p.frame.release()
		}
	}
	inst.exec = exec{}
	inst.held = heldRows{}
	clear(inst.known)
	if inst.tracker != nil {
		inst.tracker.w = nil
	}
}

// some reports whether a subquery has a row.
func (inst *instance) some(q *bound.Subquery, args []value.Value) (bool, error) {
	v, err := inst.ask(q, bound.Exists, args)
	return v.AsBool(), err
}

// RunSubquery implements eval.Runner.
func (inst *instance) RunSubquery(_ *eval.Env, q *bound.Subquery, args []value.Value) (value.Value, error) {
	return inst.ask(q, q.Kind, args)
}

// ask runs a subquery for an answer of a kind, always the same for one subquery.
func (inst *instance) ask(q *bound.Subquery, kind bound.SubqueryKind, args []value.Value) (value.Value, error) {
	if v, ok := inst.known[q]; ok {
		return v, nil
	}
	u, err := inst.subquery(q)
	if err != nil {
		return value.Null, err
	}
	u.busy = true
	defer func() { u.busy = false }()
	before := inst.memory
	u.few = kind == bound.Exists
	if err := u.open(&inst.exec, q.Inner, args); err != nil {
		return value.Null, err
	}
	v, err := inst.answer(kind, u)
	// What the subquery held is gone, for the next row takes it anew; the answer
	// stays until then.
	inst.memory = before
	if err == nil && kind != bound.Collect && inst.plan.Steady(q) {
		if inst.known == nil {
			inst.known = map[*bound.Subquery]value.Value{}
		}
		inst.known[q] = v
	}
	return v, err
}

// subquery returns the operators of a subquery, made when they are first wanted.
func (inst *instance) subquery(q *bound.Subquery) (*union, error) {
	u := inst.subs[q]
	if u == nil {
		var err error
		if u, err = inst.query(inst.plan.Subqueries[q]); err != nil {
			return nil, err
		}
		if inst.subs == nil {
			inst.subs = map[*bound.Subquery]*union{}
		}
		inst.subs[q] = u
	}
	if u.busy { // a subquery cannot contain itself
		return nil, errors.New("a subquery was started while it was running")
	}
	return u, nil
}

func (inst *instance) answer(kind bound.SubqueryKind, u *union) (value.Value, error) {
	n := int64(0)
	var list []value.Value
	for {
		b, err := u.next()
		if err != nil {
			return value.Null, err
		}
		if b == nil {
			break
		}
		n += int64(b.N)
		if kind == bound.Exists {
			break
		}
		if kind == bound.Collect {
			list = append(list, b.Cols[0][:b.N]...)
			if err := inst.grow(int64(24 * b.N)); err != nil {
				return value.Null, err
			}
		}
	}
	switch kind {
	case bound.Exists:
		return value.Bool(n > 0), nil
	case bound.Count:
		return value.Int(n), nil
	}
	return value.List(list), nil
}

// part is one running single query.
type part struct {
	def   *logical.Part
	arg   *argument
	root  operator
	frame frame
	given batch.Batch
	vals  [][1]value.Value
}

// open starts the part with args in its slots.
func (p *part) open(x *exec, slots []int, args []value.Value, few bool) error {
	p.frame.setup(x)
	p.frame.few = few
	if len(p.given.Cols) < p.def.Width {
		p.given.Cols = make([][]value.Value, p.def.Width)
		p.frame.args = make([]value.Value, p.def.Width)
		p.vals = make([][1]value.Value, p.def.Width)
	}
	clear(p.given.Cols)
	for i, s := range slots {
		p.frame.args[s] = args[i]
		p.vals[s][0] = args[i]
		p.given.Cols[s] = p.vals[s][:]
	}
	p.given.N = 1
	p.arg.given = &p.given
	return p.root.open(&p.frame)
}

// union yields the rows of its parts, one part after the other, with the
// columns of the query in front: column i in Cols[i].
type union struct {
	parts    []*part
	distinct bool
	at       int
	busy     bool
	few      bool // the first row is wanted
	seen     rowSet
	row      []value.Value
	sel      []int
	out      output
	x        *exec
	slots    []int
	args     []value.Value
	opened   bool
	b        batch.Batch
	meter    meter // with an instance when measuring
}

func (u *union) open(x *exec, slots []int, args []value.Value) error {
	u.x, u.at, u.opened = x, 0, false
	u.slots, u.args = slots, append(u.args[:0], args...)
	if u.distinct {
		u.seen.reset(len(u.parts[0].def.Out))
	}
	return nil
}

func (u *union) next() (*batch.Batch, error) {
	if u.meter.inst != nil {
		return u.meter.around(u.pull)
	}
	return u.pull()
}

func (u *union) pull() (*batch.Batch, error) {
	for u.at < len(u.parts) {
		p := u.parts[u.at]
		if !u.opened {
			if err := p.open(u.x, u.slots, u.args, u.few); err != nil {
				return nil, err
			}
			u.opened = true
		}
		in, err := p.root.next()
		if err != nil {
			return nil, err
		}
		if in == nil {
			u.at, u.opened = u.at+1, false
			continue
		}
		u.b.Cols = u.b.Cols[:0]
		for _, s := range p.def.Out {
			u.b.Cols = append(u.b.Cols, in.Cols[s])
		}
		u.b.N = in.N
		if !u.distinct {
			return &u.b, nil
		}
		b, err := u.dedupe(&u.b)
		if err != nil || b != nil {
			return b, err
		}
	}
	return nil, nil
}

// dedupe drops the rows that have been yielded before; nil when none is left.
func (u *union) dedupe(in *batch.Batch) (*batch.Batch, error) {
	u.sel = u.sel[:0]
	for i := range in.N {
		u.row = u.row[:0]
		for _, c := range in.Cols {
			u.row = append(u.row, c[i])
		}
		size := rowSize(u.row)
		if err := u.x.pass(size); err != nil {
			return nil, err
		}
		if _, isNew := u.seen.add(u.row); isNew {
			u.sel = append(u.sel, i)
			if err := u.x.grow(size); err != nil {
				return nil, err
			}
		}
	}
	if len(u.sel) == 0 {
		return nil, nil
	}
	width := len(in.Cols)
	u.out.begin(width)
	all := make([]int, width)
	for i := range all {
		all[i] = i
	}
	u.out.gather(in, all, u.sel)
	u.out.b.N = len(u.sel)
	return &u.out.b, nil
}
