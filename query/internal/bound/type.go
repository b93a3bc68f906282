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

// Null is the type of null.
var Null = Type{Kinds: Of(value.KindNull)}

// OneOf is the type of values of the given kinds, or null.
func OneOf(kinds ...value.Kind) Type {
	return Type{Kinds: Of(kinds...) | Of(value.KindNull)}
}

// ListOf is the type of lists of elem, or null.
func ListOf(elem Type) Type {
	return Type{Kinds: Of(value.KindList, value.KindNull), Elem: &elem}
}

// Only reports whether every possible value but null is of one of the kinds,
// and there is such a value.
func (t Type) Only(kinds Kinds) bool {
	some := t.Kinds &^ Of(value.KindNull)
	return some != 0 && some&^kinds == 0
}

// Never reports whether no possible value but null is of one of the kinds. It
// is false for a type that is always null, which suits every demand.
func (t Type) Never(kinds Kinds) bool {
	some := t.Kinds &^ Of(value.KindNull)
	return some != 0 && some&kinds == 0
}

// Or returns the type of values of either type.
func (t Type) Or(u Type) Type {
	list := Of(value.KindList)
	out := Type{Kinds: t.Kinds | u.Kinds}
	switch {
	case t.Kinds&list == 0:
		out.Elem = u.Elem
	case u.Kinds&list == 0:
		out.Elem = t.Elem
	case t.Elem != nil && u.Elem != nil:
		elem := t.Elem.Or(*u.Elem)
		out.Elem = &elem
	}
	return out
}
