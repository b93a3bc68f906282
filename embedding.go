package engram

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"engram/graph"
	"engram/graph/embedder"
	"engram/query"
)

// Embedding says who makes the vectors by which texts of similar meaning are found.
// Each model has a space of its own: vectors of two models are never compared.
type Embedding struct {
	// Provider is "builtin", the table of words in the program, which calls nobody;
	// "openai", an endpoint that speaks OpenAI's embeddings API; "ollama"; or "none".
	// Empty means builtin.
	Provider string
	// URL is where an endpoint's API begins; empty: the provider's usual one.
	URL string
	// Model is the endpoint's name of the model.
	Model string
	// Key is sent to an endpoint as a bearer token; empty: none.
	Key string
	// Dim is the number of dimensions of an endpoint's vectors, 1 to 4,096. It has to
	// be given.
	Dim int
	// Every is how long texts wait for an endpoint at most, while it answers. Default
	// 2 s, negative: until CALL embed.backfill.
	Every time.Duration
	// Timeout bounds one request. Default 30 s; those for the text of a RECALL
	// take 5 s at most.
	Timeout time.Duration
}

// backfillBatch is how many texts are embedded before the next ones are looked for,
// backfillRest how long a refused one waits at most.
const (
	backfillBatch = 256
	backfillRest  = 5 * time.Minute
	askTimeout    = 5 * time.Second
)

// build makes the embedder; nil for the one in the program, and without one.
func (e *Embedding) build() (embedder.Embedder, error) {
	o := embedder.Options{URL: e.URL, Model: e.Model, Key: e.Key, Dim: e.Dim, Timeout: e.Timeout}
	var made *embedder.Remote
	var err error
	switch e.Provider {
	case "", "builtin", "none":
		return nil, nil
	case "openai":
		made, err = embedder.NewOpenAI(o)
	case "ollama":
		made, err = embedder.NewOllama(o)
	default:
		return nil, newError(CodeInvalidArgument, "there is no embedding provider %q; there are builtin, openai, ollama and none", e.Provider)
	}
	if err == nil && e.Dim <= 0 {
		err = fmt.Errorf("embedder %s: the number of dimensions has to be given", made.Model())
	}
	if err != nil {
		return nil, &Error{Code: CodeInvalidArgument, Message: err.Error(), Err: err}
	}
	return made, nil
}

// backfiller asks an endpoint for the vectors of texts that wait for theirs, with no
// transaction open. What is refused is tried again later, ever later; meanwhile RECALL
// goes by words and by the vectors that are there.
type backfiller struct {
	graph    *graph.DB
	embedder embedder.Embedder // nil: nobody has to be asked
	every    time.Duration
	after    func(time.Duration, func()) (stop func() bool)
	ctx      context.Context //nolint:containedctx // ends with the database
	cancel   context.CancelFunc

	run sync.Mutex // held while an endpoint is asked

	mu     sync.Mutex
	stop   func() bool // of the timer; nil while none runs
	rest   time.Duration
	closed bool
	err    error // of the last attempt
}

func newBackfiller(g *graph.DB, o *Options) *backfiller {
	b := &backfiller{graph: g, embedder: o.embedder, every: o.Embedding.Every, after: o.LearnTimer}
	if b.every == 0 {
		b.every = 2 * time.Second
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	if o.ReadOnly {
		b.every = -1
	}
	b.nudge()
	return b
}

// nudge is called when there may be new texts.
func (b *backfiller) nudge() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.embedder == nil || b.stop != nil || b.closed || b.every < 0 {
		return
	}
	b.stop = b.after(max(b.every, b.rest), b.fire)
}

func (b *backfiller) fire() {
	b.mu.Lock()
	b.stop = nil
	b.mu.Unlock()
	if _, waiting, err := b.fill(b.ctx, 0); err != nil || waiting > 0 {
		b.nudge()
	}
}

// fill embeds up to limit texts, 0: all that wait. It may be called while another
// call runs, which it waits for.
func (b *backfiller) fill(ctx context.Context, limit int) (made, waiting int, err error) {
	b.run.Lock()
	defer b.run.Unlock()
	for {
		n := backfillBatch
		if limit > 0 {
			n = min(n, limit-made)
		}
		var some int
		some, waiting, err = b.graph.EmbedMissing(ctx, n)
		made += some
		if err != nil || waiting == 0 || some == 0 || made == limit {
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.err = err; err == nil {
		b.rest = 0
		return made, waiting, nil
	}
	b.rest = min(max(2*b.rest, b.every), backfillRest)
	var refused *embedder.Error
	if errors.As(err, &refused) {
		b.rest = max(b.rest, min(time.Duration(refused.RetryAfter)*time.Second, backfillRest))
		if !refused.Temporary() {
			b.rest = backfillRest // asking again soon would change nothing
		}
	}
	return made, waiting, err
}

// ask embeds the texts that a statement searches for. What keeps it from that is
// told by a notice: then words and connections have to do.
func (b *backfiller) ask(ctx context.Context, texts []string) (query.Vectors, error) {
	if b.embedder == nil || len(texts) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	vectors, err := b.embedder.Embed(ctx, texts)
	if err != nil {
		return nil, err
	}
	out := query.Vectors{}
	for i, v := range vectors {
		out[texts[i]] = v
	}
	return out, nil
}

// close stops the timer and waits for an endpoint that is being asked.
func (b *backfiller) close() {
	b.mu.Lock()
	b.closed = true
	if b.stop != nil {
		b.stop()
		b.stop = nil
	}
	b.mu.Unlock()
	b.cancel()
	b.run.Lock()
	defer b.run.Unlock()
}

func (b *backfiller) stats(s *graph.VectorStats) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.Err == nil {
		s.Err = b.err
	}
}

// outside does what a statement needs of a model, with no transaction open. It
// returns the notice of what was not to be had.
func (db *DB) outside(ctx context.Context, need query.Outside, opts *query.RunOptions) (notice *Notice, err error) {
	if need.Backfill > 0 {
		made, waiting, err := db.backfill.fill(ctx, need.Backfill)
		if err != nil {
			return nil, err
		}
		opts.Backfilled = &query.Backfilled{Made: made, Waiting: waiting}
	}
	opts.Vectors, err = db.backfill.ask(ctx, need.Texts)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return withoutMeaning("EmbedderUnavailable", err.Error()), nil
	case need.Later && db.backfill.embedder != nil:
		return withoutMeaning("TextOfRows", "its text comes from rows, and a model is only asked before a statement begins; "+
			"give the text as a parameter, in a statement for each"), nil
	}
	return nil, nil
}

// outsideTx is outside for a statement of a transaction. A writing one asks no model:
// others wait for it to end.
func (db *DB) outsideTx(ctx context.Context, need query.Outside, write bool, opts *query.RunOptions) (*Notice, error) {
	need.Backfill = 0 // the statement itself tells that this has to stand alone
	if db.backfill.embedder == nil || len(need.Texts) == 0 && !need.Later {
		return nil, nil
	}
	if write {
		return withoutMeaning("WritingTransaction", "a writing transaction asks no model, since others wait for it to end; "+
			"run RECALL before it, or in a transaction that only reads"), nil
	}
	return db.outside(ctx, need, opts)
}

// withoutMeaning is the notice that a RECALL had no vector for its text.
func withoutMeaning(code, why string) *Notice {
	return &Notice{Code: code, Message: "RECALL went without meaning, by words and connections only: " + why}
}
