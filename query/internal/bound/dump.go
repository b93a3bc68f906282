package bound

import (
	"fmt"
	"strconv"
	"strings"

	"engram/query/internal/syntax"
)

// Dump writes a bound statement for tests: one clause a line, each binding of a
// variable with its slot as name@slot, subqueries indented.
func Dump(s *Statement) string {
	var b strings.Builder
	if len(s.Columns) > 0 {
		fmt.Fprintf(&b, "columns: %s\n", strings.Join(s.Columns, ", "))
	}
	if s.Writes {
		b.WriteString("writes\n")
	}
	if s.Locals > 0 {
		fmt.Fprintf(&b, "locals: %d\n", s.Locals)
	}
	if len(s.Implicit) > 0 {
		fmt.Fprintf(&b, "implicit: %s\n", strings.Join(s.Implicit, ", "))
	}
	dumpQuery(&b, s.Query, "")
	return b.String()
}

func dumpQuery(b *strings.Builder, q *Query, indent string) {
	for i, part := range q.Parts {
		if i > 0 {
			b.WriteString(indent + "UNION")
			if q.All[i-1] {
				b.WriteString(" ALL")
			}
			b.WriteByte('\n')
		}
		for _, c := range part.Clauses {
			b.WriteString(indent + FormatClause(c, part.Vars) + "\n")
			if call, ok := c.(*CallSubquery); ok {
				dumpQuery(b, call.Query, indent+"  ")
			}
		}
	}
}

// FormatClause writes a clause on one line. vars are those of its query.
func FormatClause(c Clause, vars []Var) string {
	f := clauseFormatter{vars: vars}
	f.clause(c)
	return f.String()
}

type clauseFormatter struct {
	formatter
	vars []Var
}

// slot writes a slot where a value is put into it.
func (f *clauseFormatter) slot(i int) string {
	name := ""
	if i >= 0 && i < len(f.vars) {
		name = f.vars[i].Name
	}
	if name == "" {
		return "_" + strconv.Itoa(i)
	}
	return Quote(name) + "@" + strconv.Itoa(i)
}

func (f *clauseFormatter) clause(c Clause) {
	switch c := c.(type) {
	case *Match:
		if c.Optional {
			f.WriteString("OPTIONAL ")
		}
		f.WriteString("MATCH ")
		f.patterns(c.Patterns)
		f.tail("WHERE", c.Where)
	case *Unwind:
		f.WriteString("UNWIND ")
		f.expr(c.List, 0)
		f.WriteString(" AS " + f.slot(c.Slot))
	case *Project:
		f.project(c)
	case *Create:
		f.WriteString("CREATE ")
		f.patterns(c.Patterns)
	case *Merge:
		f.WriteString("MERGE ")
		f.pattern(c.Pattern)
		f.sets(" ON CREATE SET ", c.OnCreate)
		f.sets(" ON MATCH SET ", c.OnMatch)
	case *Set:
		f.sets("SET ", c.Items)
	case *Remove:
		f.removes(c)
	case *Delete:
		if c.Detach {
			f.WriteString("DETACH ")
		}
		f.list("DELETE ", "", c.Exprs...)
	case *Foreach:
		f.foreach(c)
	case *CallProc:
		f.list("CALL "+c.Name+"(", ")", c.Args...)
		f.yields(c.Yields)
		f.tail("WHERE", c.Where)
	case *CallSubquery:
		f.callSubquery(c)
	case *SchemaChange:
		verb := "CREATE "
		if c.Drop {
			verb = "DROP "
		}
		f.WriteString(verb + c.Def.Name + " " + c.Def.String())
	case *Remember:
		f.remember(c)
	case *Recall:
		f.recall(c)
	default:
		fmt.Fprintf(f, "<%T>", c)
	}
}

func (f *clauseFormatter) tail(word string, e Expr) {
	if e != nil {
		f.WriteString(" " + word)
		if word != "" {
			f.WriteByte(' ')
		}
		f.expr(e, 0)
	}
}

func (f *clauseFormatter) project(c *Project) {
	f.WriteString(map[bool]string{false: "WITH", true: "RETURN"}[c.Return])
	if c.Distinct {
		f.WriteString(" DISTINCT")
	}
	f.WriteByte(' ')
	f.items(c.Items)
	if c.Aggregates {
		f.WriteString(" GROUP [")
		f.items(c.Group)
		f.WriteString("] AGGREGATE [")
		for i := range c.Aggs {
			f.agg(&c.Aggs[i], i)
		}
		f.WriteByte(']')
	}
	for i, s := range c.OrderBy {
		f.WriteString([...]string{", ", " ORDER BY "}[boolInt(i == 0)])
		f.expr(s.Expr, 0)
		if s.Desc {
			f.WriteString(" DESC")
		}
	}
	f.tail("SKIP", c.Skip)
	f.tail("LIMIT", c.Limit)
	f.tail("WHERE", c.Where)
}

func (f *clauseFormatter) items(items []Item) {
	for i, it := range items {
		if i > 0 {
			f.WriteString(", ")
		}
		f.expr(it.Expr, 0)
		f.WriteString(" AS " + f.slot(it.Slot))
	}
}

func (f *clauseFormatter) agg(a *Agg, i int) {
	if i > 0 {
		f.WriteString(", ")
	}
	open := a.Name + "("
	if a.Distinct {
		open += "DISTINCT "
	}
	if len(a.Args) == 0 {
		open += "*"
	}
	f.list(open, ")", a.Args...)
	f.WriteString(" AS " + f.slot(a.Slot))
}

func (f *clauseFormatter) foreach(c *Foreach) {
	f.WriteString("FOREACH (" + f.slot(c.Slot) + " IN ")
	f.expr(c.List, 0)
	f.WriteString(" |")
	for _, b := range c.Body {
		f.WriteByte(' ')
		f.clause(b)
	}
	f.WriteByte(')')
}

func (f *clauseFormatter) callSubquery(c *CallSubquery) {
	f.WriteString("CALL { }")
	for i, slot := range c.Outer {
		fmt.Fprintf(f, " %s TO %d", f.slot(slot), c.Inner[i])
	}
	for i, slot := range c.Out {
		f.WriteString([...]string{", ", " YIELD "}[boolInt(i == 0)] + f.slot(slot))
	}
}

func (f *clauseFormatter) yields(ys []Yield) {
	for i, y := range ys {
		f.WriteString([...]string{", ", " YIELD "}[boolInt(i == 0)] + Quote(y.Field) + " AS " + f.slot(y.Slot))
	}
}

func (f *clauseFormatter) remember(c *Remember) {
	f.WriteString("REMEMBER ")
	f.expr(c.Text, 0)
	for i, l := range c.Labels {
		f.WriteString([...]string{":", " :"}[boolInt(i == 0)] + Quote(l))
	}
	if c.Props != nil {
		f.WriteByte(' ')
		f.expr(c.Props, 0)
	}
	for _, l := range c.Links {
		f.WriteString(" LINK (" + f.slot(l.Node) + ") AS :" + Quote(l.Type))
		f.tail("WEIGHT", l.Weight)
	}
	if c.Alone {
		f.WriteString(" ALONE")
	}
	f.WriteString(" AS " + f.slot(c.Slot))
	if c.Created >= 0 {
		f.WriteString(" CREATED " + f.slot(c.Created))
	}
}

func (f *clauseFormatter) recall(c *Recall) {
	f.WriteString(c.Verb.String())
	first := " FROM "
	if c.Query == nil {
		first = " "
	}
	f.tail("", c.Query)
	for i, s := range c.From {
		f.WriteString([...]string{", ", first}[boolInt(i == 0)])
		f.expr(s.Node, 0)
		f.tail("WEIGHT", s.Weight)
	}
	if c.Self {
		f.WriteString(" SELF")
	}
	f.types(" VIA :", c.Via)
	f.types(" AGAINST :", c.Not)
	if c.Where != nil {
		f.WriteString(" FOR " + f.slot(c.Node))
		f.tail("WHERE", c.Where)
	}
	f.tail("DEPTH", c.Depth)
	f.tail("IN LAYERS", c.Layers)
	f.tail("AS OF", c.AsOf)
	f.tail("WITHIN", c.Within)
	f.tail("BETWEEN", c.Since)
	f.tail("AND", c.Until)
	if len(c.Including) > 0 {
		f.WriteString(" INCLUDING " + strings.Join(c.Including, "|"))
	}
	f.tail("AT", c.Reference)
	f.tail("BUDGET", c.Budget)
	f.tail("OF CONVERSATION", c.Conversation)
	f.tail("NOT", c.Missing)
	f.tail("LIMIT", c.Limit)
	if c.Reinforce {
		f.WriteString(" REINFORCE")
	}
	f.yields(c.Yields)
}

func (f *clauseFormatter) types(open string, names []string) {
	if len(names) == 0 {
		return
	}
	f.WriteString(open)
	for i, n := range names {
		if i > 0 {
			f.WriteByte('|')
		}
		f.WriteString(Quote(n))
	}
}

func (f *clauseFormatter) sets(open string, items []*SetItem) {
	for i, s := range items {
		f.WriteString([...]string{", ", open}[boolInt(i == 0)])
		f.expr(s.Target, levelPostfix)
		switch s.Kind {
		case syntax.SetProperty:
			f.WriteString("." + Quote(s.Key) + " = ")
		case syntax.SetReplace:
			f.WriteString(" = ")
		case syntax.SetMerge:
			f.WriteString(" += ")
		case syntax.UnsetLabels:
			f.WriteString(" without ")
		}
		f.labels(s.Labels)
		if s.Kind == syntax.SetLabels && s.Value != nil {
			f.WriteString(":")
		}
		f.expr(s.Value, 0)
	}
}

func (f *clauseFormatter) removes(c *Remove) {
	for i, r := range c.Items {
		f.WriteString([...]string{", ", "REMOVE "}[boolInt(i == 0)])
		f.expr(r.Target, levelPostfix)
		f.labels(r.Labels)
		if len(r.Labels) == 0 {
			f.WriteString("." + Quote(r.Key))
		}
	}
}

func (f *clauseFormatter) labels(names []string) {
	for _, n := range names {
		f.WriteString(":" + Quote(n))
	}
}
