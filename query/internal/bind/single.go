package bind

import (
	"strings"

	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// single is the state of one single query: its row layout, the scope that the
// next clause sees and the clauses bound so far.
type single struct {
	b     *binder
	rows  *rows
	scope *scope
	outer *importer
	out   *bound.Single
	// columns are set by the clause that ends the query with rows.
	columns []string
	// always are the variables of the surroundings, which stay visible behind
	// WITH inside a subquery expression.
	always map[string]int
}

// single binds one part of a query and returns its columns.
func (b *binder) single(part *syntax.SingleQuery, outer *importer, union bool) (*bound.Single, []string) {
	s := &single{b: b, rows: &rows{}, outer: outer, out: &bound.Single{}}
	s.scope = newScope(s.rows)
	clauses := part.Clauses
	if outer != nil {
		clauses = outer.enter(s, clauses)
	}
	if len(clauses) == 0 {
		b.fail(fault.Syntax("InvalidClauseComposition", startOf(part), "there is nothing to do in this query"))
	}
	if outer == nil && !union && len(clauses) == 1 && s.alone(clauses[0]) {
		return s.finish()
	}
	binding := 0 // clauses
	for i, c := range clauses {
		before := len(s.rows.vars)
		s.clause(c, i == len(clauses)-1)
		if len(s.rows.vars) > before {
			binding++
			s.checkSize(c.At(), binding)
		}
		if b.err != nil {
			break
		}
	}
	if b.err == nil {
		s.checkEnd(clauses[len(clauses)-1])
	}
	return s.finish()
}

// startOf is the place of the first clause, if there is one.
func startOf(part *syntax.SingleQuery) syntax.Span {
	if len(part.Clauses) == 0 {
		return syntax.Span{}
	}
	return part.Clauses[0].At()
}

func (s *single) finish() (*bound.Single, []string) {
	s.out.Width = len(s.rows.vars)
	s.out.Vars = s.rows.vars
	s.out.Args = s.rows.args
	return s.out, s.columns
}

func (s *single) emit(c bound.Clause) { s.out.Clauses = append(s.out.Clauses, c) }

// alone binds a clause that has a meaning of its own when it is the whole
// statement, and reports whether it was one.
func (s *single) alone(c syntax.Clause) bool {
	switch c := c.(type) {
	case *syntax.Call:
		s.standaloneCall(c)
	case *syntax.Remember:
		s.standaloneRemember(c)
	case *syntax.CallSubquery:
		if !c.Memory {
			return false
		}
		s.standaloneSubquery(c)
	case *syntax.SchemaChange:
		s.schemaChange(c)
	default:
		return false
	}
	return true
}

// clause binds one clause and appends it.
func (s *single) clause(c syntax.Clause, last bool) {
	if s.columns != nil || s.returned() {
		if p, ok := c.(*syntax.Projection); ok && p.Word != "" && p.Where == nil && p.Items == nil {
			s.b.fail(fault.Syntax("UnexpectedSyntax", c.At(), "ORDER BY, SKIP and LIMIT stand behind RETURN once, in this order"))
			return
		}
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.At(), "nothing may follow RETURN in a query").
			WithHint("Use WITH in place of RETURN to go on."))
		return
	}
	switch c := c.(type) {
	case *syntax.Finish:
		s.checkFinish(c, last)
	case *syntax.Match:
		s.match(c)
	case *syntax.Unwind:
		s.unwind(c)
	case *syntax.Projection:
		s.projection(c)
	case *syntax.Call:
		s.call(c)
	case *syntax.CallSubquery:
		s.callSubquery(c)
	case *syntax.Recall:
		s.recall(c, last)
	case *syntax.SchemaChange:
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.Span, "a command on indexes or constraints stands alone").
			WithHint("Run it as a statement of its own."))
	default:
		s.update(c)
	}
}

func (s *single) returned() bool {
	if len(s.out.Clauses) == 0 {
		return false
	}
	p, ok := s.out.Clauses[len(s.out.Clauses)-1].(*bound.Project)
	return ok && p.Return
}

// checkFinish refuses FINISH where it is not the end, or where rows are what is asked.
func (s *single) checkFinish(c *syntax.Finish, last bool) {
	switch {
	case !last:
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.Span, "nothing may follow FINISH in a query"))
	case s.outer != nil && s.outer.anyEnd:
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.Span, "FINISH leaves no rows for the subquery to look at").
			WithHint("Leave it out."))
	}
}

// checkEnd refuses queries that compute rows and drop them.
func (s *single) checkEnd(last syntax.Clause) {
	if s.outer != nil && s.outer.anyEnd {
		return
	}
	what := ""
	switch last := last.(type) {
	case *syntax.Match:
		what = "MATCH"
	case *syntax.Unwind:
		what = "UNWIND"
	case *syntax.Projection:
		if !last.Return {
			if what = last.Word; what == "" {
				what = "WITH"
			}
		}
	case *syntax.Call:
		if last.HasYield {
			what = "CALL ... YIELD"
			switch {
			case last.Show:
				what, _, _ = strings.Cut(last.Procedure[0], " ") // SHOW or REPLAY
			case last.Memory:
				what = last.Procedure[0] + " ... YIELD"
			}
		}
	case *syntax.Recall:
		if s.columns == nil {
			what = "RECALL"
		}
	case *syntax.CallSubquery:
		if call, ok := s.out.Clauses[len(s.out.Clauses)-1].(*bound.CallSubquery); ok && len(call.Out) > 0 {
			what = "a CALL { } that returns something"
			if last.Memory {
				what = "CONSOLIDATE"
			}
		}
	}
	if what != "" {
		s.b.fail(fault.Syntax("InvalidClauseComposition", last.At(), "a query can't end with %s", what).
			WithHint("Add a RETURN."))
	}
}

func (s *single) unwind(c *syntax.Unwind) {
	list := s.expr(c.List, "UNWIND")
	elem := bound.Any
	if t := list.Type(); t.Only(kList) && t.Elem != nil {
		elem = *t.Elem
	}
	slot := s.b.define(s.scope, c.As, elem)
	s.emit(&bound.Unwind{Span: c.Span, List: list, Slot: slot})
}
