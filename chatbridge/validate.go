package chatbridge

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
)

//go:embed validate.json
var defaultValidation []byte

// DefaultValidation is the rule file for replies that is built in, to begin one of one's
// own with.
func DefaultValidation() []byte { return bytes.Clone(defaultValidation) }

// When a rule for replies is looked at.
const (
	whenAlways = "always"
	whenBell   = "bell" // only while a bell rings
)

// replyRules are what a reply of a model must not be, in their order.
type replyRules struct {
	Rules []replyRule
}

type replyRule struct {
	Name string
	When string
	// Any of these texts, or with Empty a reply that says nothing, has Reply take its place.
	Any   []string
	Empty bool
	Reply string
}

func parseValidation(file []byte) (*replyRules, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var r replyRules
	if err := d.Decode(&r); err != nil {
		return nil, errors.New("it is no JSON object of rules, each with name, when, any or empty, and reply")
	}
	if len(r.Rules) == 0 {
		return nil, errors.New("it has no rules")
	}
	for i := range r.Rules {
		rule := &r.Rules[i]
		if rule.When != whenAlways && rule.When != whenBell {
			return nil, fmt.Errorf("rule %d: when is always or bell", i+1)
		}
		if rule.Name == "" || strings.TrimSpace(rule.Reply) == "" || len(rule.Any) == 0 && !rule.Empty {
			return nil, fmt.Errorf("rule %d: it needs a name, a reply, and any or empty", i+1)
		}
		for j := range rule.Any {
			if rule.Any[j] = seen(rule.Any[j]); rule.Any[j] == "" {
				return nil, fmt.Errorf("rule %d: text %d is empty", i+1, j+1)
			}
		}
	}
	return &r, nil
}

// seen is a text as a person reads it: without what is invisible and without marks of
// Markdown, so that neither hides a phrase.
func seen(text string) string {
	return folded(strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) || r == '*' || r == '_' || r == '~' {
			return -1
		}
		return r
	}, text))
}

// broken is the first rule that the raw text of a model breaks, nil if there is none.
func (r *replyRules) broken(raw string, bell bool) *replyRule {
	text, empty := seen(raw), strings.TrimSpace(withoutReceipts(raw)) == ""
	for i := range r.Rules {
		rule := &r.Rules[i]
		if rule.When == whenBell && !bell {
			continue
		}
		if rule.Empty && empty {
			return rule
		}
		for _, phrase := range rule.Any {
			if strings.Contains(text, phrase) {
				return rule
			}
		}
	}
	return nil
}

// validate is the last gate: it gets what a model wrote as it was written, and what it
// returns is what the person gets and what is recorded. Nothing behind it may replace a
// reply. more is what the program adds, where the reply stays.
func (b *Bridge) validate(s *state, raw, more string) (string, error) {
	if rule := b.rules.broken(raw, s.Bell); rule != nil {
		b.o.Log.Warn("a reply was replaced", "run", s.ID, "rule", rule.Name)
		s.instead = rule.Reply
		return rule.Reply, nil
	}
	answer := strings.TrimSpace(withoutReceipts(raw))
	if answer == "" && more == "" {
		return "", fail("empty", "the provider %s answered nothing", s.Provider)
	}
	if more != "" {
		answer = strings.TrimSpace(answer + "\n\n" + more)
	}
	return answer, nil
}

// narration is what a model said before it called a tool, for the one who is asked about
// the call.
func (b *Bridge) narration(s *state, raw string) string {
	if b.rules.broken(raw, s.Bell) != nil {
		return ""
	}
	return withoutReceipts(raw)
}

// settle makes the deltas of a run fit its validated text: those of a reply that was
// replaced are taken back, and those that a bell held are given now.
func (b *Bridge) settle(run *Run, s *state, reply string) {
	if s.instead != "" {
		run.withdraw()
	}
	if s.Bell && !run.said() {
		run.emit(Event{Type: EventDelta, Text: reply})
	}
}

// withdraw empties the deltas so far. Their numbers stay.
func (r *Run) withdraw() {
	r.mu.Lock()
	defer r.mu.Unlock()
	events := append([]Event{}, r.events...) // readers keep slices of the old ones
	for i := range events {
		if events[i].Type == EventDelta {
			events[i].Text = ""
		}
	}
	r.events = events
}

// said tells whether a delta with a text was given.
func (r *Run) said() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.events {
		if e.Type == EventDelta && e.Text != "" {
			return true
		}
	}
	return false
}
