package graph

import (
	"maps"
	"slices"

	"engram/graph/internal/catalog"
	"engram/graph/internal/key"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/topo"
	"engram/graph/schema"
	"engram/graph/value"
)

func (c *checker) edges() error {
	return c.scan(store.Edges, func(k, payload []byte) {
		block, ok := key.ParseUint(k)
		edges, err := record.DecodeBlock(block, payload)
		if !ok || err != nil {
			c.report.add("block of edges %x cannot be read: %v", k, err)
			return
		}
		if len(edges) == 0 {
			c.report.add("block of edges %d is empty", block)
		}
		for i := range edges {
			c.edge(&edges[i])
		}
	})
}

func (c *checker) edge(e *record.Edge) {
	t := c.s.topo
	c.last.edge = uint64(e.ID)
	for _, end := range []value.NodeID{e.Src, e.Dst} {
		if !t.NodeExists(end) && !c.graves[end] {
			c.report.add("edge %d has an end at node %d, which is not there", e.ID, end)
		}
	}
	dead := !t.NodeExists(e.Src) || !t.NodeExists(e.Dst)
	c.props(true, uint64(e.ID), e.Props, dead)
	c.declared(edgeElement(e), dead)
	src, dst, typ, ok := t.EdgeEnds(e.ID)
	if dead {
		c.report.Swept++
		if ok {
			c.report.add("edge %d of a deleted node is visible", e.ID)
		}
		return
	}
	c.report.Edges++
	c.types[e.Type]++
	if c.s.names.Name(catalog.RelType, uint32(e.Type)) == "" {
		c.report.add("edge %d has type %d, which has no name", e.ID, e.Type)
	}
	if !ok || src != e.Src || dst != e.Dst || typ != e.Type {
		c.report.add("edge %d runs from %d to %d with type %d in the record, from %d to %d with type %d (%v) in the topology",
			e.ID, e.Src, e.Dst, e.Type, src, dst, typ, ok)
		return
	}
	if ms, _ := t.EdgeCreated(e.ID); ms != e.CreatedMS {
		c.report.add("edge %d was created at %d in the record and at %d in the topology", e.ID, e.CreatedMS, ms)
	}
	for _, k := range slices.Sorted(maps.Keys(c.s.keys.edge)) {
		v, state := t.EdgeAttr(e.ID, c.s.keys.edge[k])
		p, has := record.GetProp(e.Props, k)
		if has != (state != topo.Absent) || state == topo.Exact && !identical(v, p.Value) {
			c.report.add("edge %d: %s in the topology differs from the record", e.ID, c.s.names.Name(catalog.Key, uint32(k)))
		}
	}
}

// index counts the entries: each that a record asks for was found before, so
// with as many entries as that none is left over.
func (c *checker) index() error {
	walk := indexWalk{found: map[uint64]counts64{}}
	err := c.scan(store.Index, func(k, _ []byte) {
		c.report.Index++
		walk.entry(c, k)
	})
	if err == nil {
		err = walk.end(c)
	}
	if c.report.Index > c.indexed {
		c.report.add("%d index entries, but the records ask for %d", c.report.Index, c.indexed)
	}
	return err
}

func (c *checker) overflow() error {
	err := c.scan(store.Overflow, func(k, payload []byte) {
		c.report.Overflow++
		if _, err := record.DecodeValue(payload); err != nil {
			c.report.add("the value %x cannot be read: %v", k, err)
		}
	})
	if c.report.Overflow != c.refs {
		c.report.add("%d values are out of line, but %d are referred to", c.report.Overflow, c.refs)
	}
	return err
}

// rest verifies the checksums of what the graph does not interpret.
func (c *checker) rest() error {
	for _, space := range []store.Space{store.Idempotency} {
		if err := c.scan(space, func(_, _ []byte) {}); err != nil {
			return err
		}
	}
	return nil
}

func (c *checker) counters() error {
	t, r := c.s.topo, c.report
	if n := t.NodeCount(0); n != r.Nodes {
		r.add("the topology counts %d nodes, the store has %d", n, r.Nodes)
	}
	if n := t.EdgeCount(0); n != r.Edges {
		r.add("the topology counts %d edges, the store has %d", n, r.Edges)
	}
	for id := 1; id <= c.s.names.Len(catalog.Label); id++ {
		if l := value.LabelID(id); t.NodeCount(l) != c.labels[l] {
			r.add("the topology counts %d nodes with label %d, the store has %d", t.NodeCount(l), l, c.labels[l])
		}
	}
	for id := 1; id <= c.s.names.Len(catalog.RelType); id++ {
		if typ := value.TypeID(id); t.EdgeCount(typ) != c.types[typ] {
			r.add("the topology counts %d edges of type %d, the store has %d", t.EdgeCount(typ), typ, c.types[typ])
		}
	}
	if c.last.node > c.marks.node || c.last.edge > c.marks.edge {
		r.add("ids up to node %d and edge %d are in use, above the marks %d and %d",
			c.last.node, c.last.edge, c.marks.node, c.marks.edge)
	}
	for _, id := range slices.Sorted(maps.Keys(c.graves)) {
		if t.NodeExists(id) {
			r.add("node %d is marked as deleted, but it lives", id)
		} else if len(t.DoomedEdges(id, 1, nil)) == 0 {
			r.add("node %d is marked as deleted, but no edge is left of it", id)
		}
	}
	return nil
}

// dropsText reports whether a full-text index is being dropped: its words may still
// be there.
func (c *checker) dropsText() bool {
	return slices.ContainsFunc(c.s.schema.texts, func(d *indexDef) bool { return d.State == schema.Dropping })
}

// text compares the documents of the index with the nodes that have text.
func (c *checker) text() error {
	if c.db.readOnly {
		return c.textFiles()
	}
	if err := c.db.text.Verify(); err != nil {
		c.report.add("%v", err)
		return nil
	}
	view, err := c.db.text.At(uint64(c.snap.Seq()))
	if err != nil {
		return err
	}
	dropping := c.dropsText()
	found := make([]bool, len(c.texts))
	err = view.EachNode(func(id value.NodeID) bool {
		c.report.Texts++
		i, ok := slices.BinarySearch(c.texts, id)
		if ok {
			ok, found[i] = !found[i], true
		}
		if !ok && !dropping {
			c.report.add("the text index has node %d, which has no text, or has it twice", id)
		}
		return c.ctx.Err() == nil
	})
	if err != nil {
		return err
	}
	for i, id := range c.texts {
		if found[i] {
			continue
		}
		// Text without a word in it, such as "?", is in no index.
		words, err := c.hasWords(id)
		if err != nil {
			return err
		}
		if words {
			c.report.add("the text of node %d is not in the index", id)
		}
	}
	return c.ctx.Err()
}

func (c *checker) hasWords(id value.NodeID) (bool, error) {
	k := key.Node(id)
	sealed, err := c.snap.Get(store.Nodes, k)
	if err != nil {
		return false, err
	}
	payload, err := c.db.seal.Open(store.Nodes, k, sealed)
	if err != nil {
		return false, nil // reported before
	}
	l := &loaded{r: scanner{c.snap}, opts: &c.db.opts, seal: c.db.seal, state: c.s}
	doc, err := l.document(id, k, payload)
	for _, f := range doc.Fields {
		if len(c.db.text.Terms(f.Text)) > 0 {
			return true, nil
		}
	}
	return false, err
}
