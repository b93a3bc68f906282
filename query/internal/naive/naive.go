// Package naive is a second engine for tests: it runs bound statements over
// materialised rows, without planner, indexes, batches or laziness. What it
// answers is compared with the real engine. It is written to be read against
// the language's rules, not to be fast, and it knows less: no temporal
// arithmetic, no shortest paths, no procedures, no memory clauses. Those end in
// ErrUnsupported.
package naive

import (
	"errors"
	"fmt"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
)

// ErrUnsupported is what naive doesn't know.
var ErrUnsupported = errors.New("naive: not supported")

// Engine runs statements over a graph.
type Engine struct {
	G      access.Writer
	Params map[string]value.Value
}

// frame is what all rows of a single query share: the argument values, which
// fill the first slots, and the number of slots.
type frame struct {
	args  []value.Value
	width int
}

// row holds a value for each slot of a single query.
type row []value.Value

// Run executes a statement and returns its rows, entities loaded.
func (e *Engine) Run(s *bound.Statement) ([][]value.Value, error) {
	rows, err := e.query(s.Query, nil)
	if err != nil || len(s.Columns) == 0 {
		return nil, err
	}
	out := make([][]value.Value, len(rows))
	for i, r := range rows {
		if out[i], err = e.loadAll(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// load replaces references to entities by the entities.
func (e *Engine) load(v value.Value) (value.Value, error) {
	switch v.Kind() {
	case value.KindNode:
		n, err := e.G.LoadNode(v.NodeID())
		if err != nil || n == nil {
			return v, err
		}
		return value.OfNode(n), nil
	case value.KindEdge:
		edge, err := e.G.LoadEdge(v.EdgeID())
		if err != nil || edge == nil {
			return v, err
		}
		return value.OfEdge(edge), nil
	case value.KindList:
		vs, err := e.loadAll(v.AsList())
		return value.List(vs), err
	case value.KindMap:
		var entries []value.Prop
		for _, p := range v.AsMap().Entries {
			w, err := e.load(p.Value)
			if err != nil {
				return v, err
			}
			entries = append(entries, value.Prop{Key: p.Key, Value: w})
		}
		return value.Map(entries), nil
	case value.KindPath:
		nodes, err := e.loadAll(v.AsPath().Nodes)
		if err != nil {
			return v, err
		}
		edges, err := e.loadAll(v.AsPath().Edges)
		return value.OfPath(&value.Path{Nodes: nodes, Edges: edges}), err
	}
	return v, nil
}

func (e *Engine) loadAll(vs []value.Value) ([]value.Value, error) {
	out := make([]value.Value, len(vs))
	for i, v := range vs {
		var err error
		if out[i], err = e.load(v); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// query runs a union; args fill the argument slots of each part. The rows hold
// the columns.
func (e *Engine) query(q *bound.Query, args []value.Value) ([]row, error) {
	var all []row
	for _, part := range q.Parts {
		start := make(row, part.Width)
		copy(start, args)
		rows, err := e.clauses(part.Clauses, []row{start}, frame{args, part.Width})
		if err != nil {
			return nil, err
		}
		for _, r := range rows {
			cols := make(row, len(part.Out))
			for i, slot := range part.Out {
				cols[i] = r[slot]
			}
			all = append(all, cols)
		}
	}
	if len(q.All) > 0 && !q.All[0] {
		all = distinct(all, func(r row) row { return r })
	}
	return all, nil
}

// clauses runs clauses one after the other, each over all rows.
func (e *Engine) clauses(cs []bound.Clause, rows []row, f frame) ([]row, error) {
	for _, c := range cs {
		var err error
		if rows, err = e.clause(c, rows, f); err != nil {
			return nil, err
		}
	}
	return rows, nil
}

func (e *Engine) clause(c bound.Clause, rows []row, f frame) ([]row, error) {
	switch c := c.(type) {
	case *bound.Match:
		return flatMap(rows, func(r row) ([]row, error) { return e.match(c, r) })
	case *bound.Unwind:
		return flatMap(rows, func(r row) ([]row, error) { return e.unwind(c, r) })
	case *bound.Project:
		return e.project(c, rows, f)
	case *bound.Merge:
		return flatMap(rows, func(r row) ([]row, error) { return e.merge(c, r) })
	case *bound.CallSubquery:
		return flatMap(rows, func(r row) ([]row, error) { return e.callSubquery(c, r) })
	}
	return rows, e.update(c, rows, f)
}

// flatMap joins what do makes of each row.
func flatMap(rows []row, do func(row) ([]row, error)) ([]row, error) {
	var out []row
	for _, r := range rows {
		made, err := do(r)
		if err != nil {
			return nil, err
		}
		out = append(out, made...)
	}
	return out, nil
}

func (r row) with(slot int, v value.Value) row {
	c := append(row(nil), r...)
	c[slot] = v
	return c
}

func (e *Engine) unwind(c *bound.Unwind, r row) ([]row, error) {
	list, err := e.eval(c.List, r, nil)
	switch {
	case err != nil || list.IsNull():
		return nil, err
	case list.Kind() != value.KindList:
		return []row{r.with(c.Slot, list)}, nil
	}
	var out []row
	for _, v := range list.AsList() {
		out = append(out, r.with(c.Slot, v))
	}
	return out, nil
}

func (e *Engine) callSubquery(c *bound.CallSubquery, r row) ([]row, error) {
	args := make([]value.Value, len(c.Outer))
	for i, slot := range c.Outer {
		args[c.Inner[i]] = r[slot]
	}
	made, err := e.query(c.Query, args)
	if err != nil || len(c.Query.Columns) == 0 {
		return []row{r}, err
	}
	var out []row
	for _, m := range made {
		next := append(row(nil), r...)
		for i, slot := range c.Out {
			next[slot] = m[i]
		}
		out = append(out, next)
	}
	return out, nil
}

// distinct keeps the first of the rows whose keys are equivalent.
func distinct(rows []row, key func(row) row) []row {
	var out []row
	for _, r := range rows {
		seen := false
		for _, o := range out {
			seen = seen || sameRow(key(o), key(r))
		}
		if !seen {
			out = append(out, r)
		}
	}
	return out
}

func sameRow(a, b row) bool {
	for i := range a {
		if !value.Equivalent(a[i], b[i]) {
			return false
		}
	}
	return true
}

func (e *Engine) context() *fn.Context { return &fn.Context{Reader: e.G} }

func unsupported(what any) error { return fmt.Errorf("%w: %T", ErrUnsupported, what) }
