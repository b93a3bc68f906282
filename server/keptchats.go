package server

import (
	"bufio"
	"net/http"

	"engram/chatbridge"
	"engram/server/token"
)

// keptRoutes are about conversations as they are kept: what they are called, where
// something was said in them, and their end.
func (s *Server) keptRoutes() []*route {
	return []*route{{
		method: http.MethodGet, pattern: "/v1/conversations/{id}", scope: token.Chat, handle: s.keptConversation,
		summary: "A conversation", detail: "Also one that is forgotten.", response: chatbridge.Conversation{}, problems: keptProblems,
	}, {
		method: http.MethodPatch, pattern: "/v1/conversations/{id}", scope: token.Chat, body: jsonBody, writes: true, handle: s.renameConversation,
		summary: "Give a conversation a title", detail: "No program changes it any more.",
		request: renameConversationRequest{}, response: chatbridge.Conversation{}, problems: keptProblems,
	}, {
		method: http.MethodDelete, pattern: "/v1/conversations/{id}", scope: token.Chat, writes: true, handle: s.forgetConversation,
		summary: "Forget a conversation", detail: "It is kept, out of list, search and the reach of messages, and can be restored. With hard it is deleted for good, which needs the scope admin.",
		query: []param{
			{name: "because", kind: "string", doc: "Why. Not with hard.", example: "asked"},
			{name: "hard", kind: "boolean", doc: "Delete it for good, with turns, runs, events and bells. Copies in backups are not reached."},
			{name: "memories", kind: "boolean", doc: "With hard: also what the model remembered in it, where it is still as it was written."},
		},
		response: forgetConversationResponse{}, problems: append([]string{"ConversationBusy"}, keptProblems...),
	}, {
		method: http.MethodPost, pattern: "/v1/conversations/{id}/restore", scope: token.Chat, writes: true, handle: s.restoreConversation,
		summary: "Bring a forgotten conversation back", response: chatbridge.Conversation{}, problems: keptProblems,
	}, {
		method: http.MethodGet, pattern: "/v1/conversations/{id}/export", scope: token.Chat, stream: true, handle: s.exportConversation,
		summary: "A conversation as a file", detail: "Its turns with receipts and sources, and its runs with calls, results and events, byte for byte. JSON Lines end with a line end; without it they were cut off.",
		query:   []param{{name: "format", kind: "string", doc: "What it is written as.", enum: []string{chatbridge.FormatJSONL, chatbridge.FormatMarkdown}, def: chatbridge.FormatJSONL}},
		answers: map[string]string{typeNDJSON: "Objects with one of conversation, turn, run and end, a line each.", typeMarkdown: "For people, with the same objects in comments."}, problems: keptProblems,
	}, {
		method: http.MethodPost, pattern: "/v1/conversations:search", scope: token.Chat, body: jsonBody, handle: s.searchConversations,
		summary: "Find where something was said", detail: "In the token's conversations that are not forgotten, by turns and titles, the best first.",
		request: searchConversationsRequest{}, response: chatbridge.FoundPage{}, problems: []string{codeOverloaded},
	}}
}

// keptProblems are the codes of what looks for a conversation.
var keptProblems = []string{codeNoConversation, codeOverloaded}

const typeMarkdown = "text/markdown; charset=utf-8"

type renameConversationRequest struct {
	Title string `json:"title" doc:"1 to 200 bytes." required:"true"`
}

type forgetConversationResponse struct {
	Conversation string             `json:"conversation_id"`
	Forgotten    bool               `json:"forgotten" doc:"It can be restored. With hard it cannot."`
	Purged       *chatbridge.Purged `json:"purged,omitempty" doc:"With hard: what was deleted."`
}

type searchConversationsRequest struct {
	Words string `json:"words" doc:"What was said, or a title says." required:"true"`
	Limit int    `json:"limit" doc:"How many at most, 1 to 500; 0 is 20."`
}

// ownerOf is whose conversations a token may see: empty for all of them.
func ownerOf(who token.Identity) string {
	if who.May(token.Admin) {
		return ""
	}
	return who.Owner()
}

// mine is the conversation that the path names, of those that the token may use.
func (c *call) mine() (b *chatbridge.Bridge, id string, err error) {
	id = c.req.PathValue("id")
	b, err = c.s.conversation(c.ctx, c.who, c.namespace, id)
	return b, id, err
}

// tellConversation answers with a conversation as it is now.
func (c *call) tellConversation(b *chatbridge.Bridge, id string) error {
	found, err := b.Conversation(c.ctx, id)
	if err != nil {
		return refused(err)
	}
	return c.answer(found)
}

func (s *Server) keptConversation(c *call) error {
	b, id, err := c.mine()
	if err != nil {
		return err
	}
	return c.tellConversation(b, id)
}

func (s *Server) renameConversation(c *call) error {
	var q renameConversationRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	b, id, err := c.mine()
	if err != nil {
		return err
	}
	if err := b.Rename(c.ctx, id, q.Title); err != nil {
		return refused(err)
	}
	return c.tellConversation(b, id)
}

func (s *Server) forgetConversation(c *call) error {
	hard, err := c.flag("hard")
	if err != nil {
		return err
	}
	memories, err := c.flag("memories")
	if err != nil {
		return err
	}
	because := c.query.Get("because")
	switch {
	case hard && because != "":
		return invalid("because", "what is deleted for good keeps no reason: leave because out")
	case memories && !hard:
		return invalid("memories", "memories goes with hard")
	case hard && !c.who.May(token.Admin):
		return newProblem(http.StatusForbidden, codeForbidden, "hard needs the scope admin")
	}
	b, id, err := c.mine()
	if err != nil {
		return err
	}
	if !hard {
		if err := b.Forget(c.ctx, id, because); err != nil {
			return refused(err)
		}
		return c.answer(forgetConversationResponse{Conversation: id, Forgotten: true})
	}
	gone, err := b.Purge(c.ctx, chatbridge.PurgeScope{Conversation: id, Memories: memories})
	if err != nil {
		return refused(err)
	}
	return c.answer(forgetConversationResponse{Conversation: id, Purged: gone})
}

func (s *Server) restoreConversation(c *call) error {
	b, id, err := c.mine()
	if err != nil {
		return err
	}
	if err := b.Restore(c.ctx, id); err != nil {
		return refused(err)
	}
	return c.tellConversation(b, id)
}

func (s *Server) exportConversation(c *call) error {
	format := c.query.Get("format")
	media, ok := map[string]string{"": typeNDJSON, chatbridge.FormatJSONL: typeNDJSON, chatbridge.FormatMarkdown: typeMarkdown}[format]
	if !ok {
		return invalid("format", "the format is jsonl or markdown")
	}
	if format == "" {
		format = chatbridge.FormatJSONL
	}
	b, id, err := c.mine()
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", media)
	h.Set("Cache-Control", "no-store")
	out := bufio.NewWriterSize(patient{c}, chunk)
	if err := b.Export(c.ctx, id, format, out); err != nil {
		return refused(err) // cuts the connection if the answer has begun
	}
	if err := out.Flush(); err != nil {
		panic(http.ErrAbortHandler) // the client is gone, or too slow
	}
	return nil
}

func (s *Server) searchConversations(c *call) error {
	var q searchConversationsRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	page, err := b.Search(c.ctx, q.Words, q.Limit, ownerOf(c.who))
	if err != nil {
		return refused(err)
	}
	return c.answer(page)
}
