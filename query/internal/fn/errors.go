package fn

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// Suggest returns the function whose name is nearest to name, or "" when none
// is near enough to be meant.
func Suggest(name string) string { return fault.Nearest(name, tables.names) }

// CheckArgs tells whether the arguments are of kinds that f accepts. The error
// is a TypeError without a place.
func (f *Func) CheckArgs(args []value.Value) error {
	for i := range args {
		if k := args[i].Kind(); k != value.KindNull && !f.Param(i).Kinds.Has(k) {
			return badArgument(f.Name, i, f.Param(i), k)
		}
	}
	return nil
}

func badArgument(name string, i int, want bound.Type, got value.Kind) error {
	return fault.AtRuntime(fault.TypeError, "InvalidArgumentValue",
		"argument %d of %s() must be %s, but is %s", i+1, name, Describe(want), got)
}

// Describe names the kinds of a type as users write them: INTEGER or FLOAT.
func Describe(t bound.Type) string {
	var names []string
	for k := value.KindNull + 1; k <= value.KindDuration; k++ {
		if t.Kinds.Has(k) {
			names = append(names, k.String())
		}
	}
	switch {
	case t.Kinds|1 == bound.AnyKind|1:
		return "ANY"
	case len(names) == 0:
		return "NULL"
	}
	s := names[0]
	for i, n := range names[1:] {
		if i == len(names)-2 {
			s += " or " + n
		} else {
			s += ", " + n
		}
	}
	return s
}

func outOfRange(format string, args ...any) error {
	return fault.AtRuntime(fault.ArgumentError, "NumberOutOfRange", format, args...)
}

func overflow(format string, args ...any) error {
	return fault.AtRuntime(fault.ArithmeticError, "IntegerOverflow", format, args...)
}

// Take asks for bytes of memory.
func (c *Context) Take(bytes int) error {
	c.taken += int64(bytes)
	if c.Grow == nil {
		return nil
	}
	return c.Grow(int64(bytes))
}

// Taken is what was taken so far, for a later GiveBack.
func (c *Context) Taken() int64 { return c.taken }

// GiveBack returns what was taken since Taken gave mark, for values that nobody
// holds any more.
func (c *Context) GiveBack(mark int64) {
	if d := c.taken - mark; d > 0 {
		c.taken = mark
		c.Return(d)
	}
}

// Return gives back bytes that were taken at any time.
func (c *Context) Return(bytes int64) {
	if c.Grow != nil && bytes > 0 {
		_ = c.Grow(-bytes) // giving back cannot fail
	}
}

func (c *Context) step(n int) error {
	if c.Step == nil {
		return nil
	}
	return c.Step(n)
}
