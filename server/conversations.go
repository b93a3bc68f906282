package server

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"engram"
	"engram/chatbridge"
	"engram/server/token"
)

func (s *Server) conversationRoutes() []*route {
	const events = "With Accept: text/event-stream the answer is the events of the run as they come, each with its number as id, until it ends or waits for an answer; the last one tells which. A client that leaves does not end the run."
	stream := map[string]string{typeSSE: "Events: id is the number, event the type, data the event as JSON."}
	return []*route{{
		method: http.MethodPost, pattern: "/v1/conversations", scope: token.Chat, body: jsonBody, writes: true, handle: s.createConversation,
		summary: "Begin a conversation", detail: "It belongs to the token: others cannot see it, but for those with the scope admin.",
		request: conversationRequest{}, response: conversationResponse{},
	}, {
		method: http.MethodGet, pattern: "/v1/conversations", scope: token.Chat, handle: s.listConversations,
		summary: "List the token's conversations", response: conversationList{},
		query: []param{{name: "limit", kind: "integer", doc: "How many at most, 1 to 500.", def: "50"}, {name: "cursor", kind: "string", doc: "next_cursor of the page before."}},
	}, {
		method: http.MethodPost, pattern: "/v1/conversations/{id}/messages", scope: token.Chat, body: jsonBody, writes: true, lasting: true, handle: s.message,
		summary: "Say something", detail: "The id new begins a conversation. " + events,
		request: messageRequest{}, response: messageResponse{}, answers: stream, problems: append([]string{"CallPending"}, chatting...),
	}, {
		method: http.MethodPost, pattern: "/v1/conversations/{id}/approvals", scope: token.Chat, body: jsonBody, writes: true, lasting: true, handle: s.approval,
		summary: "Answer a call that waits for consent",
		detail:  "Once. Approving what the tier escalate is told of, and remember always, need the scope run-commands. " + events,
		request: approvalRequest{}, response: messageResponse{}, answers: stream, problems: append([]string{"CallNotFound", "CallUsed", "CallAmbiguous", "CallChanged"}, chatting...),
	}, {
		method: http.MethodGet, pattern: "/v1/conversations/{id}/events", scope: token.Chat, lasting: true, handle: s.events,
		summary: "Replay the events of a run", detail: "As JSON: those so far. " + events,
		query: []param{
			{name: "run", kind: "string", doc: "The run; without it the newest one of the conversation."},
			{name: "after", kind: "integer", doc: "The number of the last event that is known. In a stream, Last-Event-ID may say so too.", def: "0"},
		},
		response: eventsResponse{}, answers: stream, problems: []string{codeNoConversation, codeNoRun, codeOverloaded},
	}, {
		method: http.MethodPost, pattern: "/v1/conversations/{id}/cancel", scope: token.Chat, writes: true, handle: s.cancelRun,
		summary: "End the run of a conversation, or the call that waits in it", response: cancelResponse{}, problems: []string{codeNoConversation, codeOverloaded},
	}}
}

const typeSSE = "text/event-stream"

type conversationRequest struct{}

type conversationResponse struct {
	Conversation string `json:"conversation_id"`
}

type conversationList struct {
	Conversations []chatbridge.Conversation `json:"conversations"`
	Next          string                    `json:"next_cursor,omitempty" doc:"Where the next page begins; left out on the last one."`
}

// messageRequest is what a person says.
type messageRequest struct {
	Text     string            `json:"text" doc:"What is said." required:"true"`
	AskAll   bool              `json:"ask_all" doc:"Ask for consent to every call of a tool."`
	NoTools  bool              `json:"no_tools" doc:"Offer no tools."`
	Plan     bool              `json:"plan" doc:"Have the model propose a plan first: nothing above reading runs before it is approved."`
	Proposal []chatbridge.Rule `json:"proposal" doc:"Rules for the numbers of a proposal that a maker makes and a checker judges, until it is approved. Not with plan."`
	Mission  string            `json:"mission" doc:"With the message that begins a conversation: what it is for, up to 1,000 bytes; without it the first message says so."`
	Imprint  string            `json:"imprint" doc:"Name of a layer of kind 3 whose voice and domain colour the answer; without it none does."`
}

// approvalRequest answers a call that waits.
type approvalRequest struct {
	CallID   string   `json:"call_id" doc:"The call; without it the only one that waits."`
	Decision string   `json:"decision" doc:"approve runs it once, or takes a plan or proposal as it is; deny does not; result takes what the client got by running it itself; revise asks for another plan or proposal." enum:"approve,deny,result,revise" required:"true"`
	Words    string   `json:"words" doc:"With deny and revise: for the model, as they are."`
	Result   string   `json:"result" doc:"With result: what came of the call."`
	Digest   string   `json:"digest" doc:"With approve: what the person saw. If something else would happen now, it is refused."`
	Remember string   `json:"remember" doc:"With approve: allow the same again in this conversation, or always." enum:"conversation,always"`
	Prefix   []string `json:"prefix" doc:"With remember: the beginning of a command, as a person typed it, that is allowed with anything behind."`
}

// messageResponse is how a run, or a leg of one, ended.
type messageResponse struct {
	Status       string            `json:"status" doc:"done, or tool_pending: a call waits for an answer; in problems failed." enum:"done,tool_pending,failed"`
	Conversation string            `json:"conversation_id"`
	Run          string            `json:"run_id"`
	Reply        string            `json:"reply"`
	Response     string            `json:"response" doc:"The same text as reply."`
	Model        string            `json:"model"`
	Provider     string            `json:"provider"`
	Agentic      bool              `json:"agentic" doc:"The model had tools."`
	ToolsUsed    []chatbridge.Used `json:"tools_used"`
	Sources      []string          `json:"sources"`
	Iterations   int               `json:"iterations" doc:"Calls of the model."`
	Usage        chatbridge.Usage  `json:"usage"`
	Unsaved      bool              `json:"unsaved,omitempty" doc:"The answer could not be stored."`
	// Of a call that waits.
	CallID    string `json:"call_id,omitempty"`
	ToolName  string `json:"tool_name,omitempty"`
	ToolInput string `json:"tool_input,omitempty" doc:"Its arguments, whole, with what is invisible escaped."`
	Shown     string `json:"shown,omitempty" doc:"What will happen, for people."`
	RiskTier  string `json:"risk_tier,omitempty"`
	Directory string `json:"directory,omitempty"`
	Digest    string `json:"digest,omitempty" doc:"Of all that an approval covers."`
	Narration string `json:"narration,omitempty" doc:"What the model said before it."`
	// Of a plan or a proposal.
	Review    *chatbridge.Review  `json:"review,omitempty" doc:"A plan or a proposal waits in place of a call: its text is shown."`
	Rulings   []chatbridge.Ruling `json:"rulings,omitempty" doc:"On the proposals of the run."`
	Candidate string              `json:"candidate,omitempty" doc:"The key that a verdict on what was approved is kept by."`
}

func responseOf(o *chatbridge.Outcome) *messageResponse {
	r := &messageResponse{
		Status: o.Status, Conversation: o.Conversation, Run: o.Run, Reply: o.Reply, Response: o.Reply, Model: o.Model, Provider: o.Provider, Agentic: o.Agentic,
		ToolsUsed: o.ToolsUsed, Sources: o.Sources, Iterations: o.Usage.Rounds, Usage: o.Usage, Unsaved: o.Unsaved,
		Rulings: o.Rulings, Candidate: o.Candidate,
	}
	if p := o.Pending; p != nil {
		r.Status, r.CallID, r.ToolName, r.ToolInput, r.Shown, r.RiskTier = "tool_pending", p.CallID, p.ToolName, p.ToolInput, p.Shown, p.RiskTier
		r.Directory, r.Digest, r.Narration, r.Review = p.Directory, p.Digest, p.Narration, p.Review
	}
	return r
}

// failures are the statuses and codes of runs that end without an answer.
var failures = map[string]struct {
	status int
	code   string
}{
	"ceiling":   {http.StatusTooManyRequests, "CeilingReached"},
	"provider":  {http.StatusBadGateway, "ProviderFailed"},
	"empty":     {http.StatusBadGateway, "EmptyReply"},
	"reason":    {http.StatusBadGateway, "ReplyRefused"},
	"cancelled": {http.StatusConflict, "RunCancelled"},
	"shutdown":  {http.StatusServiceUnavailable, codeShutdown},
	"store":     {http.StatusInternalServerError, "NotStored"},
}

// failed makes a problem of a run that ended without an answer; nil: it has one.
func failed(o *chatbridge.Outcome) error {
	f := o.Failure
	if f == nil {
		return nil
	}
	known, ok := failures[f.Kind]
	if !ok {
		known.status, known.code = http.StatusInternalServerError, string(engram.CodeInternal)
	}
	p := newProblem(known.status, known.code, f.Text)
	p.Ceiling, p.Outcome = f.Ceiling, responseOf(o)
	return p
}

func (s *Server) createConversation(c *call) error {
	var q conversationRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	id, err := b.Create(c.ctx, c.who.Owner())
	if err != nil {
		return refused(err)
	}
	return c.answer(conversationResponse{id})
}

func (s *Server) listConversations(c *call) error {
	limit, err := c.number("limit", 50, 1, 500)
	if err != nil {
		return err
	}
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	o := chatbridge.ListOptions{Limit: limit, Cursor: c.query.Get("cursor"), Owner: c.who.Owner()}
	if c.who.May(token.Admin) {
		o.Owner = ""
	}
	page, err := b.List(c.ctx, &o)
	if err != nil {
		return refused(err)
	}
	return c.answer(conversationList{page.Conversations, page.Next})
}

// say begins a run in a conversation that the token may use, or in one that it begins.
func (s *Server) say(ctx context.Context, who token.Identity, namespace, conversation string, q *messageRequest) (*chatbridge.Run, error) {
	m := chatbridge.Message{
		Conversation: conversation, Text: q.Text, AskAll: q.AskAll, NoTools: q.NoTools, Without: withheld(who), Owner: who.Owner(),
		Plan: q.Plan, Proposal: q.Proposal, Mission: q.Mission, Imprint: q.Imprint,
	}
	b, err := s.chats.bridge(namespace)
	if conversation != "" {
		b, err = s.conversation(ctx, who, namespace, conversation)
	}
	if err != nil {
		return nil, err
	}
	run, err := b.Send(ctx, m)
	return run, refused(err)
}

// newConversation is what stands for one that is to be begun.
const newConversation = "new"

func (s *Server) message(c *call) error {
	var q messageRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	id := c.req.PathValue("id")
	if id == newConversation {
		id = ""
	}
	run, err := s.say(c.ctx, c.who, c.namespace, id, &q)
	if err != nil {
		return err
	}
	return c.follow(run)
}

// approve answers a call for a token that may.
func (s *Server) approve(ctx context.Context, who token.Identity, namespace, conversation string, q *approvalRequest) (*chatbridge.Run, error) {
	a := chatbridge.Answer{
		Conversation: conversation, CallID: q.CallID, Approve: q.Decision == "approve", Words: q.Words, Digest: q.Digest, Remember: q.Remember, Prefix: q.Prefix, Without: withheld(who),
	}
	switch {
	case q.Decision != "approve" && q.Decision != "deny" && q.Decision != "result" && q.Decision != "revise":
		return nil, invalid("decision", "the decision is approve, deny, result or revise")
	case q.Words != "" && q.Decision != "deny" && q.Decision != "revise":
		return nil, invalid("words", "words go with deny and revise")
	case q.Words == "" && q.Decision == "revise":
		return nil, invalid("words", "say what to change")
	case q.Result != "" && q.Decision != "result":
		return nil, invalid("result", "result goes with the decision result")
	case !a.Approve && (q.Digest != "" || q.Remember != "" || len(q.Prefix) > 0):
		return nil, invalid("decision", "digest, remember and prefix go with approve")
	}
	if q.Decision == "result" {
		a.Result = &q.Result
	}
	b, err := s.conversation(ctx, who, namespace, conversation)
	if err != nil {
		return nil, err
	}
	if a.Approve && !who.May(token.RunCommands) {
		if err := s.mayApprove(ctx, b, &a); err != nil {
			return nil, err
		}
	}
	run, err := b.Answer(ctx, a)
	return run, refused(err)
}

// mayApprove refuses what needs the scope run-commands, and holds the answer to what was
// looked at.
func (s *Server) mayApprove(ctx context.Context, b *chatbridge.Bridge, a *chatbridge.Answer) error {
	waiting, err := b.Waiting(ctx, a.Conversation)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		if a.CallID != "" && a.CallID != p.CallID {
			continue
		}
		if p.RiskTier == chatbridge.TierEscalate || a.Remember == "always" {
			return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope run-commands, which approving this needs; it may deny it")
		}
		if a.Digest == "" {
			a.Digest = p.Digest
		}
		if len(waiting) == 1 {
			a.CallID = p.CallID
		}
	}
	return nil
}

func (s *Server) approval(c *call) error {
	var q approvalRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	run, err := s.approve(c.ctx, c.who, c.namespace, c.req.PathValue("id"), &q)
	if err != nil {
		return err
	}
	return c.follow(run)
}

type cancelResponse struct {
	Canceled bool `json:"canceled" doc:"There was something to end."`
}

func (s *Server) cancelRun(c *call) error {
	b, err := s.conversation(c.ctx, c.who, c.namespace, c.req.PathValue("id"))
	if err != nil {
		return err
	}
	had, err := b.Cancel(c.ctx, c.req.PathValue("id"))
	if err != nil {
		return err
	}
	return c.answer(cancelResponse{had})
}

// follow answers with the events of a run, or with its end.
func (c *call) follow(run *chatbridge.Run) error {
	if c.wantsEvents() {
		return c.streamEvents(run, run.First())
	}
	out, err := run.Wait(c.ctx)
	if err != nil {
		return c.left(err)
	}
	if err := failed(out); err != nil {
		return err
	}
	return c.answer(responseOf(out))
}

func (c *call) wantsEvents() bool { return strings.Contains(c.req.Header.Get("Accept"), typeSSE) }

// left ends a request whose client has gone, which is nothing to worry about.
func (c *call) left(err error) error {
	if c.req.Context().Err() == nil || errors.Is(context.Cause(c.ctx), errDeadline) {
		return err
	}
	c.s.config.Log.Info("a client left; its run goes on", "request", c.id)
	panic(http.ErrAbortHandler)
}
