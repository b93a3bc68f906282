package main

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const screenScript = `{"scenarios": [{"marker": "can't go on", "steps": [{"text": "I am here.", "expect_system": ["may be in distress"]}]}]}`

// The worked example of the screen: 50, after a history of 30 and 55.
const exampleWords = "I just can't go on"

var exampleHistory = []string{"It is all hopeless and I am worthless.", "nobody cares, I can't take it anymore, I want to disappear"}

// chatDoor says things in a conversation, one after another, or in one that it begins,
// and tells the last answer and which conversation it is.
type chatDoor func(w *chatWorld, conversation string, texts ...string) (id, reply string)

var toldID = regexp.MustCompile(`(?m)^conversation (c-\S+)$`)

// oneShot is engramd chat TEXT.
func oneShot(w *chatWorld, conversation string, texts ...string) (id, reply string) {
	w.t.Helper()
	for _, text := range texts {
		args := []string{text}
		if conversation != "" {
			args = append(args, "-c", conversation)
		}
		out, errOut := w.run(exitOK, "", args...)
		if told := toldID.FindStringSubmatch(errOut); (told == nil) != (conversation != "") {
			w.t.Errorf("which conversation it is: %q", errOut)
		} else if told != nil {
			conversation = told[1]
		}
		reply = out
	}
	return conversation, reply
}

// asJSON is engramd chat --json TEXT.
func asJSON(w *chatWorld, conversation string, texts ...string) (id, reply string) {
	w.t.Helper()
	for _, text := range texts {
		out, _ := w.run(exitOK, "", "--json", "-c", conversation, text)
		var told struct {
			Conversation string `json:"conversation_id"`
			Reply        string
		}
		if err := json.Unmarshal([]byte(out), &told); err != nil {
			w.t.Fatalf("%q: %v", out, err)
		}
		conversation, reply = told.Conversation, told.Reply
	}
	return conversation, reply
}

// inTerminal is engramd chat in a terminal.
func inTerminal(w *chatWorld, conversation string, texts ...string) (id, reply string) {
	w.t.Helper()
	s := w.screen("chat", "-c", conversation)
	s.expect("> ")
	for _, text := range texts {
		s.keys(text + "\r")
		s.expect("\n") // what was typed
		reply = s.expect("\n> ")
	}
	s.keys(":list\r")
	list := s.expect("\n> ")
	s.keys("\x04")
	s.leaves(exitOK)
	if conversation == "" { // the newest one
		conversation = regexp.MustCompile(`c-\S+`).FindString(list)
	}
	return conversation, reply
}

// piped is engramd chat whose input is no terminal.
func piped(w *chatWorld, conversation string, texts ...string) (id, reply string) {
	w.t.Helper()
	before := w.conversations()
	out, _ := w.run(exitOK, strings.Join(texts, "\n")+"\n", "-c", conversation)
	answers := strings.Split(strings.TrimSuffix(out, "> \n"), "> ")
	if conversation == "" {
		for _, id := range w.conversations() {
			if !strings.Contains(strings.Join(before, " "), id) {
				conversation = id
			}
		}
	}
	return conversation, answers[len(answers)-1]
}

// conversations are the ids of all there are.
func (w *chatWorld) conversations() (ids []string) {
	w.t.Helper()
	out, _ := w.run(exitOK, "", "list", "--json")
	var page struct{ Conversations []struct{ ID string } }
	if err := json.Unmarshal([]byte(out), &page); err != nil {
		w.t.Fatalf("%q: %v", out, err)
	}
	for _, c := range page.Conversations {
		ids = append(ids, c.ID)
	}
	return ids
}

// rows are the rows of a statement, as JSON.
func (w *chatWorld) rows(statement string) string {
	w.t.Helper()
	code, out, errs := command("", "--data", w.data, "query", statement, "--json")
	if code != exitOK {
		w.t.Fatalf("%s: exit %d, %s", statement, code, errs)
	}
	return strings.ReplaceAll(strings.TrimSpace(out), "\n", " ")
}

func (w *chatWorld) bells(conversation string) string {
	w.t.Helper()
	return w.rows("MATCH (b:BellEvent {conversation: '" + conversation + "'}) WITH b ORDER BY b.created_at, b.score RETURN collect(b.kind + ' ' + b.score) AS bells")
}

// TestWorkedExampleInCommands holds the worked example of the screen on the doors of
// engramd chat, on a directory and on a server's memory: 50 and a third of 85 ring hard
// and ask no model; after a calm history, none, or another conversation's they ring soft.
func TestWorkedExampleInCommands(t *testing.T) {
	for _, server := range []bool{false, true} {
		t.Run(fmt.Sprintf("server=%v", server), func(t *testing.T) {
			w := newChatWorld(t, screenScript)
			if server {
				s := serve(t, filepath.Join(t.TempDir(), "served"))
				w.data = s.url
				t.Setenv("ENGRAM_TOKEN", s.token)
			}
			type doors struct {
				name      string
				tell, say chatDoor
			}
			all := []doors{{"text", inTerminal, oneShot}, {"terminal", oneShot, inTerminal}}
			if !server {
				all = append(all, doors{"JSON", piped, asJSON}, doors{"input", asJSON, piped})
			}
			for _, door := range all {
				t.Run(door.name, func(t *testing.T) {
					here := *w
					here.t = t
					workedExample(t, &here, door.name, door.tell, door.say)
				})
			}
		})
	}
}

func workedExample(t *testing.T, w *chatWorld, name string, tell, say chatDoor) {
	heavy, calm := name+"-heavy", name+"-calm"
	tell(w, heavy, exampleHistory...)
	tell(w, calm, "What a nice day.")
	asked := len(w.gate.Entries())
	if _, reply := say(w, heavy, exampleWords); !strings.Contains(reply, "116 123") {
		t.Errorf("after distress: %q", reply)
	}
	for _, e := range w.gate.Entries()[asked:] {
		if strings.Contains(fmt.Sprintf("%+v", e), "can't go on") {
			t.Errorf("a model was asked: %+v", e)
		}
	}
	if _, reply := say(w, calm, exampleWords); strings.TrimSpace(reply) != "I am here." {
		t.Errorf("after a calm history: %q", reply)
	}
	fresh, reply := say(w, "", exampleWords)
	if strings.TrimSpace(reply) != "I am here." {
		t.Errorf("in one that begins: %q", reply)
	}
	const more = "I can't go on, it is hopeless"
	if again, reply := say(w, fresh, more); again != fresh || !strings.Contains(reply, "116 123") {
		t.Errorf("the id that was told, used again, %s: %q", again, reply)
	}
	other, reply := say(w, "", more)
	if other == fresh || strings.TrimSpace(reply) != "I am here." {
		t.Errorf("another one that begins, %s: %q", other, reply)
	}
	for conversation, want := range map[string]string{
		heavy: `["soft 65","hard 78"]`, calm: `["soft 50"]`, fresh: `["soft 50","hard 81"]`, other: `["soft 65"]`,
	} {
		if got := w.bells(conversation); got != `{"bells":`+want+`}` {
			t.Errorf("bells in %s: %s, want %s", conversation, got, want)
		}
	}
	said := w.rows("MATCH (:Conversation {id: '" + heavy + "'})-[:CONTAINS]->(t:Turn {role: 'user'}) WITH t ORDER BY t.number RETURN collect(t.text) AS said")
	if want, err := json.Marshal(map[string]any{"said": exampleHistory}); err != nil || said != string(want) {
		t.Errorf("recorded %s, want %s", said, want)
	}
}
