// Package client talks to a server of engram with the calls of an embedded database.
//
//	c, err := client.Open("http://127.0.0.1:7463", &client.Options{Token: token})
//	if err != nil {
//		return err
//	}
//	defer c.Close()
//	_, err = c.Query(ctx, "CREATE (:Person {id: $id, name: $name})",
//		map[string]any{"id": "ada", "name": "Ada"})
//	res, err := c.Query(ctx, "MATCH (p:Person) RETURN p.name", nil)
//	for _, row := range res.Rows {
//		fmt.Println(row[0].AsString())
//	}
//
// Errors are *engram.Error values with the codes of the embedded database; those of
// the way to it have the codes of this package.
package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"engram"
)

// Codes of errors on the way to the database.
const (
	// CodeUnreachable: no answer came. What was sent may have been done.
	CodeUnreachable = engram.Code("Unreachable")
	// CodeUnauthenticated: the server does not take the token.
	CodeUnauthenticated = engram.Code("Unauthenticated")
	// CodeForbidden: the token does not allow it.
	CodeForbidden = engram.Code("Forbidden")
	// CodeQueued: what was to be written is not persisted; it is in the spool, and is
	// sent again.
	CodeQueued = engram.Code("WriteNotPersistedQueued")
)

// Options say how a server is talked to.
type Options struct {
	// Token is the secret that the server takes.
	Token string
	// Namespace is the graph. Default "default".
	Namespace string
	// Spool is a folder of the client's own where writes of Store wait that were not
	// acknowledged; it is made when it is missing. Empty: none are kept.
	Spool string
	// Transport makes the connections. Default: one like http.DefaultTransport.
	Transport http.RoundTripper
}

// Client talks about one namespace of a server. It is safe for concurrent use.
type Client struct {
	base      string
	token     string
	namespace string
	http      *http.Client
	own       *http.Transport // of the client's own; nil when it was given
	spool     *spool
}

// Open makes a client of a server's address: http://host:port, https://host:port or
// unix:PATH. Nothing is sent, but for what a spool kept: see Drain.
func Open(address string, o *Options) (*Client, error) {
	if o == nil {
		o = &Options{}
	}
	c := &Client{token: o.Token, namespace: o.Namespace}
	if c.namespace == "" {
		c.namespace = "default"
	}
	if err := engram.CheckNamespace(c.namespace); err != nil {
		return nil, err
	}
	transport := o.Transport
	if transport == nil {
		c.own = http.DefaultTransport.(*http.Transport).Clone()
		c.own.MaxIdleConnsPerHost = 64
		c.own.Proxy = nil
		transport = c.own
	}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		c.base = "http://localhost"
		if c.own != nil {
			c.own.DialContext = func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", path)
			}
		}
	} else {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || strings.Trim(u.Path, "/") != "" {
			return nil, fault(engram.CodeInvalidArgument, fmt.Sprintf("%q is no address of a server: want http://host:port, https://host:port or unix:PATH", address))
		}
		c.base = u.Scheme + "://" + u.Host
	}
	// The token goes to the server that was named and to no other.
	c.http = &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	if o.Spool != "" {
		var err error
		if c.spool, err = openSpool(o.Spool); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// Close gives connections and the spool back. What waits in the spool stays there.
func (c *Client) Close() error {
	if c.own != nil {
		c.own.CloseIdleConnections()
	}
	if c.spool != nil {
		return c.spool.close()
	}
	return nil
}

func fault(code engram.Code, message string) *engram.Error {
	return &engram.Error{Code: code, Message: message}
}

// problem is an error of the server.
type problem struct {
	Code    string `json:"code"`
	Detail  string `json:"detail"`
	Line    int    `json:"line"`
	Column  int    `json:"column"`
	Hint    string `json:"hint"`
	Request string `json:"request"`
}

func (p *problem) err() error {
	return &engram.Error{Code: engram.Code(p.Code), Message: p.Detail, Line: p.Line, Column: p.Column, Hint: p.Hint}
}

// send sends a request and returns the answer, whose body the caller closes.
func (c *Client) send(ctx context.Context, method, path string, body any, headers map[string]string) (*http.Response, error) {
	if ctx == nil {
		return nil, fault(engram.CodeInvalidArgument, "the context is nil: pass context.Background() if nothing is to end the call early")
	}
	content, stream := body.(io.Reader)
	if body != nil && !stream {
		text, err := json.Marshal(body)
		if err != nil {
			return nil, fault(engram.CodeInvalidArgument, err.Error())
		}
		content = bytes.NewReader(text)
	}
	req, err := http.NewRequestWithContext(ctx, method, c.base+path, content)
	if err != nil {
		return nil, fault(engram.CodeInvalidArgument, err.Error())
	}
	req.Header.Set("Authorization", "Bearer "+c.token)
	if body != nil && !stream {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, v := range headers {
		req.Header.Set(name, v)
	}
	res, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &engram.Error{Code: engram.CodeCanceled, Message: "the request was given up: " + context.Cause(ctx).Error(), Err: err}
		}
		return nil, &engram.Error{Code: CodeUnreachable, Message: fmt.Sprintf("no answer from %s: %v", c.base, unwrapURL(err)), Err: err}
	}
	if res.StatusCode == http.StatusOK {
		return res, nil
	}
	defer func() { _ = res.Body.Close() }() // only read
	var p problem
	text, _ := io.ReadAll(io.LimitReader(res.Body, 1<<20)) // what came
	if json.Unmarshal(text, &p) != nil || p.Code == "" {
		return nil, fault(CodeUnreachable, fmt.Sprintf("%s answered %s, which is no answer of engram", c.base, res.Status))
	}
	return nil, p.err()
}

func unwrapURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

// get sends a request and reads its whole answer.
func (c *Client) get(ctx context.Context, method, path string, body, into any, headers map[string]string) error {
	res, err := c.send(ctx, method, path, body, headers)
	if err != nil {
		return err
	}
	defer func() { _ = res.Body.Close() }() // only read
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		return &engram.Error{Code: CodeUnreachable, Message: "the answer broke off: " + err.Error(), Err: err}
	}
	return nil
}

func (c *Client) path(route string) string {
	return route + "?namespace=" + url.QueryEscape(c.namespace)
}

// Query runs one statement in a transaction of its own, as engram.DB.Query does.
func (c *Client) Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	rows, err := c.Rows(ctx, text, params)
	return collect(rows, err)
}

// QueryOnce is Query for a statement that writes, at most once for each idempotency
// key, as engram.DB.QueryOnce does.
func (c *Client) QueryOnce(ctx context.Context, key, text string, params map[string]any) (res *engram.Result, repeated bool, err error) {
	rows, err := c.rows(ctx, text, params, how{key: key})
	if res, err = collect(rows, err); err != nil {
		return nil, false, err
	}
	return res, rows.repeated, nil
}

// Rows runs one statement in a transaction of its own, for a result that may be large:
// it is read from the connection row by row.
func (c *Client) Rows(ctx context.Context, text string, params map[string]any) (*Rows, error) {
	return c.rows(ctx, text, params, how{})
}

// Read runs one statement that cannot change anything, whatever it looks like: one that
// would is an error with engram.CodeReadOnly.
func (c *Client) Read(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	rows, err := c.rows(ctx, text, params, how{mode: "read"})
	return collect(rows, err)
}

type verdictsKey struct{}

// WithVerdicts returns a context whose statements may read and write verdicts, which the
// token's scope admin is needed for. Others do not see them.
func WithVerdicts(ctx context.Context) context.Context {
	return context.WithValue(ctx, verdictsKey{}, true)
}

type withoutKey struct{}

// WithoutLabels returns a context for whose statements nodes with any of some labels, and
// the edges that lead to them, are as if they were not there.
func WithoutLabels(ctx context.Context, labels []string) context.Context {
	return context.WithValue(ctx, withoutKey{}, labels)
}

// how a statement is run; the zero value: in a transaction of its own.
type how struct{ transaction, key, mode string }

func (c *Client) rows(ctx context.Context, text string, params map[string]any, h how) (*Rows, error) {
	typed, err := typedParams(params)
	if err != nil {
		return nil, err
	}
	body := map[string]any{"statement": text, "parameters": typed, "values": "typed"}
	if h.transaction != "" {
		body["transaction"] = h.transaction
	}
	if h.mode != "" {
		body["mode"] = h.mode
	}
	if ctx.Value(verdictsKey{}) != nil {
		body["verdicts"] = true
	}
	if labels, _ := ctx.Value(withoutKey{}).([]string); len(labels) > 0 {
		body["without"] = labels
	}
	headers := map[string]string{"Accept": "application/x-ndjson"}
	if h.key != "" {
		headers["Idempotency-Key"] = h.key
	}
	res, err := c.send(ctx, http.MethodPost, c.path("/v1/query"), body, headers)
	if err != nil {
		return nil, err
	}
	return newRows(res.Body)
}

// typedParams writes parameters so that all kinds arrive as they are.
func typedParams(params map[string]any) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(params))
	for name, p := range params {
		v, err := engram.ValueOf(p)
		if err != nil {
			return nil, fault(engram.CodeInvalidArgument, "parameter $"+name+": "+err.Error())
		}
		out[name] = v.AppendTyped(nil)
	}
	return out, nil
}

// Stats reads what the namespace holds.
func (c *Client) Stats(ctx context.Context) (engram.Stats, error) {
	var s struct {
		Seq, Nodes, Edges uint64
		Labels, Types     []struct {
			Name  string
			Count int64
		}
		Keys      int `json:"property_names"`
		Commits   uint64
		FileBytes int64 `json:"file_bytes"`
		UsedBytes int64 `json:"used_bytes"`
		Text      struct{ Published, Applied uint64 }
	}
	if err := c.get(ctx, http.MethodGet, c.path("/v1/stats"), nil, &s, nil); err != nil {
		return engram.Stats{}, err
	}
	out := engram.Stats{Seq: s.Seq, Nodes: int64(s.Nodes), Edges: int64(s.Edges), Keys: s.Keys, Commits: s.Commits}
	for _, l := range s.Labels {
		out.Labels = append(out.Labels, engram.NamedCount(l))
	}
	for _, t := range s.Types {
		out.Types = append(out.Types, engram.NamedCount(t))
	}
	out.Store.FileBytes, out.Store.UsedBytes = s.FileBytes, s.UsedBytes
	out.Text.Published, out.Text.Applied = s.Text.Published, s.Text.Applied
	return out, nil
}

// Audit tells what shape the memory is in, as engram.DB.Audit does. The server compares
// with nobody: Owner must be nil.
func (c *Client) Audit(ctx context.Context, o *engram.AuditOptions) (*engram.AuditReport, error) {
	if o == nil {
		o = &engram.AuditOptions{}
	}
	if o.Owner != nil {
		return nil, fault(engram.CodeInvalidArgument, "a server does not compare itself with another owner of its data: ask in a process that has the directory open")
	}
	body := map[string]any{"suggest": o.Suggest}
	if len(o.Only) > 0 {
		body["only"] = o.Only
	}
	if len(o.With) > 0 {
		body["with"] = o.With
	}
	if o.Limit != 0 {
		body["limit"] = o.Limit
	}
	if o.Cursor != "" {
		body["cursor"] = o.Cursor
	}
	var r engram.AuditReport
	if err := c.get(ctx, http.MethodPost, c.path("/v1/audit/structural"), body, &r, nil); err != nil {
		return nil, err
	}
	return &r, nil
}

// CreateNamespace makes the client's namespace, if it is missing; it needs the scope
// admin.
func (c *Client) CreateNamespace(ctx context.Context) error {
	var out struct{ Name string }
	err := c.get(ctx, http.MethodPost, "/v1/namespaces", map[string]any{"name": c.namespace}, &out, nil)
	if engram.IsCode(err, engram.CodeExists) {
		return nil
	}
	return err
}

// timings are durations in milliseconds.
func timing(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }

// LoginCode makes a code by which a browser can log in at the server as the client's token,
// once, and tells for how long.
func (c *Client) LoginCode(ctx context.Context) (code string, life time.Duration, err error) {
	var out struct {
		Code    string
		Seconds int `json:"expires_in"`
	}
	if err := c.get(ctx, http.MethodPost, "/v1/login/codes", nil, &out, nil); err != nil {
		return "", 0, err
	}
	return out.Code, time.Duration(out.Seconds) * time.Second, nil
}
