package server

import (
	"net/http"
	"time"

	"engram/server/token"
)

// bodyKind says what a route takes.
type bodyKind int

const (
	noBody     bodyKind = iota
	jsonBody            // one JSON document, strictly read
	streamBody          // bytes as they come
	mcpBody             // what package mcp reads itself
)

// The media types that routes take and give.
const (
	typeJSON    = "application/json"
	typeNDJSON  = "application/x-ndjson"
	typeProblem = "application/problem+json"
	typeText    = "text/plain; charset=utf-8"
)

// route is one thing that the server does. Everything about it is here: what it
// needs to be let in, what OpenAPI tells of it, and what the security tests try.
type route struct {
	method, pattern string
	// scope is what the token has to allow; empty: no token is needed.
	scope token.Scope
	// or is a scope that is enough, too; empty: there is none.
	or   token.Scope
	body bodyKind
	// types are the media types of the body; nil: JSON.
	types []string
	// writes: the route may change something, so it takes an Idempotency-Key and is
	// in the audit log.
	writes bool
	// keyed: an Idempotency-Key is taken.
	keyed bool
	// global: the route is about no namespace.
	global bool
	// stream: the request may last as long as Config.StreamTimeout, and its body be
	// as long as Config.MaxImport.
	stream bool
	// lasting: the request may last as long as Config.StreamTimeout, its body is as others.
	lasting bool
	// hidden: it is no part of the OpenAPI document.
	hidden bool
	handle func(*call) error

	// What OpenAPI tells.
	summary  string
	detail   string
	query    []param
	request  any               // a struct with json tags, or nil
	response any               // likewise, of status 200
	answers  map[string]string // media types beside JSON, and what they are
	problems []string          // codes beside those that follow from the rest
}

// param is one parameter of a route's URL.
type param struct {
	name, kind, doc string // kind: string, integer, boolean
	enum            []string
	def             string
	example         string
}

// maxTimeout is how long the route may take.
func (r *route) maxTimeout(c *Config) time.Duration {
	if r.stream || r.lasting {
		return c.StreamTimeout
	}
	return c.Timeout
}

// maxBody is how long its body may be.
func (r *route) maxBody(c *Config) int64 {
	switch {
	case r.body == noBody:
		return 0
	case r.stream && r.body == streamBody:
		return c.MaxImport
	}
	return c.MaxBody
}

// routes are all of them, in the order of the documentation.
func (s *Server) routes() []*route {
	var all []*route
	for _, part := range [][]*route{s.queryRoutes(), s.memoryRoutes(), s.graphRoutes(), s.txRoutes(), s.conversationRoutes(), s.keptRoutes(), s.steeringRoutes(), s.sessionRoutes(), s.ponderRoutes(), s.adminRoutes(), s.socketRoutes(), s.loginRoutes(), s.systemRoutes()} {
		all = append(all, part...)
	}
	return all
}

func (s *Server) systemRoutes() []*route {
	out := []*route{
		{
			method: http.MethodGet, pattern: "/healthz", global: true, handle: s.healthz, response: healthResponse{},
			summary: "Whether the process lives", detail: "Needs no token, and tells nothing but that.",
		},
		{
			method: http.MethodGet, pattern: "/readyz", scope: token.Read, global: true, handle: s.readyz, response: healthResponse{},
			summary: "Whether requests are served",
		},
		{
			method: http.MethodGet, pattern: "/metrics", scope: token.Read, global: true, handle: s.metricsPage,
			answers: map[string]string{typeText: "Metrics as Prometheus reads them."},
			summary: "Metrics",
		},
		{
			method: http.MethodGet, pattern: "/v1/openapi.json", scope: token.Read, global: true, handle: s.openAPI,
			summary: "This document",
		},
	}
	if s.config.MCP != nil {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			r := &route{method: method, pattern: "/mcp", scope: token.Read, global: true, stream: true, hidden: true, handle: s.mcp, summary: "The Model Context Protocol", query: mcpParams}
			if method == http.MethodPost {
				r.body = mcpBody
			}
			out = append(out, r)
		}
	}
	return out
}

// mcpParams are what the URL of /mcp may have.
var mcpParams = []param{
	{name: "namespace", kind: "string", doc: "The namespace; without it default."},
	{name: "tools", kind: "string", doc: "The tools to offer: default, all, or names with commas between."},
	{name: "compat", kind: "string", doc: "Be like another server: memory, the reference memory server."},
}

// mcp lets a request that passed all checks through. Who it comes from is in its
// context: see token.FromContext.
func (s *Server) mcp(c *call) error {
	s.config.MCP.ServeHTTP(c.w, c.req.WithContext(c.ctx))
	return nil
}
