package server

import (
	"bufio"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"

	"engram/server/internal/login"
	"engram/server/token"

	"golang.org/x/time/rate"
)

// identify tells whose request it is by its token, which is taken from the
// Authorization header only; without one, by the session of a browser that logged in.
func (s *Server) identify(req *http.Request) (token.Identity, *login.Session, error) {
	values := req.Header.Values("Authorization")
	if len(values) == 1 {
		scheme, secret, _ := strings.Cut(values[0], " ")
		if strings.EqualFold(scheme, "Bearer") && secret != "" && len(secret) <= 512 {
			if who, ok := s.config.Tokens.Lookup(strings.TrimSpace(secret)); ok {
				return who, nil, nil
			}
		}
	}
	if len(values) == 0 {
		if session, err := s.bySession(req); err != nil {
			return token.Identity{}, nil, err
		} else if session != nil {
			return session.Who, session, nil
		}
	}
	if err := s.config.Tokens.Err(); err != nil {
		s.config.Log.Error("tokens cannot be read", "cause", err.Error())
	}
	return token.Identity{}, nil, newProblem(http.StatusUnauthorized, codeUnauthenticated, "a valid token is needed, as Authorization: Bearer")
}

// limiters hold the requests of each token to a rate.
type limiters struct {
	mu sync.Mutex
	of map[string]*rate.Limiter
}

func (l *limiters) allow(name string, c *Config) bool {
	if c.Rate < 0 {
		return true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.of[name]
	if limiter == nil {
		limiter = rate.NewLimiter(rate.Limit(c.Rate), max(c.RateBurst, 1))
		l.of[name] = limiter
	}
	return limiter.Allow()
}

// trim forgets those that are full again. Names are those of tokens, so there are few.
func (l *limiters) trim() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, limiter := range l.of {
		if limiter.Tokens() >= float64(limiter.Burst()) {
			delete(l.of, name)
		}
	}
}

// recorder notes what was answered.
type recorder struct {
	http.ResponseWriter
	status  int
	bytes   int64
	pattern string // of the route, empty when there is none
	who     string // the token's name
}

// WriteHeader notes the status.
func (r *recorder) WriteHeader(status int) {
	if r.status == 0 && (status >= 200 || status == http.StatusSwitchingProtocols) {
		r.status = status
	}
	r.ResponseWriter.WriteHeader(status)
}

// Write counts.
func (r *recorder) Write(b []byte) (int, error) {
	if r.status == 0 {
		r.status = http.StatusOK
	}
	n, err := r.ResponseWriter.Write(b)
	r.bytes += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController.
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// hijackable gives a websocket the connection.
type hijackable struct{ http.ResponseWriter }

// Hijack takes the connection over.
func (h hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	return http.NewResponseController(h.ResponseWriter).Hijack()
}

// cutPattern cuts a pattern of the mux into method and path.
func cutPattern(pattern string) (method, path string, ok bool) { return strings.Cut(pattern, " ") }

// printableMethod keeps a strange method short.
func printableMethod(m string) string {
	if len(m) > 16 {
		return m[:16] + "..."
	}
	return m
}

// quiet takes what net/http would print. It names clients' addresses and broken
// requests, which are no errors of ours.
func quiet(l *slog.Logger) *log.Logger {
	return log.New(logWriter{l}, "", 0)
}

type logWriter struct{ log *slog.Logger }

// Write logs a line.
func (w logWriter) Write(b []byte) (int, error) {
	w.log.Debug("http", "message", strings.TrimSpace(string(b)))
	return len(b), nil
}

var _ io.Writer = logWriter{}
