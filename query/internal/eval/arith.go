package eval

import (
	"math"
	"math/bits"
	"strconv"

	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
	"engram/query/internal/temporal"
)

func intOverflow(span syntax.Span, a value.Value, op string, b value.Value) error {
	return fault.New(fault.ArithmeticError, fault.Runtime, "IntegerOverflow", span,
		"%d %s %d is beyond INTEGER, which ends at %d", a.AsInt(), op, b.AsInt(), int64(math.MaxInt64))
}

func divisionByZero(span syntax.Span) error {
	return fault.New(fault.ArithmeticError, fault.Runtime, "DivisionByZero", span, "an INTEGER was divided by 0")
}

// cannot is the error for operands that an operator has no meaning for.
func cannot(span syntax.Span, a value.Value, op string, b value.Value) error {
	return typeError(span, "%s %s %s has no meaning", a.Kind(), op, b.Kind())
}

// fromTemporal makes errors of package temporal the statement's.
func fromTemporal(span syntax.Span) func(value.Value, error) (value.Value, error) {
	return func(v value.Value, err error) (value.Value, error) {
		if err != nil {
			return value.Null, fault.New(fault.ArithmeticError, fault.Runtime, "InvalidArgumentValue", span, "%s", err.Error()).Wrap(err)
		}
		return v, nil
	}
}

func bothInts(a, b value.Value) bool { return a.Kind() == value.KindInt && b.Kind() == value.KindInt }

func bothNumbers(a, b value.Value) bool { return a.IsNumber() && b.IsNumber() }

func isTemporal(v value.Value) bool {
	return v.Kind() >= value.KindDate && v.Kind() <= value.KindDuration
}

func negate(v value.Value, span syntax.Span) (value.Value, error) {
	switch v.Kind() {
	case value.KindNull:
		return v, nil
	case value.KindInt:
		if v.AsInt() == math.MinInt64 {
			return value.Null, intOverflow(span, value.Int(0), "-", v)
		}
		return value.Int(-v.AsInt()), nil
	case value.KindFloat:
		return value.Float(-v.AsFloat()), nil
	case value.KindDuration:
		return fromTemporal(span)(temporal.Multiply(v, value.Int(-1)))
	}
	return value.Null, typeError(span, "- needs a number, but its operand is %s", v.Kind())
}

func add(env *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case bothInts(a, b):
		x, y := a.AsInt(), b.AsInt()
		s := x + y
		if (s > x) != (y > 0) && y != 0 {
			return value.Null, intOverflow(span, a, "+", b)
		}
		return value.Int(s), nil
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case bothNumbers(a, b):
		return value.Float(a.AsFloat() + b.AsFloat()), nil
	case a.Kind() == value.KindList || b.Kind() == value.KindList:
		return env.concatLists(a, b, span)
	case a.Kind() == value.KindString || b.Kind() == value.KindString:
		return env.concatStrings(a, b, span)
	case isTemporal(a) && b.Kind() == value.KindDuration, a.Kind() == value.KindDuration && isTemporal(b):
		return fromTemporal(span)(temporal.Add(a, b))
	}
	return value.Null, cannot(span, a, "+", b)
}

// concat joins two strings or two lists.
func concat(env *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case a.Kind() == value.KindString && b.Kind() == value.KindString:
		return env.concatStrings(a, b, span)
	case a.Kind() == value.KindList && b.Kind() == value.KindList:
		return env.concatLists(a, b, span)
	}
	return value.Null, cannot(span, a, "||", b)
}

func (e *Env) concatLists(a, b value.Value, span syntax.Span) (value.Value, error) {
	l, r := []value.Value{a}, []value.Value{b}
	if a.Kind() == value.KindList {
		l = a.AsList()
	}
	if b.Kind() == value.KindList {
		r = b.AsList()
	}
	if err := e.Take((len(l) + len(r)) * valueSize); err != nil {
		return value.Null, err
	}
	out := make([]value.Value, 0, len(l)+len(r))
	return e.made(value.List(append(append(out, l...), r...)), span)
}

// concatStrings joins strings, and strings and numbers.
func (e *Env) concatStrings(a, b value.Value, span syntax.Span) (value.Value, error) {
	l, ok1 := asText(a)
	r, ok2 := asText(b)
	if !ok1 || !ok2 {
		return value.Null, cannot(span, a, "+", b)
	}
	if err := e.Take(len(l) + len(r)); err != nil {
		return value.Null, err
	}
	return value.String(l + r), nil
}

func asText(v value.Value) (string, bool) {
	switch v.Kind() {
	case value.KindString:
		return v.AsString(), true
	case value.KindInt:
		return strconv.FormatInt(v.AsInt(), 10), true
	case value.KindFloat:
		return v.ToString(), true
	}
	return "", false
}

func subtract(_ *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case bothInts(a, b):
		x, y := a.AsInt(), b.AsInt()
		d := x - y
		if (d < x) != (y > 0) && y != 0 {
			return value.Null, intOverflow(span, a, "-", b)
		}
		return value.Int(d), nil
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case bothNumbers(a, b):
		return value.Float(a.AsFloat() - b.AsFloat()), nil
	case isTemporal(a) && b.Kind() == value.KindDuration:
		return fromTemporal(span)(temporal.Subtract(a, b))
	}
	return value.Null, cannot(span, a, "-", b)
}

func multiply(_ *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case bothInts(a, b):
		p, ok := mulInts(a.AsInt(), b.AsInt())
		if !ok {
			return value.Null, intOverflow(span, a, "*", b)
		}
		return value.Int(p), nil
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case bothNumbers(a, b):
		return value.Float(a.AsFloat() * b.AsFloat()), nil
	case a.Kind() == value.KindDuration && b.IsNumber(), a.IsNumber() && b.Kind() == value.KindDuration:
		return fromTemporal(span)(temporal.Multiply(a, b))
	}
	return value.Null, cannot(span, a, "*", b)
}

// mulInts multiplies through the 128-bit product of the magnitudes.
func mulInts(x, y int64) (int64, bool) {
	negative := (x < 0) != (y < 0)
	hi, lo := bits.Mul64(magnitude(x), magnitude(y))
	if hi != 0 || lo > 1<<63 || lo == 1<<63 && !negative {
		return 0, false
	}
	if negative {
		return int64(-lo), true
	}
	return int64(lo), true
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

func divide(_ *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case bothInts(a, b):
		x, y := a.AsInt(), b.AsInt()
		if y == 0 {
			return value.Null, divisionByZero(span)
		}
		if x == math.MinInt64 && y == -1 {
			return value.Null, intOverflow(span, a, "/", b)
		}
		return value.Int(x / y), nil
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case bothNumbers(a, b):
		return value.Float(a.AsFloat() / b.AsFloat()), nil
	case a.Kind() == value.KindDuration && b.IsNumber():
		return fromTemporal(span)(temporal.Divide(a, b))
	}
	return value.Null, cannot(span, a, "/", b)
}

func modulo(_ *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case bothInts(a, b):
		x, y := a.AsInt(), b.AsInt()
		if y == 0 {
			return value.Null, divisionByZero(span)
		}
		return value.Int(x % y), nil
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case bothNumbers(a, b):
		return value.Float(math.Mod(a.AsFloat(), b.AsFloat())), nil
	}
	return value.Null, cannot(span, a, "%", b)
}

func power(_ *Env, a, b value.Value, span syntax.Span) (value.Value, error) {
	switch {
	case a.IsNull() || b.IsNull():
		return value.Null, nil
	case bothNumbers(a, b):
		return value.Float(math.Pow(a.AsFloat(), b.AsFloat())), nil
	}
	return value.Null, cannot(span, a, "^", b)
}
