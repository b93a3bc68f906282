package chatbridge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"engram/chatbridge/internal/box"
)

// Decisions of a verdict. There is no default.
const (
	VerdictApproved = "approved"
	VerdictRejected = "rejected"
)

// verdictsRefused is how the refusal of what asks for verdicts is told, also by memory.
const verdictsRefused = "verdicts are a class of their own"

// refusedClass is what a call was refused for, as the trace of it keeps: nil for nothing.
func refusedClass(u *Used) any {
	if u.Status == "failed" && strings.Contains(u.Result, verdictsRefused) {
		return "verdicts"
	}
	return nil
}

// Verdict is what a person judged of an outcome.
type Verdict struct {
	// Candidate is the key of what was judged.
	Candidate string `json:"candidate"`
	// Decision is approved or rejected, Reason the person's own words.
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
	// Promoted: it is in canonical memory, and recalled where the candidate, or its task,
	// comes again. Only an approval is, and only the newest verdict on a candidate.
	Promoted bool      `json:"promoted"`
	At       time.Time `json:"at"`
	// Task and Outcome that were judged.
	Task    string `json:"task"`
	Outcome string `json:"outcome"`
}

func (v *Verdict) words() string {
	return fmt.Sprintf("%s: %s (%s)", v.Decision, v.Reason, v.At.UTC().Format("2 January 2006"))
}

// Judgement is a verdict that is given.
type Judgement struct {
	// Candidate is a key that a review told. Or Run is a run whose answer is judged.
	Candidate, Run string
	// Decision is VerdictApproved or VerdictRejected, Reason says why. Both have to be
	// there: half a verdict is refused.
	Decision, Reason string
	// Owner judges only what came of conversations that are this one's: see Bridge.Owner.
	// Empty: whatever there is.
	Owner string
}

// Candidate is an outcome that can be judged.
type Candidate struct {
	Key     string    `json:"key"`
	Kind    string    `json:"kind"` // plan, proposal or answer
	Task    string    `json:"task"`
	Outcome string    `json:"outcome"`
	At      time.Time `json:"at"`
	// Verdicts on it, of which the newest stands; 0: it was not judged.
	Verdicts int `json:"verdicts"`
}

// CandidateKey is the key of an outcome of a task. It is made of both, so that a verdict
// can be given later, and found when the same comes again: letters' case and white space
// make no difference. It begins with the key of the task.
func CandidateKey(task, outcome string) string { return taskKey(task) + "-" + hashed(outcome) }

func taskKey(task string) string { return "cand-" + hashed(task) }

func hashed(text string) string {
	sum := sha256.Sum256([]byte(folded(text)))
	return hex.EncodeToString(sum[:12])
}

// madeForOwner tells of a candidate c that a conversation of an owner made it.
const madeForOwner = `EXISTS { MATCH (k:Conversation)-[:HAS_RUN]->(:Run)-[:MADE]->(c) WHERE k.owner = $owner }`

const (
	eqlMade     = `MATCH (c:Candidate {id: $candidate}) WHERE ` + madeForOwner + ` RETURN c.id AS id`
	eqlRan      = `MATCH (k:Conversation)-[:HAS_RUN]->(r:Run {id: $run}) WHERE k.owner = $owner RETURN r.id AS id`
	eqlAnswerOf = `MATCH (u:Turn)-[:TEMPORALLY_PRECEDES]->(a:Turn {role: 'assistant'})-[:PRODUCED_BY]->(r:Run {id: $run}) RETURN u.text AS task, a.text AS outcome LIMIT 1`
	eqlDerived  = `MATCH (r:Run {id: $run}) MERGE (c:Candidate {id: $candidate}) ON CREATE SET c.task = $task, c.text = $text, c.kind = 'answer', c.created_at = $now MERGE (r)-[:MADE]->(c) RETURN c.id AS id`
	// The newest verdict on a candidate stands: older ones are no canonical memory any more.
	eqlJudge = `MATCH (c:Candidate {id: $candidate}) OPTIONAL MATCH (o:Verdict {candidate: $candidate})
SET o.promoted = false REMOVE o.tier WITH c, count(o) AS earlier
CREATE (v:Verdict {id: 'verdict/' + $candidate + '/' + toString(earlier + 1), candidate: $candidate, about: $about, decision: $decision, reason: $reason,
 content: $reason, promoted: $promoted, tier: CASE WHEN $promoted THEN 'Canonical' ELSE null END, number: earlier + 1, origin: 'user', owner: $owner, created_at: $now})-[:JUDGES]->(c)
RETURN v.id AS id, c.task AS task, c.text AS outcome`
	verdictColumns     = ` RETURN v.candidate AS candidate, v.decision AS decision, v.reason AS reason, v.promoted AS promoted, [v.created_at.epochSeconds, v.created_at.nanosecond] AS at, c.task AS task, c.text AS outcome `
	eqlPromoted        = `MATCH (v:Verdict {candidate: $candidate})-[:JUDGES]->(c:Candidate) WHERE v.promoted AND v.decision = 'approved'` + verdictColumns + `ORDER BY v.number DESC LIMIT 1`
	eqlOnTask          = `MATCH (v:Verdict {about: $about})-[:JUDGES]->(c:Candidate) WHERE v.promoted AND v.decision = 'approved'` + verdictColumns + `ORDER BY at DESC, candidate LIMIT 3`
	eqlVerdicts        = `MATCH (v:Verdict)-[:JUDGES]->(c:Candidate) WHERE ($candidate IS NULL OR v.candidate = $candidate) AND ($owner IS NULL OR v.owner = $owner)` + verdictColumns + `ORDER BY at DESC, candidate, v.number DESC LIMIT $limit`
	eqlPurgeCandidates = `MATCH (:Conversation {id: $id})-[:HAS_RUN]->(:Run)-[:MADE]->(c:Candidate)
WITH DISTINCT c WHERE NOT EXISTS { (:Verdict)-[:JUDGES]->(c) } AND NOT EXISTS { MATCH (c)<-[:MADE]-(r:Run) WHERE r.conversation <> $id }
DETACH DELETE c RETURN count(c) AS n`
	eqlCandidates = `MATCH (c:Candidate) WHERE $owner IS NULL OR ` + madeForOwner + `
OPTIONAL MATCH (v:Verdict)-[:JUDGES]->(c) WHERE $owner IS NULL OR v.owner = $owner
RETURN c.id AS id, c.kind AS kind, c.task AS task, c.text AS outcome, [c.created_at.epochSeconds, c.created_at.nanosecond] AS at, count(v) AS verdicts ORDER BY at DESC, id LIMIT $limit`
)

// purgeCandidates deletes what only the runs of a conversation made and nobody judged.
func (b *Bridge) purgeCandidates(ctx context.Context, conversation string) (int, error) {
	row, err := b.one(door(ctx), "the candidates", eqlPurgeCandidates, map[string]any{"id": conversation})
	if err != nil {
		return 0, err
	}
	n, ok := row[0].(int64)
	if !ok {
		return 0, errors.New("how much was deleted cannot be read")
	}
	return int(n), nil
}

type doorKey struct{}

// ThroughVerdictDoor tells whether a statement comes from the one place that may read and
// write verdicts. A Querier refuses the class of the label Verdict to all others.
func ThroughVerdictDoor(ctx context.Context) bool { return ctx.Value(doorKey{}) != nil }

func door(ctx context.Context) context.Context { return context.WithValue(ctx, doorKey{}, true) }

type modelKey struct{}

// Without are the labels that a statement does not see: for what a model asks, those of
// conversations, since no conversation sees another's turns. A Querier makes their nodes as
// if they were not there.
func Without(ctx context.Context) []string {
	if ctx.Value(modelKey{}) == nil {
		return nil
	}
	return strings.Split(ofConversations, "|")
}

// asModel makes the context of a statement of the model.
func asModel(ctx context.Context) context.Context { return context.WithValue(ctx, modelKey{}, true) }

// Judge keeps a person's verdict. An approval is promoted into canonical memory.
func (b *Bridge) Judge(ctx context.Context, j Judgement) (*Verdict, error) {
	switch {
	case j.Decision == "" || strings.TrimSpace(j.Reason) == "":
		return nil, refuse("invalid", "half a verdict is none: it needs a decision, approved or rejected, and a reason")
	case j.Decision != VerdictApproved && j.Decision != VerdictRejected:
		return nil, refuse("invalid", "a decision is approved or rejected, not %q", box.Visible(j.Decision))
	case (j.Candidate == "") == (j.Run == ""):
		return nil, refuse("invalid", "a verdict is on a candidate, or on the answer of a run: name one")
	}
	if err := b.mayJudge(ctx, &j); err != nil {
		return nil, err
	}
	if j.Run != "" {
		key, err := b.derive(ctx, j.Run)
		if err != nil {
			return nil, err
		}
		j.Candidate = key
	}
	about, _, ok := cutLast(j.Candidate, "-")
	if !ok {
		about = j.Candidate
	}
	v := &Verdict{Candidate: j.Candidate, Decision: j.Decision, Reason: j.Reason, Promoted: j.Decision == VerdictApproved, At: b.o.Now()}
	res, err := b.o.Memory.Query(door(ctx), eqlJudge, map[string]any{
		"candidate": j.Candidate, "about": about, "decision": v.Decision, "reason": v.Reason, "promoted": v.Promoted, "now": v.At, "owner": orNil(j.Owner),
	})
	if err != nil {
		return nil, fmt.Errorf("the verdict: %w", err)
	}
	if len(res.Rows) == 0 {
		return nil, noCandidate(&j)
	}
	v.Task, v.Outcome = text(res.Rows[0][1]), text(res.Rows[0][2])
	return v, nil
}

// mayJudge refuses what came of no conversation of the owner like what is not there.
func (b *Bridge) mayJudge(ctx context.Context, j *Judgement) error {
	if j.Owner == "" {
		return nil
	}
	statement, params := eqlMade, map[string]any{"candidate": j.Candidate, "owner": j.Owner}
	if j.Run != "" {
		statement, params = eqlRan, map[string]any{"run": j.Run, "owner": j.Owner}
	}
	res, err := b.o.Memory.Read(ctx, statement, params)
	if err == nil && len(res.Rows) == 0 {
		err = noCandidate(j)
	}
	return err
}

func noCandidate(j *Judgement) error {
	if j.Run != "" {
		return refuse("unknown_candidate", "the run %s has no answer that could be judged", box.Visible(j.Run))
	}
	return refuse("unknown_candidate", "there is no candidate %s to judge", box.Visible(j.Candidate))
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// derive makes the candidate of the answer of a run.
func (b *Bridge) derive(ctx context.Context, run string) (string, error) {
	res, err := b.o.Memory.Read(ctx, eqlAnswerOf, map[string]any{"run": run})
	if err != nil {
		return "", err
	}
	if len(res.Rows) == 0 {
		return "", noCandidate(&Judgement{Run: run})
	}
	task, outcome := text(res.Rows[0][0]), text(res.Rows[0][1])
	key := CandidateKey(task, outcome)
	_, err = b.one(ctx, "the candidate", eqlDerived, map[string]any{"run": run, "candidate": key, "task": task, "text": outcome, "now": b.o.Now()})
	return key, err
}

// listed bounds lists of verdicts and candidates.
const listed = 1000

// Verdicts are the verdicts on a candidate, or on all where it is empty, the newest
// first, 1,000 at most: those that an owner gave, or all where that is empty.
func (b *Bridge) Verdicts(ctx context.Context, candidate, owner string) ([]Verdict, error) {
	return b.verdicts(ctx, eqlVerdicts, map[string]any{"candidate": orNil(candidate), "owner": orNil(owner), "limit": int64(listed)})
}

// Candidates are what can be judged, the newest first, 1,000 at most: what came of the
// conversations of an owner, or all where it is empty.
func (b *Bridge) Candidates(ctx context.Context, owner string) ([]Candidate, error) {
	res, err := b.o.Memory.Read(door(ctx), eqlCandidates, map[string]any{"owner": orNil(owner), "limit": int64(listed)})
	if err != nil {
		return nil, err
	}
	out := make([]Candidate, len(res.Rows))
	for i, row := range res.Rows {
		n, _ := row[5].(int64)
		out[i] = Candidate{Key: text(row[0]), Kind: text(row[1]), Task: text(row[2]), Outcome: text(row[3]), At: moment(row[4]), Verdicts: int(n)}
	}
	return out, nil
}

func (b *Bridge) verdicts(ctx context.Context, statement string, params map[string]any) ([]Verdict, error) {
	res, err := b.o.Memory.Read(door(ctx), statement, params)
	if err != nil {
		return nil, fmt.Errorf("verdicts: %w", err)
	}
	out := make([]Verdict, len(res.Rows))
	for i, row := range res.Rows {
		promoted, _ := row[3].(bool)
		out[i] = Verdict{Candidate: text(row[0]), Decision: text(row[1]), Reason: text(row[2]), Promoted: promoted, At: moment(row[4]), Task: text(row[5]), Outcome: text(row[6])}
	}
	return out, nil
}

// promoted is the verdict that was promoted on a candidate; nil: there is none.
func (b *Bridge) promoted(ctx context.Context, candidate string) (*Verdict, error) {
	found, err := b.verdicts(ctx, eqlPromoted, map[string]any{"candidate": candidate})
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// aside recalls what was approved of earlier outcomes of the same task, for the system
// prompt of a run. It is no part of what is stored, so that the door stays the only one.
func (b *Bridge) aside(ctx context.Context, s *state) error {
	found, err := b.verdicts(ctx, eqlOnTask, map[string]any{"about": taskKey(s.Prompt)})
	if err != nil || len(found) == 0 {
		return err
	}
	s.aside = "\nA person judged earlier outcomes of the same task. This is information, never an approval:\n"
	for _, v := range found {
		s.aside += "- " + box.Cut(v.Outcome, cutSnippet) + "\n  " + v.words() + "\n"
	}
	return nil
}

var verdictLabel = regexp.MustCompile(`(?i)(^|[^\pL\pN_])verdicts?($|[^\pL\pN_])`)

// asksForVerdicts tells whether a call of a tool names the class. Memory refuses what
// does not name it and would reach it.
func asksForVerdicts(name string, a arguments) bool {
	switch name {
	case "query":
		return verdictLabel.MatchString(unquoted.ReplaceAllString(a.text("statement"), "''"))
	case "browse":
		section, _, _ := strings.Cut(strings.Trim(a.text("path"), "/ "), "/")
		return strings.EqualFold(section, "Verdict")
	}
	return false
}

// unquoted are the texts within a statement, which name nothing.
var unquoted = regexp.MustCompile(`'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"`)
