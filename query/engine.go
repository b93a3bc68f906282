// Package query runs EQL statements: text → syntax → bound → logical →
// physical → rows. It starts no transactions: the caller hands it a view of the
// graph for every run, and plans a writing statement before it takes the write
// slot.
//
//	engine := query.New(nil)
//	plan, err := engine.Prepare("MATCH (n {id: $id}) RETURN n.title", snapshot)
//	if err != nil {
//		return err
//	}
//	res, err := plan.Run(ctx, snapshot, params, nil)
package query

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/logical"
	"engram/query/internal/mind"
	"engram/query/internal/notice"
	"engram/query/internal/physical"
	"engram/query/internal/recall"
	"engram/query/internal/syntax"
	"engram/query/internal/usage"
	"engram/query/result"
)

// The views of a graph that statements run on. Transactions of package graph
// satisfy them.
type (
	// Reader reads one snapshot.
	Reader = access.Reader
	// Writer also changes the graph.
	Writer = access.Writer
	// SchemaWriter also changes its indexes and constraints.
	SchemaWriter = access.SchemaWriter
)

// Options change an Engine. The zero value, like nil, has the defaults.
type Options struct {
	// PlanCache is how many plans are kept; 0: 1,024, negative: none.
	PlanCache int
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// Disable switches rules of the planner off, for tests. See RuleNames.
	Disable Rules
	// Procedures finds the procedures that CALL knows besides the built-in ones.
	Procedures Procedures
}

// Rules is a set of planner rules.
type Rules = logical.Rules

// AllRules is the set of all planner rules.
const AllRules = logical.AllRules

// RuleNames returns the names of the planner's rules; rule i is Rules(1) << i.
func RuleNames() []string { return logical.RuleNames() }

// Engine prepares statements and keeps their plans. It is safe for concurrent
// use.
type Engine struct {
	opts  Options
	cache *planCache
	minds *mind.Minds
	usage *usage.Table
	own   []*physical.Procedure // those that need the engine
}

// New makes an engine.
func New(opts *Options) *Engine {
	e := &Engine{minds: mind.New(), usage: usage.New()}
	if opts != nil {
		e.opts = *opts
	}
	if e.opts.Now == nil {
		e.opts.Now = time.Now
	}
	size := e.opts.PlanCache
	if size == 0 {
		size = 1024
	}
	e.cache = newPlanCache(size)
	e.own = []*physical.Procedure{showWorkingMemory(e.minds), e.replay(), e.auditStructure(), recordAudit}
	return e
}

// Prepare parses, binds and plans a statement, or finds its plan in the cache.
// g gives the names and counts that the planner chooses by; nil plans without
// them. A plan stays right when the graph changes; Prepare makes a new one only
// when the schema version has changed or the graph has grown or shrunk several
// times. Errors are *fault.Error values with
// their place in the text.
func (e *Engine) Prepare(text string, g Reader) (*Plan, error) {
	key := planKey{text: text, rules: e.opts.Disable}
	if g != nil {
		key.schema, key.scale = g.SchemaVersion()+1, scale(g)
	}
	if p := e.cache.get(key); p != nil {
		return p, nil
	}
	start := e.opts.Now()
	p, err := e.plan(text, g)
	if err != nil {
		return nil, err
	}
	p.planned.Store(int64(e.opts.Now().Sub(start)))
	e.cache.put(key, p)
	return p, nil
}

// scale is how large a graph is, in steps of four times as many nodes or edges:
// what was right to do in a small graph may be slow in a large one.
func scale(g Reader) uint16 {
	step := func(n int64) uint16 { return uint16(bits.Len64(uint64(max(n, 0)))+1) / 2 }
	return step(g.NodeCount(0))<<8 | step(g.EdgeCount(0))
}

func (e *Engine) plan(text string, g Reader) (*Plan, error) {
	parsed, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	if i := batchedClause(parsed); i >= 0 {
		return e.planBatches(parsed, i, g)
	}
	return e.compile(parsed, g)
}

func (e *Engine) compile(parsed *syntax.Statement, g Reader) (*Plan, error) {
	bound, err := bind.Bind(parsed, &bind.Options{Procedures: signatures{known{e}}})
	if err != nil {
		return nil, err
	}
	var counts logical.Graph
	if g != nil {
		counts = g
	}
	tree, err := logical.Build(bound, counts, e.opts.Disable)
	if err != nil {
		return nil, err
	}
	program, err := physical.Compile(tree, known{e})
	if err != nil {
		return nil, err
	}
	p := &Plan{engine: e, tree: tree, program: program, touched: e.usage.Of(bound)}
	for _, part := range tree.Query.Parts {
		p.asking = append(p.asking, asking(part.Op)...)
		p.remembered = append(p.remembered, remembered(part.Op)...)
	}
	p.verdicts = notice.Asks(bound, vocab.LabelVerdict, "VERDICTS")
	if g != nil {
		p.notices = notice.Unknown(bound, g)
	}
	return p, nil
}

// Plan is a prepared statement. It is safe for concurrent use.
type Plan struct {
	engine  *Engine
	tree    *logical.Plan
	program *physical.Program
	planned atomic.Int64 // nanoseconds; 0 once a run has told it
	// shown is the description that EXPLAIN copies, once somebody has asked for it.
	shown      atomic.Pointer[result.Plan]
	notices    []result.Notice
	verdicts   bool         // it names the class of verdicts
	asking     []logical.Op // operators that need a model
	remembered []bound.Expr // texts of REMEMBER that are to be associated
	touched    *usage.Touched
	batches    *batches // of CALL { } IN TRANSACTIONS, which has no program
}

// AsksForVerdicts reports whether the statement names the label Verdict, to read or to
// write it, or recalls INCLUDING VERDICTS.
func (p *Plan) AsksForVerdicts() bool {
	if p == nil || p.batches == nil {
		return p != nil && p.verdicts
	}
	return p.batches.first.AsksForVerdicts() || p.batches.each.AsksForVerdicts() || p.batches.rest.AsksForVerdicts()
}

// Writes reports whether the statement may change the graph. A plan under
// EXPLAIN never does.
func (p *Plan) Writes() bool {
	if p.batches != nil {
		return p.batches.mode != syntax.Explain
	}
	return p.tree.Writes && p.tree.Mode != syntax.Explain
}

// Reinforces reports whether the statement says what was of use: it changes nothing
// by itself, but where nothing can be written nothing can be learned.
func (p *Plan) Reinforces() bool {
	if p.batches != nil || p.tree.Mode == syntax.Explain {
		return false
	}
	for _, part := range p.tree.Query.Parts {
		if reinforces(part.Op) {
			return true
		}
	}
	return false
}

// Learning reports whether the statement is about what was learned: what is queued
// should be written before it runs.
func (p *Plan) Learning() bool {
	return p.batches == nil && p.tree.Learning && p.tree.Mode != syntax.Explain
}

// Whole reports whether the statement reads the whole graph and takes its time: then
// it should run in a transaction that holds up nobody.
func (p *Plan) Whole() bool { return p.batches == nil && p.tree.Whole && p.tree.Mode != syntax.Explain }

// Columns returns the names of the result's columns.
func (p *Plan) Columns() []string {
	if p.batches != nil {
		return p.batches.columns()
	}
	return append([]string(nil), p.tree.Columns...)
}

// Budget bounds a run. A zero field means the default, a negative one no bound.
type Budget = physical.Budget

// DefaultBudget is the budget whose fields stand for the zero ones of another.
func DefaultBudget() Budget {
	return Budget{Time: physical.DefaultTime, Rows: physical.DefaultRows, Memory: physical.DefaultMemory, Steps: physical.DefaultSteps}
}

// DefaultMemory is the budget of memory of a run that names none, in bytes.
const DefaultMemory = physical.DefaultMemory

// RunOptions change one run. The zero value, like nil, has the defaults.
type RunOptions struct {
	Budget Budget
	// Transaction is when the transaction began; zero: now.
	Transaction time.Time
	// RecallLegs are the legs that RECALL uses; empty means all. See CheckLegs.
	RecallLegs []string
	// RecallOff are rules of RECALL that are switched off; see RecallRules.
	RecallOff []string
	// Seed starts the random numbers of rand() and randomUUID(); zero: taken from
	// the clock.
	Seed uint64
	// Vectors are those of texts that RECALL searches for, and Backfilled what became
	// of CALL embed.backfill; see Plan.Outside.
	Vectors    Vectors
	Backfilled *Backfilled
	// AssociateAll associates memories that CREATE and MERGE make, too, as REMEMBER
	// does.
	AssociateAll bool
	// Matches are what FindMatches found.
	Matches Matches
	// Learn is told, at the end, of memories that the statement used. Nil: nothing is
	// learned.
	Learn func(value.Use)
	// Rows takes the rows of the result, which then has none. Its size is bounded
	// by the spool's limit, not by the budget of memory. The caller closes it, also
	// after an error. Nil: the rows are in the result.
	Rows *Spool
}

// CheckLegs tells what is wrong with a list of legs of RECALL.
func CheckLegs(names []string) error {
	_, err := recall.LegsOf(names)
	return err
}

// RecallRule is a leg or a rule of RECALL that can be switched off for measuring.
type RecallRule struct{ Name, About string }

// RecallRules are all rules of RECALL, legs first.
func RecallRules() []RecallRule {
	var out []RecallRule
	for _, r := range recall.Rules() {
		out = append(out, RecallRule{r.Name, r.About})
	}
	return out
}

// CheckRecallOff tells what is wrong with a list of rules to switch off.
func CheckRecallOff(names []string) error {
	_, _, err := recall.SwitchOff(recall.Legs{}, names)
	return err
}

// Run executes the statement on g, which must be a Writer if Writes says so.
// Everything in the result is copied out of g. After an error of a writing
// statement the caller has to drop what g has written.
func (p *Plan) Run(ctx context.Context, g Reader, params map[string]value.Value, opts *RunOptions) (*result.Result, error) {
	if p.batches != nil {
		return p.batches.explained()
	}
	if p.tree.Mode == syntax.Explain {
		return &result.Result{Columns: p.Columns(), Plan: p.Explain(), Notices: slices.Clone(p.notices)}, nil
	}
	in := physical.Input{Reader: g, Params: params, Now: p.engine.opts.Now, Measure: p.tree.Mode == syntax.Profile, Minds: p.engine.minds}
	if p.Writes() {
		w, ok := g.(Writer)
		if !ok {
			return nil, errors.New("the statement writes, but the transaction only reads")
		}
		in.Writer = w
	}
	if opts != nil {
		in.Budget, in.Transaction = opts.Budget, opts.Transaction
		in.Seed[0], in.Rows, in.Learn, in.Matches, in.Vectors = opts.Seed, opts.Rows, opts.Learn, opts.Matches, opts.Vectors
		in.AssociateAll = opts.AssociateAll
		if opts.Backfilled != nil {
			ctx = context.WithValue(ctx, backfilled{}, opts.Backfilled)
		}
		legs, err := recall.LegsOf(opts.RecallLegs)
		if err != nil {
			return nil, err
		}
		if in.Legs, in.Tuning, err = recall.SwitchOff(legs, opts.RecallOff); err != nil {
			return nil, err
		}
	}
	start := p.engine.opts.Now()
	if in.Seed[0] == 0 {
		in.Seed[0] = uint64(start.UnixNano())
	}
	var before *vocab.Vocabulary
	words, _ := g.(access.VocabularyReader)
	if words != nil && in.Writer != nil {
		before = words.Vocabulary()
	}
	res, err := p.program.Run(ctx, in)
	if err != nil {
		return nil, err
	}
	if before != nil && words.Vocabulary() != before {
		res.Counters.VocabularyChanges++
	}
	res.Notices = append(res.Notices, p.notices...)
	end := p.engine.opts.Now()
	p.engine.usage.Ran(p.touched, p.seq(g), end)
	res.Timings = result.Timings{Plan: time.Duration(p.planned.Swap(0)), Run: end.Sub(start)}
	return res, nil
}

// Explain returns the plan of a statement as EXPLAIN shows it.
func (p *Plan) Explain() *result.Plan {
	if p.batches != nil {
		return p.batches.describe()
	}
	shown := p.shown.Load()
	if shown == nil {
		shown = logical.Describe(p.tree, nil)
		p.shown.Store(shown)
	}
	return shown.Clone()
}

// String returns the plan as an indented tree.
func (p *Plan) String() string { return fmt.Sprint(p.Explain()) }
