package query

import "engram/query/internal/fault"

// Error is a mistake in a statement, found before or while it ran, with its
// place in the text. Error.Render shows it with the line and a caret.
type Error = fault.Error

// AsError returns the first *Error in err's chain, or nil.
func AsError(err error) *Error { return fault.As(err) }
