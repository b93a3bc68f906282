package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"engram/server/internal/guard"
	"engram/server/internal/login"
	"engram/server/token"

	"golang.org/x/time/rate"
)

// Server answers HTTP requests about the namespaces of a Registry. Use it as an
// http.Handler, or let it Serve a listener, which holds connections to the limits
// too.
//
//	s, err := server.New(registry, server.Config{Tokens: token.Open(dir, nil)})
//	if err != nil {
//		return err
//	}
//	listener, err := net.Listen("tcp", "127.0.0.1:7463")
//	if err != nil {
//		return err
//	}
//	go s.Serve(listener)
//	defer s.Shutdown(ctx)
type Server struct {
	registry *Registry
	config   Config
	rules    guard.Rules
	mux      *http.ServeMux
	table    []*route
	methods  map[string][]string // pattern → methods
	document []byte              // OpenAPI
	http     *http.Server
	metrics  *metrics
	running  chan struct{} // a place for each statement that runs and reads
	writing  chan struct{} // and for each that writes
	writes   writes
	txs      *transactions
	limiters limiters
	sockets  sockets
	streams  streams
	chats    chats
	buffers  sync.Pool // of websockets
	minds    *minds
	logins   *login.Book
	open     map[string]bool // patterns that need no token

	draining atomic.Bool
	stop     context.CancelFunc // of what outlives requests
	base     context.Context
	janitor  sync.WaitGroup
}

// New makes a server. Shutdown has to end it, also when Serve was never called. The
// registry stays the caller's.
func New(registry *Registry, config Config) (*Server, error) {
	if config.Tokens == nil {
		return nil, errors.New("server: no tokens were given")
	}
	config = config.withDefaults()
	s := &Server{
		registry: registry, config: config, rules: guard.Rules{Hosts: config.Hosts, Origins: config.Origins},
		mux: http.NewServeMux(), methods: map[string][]string{}, running: make(chan struct{}, config.MaxRunning), writing: make(chan struct{}, config.MaxWriting),
	}
	s.base, s.stop = context.WithCancel(context.Background())
	s.txs = newTransactions(&s.config)
	s.limiters.of = map[string]*rate.Limiter{}
	s.sockets.of = map[string]int{}
	s.streams.all = map[*eventStream]struct{}{}
	s.chats.s, s.chats.of = s, map[string]*chat{}
	s.minds = newMinds()
	s.logins, s.open = login.New(config.Tokens, config.Now), map[string]bool{}
	s.metrics = newMetrics(s)
	s.table = s.routes()
	for _, r := range s.table {
		s.mux.HandleFunc(r.method+" "+r.pattern, func(w http.ResponseWriter, req *http.Request) { s.serveRoute(r, w, req) })
		s.open[r.method+" "+r.pattern] = r.scope == ""
		s.methods[r.pattern] = append(s.methods[r.pattern], r.method)
	}
	var err error
	if s.document, err = document(s); err != nil {
		return nil, err
	}
	if _, err := s.chats.bridge(DefaultNamespace); err != nil { // what is wrong with the options is told now
		return nil, err
	}
	s.http = &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 32 << 10,
		BaseContext: func(net.Listener) context.Context { return s.base },
		ErrorLog:    quiet(config.Log), DisableGeneralOptionsHandler: true,
	}
	s.janitor.Go(s.clean)
	if config.Heartbeat > 0 {
		s.janitor.Go(s.ponder)
	}
	return s, nil
}

// Serve answers on a listener until Shutdown; then it returns nil.
func (s *Server) Serve(l net.Listener) error {
	return served(s.http.Serve(s.bounded(l)))
}

// ServeTLS is Serve with TLS, by the files of a certificate and its key.
func (s *Server) ServeTLS(l net.Listener, cert, key string) error {
	return served(s.http.ServeTLS(s.bounded(l), cert, key))
}

func (s *Server) bounded(l net.Listener) net.Listener {
	return &guard.Listener{Listener: l, Total: s.config.MaxConns, PerClient: s.config.MaxConnsPerClient}
}

func served(err error) error {
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

// Shutdown takes no more requests, waits for those that run as long as ctx lives,
// ends what is open, and stops. It may be called again.
func (s *Server) Shutdown(ctx context.Context) error {
	s.draining.Store(true)
	s.sockets.closeAll()
	err := s.chats.closeAll(ctx) // runs end, and with them the requests that wait for them
	ended := s.http.Shutdown(ctx)
	s.stop()
	if ended != nil {
		err = errors.Join(err, ended, s.http.Close())
	}
	s.txs.closeAll()
	s.sockets.wait.Wait()
	s.janitor.Wait()
	return err
}

// lives reports whether the token of something that is open still works, and the session
// that it was opened by goes on.
func (s *Server) lives(who token.Identity, session *login.Session) bool {
	return s.config.Tokens.Valid(who) && s.logins.Alive(session)
}

// clean ends idle transactions, forgets limiters and bridges, and unloads idle namespaces.
func (s *Server) clean() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	look := time.NewTicker(tokenEvery)
	defer look.Stop()
	for {
		select {
		case <-s.base.Done():
			return
		case <-look.C:
			s.sockets.check(s.lives)
			s.streams.check(s.lives)
		case <-tick.C:
			s.txs.expire(s.config.Now())
			s.limiters.trim()
			s.chats.trim(s.config.Now())
			s.registry.UnloadIdle()
			s.keepMemory()
		}
	}
}

// ServeHTTP implements http.Handler. The checks of Host and Origin are before all
// else, those of the token before anything that tells what there is.
func (s *Server) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	id := newRequestID()
	w.Header().Set("X-Request-Id", id)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	rec := &recorder{ResponseWriter: w}
	began := time.Now()
	defer func() {
		if r := recover(); r != nil {
			if err, ok := r.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(r) // closes the connection
			}
			s.config.Log.Error("panic", "request", id, "path", req.URL.Path, "panic", fmt.Sprint(r), "stack", string(debug.Stack()))
			s.fail(rec, req, id, fmt.Errorf("panic: %v", r))
		}
		s.metrics.observe(rec, req, time.Since(began))
	}()
	if err := s.enter(rec, req, id); err != nil {
		s.fail(rec, req, id, err)
	}
}

// enter lets a request in, or tells why not.
func (s *Server) enter(w *recorder, req *http.Request, id string) error {
	switch err := s.rules.Check(req); {
	case errors.Is(err, guard.ErrHost):
		return newProblem(http.StatusForbidden, codeHostRefused, err.Error())
	case err != nil:
		return newProblem(http.StatusForbidden, codeOriginRefused, err.Error())
	}
	if origin := req.Header.Get("Origin"); origin != "" && s.rules.OriginAllowed(origin) {
		w.Header().Set("Access-Control-Allow-Origin", origin)
		w.Header().Add("Vary", "Origin")
		if req.Method == http.MethodOptions {
			return s.preflight(w)
		}
	}
	_, pattern := s.mux.Handler(req)
	_, path, _ := cutPattern(pattern)
	w.pattern = path
	if s.open[pattern] {
		s.mux.ServeHTTP(w, req.WithContext(context.WithValue(req.Context(), requestIDKey{}, id)))
		return nil
	}
	who, session, err := s.identify(req)
	if err != nil {
		return err
	}
	w.who = who.Name
	if s.draining.Load() {
		p := newProblem(http.StatusServiceUnavailable, codeShutdown, "the server is ending: nothing was done")
		p.retryAfter = 1
		return p
	}
	if !s.limiters.allow(who.Name, &s.config) {
		p := newProblem(http.StatusTooManyRequests, codeRate, "too many requests of this token: wait and try again")
		p.retryAfter = 1
		return p
	}
	if pattern == "" {
		return s.notRouted(w, req)
	}
	ctx := context.WithValue(token.NewContext(req.Context(), who), requestIDKey{}, id)
	if session != nil {
		ctx = context.WithValue(ctx, sessionKey{}, session)
	}
	if s.config.Tracer != nil {
		spanned, end := s.config.Tracer.Start(ctx, req.Method, path, req.Header)
		ctx = spanned
		defer func() { end(w.status, who.Name) }()
	}
	s.mux.ServeHTTP(w, req.WithContext(ctx))
	return nil
}

// notRouted tells what is not there, and what methods are.
func (s *Server) notRouted(w http.ResponseWriter, req *http.Request) error {
	var allow []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		probe := req.Clone(req.Context())
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != "" {
			allow = append(allow, m)
		}
	}
	if len(allow) == 0 {
		return newProblem(http.StatusNotFound, codeNoRoute, "there is nothing at this path: /v1/openapi.json tells what there is")
	}
	for _, m := range allow {
		w.Header().Add("Allow", m)
	}
	return newProblem(http.StatusMethodNotAllowed, codeMethod, "this path does not take "+printableMethod(req.Method))
}

// preflight answers what browsers ask before a request from a configured origin.
func (s *Server) preflight(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Access-Control-Allow-Methods", "GET, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Idempotency-Key, Accept")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return nil
}

type requestIDKey struct{}

func newRequestID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// fail answers with an error, unless the answer has begun: then the connection is
// cut, so that nobody takes it for whole.
func (s *Server) fail(w *recorder, req *http.Request, id string, err error) {
	p := asProblem(err)
	copied := *p
	copied.Request = id
	if copied.Status >= 500 || copied.cause != nil {
		s.config.Log.Error("request failed", "request", id, "method", printableMethod(req.Method), "route", w.pattern, "code", copied.Code, "cause", cause(p))
	}
	if w.status != 0 {
		panic(http.ErrAbortHandler)
	}
	if req.ProtoMajor == 1 && req.ContentLength != 0 {
		w.Header().Set("Connection", "close") // what is left of the body is not read
	}
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.config.WriteTimeout)) // recorders of tests have none
	copied.write(w)
}

func cause(p *problem) string {
	if p.cause != nil {
		return p.cause.Error()
	}
	return p.Code
}
