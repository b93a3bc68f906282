// Package vocab is what a graph of memories agrees on: the vocabulary of relation
// types (what each means, what it may join, and how activation spreads over it),
// the layers, who the self is, and the names of properties and labels with a
// meaning.
package vocab

import (
	"maps"
	"slices"
	"strings"

	"engram/graph/value"
)

// Relation is one relation type of the vocabulary.
type Relation struct {
	Name    string `json:"-"`
	Meaning string `json:"meaning,omitempty"` // one sentence
	// From and To are the labels of which the start and the end need one; empty:
	// any node.
	From []string `json:"from,omitempty"`
	To   []string `json:"to,omitempty"`
	// Weight is that of an edge without one, from 0.
	Weight float64 `json:"weight"`
	// Forward and Backward are the factors by which activation spreads along the
	// edge and against it, from 0.
	Forward  float64 `json:"forward"`
	Backward float64 `json:"backward"`
	// Inhibitory edges hold activation back in place of spreading it.
	Inhibitory bool `json:"inhibitory,omitempty"`
	// Transitive says that two edges in a row imply the third.
	Transitive bool `json:"transitive,omitempty"`
}

// Default is a relation type of which nothing is said but its name.
func Default(name string) Relation {
	return Relation{Name: name, Weight: 1, Forward: 1, Backward: 1}
}

// Constrained reports whether the type may not join every pair of nodes.
func (r *Relation) Constrained() bool { return len(r.From) > 0 || len(r.To) > 0 }

// BuiltIn returns the relation types that every database knows, by name.
func BuiltIn() []Relation {
	make := func(name, meaning string, forward, backward float64) Relation {
		return Relation{Name: name, Meaning: meaning, Weight: 1, Forward: forward, Backward: backward}
	}
	contradicts := make("CONTRADICTS", "The start says the opposite of the end.", 0, 0)
	contradicts.Inhibitory = true
	contains := make("CONTAINS", "The end is a part of the start.", 0.05, 0.05)
	contains.Transitive = true
	precedes := make("TEMPORALLY_PRECEDES", "The start came before the end.", 1.3, 0.9)
	precedes.Transitive = true
	return []Relation{
		make("ACTIVATES", "Thinking of the start brings up the end.", 1, 1),
		make("ANSWERS", "The start is the reply to the end.", 0.4, 2.4),
		make("CAUSES", "The start brings the end about.", 1, 1),
		contains,
		contradicts,
		make("EXEMPLIFIES", "The start is an example of the end.", 1, 1),
		make("REFERENCES", "The start mentions the end.", 1.6, 0.2),
		make("RELATED", "The two have to do with each other.", 1, 1),
		make("SUPERSEDES", "The start replaces the end.", 0, 1),
		precedes,
	}
}

// Vocabulary is one version of the vocabulary. It never changes. The zero
// Vocabulary has the built-in types and layers only and is open.
type Vocabulary struct {
	declared map[string]*Relation
	closed   bool
	layers   map[string]Layer
	self     value.NodeID
	pillars  map[string]value.NodeID
}

// Closed reports whether edges of undeclared types are refused.
func (v *Vocabulary) Closed() bool { return v.closed }

// Declared returns the type that was declared, or altered, under a name.
func (v *Vocabulary) Declared(name string) (*Relation, bool) {
	r, ok := v.declared[name]
	return r, ok
}

// Lookup returns the type of a name, declared or built in.
func (v *Vocabulary) Lookup(name string) (*Relation, bool) {
	if r, ok := v.declared[name]; ok {
		return r, true
	}
	for _, r := range BuiltIn() {
		if r.Name == name {
			return &r, true
		}
	}
	return nil, false
}

// All returns the types in order of name.
func (v *Vocabulary) All() []*Relation {
	var out []*Relation
	for _, r := range BuiltIn() {
		if _, ok := v.declared[r.Name]; !ok {
			out = append(out, &r)
		}
	}
	for _, r := range v.declared {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b *Relation) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Checks reports whether any edge could be refused.
func (v *Vocabulary) Checks() bool {
	if v.closed {
		return true
	}
	for _, r := range v.declared {
		if r.Constrained() {
			return true
		}
	}
	return false
}

// With returns the vocabulary with a type declared, in place of one of its name.
func (v *Vocabulary) With(r Relation) *Vocabulary {
	next := *v
	next.declared = put(v.declared, r.Name, &r)
	return &next
}

// Without returns the vocabulary without what was declared under a name. A
// built-in type is then as it was made.
func (v *Vocabulary) Without(name string) *Vocabulary {
	next := *v
	next.declared = maps.Clone(v.declared)
	delete(next.declared, name)
	return &next
}

// InMode returns the vocabulary open or closed.
func (v *Vocabulary) InMode(closed bool) *Vocabulary {
	next := *v
	next.closed = closed
	return &next
}

// Nearest returns the name of the vocabulary that needs the fewest edits to become
// name (Levenshtein, without regard to case), the first of several; empty when
// more than a third would have to change.
func (v *Vocabulary) Nearest(name string) string {
	best, least := "", max(1, len([]rune(name))/3)+1
	for _, r := range v.All() {
		if d := distance(strings.ToUpper(name), strings.ToUpper(r.Name)); d < least {
			best, least = r.Name, d
		}
	}
	return best
}

func distance(a, b string) int {
	from, to := []rune(a), []rune(b)
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j := range to {
			cost := diagonal
			if from[i] != to[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(to)]
}
