package logical

import (
	"strings"

	"engram/query/internal/bound"
)

// Steady reports whether a subquery has the same answer for every row: it reads
// nothing of the row, nothing that the statement changes, and no chance.
func (p *Plan) Steady(s *bound.Subquery) bool {
	q := p.Subqueries[s]
	return q != nil && len(s.Outer) == 0 && !p.Writes && p.steady(q)
}

func (p *Plan) steady(q *Query) bool {
	for _, part := range q.Parts {
		if !p.steadyOp(part.Op) {
			return false
		}
	}
	return true
}

func (p *Plan) steadyOp(op Op) bool {
	switch o := op.(type) {
	case *CallProc:
		return false // who knows
	case *CallSubquery:
		if !p.steady(o.Query) {
			return false
		}
	}
	ok := true
	for _, e := range exprsOf(op) {
		Walk(e, func(e bound.Expr) {
			if call, is := e.(*bound.Call); is && (strings.EqualFold(call.Name, "rand") || strings.EqualFold(call.Name, "randomUUID")) {
				ok = false
			}
		})
	}
	for _, in := range op.Inputs() {
		ok = ok && p.steadyOp(*in)
	}
	for _, s := range subqueries(op) {
		ok = ok && p.steady(p.Subqueries[s])
	}
	return ok
}
