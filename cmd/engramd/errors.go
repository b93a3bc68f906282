package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"engram"
	"engram/chatbridge"
	"engram/server/client"
)

// The exit codes that scripts may rely on.
const (
	exitOK       = 0
	exitError    = 1
	exitUsage    = 2
	exitNotFound = 3
	exitInUse    = 4
	exitDamaged  = 5
	exitLimit    = 6
	exitRefused  = 7
	exitUnknown  = 8
)

// usageError is a command line that makes no sense.
type usageError struct{ err error }

func (e *usageError) Error() string {
	return e.err.Error() + "\nSee engramd --help, or --help behind a command."
}
func (e *usageError) Unwrap() error { return e.err }

// missingFileError is an input that is not there.
type missingFileError struct{ path string }

func (e *missingFileError) Error() string {
	return e.path + ": there is no such file; check the path"
}

// errCheckFailed ends a check or a benchmark whose report tells the rest.
var errCheckFailed = errors.New("the check failed; see the report above")

// errAuditFails ends an audit whose report tells which findings fail.
var errAuditFails = errors.New("the audit found what --fail-on or the baseline does not let pass; see the report")

var exitCodes = map[engram.Code]int{
	engram.CodeNotFound: exitNotFound,
	engram.CodeBusy:     exitInUse,
	engram.CodeDamaged:  exitDamaged, engram.CodeForeign: exitDamaged, engram.CodeNewerFormat: exitDamaged,
	engram.CodeLimitExceeded: exitLimit, engram.CodeResourceExhausted: exitLimit, engram.CodeFull: exitLimit,
	client.CodeUnauthenticated: exitRefused, client.CodeForbidden: exitRefused,
	engram.CodeReadOnly: exitRefused, engram.CodeWithheld: exitRefused, engram.CodePoisoned: exitRefused, engram.CodeLoadUnfinished: exitRefused,
	engram.CodeOutcomeUnknown: exitUnknown,
}

// report prints an error, if any, and returns the exit code it stands for.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(w, "engramd: "+strings.TrimRight(err.Error(), "\n"))
	var usage *usageError
	if errors.As(err, &usage) {
		return exitUsage
	}
	var chat *chatbridge.Refusal
	if errors.As(err, &chat) {
		return exitRefused
	}
	var nobody *unaskedError
	if errors.As(err, &nobody) {
		return exitRefused
	}
	var limit *limitError
	if errors.As(err, &limit) {
		return exitLimit
	}
	var missing *missingFileError
	if errors.As(err, &missing) {
		return exitNotFound
	}
	var refused *refusedError
	if errors.As(err, &refused) {
		return exitRefused
	}
	if errors.Is(err, errCheckFailed) || errors.Is(err, errAuditFails) {
		return exitDamaged
	}
	var e *engram.Error
	if errors.As(err, &e) {
		if code, ok := exitCodes[e.Code]; ok {
			return code
		}
	}
	return exitError
}

// plainError is an error of a statement that the user did not type: told without
// the statement and the place in it.
type plainError struct {
	text string
	err  error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.err }

func plain(err error) error {
	var e *engram.Error
	if !errors.As(err, &e) || e.Line == 0 {
		return err
	}
	first, _, _ := strings.Cut(e.Message, "\n")
	_, message, ok := strings.Cut(first, fmt.Sprintf(" at line %d, column %d: ", e.Line, e.Column))
	if !ok {
		return err
	}
	if e.Hint != "" {
		message += ". " + e.Hint
	}
	return &plainError{strings.Replace(err.Error(), e.Message, message, 1), err}
}
