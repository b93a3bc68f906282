// Package fn holds the functions of EQL: scalar functions and aggregates, with
// the types and argument counts that package bind checks and the code that
// package eval and the executor run. The tables never change.
package fn

import (
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
)

// Context is what a function may read besides its arguments. The zero Context
// serves the pure functions.
type Context struct {
	// Reader is the statement's snapshot.
	Reader access.Reader
	// Transaction and Statement are when each began, in the default zone.
	Transaction, Statement value.DateTime
	// Now reads the clock, in the default zone; nil stands for Statement.
	Now func() value.DateTime
	// Rand is the source of rand() and randomUUID(); nil makes them errors.
	Rand *rand.Rand
	// ReadOnly says that the statement deletes nothing, so that an entity a row
	// holds is known to exist.
	ReadOnly bool
	// Grow is asked before bytes of memory are taken and told with a negative
	// number when they are given back; nil allows all. See Take.
	Grow func(bytes int64) error
	// Step is told of n units of work in loops of unbounded length and answers
	// with the error that ends the statement; nil allows all.
	Step func(n int) error

	taken int64 // bytes asked of Grow and not given back by GiveBack
}

// Func is one scalar function.
type Func struct {
	Name string // as documented, such as toInteger or date.truncate
	Doc  string // one sentence
	// Params are the accepted kinds of each parameter, null always among them. A
	// value of another kind is a TypeError at run time (see CheckArgs).
	Params   []bound.Type
	Required int  // how many arguments there are at least
	Variadic bool // the last parameter may repeat
	// Pure functions give the same result for the same arguments and read
	// nothing else: they may be computed before the statement runs.
	Pure bool
	// Clocked functions read the clock when they are called without arguments;
	// with arguments they are pure.
	Clocked bool
	// NullAware functions see null arguments; the others are null when any
	// argument is and are not called.
	NullAware bool
	// Result is the type of the result when it doesn't depend on the arguments.
	Result bound.Type
	// ResultOf, when not nil, computes the type of the result.
	ResultOf func(args []bound.Type) bound.Type
	// Call computes the function. The arguments have been checked against
	// Params; args belongs to the caller and must not be kept. Errors carry no
	// place in the statement: the caller knows it.
	Call func(c *Context, args []value.Value) (value.Value, error)
}

// ResultType returns the type of a call with arguments of these types.
func (f *Func) ResultType(args []bound.Type) bound.Type {
	if f.ResultOf != nil {
		return f.ResultOf(args)
	}
	return f.Result
}

// PureWith reports whether a call with n arguments is pure.
func (f *Func) PureWith(n int) bool { return f.Pure || f.Clocked && n > 0 }

// Accepts reports whether f may be called with n arguments.
func (f *Func) Accepts(n int) bool { return accepts(n, f.Required, len(f.Params), f.Variadic) }

// Param returns the type of argument i, counted from 0; i must be less than an
// accepted number of arguments.
func (f *Func) Param(i int) bound.Type {
	if i >= len(f.Params) {
		i = len(f.Params) - 1
	}
	return f.Params[i]
}

// Arity says in words how many arguments f takes.
func (f *Func) Arity() string { return arity(f.Required, len(f.Params), f.Variadic) }

// Aggregate is one aggregate function.
type Aggregate struct {
	Name     string
	Doc      string
	Params   []bound.Type // as in Func
	Required int          // 0 for count alone: count(*) has no arguments
	Result   bound.Type
	ResultOf func(args []bound.Type) bound.Type
	// Keeps says that the aggregator holds on to the values it is given.
	Keeps bool
	// New makes the aggregator of one group.
	New func() Aggregator
}

// ResultType returns the type of a call with arguments of these types.
func (a *Aggregate) ResultType(args []bound.Type) bound.Type {
	if a.ResultOf != nil {
		return a.ResultOf(args)
	}
	return a.Result
}

// Accepts reports whether a may be called with n arguments. count(*) counts as
// a call with none.
func (a *Aggregate) Accepts(n int) bool { return accepts(n, a.Required, len(a.Params), false) }

// Arity says in words how many arguments a takes.
func (a *Aggregate) Arity() string { return arity(max(a.Required, 1), len(a.Params), false) }

// Aggregator gathers the rows of one group.
type Aggregator interface {
	// Add takes the arguments of one row; it must not keep the slice.
	Add(args []value.Value) error
	// Result returns the aggregate of what was added so far.
	Result() (value.Value, error)
	// Size estimates the bytes held, for the memory budget.
	Size() int
}

// Lookup finds a scalar function. Case doesn't matter.
func Lookup(name string) (*Func, bool) {
	f, ok := tables.funcs[strings.ToLower(name)]
	return f, ok
}

// LookupAggregate finds an aggregate function. Case doesn't matter.
func LookupAggregate(name string) (*Aggregate, bool) {
	a, ok := tables.aggs[strings.ToLower(name)]
	return a, ok
}

// All returns the scalar functions in order of name, aliases left out.
func All() []*Func { return append([]*Func(nil), tables.allFuncs...) }

// AllAggregates returns the aggregate functions in order of name.
func AllAggregates() []*Aggregate { return append([]*Aggregate(nil), tables.allAggs...) }

// tables is built once and never changes.
var tables = newTables()

type tableSet struct {
	funcs    map[string]*Func // by lower-case name, aliases included
	aggs     map[string]*Aggregate
	allFuncs []*Func
	allAggs  []*Aggregate
	names    []string // canonical, both sorts, in order
}

func newTables() *tableSet {
	t := &tableSet{funcs: map[string]*Func{}, aggs: map[string]*Aggregate{}}
	for _, group := range [][]Func{
		listFuncs(), stringFuncs(), normalizeFuncs(), mathFuncs(), convertFuncs(), graphFuncs(), learnedFuncs(), miscFuncs(), temporalFuncs(),
	} {
		for i := range group {
			t.allFuncs = append(t.allFuncs, &group[i])
			t.funcs[strings.ToLower(group[i].Name)] = &group[i]
		}
	}
	hidden := nameFuncs()
	for i := range hidden {
		t.funcs[strings.ToLower(hidden[i].Name)] = &hidden[i]
	}
	for alias, name := range aliases() {
		t.funcs[strings.ToLower(alias)] = t.funcs[strings.ToLower(name)]
	}
	aggs := aggregates()
	for i := range aggs {
		t.allAggs = append(t.allAggs, &aggs[i])
		t.aggs[strings.ToLower(aggs[i].Name)] = &aggs[i]
	}
	sort.Slice(t.allFuncs, func(i, j int) bool { return t.allFuncs[i].Name < t.allFuncs[j].Name })
	sort.Slice(t.allAggs, func(i, j int) bool { return t.allAggs[i].Name < t.allAggs[j].Name })
	for _, f := range t.allFuncs {
		t.names = append(t.names, f.Name)
	}
	for _, a := range t.allAggs {
		t.names = append(t.names, a.Name)
	}
	sort.Strings(t.names)
	return t
}

// aliases maps other spellings to the documented one.
func aliases() map[string]string {
	return map[string]string{
		"lower": "toLower", "upper": "toUpper", "char_length": "size", "character_length": "size",
		"btrim": "trim", "ceiling": "ceil", "ln": "log",
	}
}

func accepts(n, required, params int, variadic bool) bool {
	return n >= required && (variadic || n <= params)
}

func arity(required, params int, variadic bool) string {
	plural := func(n int) string {
		if n == 1 {
			return "1 argument"
		}
		return fmt.Sprintf("%d arguments", n)
	}
	switch {
	case variadic:
		return "at least " + plural(required)
	case required == params && params == 0:
		return "no arguments"
	case required == params:
		return plural(params)
	}
	if required+1 == params {
		return fmt.Sprintf("%d or %s", required, plural(params))
	}
	return fmt.Sprintf("%d to %s", required, plural(params))
}
