package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// Kinds of errors.
const (
	Unreachable = "unreachable" // no connection: another provider may be tried
	Status      = "status"      // an HTTP status that is no success
	Silent      = "silent"      // no byte for too long
	Cut         = "cut"         // the answer ended in the middle
	Shape       = "shape"       // success with something else than an answer
	Stream      = "stream"      // an error in the middle of a stream
	Redirect    = "redirect"    // to another host
	Cancelled   = "cancelled"   // by the caller
)

// Error is what went wrong with a provider.
type Error struct {
	Provider string
	Kind     string
	Status   int    // of HTTP, 0 without an answer
	Body     string // the first 200 bytes at most
	Raw      string // what could not be parsed, verbatim, 64 KiB at most
	Detail   string
	Err      error
	retry    time.Duration
	again    bool
}

const (
	quoted    = 200
	artefact  = 64 << 10
	retryWait = 60 * time.Second // a Retry-After beyond ends the call
)

// Error tells the provider, the status and the beginning of the body.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the provider %s ", e.Provider)
	switch e.Kind {
	case Unreachable:
		b.WriteString("cannot be reached")
	case Status:
		fmt.Fprintf(&b, "answered HTTP %d", e.Status)
	case Silent:
		b.WriteString("sent nothing for too long")
	case Cut:
		b.WriteString("cut its answer off in the middle")
	case Stream:
		b.WriteString("broke its answer off with an error")
	case Redirect:
		b.WriteString("redirects to another host, which is not followed")
	case Cancelled:
		b.WriteString("was not waited for: the call was cancelled")
	default:
		b.WriteString("answered something that is no reply")
	}
	if e.Kind != Status && e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Detail != "" {
		b.WriteString(": " + e.Detail)
	}
	if e.Body != "" {
		fmt.Fprintf(&b, ": %q", e.Body)
	}
	return b.String()
}

func (e *Error) Unwrap() error { return e.Err }

// Head is the beginning of a text, n bytes at most, cut between characters.
func Head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

// version finds a segment such as v1 or v1beta in a path.
var version = regexp.MustCompile(`/v[0-9]+[a-z0-9]*(/|$)`)

// baseURL is the base that an SDK wants: with the version for OpenAI, whose SDK does
// not add one, and without it for Anthropic, whose SDK does.
func baseURL(wire, text string) (*url.URL, error) {
	if wire != Anthropic && wire != OpenAI {
		return nil, fmt.Errorf("there is no wire %q; there are %s and %s", wire, Anthropic, OpenAI)
	}
	u, err := url.Parse(strings.TrimSpace(text))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("the base URL %q is none: want http://host or https://host, with a path or without", text)
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("the base URL of %s holds more than scheme, host and path", u.Host)
	}
	path := strings.TrimRight(u.Path, "/")
	switch {
	case wire == Anthropic:
		path = strings.TrimSuffix(path, "/v1")
	case !version.MatchString(path):
		path += "/v1"
	}
	u.Path, u.RawPath = path+"/", ""
	return u, nil
}

// caller sends requests of either wire.
type caller struct {
	Config
	base *url.URL
}

// exchange is one HTTP request and its answer.
type exchange struct {
	c        *caller
	cancel   context.CancelCauseFunc
	messages []json.RawMessage // of the request, as they must be sent

	mu     sync.Mutex
	status int
	began  bool // bytes of an answer have come
	kept   []byte
	json   bool
}

var errSilent = errors.New("silence")

// attempt runs fn, which makes one request, again where that may help.
func (c *caller) attempt(ctx context.Context, fn func(ctx context.Context, x *exchange) (*Reply, error)) (*Reply, error) {
	for n := 0; ; n++ {
		inner, cancel := context.WithCancelCause(ctx)
		x := &exchange{c: c, cancel: cancel}
		reply, err := fn(inner, x)
		if err == nil {
			err = separate(reply)
		}
		cause := context.Cause(inner)
		cancel(nil)
		if err == nil {
			return reply, nil
		}
		e := x.explain(ctx, cause, err)
		if !e.again || n >= c.Retries || e.retry > retryWait {
			return nil, e
		}
		wait := e.retry
		if wait <= 0 {
			wait = time.Second << n
		}
		if !c.sleep(ctx, wait) {
			return nil, &Error{Provider: c.Label, Kind: Cancelled, Err: context.Cause(ctx)}
		}
	}
}

func (c *caller) sleep(ctx context.Context, d time.Duration) bool {
	done := make(chan struct{})
	stop := c.Clock.AfterFunc(d, func() { close(done) })
	defer stop()
	select {
	case <-done:
		return true
	case <-ctx.Done():
		return false
	}
}

// explain makes an *Error of whatever a call ended with.
func (x *exchange) explain(ctx context.Context, cause, err error) *Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	e := &Error{Provider: x.c.Label, Status: x.status, Err: err, Kind: Shape}
	var own *Error
	var redirect *redirectError
	switch {
	case errors.As(err, &own):
		if own.Body == "" && own.Kind != Stream {
			own.Body = Head(x.text(), quoted)
		}
		own.Provider, own.Raw = x.c.Label, x.text()
		if own.Status == 0 {
			own.Status = x.status
		}
		return own
	case ctx.Err() != nil:
		e.Kind, e.Err = Cancelled, context.Cause(ctx)
	case errors.Is(cause, errSilent):
		e.Kind, e.Detail = Silent, "waited "+x.c.Silence.String()
	case errors.As(err, &redirect):
		e.Kind, e.Detail = Redirect, redirect.host
	case x.status == 0:
		e.Kind, e.Detail = Unreachable, reason(err)
	case errors.Is(err, io.ErrUnexpectedEOF), isNetwork(err):
		e.Kind, e.Body, e.Raw = Cut, Head(x.text(), quoted), x.text()
	default:
		e.Body, e.Raw = Head(x.text(), quoted), x.text()
	}
	return e
}

// withoutKey is a text of a provider without the key, which some of them repeat.
func (c *caller) withoutKey(text string) string {
	if c.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, c.Key, "[key]")
}

// text is what an exchange has kept of its answer.
func (x *exchange) text() string { return x.c.withoutKey(string(x.kept)) }

// reason is the innermost error of a connection, without the address of the request.
func reason(err error) string {
	var u *url.Error
	if errors.As(err, &u) {
		err = u.Err
	}
	return err.Error()
}

func isNetwork(err error) bool {
	var n interface{ Timeout() bool } // net.Error and what wraps it
	return errors.As(err, &n) || strings.Contains(err.Error(), "unexpected EOF")
}

type redirectError struct{ host string }

func (e *redirectError) Error() string { return "redirect to " + e.host }

// client is the HTTP client of one exchange.
func (x *exchange) client() *http.Client {
	return &http.Client{Transport: x, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if req.URL.Host != x.c.base.Host || req.URL.Scheme != x.c.base.Scheme {
			return &redirectError{req.URL.Host}
		}
		if len(via) >= 5 {
			return &redirectError{req.URL.Host + ", for the fifth time"}
		}
		return nil
	}}
}

// RoundTrip sends a request, with the key where it goes to the host that the key is for.
func (x *exchange) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Del("Authorization")
	req.Header.Del("X-Api-Key")
	if x.c.Key != "" && req.URL.Host == x.c.base.Host && req.URL.Scheme == x.c.base.Scheme {
		if x.c.Wire == Anthropic {
			req.Header.Set("X-Api-Key", x.c.Key)
		} else {
			req.Header.Set("Authorization", "Bearer "+x.c.Key)
		}
	}
	if err := x.verbatim(req); err != nil {
		return nil, err
	}
	stop := x.c.Clock.AfterFunc(x.c.Silence, func() { x.cancel(errSilent) })
	res, err := x.c.Transport.RoundTrip(req)
	stop()
	if err != nil {
		return nil, err
	}
	x.mu.Lock()
	x.status = res.StatusCode
	x.json = !strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream")
	x.mu.Unlock()
	res.Body = &body{x, res.Body}
	if res.StatusCode >= 400 {
		return nil, x.refused(res)
	}
	return res, nil
}

// verbatim puts the messages into a request as they are: the SDKs encode them anew,
// which is the same to a parser but not the same bytes.
func (x *exchange) verbatim(req *http.Request) error {
	if req.Body == nil {
		return nil
	}
	text, err := io.ReadAll(req.Body)
	if err := errors.Join(err, req.Body.Close()); err != nil {
		return err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		return err
	}
	fields["messages"] = encode(x.messages)
	text = encode(fields)
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil }
	req.Body, err = req.GetBody()
	req.ContentLength = int64(len(text))
	return err
}

// refused reads what an answer without success says.
func (x *exchange) refused(res *http.Response) error {
	text, _ := io.ReadAll(io.LimitReader(res.Body, int64(quoted+1+len(x.c.Key)))) // what there is of it
	_ = res.Body.Close()
	e := &Error{Kind: Status, Status: res.StatusCode, Body: strings.ToValidUTF8(Head(x.c.withoutKey(string(text)), quoted), "?")}
	e.again = res.StatusCode == http.StatusTooManyRequests || res.StatusCode >= 500
	after := res.Header.Get("Retry-After")
	if n, err := strconv.ParseFloat(after, 64); err == nil && n > 0 && n < 1e6 {
		e.retry = time.Duration(n * float64(time.Second))
	} else if at, err := http.ParseTime(after); err == nil {
		e.retry = at.Sub(x.c.Clock.Now())
	}
	if e.retry > retryWait {
		e.Detail = "it asks to wait " + e.retry.Round(time.Second).String()
	}
	return e
}

// body watches an answer: how long it is silent, and how it begins.
type body struct {
	x    *exchange
	body io.ReadCloser
}

// Read reads, and ends the call when nothing comes for too long.
func (b *body) Read(p []byte) (int, error) {
	stop := b.x.c.Clock.AfterFunc(b.x.c.Silence, func() { b.x.cancel(errSilent) })
	n, err := b.body.Read(p)
	stop()
	b.x.mu.Lock()
	defer b.x.mu.Unlock()
	b.x.began = b.x.began || n > 0
	limit := artefact
	if b.x.json {
		limit = 8 << 20
	}
	if room := limit - len(b.x.kept); room > 0 && n > 0 {
		b.x.kept = append(b.x.kept, p[:min(n, room)]...)
	}
	return n, err
}

// Close closes the answer.
func (b *body) Close() error { return b.body.Close() }

// whole is what came in place of a stream, if it was no stream.
func (x *exchange) whole() ([]byte, bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.kept, x.json
}
