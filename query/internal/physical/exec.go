package physical

import (
	"context"
	"time"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/lifecycle"
	"engram/query/internal/mind"
	"engram/query/internal/recall"
	"engram/query/internal/spool"
)

// Budget bounds one execution. A zero field means the default, a negative one
// no bound.
type Budget struct {
	Time   time.Duration // default 30 s
	Rows   int64         // rows of the result; default 10 million
	Memory int64         // bytes held at once by an estimate; default 256 MiB
	Steps  int64         // edges followed and nodes scanned; default 1 billion
}

// The default budget.
const (
	DefaultTime   = 30 * time.Second
	DefaultRows   = 10_000_000
	DefaultMemory = 256 << 20
	DefaultSteps  = 1_000_000_000
)

func (b Budget) filled() Budget {
	b.Time = orDefault(b.Time, DefaultTime)
	b.Rows = orDefault(b.Rows, DefaultRows)
	b.Memory = orDefault(b.Memory, DefaultMemory)
	b.Steps = orDefault(b.Steps, DefaultSteps)
	return b
}

func orDefault[T time.Duration | int64](v, def T) T {
	switch {
	case v == 0:
		return def
	case v < 0:
		return 1<<63 - 1
	}
	return v
}

// Input is what one execution runs on.
type Input struct {
	Reader access.Reader
	Writer access.Writer // nil for a statement that only reads
	Params map[string]value.Value
	// Now is the clock; nil stands for time.Now.
	Now func() time.Time
	// Transaction is when the transaction began; zero: when the statement did.
	Transaction time.Time
	// Seed starts the random numbers of rand() and randomUUID().
	Seed   [2]uint64
	Budget Budget
	// Legs switch parts of RECALL off.
	Legs recall.Legs
	// Tuning replaces the default one of RECALL when it is set.
	Tuning *recall.Tuning
	// Vectors are those of texts that RECALL searches for, where only an endpoint
	// could make them.
	Vectors map[string][]float32
	// Matches are memories that texts of REMEMBER are like, as far as they were looked
	// for before the write slot was taken.
	Matches map[string][]lifecycle.Match
	// AssociateAll associates memories that other clauses than REMEMBER make, too.
	AssociateAll bool
	// Learn is told of memories that the statement used, at its end; nil: nothing
	// is learned.
	Learn func(value.Use)
	// Minds are the working memories that ACTIVATE moves; nil: none is kept.
	Minds *mind.Minds
	// Measure counts rows and time per operator.
	Measure bool
	// Rows takes the rows of the result, which then has none and whose size the
	// budget of memory does not count; nil: they are in the result.
	Rows *spool.Spool
}

// exec is the state of one execution that all its operators share.
type exec struct {
	ctx      context.Context
	in       Input
	r        access.Reader
	w        *tracker // nil when the statement only reads
	deadline time.Time
	steps    int64 // left
	memory   int64 // left
	check    int   // steps until the context is looked at
	inst     *instance
	told     map[value.NodeID]bool // made by REMEMBER
	renewed  map[value.NodeID]bool // memories that were given another text
	closed   []lifecycle.Closing   // memories that were superseded
	moved    []lifecycle.Moved     // memories that were told since when they hold
	used     []value.UsedNode      // memories to learn from
	minded   []mindedNode          // memories that come to mind
	named    map[value.NodeID]bool // those of them that a RECALL's own words found
}

// checkEvery is how many steps pass between looks at the context and the clock.
// At some tens of nanoseconds a step that is well below a millisecond.
const checkEvery = 4096

// step counts n units of work.
func (x *exec) step(n int) error {
	x.check -= n
	if x.check > 0 {
		return nil
	}
	x.steps -= int64(checkEvery - x.check)
	x.check = checkEvery
	if x.steps < 0 {
		return exhausted("traversal steps", x.in.Budget.Steps, "")
	}
	return x.alive()
}

// taken returns how many steps have been counted so far.
func (x *exec) taken() int64 { return x.in.Budget.Steps - x.steps + int64(checkEvery-x.check) }

// pass counts that some bytes of values are gone through at once, when they are
// many; see fn.Context.Pass.
func (x *exec) pass(bytes int64) error {
	if bytes < 2*passBytes {
		return nil
	}
	return x.step(int(bytes / passBytes))
}

// passBytes is how much of values is gone through in about the time of a step.
const passBytes = 256

// alive looks at the context and the clock.
func (x *exec) alive() error {
	if err := x.ctx.Err(); err != nil {
		return err
	}
	if x.in.Now().After(x.deadline) {
		return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted",
			"the statement ran longer than its time budget of %s", x.in.Budget.Time)
	}
	return nil
}

// grow takes bytes of the memory budget; a negative number gives them back.
func (x *exec) grow(bytes int64) error {
	x.memory -= bytes
	if x.memory < 0 {
		return exhausted("memory", x.in.Budget.Memory, " bytes")
	}
	return nil
}

func exhausted(what string, limit int64, unit string) error {
	return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted",
		"the statement exceeded its budget of %s, %d%s", what, limit, unit)
}

// frame is what the operators of one part share while it runs: the environment
// of its expressions and the values given from outside.
type frame struct {
	*exec
	env   eval.Env
	width int
	few   bool // the first row is wanted: batches begin with one row and grow
	ready bool
	args  []value.Value // by slot; of the part's Args
}

// release lets go of the execution.
func (f *frame) release() {
	if f.ready {
		f.env.Reset()
		f.ready = false
	}
}

// setup readies the environment for an execution, once: parts of subqueries are
// opened for every row.
func (f *frame) setup(x *exec) {
	if f.ready {
		return
	}
	f.ready = true
	f.exec = x
	f.env.Reader = x.r
	f.env.Params = x.in.Params
	f.env.ReadOnly = x.w == nil || !x.inst.deletes
	f.env.Runner = x.inst
	f.env.Step = x.inst.stepFn
	f.env.Grow = x.inst.growFn
	f.env.Rand = x.inst.rand
	f.env.Statement = x.inst.started
	f.env.Transaction = x.inst.begun
	f.env.Now = x.inst.nowFn
	if n := x.inst.plan.Locals; len(f.env.Locals) < n {
		f.env.Locals = make([]value.Value, n)
	}
}
