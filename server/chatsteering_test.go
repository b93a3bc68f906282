package server_test

import (
	"net/http"
	"strings"
	"testing"

	"engram/chatbridge"
	"engram/server/token"
)

const steerScript = `{"scenarios": [
	{"marker": "GATE-PLAN", "steps": [{"text": "1. Touch nothing."}]},
	{"marker": "REVISE-IT", "steps": [{"text": "2. Touch less."}]},
	{"marker": "The person approved the plan as it is.", "steps": [{"text": "Carried out."}]},
	{"marker": "Check this proposal.", "steps": [{"text": "{\"accept\": true, \"reason\": \"it follows\"}"}]},
	{"marker": "GATE-MAKE", "steps": [{"text": "{\"proposal\": \"chairs for 90\", \"numbers\": {\"total\": 90}, \"reasoning\": \"because\"}"}]},
	{"marker": "GATE-SAIL", "steps": [{"text": "Aye.", "expect_system": ["\"Cross the bay\"", "- voice: \"Speak like a captain.\""]}]},
	{"marker": "GATE-HERON", "steps": [{"text": "The heron is called Quillon."}]}]}`

// refuses holds that requests are refused by status and code.
func (h *harness) refuses(secret string, requests ...[4]any) {
	h.t.Helper()
	for _, r := range requests {
		route, body := r[0].(string), r[1].(string)
		method, path, _ := strings.Cut(route, " ")
		if a := h.request(secret, method, path, body); a.status != r[2] || a.code() != r[3] {
			h.t.Errorf("%s %s: %d %s, want %v %v", route, body, a.status, a.body, r[2], r[3])
		}
	}
}

// TestChatPlans plans, revises and approves over HTTP and over a websocket: what is no
// plain approval is none.
func TestChatPlans(t *testing.T) {
	change, _, _ := chatting(t, steerScript)
	h := start(t, change)
	a := h.must("POST", "/v1/conversations/new/messages", `{"text":"GATE-PLAN","plan":true}`)
	review, _ := a.json["review"].(map[string]any)
	if a.json["status"] != "tool_pending" || a.json["shown"] != "1. Touch nothing." || a.json["risk_tier"] != "review" || review["kind"] != "plan" || review["left"] != 8.0 {
		t.Fatalf("%s", a.body)
	}
	path := "/v1/conversations/" + a.json["conversation_id"].(string)
	h.refuses(h.root,
		[4]any{"POST " + path + "/approvals", `{"decision":"revise"}`, 400, "InvalidArgument"},
		[4]any{"POST " + path + "/approvals", `{"decision":"revise","words":" \n"}`, 400, "InvalidArgument"},
		[4]any{"POST " + path + "/approvals", `{"decision":"approve","words":"but later"}`, 400, "InvalidArgument"},
		[4]any{"POST " + path + "/approvals", `{"decision":"approve","remember":"always"}`, 400, "InvalidArgument"},
		[4]any{"POST " + path + "/approvals", `{"decision":"result","result":"x"}`, 400, "InvalidArgument"},
		[4]any{"POST " + path + "/approvals", `{"decision":"approve","digest":"another"}`, 409, "CallChanged"},
		[4]any{"POST " + path + "/approvals", `{"decision":"approve","call_id":"another"}`, 404, "CallNotFound"},
		[4]any{"POST /v1/conversations/new/messages", `{"text":"x","plan":true,"proposal":[{"number":"total"}]}`, 400, "InvalidArgument"},
	)
	listed := h.must("GET", "/v1/reviews", "").json["reviews"].([]any)
	if len(listed) != 1 || listed[0].(map[string]any)["pending"].(map[string]any)["call_id"] != a.json["call_id"] {
		t.Errorf("listed %v", listed)
	}
	b := h.must("POST", path+"/approvals", toJSON(map[string]any{"decision": "revise", "words": "REVISE-IT: less", "call_id": a.json["call_id"]}))
	if b.json["shown"] != "2. Touch less." || b.json["review"].(map[string]any)["number"] != 2.0 || b.json["review"].(map[string]any)["left"] != 7.0 {
		t.Errorf("revised: %s", b.body)
	}
	done := h.must("POST", path+"/approvals", toJSON(map[string]any{"decision": "approve", "digest": b.json["digest"]}))
	if done.json["status"] != "done" || done.json["reply"] != "Carried out." || done.json["candidate"] != chatbridge.CandidateKey("GATE-PLAN", "2. Touch less.") {
		t.Errorf("approved: %s", done.body)
	}
	if got := strings.TrimSpace(h.must("GET", "/v1/reviews", "").body); got != `{"reviews":[]}` {
		t.Errorf("nothing waits any more: %s", got)
	}

	c, _ := h.dial(h.root)
	c.send(`{"id":"1","type":"chat","request":{"text":"GATE-PLAN","plan":true}}`)
	kinds, last := c.chatted("1")
	out, _ := last["outcome"].(map[string]any)
	if kinds != "started working delta tool_pending" || out["shown"] != "1. Touch nothing." {
		t.Fatalf("%s, %v", kinds, last)
	}
	for _, step := range [][2]string{{`"decision":"revise","words":"REVISE-IT"`, "2. Touch less."}, {`"decision":"approve"`, "Carried out."}} {
		c.send(`{"id":"2","type":"approve","request":{"conversation_id":"` + out["conversation_id"].(string) + `",` + step[0] + `}}`)
		_, last = c.chatted("2")
		if got := toJSON(last); !strings.Contains(got, step[1]) {
			t.Errorf("%s: %s", step[0], got)
		}
	}
}

// TestChatProposals has a proposal made, checked and approved.
func TestChatProposals(t *testing.T) {
	change, _, _ := chatting(t, steerScript)
	h := start(t, change)
	h.refuses(h.root,
		[4]any{"POST /v1/conversations/new/messages", `{"text":"GATE-MAKE","proposal":[]}`, 400, "InvalidArgument"},
		[4]any{"POST /v1/conversations/new/messages", `{"text":"GATE-MAKE","proposal":[{"number":"total","maximum":"1"}]}`, 400, "UnknownField"},
		[4]any{"POST /v1/conversations/new/messages", `{"text":"GATE-MAKE","proposal":[{"number":"total","max":"many"}]}`, 400, "InvalidArgument"},
	)
	a := h.must("POST", "/v1/conversations/new/messages", `{"text":"GATE-MAKE","proposal":[{"number":"total","min":"0","max":"100"}]}`)
	if a.json["shown"] != "chairs for 90\ntotal = 90" || !strings.Contains(toJSON(a.json["rulings"]), `"by":"checker","status":"accepted"`) || a.json["review"].(map[string]any)["left"] != 3.0 {
		t.Fatalf("%s", a.body)
	}
	done := h.must("POST", "/v1/conversations/"+a.json["conversation_id"].(string)+"/approvals", `{"decision":"approve"}`)
	if done.json["status"] != "done" || done.json["reply"] != a.json["shown"] || !strings.Contains(toJSON(done.json["rulings"]), `"by":"person","status":"accepted"`) {
		t.Errorf("%s", done.body)
	}
	if a := h.request(h.root, "POST", "/v1/conversations/new/messages", `{"text":"GATE-MAKE","proposal":[{"number":"total","max":"10"}]}`); a.status != 429 || toJSON(a.json["ceiling"]) != `{"kind":"attempts","limit":4,"observed":5}` {
		t.Errorf("too many attempts: %d %s", a.status, a.body)
	}
}

// TestChatMissions tells what a conversation is for, and in whose voice it is answered.
func TestChatMissions(t *testing.T) {
	change, _, _ := chatting(t, steerScript)
	h := start(t, change)
	for _, statement := range []string{"CREATE LAYER captain {kind: 3}", "CREATE (:Voice {layer: 'captain', content: 'Speak like a captain.'})"} {
		h.eql(statement)
	}
	const sail = `"text":"GATE-SAIL","mission":"Cross the bay","imprint":"captain"`
	a := h.must("POST", "/v1/conversations/new/messages", "{"+sail+"}")
	if a.json["reply"] != "Aye." {
		t.Errorf("%s", a.body)
	}
	c, _ := h.dial(h.root)
	c.send(`{"id":"1","type":"chat","request":{` + sail + `}}`)
	if _, last := c.chatted("1"); last["outcome"] == nil || last["outcome"].(map[string]any)["reply"] != "Aye." {
		t.Errorf("on a websocket: %v", last)
	}
	h.refuses(h.root,
		[4]any{"POST /v1/conversations/" + a.json["conversation_id"].(string) + "/messages", `{"text":"x","mission":"Sink it"}`, 400, "InvalidArgument"},
		[4]any{"POST /v1/conversations/new/messages", `{"text":"x","imprint":"pirate"}`, 400, "InvalidArgument"},
	)
}

// TestKeptChats renames, finds, exports, forgets, restores and purges conversations; a
// token has its own alone, and another's are as if they were not there.
func TestKeptChats(t *testing.T) {
	change, _, _ := chatting(t, steerScript, func(o *chatbridge.Options) { o.NoTitles = true })
	h := start(t, change)
	ann, ben := h.token("ann", token.Chat), h.token("ben", token.Chat, token.Write)
	a := h.request(ann, "POST", "/v1/conversations/new/messages", say("GATE-HERON"))
	id, _ := a.json["conversation_id"].(string)
	path := "/v1/conversations/" + id
	find := func(secret string) string {
		t.Helper()
		a := h.request(secret, "POST", "/v1/conversations:search", `{"words":"quillon"}`)
		if a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
		return strings.TrimSpace(a.body)
	}
	if got := find(ann); !strings.Contains(got, `{"found":[{"conversation_id":"`+id+`"`) || !strings.Contains(got, `"turn":2,"role":"assistant","excerpt":"The heron is called Quillon."`) || find(h.root) != got {
		t.Errorf("found %s, by admin %s", got, find(h.root))
	}
	if got := find(ben); got != `{"found":[]}` {
		t.Errorf("found by another: %s", got)
	}
	for _, route := range []string{"GET " + path, "DELETE " + path, "POST " + path + "/restore", "GET " + path + "/export"} {
		h.refuses(ben, [4]any{route, "", 404, "ConversationNotFound"})
	}
	h.refuses(ben, [4]any{"PATCH " + path, `{"title":"mine"}`, 404, "ConversationNotFound"})
	h.refuses(ann,
		[4]any{"PATCH " + path, `{"title":" "}`, 400, "InvalidArgument"},
		[4]any{"DELETE " + path + "?hard=true", "", 403, "Forbidden"},
		[4]any{"DELETE " + path + "?memories=true", "", 400, "InvalidArgument"},
		[4]any{"POST " + path + "/restore", "", 400, "InvalidArgument"},
		[4]any{"GET " + path + "/export?format=pdf", "", 400, "InvalidArgument"},
		[4]any{"POST /v1/conversations:search", `{"words":" "}`, 400, "InvalidArgument"},
		[4]any{"POST /v1/conversations:search", `{"words":"x","limit":501}`, 400, "InvalidArgument"},
	)
	if a := h.request(ann, "PATCH", path, `{"title":"About  herons"}`); a.json["title"] != "About herons" || a.json["title_origin"] != "user" || a.json["turns"] != 2.0 {
		t.Errorf("renamed: %d %s", a.status, a.body)
	}
	lines := h.request(ann, "GET", path+"/export", "")
	if lines.header.Get("Content-Type") != "application/x-ndjson" || !strings.HasPrefix(lines.body, `{"conversation":{"id":"`+id+`","title":"About herons"`) || !strings.HasSuffix(lines.body, `{"end":{"turns":2,"runs":1}}`+"\n") || strings.Count(lines.body, "\n") != 5 {
		t.Errorf("exported %q", lines.body)
	}
	pages := h.request(ann, "GET", path+"/export?format=markdown", "")
	if pages.header.Get("Content-Type") != "text/markdown; charset=utf-8" || !strings.Contains(pages.body, "# About herons\n") || !strings.Contains(pages.body, "\nThe heron is called Quillon.\n") {
		t.Errorf("exported %q", pages.body)
	}
	if a := h.request(ann, "DELETE", path+"?because=asked+to", ""); strings.TrimSpace(a.body) != `{"conversation_id":"`+id+`","forgotten":true}` {
		t.Errorf("forgotten: %d %s", a.status, a.body)
	}
	if a := h.request(ann, "GET", path, ""); a.json["forgotten"] != true || a.json["reason"] != "asked to" || find(ann) != `{"found":[]}` {
		t.Errorf("%s, found %s", a.body, find(ann))
	}
	h.refuses(ann, [4]any{"POST " + path + "/messages", say("GATE-HERON"), 404, "ConversationNotFound"})
	if a := h.request(ann, "POST", path+"/restore", ""); a.json["id"] != id || a.json["forgotten"] != nil || !strings.Contains(find(ann), id) {
		t.Errorf("restored: %d %s", a.status, a.body)
	}
	if a := h.must("DELETE", path+"?hard=true", ""); !strings.HasPrefix(a.body, `{"conversation_id":"`+id+`","forgotten":false,"purged":{"conversations":1,"nodes":4,`) {
		t.Errorf("purged: %s", a.body)
	}
	if got := h.eql("MATCH (n) RETURN count(n)"); got != "[[0]]" || find(h.root) != `{"found":[]}` {
		t.Errorf("%s nodes are left, found %s", got, find(h.root))
	}
}

// TestChatVerdicts judges outcomes: a token those of its own conversations, with the scope
// write, and sees what it gave. What was approved is told when the same comes again.
func TestChatVerdicts(t *testing.T) {
	change, _, _ := chatting(t, steerScript)
	h := start(t, change)
	ann, ben, cat := h.token("ann", token.Chat, token.Write), h.token("ben", token.Chat, token.Write), h.token("cat", token.Chat)
	plan := func(secret string) answer {
		t.Helper()
		a := h.request(secret, "POST", "/v1/conversations/new/messages", `{"text":"GATE-PLAN","plan":true}`)
		if a.status != http.StatusOK {
			t.Fatalf("%d %s", a.status, a.body)
		}
		return a
	}
	a := plan(ann)
	done := h.request(ann, "POST", "/v1/conversations/"+a.json["conversation_id"].(string)+"/approvals", `{"decision":"approve"}`)
	key := chatbridge.CandidateKey("GATE-PLAN", "1. Touch nothing.")
	judge := func(more string) string { return `{"candidate":"` + key + `",` + more + `}` }
	list := func(secret, what string) string {
		t.Helper()
		a := h.request(secret, "GET", "/v1/"+what, "")
		if a.status != http.StatusOK {
			t.Errorf("%s: %d %s", what, a.status, a.body)
		}
		return strings.TrimSpace(a.body)
	}
	if got := list(ann, "candidates"); !strings.Contains(got, `{"candidates":[{"key":"`+key+`","kind":"plan","task":"GATE-PLAN","outcome":"1. Touch nothing."`) || !strings.Contains(got, `"verdicts":0}]}`) {
		t.Errorf("candidates %s", got)
	}
	if got := list(ben, "candidates") + list(ben, "verdicts") + list(ben, "reviews"); got != `{"candidates":[]}{"verdicts":[]}{"reviews":[]}` {
		t.Errorf("another's: %s", got)
	}
	h.refuses(cat, [4]any{"POST /v1/verdicts", judge(`"decision":"approved","reason":"x"`), 403, "Forbidden"})
	h.refuses(ben,
		[4]any{"POST /v1/verdicts", judge(`"decision":"approved","reason":"x"`), 404, "CandidateNotFound"},
		[4]any{"POST /v1/verdicts", `{"run_id":"` + done.json["run_id"].(string) + `","decision":"approved","reason":"x"}`, 404, "CandidateNotFound"},
	)
	h.refuses(ann,
		[4]any{"POST /v1/verdicts", judge(`"decision":"approved"`), 400, "InvalidArgument"},
		[4]any{"POST /v1/verdicts", judge(`"reason":"it held"`), 400, "InvalidArgument"},
		[4]any{"POST /v1/verdicts", judge(`"decision":"yes","reason":"it held"`), 400, "InvalidArgument"},
		[4]any{"POST /v1/verdicts", `{"candidate":"cand-none","decision":"approved","reason":"it held"}`, 404, "CandidateNotFound"},
	)
	if got := list(h.root, "verdicts"); got != `{"verdicts":[]}` {
		t.Errorf("what was refused is kept: %s", got)
	}
	v := h.request(ann, "POST", "/v1/verdicts", judge(`"decision":"approved","reason":"HELD-FOR-A-YEAR"`))
	if v.status != http.StatusOK || v.json["promoted"] != true || v.json["outcome"] != "1. Touch nothing." {
		t.Fatalf("%d %s", v.status, v.body)
	}
	if got := list(ann, "verdicts?candidate="+key); !strings.Contains(got, `"reason":"HELD-FOR-A-YEAR"`) || list(h.root, "verdicts") != got {
		t.Errorf("verdicts %s", got)
	}
	if got := list(ben, "verdicts?candidate="+key) + list(ann, "verdicts?candidate=none"); got != `{"verdicts":[]}{"verdicts":[]}` {
		t.Errorf("others: %s", got)
	}
	if again := plan(ann); !strings.Contains(toJSON(again.json["review"]), `"reason":"HELD-FOR-A-YEAR"`) || !strings.Contains(list(ann, "reviews"), "HELD-FOR-A-YEAR") {
		t.Errorf("when the same comes again: %s", again.body)
	}
	if a := h.request(ann, "POST", "/v1/verdicts", `{"run_id":"`+done.json["run_id"].(string)+`","decision":"rejected","reason":"too little"}`); a.json["promoted"] != false || a.json["outcome"] != "Carried out." {
		t.Errorf("of an answer: %d %s", a.status, a.body)
	}
}
