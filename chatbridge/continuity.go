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
	"unicode"
)

//go:embed continuity.json
var defaultContinuity []byte

// DefaultContinuity is the file of statuses and registers that is built in, to begin one
// of one's own with.
func DefaultContinuity() []byte { return bytes.Clone(defaultContinuity) }

// When a status is a conversation's.
const (
	whenPhrase = "phrase" // the message has one of its phrases
	whenFirst  = "first"  // nothing was answered before
	whenPause  = "pause"  // what was last recorded is older than the pause
)

// continuityFile is what the status and the register of a conversation are told by.
type continuityFile struct {
	PauseHours int `json:"pause_hours"`
	// Statuses in the order they are looked at; the last one is always.
	Statuses []manner
	// Registers are told by their phrases; the first one has none, and is a
	// conversation's until it has another.
	Registers []manner
}

type manner struct {
	Name, When, Note string
	Phrases          []string
}

func parseContinuity(file []byte) (*continuityFile, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var f continuityFile
	if err := d.Decode(&f); err != nil {
		return nil, errors.New("it is no JSON object of pause_hours, statuses and registers")
	}
	if f.PauseHours < 1 || f.PauseHours > 8760 || len(f.Statuses) == 0 || len(f.Registers) == 0 {
		return nil, errors.New("pause_hours of 1 to 8760, statuses and registers must be there")
	}
	for i := range f.Statuses {
		s, last := &f.Statuses[i], i == len(f.Statuses)-1
		switch s.When {
		case whenPhrase, whenFirst, whenPause, whenAlways:
		default:
			return nil, fmt.Errorf("status %d: when is phrase, first, pause or always", i+1)
		}
		if (s.When == whenAlways) != last {
			return nil, fmt.Errorf("status %d: the last one is always, and no other", i+1)
		}
		if err := s.check(s.When == whenPhrase); err != nil {
			return nil, fmt.Errorf("status %d: %w", i+1, err)
		}
	}
	for i := range f.Registers {
		if err := f.Registers[i].check(i > 0); err != nil {
			return nil, fmt.Errorf("register %d: %w", i+1, err)
		}
	}
	return &f, nil
}

// check makes the phrases of a manner as they are compared.
func (m *manner) check(phrases bool) error {
	if m.Name == "" || strings.TrimSpace(m.Note) == "" || (len(m.Phrases) > 0) != phrases {
		return errors.New("it needs a name and a note, and phrases only where it is told by them")
	}
	m.Note = strings.Join(strings.Fields(m.Note), " ")
	for i, p := range m.Phrases {
		if m.Phrases[i] = spaced(p); m.Phrases[i] == " " {
			return fmt.Errorf("phrase %d has no word", i+1)
		}
	}
	return nil
}

// said is how many of the phrases are in a text that is spaced.
func (m *manner) said(text string) int {
	n := 0
	for _, p := range m.Phrases {
		if strings.Contains(text, p) {
			n++
		}
	}
	return n
}

// spaced is a text as whole words are looked for in it: folded, with a space around each
// word and nothing else.
func spaced(text string) string {
	words := strings.FieldsFunc(folded(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' })
	return " " + strings.Join(append(words, ""), " ")
}

// status is the first one that fits.
func (f *continuityFile) status(text string, first, paused bool) *manner {
	for i := range f.Statuses {
		s := &f.Statuses[i]
		if s.When == whenAlways || s.When == whenFirst && first || s.When == whenPause && paused || s.When == whenPhrase && s.said(text) > 0 {
			return s
		}
	}
	return &f.Statuses[len(f.Statuses)-1]
}

// register is the one with most phrases in a text, the earlier one of equals; without
// any the one that the conversation has.
func (f *continuityFile) register(text, has string) *manner {
	best, most := &f.Registers[0], 0
	for i := range f.Registers {
		r := &f.Registers[i]
		if n := r.said(text); n > most {
			best, most = r, n
		} else if most == 0 && r.Name == has {
			best = r
		}
	}
	return best
}

const (
	eqlContinuity = `MATCH (c:Conversation {id: $id}) RETURN c.continuity AS status, c.register AS register,
COLLECT { MATCH (c)-[:CONTAINS]->(t:Turn) RETURN t.created_at.epochSeconds ORDER BY t.number DESC LIMIT 1 } AS last`
	eqlContinue = `MATCH (c:Conversation {id: $id}) SET c.continuity = $status, c.register = $register RETURN c.id AS id`
)

// continuity keeps the status and the register of a conversation, and tells them in one
// line.
func (b *Bridge) continuity(ctx context.Context, s *state) (string, error) {
	res, err := b.o.Memory.Read(ctx, eqlContinuity, map[string]any{"id": s.Conversation})
	if err != nil {
		return "", err
	}
	had, has, first, paused := "", "", true, false
	if len(res.Rows) > 0 {
		row := res.Rows[0]
		had, has = text(row[0]), text(row[1])
		if last, _ := row[2].([]any); len(last) > 0 {
			at, _ := last[0].(int64)
			first, paused = false, b.o.Now().Sub(time.Unix(at, 0)) >= time.Duration(b.manners.PauseHours)*time.Hour
		}
	}
	said := spaced(s.Prompt)
	status, register := b.manners.status(said, first, paused), b.manners.register(said, has)
	if had != status.Name || has != register.Name {
		if _, err := b.one(ctx, "the conversation", eqlContinue, map[string]any{"id": s.Conversation, "status": status.Name, "register": register.Name}); err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("The conversation is %s: %s Its register is %s: %s\n", status.Name, status.Note, register.Name, register.Note), nil
}
