package server_test

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"engram"
	"engram/server"
	"engram/server/token"
)

// provoker provokes the problems that the document lists.
type provoker struct {
	*exerciser
	wrong string // a token that may do nothing alone
}

// provocation sends a request that is to end with the problem of a code.
type provocation func(p *provoker, op *operation) answer

// ask sends a request of an operation as it is written, with what makes it fail.
func (p *provoker) ask(op *operation, path string, change ...func(*http.Request)) answer {
	p.t.Helper()
	media, body := op.plainest()
	if media != "" {
		change = append([]func(*http.Request){header("Content-Type", media)}, change...)
	}
	return p.request(p.root, op.method, path, body, change...)
}

// with is a provocation by a change of the request alone.
func with(change func(*http.Request)) provocation {
	return func(p *provoker, op *operation) answer { return p.ask(op, anywhere(op), change) }
}

// anywhere is a path of the operation, about nothing that is there.
func anywhere(op *operation) string {
	return strings.NewReplacer("{id}", "nobody", "{name}", "nobody").Replace(op.pattern)
}

// in asks in another namespace.
func in(namespace string) provocation {
	return func(p *provoker, op *operation) answer { return p.ask(op, anywhere(op)+"?namespace="+namespace) }
}

// body sends another body than an operation's.
func body(text func(op *operation) string) provocation {
	return func(p *provoker, op *operation) answer {
		media, _ := op.plainest()
		return p.request(p.root, op.method, anywhere(op), text(op), header("Content-Type", media))
	}
}

// changed is a provocation while the server is configured in another way.
func changed(fn func(*server.Config), then provocation) provocation {
	return func(p *provoker, op *operation) answer {
		defer p.server.Change(fn)()
		return then(p, op)
	}
}

// failing is a provocation of what a layer below does only when a disk or the program is
// broken: its error takes the place of the handler.
func failing(err error) provocation {
	return func(p *provoker, op *operation) answer {
		defer p.server.Replace(op.method, op.pattern, func() error { return err })()
		return p.ask(op, anywhere(op))
	}
}

func broken(code engram.Code) provocation {
	return failing(&engram.Error{Code: code, Message: "the disk failed"})
}

func ready(p *provoker, op *operation) answer { return p.ask(op, p.ready(op)) }

// anyOperation is how the codes are provoked that operations have by what they are.
var anyOperation = map[string]provocation{
	"HostRefused":   with(host("evil.example")),
	"OriginRefused": with(header("Origin", "https://evil.example")),
	"Unauthenticated": func(p *provoker, op *operation) answer {
		return p.ask(op, anywhere(op), func(r *http.Request) { r.Header.Del("Authorization") })
	},
	"Forbidden": func(p *provoker, op *operation) answer {
		return p.ask(op, anywhere(op), header("Authorization", "Bearer "+p.wrong))
	},
	"CSRFRefused": func(p *provoker, op *operation) answer {
		cookie, _ := p.login(p.root)
		return p.ask(op, anywhere(op), cookie)
	},
	"RateLimited": changed(func(c *server.Config) { c.Rate, c.RateBurst = 1, 1 }, func(p *provoker, op *operation) (a answer) {
		p.n++
		hasty := header("Authorization", "Bearer "+p.token(fmt.Sprint("hasty-", p.n), token.Scopes()...))
		for a.status != http.StatusTooManyRequests {
			a = p.ask(op, anywhere(op), hasty)
		}
		return a
	}),
	"UnknownField": func(p *provoker, op *operation) answer { return p.ask(op, anywhere(op)+"?no_such=1") },
	"DuplicateKey": func(p *provoker, op *operation) answer {
		if len(op.params) > 0 {
			name := op.params[0].name
			return p.ask(op, anywhere(op)+"?"+name+"=1&"+name+"=1")
		}
		return body(func(op *operation) string { return fmt.Sprintf(`{"%s":null,"%[1]s":null}`, op.properties[0]) })(p, op)
	},
	"InvalidArgument":      func(p *provoker, op *operation) answer { return p.ask(op, anywhere(op)+"?a;b") },
	"UnsupportedMediaType": with(header("Content-Type", "text/html")),
	"InvalidJSON":          body(func(*operation) string { return `{"` }),
	"TooComplex":           body(func(*operation) string { return strings.Repeat("[", 100) }),
	"BodyTooLarge": changed(func(c *server.Config) { c.MaxBody, c.MaxImport = 1000, 1000 }, body(func(*operation) string {
		return `{"x":"` + strings.Repeat("a", 1000) + `"}`
	})),
	"BodyTimeout": changed(func(c *server.Config) { c.BodyTimeout = 30 * time.Millisecond }, func(p *provoker, op *operation) answer {
		c, err := net.Dial("tcp", "127.0.0.1:"+p.port)
		if err != nil {
			p.t.Fatal(err)
		}
		defer c.Close()
		if err := c.SetDeadline(time.Now().Add(20 * time.Second)); err != nil {
			p.t.Fatal(err)
		}
		media, _ := op.plainest()
		if _, err := fmt.Fprintf(c, "%s %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nAuthorization: Bearer %s\r\nContent-Type: %s\r\nContent-Length: 100\r\n\r\n{", op.method, anywhere(op), p.port, p.root, media); err != nil {
			p.t.Fatal(err)
		}
		res, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			p.t.Errorf("%s: %v", op.id, err)
			return answer{}
		}
		a, err := answerOf(res)
		if err != nil {
			p.t.Error(err)
		}
		return a
	}),
	"NotFound":    in("nobody"),
	"Foreign":     in("foreign"),
	"Damaged":     in("damaged"),
	"Failed":      broken(engram.CodeFailed),
	"Busy":        broken(engram.CodeBusy),
	"NewerFormat": broken(engram.CodeNewerFormat),
	"Full":        broken(engram.CodeFull), "OutcomeUnknown": broken(engram.CodeOutcomeUnknown), "Poisoned": broken(engram.CodePoisoned),
	"SnapshotTooOld": broken(engram.CodeSnapshotTooOld), "LoadUnfinished": broken(engram.CodeLoadUnfinished),
	"Aborted": broken(engram.CodeAborted), "LimitExceeded": broken(engram.CodeLimitExceeded),
	"Internal": func(p *provoker, op *operation) answer {
		defer p.server.Replace(op.method, op.pattern, func() error { panic("a bug") })()
		return p.ask(op, anywhere(op))
	},
	"Deadline": func(p *provoker, op *operation) answer {
		path := p.ready(op)
		defer p.server.Change(func(c *server.Config) { c.Timeout, c.StreamTimeout = 1, 1 })()
		return p.ask(op, path)
	},
	"Overloaded": func(p *provoker, op *operation) answer {
		path := p.ready(op)
		defer p.server.Occupy()()
		return p.ask(op, path)
	},
}

// missing are the codes of what is not there.
var missing = []string{"NodeNotFound", "TransactionNotFound", "ConversationNotFound"}

// how is the way to provoke a code of an operation; nil: there is none.
func how(op *operation, code string) provocation {
	if fn := special[op.id+" "+code]; fn != nil {
		return fn
	}
	if slices.Contains(missing, code) {
		return func(p *provoker, op *operation) answer { return p.ask(op, anywhere(op)) }
	}
	return anyOperation[code]
}

// elsewhereProvoked are codes that need a server of another kind: see the tests behind.
var elsewhereProvoked = []string{"Closed", "ShuttingDown", "ResourceExhausted", "SafeMode"}

// TestDocumentedProblems provokes every problem that the document of a running server lists,
// of every operation. Each has the status that is documented, and the form.
func TestDocumentedProblems(t *testing.T) {
	change, _, _ := chatting(t, documentScript)
	h := startWith(t, server.RegistryOptions{Database: &engram.Options{TxIdle: 300 * time.Millisecond}}, change)
	d := readDocumented(t, h)
	p := &provoker{exerciser: exercise(t, h, d), wrong: h.token("no-scope", token.RunCommands)}
	p.wreck("foreign", "this is no database")
	p.wreck("damaged", "")
	for _, op := range d.all {
		for code, status := range op.codes {
			fn := how(op, code)
			switch {
			case slices.Contains(elsewhereProvoked, code) && special[op.id+" "+code] == nil, code == "Overloaded":
				continue
			case fn == nil:
				t.Errorf("%s: the document lists %s, and nothing provokes it", op.id, code)
				continue
			}
			a := fn(p, op)
			if a.status != status || a.code() != code {
				t.Errorf("%s is to end with %d %s: %d %s", op.id, status, code, a.status, a.body)
				continue
			}
			d.holds(t, op, anywhere(op), "", a)
		}
	}
	p.overload(d)
	p.safeMode(d)
	p.exhaust(d)
	p.elsewhere(d)
	p.shutDown(d)
	for _, op := range d.all {
		for code := range op.codes {
			p.need(op, "problem", code)
		}
	}
}

// wreck makes a namespace whose file holds something else; an empty text cuts it.
func (p *provoker) wreck(name, text string) {
	p.t.Helper()
	p.must("POST", "/v1/namespaces", toJSON(map[string]any{"name": name}))
	p.must("POST", "/v1/query?namespace="+name, `{"statement":"UNWIND range(1, 1000) AS i CREATE (:N {i: i})"}`)
	if err := p.registry.CloseIdle(name); err != nil {
		p.t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(p.dir, "*", name, "graph.db"))
	if err != nil || len(files) != 1 {
		p.t.Fatalf("%v, %v", files, err)
	}
	if text == "" {
		err = os.Truncate(files[0], 20<<10)
	} else {
		err = os.WriteFile(files[0], []byte(text), 0o600)
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// all asks every operation that lists a code, at the same time.
func (p *provoker) all(d *documented, code string, paths map[string]string, ask func(op *operation, path string) answer) {
	p.t.Helper()
	var running sync.WaitGroup
	for _, op := range d.all {
		if op.codes[code] == 0 {
			continue
		}
		running.Go(func() {
			if a := ask(op, paths[op.id]); a.code() != code {
				p.t.Errorf("%s is to end with %s: %d %s", op.id, code, a.status, a.body)
			} else {
				d.holds(p.t, op, anywhere(op), "", a)
			}
		})
	}
	running.Wait()
}

// overload asks while as many statements run as may.
func (p *provoker) overload(d *documented) {
	paths := map[string]string{}
	for _, op := range d.all {
		if op.codes["Overloaded"] != 0 {
			paths[op.id] = p.ready(op)
		}
	}
	defer p.server.Occupy()()
	p.all(d, "Overloaded", paths, func(op *operation, path string) answer { return p.ask(op, path) })
}

// safeMode asks a server whose rules for chats cannot be read.
func (p *provoker) safeMode(d *documented) {
	other := start(p.t, func(c *server.Config) { c.Chat.Phrases = []byte("{") })
	p.all(d, "SafeMode", nil, func(op *operation, _ string) answer {
		id := other.must("POST", "/v1/conversations", "{}").json["conversation_id"].(string)
		_, body := op.plainest()
		return other.request(other.root, op.method, strings.ReplaceAll(op.pattern, "{id}", id), body)
	})
}

// exhaust asks a server whose statements may do nothing.
func (p *provoker) exhaust(d *documented) {
	first := start(p.t)
	exercise(p.t, first, d)
	if err := errors.Join(first.server.Shutdown(p.t.Context()), first.registry.Close()); err != nil {
		p.t.Fatal(err)
	}
	other := startAt(p.t, first.dir, server.RegistryOptions{Database: &engram.Options{StatementSteps: 1, StatementMemory: 1}})
	p.all(d, "ResourceExhausted", nil, func(op *operation, _ string) answer {
		if special[op.id+" ResourceExhausted"] != nil {
			return special[op.id+" ResourceExhausted"](&provoker{exerciser: &exerciser{harness: p.harness}}, op)
		}
		return (&provoker{exerciser: &exerciser{harness: other}}).ask(op, strings.ReplaceAll(op.pattern, "{id}", "ann"))
	})
}

// elsewhere asks for what no operation of the document is about.
func (p *provoker) elsewhere(d *documented) {
	seen := map[string]bool{}
	for _, op := range d.all {
		for _, method := range []string{"GET", "POST", "PATCH", "DELETE", "PUT"} {
			if slices.ContainsFunc(d.all, func(o *operation) bool { return o.pattern == op.pattern && o.method == method }) {
				continue
			}
			a := p.request(p.root, method, anywhere(op), "")
			if a.status != d.elsewhere["MethodNotAllowed"] || a.code() != "MethodNotAllowed" || !slices.Contains(a.header.Values("Allow"), op.method) {
				p.t.Errorf("%s %s: %d %s, Allow %v", method, op.pattern, a.status, a.body, a.header.Values("Allow"))
			}
			seen[a.code()] = true
		}
		a := p.request(p.root, op.method, anywhere(op)+"/nothing/there", "")
		if a.status != d.elsewhere["RouteNotFound"] || a.code() != "RouteNotFound" {
			p.t.Errorf("%s/nothing/there: %d %s", op.pattern, a.status, a.body)
		}
		seen[a.code()] = true
	}
	for code := range d.elsewhere {
		if !seen[code] {
			p.t.Errorf("the document lists %s, and nothing provokes it", code)
		}
	}
}

// shutDown asks a server whose namespaces are closed, and one that has ended.
func (p *provoker) shutDown(d *documented) {
	change, _, _ := chatting(p.t, documentScript)
	other := start(p.t, change)
	if err := other.registry.Close(); err != nil {
		p.t.Error(err)
	}
	p.all(d, "Closed", nil, func(op *operation, _ string) answer {
		return (&provoker{exerciser: &exerciser{harness: other}}).ask(op, anywhere(op))
	})
	if err := other.server.Shutdown(p.t.Context()); err != nil {
		p.t.Error(err)
	}
	p.all(d, "ShuttingDown", nil, func(op *operation, _ string) answer {
		media, body := op.plainest()
		req := httptest.NewRequest(op.method, "http://localhost"+anywhere(op), strings.NewReader(body))
		req.Header.Set("Content-Type", media)
		req.Header.Set("Authorization", "Bearer "+other.root)
		w := httptest.NewRecorder()
		other.server.ServeHTTP(w, req)
		a, err := answerOf(w.Result())
		if err != nil {
			p.t.Error(err)
		}
		return a
	})
}
