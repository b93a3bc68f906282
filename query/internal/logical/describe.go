package logical

import (
	"fmt"
	"slices"
	"strings"

	"engram/query/internal/bound"
	"engram/query/internal/syntax"
	"engram/query/result"
)

// Deletes reports whether a query, or one inside it, deletes anything.
func Deletes(q *Query) bool {
	for _, p := range q.Parts {
		if deletes(p.Op) {
			return true
		}
	}
	return false
}

func deletes(op Op) bool {
	if _, ok := op.(*Delete); ok {
		return true
	}
	if c, ok := op.(*CallSubquery); ok && Deletes(c.Query) {
		return true
	}
	if c, ok := op.(*CallProc); ok && c.Call.Deletes {
		return true
	}
	for _, in := range op.Inputs() {
		if deletes(*in) {
			return true
		}
	}
	return false
}

// Notes add to the description of a plan: of each operator, and of each query that
// has a line of its own, which are unions and what the subqueries in expressions
// stand under.
type Notes struct {
	Op    func(Op, *result.Plan)
	Query func(*Query, *result.Plan)
}

// Describe returns the plan as EXPLAIN shows it, with notes unless they are nil.
func Describe(p *Plan, notes *Notes) *result.Plan {
	d := &describer{plan: p, notes: notes}
	root := d.query(p.Query)
	return &result.Plan{Operator: "ProduceResults", Detail: strings.Join(p.Columns, ", "), Inputs: []*result.Plan{root}}
}

type describer struct {
	plan *Plan
	part *Part

	notes *Notes
}

func (d *describer) noteQuery(q *Query, p *result.Plan) *result.Plan {
	if d.notes != nil {
		d.notes.Query(q, p)
	}
	return p
}

func (d *describer) query(q *Query) *result.Plan {
	var parts []*result.Plan
	for _, p := range q.Parts {
		outer := d.part
		d.part = p
		parts = append(parts, d.op(p.Op))
		d.part = outer
	}
	if len(parts) == 1 {
		return parts[0]
	}
	u := &result.Plan{Operator: "Union", Detail: "all", Inputs: parts}
	if q.Distinct {
		u.Detail = "distinct"
	}
	return d.noteQuery(q, u)
}

func (d *describer) op(op Op) *result.Plan {
	out := &result.Plan{Operator: op.Name(), Detail: d.detail(op)}
	for _, in := range op.Inputs() {
		out.Inputs = append(out.Inputs, d.op(*in))
	}
	if c, ok := op.(*CallSubquery); ok {
		out.Inputs = append(out.Inputs, d.query(c.Query))
	}
	join, _ := op.(*SemiJoin)
	for _, s := range subqueries(op) {
		if q := d.plan.Subqueries[s]; q != nil {
			if join != nil && s == join.Sub {
				out.Inputs = append(out.Inputs, d.query(q))
				continue
			}
			head := &result.Plan{Operator: subqueryNames[s.Kind], Inputs: []*result.Plan{d.query(q)}}
			out.Inputs = append(out.Inputs, d.noteQuery(q, head))
		}
	}
	if d.notes != nil {
		d.notes.Op(op, out)
	}
	return out
}

// subqueryNames are what the plans of subquery expressions stand under.
var subqueryNames = map[bound.SubqueryKind]string{bound.Exists: "Exists", bound.Count: "Count", bound.Collect: "Collect"}

// subqueries returns the subqueries in the expressions of op itself.
func subqueries(op Op) []*bound.Subquery {
	var out []*bound.Subquery
	for _, e := range exprsOf(op) {
		Walk(e, func(e bound.Expr) {
			if s, ok := e.(*bound.Subquery); ok && !slices.Contains(out, s) {
				out = append(out, s)
			}
		})
	}
	return out
}

// Below returns the operators whose rows go into op: its inputs, and what its
// subqueries end with.
func (p *Plan) Below(op Op) []Op {
	var out []Op
	for _, in := range op.Inputs() {
		out = append(out, *in)
	}
	if c, ok := op.(*CallSubquery); ok {
		out = append(out, c.Query.Ends()...)
	}
	for _, s := range subqueries(op) {
		if q := p.Subqueries[s]; q != nil {
			out = append(out, q.Ends()...)
		}
	}
	return out
}

// Ends returns the operators that the parts of a query end with.
func (q *Query) Ends() []Op {
	var out []Op
	for _, part := range q.Parts {
		out = append(out, part.Op)
	}
	return out
}

// slot names a slot: its variable, or _n for one without a name.
func (d *describer) slot(s int) string {
	if s >= 0 && s < len(d.part.Vars) && d.part.Vars[s].Name != "" {
		return d.part.Vars[s].Name
	}
	return fmt.Sprintf("_%d", s)
}

func (d *describer) slots(slots []int) string {
	var out []string
	for _, s := range slots {
		out = append(out, d.slot(s))
	}
	return strings.Join(out, ", ")
}

// expr shows an expression as it was typed.
func (d *describer) expr(e bound.Expr) string {
	switch e := e.(type) {
	case *bound.Slot:
		return d.slot(e.Index)
	case *bound.Prop:
		return d.expr(e.E) + "." + e.Key
	case *bound.Binary:
		if p, ok := e.L.(*bound.Prop); ok && e.Op == syntax.OpEq {
			return d.expr(p) + " = " + d.expr(e.R)
		}
	case *bound.HasLabels:
		return d.expr(e.E) + ":" + labelText(e.Labels)
	case *bound.IsNull:
		_, slot := e.E.(*bound.Slot)
		_, prop := e.E.(*bound.Prop)
		if (slot || prop) && e.Not {
			return d.expr(e.E) + " IS NOT NULL"
		}
	}
	return e.At().Text(d.plan.Text)
}

func labelText(l syntax.LabelExpr) string {
	switch l := l.(type) {
	case *syntax.LabelName:
		return l.Text
	case *syntax.LabelAnd:
		return labelText(l.L) + "&" + labelText(l.R)
	case *syntax.LabelOr:
		return "(" + labelText(l.L) + "|" + labelText(l.R) + ")"
	case *syntax.LabelNot:
		return "!" + labelText(l.E)
	}
	return "%"
}

func (d *describer) exprs(es []bound.Expr, sep string) string {
	var out []string
	for _, e := range es {
		out = append(out, d.expr(e))
	}
	return strings.Join(out, sep)
}

func (d *describer) items(items []bound.Item) string {
	var out []string
	for _, it := range items {
		text := d.expr(it.Expr)
		if it.Name != "" && it.Name != text {
			text += " AS " + it.Name
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func (d *describer) keys(keys []bound.Sort) string {
	var out []string
	for _, k := range keys {
		text := d.expr(k.Expr)
		if k.Desc {
			text += " DESC"
		}
		out = append(out, text)
	}
	return strings.Join(out, ", ")
}

func (d *describer) arrow(from, rel, to int, types []string, length string, dir syntax.RelDir) string {
	left, right := "-[", "]-"
	switch dir {
	case syntax.RelOut:
		right = "]->"
	case syntax.RelIn:
		left = "<-["
	}
	t := strings.Join(types, "|")
	if t != "" {
		t = ":" + t
	}
	return "(" + d.slot(from) + ")" + left + d.slot(rel) + t + length + right + "(" + d.slot(to) + ")"
}

func length(lo, hi int64) string {
	if hi < 0 {
		return fmt.Sprintf("*%d..", lo)
	}
	return fmt.Sprintf("*%d..%d", lo, hi)
}

func (d *describer) detail(op Op) string {
	switch o := op.(type) {
	case *Argument:
		return d.slots(o.Slots)
	case *NodeScan:
		name := d.slot(o.Slot)
		if o.Label != "" {
			name += ":" + o.Label
		}
		if o.After != nil {
			name += " from id(" + d.slot(o.Slot) + ") > " + d.expr(o.After)
		}
		return name
	case *IDSeek:
		if o.Any {
			return d.slot(o.Slot) + ".id IN " + d.expr(o.ID)
		}
		return d.slot(o.Slot) + ".id = " + d.expr(o.ID)
	case *IndexSeek:
		return o.detail(d)
	case *ValueJoin:
		return o.detail(d)
	case *SchemaChange:
		return o.detail()
	case *Expand:
		return d.arrow(o.From, o.Rel, o.To, o.Types, "", o.Dir)
	case *BoundExpand:
		return d.arrow(o.From, o.Rel, o.To, o.Types, "", o.Dir)
	case *VarExpand:
		return d.arrow(o.From, o.Rel, o.To, o.Types, length(o.Min, o.Max), o.Dir) + d.within(&o.Within)
	case *ShortestPath:
		return o.selector() + d.arrow(o.From, o.Rel, o.To, o.Types, length(o.Min, o.Max), o.Dir) + d.within(&o.Within)
	case *PathBuild:
		return d.slot(o.Slot)
	case *Filter:
		return d.exprs(o.Preds, " AND ")
	case *SemiJoin:
		return d.expr(o.Expr)
	case *Degree:
		return d.degree(o)
	case *Project:
		return d.items(o.Items)
	case *Aggregate:
		return d.aggregate(o)
	case *CountLookup:
		switch {
		case o.Edges:
			return strings.TrimSuffix("edges :"+strings.Join(o.Types, "|"), " :")
		case o.Label != "":
			return "nodes :" + o.Label
		}
		return "nodes"
	case *Distinct:
		return d.slots(o.Slots)
	case *Sort:
		return d.keys(o.Keys)
	case *TopK:
		text := d.keys(o.Keys)
		if o.Skip != nil {
			text += " SKIP " + d.expr(o.Skip)
		}
		text += " LIMIT " + d.expr(o.Limit)
		if o.InOrder {
			text += ", rows come in order"
		}
		return text
	case *Skip:
		return d.expr(o.N)
	case *Limit:
		return d.expr(o.N)
	case *Optional:
		return d.slots(o.New)
	case *Unwind:
		return d.expr(o.List) + " AS " + d.slot(o.Slot)
	case *Foreach:
		return d.slot(o.Slot) + " IN " + d.expr(o.List)
	case *Create:
		return d.slots(Created(o.Patterns...))
	case *Merge:
		return d.slots(o.New)
	case *Delete:
		return d.exprs(o.Exprs, ", ")
	case *Remember:
		text := d.expr(o.Call.Text)
		for _, l := range o.Call.Labels {
			text += " :" + l
		}
		if o.Call.Alone {
			text += " ALONE"
		}
		return text
	case *CallProc:
		return o.Call.Name
	case *Recall:
		return d.recall(o.Call)
	}
	return ""
}

// recall shows what RECALL, ACTIVATE or COMPILE was asked.
func (d *describer) recall(c *bound.Recall) string {
	var out []string
	if c.Query != nil {
		out = append(out, d.expr(c.Query))
	}
	for i, s := range c.From {
		text := d.expr(s.Node)
		if s.Weight != nil {
			text += " WEIGHT " + d.expr(s.Weight)
		}
		switch {
		case i > 0:
			out[len(out)-1] += ","
		case c.Query != nil:
			text = "FROM " + text
		}
		out = append(out, text)
	}
	if c.Self {
		out = append(out, "SELF")
	}
	for _, t := range []struct {
		word  string
		names []string
	}{{"VIA :", c.Via}, {"AGAINST :", c.Not}, {"INCLUDING ", c.Including}} {
		if len(t.names) > 0 {
			out = append(out, t.word+strings.Join(t.names, "|"))
		}
	}
	for _, e := range []struct {
		word string
		expr bound.Expr
	}{
		{"WHERE", c.Where},
		{"DEPTH", c.Depth},
		{"IN LAYERS", c.Layers},
		{"AS OF", c.AsOf},
		{"WITHIN", c.Within},
		{"BETWEEN", c.Since},
		{"AND", c.Until},
		{"AT", c.Reference},
		{"BUDGET", c.Budget},
		{"OF CONVERSATION", c.Conversation},
		{"LIMIT", c.Limit},
	} {
		if e.expr != nil {
			out = append(out, e.word+" "+d.expr(e.expr))
		}
	}
	return strings.Join(out, " ")
}

func (d *describer) within(w *Within) string {
	if es := w.exprs(); len(es) > 0 {
		return " WHERE " + d.exprs(es, " AND ")
	}
	return ""
}

func (d *describer) aggregate(o *Aggregate) string {
	var out []string
	for _, a := range o.Aggs {
		text := "*"
		if len(a.Args) > 0 {
			text = d.exprs(a.Args, ", ")
		}
		if a.Distinct {
			text = "DISTINCT " + text
		}
		out = append(out, a.Name+"("+text+")")
	}
	text := strings.Join(out, ", ")
	if len(o.Group) > 0 {
		text = strings.TrimSpace(text + " BY " + d.items(o.Group))
	}
	return text
}

// selector tells how many walks are looked for, where that is more than usual.
func (o *ShortestPath) selector() string {
	switch {
	case o.Count < 2:
		return ""
	case o.All:
		return fmt.Sprintf("%d lengths of ", o.Count)
	}
	return fmt.Sprintf("%d of ", o.Count)
}
