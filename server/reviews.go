package server

import (
	"net/http"
	"strings"

	"engram/chatbridge"
	"engram/server/token"
)

// steeringRoutes are about what a person decides of what models propose, and judges of
// what came of it.
func (s *Server) steeringRoutes() []*route {
	return []*route{{
		method: http.MethodGet, pattern: "/v1/reviews", scope: token.Chat, handle: s.listReviews,
		summary: "The plans and proposals that wait", detail: "In the token's conversations, the longest first. POST approvals of the conversation answers one, by its call_id: approve, or revise in words.",
		response: reviewList{}, problems: []string{codeOverloaded},
	}, {
		method: http.MethodGet, pattern: "/v1/candidates", scope: token.Chat, handle: s.listCandidates,
		summary: "What can be judged", detail: "Outcomes of the token's conversations, the newest first, 1,000 at most.", response: candidateList{}, problems: []string{codeOverloaded},
	}, {
		method: http.MethodGet, pattern: "/v1/verdicts", scope: token.Chat, handle: s.listVerdicts,
		summary: "The verdicts that the token gave", detail: "The newest first, 1,000 at most.",
		query:    []param{{name: "candidate", kind: "string", doc: "Only those on this candidate.", example: "k-1"}},
		response: verdictList{}, problems: []string{codeOverloaded},
	}, {
		method: http.MethodPost, pattern: "/v1/verdicts", scope: token.Chat, body: jsonBody, writes: true, handle: s.giveVerdict,
		summary: "Judge an outcome", detail: "Of the token's conversations. An approval goes into canonical memory and is told to models where the same comes again, whoever asks; so it needs the scope write, too.",
		request: verdictRequest{}, response: chatbridge.Verdict{}, problems: []string{"CandidateNotFound", codeOverloaded},
	}}
}

type reviewList struct {
	Reviews []chatbridge.PendingReview `json:"reviews"`
}

type candidateList struct {
	Candidates []chatbridge.Candidate `json:"candidates"`
}

type verdictList struct {
	Verdicts []chatbridge.Verdict `json:"verdicts"`
}

type verdictRequest struct {
	Candidate string `json:"candidate" doc:"The key of what is judged, as GET candidates or a review tells it."`
	Run       string `json:"run_id" doc:"In place of a candidate: the run whose answer is judged."`
	Decision  string `json:"decision" doc:"There is no default." enum:"approved,rejected" required:"true"`
	Reason    string `json:"reason" doc:"Why, in the person's words." required:"true"`
}

func (s *Server) listReviews(c *call) error {
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	list, err := b.Reviews(c.ctx, ownerOf(c.who))
	if err != nil {
		return refused(err)
	}
	return c.answer(reviewList{append([]chatbridge.PendingReview{}, list...)})
}

func (s *Server) listCandidates(c *call) error {
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	list, err := b.Candidates(c.ctx, ownerOf(c.who))
	if err != nil {
		return refused(err)
	}
	return c.answer(candidateList{list})
}

func (s *Server) listVerdicts(c *call) error {
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	list, err := b.Verdicts(c.ctx, c.query.Get("candidate"), ownerOf(c.who))
	if err != nil {
		return refused(err)
	}
	return c.answer(verdictList{list})
}

func (s *Server) giveVerdict(c *call) error {
	var q verdictRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	switch {
	case q.Decision != chatbridge.VerdictApproved && q.Decision != chatbridge.VerdictRejected:
		return invalid("decision", "the decision is approved or rejected")
	case strings.TrimSpace(q.Reason) == "":
		return invalid("reason", "half a verdict is none: say why")
	case !c.who.May(token.Write):
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope write, which a verdict needs: an approval goes into memory")
	}
	b, err := s.chats.bridge(c.namespace)
	if err != nil {
		return err
	}
	v, err := b.Judge(c.ctx, chatbridge.Judgement{Candidate: q.Candidate, Run: q.Run, Decision: q.Decision, Reason: q.Reason, Owner: ownerOf(c.who)})
	if err != nil {
		return refused(err)
	}
	return c.answer(v)
}
