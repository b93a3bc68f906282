package topo

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/value"
)

// kept is an old version beside what it must still say.
type kept struct {
	v       *Version
	m       *model
	maxNode value.NodeID
	maxEdge value.EdgeID
}

// world drives an editor and the model side by side.
type world struct {
	t       *rapid.T
	v       *Version
	e       *Editor
	m       *model
	base    *model // as of v
	maxNode value.NodeID
	maxEdge value.EdgeID
	seq     uint64
	old     []kept
	merges  []*Merged
}

var testColumns = []string{"importance", "tier", "created_at"}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, v: New(Config{Columns: testColumns}), m: newModel(), base: newModel()}
	w.e = w.v.Edit()
	return w
}

func (w *world) must(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

func genLabels(t *rapid.T) []value.LabelID {
	l := rapid.SliceOfNDistinct(rapid.SampledFrom([]value.LabelID{1, 2, 3, 4}), 0, 3, rapid.ID[value.LabelID]).Draw(t, "labels")
	return l
}

func genValue(t *rapid.T) value.Value {
	return rapid.SampledFrom([]value.Value{
		value.Null, value.Bool(true), value.Bool(false), value.Int(7), value.Int(1 << 40), value.Int(300), value.Float(0.5), value.Float(0.1), value.Float(0.12345678),
		value.String("Working"), value.String(""), value.List(nil),
		value.String("a string of more than sixty-four bytes, which is too long to be interned"),
		value.OfDate(value.Date{Days: -3}), value.OfDateTime(value.DateTime{Seconds: -5, Nanos: 7e6}),
	}).Draw(t, "value")
}

func (w *world) anyNode() (value.NodeID, bool) {
	ids := sortedKeys(w.m.nodes)
	if len(ids) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(ids).Draw(w.t, "node"), true
}

func (w *world) anyEdge(m map[value.EdgeID]medge) (value.EdgeID, bool) {
	ids := sortedKeys(m)
	if len(ids) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(ids).Draw(w.t, "edge"), true
}

func (w *world) addNode() {
	gap := rapid.SampledFrom([]uint64{1, 1, 1, 2, 3, 1500}).Draw(w.t, "gap")
	w.maxNode += value.NodeID(gap)
	n := mnode{labels: genLabels(w.t), created: int64(w.maxNode) * 10}
	var hot []HotValue
	for c := range n.hot {
		n.hot[c] = genValue(w.t)
		hot = append(hot, HotValue{Column(c), n.hot[c]})
	}
	w.must(w.e.AddNode(w.maxNode, n.labels, hot, n.created))
	slices.Sort(n.labels)
	w.m.nodes[w.maxNode] = n
}

func (w *world) addEdge() {
	src, ok := w.anyNode()
	if !ok {
		return
	}
	dst, _ := w.anyNode()
	w.maxEdge += value.EdgeID(rapid.SampledFrom([]uint64{1, 1, 1, 2, 700}).Draw(w.t, "gap"))
	e := medge{src: src, dst: dst, typ: rapid.SampledFrom([]value.TypeID{1, 2, 3, 254, 255, 300}).Draw(w.t, "type")}
	for a := range e.attrs {
		e.attrs[a] = genValue(w.t)
	}
	e.created = rapid.SampledFrom([]int64{0, 5, 1e12, -4}).Draw(w.t, "created")
	w.must(w.e.AddEdge(w.maxEdge, src, dst, e.typ, EdgeInit{e.attrs[0], e.attrs[1], e.attrs[2], e.created}))
	w.m.edges[w.maxEdge] = e
}

func (w *world) change() {
	switch rapid.IntRange(0, 12).Draw(w.t, "op") {
	case 0, 1, 2:
		w.addNode()
	case 3, 4, 5, 6:
		w.addEdge()
	case 7:
		if id, ok := w.anyEdge(w.m.edges); ok {
			if !w.e.DeleteEdge(id) || w.e.DeleteEdge(id) {
				w.t.Fatalf("deleting edge %d twice", id)
			}
			delete(w.m.edges, id)
		}
	case 8:
		if id, ok := w.anyNode(); ok && rapid.Bool().Draw(w.t, "sure") {
			if !w.e.DeleteNode(id) || w.e.DeleteNode(id) {
				w.t.Fatalf("deleting node %d twice", id)
			}
			w.m.deleteNode(id)
		}
	case 9:
		if id, ok := w.anyEdge(w.m.orphans); ok {
			if !w.e.DeleteEdge(id) {
				w.t.Fatalf("sweeping edge %d", id)
			}
			delete(w.m.orphans, id)
		}
	case 10:
		w.changeNode()
	default:
		w.changeEdge()
	}
}

func (w *world) changeNode() {
	id, ok := w.anyNode()
	if !ok {
		return
	}
	n := w.m.nodes[id]
	n.labels = genLabels(w.t)
	w.must(w.e.SetLabels(id, n.labels))
	slices.Sort(n.labels)
	c := rapid.IntRange(0, 2).Draw(w.t, "column")
	n.hot[c] = genValue(w.t)
	w.must(w.e.SetHot(id, Column(c), n.hot[c]))
	w.m.nodes[id] = n
}

func (w *world) changeEdge() {
	id, ok := w.anyEdge(w.m.edges)
	if !ok {
		return
	}
	e := w.m.edges[id]
	a := rapid.IntRange(0, 2).Draw(w.t, "attribute")
	e.attrs[a] = genValue(w.t)
	w.must(w.e.SetEdgeAttr(id, EdgeAttr(a), e.attrs[a]))
	e.hasLearn = rapid.Bool().Draw(w.t, "learned")
	e.learned = 0
	if e.hasLearn {
		e.learned = 0.25
	}
	w.must(w.e.SetLearned(id, e.learned, e.hasLearn))
	w.m.edges[id] = e
}

// bulk starts over from what a builder makes of the changes so far.
func (w *world) bulk() {
	for range rapid.IntRange(0, 40).Draw(w.t, "bulk steps") {
		w.change()
	}
	b := NewBuilder(Config{Columns: testColumns})
	clear(w.m.dead) // nobody knows their labels any more
	dead := map[value.NodeID]bool{}
	for _, e := range w.m.orphans {
		dead[e.src], dead[e.dst] = true, true
	}
	for id := value.NodeID(1); id <= w.maxNode; id++ {
		n, alive := w.m.nodes[id]
		if !alive {
			if dead[id] || id == w.maxNode {
				w.must(b.AddTombstone(id))
			}
			continue
		}
		w.must(b.AddNode(id, n.labels, []HotValue{{0, n.hot[0]}, {1, n.hot[1]}, {2, n.hot[2]}}, n.created))
	}
	for id := value.EdgeID(1); id <= w.maxEdge; id++ {
		e, ok := w.m.edges[id]
		if !ok {
			if e, ok = w.m.orphans[id]; !ok {
				continue
			}
		}
		e.learned, e.hasLearn = 0, false
		if _, ok := w.m.edges[id]; ok {
			w.m.edges[id] = e
		}
		w.must(b.AddEdge(id, e.src, e.dst, e.typ, EdgeInit{e.attrs[0], e.attrs[1], e.attrs[2], e.created}))
	}
	w.e = b.Build(0).Edit()
	w.merges = nil
	w.commit()
}

func (w *world) commit() {
	w.seq++
	w.v = w.e.Commit(w.seq)
	w.base = w.m.clone()
	if rapid.IntRange(0, 3).Draw(w.t, "reload") == 0 {
		w.old = append(w.old, kept{w.v, w.base, w.maxNode, w.maxEdge})
		var err error
		w.v, err = roundTrip(w.v)
		w.must(err)
		w.e = w.v.Edit()
	} else if rapid.Bool().Draw(w.t, "fresh") {
		w.e = w.v.Edit()
	}
	w.old = append(w.old, kept{w.v, w.base, w.maxNode, w.maxEdge})
}

// merge starts a merge of what is published, or installs one started before,
// with any number of changes in between.
func (w *world) merge() {
	if len(w.merges) == 0 || rapid.Bool().Draw(w.t, "start") {
		seg := rapid.Uint32Range(0, w.v.Slots()>>segBits).Draw(w.t, "segment")
		w.merges = append(w.merges, w.v.Merge(seg))
		return
	}
	w.e.Install(w.merges[0])
	w.merges = w.merges[1:]
}

// drop throws the edit away, as when a pending transaction fails.
func (w *world) drop() {
	w.m, w.e = w.base.clone(), w.v.Edit()
	w.maxNode, w.maxEdge = 0, 0
	if n := len(w.old); n > 0 {
		w.maxNode, w.maxEdge = w.old[n-1].maxNode, w.old[n-1].maxEdge
	}
}

// TestVersionsAgainstModel changes a topology at random and compares every read
// with plain maps, in the editor, in the newest version and in all old ones.
func TestVersionsAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		if rapid.Bool().Draw(t, "bulk") {
			w.bulk()
		}
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			switch rapid.IntRange(0, 9).Draw(t, "step") {
			case 0:
				w.commit()
			case 1:
				w.drop()
			case 2:
				w.merge()
			default:
				w.change()
			}
		}
		w.must(w.m.diff(w.e.View(), w.maxNode, w.maxEdge))
		w.commit()
		w.v.Verify(func(problem string) bool {
			t.Fatal(problem)
			return false
		})
		for _, k := range w.old {
			w.must(k.m.diff(k.v, k.maxNode, k.maxEdge))
		}
	})
}
