package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"sync"
	"time"

	"engram"
	"engram/server/internal/login"
	"engram/server/internal/strict"
	"engram/server/token"

	"github.com/gorilla/websocket"
)

// The bounds of one websocket.
const (
	socketStatements    = 32       // statements on their way
	socketSubscriptions = 8        // subscriptions
	socketChats         = 32       // messages and answers of chats whose runs go on
	socketQueue         = 64       // messages that wait for the client
	socketMessage       = 1 << 20  // bytes of a message from the client
	socketChunk         = 32 << 10 // bytes of rows in one message, about
	socketBuffer        = 4 << 10  // bytes of the connection's buffers
	pongWait            = 60 * time.Second
	pingEvery           = 25 * time.Second
	tokenEvery          = 2 * time.Second // how often the token is looked at again
)

// sockets are the websockets that are open.
type sockets struct {
	mu     sync.Mutex
	of     map[string]int // by the token's name
	all    map[*socket]struct{}
	closed bool
	wait   sync.WaitGroup
}

func (s *sockets) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

// reserve takes a place for one more of a token.
func (s *sockets) reserve(name string, limit int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return newProblem(http.StatusServiceUnavailable, codeShutdown, "the server is ending")
	}
	if s.of[name] >= limit {
		p := newProblem(http.StatusTooManyRequests, codeRate, "the token has too many websockets open")
		p.retryAfter = 1
		return p
	}
	s.of[name]++
	return nil
}

func (s *sockets) release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[name]--; s.of[name] == 0 {
		delete(s.of, name)
	}
}

func (s *sockets) add(k *socket) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.all == nil {
		s.all = map[*socket]struct{}{}
	}
	s.all[k] = struct{}{}
	s.wait.Add(1)
	return true
}

func (s *sockets) remove(k *socket) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, k)
	s.wait.Done()
}

func (s *sockets) list() []*socket {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*socket, 0, len(s.all))
	for k := range s.all {
		out = append(out, k)
	}
	return out
}

func (s *sockets) closeAll() {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	for _, k := range s.list() {
		k.end(websocket.CloseGoingAway, "the server is ending")
	}
}

// check ends sockets whose tokens have ended.
func (s *sockets) check(lives func(token.Identity, *login.Session) bool) {
	for _, k := range s.list() {
		if !lives(k.who, k.session) {
			k.end(websocket.ClosePolicyViolation, "the token has ended")
		}
	}
}

// socket is one websocket. Its reader is the goroutine of its request; a writer takes
// what waits for the client; each statement and subscription has a goroutine, all of
// which end with the socket.
type socket struct {
	s         *Server
	conn      *websocket.Conn
	who       token.Identity
	session   *login.Session // nil: it came with a token
	id        string
	namespace string
	db        *engram.DB
	ctx       context.Context
	cancel    context.CancelFunc
	out       chan []byte

	work sync.WaitGroup
	mu   sync.Mutex
	// running are statements and subscriptions on their way, by the client's ids.
	running       map[string]context.CancelFunc
	statements    int
	subscriptions int
	chats         int
	code          int // of the closing message; 0: none was decided
	reason        string
}

func (s *Server) socketRoutes() []*route {
	return []*route{{
		method: http.MethodGet, pattern: "/v1/ws", scope: token.Read, or: token.Chat, stream: true, hidden: true, handle: s.socket,
		summary: "A websocket for many statements and subscriptions",
	}}
}

// socket serves one websocket until it ends.
func (s *Server) socket(c *call) error {
	if !websocket.IsWebSocketUpgrade(c.req) {
		c.w.Header().Set("Upgrade", "websocket")
		return newProblem(http.StatusUpgradeRequired, codeUpgrade, "this path takes websockets only")
	}
	if err := s.sockets.reserve(c.who.Name, s.config.MaxSockets); err != nil {
		return err
	}
	defer s.sockets.release(c.who.Name)
	upgrader := websocket.Upgrader{
		ReadBufferSize: socketBuffer, WriteBufferSize: socketBuffer, WriteBufferPool: &s.buffers, HandshakeTimeout: 5 * time.Second,
		CheckOrigin: func(*http.Request) bool { return true }, // it was checked before anything else
		Error:       func(http.ResponseWriter, *http.Request, int, error) {},
	}
	conn, err := upgrader.Upgrade(hijackable{c.w}, c.req, nil)
	if err != nil {
		return newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), "the upgrade to a websocket is not well-formed")
	}
	c.w.(*recorder).status = http.StatusSwitchingProtocols
	ctx, cancel := context.WithCancel(token.NewContext(s.base, c.who))
	k := &socket{
		s: s, conn: conn, who: c.who, session: sessionOf(c.ctx), id: c.id, namespace: c.namespace, db: c.db, ctx: ctx, cancel: cancel,
		out: make(chan []byte, socketQueue), running: map[string]context.CancelFunc{},
	}
	if !s.sockets.add(k) {
		cancel()
		return conn.Close()
	}
	defer s.sockets.remove(k)
	k.serve()
	return nil
}

// serve reads messages until the socket ends.
func (k *socket) serve() {
	written := make(chan struct{})
	go func() {
		defer close(written)
		k.write()
	}()
	k.conn.SetReadLimit(socketMessage)
	_ = k.conn.SetReadDeadline(time.Now().Add(pongWait)) // a connection has deadlines
	k.conn.SetPongHandler(func(string) error { return k.conn.SetReadDeadline(time.Now().Add(pongWait)) })
	for {
		kind, data, err := k.conn.ReadMessage()
		if err != nil {
			k.end(websocket.CloseNormalClosure, "")
			break
		}
		_ = k.conn.SetReadDeadline(time.Now().Add(pongWait))
		if kind != websocket.TextMessage {
			k.end(websocket.CloseUnsupportedData, "messages are text")
			break
		}
		k.take(data)
	}
	k.work.Wait()
	<-written
}

// end ends the socket. The first reason is the one that the client is told.
func (k *socket) end(code int, reason string) {
	k.mu.Lock()
	if k.code == 0 {
		k.code, k.reason = code, reason
	}
	k.mu.Unlock()
	k.cancel()
}

// write hands the client what waits for it, until the socket ends.
func (k *socket) write() {
	defer func() { _ = k.conn.Close() }() // ends the reader
	ping := time.NewTicker(pingEvery)
	defer ping.Stop()
	for {
		select {
		case m := <-k.out:
			_ = k.conn.SetWriteDeadline(time.Now().Add(k.s.config.WriteTimeout))
			if err := k.conn.WriteMessage(websocket.TextMessage, m); err != nil {
				k.end(websocket.CloseAbnormalClosure, "")
				return
			}
		case <-ping.C:
			if err := k.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(k.s.config.WriteTimeout)); err != nil {
				k.end(websocket.CloseAbnormalClosure, "")
				return
			}
		case <-k.ctx.Done():
			k.mu.Lock()
			code, reason := k.code, k.reason
			k.mu.Unlock()
			if code == 0 {
				code, reason = websocket.CloseGoingAway, "the server is ending"
			}
			// The client may be gone.
			_ = k.conn.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(time.Second))
			return
		}
	}
}

// send queues a message. A client that takes nothing for as long as
// Config.WriteTimeout is dropped.
func (k *socket) send(m []byte) error {
	select {
	case k.out <- m:
		return nil
	default:
	}
	timer := time.NewTimer(k.s.config.WriteTimeout)
	defer timer.Stop()
	select {
	case k.out <- m:
		return nil
	case <-timer.C:
		k.end(websocket.ClosePolicyViolation, "too slow")
		return errSlow
	case <-k.ctx.Done():
		return context.Cause(k.ctx)
	}
}

var errSlow = errors.New("the client is too slow")

// tell queues a message of fields.
func (k *socket) tell(v any) error {
	m, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return k.send(m)
}

// tellError tells what became of a message of the client.
func (k *socket) tellError(id string, err error) {
	p := *asProblem(err)
	p.Request = k.id
	if p.cause != nil {
		k.s.config.Log.Error("message failed", "request", k.id, "code", p.Code, "cause", p.cause.Error())
	}
	_ = k.tell(struct { // the socket is ending: nobody to tell
		ID      string  `json:"id"`
		Type    string  `json:"type"`
		Problem problem `json:"problem"`
	}{id, "error", p})
}

// envelope is a message of the client.
type envelope struct {
	ID      string          `json:"id"`
	Type    string          `json:"type"`
	Request json.RawMessage `json:"request"`
}

const maxMessageID = 64

// take handles one message. Statements go on beside it.
func (k *socket) take(data []byte) {
	var m envelope
	if err := strict.Decode(data, &m); err != nil {
		k.tellError("", err)
		return
	}
	if m.ID == "" || len(m.ID) > maxMessageID {
		k.tellError("", invalid("id", "a message has an id of 1 to 64 bytes"))
		return
	}
	if !k.s.limiters.allow(k.who.Name, &k.s.config) {
		k.tellError(m.ID, newProblem(http.StatusTooManyRequests, codeRate, "too many messages of this token: wait and try again"))
		return
	}
	if len(m.Request) == 0 {
		m.Request = []byte("{}")
	}
	var err error
	does, ok := messages[m.Type]
	switch {
	case m.Type == "cancel":
		err = k.stop(m)
	case !ok:
		err = invalid("type", "the type is query, recall, chat, approve, subscribe or cancel")
	case does.scope != "" && !k.who.May(does.scope):
		err = newProblem(http.StatusForbidden, codeForbidden, "the token does not have the scope "+string(does.scope))
	default:
		err = k.begin(m, does.run)
	}
	if err != nil {
		k.tellError(m.ID, err)
	}
}

// messages are what messages of each type need and do.
var messages = map[string]struct {
	scope token.Scope
	run   func(*socket, context.Context, envelope) error
}{
	"query":     {token.Read, (*socket).query},
	"recall":    {token.Read, (*socket).recall},
	"chat":      {token.Chat, (*socket).chat},
	"approve":   {token.Chat, (*socket).approve},
	"subscribe": {"", (*socket).subscribe}, // of what, it looks at itself
}

// begin runs what a message asks for beside the reader.
func (k *socket) begin(m envelope, run func(*socket, context.Context, envelope) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, twice := k.running[m.ID]; twice {
		return invalid("id", "a message with this id is on its way")
	}
	count, limit, lasts := &k.statements, socketStatements, k.s.config.Timeout
	switch m.Type {
	case "subscribe":
		count, limit, lasts = &k.subscriptions, socketSubscriptions, 0
	case "chat", "approve":
		count, limit, lasts = &k.chats, socketChats, 0
	}
	if *count >= limit {
		return newProblem(http.StatusTooManyRequests, codeRate, "too many are on their way on this websocket: wait for an answer")
	}
	*count++
	ctx, cancel := context.WithCancel(k.ctx)
	if lasts > 0 {
		ctx, cancel = context.WithTimeoutCause(k.ctx, lasts, errDeadline)
	}
	k.running[m.ID] = cancel
	k.work.Go(func() {
		defer func() {
			if r := recover(); r != nil {
				k.s.config.Log.Error("panic", "request", k.id, "panic", r)
				k.tellError(m.ID, newProblem(http.StatusInternalServerError, string(engram.CodeInternal), generic[engram.CodeInternal]))
			}
		}()
		err := run(k, ctx, m)
		cancel()
		k.mu.Lock()
		delete(k.running, m.ID)
		*count--
		k.mu.Unlock()
		if err != nil {
			k.tellError(m.ID, err)
		}
	})
	return nil
}

type cancelRequest struct {
	Target       string `json:"target"`          // the id of a message, or
	Conversation string `json:"conversation_id"` // a conversation
}

// stop cancels a statement or a subscription, which answers with an error then, or the
// run of a conversation.
func (k *socket) stop(m envelope) error {
	var q cancelRequest
	if err := strict.Decode(m.Request, &q); err != nil {
		return err
	}
	if q.Conversation != "" {
		return k.stopRun(m, &q)
	}
	k.mu.Lock()
	cancel, ok := k.running[q.Target]
	k.mu.Unlock()
	if ok {
		cancel()
	}
	return k.stopped(m.ID, ok)
}

func (k *socket) stopped(id string, ok bool) error {
	return k.tell(struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Canceled bool   `json:"canceled"`
	}{id, "canceled", ok})
}
