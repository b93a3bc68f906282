// Package bind resolves a parsed statement: variables become slots of the row,
// projections with aggregates are split into grouping, aggregation and what
// follows, patterns used as expressions become subqueries, and every error that
// the text alone can tell is reported, with the TCK's type and detail.
//
//	stmt, err := bind.Bind(parsed, nil)
//
// Binding reads no graph and no parameters, so its result can be kept and
// shared; it doesn't change the syntax tree.
package bind

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// Procedures finds the procedures that CALL knows.
type Procedures interface {
	// Lookup finds a procedure by its full name, such as text.search.
	Lookup(name string) (*Procedure, bool)
}

// Procedure is the signature of a procedure.
type Procedure struct {
	Name    string // canonical: what bound.CallProc carries
	Args    []Field
	Outputs []Field
	// Writes says that the procedure changes the graph: it is then the whole
	// statement.
	Writes bool
	// Clause says that one that writes stands among other clauses all the same.
	Clause bool
	// Learning says that the procedure is about what was learned so far.
	Learning bool
	// Deletes says that the procedure may delete nodes.
	Deletes bool
	// Optional is how many of the last arguments may be left out in parentheses;
	// they are null then.
	Optional int
	// Whole says that the procedure reads the whole graph and takes its time: a
	// transaction for it should hold up nobody.
	Whole bool
	// Check, when not nil, tells what is wrong with arguments as they are written.
	Check func(args []syntax.Expr) *fault.Error
}

// Field is a named argument or output of a procedure.
type Field struct {
	Name string
	Type bound.Type
}

// Options change what Bind knows. The zero value, like nil, knows no procedure.
type Options struct {
	Procedures Procedures
}

// Bind resolves a statement. The error is a *fault.Error of phase CompileTime
// with its place in the text.
func Bind(stmt *syntax.Statement, opts *Options) (*bound.Statement, error) {
	b := &binder{}
	if opts != nil {
		b.procedures = opts.Procedures
	}
	out := &bound.Statement{Mode: stmt.Mode, Text: stmt.Text}
	if b.checkChains(stmt.Query); b.err != nil {
		return nil, b.err
	}
	out.Query = b.query(stmt.Query, nil)
	if b.err != nil {
		return nil, b.err
	}
	out.Columns = out.Query.Columns
	out.Writes, out.Learning, out.Whole = b.writes, b.learning, b.whole
	out.Locals = b.locals
	out.Implicit = b.implicit
	return out, nil
}

// binder holds what is common to the whole statement. The first error stays in
// err; binding goes on with harmless stand-ins, whose further errors are not
// reported.
type binder struct {
	procedures Procedures
	err        error
	writes     bool
	learning   bool
	whole      bool
	locals     int // most locals in use at once
	implicit   []string
	missing    string // the variable that err says is not defined
}

func (b *binder) fail(err *fault.Error) {
	if b.err == nil {
		b.err = err
	}
}

// query binds a union. outer is nil for the statement itself.
func (b *binder) query(q *syntax.Query, outer *importer) *bound.Query {
	out := &bound.Query{All: q.All}
	for i := 1; i < len(q.All); i++ {
		if q.All[i] != q.All[0] {
			b.fail(fault.Syntax("InvalidClauseComposition", unionAt(q, i), "UNION and UNION ALL can't be mixed").
				WithHint("Use one of them throughout."))
		}
	}
	if len(q.Parts) > maxParts {
		b.fail(tooLarge(unionAt(q, maxParts-1), "a UNION has %d parts; at most %d are allowed", len(q.Parts), maxParts).
			WithHint("Split it, or put the data into a list parameter and UNWIND it."))
		return out
	}
	for i, part := range q.Parts {
		single, columns := b.single(part, outer, len(q.Parts) > 1)
		if i == 0 {
			out.Columns = columns
		} else {
			b.alignColumns(q, i, single, columns, out.Columns)
		}
		out.Parts = append(out.Parts, single)
		if b.err != nil {
			break
		}
	}
	return out
}

// alignColumns puts the columns of part i of a union into the order of the
// first part.
func (b *binder) alignColumns(q *syntax.Query, i int, s *bound.Single, columns, first []string) {
	at := unionAt(q, i-1)
	byName := make(map[string]int, len(columns))
	for j, name := range columns {
		byName[name] = s.Out[j]
	}
	aligned := make([]int, 0, len(first))
	for _, name := range first {
		if slot, ok := byName[name]; ok {
			aligned = append(aligned, slot)
		}
	}
	if len(columns) != len(first) || len(aligned) != len(first) {
		b.fail(fault.Syntax("DifferentColumnsInUnion", at, "the parts of a UNION must return the same columns").
			WithHint("Give them the same names with AS."))
		return
	}
	s.Out = aligned
}

func unionAt(q *syntax.Query, i int) syntax.Span {
	if i < len(q.Union) {
		return q.Union[i]
	}
	return syntax.Span{}
}
