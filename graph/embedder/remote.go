package embedder

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"
)

// Options configure an endpoint.
type Options struct {
	// URL is where the API begins. Empty: https://api.openai.com/v1, or
	// http://localhost:11434 for Ollama.
	URL string
	// Model is the endpoint's name of the model.
	Model string
	// Name is the name of the space, when it should not follow from Model and Dim:
	// for instance because two endpoints call different models the same.
	Name string
	// Key is sent as a bearer token; empty: none.
	Key string
	// Dim is the number of dimensions wanted; 0: what the model makes. With another
	// number than Dim in an answer the call fails.
	Dim int
	// Batch is how many texts go in one request at most; 0 means 64.
	Batch int
	// Timeout bounds one request; 0 means 30 s.
	Timeout time.Duration
	// Client makes the requests; nil: one with the usual settings.
	Client *http.Client
}

const maxDim = 4096

// Remote is a model behind an endpoint.
type Remote struct {
	opts Options
	url  string
	name string
	dim  atomic.Int32
	api  api
}

// api is how one kind of endpoint is spoken to.
type api struct {
	kind, base, path string
	request          func(o *Options, texts []string) any
	// vectors reads an answer: as many vectors as n, in the order of the texts.
	vectors func(answer []byte, n int) ([][]float32, error)
}

// NewOpenAI returns a model behind an endpoint that speaks OpenAI's embeddings API:
// POST URL/embeddings.
func NewOpenAI(o Options) (*Remote, error) {
	return newRemote(o, api{
		kind: "openai", base: "https://api.openai.com/v1", path: "embeddings", vectors: openAIVectors,
		request: func(o *Options, texts []string) any {
			return openAIRequest{Model: o.Model, Input: texts, Format: "float", Dimensions: o.Dim}
		},
	})
}

// NewOllama returns a model that Ollama runs: POST URL/api/embed.
func NewOllama(o Options) (*Remote, error) {
	return newRemote(o, api{
		kind: "ollama", base: "http://localhost:11434", path: "api/embed", vectors: ollamaVectors,
		request: func(o *Options, texts []string) any {
			return ollamaRequest{Model: o.Model, Input: texts, Dimensions: o.Dim}
		},
	})
}

func newRemote(o Options, a api) (*Remote, error) {
	if o.URL == "" {
		o.URL = a.base
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return nil, fmt.Errorf("embedder: %w", err)
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, fmt.Errorf("embedder: %q is no http or https address", o.URL)
	case o.Model == "":
		return nil, fmt.Errorf("embedder: no model is named for %s", u.Host)
	case o.Dim < 0 || o.Dim > maxDim:
		return nil, fmt.Errorf("embedder: %d dimensions; want up to %d", o.Dim, maxDim)
	}
	if o.Batch <= 0 {
		o.Batch = 64
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.Client == nil {
		o.Client = &http.Client{}
	}
	r := &Remote{opts: o, url: u.JoinPath(a.path).String(), name: o.Name, api: a}
	if r.name == "" {
		r.name = a.kind + ":" + o.Model
		if o.Dim > 0 {
			r.name += ":" + strconv.Itoa(o.Dim)
		}
	}
	r.dim.Store(int32(o.Dim))
	return r, nil
}

// Model returns the name of the space: the kind of endpoint, the model, and the
// dimensions if they were asked for.
func (r *Remote) Model() string { return r.name }

// Dim returns the number of dimensions; 0 before the first answer, unless it was
// given.
func (r *Remote) Dim() int { return int(r.dim.Load()) }

// Embed implements Embedder. Texts without a visible character get no vector and are
// not sent. It sends one request after the other and tries nothing twice: an *Error
// says whether that is worth while.
func (r *Remote) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var send []string
	var at []int
	for i, t := range texts {
		if strings.TrimSpace(t) != "" {
			send, at = append(send, strings.ToValidUTF8(t, "\uFFFD")), append(at, i)
		}
	}
	for start := 0; start < len(send); start += r.opts.Batch {
		end := min(start+r.opts.Batch, len(send))
		vectors, err := r.post(ctx, send[start:end])
		if err != nil {
			return nil, err
		}
		for i, v := range vectors {
			out[at[start+i]] = v
		}
	}
	return out, nil
}

func (r *Remote) post(ctx context.Context, texts []string) ([][]float32, error) {
	ctx, cancel := context.WithTimeout(ctx, r.opts.Timeout)
	defer cancel()
	body, err := json.Marshal(r.api.request(&r.opts, texts))
	if err != nil {
		return nil, fmt.Errorf("embedder %s: %w", r.name, err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("embedder %s: %w", r.name, err)
	}
	req.Header.Set("Content-Type", "application/json")
	if r.opts.Key != "" {
		req.Header.Set("Authorization", "Bearer "+r.opts.Key)
	}
	resp, err := r.opts.Client.Do(req)
	if err != nil {
		return nil, fmt.Errorf("embedder %s: %w", r.name, err)
	}
	defer resp.Body.Close()
	limit := int64(1<<20 + len(texts)*maxDim*32)
	answer, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("embedder %s: read the answer: %w", r.name, err)
	}
	if resp.StatusCode != http.StatusOK {
		after, _ := strconv.Atoi(resp.Header.Get("Retry-After"))
		return nil, &Error{Model: r.name, Status: resp.StatusCode, Message: r.clean(refusal(answer)), RetryAfter: max(after, 0)}
	}
	if int64(len(answer)) > limit {
		return nil, r.useless("it is longer than %d bytes", limit)
	}
	vectors, err := r.api.vectors(answer, len(texts))
	if err != nil {
		return nil, r.useless("%v", err)
	}
	if err := r.check(vectors); err != nil {
		return nil, err
	}
	return vectors, nil
}

func (r *Remote) useless(format string, args ...any) error {
	return &Error{Model: r.name, Status: http.StatusOK, Message: r.clean(fmt.Sprintf(format, args...))}
}

// check refuses vectors that could not be compared with others of the space. The
// first good answer says how many dimensions all have.
func (r *Remote) check(vectors [][]float32) error {
	dim := r.Dim()
	for i, v := range vectors {
		if dim == 0 {
			dim = len(v)
		}
		if len(v) != dim || dim == 0 || dim > maxDim {
			return r.useless("vector %d has %d dimensions; want %d, and from 1 to %d", i, len(v), dim, maxDim)
		}
		zero := true
		for _, x := range v {
			if math.IsInf(float64(x), 0) {
				return r.useless("vector %d is not finite", i)
			}
			zero = zero && x == 0
		}
		if zero {
			return r.useless("all dimensions of vector %d are 0", i)
		}
	}
	if !r.dim.CompareAndSwap(0, int32(dim)) && r.Dim() != dim {
		return r.useless("its vectors have %d dimensions, those of others %d", dim, r.Dim())
	}
	return nil
}

// clean makes an endpoint's words fit for an error message: short, one line, without
// the key.
func (r *Remote) clean(s string) string {
	if r.opts.Key != "" {
		s = strings.ReplaceAll(s, r.opts.Key, "(key)")
	}
	s = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(s, "\uFFFD"), func(c rune) bool { return c <= ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 }), " ")
	const most = 300
	if utf8.RuneCountInString(s) > most {
		s = string([]rune(s)[:most]) + "…"
	}
	return s
}

// refusal finds the message in an error's body: {"error": {"message": M}},
// {"error": M}, or text.
func refusal(body []byte) string {
	var outer struct {
		Error json.RawMessage `json:"error"`
	}
	if json.Unmarshal(body, &outer) == nil && outer.Error != nil {
		var inner struct {
			Message string `json:"message"`
		}
		var text string
		if json.Unmarshal(outer.Error, &text) == nil {
			return text
		}
		if json.Unmarshal(outer.Error, &inner) == nil && inner.Message != "" {
			return inner.Message
		}
	}
	return string(body)
}
