package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"engram/chatbridge"
	"engram/server/token"
)

// Config says how a Server behaves. The zero value is usable but for Tokens.
type Config struct {
	// Tokens are those that are let in. They have to be given.
	Tokens *token.Store
	// Hosts are names of this server, with a port or for its own, beside those of
	// this machine. Other Host headers are refused.
	Hosts []string
	// Origins are origins, such as https://notes.example, whose pages may send
	// requests. Default: none but the server's own.
	Origins []string
	// BackupDir is where POST /v1/backup puts backups; empty: it is refused. Clients
	// cannot choose it.
	BackupDir string
	// MCP answers /mcp, which is let through to it after the same checks as all other
	// routes; nil: there is no such route.
	MCP http.Handler
	// Chat is what chats of the namespaces are made of; its Memory is the namespace. The
	// zero value: memory alone answers, without a model.
	Chat chatbridge.Options
	// ChatSettings are where the settings of Chat come from, to be told by /v1/stats.
	ChatSettings []chatbridge.Setting
	// Version is told by the OpenAPI document and by /healthz.
	Version string

	// MaxBody bounds the body of a request in bytes, unpacked. Default 16 MiB.
	MaxBody int64
	// MaxImport bounds the body of an import in bytes. Default 4 GiB.
	MaxImport int64
	// Timeout bounds a request whose route has no other bound. Default 60 s.
	Timeout time.Duration
	// StreamTimeout bounds imports, exports and backups. Default 1 h.
	StreamTimeout time.Duration
	// WriteTimeout bounds how long a client may take nothing of an answer.
	// Default 30 s.
	WriteTimeout time.Duration
	// BodyTimeout bounds how long a client may take to send a body that is no
	// import. Default 30 s.
	BodyTimeout time.Duration
	// MaxRunning bounds the statements that run at a time and only read, or belong to
	// an open transaction; others wait up to 5 s and then are refused. Default 64.
	MaxRunning int
	// MaxWriting bounds those that write, most of which wait for each other; they
	// leave the places of MaxRunning to readers. Default 64.
	MaxWriting int
	// Rate bounds the requests of one token a second, RateBurst how many may come at
	// once. Defaults 20,000 each; negative: no bound.
	Rate, RateBurst int
	// MaxConns and MaxConnsPerClient bound open connections, altogether and of one
	// address. Defaults 4,096 and 3,072.
	MaxConns, MaxConnsPerClient int
	// MaxSockets bounds open websockets and event streams of one token. Default 2,500.
	MaxSockets int
	// Memory bounds in bytes what the process holds, without the files that it maps:
	// above it, namespaces that nobody uses are closed, those first that were not used
	// for longest. It is looked at every second, and what is in use stays. Default 0:
	// no bound. Who sets it may want debug.SetMemoryLimit at the same.
	Memory int64
	// MaxTransactions bounds open transactions of one token. Default 16.
	MaxTransactions int

	// Heartbeat is how often the server thinks about the namespaces that are loaded, as
	// package idle does; 0: never. GET /v1/idle tells what came of it.
	Heartbeat time.Duration

	// Tracer is told of requests, as package tracing does; nil: nobody is.
	Tracer Tracer
	// Log gets what happens, never content or tokens. Default: nothing.
	Log *slog.Logger
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Tracer is told of requests, never of what is in them.
type Tracer interface {
	// Start begins the span of a request and returns the context for what it does, and
	// what ends the span with the status and the token's name.
	Start(ctx context.Context, method, route string, header http.Header) (spanned context.Context, end func(status int, token string))
}

func (c Config) withDefaults() Config {
	def(&c.MaxBody, 16<<20)
	def(&c.MaxImport, 4<<30)
	def(&c.Timeout, time.Minute)
	def(&c.StreamTimeout, time.Hour)
	def(&c.WriteTimeout, 30*time.Second)
	def(&c.BodyTimeout, 30*time.Second)
	def(&c.MaxRunning, 64)
	def(&c.MaxWriting, 64)
	def(&c.Rate, 20_000)
	def(&c.RateBurst, 20_000)
	def(&c.MaxConns, 4096)
	def(&c.MaxConnsPerClient, 3072)
	def(&c.MaxSockets, 2500)
	def(&c.MaxTransactions, 16)
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

func def[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}
