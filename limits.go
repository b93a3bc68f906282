package engram

import (
	"context"
	"slices"
	"time"

	"engram/graph"
	"engram/graph/vocab"
	"engram/query"
)

// Limits narrow what statements may do that run with a context of WithLimits. They
// can only take away: a budget larger than that of Options has no effect.
type Limits struct {
	// ReadOnly refuses statements that would change anything, also what is learned
	// from use, with CodeReadOnly.
	ReadOnly bool
	// NoVerdicts makes nodes with the label Verdict, and the edges that lead to them, as if
	// they were not there. Statements that name the label or ask for the class are refused
	// with CodeWithheld.
	NoVerdicts bool
	// Without are labels whose nodes, and the edges that lead to them, are as if they were
	// not there. A statement that gives a node one of them is refused with CodeWithheld.
	Without []string
	// Withheld is told of the statements that were refused so, which Stats counts. nil:
	// nobody is.
	Withheld func(statement string)
	// Time bounds one statement; 0: as Options.StatementTimeout says.
	Time time.Duration
	// Memory bounds in bytes what one statement holds; 0: as Options.StatementMemory says.
	Memory int64
	// Rows bounds the rows of one result; 0: as Options.StatementRows says.
	Rows int64
	// Steps bounds the work of one statement; 0: as Options.StatementSteps says.
	Steps int64
}

type limitsKey struct{}

// WithLimits returns a context with which statements are held to the limits. Those
// of the context it is made of hold as well.
func WithLimits(ctx context.Context, l Limits) context.Context {
	if outer, ok := ctx.Value(limitsKey{}).(Limits); ok {
		l.ReadOnly = l.ReadOnly || outer.ReadOnly
		l.NoVerdicts = l.NoVerdicts || outer.NoVerdicts
		l.Without = append(slices.Clone(l.Without), outer.Without...)
		if l.Withheld == nil {
			l.Withheld = outer.Withheld
		}
		l.Time = narrower(l.Time, outer.Time)
		l.Memory = narrower(l.Memory, outer.Memory)
		l.Rows = narrower(l.Rows, outer.Rows)
		l.Steps = narrower(l.Steps, outer.Steps)
	}
	return context.WithValue(ctx, limitsKey{}, l)
}

// narrow returns the budget that the context leaves of one.
func narrow(ctx context.Context, b query.Budget) query.Budget {
	l, ok := ctx.Value(limitsKey{}).(Limits)
	if !ok {
		return b
	}
	d := query.DefaultBudget()
	b.Time = narrower(or(b.Time, d.Time), l.Time)
	b.Memory = narrower(or(b.Memory, d.Memory), l.Memory)
	b.Rows = narrower(or(b.Rows, d.Rows), l.Rows)
	b.Steps = narrower(or(b.Steps, d.Steps), l.Steps)
	return b
}

// narrower returns the smaller of two bounds, of which one that is not positive is
// none.
func narrower[T ~int64](a, b T) T {
	if b > 0 && (a <= 0 || b < a) {
		return b
	}
	return a
}

func or[T ~int64](a, b T) T {
	if a == 0 {
		return b
	}
	return a
}

// readOnlyCtx reports whether the context allows reading only.
func readOnlyCtx(ctx context.Context) bool {
	l, _ := ctx.Value(limitsKey{}).(Limits)
	return l.ReadOnly
}

// withhold hides what the context withholds from a transaction, and refuses a statement
// that asks for it.
func (db *DB) withhold(ctx context.Context, tx *graph.Tx, plan *query.Plan, text string) error {
	l, _ := ctx.Value(limitsKey{}).(Limits)
	if !l.NoVerdicts {
		tx.Withhold(l.Without...)
		return nil
	}
	if plan != nil && plan.AsksForVerdicts() {
		db.withheld.Add(1)
		if l.Withheld != nil {
			l.Withheld(text)
		}
		return newError(CodeWithheld, "verdicts are a class of their own, which is not read or written here: see engramd verdict")
	}
	tx.Withhold(append([]string{vocab.LabelVerdict}, l.Without...)...)
	return nil
}

func errReadOnlyCtx() error {
	return newError(CodeReadOnly, "the statement writes, and only reading is allowed here")
}

// QueryOnce is Query for a statement that writes, at most once for each idempotency
// key: 1 to 256 bytes of the caller's choice. When a transaction with the key was
// committed before, nothing is written, repeated is true, and the result is empty.
// Keys are kept for the newest 100,000 transactions that have one.
func (db *DB) QueryOnce(ctx context.Context, key, text string, params map[string]any) (res *Result, repeated bool, err error) {
	if key == "" {
		return nil, false, newError(CodeInvalidArgument, "the idempotency key is empty")
	}
	if _, ok, err := db.Committed(key); err != nil || ok {
		return &Result{}, ok, err
	}
	opts := onceOptions{key: key}
	res, err = db.queryWith(ctx, text, params, db.runOptions(time.Time{}), &opts)
	if err == nil && opts.repeated {
		res = &Result{}
	}
	return res, opts.repeated, convert(err, text)
}

// onceOptions are what QueryOnce asks of a write, and is told.
type onceOptions struct {
	key      string
	repeated bool
}
