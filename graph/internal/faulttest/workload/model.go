package workload

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"engram/graph/internal/learn"
	"engram/graph/value"
)

// words are those of the text of nodes. None is changed by stemming.
var words = []string{"walnut", "harbor", "zebra", "copper", "lantern", "velvet", "ember", "quartz"}

// counterID is the id of the node that holds the number of the last transaction.
const counterID = "counter"

type node struct {
	labels []string
	props  map[string]value.Value
	used   value.Activity
}

type edge struct {
	typ, src, dst string
	props         map[string]value.Value
	learned       int32 // in learn's units
}

// Model is what the database holds after a number of transactions.
type Model struct {
	seed  uint64
	done  int
	next  int // for ids, never reused
	nodes map[string]*node
	edges map[string]*edge
}

// New returns the model of an empty database.
func New(seed uint64) *Model {
	return &Model{seed: seed, nodes: map[string]*node{}, edges: map[string]*edge{}}
}

// Done is how many transactions the model has taken in.
func (m *Model) Done() int { return m.done }

// kind is the kind of an op.
type kind uint8

const (
	addNode kind = iota
	addEdge
	setProp
	setLabel // toggles
	dropEdge
	dropNode
	useBoth // the ends of an edge, together
)

// op is one change inside a transaction.
type op struct {
	kind     kind
	id       string // of the node or edge
	labels   []string
	typ      string
	src, dst string
	props    map[string]value.Value
	key      string
	value    value.Value
	at       int64 // of a use
}

// Next plans transaction Done()+1 and takes it into the model.
func (m *Model) Next() []op {
	m.done++
	random := rand.New(rand.NewPCG(m.seed, uint64(m.done)))
	var ops []op
	do := func(o op) {
		m.take(o)
		ops = append(ops, o)
	}
	if m.done == 1 {
		do(op{kind: addNode, id: counterID, props: map[string]value.Value{}})
	}
	do(op{kind: setProp, id: counterID, key: "n", value: value.Int(int64(m.done))})
	for range 1 + random.IntN(6) {
		if o, ok := m.plan(random); ok {
			do(o)
		}
	}
	if o, ok := m.use(random); ok {
		do(o)
	}
	return ops
}

// use chooses two nodes to be used together in a third of the transactions: with one
// edge between them, so that it does not matter which edge learns first.
func (m *Model) use(random *rand.Rand) (op, bool) {
	if random.IntN(3) != 0 {
		return op{}, false
	}
	between := map[[2]string][]string{}
	for id, e := range m.edges {
		pair := [2]string{min(e.src, e.dst), max(e.src, e.dst)}
		between[pair] = append(between[pair], id)
	}
	var single []string
	for pair, ids := range between {
		if pair[0] != pair[1] && len(ids) == 1 {
			single = append(single, ids[0])
		}
	}
	if len(single) == 0 {
		return op{}, false
	}
	slices.Sort(single)
	id := single[random.IntN(len(single))]
	return op{kind: useBoth, id: id, src: m.edges[id].src, dst: m.edges[id].dst, at: 1_700_000_000_000 + int64(m.done)}, true
}

// plan chooses a change that is possible now.
func (m *Model) plan(random *rand.Rand) (op, bool) {
	ids := slices.DeleteFunc(slices.Sorted(maps.Keys(m.nodes)), func(id string) bool { return id == counterID })
	pick := func() string { return ids[random.IntN(len(ids))] }
	dice := random.IntN(100)
	switch {
	case dice < 35 || len(ids) < 2:
		m.next++
		o := op{kind: addNode, id: fmt.Sprintf("n%d", m.next), props: m.props(random)}
		for _, l := range []string{"Memory", "Topic", fmt.Sprintf("Rare%d", m.done/10)} {
			if random.IntN(2) == 0 {
				o.labels = append(o.labels, l)
			}
		}
		return o, true
	case dice < 65:
		m.next++
		// Half of the edges start at an old node, so that there are hubs.
		src := ids[random.IntN(1+random.IntN(len(ids)))]
		return op{
			kind: addEdge, id: fmt.Sprintf("e%d", m.next), typ: []string{"LINKS", "FOLLOWS"}[random.IntN(2)],
			src: src, dst: pick(), props: map[string]value.Value{"weight": value.Float(random.Float64())},
		}, true
	case dice < 80:
		props := m.props(random)
		keys := slices.Sorted(maps.Keys(props))
		k := keys[random.IntN(len(keys))]
		v := props[k]
		if random.IntN(4) == 0 {
			v = value.Null
		}
		return op{kind: setProp, id: pick(), key: k, value: v}, true
	case dice < 85:
		return op{kind: setLabel, id: pick(), labels: []string{"Pinned"}}, true
	case dice < 93:
		edges := slices.Sorted(maps.Keys(m.edges))
		if len(edges) == 0 {
			return op{}, false
		}
		return op{kind: dropEdge, id: edges[random.IntN(len(edges))]}, true
	default:
		return op{kind: dropNode, id: ids[random.IntN(1+random.IntN(len(ids)))]}, true
	}
}

func (m *Model) props(random *rand.Rand) map[string]value.Value {
	props := map[string]value.Value{"importance": value.Int(int64(random.IntN(10)))}
	var text []string
	for range 1 + random.IntN(4) {
		text = append(text, words[random.IntN(len(words))])
	}
	props["content"] = value.String(strings.Join(text, " "))
	switch random.IntN(6) {
	case 0: // out of line
		props["blob"] = value.String(strings.Repeat(fmt.Sprintf("%d.", random.IntN(1000)), 1000+random.IntN(4000)))
	case 1:
		props["list"] = value.List([]value.Value{value.String("x"), value.String("")})
	case 2:
		props["flag"] = value.Bool(random.IntN(2) == 0)
	}
	return props
}

// take changes the model.
func (m *Model) take(o op) {
	switch o.kind {
	case addNode:
		m.nodes[o.id] = &node{labels: slices.Clone(o.labels), props: maps.Clone(o.props)}
	case addEdge:
		m.edges[o.id] = &edge{typ: o.typ, src: o.src, dst: o.dst, props: maps.Clone(o.props)}
	case setProp:
		if o.value.IsNull() {
			delete(m.nodes[o.id].props, o.key)
		} else {
			m.nodes[o.id].props[o.key] = o.value
		}
	case setLabel:
		n := m.nodes[o.id]
		if i := slices.Index(n.labels, o.labels[0]); i >= 0 {
			n.labels = slices.Delete(n.labels, i, i+1)
		} else {
			n.labels = append(n.labels, o.labels[0])
		}
	case useBoth:
		for _, id := range []string{o.src, o.dst} {
			u := &m.nodes[id].used
			u.Uses, u.LastUsed = u.Uses+1, o.at
		}
		out := int64(0)
		for _, e := range m.edges {
			if e.src == o.src {
				out += int64(e.learned)
			}
		}
		m.edges[o.id].learned += learn.Strengthen(m.edges[o.id].learned, 1, 1, out)
	case dropEdge:
		delete(m.edges, o.id)
	case dropNode:
		delete(m.nodes, o.id)
		for id, e := range m.edges {
			if e.src == o.id || e.dst == o.id {
				delete(m.edges, id)
			}
		}
	}
}

// Lines describes the content, sorted; equal content gives equal lines.
func (m *Model) Lines() []string {
	var out []string
	for id, n := range m.nodes {
		out = append(out, nodeLine(id, n.labels, n.props, n.used))
	}
	for id, e := range m.edges {
		out = append(out, edgeLine(id, e.typ, e.src, e.dst, e.props, e.learned))
	}
	for _, w := range words {
		var hits []string
		for id, n := range m.nodes {
			if slices.Contains(strings.Fields(n.props["content"].AsString()), w) {
				hits = append(hits, id)
			}
		}
		out = append(out, hitsLine(w, hits))
	}
	slices.Sort(out)
	return out
}

func nodeLine(id string, labels []string, props map[string]value.Value, used value.Activity) string {
	labels = slices.Sorted(slices.Values(labels))
	line := fmt.Sprintf("node %s %v %s", id, labels, propsText(props))
	if used.Uses > 0 {
		line += fmt.Sprintf(" used %d times, last %d", used.Uses, used.LastUsed)
	}
	return line
}

func edgeLine(id, typ, src, dst string, props map[string]value.Value, learned int32) string {
	line := fmt.Sprintf("edge %s %s %s %s %s", id, typ, src, dst, propsText(props))
	if learned != 0 {
		line += fmt.Sprintf(" learned %d", learned)
	}
	return line
}

func hitsLine(word string, ids []string) string {
	slices.Sort(ids)
	return fmt.Sprintf("word %s %v", word, ids)
}

func propsText(props map[string]value.Value) string {
	var b strings.Builder
	for _, k := range slices.Sorted(maps.Keys(props)) {
		fmt.Fprintf(&b, "%s=%s;", k, props[k])
	}
	return b.String()
}
