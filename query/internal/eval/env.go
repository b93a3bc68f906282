// Package eval turns bound expressions into compiled closures and runs them on
// rows held in columns. What is compiled is immutable and may be shared by any
// number of executions; all that an execution changes lives in its Env.
package eval

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
)

// Fn computes an expression for one row of the Env's columns.
type Fn func(env *Env, row int) (value.Value, error)

// Column computes an expression for rows 0 to n-1 into out[:n].
type Column func(env *Env, n int, out []value.Value) error

// Filter keeps of the rows in sel those for which a predicate is true, in
// order, and returns them in the same array. Null counts as false.
type Filter func(env *Env, sel []int) ([]int, error)

// Runner runs the queries inside expressions.
type Runner interface {
	// RunSubquery runs q.Query with args[i] in slot q.Inner[i] and returns a
	// boolean, an integer or a list, as q.Kind says. It must not keep args. The
	// memory of the answer is counted here, that of finding it by the Runner.
	RunSubquery(env *Env, q *bound.Subquery, args []value.Value) (value.Value, error)
}

// Env is what expressions read while a statement runs, and the scratch memory
// of their evaluation. It belongs to one goroutine. Fill the exported fields,
// then hand it to compiled expressions; Cols changes from batch to batch.
type Env struct {
	// Context holds the snapshot, the clocks, randomness and the budgets. A nil
	// Reader serves expressions that read no graph.
	fn.Context
	// Cols are the columns of the batch at hand, by slot. A missing or nil column
	// reads as null.
	Cols [][]value.Value
	// Locals are the variables of comprehensions, by index; at least as many as
	// bound.Statement.Locals. It is made larger when it is too short.
	Locals []value.Value
	// Params are the parameters by name.
	Params map[string]value.Value
	// Runner runs subqueries; nil makes them errors.
	Runner Runner

	names  [nameSlots]nameEntry
	stack  []value.Value
	ids    []value.NodeID
	vals   []value.Value
	labels []value.LabelID
	sets   map[*bound.Binary]*memberSet
	regex  map[string]*pattern
	spent  map[*site]int64
	ticks  int
}

// nameSlots is the size of the direct-mapped cache of interned names. A
// collision costs a look-up in the schema per row, never a wrong answer.
const nameSlots = 64

type nameSpace uint8

const (
	noName nameSpace = iota
	keyName
	labelName
	typeName
)

type nameEntry struct {
	space   nameSpace
	name    string
	id      uint32 // 0: unknown in version
	version uint64
}

// name is an interned name as compiled: where in the cache it goes.
type name struct {
	space nameSpace
	slot  uint8
	text  string
}

func newName(space nameSpace, text string) name {
	h := uint32(2166136261) * uint32(space+1)
	for i := 0; i < len(text); i++ {
		h = (h ^ uint32(text[i])) * 16777619 // FNV-1a
	}
	h ^= h >> 15
	return name{space: space, slot: uint8(h % nameSlots), text: text}
}

// resolve returns the id of a name, or 0 when it is unknown. Ids are for good
// once given; an unknown name is looked up again when the schema has changed.
func (e *Env) resolve(n *name) uint32 {
	c := &e.names[n.slot]
	if c.space == n.space && c.name == n.text && (c.id != 0 || c.version == e.Reader.SchemaVersion()) {
		return c.id
	}
	*c = nameEntry{space: n.space, name: n.text, version: e.Reader.SchemaVersion()}
	switch n.space {
	case keyName:
		id, _ := e.Reader.Key(n.text)
		c.id = uint32(id)
	case labelName:
		id, _ := e.Reader.Label(n.text)
		c.id = uint32(id)
	case typeName:
		id, _ := e.Reader.RelType(n.text)
		c.id = uint32(id)
	}
	return c.id
}

// Reset makes the Env ready for another execution. It keeps scratch memory
// and forgets everything that the execution gave it.
func (e *Env) Reset() {
	stack, vals, locals := e.stack[:cap(e.stack)], e.vals[:cap(e.vals)], e.Locals
	clear(stack) // scratch must not keep values alive
	clear(vals)
	clear(locals)
	*e = Env{stack: stack[:0], ids: e.ids[:0], vals: vals, labels: e.labels, Locals: locals}
}

// ticksPerStep is how many elements loops pass between calls of Step.
const ticksPerStep = 256

// tick counts one element of a loop.
func (e *Env) tick() error { return e.step(1) }

func (e *Env) flushTicks() error {
	n := e.ticks
	e.ticks = 0
	if e.Step == nil {
		return nil
	}
	return e.Step(n)
}

// step counts n rows at once.
func (e *Env) step(n int) error {
	if e.ticks += n; e.ticks < ticksPerStep {
		return nil
	}
	return e.flushTicks()
}

// col returns the value of a slot in a row.
func (e *Env) col(slot, row int) value.Value {
	if slot < len(e.Cols) {
		if c := e.Cols[slot]; row < len(c) {
			return c[row]
		}
	}
	return value.Null
}

// SetLocal gives a local variable a value.
func (e *Env) SetLocal(i int, v value.Value) {
	for i >= len(e.Locals) {
		e.Locals = append(e.Locals, value.Null)
	}
	e.Locals[i] = v
}

func (e *Env) local(i int) value.Value {
	if i < len(e.Locals) {
		return e.Locals[i]
	}
	return value.Null
}
