package server

import (
	"net/http"

	"engram/server/mcp"
	"engram/server/token"
)

func (s *Server) sessionRoutes() []*route {
	return []*route{{
		method: http.MethodPost, pattern: "/v1/session/begin", scope: token.Read, body: jsonBody, handle: s.beginSession,
		summary: "What is worth knowing at the beginning of a conversation",
		detail:  "Bounded: what the memory holds, the newest memories, what is on the mind, the self and its pillars, what happened lately, open work. As the tool begin_session of MCP. Nothing is written.",
		request: sessionRequest{}, response: sessionResponse{}, problems: running,
	}}
}

type sessionRequest struct {
	Conversation string `json:"conversation" doc:"Name of a conversation that goes on, whose working memory is told; without it a new name is made, of up to 200 bytes."`
	About        string `json:"about" doc:"What the conversation is about: then a text of what comes to mind is compiled, too."`
	Budget       int64  `json:"budget" doc:"Tokens of that text, 16 to 8,000; 0: 1,000."`
}

// sessionResponse is the tool's answer.
type sessionResponse struct {
	Conversation any `json:"conversation" doc:"Its name."`
	Text         any `json:"text" doc:"All of it, for a model."`
	Context      any `json:"context,omitempty" doc:"What comes to mind about the topic."`
	Stats        any `json:"stats"`
	Recent       any `json:"recent" doc:"The newest memories, at most 10."`
	Activated    any `json:"activated" doc:"On the mind, at most 10."`
	Self         any `json:"self" doc:"About the self, at most 24."`
	Profile      any `json:"profile" doc:"Pillars and preferences, at most 8."`
	Events       any `json:"events" doc:"What happened lately, at most 5."`
	OpenWork     any `json:"open_work" doc:"At most 6 items."`
	LeftOut      any `json:"left_out,omitempty" doc:"How many more items of work there are."`
}

func (s *Server) beginSession(c *call) error {
	var q sessionRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	switch {
	case len(q.Conversation) > 200:
		return invalid("conversation", "the name of a conversation has at most 200 bytes")
	case len(q.About) > 20_000:
		return invalid("about", "about has at most 20,000 bytes")
	case q.Budget != 0 && (q.Budget < 16 || q.Budget > 8000):
		return invalid("budget", "the budget is 16 to 8,000 tokens, or 0")
	}
	done, err := place(c.ctx, s.running)
	if err != nil {
		return err
	}
	defer done()
	text, d, err := mcp.BeginSession(c.ctx, mcp.Database(c.db), q.Conversation, q.About, q.Budget)
	if err != nil {
		return err
	}
	return c.answer(sessionResponse{d["conversation"], text, d["context"], d["stats"], d["recent"], d["activated"], d["self"], d["profile"], d["events"], d["open_work"], d["left_out"]})
}
