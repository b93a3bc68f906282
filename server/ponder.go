package server

import (
	"context"
	"net/http"
	"sync"
	"time"

	"engram"
	"engram/server/idle"
	"engram/server/token"

	"github.com/prometheus/client_golang/prometheus"
)

// minds think about the namespaces that are loaded, on a heartbeat.
type minds struct {
	mu    sync.Mutex
	of    map[string]*idle.Mind
	beats *prometheus.CounterVec
}

func newMinds() *minds {
	return &minds{of: map[string]*idle.Mind{}, beats: prometheus.NewCounterVec(
		prometheus.CounterOpts{Name: "engram_idle_beats_total", Help: "What came of thinking on a heartbeat, by producer."}, []string{"producer", "outcome"})}
}

// mind is the one of a namespace.
func (m *minds) mind(name string, now func() time.Time) *idle.Mind {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[name] == nil {
		m.of[name] = idle.New(now)
	}
	return m.of[name]
}

// last is the report about a namespace, nil before the first.
func (m *minds) last(name string) *idle.Report {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.of[name] == nil {
		return nil
	}
	return m.of[name].Last()
}

// forget drops what is known of a namespace that was dropped or renamed.
func (m *minds) forget(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.of, name)
}

// ponder is the goroutine of the heartbeat, ended with the server.
func (s *Server) ponder() {
	tick := time.NewTicker(s.config.Heartbeat)
	defer tick.Stop()
	for {
		select {
		case <-s.base.Done():
			return
		case <-tick.C:
			s.beat(s.base)
		}
	}
}

// beat thinks about each namespace that is loaded, one after the other. None is loaded
// or kept loaded for it.
func (s *Server) beat(ctx context.Context) {
	for _, name := range s.registry.loadedNames() {
		if ctx.Err() != nil {
			return
		}
		db, release, ok := s.registry.borrow(name)
		if !ok {
			continue
		}
		s.beatOne(ctx, name, db)
		release()
	}
}

func (s *Server) beatOne(ctx context.Context, name string, db *engram.DB) {
	report, err := s.minds.mind(name, s.config.Now).Beat(ctx, db)
	if err != nil {
		return // the server ends
	}
	for _, g := range report.Gauges {
		outcome := "found"
		switch {
		case g.FailedInRow > 0:
			outcome = "failed"
			s.config.Log.Warn("a heartbeat's producer failed", "namespace", name, "producer", g.Producer, "code", g.LastError, "in_a_row", g.FailedInRow)
		case g.EmptyInRow > 0:
			outcome = "empty"
		case g.SameInRow > 0:
			outcome = "same"
		}
		s.minds.beats.WithLabelValues(g.Producer, outcome).Inc()
	}
}

// loadedNames lists what is open, sorted.
func (r *Registry) loadedNames() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return sortedKeys(r.open)
}

// borrow is Acquire for what is loaded already, and it does not count as use: the
// namespace is unloaded when it would have been.
func (r *Registry) borrow(name string) (db *engram.DB, release func(), ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	l := r.open[name]
	if l == nil || l.gone != nil || r.closed {
		return nil, nil, false
	}
	select {
	case <-l.ready: // before it, whoever loads writes db and err without the lock
	default:
		return nil, nil, false
	}
	if l.db == nil {
		return nil, nil, false
	}
	l.users++
	return l.db, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		l.users--
	}), true
}

func (s *Server) ponderRoutes() []*route {
	return []*route{{
		method: http.MethodGet, pattern: "/v1/idle", scope: token.Read, handle: s.idleReport,
		summary: "What thinking on a heartbeat proposes", response: idleResponse{},
		detail: "Links and questions, and how those fare that look for them. Nothing is carried out: a link's statement does it. Off unless the server was started with a heartbeat.",
	}}
}

// idleResponse is the last report about a namespace.
type idleResponse struct {
	Namespace string       `json:"namespace"`
	Heartbeat float64      `json:"heartbeat" doc:"Seconds between two beats; 0: off."`
	Report    *idle.Report `json:"report,omitempty" doc:"Missing before the first beat since the namespace was loaded first."`
}

func (s *Server) idleReport(c *call) error {
	return c.answer(idleResponse{c.namespace, s.config.Heartbeat.Seconds(), s.minds.last(c.namespace)})
}
