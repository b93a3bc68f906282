package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"engram"
	"engram/server/internal/strict"
	"engram/server/token"
)

// call is one request on its way through a handler.
type call struct {
	s     *Server
	route *route
	w     http.ResponseWriter
	req   *http.Request
	ctx   context.Context
	who   token.Identity
	id    string // of the request
	query url.Values
	key   string // Idempotency-Key
	// namespace is the one that was asked for; db is open unless the route is global.
	namespace string
	db        *engram.DB
	// wrote is what the audit log tells.
	wrote engram.Counters
	began time.Time
}

// serveRoute checks what the route asks of a request and runs its handler.
func (s *Server) serveRoute(r *route, w http.ResponseWriter, req *http.Request) {
	rec := w.(*recorder)
	who, _ := token.FromContext(req.Context())
	id, _ := req.Context().Value(requestIDKey{}).(string)
	ctx, cancel := context.WithTimeoutCause(req.Context(), r.maxTimeout(&s.config), errDeadline)
	defer cancel()
	ctx = engram.WithLimits(ctx, engram.Limits{Withheld: func(string) {
		s.config.Log.Warn("a statement that asks for verdicts was refused", "request", id, "token", who.Name, "route", r.pattern)
	}})
	c := &call{s: s, route: r, w: w, req: req, ctx: ctx, who: who, id: id, began: time.Now()}
	err := c.run()
	if err != nil && context.Cause(ctx) == errDeadline && (engram.IsCode(err, engram.CodeCanceled) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, errDeadline)) {
		err = newProblem(http.StatusGatewayTimeout, codeDeadline, "the request took longer than "+r.maxTimeout(&s.config).String())
	}
	if r.writes {
		c.audit(err)
	}
	if err != nil {
		if p := asProblem(err); r.writes && (p.Code == codeDeadline || p.Code == string(engram.CodeCanceled)) {
			copied := *p
			copied.Written = "unknown" // it may have been on its way to the disk
			err = &copied
		}
		s.fail(rec, req, id, err)
	}
}

var errDeadline = errors.New("the request took too long")

func (c *call) run() (err error) {
	if c.route.scope != "" && !c.who.May(c.route.scope) && (c.route.or == "" || !c.who.May(c.route.or)) {
		return newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope "+string(c.route.scope))
	}
	if err := c.checkBody(); err != nil {
		return err
	}
	if c.query, err = url.ParseQuery(c.req.URL.RawQuery); err != nil {
		return newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), "the query of the URL is not well-formed")
	}
	if err := c.checkQuery(); err != nil {
		return err
	}
	if err := c.takeKey(); err != nil {
		return err
	}
	if c.route.global {
		return c.route.handle(c)
	}
	c.namespace = c.query.Get("namespace")
	if c.namespace == "" {
		c.namespace = DefaultNamespace
	}
	db, release, err := c.s.acquire(c.ctx, c.who, c.namespace)
	if err != nil {
		return err
	}
	defer release()
	if c.ctx.Err() != nil { // opening it took all the time
		return context.Cause(c.ctx)
	}
	c.db = db
	return c.route.handle(c)
}

// DefaultNamespace is the namespace of requests that name none.
const DefaultNamespace = "default"

// acquire opens a namespace for a request. One that the token may not use is told
// like one that is not there.
func (s *Server) acquire(_ context.Context, who token.Identity, name string) (*engram.DB, func(), error) {
	if err := engram.CheckNamespace(name); err != nil {
		return nil, nil, err
	}
	missing := newProblem(http.StatusNotFound, string(engram.CodeNotFound), "there is no namespace "+name)
	if !who.MayUse(name) {
		return nil, nil, missing
	}
	db, release, err := s.registry.Acquire(name)
	if engram.IsCode(err, engram.CodeNotFound) {
		return nil, nil, missing
	}
	return db, release, err
}

// checkQuery refuses parameters of the URL that are unknown, or there twice.
func (c *call) checkQuery() error {
	known := make([]string, 0, len(c.route.query)+1)
	if !c.route.global {
		known = append(known, "namespace")
	}
	for _, p := range c.route.query {
		known = append(known, p.name)
	}
	for _, name := range sortedKeys(c.query) {
		if !slices.Contains(known, name) {
			p := newProblem(http.StatusBadRequest, strict.UnknownField, "the parameter "+strconv.Quote(name)+" of the URL is unknown: known are "+listOrNone(known))
			p.Field = name
			return p
		}
		if len(c.query[name]) > 1 {
			p := newProblem(http.StatusBadRequest, strict.DuplicateKey, "the parameter "+strconv.Quote(name)+" of the URL is there twice")
			p.Field = name
			return p
		}
	}
	return nil
}

func listOrNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// maxKey is the longest Idempotency-Key in bytes.
const maxKey = 200

func (c *call) takeKey() error {
	keys := c.req.Header.Values("Idempotency-Key")
	if len(keys) == 0 {
		return nil
	}
	if !c.route.keyed {
		return invalid("Idempotency-Key", "this route takes no Idempotency-Key")
	}
	if len(keys) > 1 || keys[0] == "" || len(keys[0]) > maxKey || strings.ContainsFunc(keys[0], func(r rune) bool { return r < '!' || r > '~' }) {
		return invalid("Idempotency-Key", "the Idempotency-Key has 1 to 200 visible ASCII characters")
	}
	c.key = keys[0]
	return nil
}

// invalid is a problem of a field that makes no sense.
func invalid(field, detail string) *problem {
	p := newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), detail)
	p.Field = field
	return p
}

// checkBody checks what is told about the body, and bounds it.
func (c *call) checkBody() error {
	if c.route.body == noBody {
		if c.req.ContentLength > 0 || len(c.req.TransferEncoding) > 0 {
			return newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), "this route takes no body")
		}
		return nil
	}
	types := c.route.types
	if types == nil {
		types = []string{typeJSON}
	}
	values := c.req.Header.Values("Content-Type")
	media, params, err := mime.ParseMediaType(c.req.Header.Get("Content-Type"))
	charset, named := params["charset"]
	if err != nil || len(values) != 1 || !slices.Contains(types, media) || named && !strings.EqualFold(charset, "utf-8") {
		return newProblem(http.StatusUnsupportedMediaType, codeMediaType, "the Content-Type has to be "+strings.Join(types, " or "))
	}
	if c.req.Header.Get("Content-Encoding") != "" {
		return newProblem(http.StatusUnsupportedMediaType, codeMediaType, "bodies are taken unpacked only: leave the Content-Encoding out")
	}
	limit := c.route.maxBody(&c.s.config)
	if c.req.ContentLength > limit {
		return &http.MaxBytesError{Limit: limit}
	}
	c.req.Body = http.MaxBytesReader(c.w, c.req.Body, limit)
	if c.route.body != streamBody {
		// Recorders of tests have no deadlines.
		_ = http.NewResponseController(c.w).SetReadDeadline(time.Now().Add(c.s.config.BodyTimeout))
	}
	return nil
}

// decode reads the body, strictly.
func (c *call) decode(into any) error {
	body, err := readBody(c.req.Body, c.req.ContentLength)
	_ = http.NewResponseController(c.w).SetReadDeadline(time.Time{})
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return newProblem(http.StatusRequestTimeout, codeBodyTimeout, "the body did not come within "+c.s.config.BodyTimeout.String())
	case err != nil:
		return &strict.Error{Code: strict.InvalidJSON, Message: "the body ended early"}
	}
	return strict.Decode(body, into)
}

// readBody reads a body whose declared length is not trusted for more than a start.
func readBody(r io.Reader, declared int64) ([]byte, error) {
	buf := make([]byte, 0, max(512, min(declared+1, 64<<10)))
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// answer writes a JSON answer.
func (c *call) answer(v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return c.answerBytes(body)
}

// answerBytes writes an answer that is JSON already.
func (c *call) answerBytes(body []byte) error {
	h := c.w.Header()
	h.Set("Content-Type", typeJSON)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Length", strconv.Itoa(len(body)+1))
	_ = c.patience() // recorders of tests have no deadlines
	if _, err := c.w.Write(append(body, '\n')); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	return nil
}

// patience gives the client some time to take more of the answer.
func (c *call) patience() error {
	return http.NewResponseController(c.w).SetWriteDeadline(time.Now().Add(c.s.config.WriteTimeout))
}

// audit logs that something may have been written, and by whom, without content.
func (c *call) audit(err error) {
	if c.route.scope == token.Read && !c.wrote.Any() {
		return // it could have written, and did not
	}
	outcome := "ok"
	if err != nil {
		outcome = asProblem(err).Code
	}
	w := c.wrote
	c.s.config.Log.Info("write", "request", c.id, "token", c.who.Name, "method", c.route.method, "route", c.route.pattern,
		"namespace", c.namespace, "outcome", outcome, "nodes_created", w.NodesCreated, "nodes_deleted", w.NodesDeleted,
		"edges_created", w.EdgesCreated, "edges_deleted", w.EdgesDeleted, "properties_set", w.PropertiesSet,
		"ms", time.Since(c.began).Milliseconds())
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
