package fn

import (
	"engram/graph/value"
	"engram/query/internal/fault"
)

// The temporal functions wait for their implementation.
type clock uint8

const (
	transactionClock clock = iota
	statementClock
	realtimeClock
)

type call = func(*Context, []value.Value) (value.Value, error)

func pending(*Context, []value.Value) (value.Value, error) {
	return value.Null, fault.AtRuntime(fault.NotSupported, "NotSupported", "this function is not supported yet")
}

func construct(value.Kind, clock) call { return pending }
func current(value.Kind, clock) call   { return pending }
func truncateTo(value.Kind) call       { return pending }
func durationBetween(string) call      { return pending }

var fromEpoch, fromEpochMillis, duration call = pending, pending, pending

func addDurations(a, b value.Duration) (value.Duration, error) { return a, nil }
func divideDuration(d value.Duration, by float64) (value.Value, error) {
	return pending(nil, nil)
}
