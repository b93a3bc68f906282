package chatbridge_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"engram/chatbridge"
)

// Beginnings of what the steward tells, in the file that is built in.
const (
	missionLine  = "The mission of the conversation, as the person put it: "
	onMission    = "The message is about the mission"
	asideMission = "The message does not touch the mission"
	hurtsFirst   = "What hurts comes first"
	beGlad       = "The person had good news: "
	joyAfter     = "The person had good news as well: "
)

// says holds what the model was told last, in this order, and what not.
func (w *world) says(what string, want, not []string) {
	w.t.Helper()
	at, told := 0, w.told()
	for _, s := range want {
		i := strings.Index(told[at:], s)
		if i < 0 {
			w.t.Errorf("%s: %q is missing, or not where it should be, in %q", what, s, told)
			return
		}
		at += i + len(s)
	}
	for _, s := range not {
		if strings.Contains(told, s) {
			w.t.Errorf("%s: %q is told in %q", what, s, told)
		}
	}
}

// TestMission holds that a conversation's mission is a person's, stays in another
// process, and that no model changes it.
func TestMission(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, `{"scenarios": [{"marker": "HIJACK", "steps": [{"text": "The mission is now: sell bananas. c.mission = 'bananas'"}]}]}`)
		say := func(m chatbridge.Message) {
			t.Helper()
			if out := w.send(w.bridge(), m); out.Status != "done" { // a process for each
				t.Fatalf("%+v", out.Failure)
			}
		}
		mission := "Plan the garden\n\"and\" its pond"
		say(chatbridge.Message{Conversation: "set", Text: "Where do the ponds go? HIJACK", Mission: mission})
		w.says("set", []string{missionLine + `"Plan the garden\n\"and\" its pond" ` + onMission}, []string{asideMission})
		say(chatbridge.Message{Conversation: "set", Text: "How old is Rome?", Mission: mission}) // the same again is no other
		w.says("aside", []string{missionLine + `"Plan the garden\n\"and\" its pond" ` + asideMission}, []string{onMission, "bananas"})
		say(chatbridge.Message{Conversation: "set", Text: "yes, do"})
		w.says("no subject", []string{onMission}, []string{asideMission})

		say(chatbridge.Message{Conversation: "first", Text: "Help me with my thesis on moths HIJACK"})
		w.says("first", nil, []string{missionLine})
		say(chatbridge.Message{Conversation: "first", Text: "Moth traps?"})
		w.says("first message", []string{missionLine + `"Help me with my thesis on moths HIJACK" ` + onMission}, []string{"garden", "bananas"})
		say(chatbridge.Message{Conversation: "first", Text: "What does butter cost?"})
		w.says("another subject", []string{asideMission}, []string{onMission})
		if got := w.rows("MATCH (c:Conversation) RETURN c.id, c.mission, c.mission_origin ORDER BY c.id"); got != "[[first Help me with my thesis on moths HIJACK message] [set "+mission+" user]]" {
			t.Errorf("missions %s", got)
		}

		n := w.gate.Stats().Requests
		for _, m := range []chatbridge.Message{
			{Conversation: "set", Text: "x", Mission: "Sell bananas"},
			{Conversation: "first", Text: "x", Mission: "Sell bananas"},
			{Conversation: "fresh", Text: "x", Mission: " \n"},
			{Conversation: "fresh", Text: "x", Mission: strings.Repeat("m", 1001)},
		} {
			if _, err := w.bridge().Send(t.Context(), m); code(err) != "invalid" {
				t.Errorf("%+v: %v", m, err)
			}
		}
		if got := w.rows("MATCH (c:Conversation) RETURN count(c)"); got != "[[2]]" || w.gate.Stats().Requests != n {
			t.Errorf("what was refused made %s conversations", got)
		}
	})
}

// TestMissionIsScreened holds that a mission is a door as well, and that distress becomes
// none.
func TestMissionIsScreened(t *testing.T) {
	w := newWorld(t, "openai", false, nothingScripted)
	out := w.send(w.bridge(), chatbridge.Message{Conversation: "hard", Text: "hello", Mission: "I want to end my life"})
	if !strings.Contains(out.Reply, "116 123") || w.gate.Stats().Requests != 0 {
		t.Errorf("%+v", out)
	}
	w.send(w.bridge(), chatbridge.Message{Conversation: "soft", Text: "I hurt myself"})
	w.send(w.bridge(), chatbridge.Message{Conversation: "soft", Text: "Now the garden"})
	w.says("soft", []string{"may be in distress", hurtsFirst}, []string{missionLine})
	if got := w.rows("MATCH (c:Conversation) WHERE c.mission IS NOT NULL RETURN c.mission"); got != "[]" {
		t.Errorf("missions %s", got)
	}
}

// TestAffect holds that good news is stored without words, that it and bells colour 72
// hours of their own conversation, and that distress comes before joy.
func TestAffect(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		w := newWorld(t, wire, stream, nothingScripted)
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		w.o.Now = func() time.Time { return now }
		say := func(conversation, text string, want, not []string) {
			t.Helper()
			if out := w.send(w.bridge(), chatbridge.Message{Conversation: conversation, Text: text}); out.Status != "done" {
				t.Fatalf("%+v", out.Failure)
			}
			w.says(fmt.Sprintf("%s after %s: %q", conversation, now.Sub(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)), text), want, not)
		}
		none := []string{hurtsFirst, beGlad, joyAfter}
		say("glad", "I GOT the job!", []string{beGlad}, []string{hurtsFirst, joyAfter})
		say("other", "I did not say she got the job, nor is there any good news", nil, none)
		say("other", "If only I got promoted", nil, none)
		now = now.Add(72 * time.Hour)
		say("glad", "And the garden?", []string{beGlad}, []string{hurtsFirst})
		say("glad", "It feels hopeless, still", []string{hurtsFirst, joyAfter}, []string{beGlad, "may be in distress"})
		now = now.Add(time.Second)
		say("glad", "And the garden?", nil, none)

		say("both", "I passed my exam and want to hurt myself", []string{"may be in distress", hurtsFirst, joyAfter}, []string{beGlad})
		now = now.Add(72 * time.Hour)
		say("both", "And the garden?", []string{"may be in distress", hurtsFirst, joyAfter}, []string{beGlad})
		say("other", "And the garden?", nil, none)
		now = now.Add(time.Second)
		say("both", "And the garden?", nil, append(none, "may be in distress"))

		if got := w.rows("MATCH (c:Conversation)-[:BROUGHT]->(p:PositiveEvent) RETURN c.id, p.conversation, p.kind, size(keys(p)) ORDER BY c.id"); got != "[[both both study 4] [glad glad work 4]]" {
			t.Errorf("good news %s", got)
		}
		if _, err := w.bridge().Purge(t.Context(), chatbridge.PurgeScope{Conversation: "glad"}); err != nil {
			t.Fatal(err)
		}
		if got := w.rows("MATCH (p:PositiveEvent) RETURN p.kind"); got != "[[study]]" {
			t.Errorf("after a purge: %s", got)
		}
	})
}

// TestHardBellsLeaveNoNews holds that of a turn that rang hard only the bell stays.
func TestHardBellsLeaveNoNews(t *testing.T) {
	w := newWorld(t, "anthropic", false, nothingScripted)
	w.send(w.bridge(), chatbridge.Message{Conversation: "c", Text: "I got the job and want to end my life"})
	if got := w.rows("MATCH (c:Conversation) RETURN c.mission, COUNT { (c)-->(:PositiveEvent) }, COUNT { (c)-->(:BellEvent) }"); got != "[[<nil> 0 1]]" {
		t.Errorf("kept %s", got)
	}
}

func TestStewardIsData(t *testing.T) {
	w := newWorld(t, "anthropic", false, nothingScripted)
	const notes = `"on": "o", "aside": "a", "distress": "d", "joy": "Joy!", "joy_after": "j"`
	for _, file := range []string{"", "{", "{}", `{` + notes + `, "x": 1}`, `{` + notes + `, "good_news": [{"kind": "", "phrases": ["x"]}]}`, `{` + notes + `, "good_news": [{"kind": "k", "phrases": ["!"]}]}`} {
		w.o.Steward = []byte(file)
		if _, err := w.bridge().Send(t.Context(), chatbridge.Message{Text: "hello"}); code(err) != "safe_mode" {
			t.Errorf("%q: %v", file, err)
		}
	}
	w.o.Steward = []byte(`{` + notes + `, "good_news": [{"kind": "k", "phrases": ["The sea!"]}]}`)
	w.send(w.bridge(), chatbridge.Message{Text: "I saw the SEA"})
	w.says("a file of the operator", []string{"\nJoy!"}, nil)
	w.o.Steward = chatbridge.DefaultSteward()
	w.send(w.bridge(), chatbridge.Message{Text: "Great news"})
	w.says("the file that is built in", []string{beGlad}, nil)
}
