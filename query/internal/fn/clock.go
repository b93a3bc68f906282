package fn

import (
	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/internal/temporal"
)

type call = func(*Context, []value.Value) (value.Value, error)

// clock reads one of the clocks of a statement.
type clock func(*Context) value.DateTime

func transactionClock(c *Context) value.DateTime { return c.Transaction }
func statementClock(c *Context) value.DateTime   { return c.Statement }

func realtimeClock(c *Context) value.DateTime {
	if c.Now == nil {
		return c.Statement
	}
	return c.Now()
}

// fromTemporal makes errors of package temporal the statement's.
func fromTemporal(v value.Value, err error) (value.Value, error) {
	if err == nil || fault.As(err) != nil {
		return v, err
	}
	return value.Null, fault.AtRuntime(fault.ArgumentError, "InvalidArgumentValue", "%s", err.Error()).Wrap(err)
}

// construct is the function of a kind's name.
func construct(kind value.Kind) call {
	return func(c *Context, args []value.Value) (value.Value, error) {
		if len(args) == 0 {
			return fromTemporal(temporal.Current(kind, c.Statement, value.Null))
		}
		return fromTemporal(temporal.Construct(kind, args[0]))
	}
}

// current gives what a clock shows, in the zone of the argument if there is one.
func current(kind value.Kind, read clock) call {
	return func(c *Context, args []value.Value) (value.Value, error) {
		zone := value.Null
		if len(args) > 0 {
			zone = args[0]
		}
		return fromTemporal(temporal.Current(kind, read(c), zone))
	}
}

func fromEpoch(_ *Context, args []value.Value) (value.Value, error) {
	seconds, err := whole("datetime.fromEpoch", args[0])
	if err != nil {
		return value.Null, err
	}
	var nanos int64
	if len(args) > 1 {
		if nanos, err = whole("datetime.fromEpoch", args[1]); err != nil {
			return value.Null, err
		}
	}
	return fromTemporal(temporal.FromEpoch(seconds, nanos))
}

func fromEpochMillis(_ *Context, args []value.Value) (value.Value, error) {
	millis, err := whole("datetime.fromEpochMillis", args[0])
	if err != nil {
		return value.Null, err
	}
	return fromTemporal(temporal.FromEpochMillis(millis))
}

// whole reads a number as an integer, its fraction dropped.
func whole(name string, v value.Value) (int64, error) {
	if v.Kind() == value.KindInt {
		return v.AsInt(), nil
	}
	i, ok := truncate(v.AsFloat())
	if !ok {
		return 0, outOfRange("the argument of %s() is out of range: %v", name, v.AsFloat())
	}
	return i, nil
}

func truncateTo(kind value.Kind) call {
	return func(_ *Context, args []value.Value) (value.Value, error) {
		over := value.Null
		if len(args) > 2 {
			over = args[2]
		}
		return fromTemporal(temporal.Truncate(kind, args[0].AsString(), args[1], over))
	}
}

func durationFunc(between func(a, b value.Value) (value.Value, error)) call {
	return func(_ *Context, args []value.Value) (value.Value, error) {
		return fromTemporal(between(args[0], args[1]))
	}
}
