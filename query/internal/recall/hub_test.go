package recall_test

import (
	"context"
	"fmt"
	"testing"

	"engram/graph"
	"engram/graph/value"
	"engram/query/internal/recall"
)

// counting counts what a recall reads.
type counting struct {
	*graph.Tx
	edges, ids, props int
}

func (c *counting) ExpandWeighted(id value.NodeID, types []value.TypeID, buf []value.Weighted) ([]value.Weighted, error) {
	out, err := c.Tx.ExpandWeighted(id, types, buf)
	c.edges += len(out)
	return out, err
}

func (c *counting) ElementID(id value.NodeID) (string, error) {
	c.ids++
	return c.Tx.ElementID(id)
}

func (c *counting) NodeProp(id value.NodeID, k value.KeyID) (value.Value, error) {
	c.props++
	return c.Tx.NodeProp(id, k)
}

func must[T any](v T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// TestHubIsCheap recalls beside a node with 20,000 edges that a hit and a neighbour
// of a hit are joined to: no more is read than without it. Asked for by name, its
// edges are followed.
func TestHubIsCheap(t *testing.T) {
	db := must(graph.OpenMemory(nil))(t)
	defer func() { must(0, db.Close(context.Background()))(t) }()
	var hub value.NodeID
	var hits []value.NodeID
	write := func(fn func(*graph.Tx)) {
		t.Helper()
		tx := must(db.Begin(context.Background()))(t)
		defer tx.Rollback()
		fn(tx)
		must(tx.Commit(context.Background()))(t)
	}
	says := func(tx *graph.Tx, text string) value.NodeID {
		return must(tx.CreateNode(nil, []value.KeyProp{{Key: must(tx.InternKey("content"))(t), Value: value.String(text)}}))(t)
	}
	write(func(tx *graph.Tx) {
		related := must(tx.InternRelType("RELATED"))(t)
		hub = says(tx, "the harbour")
		for i := range 20 {
			hits = append(hits, says(tx, fmt.Sprintf("plum jam of day %d", i)))
			beside := says(tx, fmt.Sprintf("a jar, number %d", i))
			must(tx.CreateEdge(hits[i], beside, related, nil))(t)
		}
	})
	look := func(o recall.Options) (*counting, []recall.Row) {
		t.Helper()
		c := &counting{Tx: must(db.Snapshot())(t)}
		defer c.Rollback()
		return c, must(recall.Run(context.Background(), c, o))(t)
	}
	without, _ := look(recall.Options{Query: "plum jam"})
	write(func(tx *graph.Tx) {
		related := must(tx.InternRelType("RELATED"))(t)
		for _, h := range hits {
			must(tx.CreateEdge(h, hub, related, nil))(t)
		}
		for range 20_000 {
			leaf := must(tx.CreateNode(nil, nil))(t)
			must(tx.CreateEdge(hub, leaf, related, nil))(t)
		}
	})
	beside, rows := look(recall.Options{Query: "plum jam"})
	if beside.edges > 2*without.edges || beside.ids > 2*without.ids || beside.props > 2*without.props || len(rows) != 10 {
		t.Errorf("beside the hub it reads %d edges, %d ids and %d properties for %d rows, without %d, %d and %d",
			beside.edges, beside.ids, beside.props, len(rows), without.edges, without.ids, without.props)
	}
	_, rows = look(recall.Options{Query: "harbour", From: []recall.Seed{{Node: hub, Weight: 1}}, Limit: 50})
	if len(rows) < 21 {
		t.Errorf("from the hub %d nodes are recalled", len(rows))
	}
}
