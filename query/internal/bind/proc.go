package bind

import (
	"fmt"
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// standaloneCall binds a CALL that is the whole statement: its arguments may
// come from parameters of their names, and without YIELD all outputs are
// returned.
func (s *single) standaloneCall(c *syntax.Call) {
	proc := s.procedure(c)
	if proc == nil {
		return
	}
	s.b.writes = s.b.writes || proc.Writes
	s.b.learning = s.b.learning || proc.Learning
	out := &bound.CallProc{Span: c.Span, Name: proc.Name, Writes: proc.Writes, Deletes: proc.Deletes}
	if c.Implicit {
		for _, a := range proc.Args {
			s.b.implicit = append(s.b.implicit, a.Name)
			out.Args = append(out.Args, &bound.Param{Info: info(c.Span, a.Type), Name: a.Name})
		}
	} else {
		out.Args = s.procedureArgs(c, proc)
	}
	yield := c.Yield
	if !c.HasYield || c.YieldStar {
		yield = everyOutput(proc, c.Span)
	}
	out.Yields = s.yields(yield, proc.Outputs, proc.Name)
	out.Where = s.predicate(c.Where, "WHERE")
	s.emit(out)
	s.returnYields(out.Yields, c.Span)
}

// call binds a CALL among other clauses.
func (s *single) call(c *syntax.Call) {
	proc := s.procedure(c)
	if proc == nil {
		return
	}
	yield := c.Yield
	switch {
	case proc.Writes && !proc.Clause:
		s.b.fail(fault.Syntax("InvalidClauseComposition", c.Span, "%s stands alone, as a statement of its own", proc.Name))
		return
	case c.YieldStar && c.Show:
		yield = everyOutput(proc, c.Span)
	case c.YieldStar:
		s.b.fail(fault.Syntax("UnexpectedSyntax", c.Span, "YIELD * works only when CALL is the whole statement").
			WithHint("Name the outputs."))
		return
	}
	if c.Implicit && len(proc.Args) > 0 {
		s.b.fail(fault.Syntax("InvalidArgumentPassingMode", c.Span, "a CALL among other clauses needs its arguments in parentheses"))
		return
	}
	s.b.writes = s.b.writes || proc.Writes
	s.b.learning = s.b.learning || proc.Learning
	out := &bound.CallProc{
		Span: c.Span, Name: proc.Name, Args: s.procedureArgs(c, proc), Writes: proc.Writes, Deletes: proc.Deletes,
	}
	out.Yields = s.yields(yield, proc.Outputs, proc.Name)
	out.Where = s.predicate(c.Where, "WHERE")
	s.emit(out)
}

// everyOutput is what YIELD * stands for.
func everyOutput(proc *Procedure, at syntax.Span) []*syntax.YieldItem {
	var out []*syntax.YieldItem
	for _, o := range proc.Outputs {
		out = append(out, &syntax.YieldItem{Span: at, Field: &syntax.Name{Span: at, Text: o.Name}})
	}
	return out
}

// procedure looks the procedure up, or reports that there is none.
func (s *single) procedure(c *syntax.Call) *Procedure {
	name := strings.Join(c.Procedure, ".")
	if s.b.procedures != nil {
		if p, ok := s.b.procedures.Lookup(name); ok {
			return p
		}
	}
	err := fault.New(fault.ProcedureError, fault.CompileTime, "ProcedureNotFound", c.Span, "there is no procedure %s", name)
	if l, ok := s.b.procedures.(interface{ Names() []string }); ok {
		names := l.Names()
		if near := fault.NearestName(name, names); near != "" {
			err = err.WithHint("Did you mean %s?", near)
		} else {
			err = err.WithHint("There are %s.", strings.Join(names, ", "))
		}
	}
	s.b.fail(err)
	return nil
}

func (s *single) procedureArgs(c *syntax.Call, proc *Procedure) []bound.Expr {
	if least := len(proc.Args) - proc.Optional; len(c.Args) < least || len(c.Args) > len(proc.Args) {
		arity := fmt.Sprintf("%d arguments", len(proc.Args))
		switch {
		case proc.Optional > 0:
			to := "to"
			if least+1 == len(proc.Args) {
				to = "or"
			}
			arity = fmt.Sprintf("%d %s %s", least, to, arity)
		case len(proc.Args) == 1:
			arity = "1 argument"
		}
		s.b.wrongCount(c.Span, proc.Name, arity, len(c.Args))
		return nil
	}
	if proc.Check != nil {
		if err := proc.Check(c.Args); err != nil {
			s.b.fail(err)
			return nil
		}
	}
	s.b.whole = s.b.whole || proc.Whole
	var out []bound.Expr
	for i, e := range c.Args {
		arg := s.expr(e, "CALL")
		kinds := proc.Args[i].Type.Kinds
		if kinds&kFloat != 0 {
			kinds |= kInt // an integer is taken where a float is asked for
		}
		s.b.demand(arg, kinds, "argument "+proc.Args[i].Name+" of "+proc.Name)
		out = append(out, arg)
	}
	for len(out) < len(proc.Args) {
		out = append(out, &bound.Const{Info: info(c.Span, bound.Null), Value: value.Null})
	}
	return out
}

// yields binds YIELD items against the fields there are; what names their
// source.
func (s *single) yields(items []*syntax.YieldItem, fields []Field, what string) []bound.Yield {
	var out []bound.Yield
	for _, item := range items {
		field, ok := findField(fields, item.Field.Text)
		if !ok {
			s.unknownField(item.Field, fields, what)
			return out
		}
		name := item.Field
		if item.As != nil {
			name = item.As
		}
		slot := s.b.define(s.scope, name, orNull(field.Type))
		out = append(out, bound.Yield{Field: field.Name, Slot: slot, Name: name.Text})
	}
	return out
}

func findField(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

func (s *single) unknownField(name *syntax.Name, fields []Field, what string) {
	var known []string
	for _, f := range fields {
		known = append(known, f.Name)
	}
	err := fault.Syntax("UndefinedVariable", name.At(), "%s yields no `%s`", what, name.Text)
	if near := fault.NearestName(name.Text, known); near != "" {
		err = err.WithHint("Did you mean `%s`?", near)
	} else if len(known) > 0 {
		err = err.WithHint("It yields %s.", strings.Join(known, ", "))
	}
	s.b.fail(err)
}

// returnYields returns what a clause yielded, for statements that end with it.
func (s *single) returnYields(yields []bound.Yield, at syntax.Span) {
	if len(yields) == 0 {
		return
	}
	out := &bound.Project{Span: at, Return: true}
	for _, y := range yields {
		e := s.rows.read(y.Slot, at)
		slot := s.rows.slot(y.Name, e.Type())
		out.Items = append(out.Items, bound.Item{Expr: e, Slot: slot, Name: y.Name})
		s.out.Out = append(s.out.Out, slot)
		s.columns = append(s.columns, y.Name)
	}
	s.emit(out)
}
