package logical

import (
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// maxHops bounds the relationships in the patterns of one clause. Planning takes
// time with the square of them, and more would be refused as too large anyway.
const maxHops = 1200

// checkHops refuses a clause with too long a pattern before it is planned.
func checkHops(patterns []*bound.Pattern) error {
	hops := 0
	for _, p := range patterns {
		hops += len(p.Rels)
	}
	if hops <= maxHops {
		return nil
	}
	return fault.New(fault.ResourceExhausted, fault.CompileTime, "StatementTooLarge", fault.Span{},
		"the patterns of one clause have %d relationships; at most %d are allowed", hops, maxHops).
		WithHint("Split it, or use a relationship of variable length.")
}
