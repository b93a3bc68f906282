package graph_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"engram/graph"
	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
	"engram/graph/internal/store/mem"
	"engram/graph/value"
)

// model is the graph as plain maps.
type model struct {
	nodes map[value.NodeID]*modelNode
	edges map[value.EdgeID]*modelEdge
}

type modelNode struct {
	labels map[string]bool
	props  map[string]value.Value
}

type modelEdge struct {
	src, dst value.NodeID
	typ      string
	props    map[string]value.Value
}

func newModel() *model {
	return &model{nodes: map[value.NodeID]*modelNode{}, edges: map[value.EdgeID]*modelEdge{}}
}

func (m *model) clone() *model {
	out := newModel()
	for id, n := range m.nodes {
		out.nodes[id] = &modelNode{maps.Clone(n.labels), maps.Clone(n.props)}
	}
	for id, e := range m.edges {
		out.edges[id] = &modelEdge{e.src, e.dst, e.typ, maps.Clone(e.props)}
	}
	return out
}

func show(props map[string]value.Value) string {
	var parts []string
	for _, k := range slices.Sorted(maps.Keys(props)) {
		parts = append(parts, k+": "+props[k].String())
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func showProps(props []value.Prop) string {
	m := map[string]value.Value{}
	for _, p := range props {
		m[p.Key] = p.Value
	}
	return show(m)
}

// describe prints the whole model, in order of id.
func (m *model) describe() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(m.nodes)) {
		n := m.nodes[id]
		fmt.Fprintf(&b, "%d %v %s\n", id, slices.Sorted(maps.Keys(n.labels)), show(n.props))
		for _, e := range slices.Sorted(maps.Keys(m.edges)) {
			if m.edges[e].src == id {
				fmt.Fprintf(&b, "  %d %s to %d %s\n", e, m.edges[e].typ, m.edges[e].dst, show(m.edges[e].props))
			}
		}
	}
	return b.String()
}

// describe prints what a transaction sees in the same form, and checks on the
// way that the ways of reading agree with each other.
func describe(t failer, tx *graph.Tx) string {
	var b strings.Builder
	ids := scanAll(t, tx)
	if n := tx.NodeCount(0); n != int64(len(ids)) {
		t.Fatalf("%d nodes are counted, %d found", n, len(ids))
	}
	edges := 0
	for _, id := range ids {
		n, err := tx.LoadNode(id)
		if err != nil || n == nil {
			t.Fatalf("node %d: %v, %v", id, n, err)
		}
		fmt.Fprintf(&b, "%d %v %s\n", id, n.Labels, showProps(n.Properties))
		found, err := tx.NodesByID(value.String(n.ElementID), nil)
		if err != nil || len(found) > 1 || len(found) == 1 && found[0] != id {
			t.Fatalf("external id %s of node %d finds %v, %v", n.ElementID, id, found, err)
		}
		for _, p := range n.Properties {
			k, _ := tx.Key(p.Key)
			if v, err := tx.NodeProp(id, k); err != nil || v.String() != p.Value.String() {
				t.Fatalf("property %s of node %d is %s and %s, %v", p.Key, id, p.Value, v, err)
			}
			if p.Key == "id" {
				if found, err := tx.NodesByID(p.Value, nil); err != nil || !slices.Contains(found, id) {
					t.Fatalf("id %s of node %d finds %v, %v", p.Value, id, found, err)
				}
			}
		}
		edges += describeEdges(t, tx, id, &b)
	}
	if n := tx.EdgeCount(0); n != int64(edges) {
		t.Fatalf("%d edges are counted, %d found", n, edges)
	}
	checkIndexes(t, tx)
	return b.String()
}

// describeEdges prints a node's outgoing edges in order of id.
func describeEdges(t failer, tx *graph.Tx, id value.NodeID, b *strings.Builder) int {
	adj, err := tx.Expand(id, value.Out, nil, nil)
	if err != nil || tx.Degree(id, value.Out, nil) != int64(len(adj)) {
		t.Fatalf("node %d: degree %d, %d edges, %v", id, tx.Degree(id, value.Out, nil), len(adj), err)
	}
	slices.SortFunc(adj, func(x, y value.Adjacent) int { return int(x.Edge) - int(y.Edge) })
	for _, a := range adj {
		e, err := tx.LoadEdge(a.Edge)
		if err != nil || e == nil {
			t.Fatalf("edge %d: %v, %v", a.Edge, e, err)
		}
		fmt.Fprintf(b, "  %d %s to %d %s\n", a.Edge, e.Type, e.Dst, showProps(e.Properties))
		back, err := tx.Expand(e.Dst, value.In, []value.TypeID{a.Type}, nil)
		if err != nil || !slices.ContainsFunc(back, func(x value.Adjacent) bool { return x.Edge == a.Edge && x.Node == id }) {
			t.Fatalf("edge %d is not seen from its end, %v", a.Edge, err)
		}
	}
	return len(adj)
}

type failer interface{ Fatalf(string, ...any) }

func scanAll(t failer, tx *graph.Tx) []value.NodeID {
	var all []value.NodeID
	after := value.NodeID(0)
	buf := make([]value.NodeID, 3)
	for {
		got, err := tx.ScanNodes(0, after, buf)
		if err != nil {
			t.Fatalf("scan: %v", err)
		}
		all = append(all, got...)
		if len(got) < len(buf) {
			return all
		}
		after = got[len(got)-1]
	}
}

// machine drives the graph and the model through the same random steps.
type machine struct {
	db     *graph.DB
	reopen func() (*graph.DB, error)
	now    *model // committed
	tx     *graph.Tx
	next   *model // with the open transaction's writes
	olds   []old
	used   map[string]bool // ids of nodes and edges that were ever handed out
}

// old is a snapshot that is kept open.
type old struct {
	tx   *graph.Tx
	want string
}

var (
	modelLabels = []string{"A", "B", "C"}
	modelTypes  = []string{"T", "U"}
	modelKeys   = []string{"id", "content", "importance", "weight", "x"}
)

func modelValue(t *rapid.T, key string) value.Value {
	switch rapid.IntRange(0, 6).Draw(t, "kind") {
	case 0:
		return value.Null
	case 1:
		return value.Int(rapid.Int64Range(-2, 2).Draw(t, "int"))
	case 2:
		return value.Float(float64(rapid.IntRange(-4, 4).Draw(t, "half")) / 2)
	case 3:
		return value.String(strings.Repeat("long", 600+rapid.IntRange(0, 3).Draw(t, "n")))
	case 4:
		return value.OfDateTime(value.DateTime{Seconds: rapid.Int64Range(0, 3).Draw(t, "s"), Offset: 3600, Zone: "Europe/Paris"})
	}
	return value.String(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, key))
}

func (m *machine) begin(t *rapid.T) {
	if m.tx != nil {
		return
	}
	tx, err := m.db.Begin(context.Background())
	if err != nil {
		t.Fatalf("begin: %v", err)
	}
	m.tx, m.next = tx, m.now.clone()
}

func (m *machine) pickNode(t *rapid.T) (value.NodeID, bool) {
	if len(m.next.nodes) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.next.nodes))).Draw(t, "node"), true
}

func (m *machine) pickEdge(t *rapid.T) (value.EdgeID, bool) {
	if len(m.next.edges) == 0 {
		return 0, false
	}
	return rapid.SampledFrom(slices.Sorted(maps.Keys(m.next.edges))).Draw(t, "edge"), true
}

// taken reports whether another node has the string id.
func (m *model) taken(self value.NodeID, v value.Value) bool {
	for id, n := range m.nodes {
		if id != self && v.Kind() == value.KindString && n.props["id"].Kind() == value.KindString && n.props["id"].AsString() == v.AsString() {
			return true
		}
	}
	return false
}

func (m *model) edgeTaken(self value.EdgeID, v value.Value) bool {
	for id, e := range m.edges {
		if id != self && v.Kind() == value.KindString && e.props["id"].Kind() == value.KindString && e.props["id"].AsString() == v.AsString() {
			return true
		}
	}
	return false
}

func (m *machine) key(t *rapid.T) (string, value.KeyID) {
	name := rapid.SampledFrom(modelKeys).Draw(t, "key")
	k, err := m.tx.InternKey(name)
	if err != nil {
		t.Fatalf("intern: %v", err)
	}
	return name, k
}

func setModel(props map[string]value.Value, name string, v value.Value) {
	if v.IsNull() {
		delete(props, name)
		return
	}
	props[name] = v
}

// refused checks that a write was refused exactly when it had to be.
func refused(t *rapid.T, err error, want bool) bool {
	if want != (graph.CodeOf(err) == graph.ConstraintViolated && err != nil) || err != nil && !want {
		t.Fatalf("a taken id is %v, but the error is %v", want, err)
	}
	return want
}

func (m *machine) CreateNode(t *rapid.T) {
	m.begin(t)
	name, k := m.key(t)
	v := modelValue(t, name)
	n := &modelNode{labels: map[string]bool{}, props: map[string]value.Value{}}
	setModel(n.props, name, v)
	var labels []value.LabelID
	for _, l := range modelLabels {
		if rapid.Bool().Draw(t, l) {
			id, err := m.tx.InternLabel(l)
			if err != nil {
				t.Fatalf("intern: %v", err)
			}
			labels, n.labels[l] = append(labels, id), true
		}
	}
	id, err := m.tx.CreateNode(labels, []value.KeyProp{{Key: k, Value: v}})
	if refused(t, err, name == "id" && m.next.taken(0, v)) {
		return
	}
	if at := fmt.Sprint("node ", id); m.used[at] {
		t.Fatalf("%s was used before", at)
	} else {
		m.used[at] = true
	}
	m.next.nodes[id] = n
}

func (m *machine) CreateEdge(t *rapid.T) {
	m.begin(t)
	src, ok := m.pickNode(t)
	if !ok {
		return
	}
	dst, _ := m.pickNode(t)
	typ := rapid.SampledFrom(modelTypes).Draw(t, "type")
	id, err := m.tx.InternRelType(typ)
	if err != nil {
		t.Fatalf("intern: %v", err)
	}
	name, k := m.key(t)
	v := modelValue(t, name)
	e, err := m.tx.CreateEdge(src, dst, id, []value.KeyProp{{Key: k, Value: v}})
	if refused(t, err, name == "id" && m.next.edgeTaken(0, v)) {
		return
	}
	if at := fmt.Sprint("edge ", e); m.used[at] {
		t.Fatalf("%s was used before", at)
	} else {
		m.used[at] = true
	}
	x := &modelEdge{src, dst, typ, map[string]value.Value{}}
	setModel(x.props, name, v)
	m.next.edges[e] = x
}

func (m *machine) SetNodeProp(t *rapid.T) {
	m.begin(t)
	id, ok := m.pickNode(t)
	if !ok {
		return
	}
	name, k := m.key(t)
	v := modelValue(t, name)
	old, err := m.tx.SetNodeProp(id, k, v)
	if refused(t, err, name == "id" && m.next.taken(id, v)) {
		return
	}
	if want := m.next.nodes[id].props[name]; old.String() != want.String() {
		t.Fatalf("the old value is %s, want %s", old, want)
	}
	setModel(m.next.nodes[id].props, name, v)
}

func (m *machine) SetEdgeProp(t *rapid.T) {
	m.begin(t)
	id, ok := m.pickEdge(t)
	if !ok {
		return
	}
	name, k := m.key(t)
	v := modelValue(t, name)
	if _, err := m.tx.SetEdgeProp(id, k, v); refused(t, err, name == "id" && m.next.edgeTaken(id, v)) {
		return
	}
	setModel(m.next.edges[id].props, name, v)
}

func (m *machine) SetLabel(t *rapid.T) {
	m.begin(t)
	id, ok := m.pickNode(t)
	if !ok {
		return
	}
	name := rapid.SampledFrom(modelLabels).Draw(t, "label")
	l, err := m.tx.InternLabel(name)
	if err != nil {
		t.Fatalf("intern: %v", err)
	}
	n := m.next.nodes[id]
	var changed bool
	if n.labels[name] {
		changed, err = m.tx.RemoveLabel(id, l)
		delete(n.labels, name)
	} else {
		changed, err = m.tx.AddLabel(id, l)
		n.labels[name] = true
	}
	if err != nil || !changed {
		t.Fatalf("label %s of node %d: %v, %v", name, id, changed, err)
	}
}

func (m *machine) DeleteEdge(t *rapid.T) {
	m.begin(t)
	id, ok := m.pickEdge(t)
	if !ok {
		return
	}
	if gone, err := m.tx.DeleteEdge(id); err != nil || !gone {
		t.Fatalf("deleting edge %d: %v, %v", id, gone, err)
	}
	delete(m.next.edges, id)
}

func (m *machine) DeleteNode(t *rapid.T) {
	m.begin(t)
	id, ok := m.pickNode(t)
	if !ok {
		return
	}
	gone := int64(0)
	for e, x := range m.next.edges {
		if x.src == id || x.dst == id {
			delete(m.next.edges, e)
			gone++
		}
	}
	delete(m.next.nodes, id)
	if n, err := m.tx.DeleteNode(id, true); err != nil || n != gone {
		t.Fatalf("deleting node %d removed %d edges, want %d: %v", id, n, gone, err)
	}
}

func (m *machine) Commit(t *rapid.T) {
	if m.tx == nil {
		return
	}
	if _, err := m.tx.Commit(context.Background()); err != nil {
		t.Fatalf("commit: %v", err)
	}
	m.now, m.tx, m.next = m.next, nil, nil
}

func (m *machine) Rollback(t *rapid.T) {
	if m.tx != nil {
		m.tx.Rollback()
		m.tx, m.next = nil, nil
	}
}

func (m *machine) KeepSnapshot(t *rapid.T) {
	if len(m.olds) > 2 {
		m.olds[0].tx.Rollback()
		m.olds = m.olds[1:]
	}
	tx, err := m.db.LongSnapshot()
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	m.olds = append(m.olds, old{tx, m.now.describe()})
}

func (m *machine) Reopen(t *rapid.T) {
	m.Rollback(t)
	m.dropSnapshots()
	if err := m.db.Close(context.Background()); err != nil {
		t.Fatalf("close: %v", err)
	}
	db, err := m.reopen()
	if err != nil {
		t.Fatalf("reopen: %v", err)
	}
	m.db = db
}

func (m *machine) Tidy(t *rapid.T) {
	if m.tx != nil {
		return // it needs the write slot
	}
	m.db.TidyOnce(context.Background())
	if err := m.db.TidyError(); err != nil {
		t.Fatalf("tidy: %v", err)
	}
}

func (m *machine) dropSnapshots() {
	for _, o := range m.olds {
		o.tx.Rollback()
	}
	m.olds = nil
}

// Check compares everything after each step.
func (m *machine) Check(t *rapid.T) {
	if m.tx != nil {
		if got, want := describe(t, m.tx), m.next.describe(); got != want {
			t.Fatalf("the transaction sees\n%s\nwant\n%s", got, want)
		}
	}
	for _, o := range m.olds {
		if got := describe(t, o.tx); got != o.want {
			t.Fatalf("a kept snapshot sees\n%s\nwant\n%s", got, o.want)
		}
	}
	tx, err := m.db.Snapshot()
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	defer tx.Rollback()
	if got, want := describe(t, tx), m.now.describe(); got != want {
		t.Fatalf("a snapshot sees\n%s\nwant\n%s", got, want)
	}
}

// keeper is a driver that survives Close, as a file does.
type keeper struct{ *mem.Driver }

func (keeper) Close() error { return nil }

func modelOptions() *graph.Options {
	var ticks atomic.Int64
	return graph.Manual(&graph.Options{
		HubEdges: 3, SweepBlocks: 1, IDBlock: 3, IndexChunk: 2,
		Now: func() time.Time { return time.UnixMilli(1_800_000_000_000 + ticks.Add(1)) },
	})
}

func memOpener(t *rapid.T) func() (*graph.DB, error) {
	puts, err := graph.InitialPuts(modelOptions())
	if err != nil {
		t.Fatalf("%v", err)
	}
	driver, err := mem.New(puts...)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return func() (*graph.DB, error) { return graph.OpenDriver(keeper{driver}, modelOptions()) }
}

// files numbers the files of one run.
var files atomic.Int64

func boltOpener(t *rapid.T, dir string) func() (*graph.DB, error) {
	puts, err := graph.InitialPuts(modelOptions())
	if err != nil {
		t.Fatalf("%v", err)
	}
	path := filepath.Join(dir, fmt.Sprintf("graph%d.db", files.Add(1)))
	if err := bolt.Create(path, puts); err != nil {
		t.Fatalf("%v", err)
	}
	topology := &topologyFiles{path: path + ".topology"}
	return func() (*graph.DB, error) {
		var driver store.Driver
		driver, err := bolt.Open(path, nil)
		if err != nil {
			return nil, err
		}
		db, err := graph.OpenWithTopology(driver, modelOptions(), topology.next(t))
		if err == nil {
			topology.opened(t, db)
		}
		return db, err
	}
}

// topologyFiles decides from which copy of the topology the next opening starts:
// the newest, as after a clean stop; an older one and the log behind it, as after a
// kill; or none. All must come to the same.
type topologyFiles struct {
	path  string
	saved [][]byte
	want  int // what opening should start from: 0 records, 1 a file
}

func (f *topologyFiles) next(t *rapid.T) string {
	if b, err := os.ReadFile(f.path); err == nil {
		f.saved = append(f.saved, b)
	}
	f.want = 0
	if n := len(f.saved); n > 0 {
		f.want = 1
		which := rapid.IntRange(-1, n-1).Draw(t, "topology file")
		if which < 0 {
			f.want = 0
			_ = os.Remove(f.path)
		} else if err := os.WriteFile(f.path, f.saved[which], 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return f.path
}

func (f *topologyFiles) opened(t *rapid.T, db *graph.DB) {
	s, err := db.Stats()
	if err != nil || len(s.Notes) > 0 || (s.Topology.OpenedAt > 0) != (f.want == 1) {
		t.Fatalf("opened from %d, want %d; notes %q, %v", s.Topology.OpenedAt, f.want, s.Notes, err)
	}
}

// TestModel drives the graph and a map model through the same random steps,
// with reopening in the middle, on both drivers.
func TestModel(t *testing.T) {
	run := func(t *testing.T, opener func(*rapid.T) func() (*graph.DB, error)) {
		rapid.Check(t, func(t *rapid.T) {
			m := &machine{now: newModel(), used: map[string]bool{}}
			m.reopen = opener(t)
			var err error
			if m.db, err = m.reopen(); err != nil {
				t.Fatalf("open: %v", err)
			}
			defer func() {
				m.Rollback(t)
				m.dropSnapshots()
				_ = m.db.Close(context.Background())
			}()
			t.Repeat(map[string]func(*rapid.T){
				"": m.Check, "createNode": m.CreateNode, "createEdge": m.CreateEdge, "createEdge2": m.CreateEdge,
				"setNodeProp": m.SetNodeProp, "setEdgeProp": m.SetEdgeProp, "setLabel": m.SetLabel,
				"deleteEdge": m.DeleteEdge, "deleteNode": m.DeleteNode,
				"createIndex": m.CreateIndex, "dropIndex": m.DropIndex,
				"commit": m.Commit, "commit2": m.Commit, "rollback": m.Rollback,
				"keepSnapshot": m.KeepSnapshot, "reopen": m.Reopen, "tidy": m.Tidy,
			})
			m.Rollback(t)
			report, err := m.db.Check(context.Background())
			if err != nil || !report.OK() {
				t.Fatalf("check: %v, %v", err, report.Problems)
			}
			if err := m.db.CheckReplay(); err != nil {
				t.Fatalf("%v", err)
			}
			for m.db.TidyOnce(context.Background()) {
			}
			report, err = m.db.Check(context.Background())
			if err != nil || !report.OK() || report.Swept != 0 {
				t.Fatalf("check after sweeping: %v, %v, %d edges left", err, report.Problems, report.Swept)
			}
		})
	}
	t.Run("memory", func(t *testing.T) { run(t, memOpener) })
	t.Run("bolt", func(t *testing.T) {
		dir := t.TempDir()
		run(t, func(rt *rapid.T) func() (*graph.DB, error) { return boltOpener(rt, dir) })
	})
}
