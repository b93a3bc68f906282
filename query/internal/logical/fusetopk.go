package logical

import "engram/query/internal/bound"

// fuseTopK turns a sort under a limit, with or without a skip between them,
// into one operator that never holds more rows than it keeps.
func fuseTopK(op *Op) {
	l, ok := (*op).(*Limit)
	if !ok {
		return
	}
	in, skip := l.In, bound.Expr(nil)
	if s, ok := in.(*Skip); ok {
		in, skip = s.In, s.N
	}
	if s, ok := in.(*Sort); ok {
		*op = &TopK{Unary: s.Unary, Keys: s.Keys, Skip: skip, Limit: l.N}
	}
}
