package server_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"engram/chatbridge"
)

const screenScript = `{"scenarios": [
	{"marker": "GATE-RUN", "steps": [{"text": "I run it.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "I stay here."}]},
	{"marker": "can't go on", "steps": [{"text": "I am here.", "expect_system": ["may be in distress"]}]}]}`

// The worked example of the screen: 50, after a history of 30 and 55.
const exampleWords = "I just can't go on"

var exampleHistory = []string{"It is all hopeless and I am worthless.", "nobody cares, I can't take it anymore, I want to disappear"}

// chatDoor says something in a conversation, or in one that it begins, and tells which,
// and what was answered.
type chatDoor func(conversation, text string) (id, reply string)

// jsonDoor is POST messages.
func (h *harness) jsonDoor(conversation, text string) (id, reply string) {
	h.t.Helper()
	if conversation == "" {
		conversation = "new"
	}
	a := h.must("POST", "/v1/conversations/"+conversation+"/messages", say(text))
	return a.json["conversation_id"].(string), a.json["reply"].(string)
}

// streamDoor is POST messages, whose answer is a stream.
func (h *harness) streamDoor(conversation, text string) (id, reply string) {
	h.t.Helper()
	if conversation == "" {
		conversation = "new"
	}
	events := h.stream(h.root, "POST", "/v1/conversations/"+conversation+"/messages", say(text))
	last := events[len(events)-1]
	if last.kind != "done" {
		h.t.Fatalf("%q ended with %+v", text, last)
	}
	return last.data["outcome"].(map[string]any)["conversation_id"].(string), last.data["text"].(string)
}

// socketDoor is a chat message of a connection.
func (h *harness) socketDoor(c *wsClient) chatDoor {
	return func(conversation, text string) (id, reply string) {
		h.t.Helper()
		c.send(toJSON(map[string]any{"id": "m", "type": "chat", "request": map[string]any{"conversation_id": conversation, "text": text}}))
		_, last := c.chatted("m")
		return outcomeOf(h.t, last)
	}
}

func outcomeOf(t *testing.T, last map[string]any) (id, reply string) {
	t.Helper()
	out, ok := last["outcome"].(map[string]any)
	if !ok {
		t.Fatalf("no outcome: %v", last)
	}
	return out["conversation_id"].(string), out["reply"].(string)
}

// afterCall answers a call that waits by what is said.
func (h *harness) afterCall(answer func(id, text string) (reply string)) chatDoor {
	return func(conversation, text string) (id, reply string) {
		h.t.Helper()
		if conversation == "" {
			conversation = "new"
		}
		a := h.must("POST", "/v1/conversations/"+conversation+"/messages", say("GATE-RUN"))
		id = a.json["conversation_id"].(string)
		return id, answer(id, text)
	}
}

func (h *harness) answerDoor(decision, field string) chatDoor {
	return h.afterCall(func(id, text string) string {
		return h.must("POST", "/v1/conversations/"+id+"/approvals", toJSON(map[string]any{"decision": decision, field: text})).json["reply"].(string)
	})
}

func (h *harness) socketAnswerDoor(c *wsClient) chatDoor {
	return h.afterCall(func(id, text string) string {
		c.send(toJSON(map[string]any{"id": "a", "type": "approve", "request": map[string]any{"conversation_id": id, "decision": "deny", "words": text}}))
		_, last := c.chatted("a")
		_, reply := outcomeOf(h.t, last)
		return reply
	})
}

// TestWorkedExampleOnServer holds the worked example on every door of the server that
// takes a person's words: 50 and a third of 85 ring hard, and no model is asked; after a
// calm history, none, or another conversation's they ring soft. What is screened is what
// was recorded, whichever door that came through.
func TestWorkedExampleOnServer(t *testing.T) {
	change, g, _ := chatting(t, screenScript, func(o *chatbridge.Options) { o.NoTitles = true })
	h := start(t, change)
	c, _ := h.dial(h.root)
	socket := h.socketDoor(c)
	for name, door := range map[string]struct{ tell, say chatDoor }{
		"JSON":                  {h.jsonDoor, h.jsonDoor},
		"SSE":                   {h.streamDoor, h.streamDoor},
		"websocket":             {socket, socket},
		"JSON after SSE":        {h.streamDoor, h.jsonDoor},
		"SSE after websocket":   {socket, h.streamDoor},
		"websocket after JSON":  {h.jsonDoor, socket},
		"denial":                {socket, h.answerDoor("deny", "words")},
		"client result":         {h.jsonDoor, h.answerDoor("result", "result")},
		"denial on a websocket": {h.streamDoor, h.socketAnswerDoor(c)},
	} {
		t.Run(name, func(t *testing.T) {
			heavy, calm := h.history(door.tell, exampleHistory...), h.history(door.tell, "What a nice day.")
			before := len(g.Entries())
			if _, reply := door.say(heavy, exampleWords); !strings.Contains(reply, "116 123") {
				t.Errorf("after distress: %q", reply)
			}
			for _, e := range g.Entries()[before:] {
				if strings.Contains(fmt.Sprintf("%+v", e), "can't go on") {
					t.Errorf("a model was asked: %+v", e)
				}
			}
			for _, conversation := range []string{calm, ""} {
				id, reply := door.say(conversation, exampleWords)
				if reply == "" || strings.Contains(reply, "116 123") {
					t.Errorf("in %q: %q", conversation, reply)
				}
				if got := h.bells(id); got != `[["soft",50]]` {
					t.Errorf("bells in %q: %s", conversation, got)
				}
			}
			if got := h.bells(heavy); got != `[["soft",65],["hard",78]]` {
				t.Errorf("bells after distress: %s", got)
			}
			if got := h.said(heavy); !slices.Equal(got, exampleHistory) {
				t.Errorf("recorded %q", got)
			}
		})
	}
	for name, say := range map[string]chatDoor{"JSON": h.jsonDoor, "SSE": h.streamDoor, "websocket": socket} {
		t.Run("the id that was told: "+name, func(t *testing.T) {
			const more = "I can't go on, it is hopeless"
			id, _ := say("", exampleWords)
			if again, reply := say(id, more); again != id || !strings.Contains(reply, "116 123") || h.bells(id) != `[["soft",50],["hard",81]]` {
				t.Errorf("used again, %s: %q, bells %s", again, reply, h.bells(id))
			}
			if fresh, reply := say("", more); fresh == id || reply != "I am here." || h.bells(fresh) != `[["soft",65]]` {
				t.Errorf("a fresh one, %s: %q, bells %s", fresh, reply, h.bells(fresh))
			}
		})
	}
}

// history makes a conversation in which something was said.
func (h *harness) history(say chatDoor, texts ...string) (id string) {
	h.t.Helper()
	for _, text := range texts {
		id, _ = say(id, text)
	}
	return id
}

// bells are those that rang in a conversation, in their order.
func (h *harness) bells(conversation string) string {
	h.t.Helper()
	return h.eql("MATCH (b:BellEvent {conversation: '" + conversation + "'}) RETURN b.kind, b.score ORDER BY b.created_at, b.score")
}

// said is what a person is recorded to have said in a conversation.
func (h *harness) said(conversation string) (out []string) {
	h.t.Helper()
	a := h.must("POST", "/v1/query", toJSON(map[string]any{"statement": "MATCH (:Conversation {id: '" + conversation + "'})-[:CONTAINS]->(t:Turn {role: 'user'}) RETURN t.text ORDER BY t.number"}))
	for _, row := range a.json["rows"].([]any) {
		out = append(out, row.([]any)[0].(string))
	}
	return out
}
