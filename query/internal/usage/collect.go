package usage

import (
	"slices"
	"strings"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

func keyOf(kind Kind, name string, of []string) key {
	return key{kind, name, strings.Join(of, "\x00")}
}

// auditing is the procedure that looks at everything: a statement with it is not
// counted, since to look is not to use.
const auditing = "AUDIT STRUCTURE"

// Of finds the names that a statement reads and writes.
func (t *Table) Of(stmt *bound.Statement) *Touched {
	w := &walker{table: t, text: stmt.Text, reads: map[*entry]bool{}, writes: map[*entry]bool{}}
	w.query(stmt.Query, nil)
	if w.audits {
		return nil
	}
	return &w.out
}

// walker gathers the names of a statement. labels are those that a slot's node is
// known to carry, or an alternative of them.
type walker struct {
	table         *Table
	text          string
	out           Touched
	reads, writes map[*entry]bool
	labels        map[int][]string
	audits        bool
}

func (w *walker) read(kind Kind, name string, of ...string) {
	if e := w.table.entry(keyOf(kind, name, of), of); e != nil && !w.reads[e] {
		w.reads[e] = true
		w.out.reads = append(w.out.reads, e)
	}
}

func (w *walker) write(kind Kind, name string, of ...string) {
	if e := w.table.entry(keyOf(kind, name, of), of); e != nil && !w.writes[e] {
		w.writes[e] = true
		w.out.writes = append(w.out.writes, e)
	}
}

// computed notes a name that is not in the text.
func (w *walker) computed(at syntax.Span, note func(Kind, string, ...string)) {
	end := min(at.End, len(w.text), at.Offset+maxFragment)
	if at.Offset < 0 || at.Offset >= end {
		return
	}
	note(Computed, strings.ToValidUTF8(w.text[at.Offset:end], ""))
}

// query walks a query whose slots begin with the given labels.
func (w *walker) query(q *bound.Query, known map[int][]string) {
	outer := w.labels
	for _, part := range q.Parts {
		w.labels = map[int][]string{}
		for slot, l := range known {
			w.labels[slot] = l
		}
		for _, c := range part.Clauses {
			w.clause(c)
		}
	}
	w.labels = outer
}

// inner is what the slots of a subquery know, by those around it.
func (w *walker) inner(outer func(i int) []string, slots []int) map[int][]string {
	known := map[int][]string{}
	for i, s := range slots {
		if l := outer(i); len(l) > 0 {
			known[s] = l
		}
	}
	return known
}

func (w *walker) clause(c bound.Clause) {
	switch c := c.(type) {
	case *bound.Match:
		w.patterns(c.Patterns, w.read)
		w.exprs(c.Where)
	case *bound.Unwind:
		w.exprs(c.List)
	case *bound.Project:
		w.project(c)
	case *bound.Create:
		w.patterns(c.Patterns, w.write)
	case *bound.Merge:
		w.patterns([]*bound.Pattern{c.Pattern}, func(kind Kind, name string, of ...string) {
			w.read(kind, name, of...)
			w.write(kind, name, of...)
		})
		w.sets(c.OnCreate)
		w.sets(c.OnMatch)
	case *bound.Set:
		w.sets(c.Items)
	case *bound.Remove:
		w.removes(c.Items)
	case *bound.Delete:
		w.exprs(c.Exprs...)
	case *bound.Foreach:
		w.exprs(c.List)
		for _, inner := range c.Body {
			w.clause(inner)
		}
	case *bound.CallProc:
		w.audits = w.audits || c.Name == auditing
		w.exprs(c.Args...)
		w.exprs(c.Where)
	case *bound.CallSubquery:
		w.query(c.Query, w.inner(func(i int) []string { return w.labels[c.Outer[i]] }, c.Inner))
	case *bound.Remember:
		w.remember(c)
	case *bound.Recall:
		w.recall(c)
	}
}

// patterns walks patterns that are looked for or made, as note says.
func (w *walker) patterns(list []*bound.Pattern, note func(Kind, string, ...string)) {
	for _, p := range list { // labels first: they hold wherever the variable stands
		for _, n := range p.Nodes {
			named := positive(n.Labels, nil)
			slices.Sort(named)
			w.labels[n.Slot] = slices.Compact(append(named, w.labels[n.Slot]...))
			slices.Sort(w.labels[n.Slot])
		}
	}
	for _, p := range list {
		for _, n := range p.Nodes {
			allLabels(n.Labels, func(l string) { note(Label, l) })
			w.props(n.Props, w.labels[n.Slot], note)
			w.propsFrom(n.PropsFrom, note)
			w.exprs(n.Where)
		}
		for _, r := range p.Rels {
			for _, t := range r.Types {
				note(Type, t)
			}
			if len(r.Types) == 0 {
				w.read(AnyType, "")
			}
			w.props(r.Props, nil, note)
			w.propsFrom(r.PropsFrom, note)
			w.exprs(r.Where)
		}
	}
}

func (w *walker) props(props []bound.PropPat, of []string, note func(Kind, string, ...string)) {
	for _, p := range props {
		note(Property, p.Key)
		if len(of) > 0 {
			note(Access, p.Key, of...)
		}
		w.exprs(p.Expr)
	}
}

// propsFrom walks a map in place of properties: one that is written out names them.
func (w *walker) propsFrom(e bound.Expr, note func(Kind, string, ...string)) {
	switch m := e.(type) {
	case nil:
	case *bound.Map:
		for _, k := range m.Keys {
			note(Property, k)
		}
	default:
		w.computed(e.At(), note)
	}
	w.exprs(e)
}

func (w *walker) project(c *bound.Project) {
	for _, items := range [][]bound.Item{c.Group, c.Items} {
		for _, it := range items {
			w.exprs(it.Expr)
			if s, ok := it.Expr.(*bound.Slot); ok && len(w.labels[s.Index]) > 0 {
				w.labels[it.Slot] = w.labels[s.Index]
			}
		}
	}
	if c.Return {
		elements := bound.Of(value.KindNode, value.KindEdge, value.KindPath)
		for _, it := range c.Items {
			if it.Expr.Type().Only(elements) {
				w.read(AnyProperty, "")
			}
		}
	}
	for _, a := range c.Aggs {
		w.exprs(a.Args...)
	}
	for _, s := range c.OrderBy {
		w.exprs(s.Expr)
	}
	w.exprs(c.Where, c.Skip, c.Limit)
}

func (w *walker) sets(items []*bound.SetItem) {
	for _, it := range items {
		switch it.Kind {
		case syntax.SetProperty:
			w.write(Property, it.Key)
			w.access(it.Target, it.Key, w.write)
		case syntax.SetLabels:
			for _, l := range it.Labels {
				w.write(Label, l)
			}
		case syntax.UnsetLabels:
		default:
			w.propsFrom(it.Value, w.write)
			continue
		}
		w.exprs(it.Value)
	}
}

func (w *walker) removes(items []*bound.RemoveItem) {
	for _, it := range items {
		for _, l := range it.Labels {
			w.write(Label, l)
		}
		if len(it.Labels) == 0 {
			w.write(Property, it.Key)
			w.access(it.Target, it.Key, w.write)
		}
	}
}

// access notes a property of a node whose labels are known.
func (w *walker) access(of bound.Expr, k string, note func(Kind, string, ...string)) {
	if s, ok := of.(*bound.Slot); ok && len(w.labels[s.Index]) > 0 {
		note(Access, k, w.labels[s.Index]...)
	}
}

func (w *walker) remember(c *bound.Remember) {
	labels := c.Labels
	if len(labels) == 0 {
		labels = []string{vocab.LabelMemory}
	}
	for _, l := range labels {
		w.write(Label, l)
	}
	w.write(Property, vocab.KeyContent)
	for _, l := range c.Links {
		w.write(Type, l.Type)
	}
	w.exprs(c.Text)
	w.propsFrom(c.Props, w.write)
	w.labels[c.Slot] = slices.Sorted(slices.Values(labels))
}

func (w *walker) recall(c *bound.Recall) {
	w.read(Recalled, "")
	for _, types := range [][]string{c.Via, c.Not} {
		for _, t := range types {
			w.read(Type, t)
		}
	}
	if len(c.Via) == 0 {
		w.read(AnyType, "")
	}
	w.exprs(c.Exprs()...)
}

// exprs walks expressions, which read; nil ones are left out.
func (w *walker) exprs(list ...bound.Expr) {
	for _, e := range list {
		bound.Walk(e, w.expr)
	}
}

func (w *walker) expr(e bound.Expr) {
	entity := bound.Of(value.KindNode, value.KindEdge)
	switch e := e.(type) {
	case *bound.Prop:
		switch {
		case e.E.Type().Only(entity):
			w.read(Property, e.Key)
			w.access(e.E, e.Key, w.read)
		case e.E.Type().Kinds&entity != 0:
			w.read(Maybe, e.Key)
		}
	case *bound.Index:
		if e.E.Type().Only(entity) {
			if k, ok := e.I.(*bound.Const); ok && k.Value.Kind() == value.KindString {
				w.read(Property, k.Value.AsString())
				w.access(e.E, k.Value.AsString(), w.read)
			} else {
				w.computed(e.Span, w.read)
			}
		}
	case *bound.MapProjection:
		if e.Star {
			w.read(AnyProperty, "")
		}
		for i, k := range e.Keys {
			if e.Values[i] == nil && e.E.Type().Only(entity) {
				w.read(Property, k)
				w.access(e.E, k, w.read)
			}
		}
	case *bound.HasLabels:
		kind := Label
		if e.E.Type().Only(bound.Of(value.KindEdge)) {
			kind = Type
		}
		allLabels(e.Labels, func(l string) { w.read(kind, l) })
	case *bound.Call:
		if (e.Name == "properties" || e.Name == "keys") && len(e.Args) == 1 && e.Args[0].Type().Only(entity) {
			w.read(AnyProperty, "")
			w.computed(e.Span, w.read)
		}
	case *bound.Subquery:
		w.query(e.Query, w.inner(func(i int) []string {
			if s, ok := e.Outer[i].(*bound.Slot); ok {
				return w.labels[s.Index]
			}
			return nil
		}, e.Inner))
	}
}

// positive appends the labels that a node may have been asked to carry.
func positive(l syntax.LabelExpr, to []string) []string {
	switch l := l.(type) {
	case *syntax.LabelName:
		return append(to, l.Text)
	case *syntax.LabelAnd:
		return positive(l.R, positive(l.L, to))
	case *syntax.LabelOr:
		return positive(l.R, positive(l.L, to))
	}
	return to
}

// allLabels calls visit for every label of a label expression.
func allLabels(l syntax.LabelExpr, visit func(string)) {
	switch l := l.(type) {
	case *syntax.LabelName:
		visit(l.Text)
	case *syntax.LabelNot:
		allLabels(l.E, visit)
	case *syntax.LabelAnd:
		allLabels(l.L, visit)
		allLabels(l.R, visit)
	case *syntax.LabelOr:
		allLabels(l.L, visit)
		allLabels(l.R, visit)
	}
}
