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
