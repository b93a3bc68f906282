package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// HTTPError is what a request is refused with.
type HTTPError struct {
	Status int
	Reason string
}

// Error returns the reason.
func (e *HTTPError) Error() string { return e.Reason }

// Handler speaks MCP's streamable HTTP without sessions: every request stands
// alone, so there is no session id that could be guessed or taken over. Host,
// origin and token have to be checked before it. choose tells which server a request
// is for; its error is answered with status 400, or that of an *HTTPError.
func Handler(choose func(*http.Request) (*Server, error)) http.Handler {
	options := &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, MaxRequestBodyBytes: maxLine, PropagateRequestCancellation: true,
		// A proxy in front may have a name of its own: the checks before this know it.
		DisableLocalhostProtection: true,
	}
	inner := sdk.NewStreamableHTTPHandler(func(req *http.Request) *sdk.Server {
		chosen, _ := req.Context().Value(chosenKey{}).(*Server)
		return chosen.sdk
	}, options)
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		server, err := choose(req)
		if err != nil {
			refuse(w, http.StatusBadRequest, err)
			return
		}
		if req.Method == http.MethodPost {
			body, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxLine))
			var large *http.MaxBytesError
			if errors.As(err, &large) {
				refuse(w, http.StatusRequestEntityTooLarge, fmt.Errorf("a message has at most %d bytes", large.Limit))
				return
			}
			if err == nil {
				err = checkJSON(body)
			}
			if err != nil {
				refuse(w, http.StatusBadRequest, fmt.Errorf("the message: %w", err))
				return
			}
			req.Body = io.NopCloser(bytes.NewReader(body))
		}
		inner.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), chosenKey{}, server)))
	})
}

// chosenKey is where a request's context has its *Server.
type chosenKey struct{}

// refuse answers as JSON-RPC does.
func refuse(w http.ResponseWriter, status int, err error) {
	var with *HTTPError
	if errors.As(err, &with) {
		status = with.Status
	}
	code := -32600 // invalid request
	if status >= 500 {
		code = -32603
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": explain(err, true)}})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
