package query

import (
	"context"
	"fmt"
	"slices"

	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
	"engram/query/result"
)

// Transactions begin and end the transactions of CALL { } IN TRANSACTIONS.
type Transactions interface {
	// View runs fn on a snapshot.
	View(ctx context.Context, fn func(Reader) error) error
	// Update runs fn in a writing transaction and commits it unless fn fails.
	Update(ctx context.Context, fn func(Writer) error) error
}

// defaultBatch is how many rows a transaction takes unless told otherwise.
const defaultBatch = 1000

// The names of what the parts of a batched statement hand to each other. No
// statement can write them without backticks.
const (
	batchParam = " rows"
	batchRow   = " row"
)

// batches is a statement with CALL { } IN TRANSACTIONS, cut into statements: what
// comes before makes all its rows in one snapshot, the subquery runs on some of
// them at a time, what comes behind on all that is left in the end.
type batches struct {
	engine *Engine
	mode   syntax.Mode
	first  *Plan // nil: one row without columns
	each   *Plan
	rest   *Plan // nil: no rows are returned
	names  []string
	size   syntax.Expr // nil: defaultBatch
	at     syntax.Span
	onErr  syntax.OnError
}

// batchedClause returns the position of the CALL { } IN TRANSACTIONS that makes a
// statement a batched one, or -1.
func batchedClause(s *syntax.Statement) int {
	if len(s.Query.Parts) != 1 {
		return -1
	}
	return slices.IndexFunc(s.Query.Parts[0].Clauses, func(c syntax.Clause) bool {
		call, ok := c.(*syntax.CallSubquery)
		return ok && call.Batches != nil
	})
}

// planBatches plans the statement around clause i.
func (e *Engine) planBatches(s *syntax.Statement, i int, g Reader) (*Plan, error) {
	clauses := s.Query.Parts[0].Clauses
	call := *clauses[i].(*syntax.CallSubquery)
	b := &batches{engine: e, mode: s.Mode, size: call.Batches.Size, at: call.Batches.Span, onErr: call.Batches.OnError}
	if s.Mode == syntax.Profile {
		return nil, fault.Unsupported(b.at, "PROFILE of CALL { } IN TRANSACTIONS")
	}
	switch b.size.(type) {
	case nil, *syntax.Literal, *syntax.Param:
	default:
		return nil, fault.Syntax("InvalidArgumentType", b.size.At(), "the number of rows must be written as a number or a parameter")
	}
	call.Batches = nil
	part := func(clauses ...syntax.Clause) (*Plan, error) {
		q := &syntax.Query{Parts: []*syntax.SingleQuery{{Clauses: clauses}}}
		return e.compile(&syntax.Statement{Text: s.Text, Query: q}, g)
	}
	all := &syntax.Projection{Span: call.Span, Return: true, Star: true}
	var err error
	if before := clauses[:i:i]; i > 0 {
		if b.first, err = part(append(before, all)...); hasDetail(err, "NoVariablesInScope") {
			one := &syntax.Item{Expr: &syntax.Literal{Value: value.Int(1)}, As: &syntax.Name{Text: batchRow}}
			b.first, err = part(append(before, &syntax.Projection{Return: true, Items: []*syntax.Item{one}})...)
		} else if err == nil {
			b.names = b.first.Columns()
		}
		if err != nil {
			return nil, err
		}
		if b.first.Writes() {
			return nil, fault.Syntax("InvalidClauseComposition", b.at, "a clause before CALL { } IN TRANSACTIONS writes").
				WithHint("Write inside the braces, or in a statement before.")
		}
	}
	each := append(b.unpack(b.names), &call)
	inner := call.Query.Parts[0].Clauses
	last, returns := inner[len(inner)-1].(*syntax.Projection)
	if len(b.names) > 0 || returns && last.Return {
		each = append(each, all)
	}
	if b.each, err = part(each...); err != nil {
		return nil, err
	}
	if behind := clauses[i+1:]; len(behind) > 0 {
		if b.rest, err = part(append(b.unpack(b.each.Columns()), behind...)...); err != nil {
			return nil, err
		}
	}
	return &Plan{engine: e, batches: b}, nil
}

func hasDetail(err error, detail string) bool {
	f := fault.As(err)
	return f != nil && f.Detail == detail
}

// unpack makes the clauses that turn the parameter back into rows of variables.
func (b *batches) unpack(names []string) []syntax.Clause {
	if b.first == nil && len(names) == 0 {
		return nil
	}
	row := &syntax.Name{Text: batchRow}
	out := []syntax.Clause{&syntax.Unwind{List: &syntax.Param{Name: batchParam}, As: row}}
	var items []*syntax.Item
	for _, name := range names {
		of := &syntax.Property{E: &syntax.Variable{Name: *row}, Key: &syntax.Name{Text: name}}
		items = append(items, &syntax.Item{Expr: of, As: &syntax.Name{Text: name}})
	}
	if len(items) > 0 {
		out = append(out, &syntax.Projection{Items: items})
	}
	return out
}

func (b *batches) columns() []string {
	if b.rest == nil {
		return nil
	}
	return b.rest.Columns()
}

func (b *batches) describe() *result.Plan {
	out := &result.Plan{Operator: "InTransactions", Detail: fmt.Sprintf("of %d rows", defaultBatch)}
	if b.size != nil {
		out.Detail = "of given size"
	}
	for _, p := range []*Plan{b.rest, b.each, b.first} {
		if p != nil {
			out.Inputs = append(out.Inputs, p.Explain())
		}
	}
	return out
}

// explained is the result of EXPLAIN, and the error for running the statement
// inside a transaction.
func (b *batches) explained() (*result.Result, error) {
	if b.mode == syntax.Explain {
		return &result.Result{Columns: b.columns(), Plan: b.describe()}, nil
	}
	return nil, fault.New(fault.SyntaxError, fault.Runtime, "TransactionOfItsOwn", b.at,
		"CALL { } IN TRANSACTIONS makes transactions of its own, so it cannot run inside one").
		WithHint("Run it outside of BEGIN and COMMIT, as a statement of its own.")
}

// InTransactions reports whether the statement is run by RunBatches.
func (p *Plan) InTransactions() bool { return p.batches != nil && p.batches.mode != syntax.Explain }

// RunBatches executes a statement with CALL { } IN TRANSACTIONS. Each batch of
// rows is a transaction with a budget of its own; what is committed stays, also
// when a later one fails.
func (p *Plan) RunBatches(ctx context.Context, txs Transactions, params map[string]value.Value, opts *RunOptions) (*result.Result, error) {
	r := &batchRun{batches: p.batches, ctx: ctx, txs: txs, params: params, last: opts}
	if opts != nil {
		parts := *opts
		parts.Rows = nil // of the last part only
		r.opts = &parts
	}
	return r.run()
}

// batchRun is one run.
type batchRun struct {
	*batches
	ctx    context.Context //nolint:containedctx // of one run
	txs    Transactions
	params map[string]value.Value
	opts   *RunOptions
	last   *RunOptions // of what comes behind the subquery
	held   int64       // bytes of rows kept
	out    []value.Value
	res    result.Result
}

func (r *batchRun) run() (*result.Result, error) {
	size, err := r.batchSize()
	if err != nil {
		return nil, err
	}
	rows := []value.Value{value.Map(nil)}
	if r.first != nil {
		err := r.txs.View(r.ctx, func(g Reader) error {
			res, err := r.first.Run(r.ctx, g, r.params, r.opts)
			if err == nil {
				rows, err = r.pack(nil, r.names, res.Rows)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	for done := 0; done < len(rows); {
		n := min(size, len(rows)-done)
		err := r.batch(rows[done : done+n])
		if err != nil && (r.onErr == syntax.OnErrorFail || r.ctx.Err() != nil) {
			return nil, r.failed(err, done)
		}
		if err != nil {
			r.res.Notices = append(r.res.Notices, result.Notice{
				Code:    "TransactionFailed",
				Message: fmt.Sprintf("rows %d to %d were rolled back: %v", done+1, done+n, err),
			})
			r.out = append(r.out, rows[done:done+n]...)
		}
		done += n
		if err != nil && r.onErr == syntax.OnErrorBreak {
			r.out = append(r.out, rows[done:]...)
			break
		}
	}
	return &r.res, r.finish()
}

// failed adds to an error what has been committed before it.
func (r *batchRun) failed(err error, done int) error {
	if f := fault.As(err); f != nil && done > 0 && f.Hint == "" {
		return f.WithHint("The %d rows before are committed.", done)
	}
	return err
}

func (r *batchRun) batchSize() (int, error) {
	var v value.Value
	switch e := r.size.(type) {
	case nil:
		return defaultBatch, nil
	case *syntax.Literal:
		v = e.Value
	case *syntax.Param:
		v = r.params[e.Name]
	}
	if v.Kind() != value.KindInt || v.AsInt() < 1 {
		return 0, fault.New(fault.ArgumentError, fault.Runtime, "NumberOutOfRange", r.size.At(),
			"the number of rows of a transaction must be a positive integer, but is %s", v)
	}
	return int(min(v.AsInt(), 1<<31-1)), nil
}

// batch runs the subquery on some rows in a transaction of their own.
func (r *batchRun) batch(rows []value.Value) error {
	var res *result.Result
	err := r.txs.Update(r.ctx, func(g Writer) (err error) {
		res, err = r.each.Run(r.ctx, g, r.with(rows), r.opts)
		return err
	})
	if err != nil {
		return err
	}
	r.res.Counters = r.res.Counters.Plus(res.Counters)
	r.out, err = r.pack(r.out, r.each.Columns(), res.Rows)
	return err
}

// with returns the parameters and the rows.
func (r *batchRun) with(rows []value.Value) map[string]value.Value {
	params := make(map[string]value.Value, len(r.params)+1)
	for k, v := range r.params {
		params[k] = v
	}
	params[batchParam] = value.List(rows)
	return params
}

// finish runs what comes behind the subquery.
func (r *batchRun) finish() error {
	if r.rest == nil {
		return nil
	}
	var res *result.Result
	run := func(g Reader) (err error) {
		res, err = r.rest.Run(r.ctx, g, r.with(r.out), r.last)
		return err
	}
	var err error
	if r.rest.Writes() {
		err = r.txs.Update(r.ctx, func(g Writer) error { return run(g) })
	} else {
		err = r.txs.View(r.ctx, run)
	}
	if err != nil {
		return err
	}
	r.res.Columns, r.res.Rows = res.Columns, res.Rows
	r.res.Counters = r.res.Counters.Plus(res.Counters)
	return nil
}

// pack appends rows as maps. Nodes and edges become references again, so that
// the next transaction sees them as they are then.
func (r *batchRun) pack(to []value.Value, names []string, rows [][]value.Value) ([]value.Value, error) {
	limit := int64(0)
	if r.opts != nil {
		limit = r.opts.Budget.Memory
	}
	if limit == 0 {
		limit = DefaultMemory
	}
	for _, row := range rows {
		var entries []value.Prop
		for i, name := range names {
			entries = append(entries, value.Prop{Key: name, Value: reference(row[i])})
		}
		m := value.Map(entries)
		if r.held += int64(m.Size()); limit > 0 && r.held > limit {
			return nil, fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted",
				"the rows around CALL { } IN TRANSACTIONS exceeded the budget of memory, %d bytes", limit)
		}
		to = append(to, m)
	}
	return to, nil
}

// reference replaces what is loaded by references, inside lists and maps too.
func reference(v value.Value) value.Value {
	switch v.Kind() {
	case value.KindNode:
		return value.NodeRef(v.NodeID())
	case value.KindEdge:
		return value.EdgeRef(v.EdgeID())
	case value.KindList:
		return value.List(references(v.AsList()))
	case value.KindPath:
		p := v.AsPath()
		return value.OfPath(&value.Path{Nodes: references(p.Nodes), Edges: references(p.Edges)})
	case value.KindMap:
		entries := slices.Clone(v.AsMap().Entries)
		for i := range entries {
			entries[i].Value = reference(entries[i].Value)
		}
		return value.Map(entries)
	}
	return v
}

func references(list []value.Value) []value.Value {
	out := make([]value.Value, len(list))
	for i, v := range list {
		out[i] = reference(v)
	}
	return out
}
