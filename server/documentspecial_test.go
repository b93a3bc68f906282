package server_test

import (
	"fmt"
	"strings"

	"engram"
	"engram/server"
	"engram/server/token"
)

// post is a provocation by one request of an operation, with a body of its own.
func post(path, body string) provocation {
	return func(p *provoker, op *operation) answer { return p.request(p.root, op.method, path, body) }
}

// statements are those that end with a code, whatever runs them.
var statements = map[string]string{
	"SyntaxError":        "METCH (n) RETURN n",
	"SemanticError":      "MERGE (n:Person {name: null})",
	"TypeError":          "UNWIND [1, 'a'] AS x CREATE (:N {x: x + true})",
	"ArgumentError":      "CREATE (:N {x: range(1, 5, 0)})",
	"ArithmeticError":    "CREATE (:N {x: 5 % 0})",
	"ParameterMissing":   "CREATE (:N {x: $missing})",
	"EntityNotFound":     "MATCH ({id: 'ann'})-[r:KNOWS]->() DELETE r SET r.x = r.since",
	"ProcedureError":     "CALL text.serch('x')",
	"NothingToSearch":    "RECALL '...'",
	"ConstraintViolated": "MATCH (n {id: 'ann'}) DELETE n",
	"NotSupported":       "SHOW TRANSACTIONS",
	"Withheld":           "MATCH (n:Verdict) RETURN n",
	"ResourceExhausted":  "RETURN " + strings.Repeat("(", 100_000),
}

// stated runs a statement as an operation takes it.
func stated(statement string) provocation {
	return func(p *provoker, op *operation) answer {
		switch op.pattern {
		case "/v1/batch":
			return p.request(p.root, "POST", op.pattern, toJSON(map[string]any{"statements": []any{map[string]any{"statement": statement}}}))
		case "/v1/import":
			return p.request(p.root, "POST", op.pattern+"?format=cypher", statement+";\n", header("Content-Type", "application/octet-stream"))
		}
		return p.request(p.root, "POST", op.pattern, toJSON(map[string]any{"statement": statement}))
	}
}

// ended runs a statement in a transaction that was made to end.
func ended(end func(p *provoker, tx string)) provocation {
	return func(p *provoker, op *operation) answer {
		tx := p.must("POST", "/v1/transactions", `{"mode":"write"}`).json["id"].(string)
		defer p.request(p.root, "DELETE", "/v1/transactions/"+tx, "") // it may be gone
		end(p, tx)
		return p.use(op, tx)
	}
}

// use is a request about a transaction.
func (p *provoker) use(op *operation, tx string) answer {
	if op.pattern == "/v1/query" {
		return p.request(p.root, "POST", "/v1/query", toJSON(map[string]any{"statement": "RETURN 1", "transaction": tx}))
	}
	return p.request(p.root, op.method, strings.ReplaceAll(op.pattern, "{id}", tx), "")
}

func wrongStatement(p *provoker, tx string) {
	p.request(p.root, "POST", "/v1/query", toJSON(map[string]any{"statement": "RETURN nosuch", "transaction": tx}))
}

// outwaited has another writer wait until a transaction was idle for too long.
func outwaited(p *provoker, _ string) {
	p.must("POST", "/v1/query", `{"statement":"MERGE (:Waited)"}`)
}

func heldTx(p *provoker, op *operation) answer {
	tx := p.must("POST", "/v1/transactions", `{}`).json["id"].(string)
	release := p.server.Hold(tx)
	a := p.use(op, tx)
	release()
	p.must("DELETE", "/v1/transactions/"+tx, "")
	return a
}

// leg begins or goes on with a run whose script ends badly.
func leg(marker string) provocation {
	return func(p *provoker, op *operation) answer {
		if strings.HasSuffix(op.pattern, "/messages") {
			return p.request(p.root, "POST", "/v1/conversations/new/messages", say("GATE-"+marker))
		}
		return p.request(p.root, "POST", "/v1/conversations/"+p.waiting("RUN-"+marker)+"/approvals", `{"decision":"deny"}`)
	}
}

// meanwhile calls fn while a run of the operation waits for its model.
func meanwhile(fn func(p *provoker, conversation string)) provocation {
	return func(p *provoker, op *operation) (a answer) {
		id, path, text := p.must("POST", "/v1/conversations", `{}`).json["conversation_id"].(string), "/messages", say("GATE-SILENT")
		if strings.HasSuffix(op.pattern, "/approvals") {
			id, path, text = p.waiting("RUN-SILENT"), "/approvals", `{"decision":"deny"}`
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			a, _ = p.try(p.root, "POST", "/v1/conversations/"+id+path, text) // a failure shows as no answer
		}()
		for !strings.Contains(p.must("GET", "/v1/conversations/"+id+"/events", "").body, `"status":"running"`) {
		}
		fn(p, id)
		<-done
		return a
	}
}

func cancels(p *provoker, id string) { p.must("POST", "/v1/conversations/"+id+"/cancel", "") }

// busy asks for something while a message is answered.
func busy(p *provoker, op *operation) (a answer) {
	meanwhile(func(p *provoker, id string) {
		if op.method == "DELETE" {
			a = p.request(p.root, op.method, "/v1/conversations/"+id+"?hard=true", "")
		} else {
			a = p.request(p.root, op.method, "/v1/conversations/"+id+"/messages", say("hello"))
		}
		cancels(p, id)
	})(p, op)
	return a
}

// answered answers a call of a conversation in which one waits.
func answered(answers ...string) provocation {
	return func(p *provoker, op *operation) (a answer) {
		id, call := p.pendingIn(p.root)
		for _, text := range answers {
			a = p.request(p.root, op.method, "/v1/conversations/"+id+"/approvals", strings.ReplaceAll(text, "CALL", call))
		}
		return a
	}
}

// inUseNow is a request about a namespace that a transaction is open in.
func inUseNow(p *provoker, op *operation) answer {
	path := p.ready(op)
	name := path[strings.LastIndex(path, "/")+1:]
	tx := p.must("POST", "/v1/transactions?namespace="+name, `{}`).json["id"].(string)
	defer p.must("DELETE", "/v1/transactions/"+tx, "")
	return p.ask(op, path)
}

const conversationsID, namespacesName = "/v1/conversations/{id}", "/v1/namespaces/{name}"

// special are how codes are provoked that one operation has, by operation and code.
var special = map[string]provocation{
	"POST /v1/query ReadOnly":                           post("/v1/query", `{"statement":"CREATE (:N)","mode":"read"}`),
	"POST /v1/query TransactionNotFound":                post("/v1/query", `{"statement":"RETURN 1","transaction":"nobody"}`),
	"POST /v1/query TxDone":                             ended(wrongStatement),
	"POST /v1/query TxExpired":                          ended(outwaited),
	"POST /v1/query TransactionBusy":                    heldTx,
	"POST /v1/transactions/{id}/commit TxDone":          ended(wrongStatement),
	"POST /v1/transactions/{id}/commit TxExpired":       ended(outwaited),
	"POST /v1/transactions/{id}/commit TransactionBusy": heldTx,
	"DELETE /v1/transactions/{id} TransactionBusy":      heldTx,
	"POST /v1/recall Withheld":                          post("/v1/recall", `{"query":"x","include":["verdicts"]}`),
	"POST /v1/recall ArgumentError":                     post("/v1/recall", `{"query":"x","as_of":"someday"}`),
	"POST /v1/recall NothingToSearch":                   post("/v1/recall", `{"query":"..."}`),
	"POST /v1/recall NodeNotFound":                      post("/v1/recall", `{"query":"x","from":["nobody"]}`),
	"POST /v1/compile Withheld":                         post("/v1/compile", `{"intent":"x","include":["verdicts"]}`),
	"POST /v1/compile ArgumentError":                    post("/v1/compile", `{"intent":"x","as_of":"someday"}`),
	"POST /v1/compile NothingToSearch":                  post("/v1/compile", `{"intent":"..."}`),
	"POST /v1/compile NodeNotFound":                     post("/v1/compile", `{"intent":"x","from":["nobody"]}`),
	"POST /v1/activate NodeNotFound":                    post("/v1/activate", `{"ids":["nobody"]}`),
	"POST /v1/remember NodeNotFound":                    post("/v1/remember", `{"text":"x","links":[{"to":"nobody","type":"ABOUT"}]}`),
	"POST /v1/edges:batch NodeNotFound":                 post("/v1/edges:batch", `{"edges":[{"from":"ann","to":"nobody","type":"KNOWS"}]}`),
	"POST /v1/merge NodeNotFound":                       post("/v1/merge", `{"edges":[{"from":"ann","to":"nobody","type":"KNOWS"}]}`),
	"PATCH /v1/nodes/{id} Exists":                       broken(engram.CodeExists), // REMEMBER keeps the id that it is given, for all that is known
	"POST /v1/backup NotSupported":                      changed(func(c *server.Config) { c.BackupDir = "" }, ready),
	"POST /v1/namespaces Exists":                        post("/v1/namespaces", `{"name":"default"}`),
	"PATCH " + namespacesName + " NotFound":             post("/v1/namespaces/nobody", `{"name":"somebody"}`),
	"PATCH " + namespacesName + " Exists": func(p *provoker, op *operation) answer {
		return p.request(p.root, op.method, p.ready(op), `{"name":"default"}`)
	},
	"PATCH " + namespacesName + " Aborted":   inUseNow,
	"DELETE " + namespacesName + " NotFound": ready2nd,
	"DELETE " + namespacesName + " Aborted":  inUseNow,
	"POST " + conversationsID + "/messages CallPending": func(p *provoker, op *operation) answer {
		return p.ask(op, strings.ReplaceAll(op.pattern, "{id}", p.waiting("GATE-RUN")))
	},
	"POST " + conversationsID + "/messages ConversationBusy":  busy,
	"POST " + conversationsID + "/approvals ConversationBusy": failing(server.RefusedChat("busy")), // two at the same moment
	"POST " + conversationsID + "/approvals CallNotFound":     answered(`{"decision":"deny","call_id":"nobody"}`),
	"POST " + conversationsID + "/approvals CallUsed":         answered(`{"decision":"deny"}`, `{"decision":"deny","call_id":"CALL"}`),
	"POST " + conversationsID + "/approvals CallChanged":      answered(`{"decision":"approve","digest":"another"}`),
	"POST " + conversationsID + "/approvals CallAmbiguous":    failing(server.RefusedChat("ambiguous")), // calls wait one by one
	"POST /v1/login LoginRefused":                             ready,
	"POST /v1/login RateLimited": func(p *provoker, op *operation) (a answer) {
		other := start(p.t) // others may log in meanwhile
		for a.status != 429 {
			a = other.request("", "POST", "/v1/login", `{"code":"guessed"}`)
		}
		return a
	},
	"POST /v1/verdicts CandidateNotFound":             post("/v1/verdicts", `{"candidate":"nobody","decision":"approved","reason":"x"}`),
	"DELETE " + conversationsID + " ConversationBusy": busy,
	"GET " + conversationsID + "/events RunNotFound":  func(p *provoker, op *operation) answer { return p.ask(op, p.ready(op)+"?run=nobody") },
	"POST /v1/namespaces NotFound": func(p *provoker, op *operation) answer {
		p.n++
		secret, err := p.tokens.Create(token.Spec{Name: fmt.Sprint("narrow-", p.n), Scopes: token.Scopes(), Namespaces: []string{"default"}})
		if err != nil {
			p.t.Fatal(err)
		}
		return p.ask(op, op.pattern, header("Authorization", "Bearer "+secret))
	},
}

// ready2nd asks again for something that an operation used up.
func ready2nd(p *provoker, op *operation) answer {
	path := p.ready(op)
	p.ask(op, path)
	return p.ask(op, path)
}

func init() {
	for code, statement := range statements {
		for _, op := range []string{"query", "batch", "import"} {
			special["POST /v1/"+op+" "+code] = stated(statement)
		}
	}
	for code, marker := range map[string]string{"ProviderFailed": "BAD", "EmptyReply": "EMPTY", "ReplyRefused": "FILTER", "CeilingReached": "FOREVER"} {
		for _, op := range []string{"messages", "approvals"} {
			special["POST "+conversationsID+"/"+op+" "+code] = leg(marker)
		}
	}
	for _, op := range []string{"messages", "approvals"} {
		special["POST "+conversationsID+"/"+op+" RunCancelled"] = meanwhile(cancels)
		special["POST "+conversationsID+"/"+op+" NotStored"] = failing(server.FailedChat("store"))
	}
}
