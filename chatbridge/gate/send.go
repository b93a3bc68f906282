package gate

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"unicode/utf8"
)

const keptBody = 4096

// refuse answers a request that is not as it must be.
func (g *Gate) refuse(w http.ResponseWriter, d dialect, e *Entry, err error, body []byte) {
	r := &refusal{CodeInvalid, err.Error()}
	_ = errors.As(err, &r) // else it is as above
	if r.code == CodeInvalidJSON || r.code == CodeDuplicateKey {
		e.Body = string(body[:min(len(body), keptBody)])
	}
	g.fail(w, d, e, http.StatusBadRequest, r.code, r.text)
}

func (g *Gate) fail(w http.ResponseWriter, d dialect, e *Entry, status int, code, text string) {
	e.Status, e.Code, e.Error, e.Delivered = status, code, text, true
	g.record(e)
	writeJSON(w, status, d.failure(status, code, text))
}

// sendFailure answers what a step has in place of a reply.
func (g *Gate) sendFailure(w http.ResponseWriter, d dialect, e *Entry, step Step) {
	if step.RetryAfter != "" {
		w.Header().Set("Retry-After", step.RetryAfter)
	}
	status := step.Status
	if status == 0 {
		status = http.StatusOK
	}
	if step.Body == "" {
		g.fail(w, d, e, status, "scripted", "the scenario answers "+strconv.Itoa(status)+" here")
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e.Status, e.Delivered = status, true
	g.record(e)
	_, _ = w.Write([]byte(step.Body)) // the client left
}

// send answers a reply, as hostile as it is meant to be.
func (g *Gate) send(w http.ResponseWriter, r *http.Request, d dialect, e *Entry, out *reply) {
	e.Status = http.StatusOK
	mode := g.o.Mode
	if mode == "" {
		mode = out.step.Mode
	}
	if mode == ModeSilent {
		g.record(e)
		g.silent(r.Context())
		return
	}
	body := d.whole(out)
	w.Header().Set("Content-Type", "application/json")
	if out.req.Stream {
		body = d.stream(out)
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
	} else {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(http.StatusOK)
	size := 1 << 20
	switch mode {
	case ModeDrop:
		g.record(e)
		_ = write(w, body[:len(body)/2], size) // it ends here either way
		panic(http.ErrAbortHandler)
	case ModeBytes:
		size = 1
	}
	last := len(body) - 1
	if err := write(w, body[:last], size); err == nil {
		e.Delivered, e.Text, e.Calls = true, out.text, out.calls
	}
	g.record(e)
	_ = write(w, body[last:], size) // the client left
}

// silent waits until the client leaves or the gate is closed.
func (g *Gate) silent(ctx context.Context) {
	select {
	case <-ctx.Done():
	case <-g.closed:
	}
	panic(http.ErrAbortHandler)
}

// write writes pieces of a size, each on its way before the next one.
func write(w http.ResponseWriter, body []byte, size int) error {
	control := http.NewResponseController(w)
	for len(body) > 0 {
		n := min(size, len(body))
		if _, err := w.Write(body[:n]); err != nil {
			return err
		}
		if err := control.Flush(); err != nil {
			return err
		}
		body = body[n:]
	}
	return nil
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	text, err := encode(v)
	if err != nil {
		http.Error(w, "the answer cannot be encoded", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client left
}

// pieces cuts a text into pieces of a few characters, as a stream brings it.
func pieces(text string) []string {
	var out []string
	for size := 3; len(text) > 0; size = size%11 + 4 {
		n := 0
		for i := 0; i < size && n < len(text); i++ {
			_, w := utf8.DecodeRuneInString(text[n:])
			n += w
		}
		out = append(out, text[:n])
		text = text[n:]
	}
	return out
}
