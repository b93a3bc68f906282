package vector

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/value"
)

const modelDim = 6

// machine does random things to a space and to a map.
type machine struct {
	ix    *Index
	dir   string
	seq   uint64
	now   naive
	waits map[value.NodeID]uint64
	views []kept
}

type kept struct {
	view *View
	want naive
}

func drawVector(t *rapid.T) []float32 {
	v := make([]float32, modelDim)
	for j := range v {
		v[j] = float32(rapid.IntRange(-3, 3).Draw(t, "x"))
	}
	v[rapid.IntRange(0, modelDim-1).Draw(t, "axis")] += 4
	return v
}

func drawDocs(t *rapid.T) []Doc {
	var docs []Doc
	for range rapid.IntRange(0, 4).Draw(t, "docs") {
		d := Doc{Node: value.NodeID(rapid.IntRange(1, 12).Draw(t, "node"))}
		switch rapid.IntRange(0, 5).Draw(t, "what") {
		case 0:
		case 1:
			d.Pending = true
		default:
			d.Vector = drawVector(t)
		}
		docs = append(docs, d)
	}
	return docs
}

func (m naive) with(docs []Doc) naive {
	next := maps.Clone(m)
	for _, d := range docs {
		delete(next, d.Node)
		if d.Vector != nil {
			next[d.Node] = d.Vector
		}
	}
	return next
}

func (m *machine) Publish(t *rapid.T) {
	docs := drawDocs(t)
	m.seq += uint64(rapid.IntRange(1, 3).Draw(t, "gap"))
	m.ix.Publish(m.seq, docs)
	m.ix.Publish(m.seq, []Doc{{Node: 1}}) // passed over
	m.now = m.now.with(docs)
	for _, d := range docs {
		delete(m.waits, d.Node)
		if d.Pending && d.Vector == nil {
			m.waits[d.Node] = m.seq
		}
	}
}

func (m *machine) Fill(t *rapid.T) {
	tasks := m.ix.Missing(rapid.IntRange(1, 3).Draw(t, "limit"))
	for _, task := range tasks {
		if of, ok := m.waits[task.Node]; !ok || of != task.Of {
			t.Fatalf("task %v; waiting are %v", task, m.waits)
		}
		if ok := must(m.ix.Fill(Task{task.Node, task.Of + 1}, drawVector(t)))(t); ok {
			t.Fatal("a vector of another text was taken")
		}
		v := drawVector(t)
		if ok := must(m.ix.Fill(task, v))(t); !ok {
			t.Fatal("a vector was refused")
		}
		m.now = m.now.with([]Doc{{Node: task.Node, Vector: v}})
		delete(m.waits, task.Node)
	}
	if len(tasks) == 0 && len(m.waits) > 0 {
		t.Fatalf("nothing missing, yet %v wait", m.waits)
	}
}

func (m *machine) Flush(t *rapid.T) {
	if err := m.ix.Flush(); err != nil {
		t.Fatal(err)
	}
	if m.ix.AppliedSeq() > m.seq {
		t.Fatalf("applied %d, ahead of %d", m.ix.AppliedSeq(), m.seq)
	}
}

// Compact makes a new generation whether or not it is worth it.
func (m *machine) Compact(*rapid.T) {
	m.ix.writeLock.Lock()
	defer m.ix.writeLock.Unlock()
	m.ix.genLock.Lock()
	defer m.ix.genLock.Unlock()
	g := m.ix.gens[len(m.ix.gens)-1]
	m.ix.gens = []*generation{g, g.compacted(m.ix.durable.Load())}
}

func (m *machine) Reopen(t *rapid.T) {
	if m.dir == "" {
		return
	}
	if err := m.ix.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ix.At(m.seq); err != ErrClosed {
		t.Fatalf("view of a closed space: %v", err)
	}
	m.ix = must(Open(manual(m.dir, modelDim)))(t)
	if m.ix.AppliedSeq() != m.seq {
		t.Fatalf("reopened at %d, want %d", m.ix.AppliedSeq(), m.seq)
	}
}

func (m *machine) Keep(t *rapid.T) {
	docs := drawDocs(t)
	view := must(m.ix.At(m.seq))(t)
	m.views = append(m.views, kept{view, m.now}, kept{view.With(docs), m.now.with(docs)})
	docs2 := drawDocs(t)
	m.views = append(m.views, kept{view.With(docs).With(docs2), m.now.with(docs).with(docs2)})
	m.views = m.views[max(0, len(m.views)-6):]
}

func (m *machine) Check(t *rapid.T) {
	view := must(m.ix.At(m.seq))(t)
	q := drawVector(t)
	for _, k := range append(m.views, kept{view, m.now}) {
		got := must(k.view.Search(Query{Vector: q, Limit: 5, Floor: -1}))(t)
		sameHits(t, got, k.want.search(q, 5, -1, true))
		if k.view.Count() != len(k.want) {
			t.Fatalf("%d vectors, want %d", k.view.Count(), len(k.want))
		}
		var ids []value.NodeID
		k.view.EachNode(func(id value.NodeID) bool { ids = append(ids, id); return true })
		slices.Sort(ids)
		if want := slices.Sorted(maps.Keys(k.want)); !slices.Equal(ids, want) {
			t.Fatalf("nodes %v, want %v", ids, want)
		}
		scores := must(k.view.Scores(q, false, []value.NodeID{1, 2, 3}))(t)
		for i, s := range scores {
			id := value.NodeID(i + 1)
			if _, ok := k.view.Vector(id); ok != (k.want[id] != nil) || !ok && s != 0 {
				t.Fatalf("node %d: vector %v, score %v", id, ok, s)
			}
		}
	}
	s := m.ix.Stats()
	if s.Live != len(m.now) || s.Pending != len(m.waits) || s.LastError != nil {
		t.Fatalf("stats %+v; want %d live, %d pending", s, len(m.now), len(m.waits))
	}
}

func testModel(t *testing.T, onDisk bool) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{now: naive{}, waits: map[value.NodeID]uint64{}}
		if onDisk {
			m.dir = t.TempDir()
		}
		m.ix = must(Open(manual(m.dir, modelDim)))(t)
		defer func() { _ = m.ix.Close() }()
		rt.Repeat(map[string]func(*rapid.T){
			"publish": m.Publish, "publish again": m.Publish, "fill": m.Fill, "flush": m.Flush, "compact": m.Compact,
			"reopen": m.Reopen, "keep": m.Keep, "": m.Check,
		})
	})
}

func TestAgainstModelInMemory(t *testing.T) { testModel(t, false) }
func TestAgainstModelOnDisk(t *testing.T)   { testModel(t, true) }
