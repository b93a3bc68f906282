package chatbridge

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

//go:embed phrases.json
var defaultPhrases []byte

// DefaultPhrases is the phrase file that is built in, to begin one of one's own with.
func DefaultPhrases() []byte { return bytes.Clone(defaultPhrases) }

// phraseFile is what distress is told by.
type phraseFile struct {
	// Soft and Hard are the scores from which a bell rings.
	Soft, Hard int
	Guidance   string // for the model, with a soft bell
	Message    string // for the person, with a hard one: no model is asked
	Phrases    []struct {
		Text   string
		Weight int
	}
}

func parsePhrases(file []byte) (*phraseFile, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var p phraseFile
	if err := d.Decode(&p); err != nil {
		return nil, errors.New("it is no JSON object of soft, hard, guidance, message and phrases")
	}
	if p.Soft <= 0 || p.Hard <= p.Soft || p.Guidance == "" || p.Message == "" || len(p.Phrases) == 0 {
		return nil, errors.New("soft, a greater hard, guidance, message and phrases must be there")
	}
	for i := range p.Phrases {
		if p.Phrases[i].Text = folded(p.Phrases[i].Text); p.Phrases[i].Text == "" || p.Phrases[i].Weight <= 0 {
			return nil, fmt.Errorf("phrase %d: it needs a text and a weight above 0", i+1)
		}
	}
	return &p, nil
}

// readSafety reads what the layers around a model go by. Without all of it there is no
// chat.
func (b *Bridge) readSafety(o Options) (err error) {
	if o.Phrases == nil {
		o.Phrases = defaultPhrases
	}
	if o.Validation == nil {
		o.Validation = defaultValidation
	}
	if b.phrases, err = parsePhrases(o.Phrases); err != nil {
		return fmt.Errorf("the phrase file cannot be read: %w", err)
	}
	if b.rules, err = parseValidation(o.Validation); err != nil {
		return fmt.Errorf("the rule file for replies cannot be read: %w", err)
	}
	if o.Continuity == nil {
		o.Continuity = defaultContinuity
	}
	if b.manners, err = parseContinuity(o.Continuity); err != nil {
		return fmt.Errorf("the file of statuses and registers cannot be read: %w", err)
	}
	if o.Steward == nil {
		o.Steward = defaultSteward
	}
	if b.notes, err = parseSteward(o.Steward); err != nil {
		return fmt.Errorf("the file of notes and good news cannot be read: %w", err)
	}
	return nil
}

// folded is a text as phrases are compared: small letters, plain apostrophes, single
// spaces.
func folded(text string) string {
	text = strings.NewReplacer("\u2019", "'", "\u2018", "'", "\u02bc", "'", "\u00b4", "'", "`", "'").Replace(strings.ToLower(text))
	return strings.Join(strings.Fields(text), " ")
}

// score is the sum of the weights of the phrases in a text, each counted once.
func (p *phraseFile) score(text string) int {
	text = folded(text)
	n := 0
	for _, ph := range p.Phrases {
		if strings.Contains(text, ph.Text) {
			n += ph.Weight
		}
	}
	return n
}

// Kinds of bells.
const (
	bellSoft = "soft"
	bellHard = "hard"
)

// bellTime is how long a bell colours what is said next.
const bellTime = 72 * time.Hour

const (
	eqlBell = `MATCH (c:Conversation {id: $conversation})
CREATE (c)-[:RANG]->(b:BellEvent {id: $id, kind: $kind, score: $score, conversation: $conversation, created_at: $now}) RETURN b.id AS id`
	eqlRang = `MATCH (c:Conversation {id: $conversation})-[:RANG]->(b:BellEvent) WHERE b.created_at >= $since AND b.id <> $id RETURN count(b) AS bells`
)

// screen is the one way of a person's words to a model: it scores them together with a
// third of what the window of the conversation scores. A hard bell comes back as the
// message that is the answer.
func (b *Bridge) screen(ctx context.Context, s *state, words string) (message string, err error) {
	if words == "" {
		return "", nil
	}
	window, err := b.window(ctx, s.Conversation)
	if err != nil {
		return "", err
	}
	said := make([]string, 0, len(window))
	for _, t := range window {
		if t.Role == "user" {
			said = append(said, t.Text)
		}
	}
	score := b.phrases.score(words) + b.phrases.score(strings.Join(said, "\n"))/3
	now := b.o.Now()
	bell := map[string]any{"conversation": s.Conversation, "id": fmt.Sprintf("%s/bell/%d", s.ID, len(s.Used)), "score": int64(score), "now": now}
	switch {
	case score >= b.phrases.Hard:
		bell["kind"] = bellHard
	case score >= b.phrases.Soft:
		bell["kind"] = bellSoft
	}
	if bell["kind"] != nil {
		if _, err := b.o.Memory.Query(ctx, eqlBell, bell); err != nil {
			b.o.Log.Error("a bell was not stored", "run", s.ID) // the answer matters more
		}
	}
	if bell["kind"] == bellHard {
		return b.phrases.Message, nil
	}
	res, err := b.o.Memory.Read(ctx, eqlRang, map[string]any{"conversation": s.Conversation, "since": now.Add(-bellTime), "id": bell["id"]})
	if err != nil {
		return "", err
	}
	earlier := int64(0)
	if len(res.Rows) > 0 {
		earlier, _ = res.Rows[0][0].(int64)
	}
	s.Rang = s.Rang || bell["kind"] == bellSoft
	if bell["kind"] == bellSoft || earlier > 0 {
		given := s.Bell // the text does not tell: an imprint may say the same
		s.Guidance, s.Bell = b.phrases.Guidance, true
		if s.Messages != nil && !given { // the run began before
			s.System += "\n" + s.Guidance
		}
	}
	return "", nil
}

// unsaid takes the words that rang a hard bell out of the call that they answered: the
// answer stands, the words are kept nowhere.
func (b *Bridge) unsaid(ctx context.Context, run *Run, s *state) error {
	if s.Recorded <= len(s.Results) {
		return nil // they answered no call
	}
	used := &s.Used[len(s.Used)-1]
	if used.Result = "The result of the client was not kept."; used.Status == "denied" {
		used.Result = denied
	}
	return b.answered(ctx, run, s, used)
}
