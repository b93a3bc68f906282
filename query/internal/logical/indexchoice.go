package logical

import (
	"math"
	"slices"

	"engram/graph/schema"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/syntax"
)

// keyTests are the predicates on one property of a node that an index can
// answer.
type keyTests struct {
	eq, in, lo, hi, prefix bound.Expr
	exists                 bool
}

// testsOf collects, by property, the predicates on slot whose other side only
// reads slots of have. Of several of a kind the first is taken.
func testsOf(preds []bound.Expr, slot int, have Slots) map[string]*keyTests {
	out := map[string]*keyTests{}
	at := func(key string) *keyTests {
		if out[key] == nil {
			out[key] = &keyTests{}
		}
		return out[key]
	}
	for _, p := range preds {
		switch p := p.(type) {
		case *bound.IsNull:
			if key, ok := propOf(p.E, slot); ok && p.Not {
				at(key).exists = true
			}
		case *bound.Binary:
			if key, ok := propOf(p.L, slot); ok && seekable(p.R, slot, have) {
				at(key).take(p.Op, p.R)
			} else if key, ok := propOf(p.R, slot); ok && seekable(p.L, slot, have) {
				at(key).take(mirrored(p.Op), p.L)
			}
		}
	}
	return out
}

// propOf returns the key when e is a property of slot that an index can have.
// The property id is never taken: what it reads need not be stored.
func propOf(e bound.Expr, slot int) (string, bool) {
	p, ok := e.(*bound.Prop)
	if !ok || p.Key == "id" {
		return "", false
	}
	s, ok := p.E.(*bound.Slot)
	return p.Key, ok && s.Index == slot
}

// seekable reports whether e can be computed once in place of once a node.
func seekable(e bound.Expr, slot int, have Slots) bool {
	if !usable(e, slot, have) {
		return false
	}
	ok := true
	Walk(e, func(e bound.Expr) {
		if c, call := e.(*bound.Call); call && (c.Name == "rand" || c.Name == "randomUUID") {
			ok = false
		}
		if _, local := e.(*bound.Local); local {
			ok = false
		}
		if _, sub := e.(*bound.Subquery); sub {
			ok = false
		}
	})
	return ok
}

func mirrored(op syntax.Op) syntax.Op {
	switch op {
	case syntax.OpLt:
		return syntax.OpGt
	case syntax.OpLe:
		return syntax.OpGe
	case syntax.OpGt:
		return syntax.OpLt
	case syntax.OpGe:
		return syntax.OpLe
	case syntax.OpEq:
		return syntax.OpEq
	}
	return syntax.OpOr // nothing that an index answers
}

func (t *keyTests) take(op syntax.Op, e bound.Expr) {
	set := func(to *bound.Expr) {
		if *to == nil {
			*to = e
		}
	}
	switch op {
	case syntax.OpEq:
		set(&t.eq)
	case syntax.OpIn:
		if l, ok := e.(*bound.List); ok && len(l.Elems) == 1 {
			e = l.Elems[0] // the same, and an equality can stand before others
			set(&t.eq)
			return
		}
		set(&t.in)
	case syntax.OpGt, syntax.OpGe:
		set(&t.lo)
	case syntax.OpLt, syntax.OpLe:
		set(&t.hi)
	case syntax.OpStartsWith:
		set(&t.prefix)
	}
}

// Parts of an index that a bound, two bounds and a prefix are taken to leave,
// and how long a list is taken to be.
const (
	boundShare  = .3
	boundsShare = .1
	prefixShare = .05
	guessList   = 10
)

// nodeIndex returns the index seek for a node that is taken to yield the fewest
// nodes, and how many; nil when no index helps.
func (e estimator) nodeIndex(preds []bound.Expr, slot int, have Slots) (best *IndexSeek, rows float64) {
	return e.bestIndex(preds, slot, have, false, labelsOf(preds, slot))
}

// bestIndex is nodeIndex for an element with one of the owners, labels or types.
func (e estimator) bestIndex(preds []bound.Expr, slot int, have Slots, edge bool, owners []string) (best *IndexSeek, rows float64) {
	ix, ok := e.g.(access.Indexes)
	if !ok {
		return nil, 0
	}
	defs := ix.Schema().All()
	if len(defs) == 0 {
		return nil, 0
	}
	tests := testsOf(preds, slot, have)
	if len(tests) == 0 {
		return nil, 0
	}
	for _, d := range defs {
		if d.Edge != edge || !d.Usable() || !slices.Contains(owners, d.Owner) {
			continue
		}
		if seek, n := e.seek(d, tests, ix); seek != nil && (best == nil || n < rows) {
			seek.Slot = slot
			best, rows = seek, n
		}
	}
	return best, rows
}

// labelsOf lists the labels that predicates demand of a node.
func labelsOf(preds []bound.Expr, slot int) []string {
	var out []string
	for _, p := range preds {
		if label, ok := labelTest(p, slot); ok {
			out = append(out, label)
		}
	}
	return out
}

// seek returns what an index can do with the predicates; nil for nothing.
func (e estimator) seek(d *schema.Def, tests map[string]*keyTests, ix access.Indexes) (*IndexSeek, float64) {
	entries, distinct := ix.IndexCounts(d.ID)
	o := &IndexSeek{Edge: d.Edge, Owner: d.Owner, Keys: slices.Clone(d.Keys)}
	lists := 1.0
	for _, k := range d.Keys {
		t := tests[k]
		if t == nil || t.eq == nil && t.in == nil {
			break
		}
		if t.eq != nil {
			o.Eq = append(o.Eq, t.eq)
			continue
		}
		o.Eq, o.Any = append(o.Eq, t.in), true
		lists = listLength(t.in)
		break
	}
	rows := float64(entries)
	if n := len(o.Eq); n > 0 {
		// The values of the first n properties, if each adds as many.
		values := math.Pow(math.Max(1, float64(distinct)), float64(n)/float64(len(d.Keys)))
		rows = math.Min(rows, lists*rows/values)
	}
	if n := len(o.Eq); n < len(d.Keys) && !o.Any {
		t := tests[d.Keys[n]]
		switch {
		case t == nil:
		case t.prefix != nil:
			o.Prefix = t.prefix
			rows *= prefixShare
		case t.lo != nil && t.hi != nil:
			o.Lo, o.Hi = t.lo, t.hi
			rows *= boundsShare
		case t.lo != nil || t.hi != nil:
			o.Lo, o.Hi = t.lo, t.hi
			rows *= boundShare
		case n == 0 && !t.exists:
			return nil, 0
		}
		if t == nil && n == 0 {
			return nil, 0
		}
	}
	return o, rows
}

func listLength(e bound.Expr) float64 {
	switch e := e.(type) {
	case *bound.List:
		return float64(len(e.Elems))
	case *bound.Const:
		return float64(len(e.Value.AsList()))
	}
	return guessList
}
