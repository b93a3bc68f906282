// Package fault is the one shape of error that every stage of the language
// reports: what kind of mistake it is, when it was noticed, where in the
// statement it is, and what to do about it. Type, Phase and Detail use the
// vocabulary of the openCypher TCK.
package fault

import (
	"errors"
	"fmt"
)

// Type is the class of an error.
type Type string

// The types of the TCK.
const (
	SyntaxError                  Type = "SyntaxError"
	SemanticError                Type = "SemanticError"
	ParameterMissing             Type = "ParameterMissing"
	ConstraintValidationFailed   Type = "ConstraintValidationFailed"
	ConstraintVerificationFailed Type = "ConstraintVerificationFailed"
	EntityNotFound               Type = "EntityNotFound"
	PropertyNotFound             Type = "PropertyNotFound"
	LabelNotFound                Type = "LabelNotFound"
	TypeError                    Type = "TypeError"
	ArgumentError                Type = "ArgumentError"
	ArithmeticError              Type = "ArithmeticError"
	ProcedureError               Type = "ProcedureError"
)

// The types beyond the TCK.
const (
	// ResourceExhausted is a budget that ran out: time, rows, memory, steps.
	ResourceExhausted Type = "ResourceExhausted"
	// NotSupported is a form the language has but this version does not run.
	NotSupported Type = "NotSupported"
)

// Phase says when an error was noticed.
type Phase uint8

// The phases.
const (
	CompileTime Phase = iota // before anything ran
	Runtime
)

// String returns the TCK's words for the phase.
func (p Phase) String() string {
	if p == Runtime {
		return "runtime"
	}
	return "compile time"
}

// Error is an error about a statement.
type Error struct {
	Type    Type
	Phase   Phase
	Detail  string // the TCK's detail, such as UndefinedVariable; "" if none fits
	Message string // one sentence without a full stop, about this statement
	Span    Span   // where, if known

	Found    string   // the offending token as typed, for syntax errors
	Expected []string // what could have stood there, in a user's words
	Hint     string   // what to do instead, a whole sentence; or ""

	Err error // the cause, or nil
}

// New makes an error of any type and phase. Message is built as fmt.Sprintf
// does.
func New(t Type, p Phase, detail string, at Span, format string, args ...any) *Error {
	return &Error{Type: t, Phase: p, Detail: detail, Span: at, Message: fmt.Sprintf(format, args...)}
}

// Syntax makes a compile-time SyntaxError, the most frequent kind.
func Syntax(detail string, at Span, format string, args ...any) *Error {
	return New(SyntaxError, CompileTime, detail, at, format, args...)
}

// AtRuntime makes a runtime error without a place; see Error.WithSpan.
func AtRuntime(t Type, detail string, format string, args ...any) *Error {
	return New(t, Runtime, detail, Span{}, format, args...)
}

// Unsupported makes the error for a form that this version does not run.
// What names the form as a user writes it, such as "SHOW INDEXES".
func Unsupported(at Span, what string) *Error {
	return New(NotSupported, CompileTime, "NotSupported", at, "%s is not supported yet", what)
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithSpan sets the place, unless one is known already, and returns e.
func (e *Error) WithSpan(at Span) *Error {
	if !e.Span.Known() {
		e.Span = at
	}
	return e
}

// Wrap sets the cause and returns e.
func (e *Error) Wrap(err error) *Error {
	e.Err = err
	return e
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Error returns one line: type, detail, place and message.
func (e *Error) Error() string {
	s := string(e.Type)
	if e.Detail != "" && e.Detail != s {
		s += " (" + e.Detail + ")"
	}
	if e.Span.Known() {
		s += fmt.Sprintf(" at line %d, column %d", e.Span.Line, e.Span.Column)
	}
	s += ": " + e.Message
	if e.Hint != "" {
		s += ". " + e.Hint
	}
	return s
}

// As returns the first *Error in err's chain, or nil.
func As(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
