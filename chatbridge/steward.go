package chatbridge

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"engram/chatbridge/internal/box"
)

//go:embed steward.json
var defaultSteward []byte

// DefaultSteward is the file of notes and good news that is built in, to begin one of
// one's own with.
func DefaultSteward() []byte { return bytes.Clone(defaultSteward) }

// stewardFile is what the steward says, and tells good news by.
type stewardFile struct {
	On, Aside     string // of a message and the mission
	Distress, Joy string
	JoyAfter      string   `json:"joy_after"` // of joy where there is distress
	Common        []string // words that say nothing of what a text is about
	Negations     []string // words before a phrase that make it no news
	GoodNews      []struct {
		Kind    string
		Phrases []string
	} `json:"good_news"`
}

func parseSteward(file []byte) (*stewardFile, error) {
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	var f stewardFile
	if err := d.Decode(&f); err != nil {
		return nil, errors.New("it is no JSON object of on, aside, distress, joy, joy_after, common, negations and good_news")
	}
	for _, note := range []*string{&f.On, &f.Aside, &f.Distress, &f.Joy, &f.JoyAfter} {
		if *note = strings.Join(strings.Fields(*note), " "); *note == "" {
			return nil, errors.New("on, aside, distress, joy and joy_after must be there")
		}
	}
	for _, list := range [][]string{f.Common, f.Negations} {
		for i := range list {
			list[i] = strings.TrimSpace(spaced(list[i]))
		}
	}
	for i := range f.GoodNews {
		g := &f.GoodNews[i]
		if g.Kind == "" || len(g.Phrases) == 0 {
			return nil, fmt.Errorf("good news %d: it needs a kind and phrases", i+1)
		}
		for j, p := range g.Phrases {
			if g.Phrases[j] = spaced(p); g.Phrases[j] == " " {
				return nil, fmt.Errorf("good news %d: phrase %d has no word", i+1, j+1)
			}
		}
	}
	return &f, nil
}

// news is the kind of the good news in a text that is spaced; empty: there is none.
func (f *stewardFile) news(text string) string {
	for _, g := range f.GoodNews {
		for _, p := range g.Phrases {
			for at := 0; ; {
				i := strings.Index(text[at:], p)
				if i < 0 {
					break
				}
				if !f.negated(text[:at+i]) {
					return g.Kind
				}
				at += i + 1
			}
		}
	}
	return ""
}

// negated tells whether one of the last three words before a phrase takes it back.
func (f *stewardFile) negated(before string) bool {
	words := strings.Fields(before)
	return slices.ContainsFunc(words[max(0, len(words)-3):], func(w string) bool { return slices.Contains(f.Negations, w) })
}

// subjects are the words that say what a text is about, by their first letters, so that
// endings do not matter.
func (f *stewardFile) subjects(text string) []string {
	var out []string
	for _, w := range strings.Fields(spaced(text)) {
		if utf8.RuneCountInString(w) >= 4 && !slices.Contains(f.Common, w) {
			out = append(out, string([]rune(w)[:min(5, utf8.RuneCountInString(w))]))
		}
	}
	return out
}

// touches tells whether a message is about the mission. One that names no subject, such
// as "yes, go on", is.
func (f *stewardFile) touches(mission, message string) bool {
	about, said := f.subjects(mission), f.subjects(message)
	if len(said) == 0 {
		return true
	}
	for _, w := range said {
		if slices.ContainsFunc(about, func(a string) bool { return strings.HasPrefix(a, w) || strings.HasPrefix(w, a) }) {
			return true
		}
	}
	return false
}

const (
	// maxMission bounds a mission that a person sets, cutMission what a first message
	// gives, in bytes.
	maxMission = 1000
	cutMission = 350

	eqlMissionIs = `MATCH (c:Conversation {id: $id}) RETURN c.mission AS mission, COUNT { (c)-[:CONTAINS]->(:Turn) } AS turns,
COUNT { MATCH (c)-[:BROUGHT]->(p:PositiveEvent) WHERE p.created_at >= $since } AS good`
	eqlMission = `MATCH (c:Conversation {id: $id}) WHERE c.mission IS NULL SET c.mission = $mission, c.mission_origin = $origin RETURN c.id AS id`
	eqlGood    = `MATCH (c:Conversation {id: $conversation})
CREATE (c)-[:BROUGHT]->(p:PositiveEvent {id: $id, kind: $kind, conversation: $conversation, created_at: $now}) RETURN p.id AS id`
)

// stewardship is what memory holds for the steward.
type stewardship struct {
	mission     string
	turns, good int64
}

func (b *Bridge) stewardship(ctx context.Context, conversation string) (st stewardship, err error) {
	res, err := b.o.Memory.Read(ctx, eqlMissionIs, map[string]any{"id": conversation, "since": b.o.Now().Add(-bellTime)})
	if err == nil && len(res.Rows) > 0 {
		row := res.Rows[0]
		st.mission = text(row[0])
		st.turns, _ = row[1].(int64)
		st.good, _ = row[2].(int64)
	}
	return st, err
}

// setOut takes the mission that comes with a message: only the beginning of a
// conversation sets it. It is screened with the message.
func (b *Bridge) setOut(ctx context.Context, s *state) error {
	if s.Mission == "" {
		return nil
	}
	if len(s.Mission) > maxMission || strings.TrimSpace(s.Mission) == "" {
		return refuse("invalid", "a mission has 1 to %d bytes, not only spaces", maxMission)
	}
	st, err := b.stewardship(ctx, s.Conversation)
	switch {
	case err != nil:
		return err
	case st.mission == s.Mission:
		s.Mission = ""
	case st.mission != "" || st.turns > 0:
		return refuse("invalid", "the mission of a conversation is set where it begins: begin another one")
	default:
		s.Said = s.Mission + "\n" + s.Said
	}
	return nil
}

// steward aligns a message with the mission of its conversation, and says what of joy
// and distress is to be heeded, distress first.
func (b *Bridge) steward(ctx context.Context, s *state) (string, error) {
	st, err := b.stewardship(ctx, s.Conversation)
	if err != nil {
		return "", err
	}
	distress := s.Bell || b.phrases.score(s.Prompt) > 0
	mission, origin := s.Mission, "user"
	if mission == "" && !distress && st.turns == 0 {
		mission, origin = box.Cut(strings.TrimSpace(s.Prompt), cutMission), "message"
	}
	out := ""
	if st.mission == "" && mission != "" {
		if _, err := b.one(ctx, "the mission", eqlMission, map[string]any{"id": s.Conversation, "mission": mission, "origin": origin}); err != nil {
			return "", err
		}
		if origin == "user" {
			st.mission = mission
		}
	}
	if st.mission != "" {
		note := b.notes.Aside
		if b.notes.touches(st.mission, s.Prompt) {
			note = b.notes.On
		}
		out = fmt.Sprintf("The mission of the conversation, as the person put it: %s %s\n", encoded(st.mission), note)
	}
	kind := b.notes.news(spaced(s.Prompt))
	if kind != "" {
		if _, err := b.one(ctx, "the good news", eqlGood, map[string]any{
			"conversation": s.Conversation, "id": s.ID + "/good", "kind": kind, "now": b.o.Now(),
		}); err != nil {
			return "", err
		}
	}
	return out + b.notes.affect(distress, kind != "" || st.good > 0), nil
}

func (f *stewardFile) affect(distress, joy bool) string {
	switch {
	case distress && joy:
		return f.Distress + "\n" + f.JoyAfter + "\n"
	case distress:
		return f.Distress + "\n"
	case joy:
		return f.Joy + "\n"
	}
	return ""
}
