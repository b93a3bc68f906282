package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"engram"
	"engram/chatbridge"
	"engram/server/internal/strict"
)

// Codes of problems that are the server's own. All others are those of
// package engram.
const (
	codeUnauthenticated = "Unauthenticated"  // no token, or one that does not work
	codeLogin           = "LoginRefused"     // a code that is none
	codeCSRF            = "CSRFRefused"      // by a cookie, and not by the page that logged in
	codeForbidden       = "Forbidden"        // the token's scopes do not allow it
	codeHostRefused     = "HostRefused"      // the Host is none of the server's
	codeOriginRefused   = "OriginRefused"    // another web page
	codeNoRoute         = "RouteNotFound"    // nothing is there
	codeMethod          = "MethodNotAllowed" // it is there for other methods
	codeMediaType       = "UnsupportedMediaType"
	codeTooLarge        = "BodyTooLarge"
	codeBodyTimeout     = "BodyTimeout"  // the body did not come in time
	codeRate            = "RateLimited"  // too many requests
	codeOverloaded      = "Overloaded"   // too many statements run
	codeDeadline        = "Deadline"     // the request took too long
	codeShutdown        = "ShuttingDown" // the server is about to end
	codeNoTransaction   = "TransactionNotFound"
	codeTxBusy          = "TransactionBusy" // a statement of it is running
	codeNodeNotFound    = "NodeNotFound"
	codeUpgrade         = "UpgradeRequired"
	codeNoConversation  = "ConversationNotFound"
	codeNoRun           = "RunNotFound"
)

// problem is an error as RFC 9457 has it.
type problem struct {
	Type   string `json:"type" doc:"A URN made of the code."`
	Title  string `json:"title" doc:"The status in words."`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty" doc:"What happened, where, and what to do."`
	Code   string `json:"code" doc:"Stable: programs may compare it."`
	Field  string `json:"field,omitempty" doc:"The field of the request that it is about."`
	Line   int    `json:"line,omitempty" doc:"Where in the statement, from 1."`
	Column int    `json:"column,omitempty" doc:"Where in the line, from 1, in characters."`
	Hint   string `json:"hint,omitempty" doc:"What to do instead."`
	// Written tells what became of a write.
	Written string `json:"written,omitempty" doc:"What became of a write: no, or unknown." enum:"no,unknown"`
	Request string `json:"request,omitempty" doc:"The request's id, which the server's log has too."`
	// Ceiling and Outcome are of runs of chats.
	Ceiling *chatbridge.Ceiling `json:"ceiling,omitempty" doc:"The limit that a run has met."`
	Outcome *messageResponse    `json:"outcome,omitempty" doc:"How a run ended that has no answer."`

	retryAfter int   // seconds
	cause      error // for the log
}

// Error makes it an error.
func (p *problem) Error() string { return p.Code + ": " + p.Detail }

func newProblem(status int, code, detail string) *problem {
	return &problem{Type: "urn:engram:problem:" + code, Title: http.StatusText(status), Status: status, Code: code, Detail: detail}
}

// statuses of the codes of package engram; those missing are 400, errors of a
// statement or a request.
var statuses = map[engram.Code]int{
	engram.CodeNotFound: http.StatusNotFound, engram.CodeEntityNotFound: http.StatusNotFound,
	engram.CodeExists: http.StatusConflict, engram.CodeConstraintViolated: http.StatusConflict,
	engram.CodeAborted: http.StatusConflict, engram.CodeTxDone: http.StatusConflict, engram.CodeTxExpired: http.StatusConflict,
	engram.CodeSnapshotTooOld: http.StatusConflict, engram.CodeLoadUnfinished: http.StatusConflict,
	engram.CodeReadOnly: http.StatusForbidden, engram.CodeWithheld: http.StatusForbidden,
	engram.CodeLimitExceeded: http.StatusRequestEntityTooLarge, engram.CodeResourceExhausted: http.StatusUnprocessableEntity,
	engram.CodeFull: http.StatusInsufficientStorage, engram.CodeNotSupported: http.StatusNotImplemented,
	engram.CodeBusy: http.StatusServiceUnavailable, engram.CodeClosed: http.StatusServiceUnavailable, engram.CodePoisoned: http.StatusServiceUnavailable,
	engram.CodeDamaged: http.StatusInternalServerError, engram.CodeForeign: http.StatusInternalServerError,
	engram.CodeNewerFormat: http.StatusInternalServerError, engram.CodeFailed: http.StatusInternalServerError,
	engram.CodeOutcomeUnknown: http.StatusInternalServerError, engram.CodeInternal: http.StatusInternalServerError,
	engram.CodeCanceled: http.StatusGatewayTimeout,
}

// generic are the words of errors whose own ones may tell paths and other things
// that are the operator's: those are in the log.
var generic = map[engram.Code]string{
	engram.CodeBusy:           "the data is in use by another process",
	engram.CodeFull:           "there is no room left, or the namespace's quota is used up: nothing was written",
	engram.CodeDamaged:        "what is stored is damaged: run engramd check",
	engram.CodeForeign:        "what is stored is not a database of engram",
	engram.CodeNewerFormat:    "what is stored was written by a newer version of engram",
	engram.CodeFailed:         "the storage failed: nothing was written",
	engram.CodeOutcomeUnknown: "the storage failed while it wrote: whether it was written is known after a restart; repeat it with the same Idempotency-Key",
	engram.CodePoisoned:       "writing is refused since the storage failed: the server has to be restarted",
	engram.CodeInternal:       "an error inside the server, which is a bug: please report it",
	engram.CodeClosed:         "the database is being closed: try again",
}

// asProblem makes any error one.
func asProblem(err error) *problem {
	var p *problem
	var bad *strict.Error
	var tooLarge *http.MaxBytesError
	var e *engram.Error
	switch {
	case errors.As(err, &p):
		return p
	case errors.As(err, &bad):
		p = newProblem(http.StatusBadRequest, bad.Code, bad.Message)
		p.Field = bad.Field
		return p
	case errors.As(err, &tooLarge):
		return newProblem(http.StatusRequestEntityTooLarge, codeTooLarge, "the body is larger than "+strconv.FormatInt(tooLarge.Limit, 10)+" bytes: send it in several requests")
	case errors.As(err, &e):
		return fromEngram(e)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		p = newProblem(http.StatusGatewayTimeout, codeDeadline, "the request took too long, or was given up")
		return p
	}
	p = newProblem(http.StatusInternalServerError, string(engram.CodeInternal), generic[engram.CodeInternal])
	p.cause = err
	return p
}

func fromEngram(e *engram.Error) *problem {
	status, ok := statuses[e.Code]
	if !ok {
		status = http.StatusBadRequest
	}
	p := newProblem(status, string(e.Code), e.Message)
	if text, ok := generic[e.Code]; ok {
		p.Detail, p.cause = text, e
	} else {
		p.Line, p.Column, p.Hint = e.Line, e.Column, e.Hint
	}
	switch e.Code {
	case engram.CodeOutcomeUnknown:
		p.Written = "unknown"
	case engram.CodeBusy, engram.CodeClosed, engram.CodeAborted:
		p.retryAfter = 1
	}
	return p
}

// write answers with the problem.
func (p *problem) write(w http.ResponseWriter) {
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Del("Content-Disposition")
	h.Set("Cache-Control", "no-store")
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="engram"`)
	}
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // the client is gone: nobody to tell
}
