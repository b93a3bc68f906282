package graph

import (
	"slices"

	"engram/graph/internal/key"
	"engram/graph/internal/store"
	"engram/graph/value"
)

// vectors compares the nodes that have a vector with those that have text. The files
// of a database that is open for reading are not looked at: nobody uses them.
func (c *checker) vectors() error {
	v := c.db.vectors
	v.wait()
	if v.err != nil {
		c.report.add("the vectors: %v", v.err)
	}
	if v.index == nil || c.db.readOnly {
		return nil
	}
	view, err := v.index.At(uint64(c.snap.Seq()))
	if err != nil {
		return err
	}
	dropping := c.dropsText()
	found := make([]bool, len(c.texts))
	view.EachNode(func(id value.NodeID) bool {
		c.report.Vectors++
		i, ok := slices.BinarySearch(c.texts, id)
		if ok {
			found[i] = true
		} else if !dropping {
			c.report.add("node %d has a vector, but no text", id)
		}
		return c.ctx.Err() == nil
	})
	for i, id := range c.texts {
		if found[i] || v.local == nil || c.ctx.Err() != nil {
			continue
		}
		k := key.Node(id)
		sealed, err := c.snap.Get(store.Nodes, k)
		if err != nil {
			return err
		}
		payload, err := c.db.seal.Open(store.Nodes, k, sealed)
		if err != nil {
			continue // reported before
		}
		from := &loaded{r: scanner{c.snap}, opts: &c.db.opts, seal: c.db.seal, state: c.s}
		if doc, err := from.document(id, k, payload); err == nil && v.doc(doc).Vector != nil {
			c.report.add("the text of node %d has no vector", id)
		}
	}
	return c.ctx.Err()
}
