package client

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"engram"
)

// entry is one write that waits. Its key is the Idempotency-Key that it was sent with,
// so that it is written once, whatever became of that.
type entry struct {
	Key        string                     `json:"key"`
	Namespace  string                     `json:"namespace"`
	Statement  string                     `json:"statement"`
	Parameters map[string]json.RawMessage `json:"parameters"`
}

// The files of a spool. What is being sent is never added to, so that a batch is the
// same each time it is sent.
const (
	spoolFile = "waiting.jsonl"
	sendingAs = "sending-" // and the batch's key
	spoolLock = "spool.lock"
)

// batchEntries and batchBytes bound one batch.
const (
	batchEntries = 500
	batchBytes   = 4 << 20
)

// spool keeps writes in a folder until they are acknowledged.
type spool struct {
	dir  string
	lock *os.File
	mu   sync.Mutex
	// drain is held while what waits is being sent.
	drain sync.Mutex
}

func openSpool(dir string) (*spool, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, spoolLock), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, errors.Join(fault(engram.CodeBusy, dir+" is the spool of another client that is open: give each its own"), lock.Close())
	}
	return &spool{dir: dir, lock: lock}, nil
}

func (s *spool) close() error { return s.lock.Close() }

// add appends a write, durably.
func (s *spool) add(e entry) (err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.dir, spoolFile), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Sync(), f.Close(), syncDir(s.dir))
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// batches returns the files that are to be sent, oldest first: those that were begun
// before, and what waits now.
func (s *spool) batches() ([]string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries { // by name, which begins with a number that grows
		if strings.HasPrefix(e.Name(), sendingAs) {
			out = append(out, filepath.Join(s.dir, e.Name()))
		}
	}
	waiting := filepath.Join(s.dir, spoolFile)
	if _, err := os.Stat(waiting); errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	number := 1
	if len(out) > 0 {
		_, _ = fmt.Sscanf(strings.TrimPrefix(filepath.Base(out[len(out)-1]), sendingAs), "%d", &number) // ours
		number++
	}
	name := filepath.Join(s.dir, fmt.Sprintf("%s%08d-%s", sendingAs, number, newKey()))
	if err := errors.Join(os.Rename(waiting, name), syncDir(s.dir)); err != nil {
		return nil, err
	}
	return append(out, name), nil
}

func newKey() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	return hex.EncodeToString(b[:])
}

// readEntries reads a file; a last line that was cut by a crash was never promised.
func readEntries(path string) ([]entry, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var out []entry
	for sc := bufio.NewReader(bytes.NewReader(content)); ; {
		text, err := sc.ReadBytes('\n')
		if err != nil {
			return out, nil
		}
		var e entry
		if err := json.Unmarshal(text, &e); err != nil {
			return nil, fmt.Errorf("%s, line %d: %w", path, len(out)+1, err)
		}
		out = append(out, e)
	}
}

// Store writes by one statement that mints its own ids. When it returns without an
// error, it is durable at the server. When no acknowledgement came, the write is put
// into the spool, if there is one, and the error has CodeQueued: it is sent again by
// the next Store or Drain, also of a later process, and written once. What waits goes
// before what is new.
func (c *Client) Store(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	typed, err := typedParams(params)
	if err != nil {
		return nil, err
	}
	e := entry{Key: newKey(), Namespace: c.namespace, Statement: text, Parameters: typed}
	if c.spool != nil && c.Waiting() > 0 {
		if _, err := c.Drain(ctx); err != nil {
			return nil, c.queue(e, err)
		}
	}
	res, _, err := c.QueryOnce(ctx, e.Key, text, params)
	if err != nil && unanswered(err) {
		return nil, c.queue(e, err)
	}
	return res, err
}

// queue keeps a write that was not acknowledged.
func (c *Client) queue(e entry, cause error) error {
	if c.spool == nil {
		return cause
	}
	if err := c.spool.add(e); err != nil {
		return &engram.Error{Code: engram.CodeOutcomeUnknown, Message: "the write was not acknowledged, and could not be kept for later: " + err.Error(), Err: errors.Join(cause, err)}
	}
	return &engram.Error{Code: CodeQueued, Message: "write_not_persisted, queued: " + cause.Error(), Err: cause}
}

// unanswered reports whether an error leaves open whether something was written, or is
// about the server and not about the write.
func unanswered(err error) bool {
	for _, code := range []engram.Code{
		CodeUnreachable, CodeUnauthenticated, engram.CodeCanceled, engram.CodeOutcomeUnknown, engram.CodePoisoned, engram.CodeClosed, engram.CodeBusy, engram.CodeFull,
		engram.CodeFailed, engram.CodeAborted, "Deadline", "Overloaded", "RateLimited", "ShuttingDown",
	} {
		if engram.IsCode(err, code) {
			return true
		}
	}
	return false
}

// Waiting is how many writes the spool keeps.
func (c *Client) Waiting() int {
	if c.spool == nil {
		return 0
	}
	c.spool.mu.Lock()
	defer c.spool.mu.Unlock()
	files, err := filepath.Glob(filepath.Join(c.spool.dir, "*"))
	if err != nil {
		return 0
	}
	n := 0
	for _, f := range files {
		if base := filepath.Base(f); base == spoolFile || strings.HasPrefix(base, sendingAs) {
			list, _ := readEntries(f) // Drain tells
			n += len(list)
		}
	}
	return n
}

// Drain sends what waits in the spool, as batches that are written once each, and
// returns how many writes were acknowledged. A write that the server refuses for what
// it is, such as a constraint, is taken out of its batch, and told by the error when
// all else was sent.
func (c *Client) Drain(ctx context.Context) (sent int, err error) {
	if c.spool == nil {
		return 0, nil
	}
	c.spool.drain.Lock()
	defer c.spool.drain.Unlock()
	files, err := c.spool.batches()
	if err != nil {
		return 0, err
	}
	var refused []error
	for _, file := range files {
		list, err := readEntries(file)
		if err != nil {
			return sent, err
		}
		key := file[strings.LastIndexByte(file, '-')+1:]
		for i, part := range parts(list) {
			n, no, err := c.sendPart(ctx, fmt.Sprintf("%s-%d", key, i), part)
			if err != nil {
				return sent, err
			}
			sent += n
			refused = append(refused, no...)
		}
		if err := errors.Join(os.Remove(file), syncDir(c.spool.dir)); err != nil {
			return sent, err
		}
	}
	return sent, errors.Join(refused...)
}

// parts cuts a batch where the namespace changes and where it gets too large; the same
// way each time.
func parts(list []entry) [][]entry {
	var out [][]entry
	size := 0
	for i, e := range list {
		n := len(e.Statement) + 64
		for _, p := range e.Parameters {
			n += len(p)
		}
		last := len(out) - 1
		if i == 0 || e.Namespace != list[i-1].Namespace || len(out[last]) == batchEntries || size+n > batchBytes {
			out, size = append(out, nil), 0
			last++
		}
		out[last] = append(out[last], e)
		size += n
	}
	return out
}

// sendPart sends one batch. If the server refuses it, its writes are sent one by one,
// by their own keys.
func (c *Client) sendPart(ctx context.Context, key string, list []entry) (sent int, refused []error, err error) {
	statements := make([]map[string]any, len(list))
	for i, e := range list {
		statements[i] = map[string]any{"statement": e.Statement, "parameters": e.Parameters, "key": e.Key}
	}
	one := *c
	one.namespace = list[0].Namespace
	var out struct{}
	err = one.get(ctx, http.MethodPost, one.path("/v1/batch"), map[string]any{"statements": statements, "values": "typed"}, &out, map[string]string{"Idempotency-Key": key})
	if err == nil {
		return len(list), nil, nil
	}
	if unanswered(err) || engram.IsCode(err, CodeForbidden) {
		return 0, nil, err
	}
	for _, e := range list {
		params := map[string]any{}
		for name, raw := range e.Parameters {
			if params[name], err = engram.ParseTyped(raw); err != nil {
				return sent, refused, err
			}
		}
		_, _, err := one.QueryOnce(ctx, e.Key, e.Statement, params)
		if err != nil && unanswered(err) {
			return sent, refused, err
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("a write of the spool was refused: %w", err))
			continue
		}
		sent++
	}
	return sent, refused, nil
}
