package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/fault"
	"engram/query/internal/lifecycle"
	"engram/query/result"
)

// tracker is the one way by which operators write. It counts the net changes of
// the statement, and it knows what was deleted.
type tracker struct {
	w         access.Writer
	c         result.Counters
	made      map[entity]bool
	props     map[propKey]change      // of entities that were there before
	labels    map[value.LabelID]tally // labels whose nodes changed
	labelIDs  []value.LabelID         // of labels, in the order they were touched
	dangling  []danglingNode
	removed   []lifecycle.Removed // edges SUPERSEDES
	goneEdges map[value.EdgeID]goneEdge
	goneNodes map[value.NodeID]bool
	keys      []value.KeyID
	labelBuf  []value.LabelID
	adj       []access.Adjacent
}

// entity is a node or an edge.
type entity struct {
	edge bool
	id   uint64
}

type propKey struct {
	entity
	key value.KeyID
}

// change is the value before the statement and the one now.
type change struct{ old, now value.Value }

// tally is the number of nodes with a label before the statement, and how many
// came and went.
type tally struct{ before, delta int64 }

// danglingNode is a deleted node whose edges have to be deleted by the end.
type danglingNode struct {
	id    value.NodeID
	edges []value.EdgeID
}

// goneEdge is what stays known of a deleted edge.
type goneEdge struct {
	src, dst value.NodeID
	typ      value.TypeID
}

// detachCountLimit is up to how many edges a detaching delete counts the edges'
// properties. Beyond it only nodes and edges are counted: reading a million
// records to count them costs more than the deletion.
const detachCountLimit = 10_000

func newTracker(w access.Writer) *tracker {
	return &tracker{
		w: w, made: map[entity]bool{}, props: map[propKey]change{}, labels: map[value.LabelID]tally{},
		goneEdges: map[value.EdgeID]goneEdge{}, goneNodes: map[value.NodeID]bool{},
	}
}

// trackerKept is up to how many entries a tracker's maps are used again.
const trackerKept = 4096

// reset readies a tracker for another statement; t may be nil.
func (t *tracker) reset(w access.Writer) *tracker {
	if t == nil || len(t.made)+len(t.props)+len(t.goneEdges)+len(t.goneNodes) > trackerKept {
		return newTracker(w)
	}
	clear(t.made)
	clear(t.props)
	clear(t.labels)
	clear(t.goneEdges)
	clear(t.goneNodes)
	t.w, t.c = w, result.Counters{}
	t.labelIDs, t.dangling, t.removed = t.labelIDs[:0], t.dangling[:0], t.removed[:0]
	return t
}

func (t *tracker) countLabel(l value.LabelID, delta int64) {
	tl, ok := t.labels[l]
	if !ok {
		tl.before = t.w.NodeCount(l)
		t.labelIDs = append(t.labelIDs, l)
	}
	tl.delta += delta
	t.labels[l] = tl
}

// createNode creates a node. Labels must not repeat.
func (t *tracker) createNode(labels []value.LabelID, props []access.Prop) (value.NodeID, error) {
	for _, l := range labels {
		t.countLabel(l, 1)
	}
	id, err := t.w.CreateNode(labels, props)
	if err != nil {
		return 0, constraint(err)
	}
	t.made[entity{id: uint64(id)}] = true
	t.c.NodesCreated++
	t.c.PropertiesSet += stored(props)
	return id, nil
}

// createEdge creates an edge.
func (t *tracker) createEdge(src, dst value.NodeID, typ value.TypeID, props []access.Prop) (value.EdgeID, error) {
	if t.goneNodes[src] || t.goneNodes[dst] {
		return 0, deleted("node")
	}
	id, err := t.w.CreateEdge(src, dst, typ, props)
	if err != nil {
		return 0, constraint(err)
	}
	t.made[entity{edge: true, id: uint64(id)}] = true
	t.c.EdgesCreated++
	t.c.PropertiesSet += stored(props)
	return id, nil
}

func stored(props []access.Prop) int64 {
	var n int64
	for _, p := range props {
		if !p.Value.IsNull() {
			n++
		}
	}
	return n
}

// constraint turns a refusal of the graph into a fault, unless it is one.
func constraint(err error) error {
	if fault.As(err) != nil {
		return err
	}
	return fault.AtRuntime(fault.ConstraintValidationFailed, "", "%s", err.Error()).Wrap(err)
}

func deleted(what string) error {
	return fault.AtRuntime(fault.EntityNotFound, "DeletedEntityAccess", "the %s has been deleted by this statement", what)
}

// set sets a property of a node or an edge; null removes it.
func (t *tracker) set(e value.Value, key value.KeyID, v value.Value) error {
	var old value.Value
	var err error
	ent := entity{edge: e.Kind() == value.KindEdge}
	if ent.edge {
		ent.id = uint64(e.EdgeID())
		if _, gone := t.goneEdges[e.EdgeID()]; gone {
			return deleted("relationship")
		}
		old, err = t.w.SetEdgeProp(e.EdgeID(), key, v)
	} else {
		ent.id = uint64(e.NodeID())
		if t.goneNodes[e.NodeID()] {
			return deleted("node")
		}
		old, err = t.w.SetNodeProp(e.NodeID(), key, v)
	}
	if err != nil {
		return constraint(err)
	}
	t.changed(ent, key, old, v)
	return nil
}

func (t *tracker) changed(e entity, key value.KeyID, old, now value.Value) {
	if t.made[e] {
		switch {
		case old.IsNull() && !now.IsNull():
			t.c.PropertiesSet++
		case !old.IsNull() && now.IsNull():
			t.c.PropertiesSet--
		}
		return
	}
	k := propKey{entity: e, key: key}
	c, ok := t.props[k]
	if !ok {
		c.old = old
	}
	c.now = now
	t.props[k] = c
}

// addLabel and removeLabel change one label of a node.
func (t *tracker) addLabel(n value.NodeID, l value.LabelID) error {
	if t.goneNodes[n] {
		return deleted("node")
	}
	t.countLabel(l, 0)
	added, err := t.w.AddLabel(n, l)
	if added {
		t.countLabel(l, 1)
	}
	return err
}

func (t *tracker) removeLabel(n value.NodeID, l value.LabelID) error {
	if t.goneNodes[n] {
		return deleted("node")
	}
	t.countLabel(l, 0)
	removed, err := t.w.RemoveLabel(n, l)
	if removed {
		t.countLabel(l, -1)
	}
	return err
}

// deleteEdge deletes an edge, unless it is gone already.
func (t *tracker) deleteEdge(id value.EdgeID) error {
	if _, gone := t.goneEdges[id]; gone {
		return nil
	}
	src, dst, typ, ok := t.w.EdgeEnds(id)
	if !ok {
		return nil
	}
	if t.isSupersedes(typ) {
		if err := t.unsuperseded(id, src, dst); err != nil {
			return err
		}
	}
	ent := entity{edge: true, id: uint64(id)}
	var err error
	if t.keys, err = t.w.EdgeKeys(id, t.keys[:0]); err != nil {
		return err
	}
	if err := t.forget(ent, func(k value.KeyID) (value.Value, error) { return t.w.EdgeProp(id, k) }); err != nil {
		return err
	}
	if _, err := t.w.DeleteEdge(id); err != nil {
		return err
	}
	t.goneEdges[id] = goneEdge{src: src, dst: dst, typ: typ}
	if t.made[ent] {
		delete(t.made, ent)
		t.c.EdgesCreated--
	} else {
		t.c.EdgesDeleted++
	}
	return nil
}

// forget counts the properties t.keys of an entity that is about to go.
func (t *tracker) forget(e entity, prop func(value.KeyID) (value.Value, error)) error {
	if t.made[e] {
		t.c.PropertiesSet -= int64(len(t.keys))
		return nil
	}
	for _, k := range t.keys {
		old, err := prop(k)
		if err != nil {
			return err
		}
		t.changed(e, k, old, value.Null)
	}
	return nil
}

// deleteNode deletes a node, unless it is gone already. Without detach its
// edges must be deleted by the end of the statement; see finish.
func (t *tracker) deleteNode(id value.NodeID, detach bool) error {
	if t.goneNodes[id] || !t.w.NodeExists(id) {
		return nil
	}
	degree := t.w.Degree(id, access.Both, nil)
	bulk := detach && degree > detachCountLimit
	if bulk {
		if err := t.supersessions(id); err != nil {
			return err
		}
	}
	if degree > 0 && !bulk {
		var err error
		if t.adj, err = t.w.Expand(id, access.Both, nil, t.adj[:0]); err != nil {
			return err
		}
		if detach {
			for _, a := range t.adj {
				if err := t.deleteEdge(a.Edge); err != nil {
					return err
				}
			}
		} else {
			d := danglingNode{id: id}
			for _, a := range t.adj {
				d.edges = append(d.edges, a.Edge)
			}
			t.dangling = append(t.dangling, d)
		}
	}
	ent := entity{id: uint64(id)}
	var err error
	if t.keys, err = t.w.NodeKeys(id, t.keys[:0]); err != nil {
		return err
	}
	if err := t.forget(ent, func(k value.KeyID) (value.Value, error) { return t.w.NodeProp(id, k) }); err != nil {
		return err
	}
	t.labelBuf = t.w.Labels(id, t.labelBuf[:0])
	for _, l := range t.labelBuf {
		t.countLabel(l, -1)
	}
	if err := t.undeclare(id); err != nil {
		return err
	}
	edges, err := t.w.DeleteNode(id, bulk)
	if err != nil {
		return err
	}
	t.c.EdgesDeleted += edges
	t.goneNodes[id] = true
	if t.made[ent] {
		delete(t.made, ent)
		t.c.NodesCreated--
	} else {
		t.c.NodesDeleted++
	}
	return nil
}

// undeclare takes back what a node that is about to go was declared as.
func (t *tracker) undeclare(id value.NodeID) error {
	w, ok := t.w.(access.LayerWriter)
	if !ok {
		return nil
	}
	words := w.Vocabulary()
	if words.Self() == id {
		if err := w.DeclareSelf(0); err != nil {
			return err
		}
	}
	if !words.IsPillar(id) {
		return nil
	}
	for _, p := range words.Pillars() {
		if p.Node == id {
			if err := w.DeclarePillar(p.Name, 0); err != nil {
				return err
			}
		}
	}
	return nil
}

// finish checks what has to hold at the end of a statement and returns the net
// changes.
func (t *tracker) finish() (result.Counters, error) {
	for _, d := range t.dangling {
		for _, e := range d.edges {
			if _, _, _, ok := t.w.EdgeEnds(e); ok {
				return result.Counters{}, fault.AtRuntime(fault.ConstraintVerificationFailed, "DeleteConnectedNode",
					"a node cannot be deleted while it still has relationships").
					WithHint("DETACH DELETE deletes its relationships too.")
			}
		}
	}
	c := t.c
	for _, ch := range t.props { // sums only: the order does not show
		if ch.old.Kind() == ch.now.Kind() && value.Equivalent(ch.old, ch.now) {
			continue
		}
		if !ch.old.IsNull() {
			c.PropertiesRemoved++
		}
		if !ch.now.IsNull() {
			c.PropertiesSet++
		}
	}
	for _, l := range t.labelIDs {
		tl := t.labels[l]
		switch after := tl.before + tl.delta; {
		case tl.before == 0 && after > 0:
			c.LabelsAdded++
		case tl.before > 0 && after == 0:
			c.LabelsRemoved++
		}
	}
	return c, nil
}
