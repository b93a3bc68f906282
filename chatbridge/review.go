package chatbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"engram/chatbridge/internal/box"
	"engram/chatbridge/internal/wire"
)

// Kinds of reviews.
const (
	ReviewPlan     = "plan"     // what the model is going to do
	ReviewProposal = "proposal" // a candidate that the validator and the checker let pass
)

// Review is what a person decides about, within a Pending whose Shown is its text.
type Review struct {
	// Kind is ReviewPlan or ReviewProposal.
	Kind string `json:"kind"`
	// Number of the plan or proposal in its run, from 1.
	Number int `json:"number"`
	// Left is how often something else can still be asked for, as the ledger has it.
	Left int `json:"left"`
	// Candidate is the key that a verdict on it is kept by; see CandidateKey.
	Candidate string `json:"candidate"`
	// Rulings on a proposal, in their order, and who was offered and never consulted.
	Rulings []Ruling `json:"rulings,omitempty"`
	// Verdict that was promoted for the same candidate before. It is recalled when a
	// review is shown, and not stored with it.
	Verdict *Verdict `json:"verdict,omitempty"`
}

// PendingReview is a review that waits, in whatever process it was asked for.
type PendingReview struct {
	Conversation string    `json:"conversation_id"`
	Run          string    `json:"run_id"`
	Since        time.Time `json:"since"`
	Pending      Pending   `json:"pending"`
}

// steering is what the review of a run has come to, as it is stored with the run.
type steering struct {
	Kind      string     `json:"kind"`
	Number    int        `json:"number"`         // of what was shown to a person
	Text      string     `json:"text,omitempty"` // of the newest of them
	Candidate string     `json:"candidate,omitempty"`
	Approved  bool       `json:"approved,omitempty"`
	Rules     []Rule     `json:"rules,omitempty"`
	Feedback  []feedback `json:"feedback,omitempty"` // that no candidate has answered
	Rulings   []Ruling   `json:"rulings,omitempty"`
	Proposal  *proposed  `json:"proposal,omitempty"` // the newest one
}

// planning tells whether nothing above reading may run yet.
func (s *state) planning() bool { return s.Steering != nil && !s.Steering.Approved }

// steer makes what the review of a run begins with; nil: there is none.
func (b *Bridge) steer(m Message) (*steering, error) {
	kind := ReviewPlan
	switch {
	case !m.Plan && m.Proposal == nil:
		return nil, nil
	case m.Plan && m.Proposal != nil:
		return nil, refuse("invalid", "a run is planned, or makes a proposal: not both")
	case len(b.wires) == 0:
		return nil, refuse("invalid", "plans and proposals need a model, and none is configured")
	case m.Proposal != nil:
		if err := checkRules(m.Proposal); err != nil {
			return nil, err
		}
		kind = ReviewProposal
	}
	return &steering{Kind: kind, Rules: m.Proposal}, nil
}

// first is what the ledger of revisions or attempts begins with.
func (st *steering) first() int64 {
	if st != nil && st.Kind == ReviewProposal {
		return 1
	}
	return 0
}

// guidance is in the system prompt of a run under review.
func (st *steering) guidance() string {
	switch {
	case st == nil:
		return ""
	case st.Kind == ReviewProposal:
		return makerGuidance + described(st.Rules)
	}
	return planGuidance + "\n"
}

// notYet is told to a model that goes on before it may.
const notYet = "Nothing was approved yet: only tools that read run before. Describe this step in what you propose."

const (
	eqlSpent = `MATCH (r:Run {id: $id}) RETURN r.revisions AS revisions`
	// Asking for something else is written down before it is done.
	eqlSpend   = `MATCH (r:Run {id: $id}) WHERE r.revisions = $spent SET r.revisions = r.revisions + 1 RETURN r.revisions AS revisions`
	eqlOffered = `MATCH (r:Run {id: $run}) MERGE (c:Candidate {id: $candidate})
ON CREATE SET c.task = $task, c.text = $text, c.kind = $kind, c.created_at = $now
CREATE (r)-[:REVIEWED]->(v:Review {id: $id, call_id: $call, kind: $kind, number: $number, text: $text, status: 'asked', created_at: $now}), (v)-[:ABOUT]->(c)
MERGE (r)-[:MADE]->(c)
RETURN v.id AS id`
	eqlDecided = `MATCH (v:Review {id: $id}) SET v.status = $status, v.words = $words, v.decided_at = $now RETURN v.id AS id`
	eqlUnsaid  = `MATCH (r:Run {id: $run})-[:REVIEWED]->(v:Review) REMOVE v.words RETURN count(v) AS n`
	eqlReviews = `MATCH (c:Conversation)-[:HAS_RUN]->(r:Run) WHERE r.status = 'pending' AND r.review IS NOT NULL AND coalesce(c.status, '') <> 'forgotten' AND ($owner IS NULL OR c.owner = $owner)
RETURN r.conversation AS conversation, r.id AS id, r.state AS state, [r.suspended_at.epochSeconds, r.suspended_at.nanosecond] AS since ORDER BY r.suspended_at, id`
)

// spent is how many revisions or attempts a run has used, as the ledger has it.
func (b *Bridge) spent(ctx context.Context, run string) (int, error) {
	row, err := b.one(ctx, "the run "+run, eqlSpent, map[string]any{"id": run})
	if err != nil {
		return 0, err
	}
	n, ok := row[0].(int64)
	if !ok || n < 0 {
		return 0, errLedger
	}
	return int(n), nil
}

// spend writes down one more revision or attempt. Past the limit it is a typed stop.
func (b *Bridge) spend(ctx context.Context, s *state, kind string, limit int) error {
	n, err := b.spent(ctx, s.ID)
	if err != nil {
		return err
	}
	if n >= limit {
		return &stopped{Failure{
			Kind: "ceiling", Text: fmt.Sprintf("the limit of %d %s is met: this would be %d; nothing was approved", limit, kind, n+1),
			Ceiling: &Ceiling{kind, limit, n + 1},
		}}
	}
	_, err = b.one(ctx, "the ledger", eqlSpend, map[string]any{"id": s.ID, "spent": int64(n)})
	return err
}

// offer makes what a person has to decide about and suspends the run for it. It is
// written down first.
func (b *Bridge) offer(ctx context.Context, s *state, shown, candidate string, limit int) error {
	st := s.Steering
	n, err := b.spent(ctx, s.ID)
	if err != nil {
		return err
	}
	st.Number++
	st.Text, st.Candidate = shown, candidate
	call := fmt.Sprintf("%s-%s-%d", st.Kind, s.ID, st.Number)
	if _, err := b.one(ctx, "the review", eqlOffered, map[string]any{
		"run": s.ID, "candidate": candidate, "task": s.Prompt, "text": shown, "kind": st.Kind, "id": reviewNode(s), "call": call, "number": int64(st.Number), "now": b.o.Now(),
	}); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(call + "\x00" + shown))
	s.Pending = &Pending{
		CallID: call, ToolName: st.Kind, ToolInput: "", Shown: box.Visible(shown), RiskTier: "review", Digest: hex.EncodeToString(sum[:]),
		Review: &Review{Kind: st.Kind, Number: st.Number, Left: max(limit-n, 0), Candidate: candidate, Rulings: st.Rulings},
	}
	return errSuspended
}

// reviewNode is the id of the node of the newest review.
func reviewNode(s *state) string { return fmt.Sprintf("%s/review/%d", s.ID, s.Steering.Number) }

// reviewed puts a person's decision into a run that waits for it. Only a plain approval
// is one; words ask for something else; neither is refused, and the run waits on.
func (b *Bridge) reviewed(ctx context.Context, s *state, a Answer) error {
	if s.Steering == nil || s.Pending.CallID != a.CallID {
		return fmt.Errorf("the suspended run %s cannot be read", s.ID)
	}
	p := b.provider(s)
	words := strings.TrimSpace(a.Words)
	switch {
	case p == nil:
		return refuse("invalid", "the run was suspended on the provider %s (%s), which is not configured now", s.Provider, s.Wire)
	case a.Result != nil || a.Remember != "":
		return refuse("invalid", "a %s is approved, or something else is asked for in words", s.Steering.Kind)
	case a.Approve && words != "":
		return refuse("invalid", "an approval with words is none: approve the %s as it is, or say what to change", s.Steering.Kind)
	case !a.Approve && words == "":
		return refuse("invalid", "nothing was said: approve the %s, say what to change, or cancel it", s.Steering.Kind)
	case a.Digest != "" && a.Digest != s.Pending.Digest:
		return refuse("changed", "the %s is not the one that was shown: look at it again", s.Steering.Kind)
	}
	decide := b.revise
	if a.Approve {
		decide = b.approve
	}
	if err := decide(ctx, s, p, a.Words); err != nil {
		return err
	}
	s.Pending, s.Texts = nil, nil
	return nil
}

// decided writes down what a person decided.
func (b *Bridge) decided(ctx context.Context, s *state, status, words string) error {
	params := map[string]any{"id": reviewNode(s), "status": status, "words": nil, "now": b.o.Now()}
	if words != "" {
		params["words"] = words
	}
	_, err := b.one(ctx, "the review", eqlDecided, params)
	return err
}

// unsay forgets what a person said in the reviews of a run, of which a hard bell leaves
// only its event.
func (b *Bridge) unsay(ctx context.Context, s *state) {
	if s.Steering == nil {
		return
	}
	after, cancel := afterwards(ctx)
	defer cancel()
	if _, err := b.o.Memory.Query(after, eqlUnsaid, map[string]any{"run": s.ID}); err != nil {
		b.o.Log.Error("words of a review were not forgotten", "run", s.ID)
	}
}

// Reviews are the reviews that wait in the conversations of an owner, or in all where it
// is empty, the longest first.
func (b *Bridge) Reviews(ctx context.Context, owner string) ([]PendingReview, error) {
	res, err := b.o.Memory.Read(ctx, eqlReviews, map[string]any{"owner": orNil(owner)})
	if err != nil {
		return nil, err
	}
	var out []PendingReview
	for _, row := range res.Rows {
		var s state
		if err := json.Unmarshal([]byte(text(row[2])), &s); err != nil || s.Pending == nil || s.Pending.Review == nil {
			return nil, fmt.Errorf("the suspended run %s cannot be read", text(row[1]))
		}
		n, err := b.spent(ctx, s.ID)
		if err != nil {
			return nil, err
		}
		s.Pending.Review.Left = max(b.limit(s.Steering.Kind)-n, 0)
		if s.Pending.Review.Verdict, err = b.promoted(ctx, s.Pending.Review.Candidate); err != nil {
			return nil, err
		}
		out = append(out, PendingReview{Conversation: text(row[0]), Run: text(row[1]), Since: moment(row[3]), Pending: *s.Pending})
	}
	return out, nil
}

// shown is a pending call as it is shown: a review with the verdict on the same
// candidate, which is read anew, so that no other node keeps a copy of it.
func (b *Bridge) shown(ctx context.Context, p *Pending) (*Pending, error) {
	if p == nil || p.Review == nil {
		return p, nil
	}
	v, err := b.promoted(ctx, p.Review.Candidate)
	if err != nil {
		return nil, err
	}
	whole, review := *p, *p.Review
	review.Verdict = v
	whole.Review = &review
	return &whole, nil
}

// limit is how often something else can be asked for in a run.
func (b *Bridge) limit(kind string) int {
	if kind == ReviewProposal {
		return b.o.Limits.Attempts
	}
	return b.o.Limits.Revisions
}

// propose takes a reply that ends as what is proposed. It suspends the run for a person,
// or returns nil when the model is to go on, or when s.instead is the answer.
func (b *Bridge) propose(ctx context.Context, run *Run, s *state, reply *wire.Reply) error {
	if s.Steering.Kind == ReviewProposal {
		return b.proposal(ctx, run, s, reply)
	}
	return b.plan(ctx, s, reply)
}
