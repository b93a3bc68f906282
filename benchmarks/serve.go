package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

// ServeOptions say what load a daemon is put under.
type ServeOptions struct {
	// Set is a folder made by Generate.
	Set string
	// Program runs engramd: its path, and what its environment needs beside.
	Program string
	Env     []string
	// Clients ask at a time, each on a connection of its own. Default 32.
	Clients int
	// Requests are measured, altogether. Default 10,000.
	Requests int
	// Sockets are websockets that are opened and left idle before; 0: none.
	Sockets int
	// JSON prints one object a line in place of a table.
	JSON bool
}

// ErrRefused ends a benchmark in which a daemon did not answer as it should.
var ErrRefused = errors.New("the daemon did not answer as it should")

// Serve loads the graph of a set, starts a daemon on it as a process of its own, asks
// it by HTTP to recall two words, from many clients at once, and prints how long
// answers took and what the daemon used, which is read apart from what the clients do.
func Serve(ctx context.Context, opts ServeOptions, out io.Writer) (err error) {
	if opts.Clients == 0 {
		opts.Clients = 32
	}
	if opts.Requests == 0 {
		opts.Requests = 10_000
	}
	r := &speedRun{ctx: ctx, set: opts.Set}
	if err := r.readSet(); err != nil {
		return fmt.Errorf("bench serve: %w", err)
	}
	work, err := os.MkdirTemp("", "engram-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	r.dir = filepath.Join(work, "db")
	if err := r.load(); err != nil {
		return fmt.Errorf("bench serve: load: %w", err)
	}
	if err := r.db.Close(); err != nil {
		return err
	}
	r.rows = nil // loading is bench speed's
	d, err := startDaemon(ctx, r.dir, opts.Program, opts.Env)
	if err != nil {
		return fmt.Errorf("bench serve: %w", err)
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := r.serve(d, opts); err != nil {
		return fmt.Errorf("bench serve: %w", err)
	}
	return r.print(out, opts.JSON)
}

func (r *speedRun) serve(d *daemon, opts ServeOptions) error {
	requests := make([][]byte, len(r.queries.Ft))
	for i, q := range r.queries.Ft {
		requests[i] = d.recallRequest(q[0] + " " + q[1])
	}
	l := &httpLoad{daemon: d, requests: requests, clients: opts.Clients}
	if opts.Sockets > 0 {
		if _, err := l.run(r.ctx, 1); err != nil { // the namespace is loaded
			return err
		}
		if err := r.idleSockets(d, opts.Sockets); err != nil {
			return err
		}
	}
	if _, err := l.run(r.ctx, min(opts.Requests, 2*len(requests))); err != nil { // to warm up
		return err
	}
	if l.found.Load() == 0 {
		return fmt.Errorf("%w: it recalls nothing at all", ErrRefused)
	}
	before, err := d.usage()
	if err != nil {
		return err
	}
	began := time.Now()
	took, err := l.run(r.ctx, opts.Requests)
	if err != nil {
		return err
	}
	elapsed := time.Since(began).Seconds()
	after, err := d.usage()
	if err != nil {
		return err
	}
	var sum time.Duration
	for _, t := range took {
		sum += t
	}
	n := float64(len(took))
	mean, p99, cpu, allocs := milliseconds(sum)/n, milliseconds(percentile(took, 99)), (after.cpu-before.cpu)*1000/n, (after.mallocs-before.mallocs)/n
	right := true // a wrong answer would have ended it
	r.add(speedRow{
		Metric: "http_recall", Value: milliseconds(percentile(took, 50)), Unit: "ms", P99: &p99, Mean: &mean, CPUMean: &cpu, Allocs: &allocs, N: len(took),
		Checksum: fmt.Sprintf("%d clients", opts.Clients), OK: &right,
	})
	r.add(speedRow{Metric: "http_recall_per_s", Value: n / elapsed, Unit: "requests/s", N: len(took)})
	r.add(speedRow{Metric: "serve_rss_mb", Value: after.resident / (1 << 20), Unit: "MB", N: 1})
	return nil
}

// httpLoad asks from several clients, each on a connection of its own. They are made
// of little, so that they leave the processors to the daemon.
type httpLoad struct {
	daemon   *daemon
	requests [][]byte
	clients  int
	found    atomic.Int64 // first answers to a question that had memories
}

// run sends n requests and returns how long each took.
func (l *httpLoad) run(ctx context.Context, n int) ([]time.Duration, error) {
	took := make([]time.Duration, n)
	errs := make([]error, l.clients)
	var next atomic.Int64
	var clients sync.WaitGroup
	for i := range l.clients {
		clients.Go(func() { errs[i] = l.client(ctx, &next, took) })
	}
	clients.Wait()
	return took, errors.Join(errs...)
}

func (l *httpLoad) client(ctx context.Context, next *atomic.Int64, took []time.Duration) error {
	conn, err := net.Dial("tcp", l.daemon.address)
	if err != nil {
		return err
	}
	defer conn.Close()
	in := bufio.NewReaderSize(conn, 64<<10)
	var body bytes.Buffer
	for ctx.Err() == nil {
		i := int(next.Add(1)) - 1
		if i >= len(took) {
			return nil
		}
		began := time.Now()
		if _, err := conn.Write(l.requests[i%len(l.requests)]); err != nil {
			return err
		}
		res, err := http.ReadResponse(in, nil)
		if err != nil {
			return err
		}
		body.Reset()
		_, err = body.ReadFrom(res.Body)
		took[i] = time.Since(began)
		if err != nil {
			return err
		}
		found, err := checkRecall(res.StatusCode, body.Bytes(), i < len(l.requests))
		if err != nil {
			return err
		}
		if found {
			l.found.Add(1)
		}
	}
	return ctx.Err()
}

// checkRecall looks whether an answer is whole and, at the first of each question,
// whether it has memories.
func checkRecall(status int, body []byte, first bool) (found bool, err error) {
	if status != http.StatusOK || !bytes.HasSuffix(body, []byte("}}\n")) {
		return false, fmt.Errorf("%w: %d %.200s", ErrRefused, status, body)
	}
	if !first {
		return false, nil
	}
	var answer struct {
		Memories []struct {
			Node struct {
				ID string `json:"id"`
			} `json:"node"`
		} `json:"memories"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return false, fmt.Errorf("%w: %w", ErrRefused, err)
	}
	return len(answer.Memories) > 0 && answer.Memories[0].Node.ID != "", nil
}
