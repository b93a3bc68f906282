package graph

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"engram/graph/internal/commit"
	"engram/graph/internal/record"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/value"
)

// Code says which kind of error it is. Codes are stable; texts are not.
type Code string

// The codes.
const (
	NotFound           Code = "NotFound"           // no database at the path
	Exists             Code = "Exists"             // creating over something
	Busy               Code = "Busy"               // another process or handle has it
	Foreign            Code = "Foreign"            // not an engram database
	NewerFormat        Code = "NewerFormat"        // written by a newer version
	Damaged            Code = "Damaged"            // a file or record is not what was written
	ReadOnly           Code = "ReadOnly"           // a write where only reading is allowed
	Full               Code = "Full"               // no room on disk or in the quota
	Closed             Code = "Closed"             // used after Close
	ConstraintViolated Code = "ConstraintViolated" // the write would break a rule of the graph
	InvalidArgument    Code = "InvalidArgument"    // the caller broke the contract
	LimitExceeded      Code = "LimitExceeded"      // over a limit, nothing was written
	Failed             Code = "Failed"             // not committed, nothing was written
	Aborted            Code = "Aborted"            // nothing was written; executing again is right
	OutcomeUnknown     Code = "OutcomeUnknown"     // it may be there or not; the message says how to learn it
	Poisoned           Code = "Poisoned"           // writing is refused until reopened
	SnapshotTooOld     Code = "SnapshotTooOld"     // a long read was given up
	TxDone             Code = "TxDone"             // used after commit, rollback or expiry
	Canceled           Code = "Canceled"           // the context ended; nothing was written
	LoadUnfinished     Code = "LoadUnfinished"     // a load of another source was not ended
	Withheld           Code = "Withheld"           // of a class that is withheld here
	NotSupported       Code = "NotSupported"       // not built yet or switched off
	Internal           Code = "Internal"           // a bug
)

// Error is an error of the graph. Detail, where it is set, is the openCypher
// TCK's word for it.
type Error struct {
	Code    Code
	Detail  string
	Message string
	Err     error // the cause, or nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// CodeOf returns the code of an error of this package, Internal for others.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}

func fail(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// causes maps the errors of the layers below, most telling first.
var causes = []struct {
	err  error
	code Code
}{
	{commit.ErrOutcomeUnknown, OutcomeUnknown},
	{commit.ErrGoesOn, OutcomeUnknown},
	{commit.ErrPoisoned, Poisoned},
	{commit.ErrAborted, Aborted},
	{commit.ErrTooLarge, LimitExceeded},
	{commit.ErrSnapshotTooOld, SnapshotTooOld},
	{text.ErrGone, SnapshotTooOld},
	{text.ErrFilling, Busy},
	{commit.ErrSlotDone, TxDone},
	{commit.ErrClosed, Closed},
	{store.ErrClosed, Closed},
	{store.ErrMissing, NotFound},
	{store.ErrExists, Exists},
	{store.ErrEmpty, Damaged},
	{store.ErrForeign, Foreign},
	{store.ErrNewer, NewerFormat},
	{store.ErrTruncated, Damaged},
	{store.ErrDamaged, Damaged},
	{store.ErrLostCommits, Damaged},
	{store.ErrMoved, Poisoned},
	{store.ErrBusy, Busy},
	{store.ErrReadOnly, ReadOnly},
	{store.ErrFull, Full},
	{commit.ErrFailed, Failed},
	{context.Canceled, Canceled},
	{context.DeadlineExceeded, Canceled},
}

// wrap gives an error of a layer below its code.
func wrap(err error) error {
	if err == nil { // apart, so that it costs nothing
		return nil
	}
	return wrapped(err)
}

func wrapped(err error) error {
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	var damaged *record.DamagedError
	if errors.As(err, &damaged) {
		return &Error{Code: Damaged, Message: err.Error(), Err: err}
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return &Error{Code: c.code, Message: err.Error(), Err: err}
		}
	}
	return &Error{Code: Internal, Message: err.Error(), Err: err}
}

var errTxDone = fail(TxDone, "the transaction has ended")

func errTaken(what, id string) error {
	return &Error{
		Code: ConstraintViolated, Detail: "ConstraintValidationFailed",
		Message: fmt.Sprintf("a %s with id %s exists already", what, quoteID(id)),
	}
}

// errReservedID refuses an id that this database gives to a node or
// relationship without one.
func errReservedID(what, id string) error {
	return &Error{
		Code: ConstraintViolated, Detail: "ConstraintValidationFailed",
		Message: fmt.Sprintf("the id %s is one of those that this database gives itself, to another %s: choose another, or none", quoteID(id), what),
	}
}

// quoteID quotes an id for a message, a long one up to 100 bytes.
func quoteID(id string) string {
	const most = 100
	if len(id) <= most {
		return strconv.Quote(id)
	}
	return fmt.Sprintf("%q... (%d bytes)", strings.ToValidUTF8(id[:most], ""), len(id))
}

func errConnected(id value.NodeID, edges int64) error {
	return &Error{
		Code: ConstraintViolated, Detail: "DeleteConnectedNode",
		Message: fmt.Sprintf("node %d still has %d relationships; delete them too, or use DETACH DELETE", id, edges),
	}
}

func errNoNode(id value.NodeID) error {
	return &Error{Code: InvalidArgument, Detail: "DeletedEntityAccess", Message: fmt.Sprintf("node %d is not there", id)}
}

func errNoEdge(id value.EdgeID) error {
	return &Error{Code: InvalidArgument, Detail: "DeletedEntityAccess", Message: fmt.Sprintf("relationship %d is not there", id)}
}
