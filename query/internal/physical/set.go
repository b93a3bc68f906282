package physical

import (
	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/eval"
	"engram/query/internal/syntax"
)

// setter is one compiled item of SET.
type setter struct {
	at     syntax.Span
	kind   syntax.SetKind
	target eval.Fn
	value  eval.Fn
	key    string
	labels []string
}

// apply runs the item on one row of the environment's columns.
func (s *setter) apply(f *frame, row int) error {
	t, err := s.target(&f.env, row)
	if err != nil || t.IsNull() {
		return err
	}
	if k := t.Kind(); k != value.KindNode && k != value.KindEdge {
		return at(typeError("SET changes nodes and relationships, but this is %s", k.Named()), s.at)
	}
	if s.kind == syntax.SetLabels || s.kind == syntax.UnsetLabels {
		return at(s.setLabels(f, t, row), s.at)
	}
	v, err := s.value(&f.env, row)
	if err != nil {
		return err
	}
	if s.kind == syntax.SetProperty {
		if err := f.changing(t, s.key, v); err != nil {
			return at(err, s.at)
		}
		return at(setProp(f, t, s.key, v), s.at)
	}
	return at(s.setAll(f, t, v), s.at)
}

func (s *setter) setLabels(f *frame, t value.Value, row int) error {
	if t.Kind() != value.KindNode {
		return typeError("only nodes have labels, but this is %s", t.Kind().Named())
	}
	names, err := givenNames(f, s.value, row, s.labels)
	if err != nil {
		return err
	}
	if s.kind == syntax.UnsetLabels {
		return unsetLabels(f, t, names)
	}
	for _, name := range names {
		l, err := f.w.w.InternLabel(name)
		if err != nil {
			return constraint(err)
		}
		if err := f.w.addLabel(t.NodeID(), l); err != nil {
			return err
		}
	}
	return nil
}

// setProp sets or, with null, removes one property.
func setProp(f *frame, t value.Value, key string, v value.Value) error {
	if v.IsNull() {
		k, ok := f.w.w.Key(key)
		if !ok {
			return nil
		}
		return f.w.set(t, k, value.Null)
	}
	if err := storable(key, v); err != nil {
		return err
	}
	k, err := f.w.w.InternKey(key)
	if err != nil {
		return constraint(err)
	}
	return f.w.set(t, k, v)
}

// setAll merges the entries of a map, or the properties of a node or edge, into
// those of t; SetReplace removes the others.
func (s *setter) setAll(f *frame, t, v value.Value) error {
	entries, err := entriesOf(f, v)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := f.changing(t, e.Key, e.Value); err != nil {
			return err
		}
	}
	if s.kind == syntax.SetReplace {
		keys, err := keysOf(f, t)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if hasEntry(entries, f.w.w.KeyName(k)) {
				continue
			}
			if err := f.w.set(t, k, value.Null); err != nil {
				return err
			}
		}
	}
	for _, e := range entries {
		if err := setProp(f, t, e.Key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

func hasEntry(entries []value.Prop, key string) bool {
	for _, e := range entries {
		if e.Key == key {
			return true
		}
	}
	return false
}

// entriesOf returns the entries of a map or the properties of a node or edge.
func entriesOf(f *frame, v value.Value) ([]value.Prop, error) {
	switch v.Kind() {
	case value.KindMap:
		return v.AsMap().Entries, nil
	case value.KindNode:
		n, err := f.r.LoadNode(v.NodeID())
		if err != nil || n == nil {
			return nil, orDeleted(err, "node")
		}
		return n.Properties, nil
	case value.KindEdge:
		e, err := f.r.LoadEdge(v.EdgeID())
		if err != nil || e == nil {
			return nil, orDeleted(err, "relationship")
		}
		return e.Properties, nil
	}
	return nil, typeError("SET takes properties from a map, a node or a relationship, but this is %s", v.Kind().Named())
}

func orDeleted(err error, what string) error {
	if err != nil {
		return err
	}
	return deleted(what)
}

func keysOf(f *frame, t value.Value) ([]value.KeyID, error) {
	if t.Kind() == value.KindNode {
		return f.w.w.NodeKeys(t.NodeID(), nil)
	}
	return f.w.w.EdgeKeys(t.EdgeID(), nil)
}

// remover is one compiled item of REMOVE.
type remover struct {
	at     syntax.Span
	target eval.Fn
	key    string
	labels []string
}

func (r *remover) apply(f *frame, row int) error {
	t, err := r.target(&f.env, row)
	if err != nil || t.IsNull() {
		return err
	}
	if k := t.Kind(); k != value.KindNode && k != value.KindEdge {
		return at(typeError("REMOVE changes nodes and relationships, but this is %s", k.Named()), r.at)
	}
	if len(r.labels) == 0 {
		return at(setProp(f, t, r.key, value.Null), r.at)
	}
	if t.Kind() != value.KindNode {
		return at(typeError("labels can be removed from nodes only, but this is %s", t.Kind().Named()), r.at)
	}
	return at(unsetLabels(f, t, r.labels), r.at)
}

func unsetLabels(f *frame, t value.Value, names []string) error {
	for _, name := range names {
		l, ok := f.w.w.Label(name)
		if !ok {
			continue
		}
		if err := f.w.removeLabel(t.NodeID(), l); err != nil {
			return err
		}
	}
	return nil
}

// changer applies the items of SET or REMOVE to every row.
type changer struct {
	f     *frame
	in    operator
	items []func(f *frame, row int) error
}

func (o *changer) open(f *frame) error {
	o.f = f
	return o.in.open(f)
}

func (o *changer) next() (*batch.Batch, error) {
	in, err := o.in.next()
	if err != nil || in == nil {
		return nil, err
	}
	for row := range in.N {
		for _, item := range o.items {
			o.f.env.Cols = in.Cols
			if err := item(o.f, row); err != nil {
				return nil, err
			}
		}
		if err := o.f.step(1); err != nil {
			return nil, err
		}
	}
	return in, nil
}
