package bind

import (
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

const (
	// maxParts bounds the parts of a union: each is planned for itself, and its
	// operators are kept with the plan.
	maxParts = 5_000
	// maxBinding bounds the clauses of a query that bind something, times what they
	// bind: binding takes that much work, and the executor, which makes room for
	// every variable in every operator, refuses more anyway.
	maxBinding = 2_800_000
)

func tooLarge(at syntax.Span, format string, args ...any) *fault.Error {
	return fault.New(fault.ResourceExhausted, fault.CompileTime, "StatementTooLarge", at, format, args...)
}

// checkSize refuses a query with too many clauses that bind something. binding is
// their number so far.
func (s *single) checkSize(at syntax.Span, binding int) {
	if width := len(s.rows.vars); binding*width > maxBinding {
		s.b.fail(tooLarge(at, "the statement has over %d clauses with %d variables and unnamed parts of patterns, which is too much for one",
			binding, width).WithHint("Split it, or put the data into a list parameter and UNWIND it."))
	}
}
