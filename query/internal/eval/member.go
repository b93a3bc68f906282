package eval

import (
	"regexp"
	"slices"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
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
		if fixed && len(elems) >= minSet {
			return env.memberSet(e, elems).has(x).Value(), nil
		}
		return member(x, elems).Value(), nil
	}
}

func member(x value.Value, elems []value.Value) value.Tri {
	found := value.False
	for _, el := range elems {
		switch equal(x, el) {
		case value.True:
			return value.True
		case value.Unknown:
			found = value.Unknown
		}
	}
	return found
}

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

func (s *memberSet) has(x value.Value) value.Tri {
	if !s.scalars || x.IsNull() {
		return member(x, s.elems)
	}
	for _, i := range s.byHash[value.Hash(x)] {
		if equal(x, s.elems[i]) == value.True {
			return value.True
		}
	}
	if s.null {
		return value.Unknown
	}
	return value.False
}

// pattern is a compiled regular expression or why it is none.
type pattern struct {
	re  *regexp.Regexp
	err error
}

// maxPatterns is how many patterns an execution keeps compiled.
const maxPatterns = 64

func compilePattern(text string, span syntax.Span) *pattern {
	re, err := regexp.Compile(`\A(?:` + text + `)\z`)
	if err != nil {
		// The inner text is compiled for a message without our own anchors.
		if _, inner := regexp.Compile(text); inner != nil {
			err = inner
		}
		return &pattern{err: fault.New(fault.ArgumentError, fault.Runtime, "InvalidArgumentValue", span,
			"'%s' is not a regular expression: %v", text, err).
			WithHint("The syntax is RE2's.")}
	}
	return &pattern{re: re}
}

// matches compiles s =~ pattern: whether the whole string matches.
func (c *compiler) matches(e *bound.Binary) Fn {
	l, r, span := c.expr(e.L), c.expr(e.R), e.At()
	var fixed *pattern
	if k, ok := e.R.(*bound.Const); ok && k.Value.Kind() == value.KindString {
		fixed = compilePattern(k.Value.AsString(), span)
	}
	return func(env *Env, row int) (value.Value, error) {
		s, err := l(env, row)
		if err != nil {
			return value.Null, err
		}
		p, err := r(env, row)
		if err != nil || s.Kind() != value.KindString || p.Kind() != value.KindString {
			return value.Null, err
		}
		re := fixed
		if re == nil {
			re = env.pattern(p.AsString(), span)
		}
		if re.err != nil {
			return value.Null, re.err
		}
		return value.Bool(re.re.MatchString(s.AsString())), nil
	}
}

func (e *Env) pattern(text string, span syntax.Span) *pattern {
	if p, ok := e.regex[text]; ok {
		return p
	}
	p := compilePattern(text, span)
	if len(e.regex) >= maxPatterns {
		e.regex = nil
	}
	if e.regex == nil {
		e.regex = map[string]*pattern{}
	}
	e.regex[text] = p
	return p
}
