package naive

import (
	"errors"
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
	"engram/query/internal/syntax"
)

// update runs a writing clause row by row; it fills slots of the rows in place.
func (e *Engine) update(c bound.Clause, rows []row, f frame) error {
	if d, ok := c.(*bound.Delete); ok {
		return e.delete(d, rows)
	}
	for _, r := range rows {
		var err error
		switch c := c.(type) {
		case *bound.Create:
			err = e.create(c, r)
		case *bound.Set:
			err = e.set(c.Items, r)
		case *bound.Remove:
			err = e.remove(c, r)
		case *bound.Foreach:
			err = e.foreach(c, r, f)
		default:
			err = unsupported(c)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) create(c *bound.Create, r row) error {
	for _, p := range c.Patterns {
		if err := e.createPattern(p, r); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) createPattern(p *bound.Pattern, r row) error {
	path := &value.Path{}
	for _, n := range p.Nodes {
		if err := e.createNode(n, r); err != nil {
			return err
		}
		path.Nodes = append(path.Nodes, r[n.Slot])
	}
	for i, rel := range p.Rels {
		if err := e.createRel(rel, r[p.Nodes[i].Slot], r[p.Nodes[i+1].Slot], r); err != nil {
			return err
		}
		path.Edges = append(path.Edges, r[rel.Slot])
	}
	if p.Path >= 0 {
		r[p.Path] = value.OfPath(path)
	}
	return nil
}

func (e *Engine) createRel(rel *bound.RelPat, src, dst value.Value, r row) error {
	if rel.Dir == syntax.RelIn {
		src, dst = dst, src
	}
	props, err := e.newProps(rel.Props, rel.PropsFrom, r)
	if err != nil {
		return err
	}
	if src.Kind() != value.KindNode || dst.Kind() != value.KindNode {
		return errors.New("naive: a relationship needs two nodes")
	}
	types, err := e.given(slices.Clone(rel.Types), rel.TypeFrom, r)
	if err == nil && len(types) != 1 {
		err = errors.New("naive: a relationship has one type")
	}
	if err != nil {
		return err
	}
	t, err := e.G.InternRelType(types[0])
	if err != nil {
		return err
	}
	id, err := e.G.CreateEdge(src.NodeID(), dst.NodeID(), t, props)
	r[rel.Slot] = value.EdgeRef(id)
	return err
}

// merge takes what is there, or else makes it.
func (e *Engine) merge(c *bound.Merge, r row) ([]row, error) {
	for _, n := range c.Pattern.Nodes {
		if n.Bound && r[n.Slot].IsNull() {
			return nil, errors.New("naive: MERGE needs nodes, one is null")
		}
	}
	found, err := e.find([]*bound.Pattern{c.Pattern}, nil, r)
	if err != nil {
		return nil, err
	}
	then := c.OnMatch
	if len(found) == 0 {
		made := append(row(nil), r...)
		if err := e.createMissing(c.Pattern, made); err != nil {
			return nil, err
		}
		found, then = []row{made}, c.OnCreate
	}
	for _, f := range found {
		if err := e.set(then, f); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// createMissing creates a pattern of MERGE, whose properties may not be null
// and whose nodes may repeat.
func (e *Engine) createMissing(p *bound.Pattern, r row) error {
	made := map[int]bool{}
	once := *p
	once.Nodes = nil
	check := func(props []bound.PropPat) error {
		for _, pp := range props {
			if v, err := e.eval(pp.Expr, r, nil); err != nil || v.IsNull() {
				return errors.Join(err, errors.New("naive: MERGE can't use null"))
			}
		}
		return nil
	}
	for i, n := range p.Nodes {
		c := *n
		c.Bound = c.Bound || made[n.Slot]
		made[n.Slot] = true
		once.Nodes = append(once.Nodes, &c)
		if err := check(n.Props); err != nil {
			return err
		}
		if i < len(p.Rels) {
			if err := check(p.Rels[i].Props); err != nil {
				return err
			}
		}
	}
	return e.createPattern(&once, r)
}

func (e *Engine) createNode(n *bound.NodePat, r row) error {
	if n.Bound {
		return nil
	}
	props, err := e.newProps(n.Props, n.PropsFrom, r)
	if err != nil {
		return err
	}
	var labels []value.LabelID
	names, err := e.given(plain(n.Labels), n.LabelsFrom, r)
	if err != nil {
		return err
	}
	for _, name := range names {
		l, err := e.G.InternLabel(name)
		if err != nil {
			return err
		}
		labels = append(labels, l)
	}
	id, err := e.G.CreateNode(labels, props)
	r[n.Slot] = value.NodeRef(id)
	return err
}

// given adds the names that an expression yields to others.
func (e *Engine) given(names []string, from bound.Expr, r row) ([]string, error) {
	if from == nil {
		return names, nil
	}
	v, err := e.eval(from, r, nil)
	if err != nil {
		return nil, err
	}
	more, err := fn.Names(v)
	return append(names, more...), err
}

// plain lists the labels of A:B:C.
func plain(l syntax.LabelExpr) []string {
	switch l := l.(type) {
	case *syntax.LabelName:
		return []string{l.Text}
	case *syntax.LabelAnd:
		return append(plain(l.L), plain(l.R)...)
	}
	return nil
}

func (e *Engine) newProps(props []bound.PropPat, from bound.Expr, r row) ([]access.Prop, error) {
	if from != nil {
		m, err := e.eval(from, r, nil)
		if err != nil || m.AsMap() == nil {
			return nil, errors.Join(err, errors.New("naive: properties need a map"))
		}
		for _, p := range m.AsMap().Entries {
			props = append(props, bound.PropPat{Key: p.Key, Expr: &bound.Const{Value: p.Value}})
		}
	}
	var out []access.Prop
	for _, p := range props {
		v, err := e.eval(p.Expr, r, nil)
		if err != nil {
			return nil, err
		}
		if err := storable(v); err != nil {
			return nil, err
		}
		key, err := e.G.InternKey(p.Key)
		if err != nil {
			return nil, err
		}
		out = append(out, access.Prop{Key: key, Value: v})
	}
	return out, nil
}

func (e *Engine) set(items []*bound.SetItem, r row) error {
	for _, it := range items {
		target, err := e.eval(it.Target, r, nil)
		if err != nil {
			return err
		}
		if target.IsNull() {
			continue
		}
		switch it.Kind {
		case syntax.SetProperty:
			v, err := e.eval(it.Value, r, nil)
			if err != nil {
				return err
			}
			if err := e.setProp(target, it.Key, v); err != nil {
				return err
			}
		case syntax.UnsetLabels:
			names, err := e.given(nil, it.Value, r)
			if err != nil {
				return err
			}
			if err := e.unset(target, names); err != nil {
				return err
			}
		case syntax.SetLabels:
			names, err := e.given(slices.Clone(it.Labels), it.Value, r)
			if err != nil {
				return err
			}
			for _, name := range names {
				l, err := e.G.InternLabel(name)
				if err != nil {
					return err
				}
				if _, err := e.G.AddLabel(target.NodeID(), l); err != nil {
					return err
				}
			}
		default:
			if err := e.setAll(it, target, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// setAll runs SET e = map and SET e += map.
func (e *Engine) setAll(it *bound.SetItem, target value.Value, r row) error {
	from, err := e.eval(it.Value, r, nil)
	if err != nil {
		return err
	}
	entries, err := e.properties(from)
	if err != nil {
		return err
	}
	if it.Kind == syntax.SetReplace {
		old, err := e.properties(target)
		if err != nil {
			return err
		}
		for _, p := range old {
			if err := e.setProp(target, p.Key, value.Null); err != nil {
				return err
			}
		}
	}
	for _, p := range entries {
		if err := e.setProp(target, p.Key, p.Value); err != nil {
			return err
		}
	}
	return nil
}

// properties lists those of an entity or a map.
func (e *Engine) properties(v value.Value) ([]value.Prop, error) {
	loaded, err := e.load(v)
	if err != nil {
		return nil, err
	}
	switch {
	case v.IsNull():
		return nil, nil
	case loaded.AsNode() != nil:
		return loaded.AsNode().Properties, nil
	case loaded.AsEdge() != nil:
		return loaded.AsEdge().Properties, nil
	case loaded.AsMap() != nil:
		return loaded.AsMap().Entries, nil
	}
	return nil, unsupported(v)
}

func storable(v value.Value) error {
	if v.IsNull() {
		return nil
	}
	return value.CheckStorable(v)
}

func (e *Engine) setProp(target value.Value, name string, v value.Value) error {
	if err := storable(v); err != nil {
		return err
	}
	key, err := e.G.InternKey(name)
	if err != nil {
		return err
	}
	if target.Kind() == value.KindNode {
		_, err = e.G.SetNodeProp(target.NodeID(), key, v)
		return err
	}
	_, err = e.G.SetEdgeProp(target.EdgeID(), key, v)
	return err
}

func (e *Engine) remove(c *bound.Remove, r row) error {
	for _, it := range c.Items {
		target, err := e.eval(it.Target, r, nil)
		if err != nil {
			return err
		}
		if target.IsNull() {
			continue
		}
		if len(it.Labels) == 0 {
			if err := e.setProp(target, it.Key, value.Null); err != nil {
				return err
			}
		}
		if err := e.unset(target, it.Labels); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) unset(target value.Value, labels []string) error {
	for _, name := range labels {
		if l, ok := e.G.Label(name); ok {
			if _, err := e.G.RemoveLabel(target.NodeID(), l); err != nil {
				return err
			}
		}
	}
	return nil
}

// delete evaluates what to delete for all rows before the first is gone.
func (e *Engine) delete(c *bound.Delete, rows []row) error {
	var targets []value.Value
	for _, r := range rows {
		vs, err := e.all(c.Exprs, r, nil)
		if err != nil {
			return err
		}
		for _, v := range vs {
			if p := v.AsPath(); p != nil {
				targets = append(append(targets, p.Nodes...), p.Edges...)
				continue
			}
			targets = append(targets, v)
		}
	}
	for _, kind := range []value.Kind{value.KindEdge, value.KindNode} {
		for _, t := range targets {
			var err error
			switch {
			case t.Kind() != kind:
			case kind == value.KindEdge:
				_, err = e.G.DeleteEdge(t.EdgeID())
			case e.G.NodeExists(t.NodeID()):
				if !c.Detach && e.G.Degree(t.NodeID(), access.Both, nil) > 0 {
					return errors.New("naive: the node still has relationships")
				}
				_, err = e.G.DeleteNode(t.NodeID(), c.Detach)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *Engine) foreach(c *bound.Foreach, r row, f frame) error {
	list, err := e.eval(c.List, r, nil)
	if err != nil {
		return err
	}
	for _, v := range list.AsList() {
		if _, err := e.clauses(c.Body, []row{r.with(c.Slot, v)}, f); err != nil {
			return err
		}
	}
	return nil
}
