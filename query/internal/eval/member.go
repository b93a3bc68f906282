package eval

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/bound"
)

// minSet is the length from which a list that stays the same for all rows is
// looked through by hash.
const minSet = 16

// in compiles x IN list. A list that doesn't depend on the row is hashed once
// an execution.
func (c *compiler) in(e *bound.Binary) Fn {
	l, r, span := c.expr(e.L), c.expr(e.R), e.At()
	fixed := rowFree(e.R)
	return func(env *Env, row int) (value.Value, error) {
		x, err := l(env, row)
		if err != nil {
			return value.Null, err
		}
		list, err := r(env, row)
		if err != nil || list.IsNull() {
			return value.Null, err
		}
		if list.Kind() != value.KindList {
			return value.Null, typeError(span, "the right side of IN must be LIST, but is %s", list.Kind())
		}
		elems := list.AsList()
		found := value.False
		if fixed && len(elems) >= minSet {
			found, err = env.memberSet(e, elems).has(env, x)
		} else {
			found, err = env.member(x, elems)
		}
		return found.Value(), err
	}
}

// member looks for x from the first element on.
func (e *Env) member(x value.Value, elems []value.Value) (value.Tri, error) {
	found, passed := value.False, 0
	for i := range elems {
		if passed += min(x.Size(), elems[i].Size()); passed > passEvery {
			if err := e.Pass(passed); err != nil {
				return found, err
			}
			passed = 0
		}
		switch equal(x, elems[i]) {
		case value.True:
			return value.True, nil
		case value.Unknown:
			found = value.Unknown
		}
	}
	return found, nil
}

// passEvery is how many bytes a search goes through between calls of Pass.
const passEvery = 16 << 10

// rowFree reports whether e has one value for a whole execution.
func rowFree(e bound.Expr) bool {
	switch e := e.(type) {
	case *bound.Const, *bound.Param:
		return true
	case *bound.List:
		for _, el := range e.Elems {
			if !rowFree(el) {
				return false
			}
		}
		return true
	}
	return false
}

// memberSet answers x IN list by hash. It holds scalars only: lists and maps
// may contain null, which makes their equality unknown.
type memberSet struct {
	elems   []value.Value
	byHash  map[uint64][]int32
	null    bool // a null is among the elements
	scalars bool
}

func (e *Env) memberSet(key *bound.Binary, elems []value.Value) *memberSet {
	if s, ok := e.sets[key]; ok && len(s.elems) == len(elems) && &s.elems[0] == &elems[0] {
		return s
	}
	s := &memberSet{elems: elems, scalars: !slices.ContainsFunc(elems, isCollection)}
	if s.scalars {
		s.byHash = make(map[uint64][]int32, len(elems))
		for i, el := range elems {
			if el.IsNull() {
				s.null = true
				continue
			}
			h := value.Hash(el)
			s.byHash[h] = append(s.byHash[h], int32(i))
		}
	}
	if e.sets == nil {
		e.sets = map[*bound.Binary]*memberSet{}
	}
	e.sets[key] = s
	return s
}

func isCollection(v value.Value) bool { return v.Kind() == value.KindList || v.Kind() == value.KindMap }

func (s *memberSet) has(e *Env, x value.Value) (value.Tri, error) {
	if !s.scalars || x.IsNull() {
		return e.member(x, s.elems)
	}
	if err := e.Pass(x.Size()); err != nil {
		return value.Unknown, err
	}
	for _, i := range s.byHash[value.Hash(x)] {
		if equal(x, s.elems[i]) == value.True {
			return value.True, nil
		}
	}
	if s.null {
		return value.Unknown, nil
	}
	return value.False, nil
}
