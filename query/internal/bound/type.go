package bound

import "engram/graph/value"

// Kinds is a set of value kinds: bit k is set when kind k is possible.
type Kinds uint32

// Of makes a set of kinds.
func Of(kinds ...value.Kind) Kinds {
	var s Kinds
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

// AnyKind holds every kind.
const AnyKind Kinds = 1<<(value.KindDuration+1) - 1

// Has reports whether k is in the set.
func (s Kinds) Has(k value.Kind) bool { return s&(1<<k) != 0 }

// Type is what the binder knows of a value before the statement runs: its
// possible kinds, null always among them, and for lists those of the elements.
type Type struct {
	Kinds Kinds
	Elem  *Type // of a list; nil when unknown
}

// Any is the type of a value nothing is known of.
var Any = Type{Kinds: AnyKind}
