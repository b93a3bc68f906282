package bound

import (
	"fmt"
	"strconv"
	"strings"

	"engram/graph/value"
	"engram/query/internal/syntax"
)

// Format writes an expression the way a user would, with as few parentheses as
// its meaning allows. Variables appear under their names, anonymous ones as
// _N with the slot's number. It is for EXPLAIN and tests.
func Format(e Expr) string {
	f := formatter{}
	f.expr(e, 0)
	return f.String()
}

type formatter struct{ strings.Builder }

// The binding strengths, weakest first.
const (
	levelOr = iota + 1
	levelXor
	levelAnd
	levelNot
	levelCompare
	levelAdd
	levelMul
	levelPow
	levelSign
	levelPostfix
)

type operator struct {
	text  string
	level int
}

func operatorOf(op syntax.Op) operator {
	switch op {
	case syntax.OpOr:
		return operator{"OR", levelOr}
	case syntax.OpXor:
		return operator{"XOR", levelXor}
	case syntax.OpAnd:
		return operator{"AND", levelAnd}
	case syntax.OpNot:
		return operator{"NOT ", levelNot}
	case syntax.OpEq:
		return operator{"=", levelCompare}
	case syntax.OpNe:
		return operator{"<>", levelCompare}
	case syntax.OpLt:
		return operator{"<", levelCompare}
	case syntax.OpLe:
		return operator{"<=", levelCompare}
	case syntax.OpGt:
		return operator{">", levelCompare}
	case syntax.OpGe:
		return operator{">=", levelCompare}
	case syntax.OpIn:
		return operator{"IN", levelCompare}
	case syntax.OpStartsWith:
		return operator{"STARTS WITH", levelCompare}
	case syntax.OpEndsWith:
		return operator{"ENDS WITH", levelCompare}
	case syntax.OpContains:
		return operator{"CONTAINS", levelCompare}
	case syntax.OpMatches:
		return operator{"=~", levelCompare}
	case syntax.OpAdd:
		return operator{"+", levelAdd}
	case syntax.OpConcat:
		return operator{"||", levelAdd}
	case syntax.OpSub:
		return operator{"-", levelAdd}
	case syntax.OpMul:
		return operator{"*", levelMul}
	case syntax.OpDiv:
		return operator{"/", levelMul}
	case syntax.OpMod:
		return operator{"%", levelMul}
	case syntax.OpPow:
		return operator{"^", levelPow}
	case syntax.OpNeg:
		return operator{"-", levelSign}
	case syntax.OpPos:
		return operator{"+", levelSign}
	}
	return operator{fmt.Sprintf("op%d", op), 0}
}

// wrap writes parentheses around what body writes when an operator of that
// level stands where at least level least is wanted.
func (f *formatter) wrap(level, least int, body func()) {
	if level < least {
		f.WriteByte('(')
		body()
		f.WriteByte(')')
		return
	}
	body()
}

func (f *formatter) expr(e Expr, least int) {
	switch e := e.(type) {
	case nil:
	case *Const:
		f.WriteString(constant(e.Value))
	case *Param:
		f.WriteString("$" + Quote(e.Name))
	case *Slot:
		f.WriteString(slotName(e.Name, e.Index))
	case *Local:
		f.WriteString(Quote(e.Name))
	case *Prop:
		f.expr(e.E, levelPostfix)
		f.WriteString("." + Quote(e.Key))
	case *Index:
		f.expr(e.E, levelPostfix)
		f.list("[", "]", e.I)
	case *Slice:
		f.expr(e.E, levelPostfix)
		f.WriteByte('[')
		f.expr(e.From, 0)
		f.WriteString("..")
		f.expr(e.To, 0)
		f.WriteByte(']')
	case *List:
		f.list("[", "]", e.Elems...)
	case *Map:
		f.entries(e.Keys, e.Values, "")
	case *MapProjection:
		f.expr(e.E, levelPostfix)
		star := ""
		if e.Star {
			star = ".*"
		}
		f.entries(e.Keys, e.Values, star)
	case *Unary:
		op := operatorOf(e.Op)
		f.wrap(op.level, least, func() {
			f.WriteString(op.text)
			f.expr(e.E, op.level)
		})
	case *Binary:
		op := operatorOf(e.Op)
		f.wrap(op.level, least, func() {
			f.expr(e.L, op.level+boolInt(op.level == levelCompare))
			f.WriteString(" " + op.text + " ")
			f.expr(e.R, op.level+1)
		})
	case *IsNull:
		f.wrap(levelCompare, least, func() {
			f.expr(e.E, levelCompare+1)
			f.WriteString(map[bool]string{false: " IS NULL", true: " IS NOT NULL"}[e.Not])
		})
	case *IsTyped:
		f.wrap(levelCompare, least, func() {
			f.expr(e.E, levelCompare+1)
			f.WriteString(map[bool]string{false: " IS :: ", true: " IS NOT :: "}[e.Not] + e.Of.String())
		})
	case *HasLabels:
		f.wrap(levelCompare, least, func() {
			f.expr(e.E, levelPostfix)
			f.WriteString(":" + FormatLabels(e.Labels))
		})
	case *Call:
		f.list(e.Name+"(", ")", e.Args...)
	case *Case:
		f.caseExpr(e)
	case *ListComp:
		f.over("["+localName(e.Var, e.Where, e.Proj), e.List, e.Where, e.Proj)
		f.WriteByte(']')
	case *Quantifier:
		name := [...]string{"all", "any", "none", "single"}[e.Kind]
		f.over(name+"("+localName(e.Var, e.Where), e.List, e.Where, nil)
		f.WriteByte(')')
	case *Reduce:
		f.WriteString("reduce(" + localName(e.Acc, e.E) + " = ")
		f.expr(e.Init, 0)
		f.WriteString(", " + localName(e.Var, e.E) + " IN ")
		f.expr(e.List, 0)
		f.WriteString(" | ")
		f.expr(e.E, 0)
		f.WriteByte(')')
	case *Subquery:
		f.subquery(e)
	default:
		fmt.Fprintf(f, "<%T>", e)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (f *formatter) list(open, end string, es ...Expr) {
	f.WriteString(open)
	for i, e := range es {
		if i > 0 {
			f.WriteString(", ")
		}
		f.expr(e, 0)
	}
	f.WriteString(end)
}

// entries writes {first, k: v, ...}; a nil value is .k.
func (f *formatter) entries(keys []string, values []Expr, first string) {
	f.WriteByte('{')
	sep := ""
	if first != "" {
		f.WriteString(first)
		sep = ", "
	}
	for i, k := range keys {
		f.WriteString(sep)
		sep = ", "
		if values[i] == nil {
			f.WriteString("." + Quote(k))
			continue
		}
		f.WriteString(Quote(k) + ": ")
		f.expr(values[i], 0)
	}
	f.WriteByte('}')
}

func (f *formatter) caseExpr(e *Case) {
	f.WriteString("CASE")
	if e.Test != nil {
		f.WriteByte(' ')
		f.expr(e.Test, 0)
	}
	for i := range e.When {
		f.WriteString(" WHEN ")
		f.expr(e.When[i], 0)
		f.WriteString(" THEN ")
		f.expr(e.Then[i], 0)
	}
	if e.Else != nil {
		f.WriteString(" ELSE ")
		f.expr(e.Else, 0)
	}
	f.WriteString(" END")
}

func (f *formatter) over(open string, list, where, proj Expr) {
	f.WriteString(open + " IN ")
	f.expr(list, 0)
	if where != nil {
		f.WriteString(" WHERE ")
		f.expr(where, 0)
	}
	if proj != nil {
		f.WriteString(" | ")
		f.expr(proj, 0)
	}
}

// subquery writes the kind and the clauses on one line.
func (f *formatter) subquery(e *Subquery) {
	f.WriteString([...]string{"EXISTS", "COUNT", "COLLECT"}[e.Kind] + " { ")
	for i, part := range e.Query.Parts {
		if i > 0 {
			f.WriteString(" UNION ")
		}
		for j, c := range part.Clauses {
			if j > 0 {
				f.WriteByte(' ')
			}
			f.WriteString(FormatClause(c, part.Vars))
		}
	}
	f.WriteString(" }")
}

func slotName(name string, slot int) string {
	if name == "" {
		return "_" + strconv.Itoa(slot)
	}
	return Quote(name)
}

// localName finds the name of a local in the expressions that may read it.
func localName(index int, in ...Expr) string {
	for _, e := range in {
		name := ""
		Walk(e, func(x Expr) {
			if l, ok := x.(*Local); ok && l.Index == index && name == "" {
				name = Quote(l.Name)
			}
		})
		if name != "" {
			return name
		}
	}
	return "_"
}

// constant writes a literal as a user types it.
func constant(v value.Value) string {
	switch v.Kind() {
	case value.KindNull:
		return "null"
	case value.KindBool:
		return strconv.FormatBool(v.AsBool())
	case value.KindInt:
		return strconv.FormatInt(v.AsInt(), 10)
	case value.KindFloat:
		s := strconv.FormatFloat(v.AsFloat(), 'g', -1, 64)
		if !strings.ContainsAny(s, ".eEIN") {
			s += ".0"
		}
		return s
	case value.KindString:
		return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(v.AsString()) + "'"
	case value.KindList:
		var parts []string
		for _, e := range v.AsList() {
			parts = append(parts, constant(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	return "<" + v.Kind().String() + ">"
}

// Quote puts backticks around a name that needs them.
func Quote(name string) string {
	plain := name != ""
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 127
		if !letter && (i == 0 || r < '0' || r > '9') {
			plain = false
		}
	}
	if plain {
		return name
	}
	return "`" + strings.ReplaceAll(name, "`", "``") + "`"
}
