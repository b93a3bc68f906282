package physical

import "engram/graph/value"

// countDistinct is count(DISTINCT x). Nodes are told apart by marks on their
// ids, other values by hash. It keeps its memory from run to run.
type countDistinct struct {
	nodes  nodeSet
	others rowSet
}

func (c *countDistinct) reset() {
	c.nodes.reset()
	c.others.reset(1)
}

// Add implements fn.Aggregator.
func (c *countDistinct) Add(args []value.Value) error {
	c.add(args[0])
	return nil
}

// add counts a value and returns an estimate of the bytes that it takes.
func (c *countDistinct) add(v value.Value) int64 {
	switch v.Kind() {
	case value.KindNull:
		return 0
	case value.KindNode:
		c.nodes.add(v.NodeID())
		return 0 // marks are bounded by the number of nodes
	}
	row := [1]value.Value{v}
	if _, isNew := c.others.add(row[:]); isNew {
		return rowSize(row[:])
	}
	return 0
}

// Result implements fn.Aggregator.
func (c *countDistinct) Result() (value.Value, error) {
	return value.Int(c.nodes.n + int64(c.others.len())), nil
}

// Size implements fn.Aggregator.
func (c *countDistinct) Size() int { return 64 + 4*len(c.nodes.marks) + 32*c.others.len() }
