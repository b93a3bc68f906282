package physical

import (
	"engram/graph/schema"
	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/lifecycle"
)

// replaces does what an edge SUPERSEDES from src to dst means and returns what the
// edge, which is not made yet, has to keep; see lifecycle.Replaces.
func (f *frame) replaces(src, dst value.NodeID, props []access.Prop) ([]access.Prop, error) {
	if f.w.goneNodes[src] || f.w.goneNodes[dst] {
		return nil, deleted("node")
	}
	keep, err := lifecycle.Replaces(changes{f.r, f}, dst, src)
	if err != nil || keep.Value.IsNull() {
		return props, err
	}
	k, err := f.w.w.InternKey(keep.Key)
	if err != nil {
		return nil, constraint(err)
	}
	for _, p := range props {
		if p.Key == k {
			return props, nil
		}
	}
	return append(props, access.Prop{Key: k, Value: keep.Value}), nil
}

// changing is called before SET gives a property to a node or a relationship: of
// memories some mean something.
func (f *frame) changing(t value.Value, key string, v value.Value) error {
	if key == vocab.KeyValidFrom && t.Kind() == value.KindNode {
		return f.moving(t.NodeID())
	}
	if key != vocab.KeyContent && key != vocab.KeyLayer || t.Kind() != value.KindNode {
		return nil
	}
	if key == vocab.KeyContent {
		return f.keepVersion(t.NodeID(), v)
	}
	if l, ok := f.r.Label(vocab.LabelMemory); ok && !v.IsNull() && f.r.HasLabel(t.NodeID(), l) {
		return checkLayer(f.r, v)
	}
	return nil
}

// moving notes since when a node held before the statement, when that is set.
func (f *frame) moving(id value.NodeID) error {
	k, ok := f.r.Key(vocab.KeyValidFrom)
	if !ok || f.w.made[entity{id: uint64(id)}] || f.w.goneNodes[id] {
		return nil
	}
	if _, again := f.w.props[propKey{entity{id: uint64(id)}, k}]; again {
		return nil
	}
	was, err := f.r.NodeProp(id, k)
	if err == nil && !was.IsNull() {
		f.moved = append(f.moved, lifecycle.Moved{Newer: id, Was: was})
	}
	return err
}

// keepVersion keeps, when a memory is given another text, what it was as a memory of
// its own that it supersedes. What the statement itself made has no earlier version.
func (f *frame) keepVersion(id value.NodeID, text value.Value) error {
	ent := entity{id: uint64(id)}
	if f.w.made[ent] || f.w.goneNodes[id] || f.renewed[id] {
		return nil
	}
	g := changes{f.r, f}
	another, err := lifecycle.Changes(g, id, text)
	if err != nil || !another {
		return err
	}
	if f.renewed == nil {
		f.renewed = map[value.NodeID]bool{}
	}
	f.renewed[id] = true
	// First, so that a content that is unique is so at any time.
	if err := setProp(f, value.NodeRef(id), vocab.KeyContent, text); err != nil {
		return err
	}
	old, err := f.copyOf(id)
	if err != nil {
		return err
	}
	f.remembered(old) // it goes with the newer one, and with nothing else
	// The time since when the older version held is not that of the newer one.
	from, known := f.r.Key(vocab.KeyValidFrom)
	if _, told := f.w.props[propKey{ent, from}]; known && !told {
		if err := f.w.set(value.NodeRef(id), from, value.Null); err != nil {
			return err
		}
	}
	return lifecycle.Replace(g, old, id)
}

// copyOf stores a node as it was before the statement once more, under an id for an
// older version, and without what has to be unique.
func (f *frame) copyOf(id value.NodeID) (value.NodeID, error) {
	name, err := f.r.ElementID(id)
	if err != nil {
		return 0, err
	}
	free, err := lifecycle.FreeID(f.r, value.String(name))
	if err != nil {
		return 0, err
	}
	keys, err := f.w.w.NodeKeys(id, nil)
	if err != nil {
		return 0, err
	}
	idKey, err := f.w.w.InternKey("id")
	if err != nil {
		return 0, constraint(err)
	}
	props := []access.Prop{{Key: idKey, Value: free}}
	given := f.uniqueKeys(id)
	for _, k := range keys {
		if k == idKey || given[k] {
			continue
		}
		v, err := f.r.NodeProp(id, k)
		if err != nil {
			return 0, err
		}
		if c, changed := f.w.props[propKey{entity{id: uint64(id)}, k}]; changed {
			v = c.old
		}
		if !v.IsNull() {
			props = append(props, access.Prop{Key: k, Value: v})
		}
	}
	if err := f.step(len(props)); err != nil {
		return 0, err
	}
	return f.w.createNode(f.r.Labels(id, nil), props)
}

// uniqueKeys are the properties of a node that a constraint lets no other one have.
func (f *frame) uniqueKeys(id value.NodeID) map[value.KeyID]bool {
	indexes, ok := f.r.(access.Indexes)
	if !ok {
		return nil
	}
	out := map[value.KeyID]bool{}
	for _, d := range indexes.Schema().All() {
		last := d.Keys[len(d.Keys)-1] // of several, one that differs is enough
		l, known := f.r.Label(d.Owner)
		if d.Kind != schema.Unique || d.Edge || last == vocab.KeyContent || !known || !f.r.HasLabel(id, l) {
			continue
		}
		if k, ok := f.r.Key(last); ok {
			out[k] = true
		}
	}
	return out
}

// settle does what supersession leaves to the end of a statement.
func (inst *instance) settle() error {
	if inst.w == nil || len(inst.closed)+len(inst.moved)+len(inst.w.removed) == 0 {
		return nil
	}
	f := &inst.root.parts[0].frame
	g := changes{f.r, f}
	if err := lifecycle.Settle(g, inst.closed); err != nil {
		return err
	}
	for _, m := range inst.moved {
		if inst.w.goneNodes[m.Newer] || inst.renewed[m.Newer] {
			continue
		}
		if err := lifecycle.Move(g, m); err != nil {
			return err
		}
	}
	for i := range inst.w.removed {
		r := &inst.w.removed[i]
		r.Gone = inst.w.goneNodes[r.Newer]
	}
	return lifecycle.Reopen(g, inst.w.removed)
}

// isSupersedes reports whether a type is SUPERSEDES.
func (t *tracker) isSupersedes(typ value.TypeID) bool {
	own, ok := t.w.RelType(vocab.Supersedes)
	return ok && own == typ
}

// unsuperseded notes an edge SUPERSEDES that is about to be deleted.
func (t *tracker) unsuperseded(id value.EdgeID, newer, older value.NodeID) error {
	r := lifecycle.Removed{Older: older, Newer: newer}
	edgeProp := func(name string) (value.Value, error) {
		k, ok := t.w.Key(name)
		if !ok {
			return value.Null, nil
		}
		return t.w.EdgeProp(id, k)
	}
	var err error
	if r.Ends[0], err = edgeProp(vocab.KeyCreatedAt); err != nil {
		return err
	}
	if r.Was, err = edgeProp(lifecycle.KeyWasValidTo); err != nil {
		return err
	}
	if k, ok := t.w.Key(vocab.KeyValidFrom); ok && !t.goneNodes[newer] {
		if r.Ends[1], err = t.w.NodeProp(newer, k); err != nil {
			return err
		}
	}
	t.removed = append(t.removed, r)
	return nil
}

// supersessions deletes a node's edges SUPERSEDES one by one, before all others go at
// once.
func (t *tracker) supersessions(id value.NodeID) error {
	typ, ok := t.w.RelType(vocab.Supersedes)
	if !ok {
		return nil
	}
	edges, err := t.w.Expand(id, access.Both, []value.TypeID{typ}, nil)
	if err != nil {
		return err
	}
	for _, e := range edges {
		if err := t.deleteEdge(e.Edge); err != nil {
			return err
		}
	}
	return nil
}
