package server

import "context"

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
