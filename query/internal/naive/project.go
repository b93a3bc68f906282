package naive

import (
	"errors"
	"math"
	"sort"

	"engram/graph/value"
	"engram/query/internal/bound"
)

// project runs WITH and RETURN: aggregation, items, DISTINCT, ORDER BY, SKIP,
// LIMIT, WHERE, in that order.
func (e *Engine) project(c *bound.Project, rows []row, f frame) ([]row, error) {
	var err error
	if c.Aggregates {
		if rows, err = e.aggregate(c, rows, f); err != nil {
			return nil, err
		}
	}
	out := make([]row, len(rows))
	for i, r := range rows {
		out[i] = append(row(nil), r...)
		for _, it := range c.Items {
			if out[i][it.Slot], err = e.eval(it.Expr, r, nil); err != nil {
				return nil, err
			}
		}
	}
	if c.Distinct {
		out = distinct(out, func(r row) row {
			var key row
			for _, it := range c.Items {
				key = append(key, r[it.Slot])
			}
			return key
		})
	}
	if out, err = e.sort(c.OrderBy, out); err != nil {
		return nil, err
	}
	if out, err = e.cut(c, out); err != nil {
		return nil, err
	}
	var kept []row
	for _, r := range out {
		ok, err := e.isTrue(c.Where, r, nil)
		if err != nil {
			return nil, err
		}
		if ok {
			kept = append(kept, r)
		}
	}
	return kept, nil
}

func (e *Engine) sort(keys []bound.Sort, rows []row) ([]row, error) {
	if len(keys) == 0 {
		return rows, nil
	}
	type keyed struct{ r, key row }
	all := make([]keyed, len(rows))
	for i, r := range rows {
		all[i].r = r
		for _, k := range keys {
			v, err := e.eval(k.Expr, r, nil)
			if err != nil {
				return nil, err
			}
			all[i].key = append(all[i].key, v)
		}
	}
	sort.SliceStable(all, func(i, j int) bool {
		for k, s := range keys {
			o := value.Order(all[i].key[k], all[j].key[k])
			if s.Desc {
				o = -o
			}
			if o != 0 {
				return o < 0
			}
		}
		return false
	})
	out := make([]row, len(all))
	for i := range all {
		out[i] = all[i].r
	}
	return out, nil
}

func (e *Engine) cut(c *bound.Project, rows []row) ([]row, error) {
	for _, limit := range []struct {
		expr bound.Expr
		skip bool
	}{{c.Skip, true}, {c.Limit, false}} {
		if limit.expr == nil {
			continue
		}
		v, err := e.eval(limit.expr, nil, nil)
		if err != nil {
			return nil, err
		}
		if v.Kind() != value.KindInt || v.AsInt() < 0 {
			return nil, errors.New("naive: SKIP and LIMIT need a natural number")
		}
		n := int(min(v.AsInt(), int64(len(rows))))
		if limit.skip {
			rows = rows[n:]
		} else {
			rows = rows[:n]
		}
	}
	return rows, nil
}

// aggregate makes one row of each group. Without grouping keys there is one
// group, even of no rows.
func (e *Engine) aggregate(c *bound.Project, rows []row, f frame) ([]row, error) {
	type group struct {
		key  row
		rows []row
	}
	var groups []*group
	for _, r := range rows {
		var key row
		for _, it := range c.Group {
			v, err := e.eval(it.Expr, r, nil)
			if err != nil {
				return nil, err
			}
			key = append(key, v)
		}
		var g *group
		for _, o := range groups {
			if sameRow(o.key, key) {
				g = o
			}
		}
		if g == nil {
			g = &group{key: key}
			groups = append(groups, g)
		}
		g.rows = append(g.rows, r)
	}
	if len(c.Group) == 0 && len(groups) == 0 {
		groups = append(groups, &group{})
	}
	var out []row
	for _, g := range groups {
		made := make(row, f.width)
		copy(made, f.args)
		for i, it := range c.Group {
			made[it.Slot] = g.key[i]
		}
		for _, a := range c.Aggs {
			v, err := e.aggregateOne(a, g.rows)
			if err != nil {
				return nil, err
			}
			made[a.Slot] = v
		}
		out = append(out, made)
	}
	return out, nil
}

func (e *Engine) aggregateOne(a bound.Agg, rows []row) (value.Value, error) {
	if len(a.Args) == 0 {
		return value.Int(int64(len(rows))), nil
	}
	if len(a.Args) > 1 {
		return value.Null, unsupported(a)
	}
	var all []row
	for _, r := range rows {
		v, err := e.eval(a.Args[0], r, nil)
		if err != nil {
			return value.Null, err
		}
		if !v.IsNull() {
			all = append(all, row{v})
		}
	}
	if a.Distinct {
		all = distinct(all, func(r row) row { return r })
	}
	var vs []value.Value
	for _, r := range all {
		vs = append(vs, r[0])
	}
	return fold(a.Name, vs)
}

func fold(name string, vs []value.Value) (value.Value, error) {
	switch name {
	case "count":
		return value.Int(int64(len(vs))), nil
	case "collect":
		return value.List(vs), nil
	case "min", "max":
		best := value.Null
		for i, v := range vs {
			if o := value.Order(v, best); i == 0 || name == "min" && o < 0 || name == "max" && o > 0 {
				best = v
			}
		}
		return best, nil
	case "sum", "avg":
		sum, ints := 0.0, int64(0)
		whole := true
		for _, v := range vs {
			if !v.IsNumber() {
				return value.Null, unsupported(v)
			}
			whole = whole && v.Kind() == value.KindInt
			sum += v.AsFloat()
			ints += v.AsInt()
		}
		switch {
		case name == "avg" && len(vs) == 0:
			return value.Null, nil
		case name == "avg":
			return value.Float(sum / float64(len(vs))), nil
		case whole && math.Abs(sum) < 1<<53:
			return value.Int(ints), nil
		case whole:
			return value.Null, unsupported(name)
		}
		return value.Float(sum), nil
	}
	return value.Null, unsupported(name)
}
