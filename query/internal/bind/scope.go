package bind

import (
	"sort"
	"strings"

	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// rows is the row layout of one single query while it is being bound.
type rows struct {
	vars []bound.Var
	args []int // see bound.Single
	// base is the number of locals of the expressions around a subquery.
	base int
}

// slot adds a slot.
func (r *rows) slot(name string, t bound.Type) int {
	r.vars = append(r.vars, bound.Var{Name: name, Type: t})
	return len(r.vars) - 1
}

// scope is the variables that a clause sees, with their slots.
type scope struct {
	rows  *rows
	slots map[string]int
}

func newScope(r *rows) *scope { return &scope{rows: r, slots: map[string]int{}} }

// clone copies the scope, so that a clause can add to it.
func (s *scope) clone() *scope {
	c := newScope(s.rows)
	for name, slot := range s.slots {
		c.slots[name] = slot
	}
	return c
}

// declare adds a new variable; the caller has seen that the name is free.
func (s *scope) declare(name string, t bound.Type) int {
	slot := s.rows.slot(name, t)
	s.slots[name] = slot
	return slot
}

func (s *scope) has(name string) bool {
	_, ok := s.slots[name]
	return ok
}

// read makes the expression that reads a variable of the scope.
func (s *scope) read(name string, at syntax.Span) (bound.Expr, bool) {
	slot, ok := s.slots[name]
	if !ok {
		return nil, false
	}
	return s.rows.read(slot, at), true
}

func (r *rows) read(slot int, at syntax.Span) bound.Expr {
	v := r.vars[slot]
	return &bound.Slot{Info: bound.Info{Span: at, T: v.Type}, Index: slot, Name: v.Name}
}

// names lists the variables in alphabetical order.
func (s *scope) names() []string {
	out := make([]string, 0, len(s.slots))
	for name := range s.slots {
		out = append(out, name)
	}
	sort.Strings(out)
	return out
}

// undefined reports a variable that nobody defined. known are the names that
// could have been meant.
func (b *binder) undefined(name string, at syntax.Span, known []string) {
	err := fault.Syntax("UndefinedVariable", at, "variable `%s` is not defined", name)
	if near := fault.NearestName(name, known); near != "" {
		err = err.WithHint("Did you mean `%s`?", near)
	} else {
		err.Hint = definedHint(known)
	}
	if b.err == nil {
		b.missing = name
	}
	b.fail(err)
}

// definedHint lists the variables there are, a few at most.
func definedHint(known []string) string {
	const most = 5
	switch {
	case len(known) == 0:
		return "No variable is defined here. Text is written in quotes."
	case len(known) > most:
		return ""
	}
	return "Defined here: `" + strings.Join(known, "`, `") + "`. Text is written in quotes."
}

// alreadyBound reports a clause that binds a name which has a value already.
func (b *binder) alreadyBound(name string, at syntax.Span) {
	b.fail(fault.Syntax("VariableAlreadyBound", at, "variable `%s` is already defined", name).
		WithHint("Choose another name."))
}

// define declares a variable that must be new.
func (b *binder) define(s *scope, name *syntax.Name, t bound.Type) int {
	if s.has(name.Text) {
		b.alreadyBound(name.Text, name.At())
		return s.slots[name.Text]
	}
	return s.declare(name.Text, t)
}
