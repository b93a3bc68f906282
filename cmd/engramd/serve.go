package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"engram"
	"engram/server"
	"engram/server/token"
	"engram/server/tracing"
)

// clock is what a server takes for the time. nil, as it always is but in tests: the
// system's.
var clock func() time.Time

type serveCommand struct {
	Listen    string        `help:"Where to listen: address:port, or unix:PATH; by default ${default}." default:"127.0.0.1:7463" env:"ENGRAM_LISTEN" placeholder:"ADDRESS"`
	TLSCert   string        `help:"Certificate, as PEM; with --tls-key." env:"ENGRAM_TLS_CERT" placeholder:"FILE"`
	TLSKey    string        `help:"Key of the certificate, as PEM." env:"ENGRAM_TLS_KEY" placeholder:"FILE"`
	TokenFile string        `help:"File of the token that may do everything; without it \"token\" in the data directory." env:"ENGRAM_TOKEN_FILE" placeholder:"FILE"`
	Host      []string      `help:"A name of this server that requests may have, beside localhost and 127.0.0.1. Repeatable." placeholder:"NAME" sep:"none"`
	Origin    []string      `help:"An origin, such as https://notes.example, whose web pages may send requests. Repeatable." placeholder:"ORIGIN" sep:"none"`
	Backups   string        `help:"Folder for backups that clients ask for; without it they are refused." env:"ENGRAM_BACKUPS" placeholder:"DIR"`
	Loaded    int           `help:"How many namespaces are loaded at a time, by default ${default}." default:"64" placeholder:"N"`
	Memory    int64         `help:"MiB that the server may hold, without files that are mapped: above it unused namespaces are closed; 0: no bound. By default ${default}." default:"0" env:"ENGRAM_MEMORY" placeholder:"N"`
	Idle      time.Duration `help:"How long an unused namespace stays loaded, by default ${default}." default:"10m" placeholder:"DURATION"`
	Heartbeat time.Duration `help:"Think this often about what is loaded, and propose links and questions, which engramd ponder and GET /v1/idle show; 0, the default: never. At least 10s." placeholder:"DURATION"`
	Rate      int           `help:"Requests a second of one token; 0: no bound. By default ${default}." default:"20000" placeholder:"N"`
	Trace     string        `help:"Send spans of requests to this OpenTelemetry collector, such as http://127.0.0.1:4318; without it nothing is traced." env:"ENGRAM_TRACE" placeholder:"URL"`
	llmFlags
	logFlags
}

// Help is shown by --help.
func (serveCommand) Help() string {
	return `Serves the data directory by HTTP until it is interrupted. Every request needs a token, also on this machine; the first start
makes one. What the routes are, GET /v1/openapi.json tells. Chats are answered by the model of --provider and the flags beside it, as those
of engramd chat; without one by Ollama on this machine, else from memory alone. An address that other machines reach is refused without TLS and a
token that was made before.

Settings may stand in a file, --config FILE or ENGRAM_CONFIG: {"listen": "127.0.0.1:7463", "backups": "/srv/backups"}. A flag goes
before the environment, that before the file.

Examples:
  engramd serve
  engramd serve --listen 0.0.0.0:7463 --tls-cert cert.pem --tls-key key.pem --host memory.example
  curl -H "Authorization: Bearer $(cat engram-data/token)" -H 'Content-Type: application/json' \
    -d '{"query": "where does Ann live?"}' http://127.0.0.1:7463/v1/recall`
}

// refusedError is what policy refuses.
type refusedError struct{ text string }

func (e *refusedError) Error() string { return e.text }

// minHeartbeat keeps thinking from being all that a server does.
const minHeartbeat = 10 * time.Second

// shutdownWait bounds how long requests may go on once the server ends.
const shutdownWait = 10 * time.Second

func (c *serveCommand) Run(a *app) error {
	if (c.TLSCert == "") != (c.TLSKey == "") {
		return &usageError{errors.New("--tls-cert and --tls-key go together")}
	}
	if err := engram.CheckNamespace(a.namespace); err != nil {
		return &usageError{err}
	}
	if c.Heartbeat < 0 || c.Heartbeat > 0 && c.Heartbeat < minHeartbeat {
		return &usageError{fmt.Errorf("--heartbeat %s: want at least %s, or 0 for never", c.Heartbeat, minHeartbeat)}
	}
	tokens := token.Open(a.data, &token.Options{File: c.TokenFile, Now: clock})
	if err := c.mayListen(tokens); err != nil {
		return err
	}
	if c.Memory < 0 || c.Memory > 1<<20 {
		return &usageError{errors.New("--memory wants MiB, or 0 for no bound")}
	}
	if c.Memory > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(c.Memory << 20))
	}
	return a.withRegistryOptions(server.RegistryOptions{Create: true, MaxLoaded: c.Loaded, Idle: c.Idle, Now: clock}, func(r *server.Registry) error {
		if err := r.Create(a.namespace); err != nil && !engram.IsCode(err, engram.CodeExists) {
			return err
		}
		if _, err := tokens.Ensure(); err != nil {
			return err
		}
		return c.serve(a, r, tokens)
	})
}

// mayListen refuses what would let other machines in without TLS and a token.
func (c *serveCommand) mayListen(tokens *token.Store) error {
	if strings.HasPrefix(c.Listen, "unix:") {
		if c.TLSCert != "" {
			return &usageError{errors.New("--tls-cert does nothing on a Unix socket")}
		}
		return nil
	}
	host, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return &usageError{fmt.Errorf("--listen %s: want address:port, such as 127.0.0.1:7463, or unix:PATH", c.Listen)}
	}
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	if c.TLSCert == "" {
		return &refusedError{fmt.Sprintf("refused to listen on %s without TLS: other machines reach it. Give --tls-cert and --tls-key, or listen on 127.0.0.1", c.Listen)}
	}
	if _, err := os.Stat(tokens.File()); errors.Is(err, fs.ErrNotExist) {
		return &refusedError{fmt.Sprintf("refused to listen on %s without a token: other machines reach it. Make one first: engramd token rotate", c.Listen)}
	}
	return nil
}

func (c *serveCommand) serve(a *app, r *server.Registry, tokens *token.Store) error {
	log := c.logger(a.err)
	hub := mcpHub(r)
	hub.Written = auditMCP(log)
	tracer, stopTracing, err := c.tracer(a.ctx)
	if err != nil {
		return err
	}
	defer stopTracing()
	chats, settings, err := c.options(a.ctx, true)
	if err != nil {
		return err
	}
	chats.Now = clock
	s, err := server.New(r, server.Config{
		Chat: chats, ChatSettings: settings, Now: clock, Tracer: tracer, MCP: mcpHandler(hub),
		Tokens: tokens, Hosts: c.Host, Origins: c.Origin, BackupDir: c.Backups, Memory: c.Memory << 20, Version: version(), Rate: noBound(c.Rate), Heartbeat: c.Heartbeat, Log: log,
	})
	if err != nil {
		return err
	}
	defer func() { _ = s.Shutdown(context.WithoutCancel(a.ctx)) }() // an earlier one has told
	l, url, err := c.listen()
	if err != nil {
		return err
	}
	if err := r.SetAddress(url); err != nil {
		return errors.Join(err, l.Close())
	}
	defer shareMCP(a, hub, log)()
	// In one write: who reads until here and closes the pipe would end the process with the next one.
	var told strings.Builder
	fmt.Fprintf(&told, "engramd %s serves %s at %s\nThe token is in %s. Stop it with Ctrl-C.\n", version(), a.data, url, tokens.File())
	printSettings(&told, settings, len(chats.Providers) == 0)
	a.printf("%s", told.String())
	served := make(chan error, 1)
	go func() {
		if c.TLSCert != "" {
			served <- s.ServeTLS(l, c.TLSCert, c.TLSKey)
			return
		}
		served <- s.Serve(l)
	}()
	select {
	case err := <-served:
		return err
	case <-a.ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), shutdownWait)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	if err := <-served; err != nil {
		return err
	}
	a.printf("stopped\n")
	return nil
}

// tracer makes what tells a collector of requests, if that was asked for.
func (c *serveCommand) tracer(ctx context.Context) (server.Tracer, func(), error) {
	if c.Trace == "" {
		return nil, func() {}, nil
	}
	t, err := tracing.New(ctx, tracing.Options{URL: c.Trace, Version: version()})
	if err != nil {
		return nil, nil, &usageError{fmt.Errorf("--trace %w", err)}
	}
	return t, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		_ = t.Shutdown(ctx) // spans that nobody takes are dropped
	}, nil
}

// noBound makes a flag's 0 what the server takes for none.
func noBound(n int) int {
	if n <= 0 {
		return -1
	}
	return n
}

// listen opens the address and tells the URL of it.
func (c *serveCommand) listen() (net.Listener, string, error) {
	if path, ok := strings.CutPrefix(c.Listen, "unix:"); ok {
		return listenUnix(path)
	}
	scheme := "http"
	if c.TLSCert != "" {
		if _, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey); err != nil {
			return nil, "", fmt.Errorf("--tls-cert %s: %w", c.TLSCert, err)
		}
		scheme = "https"
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return nil, "", fmt.Errorf("cannot listen on %s: %w", c.Listen, err)
	}
	return l, scheme + "://" + reachable(l.Addr()), nil
}

// reachable is an address that this machine can talk to.
func reachable(addr net.Addr) string {
	if tcp, ok := addr.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		return fmt.Sprintf("127.0.0.1:%d", tcp.Port)
	}
	return addr.String()
}

// listenUnix listens on a socket that only this user may open. It is made aside and
// gets its name when its mode is right, in place of one that nobody listens on.
func listenUnix(path string) (net.Listener, string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return nil, "", err
	}
	if c, err := net.Dial("unix", path); err == nil {
		return nil, "", errors.Join(fmt.Errorf("%s: somebody listens there already", path), c.Close())
	}
	if info, err := os.Lstat(path); err == nil {
		if info.Mode()&fs.ModeSocket == 0 {
			return nil, "", fmt.Errorf("%s is there already, and no socket", path)
		}
		if err := os.Remove(path); err != nil {
			return nil, "", err
		}
	}
	dir, err := os.MkdirTemp(filepath.Dir(path), ".engramd-") // mode 0700
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	aside := filepath.Join(dir, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: aside, Net: "unix"})
	if err != nil {
		return nil, "", err
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(os.Chmod(aside, 0o600), os.Rename(aside, path)); err != nil {
		return nil, "", errors.Join(err, l.Close())
	}
	return &unixListener{Listener: l, path: path}, "unix:" + path, nil
}

// unixListener removes its socket when it is closed.
type unixListener struct {
	net.Listener
	path string
}

// Close stops listening.
func (l *unixListener) Close() error {
	_ = os.Remove(l.path) // somebody else may have
	return l.Listener.Close()
}
