package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

const (
	// maxLine bounds a message in bytes.
	maxLine = 16 << 20
	// lastAnswers is how long a client that has ended its input gets answers to what
	// it asked before.
	lastAnswers = 10 * time.Second
	// replayID is the id of requests that a front makes itself.
	replayID = `"engram-relay"`
	// maxSent is how often a request is sent again: one that ends every session has
	// to be given up.
	maxSent = 3
)

// Front stands between a client and the owner of a data directory, whoever that is
// at the moment.
type Front struct {
	// Connect begins a session, with this or another process. It is called again
	// when a session has ended before its client.
	Connect func(ctx context.Context) (io.ReadWriteCloser, error)

	out   io.Writer
	write sync.Mutex // held while a line is written to out

	mu       sync.Mutex
	pending  []request // asked and not answered, in order
	first    []byte    // the client's initialize
	began    []byte    // its notification that it is initialized
	watched  []request // its subscriptions
	answered chan struct{}
}

// request is a request of the client: its id as JSON, and the whole line.
type request struct {
	id     string
	method string
	line   []byte
	uri    string // of a subscription
	sent   int    // how often it was sent again
}

// message is what a front has to know of a line.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		RequestID json.RawMessage `json:"requestId"`
		URI       string          `json:"uri"`
	} `json:"params"`
}

// connection is a session with the owner.
type connection struct {
	stream io.ReadWriteCloser
	lines  *bufio.Reader
	lost   chan error // gets the error that ended it
}

// Run carries messages until the client ends its input or ctx ends. Its error is
// that of the first connection.
func (f *Front) Run(ctx context.Context, in io.Reader, out io.Writer) error {
	f.out, f.answered = out, make(chan struct{}, 1)
	conn, err := f.open(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if conn != nil {
			f.end(conn)
		}
	}()
	input := make(chan []byte)
	done := make(chan struct{})
	defer close(done)
	go f.readInput(in, input, done)
	var lastCall <-chan time.Time
	for {
		if input == nil && !f.waits() {
			return nil
		}
		var lost chan error
		if conn != nil {
			lost = conn.lost
		}
		select {
		case <-ctx.Done():
			return nil
		case <-lastCall:
			return nil
		case <-f.answered:
		case <-lost:
			conn = f.reopen(ctx, conn)
		case line, ok := <-input:
			if !ok {
				input, lastCall = nil, time.After(lastAnswers)
				continue
			}
			conn = f.forward(ctx, conn, line)
		}
	}
}

// forward takes a line of the client and passes it on.
func (f *Front) forward(ctx context.Context, conn *connection, line []byte) *connection {
	f.note(line)
	if conn == nil {
		return f.reopen(ctx, nil) // which sends what is pending
	}
	if _, err := conn.stream.Write(line); err != nil {
		return f.reopen(ctx, conn)
	}
	return conn
}

// note remembers what has to be said again to another owner.
func (f *Front) note(line []byte) {
	var m message
	if json.Unmarshal(line, &m) != nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case m.Method == "notifications/initialized":
		f.began = line
	case m.Method == "notifications/cancelled":
		f.dropLocked(string(m.Params.RequestID))
	case m.Method == "" || len(m.ID) == 0 || bytes.Equal(m.ID, []byte("null")):
	default:
		r := request{id: string(m.ID), method: m.Method, line: line, uri: m.Params.URI}
		if m.Method == "initialize" {
			f.first = line
		}
		f.pending = append(f.pending, r)
	}
}

func (f *Front) dropLocked(id string) (r request, ok bool) {
	i := slices.IndexFunc(f.pending, func(r request) bool { return r.id == id })
	if i < 0 {
		return request{}, false
	}
	r = f.pending[i]
	f.pending = slices.Delete(f.pending, i, i+1)
	return r, true
}

func (f *Front) waits() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.pending) > 0
}

// answer passes a line of the owner on to the client.
func (f *Front) answer(line []byte) error {
	var m message
	if json.Unmarshal(line, &m) == nil && m.Method == "" && len(m.ID) > 0 {
		if string(m.ID) == replayID {
			return nil
		}
		f.mu.Lock()
		if r, ok := f.dropLocked(string(m.ID)); ok {
			f.rememberLocked(r)
		}
		f.mu.Unlock()
		defer func() {
			select {
			case f.answered <- struct{}{}:
			default:
			}
		}()
	}
	return f.tell(line)
}

// rememberLocked notes subscriptions that were answered.
func (f *Front) rememberLocked(r request) {
	switch r.method {
	case "resources/subscribe":
		f.watched = append(f.watched, r)
	case "resources/unsubscribe":
		f.watched = slices.DeleteFunc(f.watched, func(w request) bool { return w.uri == r.uri })
	}
}

func (f *Front) tell(line []byte) error {
	f.write.Lock()
	defer f.write.Unlock()
	_, err := f.out.Write(line)
	return err
}

// open begins a session and reads its answers.
func (f *Front) open(ctx context.Context) (*connection, error) {
	stream, err := f.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &connection{stream, bufio.NewReaderSize(stream, 64<<10), make(chan error, 1)}
	stop := context.AfterFunc(ctx, func() { _ = stream.Close() })
	pending, err := f.replay(conn)
	if err != nil {
		stop()
		return nil, errors.Join(err, stream.Close())
	}
	// The reader runs before more is written: an owner that cannot answer may not
	// read either.
	go func() {
		defer stop()
		for {
			line, err := nextLine(conn.lines)
			if err == nil {
				err = f.answer(line)
			}
			if err != nil {
				conn.lost <- err
				return
			}
		}
	}()
	for _, r := range pending {
		if _, err := stream.Write(r.line); err != nil {
			f.end(conn)
			return nil, err
		}
	}
	return conn, nil
}

// end closes a session and waits for its reader.
func (f *Front) end(conn *connection) {
	_ = conn.stream.Close()
	<-conn.lost
}

// replay tells a new owner what the one before knew. It returns what was not
// answered.
func (f *Front) replay(conn *connection) (pending []request, err error) {
	f.mu.Lock()
	first, began := f.first, f.began
	watched := slices.Clone(f.watched)
	pending = slices.Clone(f.pending)
	for i := range f.pending {
		f.pending[i].sent++
	}
	f.mu.Unlock()
	if slices.ContainsFunc(pending, func(r request) bool { return r.method == "initialize" }) {
		first = nil // it is among what is pending
	}
	if first != nil {
		if err := f.ask(conn, first); err != nil {
			return nil, err
		}
	}
	if began != nil {
		if _, err := conn.stream.Write(began); err != nil {
			return nil, err
		}
	}
	for _, w := range watched {
		if err := f.ask(conn, w.line); err != nil {
			return nil, err
		}
	}
	return pending, nil
}

// ask makes a request of the client again, under an id of its own, and waits for
// the answer.
func (f *Front) ask(conn *connection, line []byte) error {
	var m map[string]json.RawMessage
	if err := json.Unmarshal(line, &m); err != nil {
		return err
	}
	m["id"] = json.RawMessage(replayID)
	if err := writeLine(conn.stream, m); err != nil {
		return err
	}
	for {
		line, err := nextLine(conn.lines)
		if err != nil {
			return err
		}
		var answer message
		if json.Unmarshal(line, &answer) == nil && string(answer.ID) == replayID {
			return nil
		}
		if err := f.answer(line); err != nil {
			return err
		}
	}
}

// reopen begins another session after one was lost. When that fails, what is
// pending is answered with why; the next request tries again.
func (f *Front) reopen(ctx context.Context, lost *connection) *connection {
	if lost != nil {
		_ = lost.stream.Close()
	}
	f.giveUp(maxSent, "the session ended whenever this was asked")
	var err error
	for range maxSent {
		var conn *connection
		if conn, err = f.open(ctx); err == nil {
			return conn
		}
		if ctx.Err() != nil {
			return nil
		}
		if !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrClosedPipe) {
			break
		} // else the next owner has gone, too
	}
	f.giveUp(0, "the data directory cannot be used: "+err.Error())
	return nil
}

// giveUp answers what was sent so often with an error.
func (f *Front) giveUp(sent int, why string) {
	f.mu.Lock()
	pending := slices.Clone(f.pending)
	f.mu.Unlock()
	for _, r := range pending {
		if r.sent >= sent {
			_ = f.answer(failure(r.id, -32000, why))
		}
	}
}

func failure(id string, code int, message string) []byte {
	text, _ := json.Marshal(message)
	return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"error":{"code":%d,"message":%s}}`+"\n", id, code, text)
}

// readInput hands the client's messages on, each on a line of its own.
func (f *Front) readInput(in io.Reader, lines chan<- []byte, done <-chan struct{}) {
	defer close(lines)
	r := bufio.NewReaderSize(in, 64<<10)
	for {
		line, err := nextLine(r)
		if errors.Is(err, bufio.ErrTooLong) {
			_ = f.tell(failure("null", -32600, "a message has at most 16 MiB"))
			continue
		}
		for _, m := range f.messages(line) {
			select {
			case lines <- m:
			case <-done:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// messages are those of a line: one, or those of a batch.
func (f *Front) messages(line []byte) [][]byte {
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) == 0 {
		return nil
	}
	if trimmed[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(trimmed, &batch) == nil {
			var out [][]byte
			for _, m := range batch {
				out = append(out, f.messages(m)...)
			}
			return out
		}
	}
	if trimmed[0] != '{' || !json.Valid(trimmed) {
		_ = f.tell(failure("null", -32700, "this is no JSON-RPC message: one JSON object a line is expected"))
		return nil
	}
	var compact bytes.Buffer // a message of a batch may have lines of its own
	if json.Compact(&compact, trimmed) != nil {
		return nil
	}
	return [][]byte{append(compact.Bytes(), '\n')}
}

// nextLine reads a line with its end. A longer one than allowed is read to its end
// and is bufio.ErrTooLong.
func nextLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		if len(line) <= maxLine {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == nil && len(line) > maxLine:
			return nil, bufio.ErrTooLong
		default:
			return line, err
		}
	}
}
