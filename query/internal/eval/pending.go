package eval

import (
	"engram/graph/value"
	"engram/query/internal/fault"
)

// Arithmetic with durations waits for its implementation.
var errPending = fault.AtRuntime(fault.NotSupported, "NotSupported", "arithmetic with durations is not supported yet")

func temporalComponent(value.Value, string) (value.Value, bool) { return value.Null, false }
func addDuration(value.Value, value.Duration) (value.Value, error) {
	return value.Null, errPending
}
func subtractDuration(value.Value, value.Duration) (value.Value, error) {
	return value.Null, errPending
}
func multiplyDuration(value.Duration, float64) (value.Duration, error) {
	return value.Duration{}, errPending
}
func divideDuration(value.Duration, float64) (value.Duration, error) {
	return value.Duration{}, errPending
}
