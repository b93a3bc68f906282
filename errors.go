package engram

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"engram/graph"
	"engram/query"
)

// Code says which kind of error it is. Codes are stable: programs may compare
// them, and scripts may rely on the exit codes made of them.
type Code string

// Codes of the database.
const (
	CodeNotFound           = Code(graph.NotFound)           // no database at the path
	CodeExists             = Code(graph.Exists)             // creating over something
	CodeBusy               = Code(graph.Busy)               // another process or handle has it
	CodeForeign            = Code(graph.Foreign)            // not an engram database
	CodeNewerFormat        = Code(graph.NewerFormat)        // written by a newer version
	CodeDamaged            = Code(graph.Damaged)            // a file or record is not what was written
	CodeReadOnly           = Code(graph.ReadOnly)           // a write where only reading is allowed
	CodeFull               = Code(graph.Full)               // no room on disk or in the quota
	CodeClosed             = Code(graph.Closed)             // used after Close
	CodeConstraintViolated = Code(graph.ConstraintViolated) // the write would break a rule of the graph
	CodeInvalidArgument    = Code(graph.InvalidArgument)    // the caller broke the contract
	CodeLimitExceeded      = Code(graph.LimitExceeded)      // over a limit, nothing was written
	CodeFailed             = Code(graph.Failed)             // not committed, nothing was written
	CodeAborted            = Code(graph.Aborted)            // nothing was written; executing again is right
	CodeOutcomeUnknown     = Code(graph.OutcomeUnknown)     // it may be there or not; the message says how to learn it
	CodePoisoned           = Code(graph.Poisoned)           // writing is refused until reopened
	CodeSnapshotTooOld     = Code(graph.SnapshotTooOld)     // a long read was given up
	CodeTxDone             = Code(graph.TxDone)             // the transaction has ended
	CodeTxExpired          = Code("TxExpired")              // it was idle or open for too long
	CodeCanceled           = Code(graph.Canceled)           // the context ended; nothing was written
	CodeLoadUnfinished     = Code(graph.LoadUnfinished)     // an import of another source is not finished
	CodeWithheld           = Code(graph.Withheld)           // of the class of verdicts, which are withheld here
	CodeNotSupported       = Code(graph.NotSupported)       // not built yet or switched off
	CodeInternal           = Code(graph.Internal)           // a bug
)

// Codes of statements; the first ones are the types of the openCypher TCK.
const (
	CodeSyntaxError       Code = "SyntaxError"
	CodeSemanticError     Code = "SemanticError"
	CodeTypeError         Code = "TypeError"
	CodeArgumentError     Code = "ArgumentError"
	CodeArithmeticError   Code = "ArithmeticError"
	CodeParameterMissing  Code = "ParameterMissing"
	CodeEntityNotFound    Code = "EntityNotFound"
	CodeProcedureError    Code = "ProcedureError"
	CodeResourceExhausted Code = "ResourceExhausted" // a budget of the statement ran out
	CodeNothingToSearch   Code = "NothingToSearch"   // a recall without a word to search for
)

// Error is the error of every call of this package. Compare codes:
//
//	var e *engram.Error
//	if errors.As(err, &e) && e.Code == engram.CodeBusy { ... }
type Error struct {
	Code    Code
	Detail  string // finer than the code, such as UndefinedVariable; may be empty
	Message string // what happened, where, and what to do; may have several lines
	// Line and Column tell where in the statement, from 1 and in characters; 0
	// when the error has no place there.
	Line, Column int
	Hint         string // what to do instead; may be empty
	Err          error  // the cause, or nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// convert makes the error of a statement, or of the database when text is
// empty, into one of this package.
func convert(err error, text string) error {
	if err == nil {
		return nil
	}
	var own *Error
	if errors.As(err, &own) {
		return own
	}
	if f := query.AsError(err); f != nil {
		return fromStatement(f, text)
	}
	var g *graph.Error
	if errors.As(err, &g) {
		return &Error{Code: Code(g.Code), Detail: g.Detail, Message: g.Message, Err: err}
	}
	code := CodeInternal
	var spool *query.SpoolError
	if errors.As(err, &spool) {
		code = CodeFailed
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG) {
			code = CodeFull
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		code = CodeCanceled
	}
	return &Error{Code: code, Message: err.Error(), Err: err}
}

func fromStatement(f *query.Error, text string) *Error {
	e := &Error{Code: Code(f.Type), Detail: f.Detail, Message: f.Error(), Hint: f.Hint, Err: f}
	switch {
	case f.Detail == string(CodeNothingToSearch):
		e.Code = CodeNothingToSearch
	case f.Type == "ConstraintValidationFailed" || f.Type == "ConstraintVerificationFailed":
		e.Code = CodeConstraintViolated // the database's own word for both
	}
	// The database's word for what a statement ran into is the more exact one.
	var g *graph.Error
	if errors.As(f.Err, &g) {
		e.Code, e.Detail = Code(g.Code), g.Detail
	} else if errors.Is(f.Err, context.Canceled) || errors.Is(f.Err, context.DeadlineExceeded) {
		e.Code = CodeCanceled
	}
	if f.Span.Known() {
		e.Line, e.Column = f.Span.Line, f.Span.Column
		if text != "" {
			e.Message = f.Render(text)
		}
	}
	return e
}

func newError(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// recovered turns a panic into an error: a bug must not take the program down.
func recovered(err *error) {
	if r := recover(); r != nil {
		*err = newError(CodeInternal, "internal error: %v; please report the statement that caused it", r)
	}
}

// needContext refuses a nil context, at which everything below would panic.
func needContext(ctx context.Context) error {
	if ctx == nil {
		return newError(CodeInvalidArgument, "the context is nil: pass context.Background() if nothing is to end the call early")
	}
	return nil
}
