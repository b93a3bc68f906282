package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"net/http"
	"strconv"
	"sync"
	"syscall"
	"time"

	"engram"
	"engram/chatbridge"
	"engram/server/internal/login"
	"engram/server/token"
)

// keepAlive is how often a stream says something, so that both ends see that it lives.
const keepAlive = 15 * time.Second

// streamPiece is about how many bytes of events are written at once.
const streamPiece = 64 << 10

// streams are the event streams that are open.
type streams struct {
	mu  sync.Mutex
	all map[*eventStream]struct{}
}

type eventStream struct {
	who     token.Identity
	session *login.Session // nil: it came with a token
	cancel  context.CancelCauseFunc
}

var errTokenEnded = errors.New("the token has ended")

func (s *streams) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.all)
}

func (s *streams) add(e *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[e] = struct{}{}
}

func (s *streams) remove(e *eventStream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.all, e)
}

// check ends streams whose tokens have ended.
func (s *streams) check(lives func(token.Identity, *login.Session) bool) {
	s.mu.Lock()
	all := make([]*eventStream, 0, len(s.all))
	for e := range s.all {
		all = append(all, e)
	}
	s.mu.Unlock()
	for _, e := range all {
		if !lives(e.who, e.session) {
			e.cancel(errTokenEnded)
		}
	}
}

// streamEvents writes the events of a leg behind a number as they come, until it ends.
func (c *call) streamEvents(run *chatbridge.Run, after int) error {
	if err := c.s.sockets.reserve(c.who.Name, c.s.config.MaxSockets); err != nil {
		return err
	}
	defer c.s.sockets.release(c.who.Name)
	ctx, cancel := context.WithCancelCause(c.ctx)
	defer cancel(nil)
	e := &eventStream{c.who, sessionOf(c.ctx), cancel}
	c.s.streams.add(e)
	defer c.s.streams.remove(e)
	c.beginStream()
	for {
		wait, done := context.WithTimeout(ctx, keepAlive)
		events, err := run.Next(wait, after)
		done()
		switch {
		case errors.Is(err, io.EOF):
			_ = c.patience() // with the end of the answer, long after the last event maybe
			return nil
		case ctx.Err() != nil:
			return c.cut(context.Cause(ctx))
		case err != nil:
			err = c.write([]byte(": still here\n\n"))
		default:
			after = events[len(events)-1].Seq
			err = c.writeEvents(events)
		}
		if err != nil {
			return c.cut(err)
		}
	}
}

func (c *call) beginStream() {
	h := c.w.Header()
	h.Set("Content-Type", typeSSE)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no") // proxies are not to gather it
	c.w.WriteHeader(http.StatusOK)
	_ = c.write(nil) // the next one tells
}

// cut ends a stream that is not whole. That the client has gone is routine.
func (c *call) cut(err error) error {
	left := errors.Is(err, context.Canceled) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET)
	if left || errors.Is(err, errDeadline) || errors.Is(err, errTokenEnded) {
		c.s.config.Log.Info("a stream of events ended early; its run goes on", "request", c.id)
	} else {
		c.s.config.Log.Error("a stream of events could not be written; its run goes on", "request", c.id, "cause", err.Error())
	}
	panic(http.ErrAbortHandler)
}

func (c *call) writeEvents(events []chatbridge.Event) error {
	var piece []byte
	for _, e := range events {
		data, err := json.Marshal(e)
		if err != nil {
			return err
		}
		piece = append(strconv.AppendInt(append(piece, "id: "...), int64(e.Seq), 10), "\nevent: "...)
		piece = append(append(append(append(piece, e.Type...), "\ndata: "...), data...), "\n\n"...)
		if len(piece) >= streamPiece {
			if err := c.write(piece); err != nil {
				return err
			}
			piece = piece[:0]
		}
	}
	return c.write(piece)
}

// write hands the client something at once. One that takes nothing for as long as
// Config.WriteTimeout is given up.
func (c *call) write(piece []byte) error {
	_ = c.patience() // recorders of tests have no deadlines
	if _, err := c.w.Write(piece); err != nil {
		return err
	}
	return http.NewResponseController(c.w).Flush()
}

// eventsResponse are the events of a run so far.
type eventsResponse struct {
	Conversation string             `json:"conversation_id"`
	Run          string             `json:"run_id,omitempty" doc:"Left out when there was none yet."`
	Status       string             `json:"status,omitempty" doc:"running, pending, done or failed."`
	Events       []chatbridge.Event `json:"events"`
}

// replay is what is known of a run: a leg that goes on now, or what was stored.
type replay struct {
	live   *chatbridge.Run
	stored *chatbridge.Stored
}

func replayOf(ctx context.Context, b *chatbridge.Bridge, conversation, run string, after int) (replay, error) {
	if live := b.Live(conversation); live != nil && (run == "" || live.ID == run) {
		return replay{live: live}, nil
	}
	stored, err := b.Stored(ctx, conversation, run, after)
	if err == nil && stored == nil && run != "" {
		err = newProblem(http.StatusNotFound, codeNoRun, "the conversation has no such run")
	}
	return replay{stored: stored}, err
}

func (s *Server) events(c *call) error {
	id := c.req.PathValue("id")
	b, err := s.conversation(c.ctx, c.who, c.namespace, id)
	if err != nil {
		return err
	}
	after, err := c.number("after", 0, 0, math.MaxInt32)
	if err != nil {
		return err
	}
	if last := c.req.Header.Get("Last-Event-ID"); last != "" && c.wantsEvents() && c.query.Get("after") == "" {
		if after, err = strconv.Atoi(last); err != nil || after < 0 {
			return newProblem(http.StatusBadRequest, string(engram.CodeInvalidArgument), "the Last-Event-ID is a number")
		}
	}
	r, err := replayOf(c.ctx, b, id, c.query.Get("run"), after)
	if err != nil {
		return err
	}
	switch out := (eventsResponse{Conversation: id, Events: []chatbridge.Event{}}); {
	case r.live != nil && c.wantsEvents():
		return c.streamEvents(r.live, after)
	case r.live != nil:
		out.Run, out.Status, out.Events = r.live.ID, "running", append(out.Events, r.live.Events(after)...)
		return c.answer(out)
	case c.wantsEvents():
		c.beginStream()
		if r.stored == nil {
			return nil
		}
		if err := c.writeEvents(r.stored.Events); err != nil {
			return c.cut(err)
		}
		return nil
	default:
		if r.stored != nil {
			out.Run, out.Status, out.Events = r.stored.ID, r.stored.Status, append(out.Events, r.stored.Events...)
		}
		return c.answer(out)
	}
}
