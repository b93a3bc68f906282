// Package schema has the words in which the graph and the query stages talk
// about indexes and constraints: definitions, immutable sets of them, and what
// an index is asked for. It knows no storage.
package schema

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is what a definition asks for.
type Kind uint8

// The kinds. Numbers are part of the file format.
const (
	// Range is an index by one or more properties.
	Range Kind = 1 + iota
	// Unique is a constraint: no two elements agree in all of the properties. It
	// has an index of its own. Elements without one of them are left alone.
	Unique
	// Exists is a constraint: each element has the property.
	Exists
	// FullText is an index by the words of one or more properties of nodes.
	FullText
)

// State tells whether a definition's index can be asked.
type State uint8

// The states. Numbers are part of the file format.
const (
	Online State = 1 + iota
	// Populating: the entries of elements that were there before are still being
	// added.
	Populating
	// Dropping: it is gone for everybody but whoever removes its entries.
	Dropping
)

// MaxKeys is how many properties an index can have.
const MaxKeys = 8

// Def defines an index or a constraint.
type Def struct {
	// ID is never used again for another definition.
	ID   uint64
	Name string
	Kind Kind
	// Edge tells that it is about relationships of the type Owner, not about
	// nodes with the label Owner.
	Edge  bool
	Owner string
	// Also are further labels of a full-text index: a node needs one of them.
	Also  []string
	Keys  []string
	State State
}

// Owners are the labels, or the type, that the definition is about.
func (d *Def) Owners() []string { return append([]string{d.Owner}, d.Also...) }

// Indexed reports whether the definition has an index by values.
func (d *Def) Indexed() bool { return d.Kind == Range || d.Kind == Unique }

// Usable reports whether its index can be asked.
func (d *Def) Usable() bool { return d.Indexed() && d.State == Online }

// Constraint reports whether it is a constraint.
func (d *Def) Constraint() bool { return d.Kind == Unique || d.Kind == Exists }

// What names the kind for a person.
func (d *Def) What() string {
	if d.Constraint() {
		return "constraint"
	}
	return "index"
}

// String describes the definition without its name, such as
// index FOR (n:Person) ON (n.name).
func (d *Def) String() string {
	v, pattern := "n", "(n:"+strings.Join(d.Owners(), "|")+")"
	if d.Edge {
		v, pattern = "r", "()-[r:"+d.Owner+"]-()"
	}
	props := make([]string, len(d.Keys))
	for i, k := range d.Keys {
		props[i] = v + "." + k
	}
	list := strings.Join(props, ", ")
	switch d.Kind {
	case Unique:
		return fmt.Sprintf("constraint FOR %s REQUIRE (%s) IS UNIQUE", pattern, list)
	case Exists:
		return fmt.Sprintf("constraint FOR %s REQUIRE (%s) IS NOT NULL", pattern, list)
	case FullText:
		return fmt.Sprintf("fulltext index FOR %s ON EACH [%s]", pattern, list)
	}
	return fmt.Sprintf("index FOR %s ON (%s)", pattern, list)
}

// defaultName is the name of a definition that got none.
func (d *Def) defaultName() string {
	kind := map[Kind]string{Range: "index", Unique: "unique", Exists: "exists", FullText: "fulltext"}[d.Kind]
	return kind + "_" + strings.Join(d.Owners(), "_") + "_" + strings.Join(d.Keys, "_")
}

// sameTarget reports whether both are about the same properties in the same
// order.
func (d *Def) sameTarget(o *Def) bool {
	return d.Edge == o.Edge && slices.Equal(d.Owners(), o.Owners()) && slices.Equal(d.Keys, o.Keys)
}

// ExistsError says that a definition is there already.
type ExistsError struct{ Old *Def }

// Error implements error.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("there is already the %s %s: %s", e.Old.What(), e.Old.Name, e.Old)
}

// Set is an immutable set of definitions in the order of their creation. A nil
// Set is empty.
type Set struct{ defs []*Def }

// NewSet makes a set of definitions, which must not change any more.
func NewSet(defs ...*Def) *Set { return &Set{defs: defs} }

// All returns the definitions; they must not be changed.
func (s *Set) All() []*Def {
	if s == nil {
		return nil
	}
	return s.defs
}

// ByID returns a definition, nil when it is not there.
func (s *Set) ByID(id uint64) *Def {
	for _, d := range s.All() {
		if d.ID == id {
			return d
		}
	}
	return nil
}

// ByName returns a definition, nil when it is not there.
func (s *Set) ByName(name string) *Def {
	for _, d := range s.All() {
		if d.Name == name {
			return d
		}
	}
	return nil
}

// Same returns the definition that says the same as d but for the name: an index
// by the same properties, whether or not it belongs to a constraint, or the same
// constraint.
func (s *Set) Same(d *Def) *Def {
	for _, o := range s.All() {
		if d.sameTarget(o) && (o.Kind == d.Kind || d.Kind == Range && o.Kind == Unique) {
			return o
		}
	}
	return nil
}

// Index returns the usable index by exactly these properties, nil when there is
// none.
func (s *Set) Index(edge bool, owner string, keys ...string) *Def {
	for _, o := range s.All() {
		if o.Usable() && o.Edge == edge && o.Owner == owner && slices.Equal(o.Keys, keys) {
			return o
		}
	}
	return nil
}

// Prepare checks a new definition against the set and gives it a name when it
// has none. What it returns besides is the index that a unique constraint takes
// over, if there is one.
func (s *Set) Prepare(d *Def) (takes *Def, err error) {
	switch {
	case d.Owner == "" || len(d.Keys) == 0:
		return nil, fmt.Errorf("an index needs a label or a type, and properties")
	case len(d.Keys) > MaxKeys:
		return nil, fmt.Errorf("an index by %d properties; at most %d are allowed", len(d.Keys), MaxKeys)
	case len(d.Also) > 0 && (d.Kind != FullText || d.Edge):
		return nil, fmt.Errorf("only a full-text index of nodes is about several labels")
	case len(d.Also) >= MaxKeys:
		return nil, fmt.Errorf("an index of %d labels; at most %d are allowed", len(d.Also)+1, MaxKeys)
	case d.Kind == Exists && len(d.Keys) != 1:
		return nil, fmt.Errorf("IS NOT NULL is about one property; make a constraint for each")
	}
	for i, label := range d.Also {
		if label == d.Owner || slices.Contains(d.Also[:i], label) {
			return nil, fmt.Errorf("the label %s comes twice", label)
		}
	}
	for i, k := range d.Keys {
		if slices.Contains(d.Keys[:i], k) {
			return nil, fmt.Errorf("the property %s comes twice", k)
		}
	}
	if d.Name == "" {
		d.Name = d.defaultName()
	}
	if o := s.ByName(d.Name); o != nil {
		return nil, &ExistsError{o}
	}
	if o := s.Same(d); o != nil {
		return nil, &ExistsError{o}
	}
	for _, o := range s.All() {
		if d.Kind == Unique && o.Kind == Range && d.sameTarget(o) {
			return o, nil
		}
	}
	return nil, nil
}

// With returns the set with d in it, in place of a definition with the same ID.
func (s *Set) With(d *Def) *Set {
	out := &Set{defs: slices.Clone(s.All())}
	for i, o := range out.defs {
		if o.ID == d.ID {
			out.defs[i] = d
			return out
		}
	}
	out.defs = append(out.defs, d)
	return out
}

// Without returns the set without a definition.
func (s *Set) Without(id uint64) *Set {
	return &Set{defs: slices.DeleteFunc(slices.Clone(s.All()), func(o *Def) bool { return o.ID == id })}
}
