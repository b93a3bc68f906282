package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics are what a server counts. Nothing in them names a memory, a token's secret
// or a client.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	page     http.Handler
}

func newMetrics(s *Server) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "engram_http_requests_total", Help: "Requests, by route and status."}, []string{"method", "route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "engram_http_request_seconds", Help: "How long requests took.", Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 60},
		}, []string{"route"}),
	}
	gauge := func(name, help string, read func() float64) {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
	}
	m.registry.MustRegister(m.requests, m.seconds, s.minds.beats, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	gauge("engram_statements_running", "Statements that run and read, or belong to an open transaction.", func() float64 { return float64(len(s.running)) })
	gauge("engram_statements_writing", "Statements that write, or wait for other writers.", func() float64 { return float64(len(s.writing)) })
	gauge("engram_namespaces_loaded", "Namespaces that are loaded.", func() float64 { return float64(s.registry.Loaded()) })
	gauge("engram_transactions_open", "Transactions that clients have open.", func() float64 { return float64(len(s.txs.list())) })
	gauge("engram_websockets_open", "Websockets that are open.", func() float64 { return float64(s.sockets.count()) })
	gauge("engram_event_streams_open", "Streams of events that are open.", func() float64 { return float64(s.streams.count()) })
	gauge("engram_chat_runs", "Runs of chats that go on.", func() float64 { return float64(s.chats.running()) })
	m.page = promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
	return m
}

func (m *metrics) observe(rec *recorder, req *http.Request, took time.Duration) {
	route := rec.pattern
	if route == "" {
		route = "none"
	}
	method := req.Method
	switch method {
	case http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete, http.MethodHead, http.MethodOptions, http.MethodPut:
	default:
		method = "other"
	}
	m.requests.WithLabelValues(method, route, strconv.Itoa(rec.status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

func (s *Server) metricsPage(c *call) error {
	_ = c.patience() // recorders of tests have no deadlines
	s.metrics.page.ServeHTTP(c.w, c.req)
	return nil
}

// healthResponse tells that all is well.
type healthResponse struct {
	Status string `json:"status" enum:"ok"`
}

func (s *Server) healthz(c *call) error { return c.answer(healthResponse{"ok"}) }

// readyz is answered when requests are: draining is told before, to all.
func (s *Server) readyz(c *call) error { return c.answer(healthResponse{"ok"}) }

func (s *Server) openAPI(c *call) error {
	h := c.w.Header()
	h.Set("Content-Type", typeJSON)
	_ = c.patience() // recorders of tests have no deadlines
	if _, err := c.w.Write(s.document); err != nil {
		panic(http.ErrAbortHandler) // the client is gone
	}
	return nil
}
