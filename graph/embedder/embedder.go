// Package embedder makes vectors of texts: by the table built into the program, or
// by a model behind an OpenAI-compatible or Ollama endpoint.
//
//	e, err := embedder.NewOllama(embedder.Options{Model: "nomic-embed-text"})
//	vectors, err := e.Embed(ctx, []string{"a crash on disconnect"})
//
// The endpoints are other machines' work that may take seconds or fail: call them
// with no transaction open. Vectors of embedders with different names can never be
// compared.
package embedder

import (
	"context"
	"fmt"
	"sync"

	"engram/graph/internal/embed"
)

// Embedder makes vectors of texts. It may be used by any number of goroutines.
type Embedder interface {
	// Model names what makes the vectors: the space they belong to.
	Model() string
	// Dim is the number of dimensions; 0 while only the endpoint knows it.
	Dim() int
	// Embed returns a vector for each text, in order; nil for a text that says
	// nothing to the model. Vectors have any length but 0. An error means that there
	// are none.
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// Local is an Embedder that calls nobody and takes microseconds, so that it may be
// asked while a transaction is open.
type Local interface {
	Embedder
	// EmbedOne returns the vector of a text; nil when it says nothing.
	EmbedOne(text string) []float32
}

// shared is read only, and the same for everybody.
var shared = sync.OnceValues(NewBuiltin)

// Shared returns the Builtin of this process: it is loaded once.
func Shared() (*Builtin, error) { return shared() }

// Builtin is the table of word vectors in the program. It calls nobody and takes
// microseconds a sentence.
type Builtin struct{ table *embed.Model }

// NewBuiltin loads the table, about 1.6 MB.
func NewBuiltin() (*Builtin, error) {
	m, err := embed.Load()
	if err != nil {
		return nil, err
	}
	return &Builtin{m}, nil
}

// Model names the table.
func (b *Builtin) Model() string { return b.table.Model() }

// Dim returns 64.
func (b *Builtin) Dim() int { return b.table.Dim() }

// Embed implements Embedder. It does not fail unless ctx ends.
func (b *Builtin) Embed(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = b.EmbedOne(t)
	}
	return out, nil
}

// EmbedOne returns the vector of a text, nil when no word of it is known.
func (b *Builtin) EmbedOne(text string) []float32 {
	v, ok := b.table.Embed(text)
	if !ok {
		return nil
	}
	return v[:]
}

// Knows reports whether a word of a text is known; without one a text has no vector. It
// takes a fraction of EmbedOne.
func (b *Builtin) Knows(text string) bool { return b.table.Knows(text) }

// Error is an endpoint's refusal, or an answer that makes no sense. It never holds
// the key.
type Error struct {
	Model   string
	Status  int    // of HTTP; 200 when the answer made no sense
	Message string // the endpoint's own, cut
	// RetryAfter is how many seconds the endpoint asks to wait; 0: it does not say.
	RetryAfter int
}

// Error says who refused and why.
func (e *Error) Error() string {
	if e.Status == 200 {
		return fmt.Sprintf("embedder %s: the answer is of no use: %s", e.Model, e.Message)
	}
	return fmt.Sprintf("embedder %s: refused with status %d: %s", e.Model, e.Status, e.Message)
}

// Temporary reports whether the same call may succeed later.
func (e *Error) Temporary() bool { return e.Status == 408 || e.Status == 429 || e.Status >= 500 }
