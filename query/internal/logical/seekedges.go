package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// seekEdge starts with an edge that an index finds, when that is taken to be
// cheaper than to start at the node n (nil: there is none left). The ends follow
// from the edge.
func (m *matcher) seekEdge(n *bound.NodePat) bool {
	if n == nil || m.b.off.Has(SeekIndexes) || m.b.off.Has(OrderPatterns) {
		return false
	}
	limit := m.estimate.start(m.have, n.Slot)
	var best *step
	var seek *IndexSeek
	for _, s := range m.steps {
		r := s.rel
		if r.VarLength || r.Bound || s.shortest != syntax.NotShortest || len(r.Types) != 1 || m.have.Has(s.left) || m.have.Has(s.right) {
			continue
		}
		o, rows := m.estimate.bestIndex(m.preds, r.Slot, m.have, true, r.Types)
		// An edge costs a look at both of its ends.
		if o != nil && 2*rows+1 < limit {
			best, seek, limit = s, o, 2*rows+1
		}
	}
	if best == nil {
		return false
	}
	seek.Unary = unary(m.op)
	m.op = seek
	m.have = m.have.With(seek.Slot)
	m.follow(best)
	return true
}
