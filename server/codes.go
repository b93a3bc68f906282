package server

import (
	"net/http"
	"slices"

	"engram"
	"engram/server/internal/strict"
)

// ownStatuses are the statuses of the codes that are the server's own.
var ownStatuses = map[string]int{
	codeUnauthenticated: http.StatusUnauthorized, codeForbidden: http.StatusForbidden, codeLogin: http.StatusUnauthorized, codeCSRF: http.StatusForbidden, codeHostRefused: http.StatusForbidden, codeOriginRefused: http.StatusForbidden,
	codeNoRoute: http.StatusNotFound, codeMethod: http.StatusMethodNotAllowed, codeMediaType: http.StatusUnsupportedMediaType, codeTooLarge: http.StatusRequestEntityTooLarge,
	codeBodyTimeout: http.StatusRequestTimeout, codeRate: http.StatusTooManyRequests, codeOverloaded: http.StatusServiceUnavailable, codeDeadline: http.StatusGatewayTimeout,
	codeShutdown: http.StatusServiceUnavailable, codeNoTransaction: http.StatusNotFound, codeTxBusy: http.StatusConflict, codeNodeNotFound: http.StatusNotFound,
	codeUpgrade: http.StatusUpgradeRequired, codeNoConversation: http.StatusNotFound, codeNoRun: http.StatusNotFound,
}

// statusOf is the one status that problems of a code have.
func statusOf(code string) int {
	if status, ok := ownStatuses[code]; ok {
		return status
	}
	if status, ok := statuses[engram.Code(code)]; ok {
		return status
	}
	for _, f := range failures {
		if f.code == code {
			return f.status
		}
	}
	for _, f := range refusals {
		if f.code == code {
			return f.status
		}
	}
	return http.StatusBadRequest
}

// coded makes texts of codes of package engram.
func coded(codes ...engram.Code) []string {
	out := make([]string, len(codes))
	for i, c := range codes {
		out[i] = string(c)
	}
	return out
}

// The codes that several routes have.
var (
	// opening are those of whatever uses a namespace, which is opened for it.
	opening = append(coded(engram.CodeNotFound, engram.CodeClosed, engram.CodeBusy, engram.CodeDamaged, engram.CodeForeign, engram.CodeNewerFormat, engram.CodeFailed, engram.CodeFull), codeDeadline)
	// committing are those of whatever commits.
	committing = coded(engram.CodeOutcomeUnknown, engram.CodePoisoned, engram.CodeAborted)
	// running are those of statements that the server makes itself of a request.
	running = append(coded(engram.CodeResourceExhausted), codeOverloaded)
	// stating are those of statements that the client writes.
	stating = coded(
		engram.CodeSyntaxError, engram.CodeSemanticError, engram.CodeTypeError, engram.CodeArgumentError, engram.CodeArithmeticError, engram.CodeParameterMissing,
		engram.CodeEntityNotFound, engram.CodeProcedureError, engram.CodeNothingToSearch, engram.CodeConstraintViolated, engram.CodeLimitExceeded,
		engram.CodeNotSupported,
	)
	// chatting are those of runs that end without an answer, and of what does not begin one.
	chatting = []string{codeNoConversation, "ConversationBusy", "SafeMode", "CeilingReached", "ProviderFailed", "EmptyReply", "ReplyRefused", "RunCancelled", "NotStored", codeOverloaded}
)

// codes are those of all problems that the route may answer with, sorted: its own, and
// those that follow from what else the route is.
func (r *route) codes() []string {
	out := append([]string{codeHostRefused, codeOriginRefused, string(engram.CodeInvalidArgument), strict.UnknownField, string(engram.CodeInternal)}, r.problems...)
	if r.scope != "" {
		out = append(out, codeUnauthenticated, codeForbidden, codeRate, codeShutdown)
		if r.method != http.MethodGet {
			out = append(out, codeCSRF)
		}
	}
	if !r.global {
		out = append(out, opening...)
	}
	if !r.global || len(r.query) > 0 || r.body == jsonBody {
		out = append(out, strict.DuplicateKey)
	}
	if r.writes && (!r.global || r.keyed) {
		out = append(out, committing...)
	}
	if r.body != noBody {
		out = append(out, codeMediaType, codeTooLarge, codeBodyTimeout)
	}
	if r.body == jsonBody {
		out = append(out, strict.InvalidJSON, strict.TooComplex)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// elsewhere are the codes of requests that no operation of the document is about.
var elsewhere = map[string]string{
	codeNoRoute: "Nothing is at the path.",
	codeMethod:  "The path takes other methods, which Allow tells.",
}
