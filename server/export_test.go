package server

import (
	"context"
	"net/http"
	"slices"

	"engram/chatbridge"
)

// Beat lets a server think now.
func (s *Server) Beat(ctx context.Context) { s.beat(ctx) }

// Route is what tests know about a route.
type Route struct {
	Method, Pattern, Scope string
	Or                     string // a scope that is enough, too
	Body, Stream, Global   bool
	Writes, Hidden         bool
}

// Routes are all routes of a server, for tests that must not forget one.
func (s *Server) Routes() []Route {
	var out []Route
	for _, r := range s.table {
		out = append(out, Route{
			Method: r.method, Pattern: r.pattern, Scope: string(r.scope), Or: string(r.or), Body: r.body != noBody, Stream: r.stream, Global: r.global, Writes: r.writes, Hidden: r.hidden,
		})
	}
	return out
}

// Change alters how a server behaves from the next request on, until undo is called.
func (s *Server) Change(fn func(*Config)) (undo func()) {
	old := s.config
	fn(&s.config)
	return func() {
		s.config.MaxBody, s.config.MaxImport, s.config.BodyTimeout = old.MaxBody, old.MaxImport, old.BodyTimeout
		s.config.Timeout, s.config.StreamTimeout = old.Timeout, old.StreamTimeout
		s.config.Rate, s.config.RateBurst, s.config.BackupDir = old.Rate, old.RateBurst, old.BackupDir
	}
}

// Occupy takes all places of statements until release is called.
func (s *Server) Occupy() (release func()) {
	for _, places := range []chan struct{}{s.running, s.writing} {
		for range cap(places) {
			places <- struct{}{}
		}
	}
	return func() {
		for _, places := range []chan struct{}{s.running, s.writing} {
			for range cap(places) {
				<-places
			}
		}
	}
}

// Hold keeps an open transaction busy until release is called.
func (s *Server) Hold(id string) (release func()) {
	s.txs.mu.Lock()
	o := s.txs.all[id]
	s.txs.mu.Unlock()
	o.mu.Lock()
	return o.mu.Unlock
}

// Replace has a route do something else until undo is called: what the layers below do
// when a disk fails, or when there is a bug.
func (s *Server) Replace(method, pattern string, fn func() error) (undo func()) {
	for _, r := range s.table {
		if r.method == method && r.pattern == pattern {
			old := r.handle
			r.handle = func(*call) error { return fn() }
			return func() { r.handle = old }
		}
	}
	panic("no such route: " + method + " " + pattern)
}

// RefusedChat is the error of what a bridge refuses, FailedChat of how a run failed.
func RefusedChat(code string) error { return refused(&chatbridge.Refusal{Code: code}) }

// FailedChat is the error of a run that ended so.
func FailedChat(kind string) error {
	return failed(&chatbridge.Outcome{Status: "failed", ToolsUsed: []chatbridge.Used{}, Sources: []string{}, Failure: &chatbridge.Failure{Kind: kind}})
}

// Undocumented reports whether the document lists an answer neither with the operation nor
// as one of requests that no operation is about.
func (s *Server) Undocumented(method, path string, status int, code string) bool {
	req, err := http.NewRequest(method, path, nil)
	if err != nil {
		return false
	}
	_, pattern := s.mux.Handler(req)
	for _, r := range s.table {
		if r.method+" "+r.pattern == pattern {
			return !r.hidden && (!slices.Contains(r.codes(), code) || statusOf(code) != status)
		}
	}
	return code != codeHostRefused && code != codeOriginRefused && code != codeUnauthenticated && (elsewhere[code] == "" || statusOf(code) != status)
}

// CloseIdle closes a namespace that nobody uses.
func (r *Registry) CloseIdle(name string) error { return r.unloaded(name, func() error { return nil }) }
