// Package recall answers RECALL: it finds seeds by text, spreads activation from
// them over the graph, and ranks what was found or reached. It only reads.
package recall

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"engram/activation"
	"engram/graph/value"
	"engram/query/internal/access"
)

// Seed is an extra node to start from, with a weight relative to the best text
// hit's 1.
type Seed struct {
	Node   value.NodeID
	Weight float64
}

// Options say what to recall.
type Options struct {
	Query   string
	Near    []float32 // the query's vector, where only an endpoint could make it
	From    []Seed
	Via     []string // relation types to spread over; empty: all
	Against []string // relation types not to spread over
	Depth   int      // hops, 1 to 16; 0: 2
	Limit   int      // rows; 0: 10, NoRows: none
	// Where, when set, drops candidates before ranking.
	Where func(value.NodeID) (bool, error)
	// Filter drops candidates too.
	Filter Filter
	// Self is a further node to start from; 0: none.
	Self value.NodeID
	// Now is the reference time, by which memories are valid and old.
	Now  Moment
	Legs Legs
	// Explain fills Row.Path and Row.Why, which costs more than ranking.
	Explain bool
	// Trace, when set, is filled with what a receipt tells.
	Trace *Trace
	// Tuning replaces DefaultTuning when it is set.
	Tuning *Tuning
}

// NoRows is a limit of no row at all, for WhyNot.
const NoRows = -1

// Legs switch parts of recall off, for measuring. The zero value has all on.
type Legs struct {
	NoLexical     bool
	NoSemantic    bool
	NoAssociative bool
}

// LegsOf has only the named legs on, of lexical, semantic and associative; none named:
// all.
func LegsOf(names []string) (Legs, error) {
	if len(names) == 0 {
		return Legs{}, nil
	}
	legs := Legs{NoLexical: true, NoSemantic: true, NoAssociative: true}
	for _, n := range names {
		switch n {
		case "lexical":
			legs.NoLexical = false
		case "semantic":
			legs.NoSemantic = false
		case "associative":
			legs.NoAssociative = false
		default:
			return Legs{}, fmt.Errorf("recall has no leg %q; its legs are lexical, semantic and associative", n)
		}
	}
	return legs, nil
}

// Row is one recalled memory.
type Row struct {
	Node       value.NodeID
	Score      float64
	Lexical    float64      // share of the best text score, 0 to 1
	Semantic   float64      // similarity in meaning, 0 to 1
	Activation float64      // share of the highest activation, 0 to 1
	Salience   float64      // 1: nothing speaks for or against it
	Recency    float64      // 1: just used, or nobody knows
	HeldBy     value.NodeID // what contradicts it; 0: nothing does
	Copy       bool         // or says the same
	Path       *value.Path
	Why        string // one readable line
	Seed       bool   // activation began here
}

// ErrNothingToSearch is returned for a query without a word to search for and
// without another seed.
var ErrNothingToSearch = errors.New("the query has no word to search for, and there is no other seed; name a rarer word or give FROM a node")

// Run recalls. The same data and options give the same rows with the same bits;
// ties are broken by external id.
func Run(ctx context.Context, g access.Reader, o Options) ([]Row, error) {
	r := newRun(ctx, g, o)
	defer r.release()
	if err := r.find(); err != nil {
		return nil, err
	}
	best, err := r.promoted()
	if err != nil || r.ids.err != nil {
		return nil, errors.Join(err, r.ids.err)
	}
	// What is held back wholly is no answer.
	return r.rows(slices.DeleteFunc(best, func(x ranked) bool { return x.score <= 0 }))
}

// newRun fills in the defaults.
func newRun(ctx context.Context, g access.Reader, o Options) *run {
	if o.Depth == 0 {
		o.Depth = 2
	}
	if o.Limit == 0 {
		o.Limit = 10
	}
	t := DefaultTuning()
	if o.Tuning != nil {
		t = *o.Tuning
	}
	return &run{ctx: ctx, g: g, o: o, t: t, ids: ids{g: g}}
}

// release gives back the memory that the next run can use.
func (r *run) release() {
	if r.spread != nil {
		r.spread.Release()
		r.spread = nil
	}
	r.candidates.release()
}

// find gathers the candidates.
func (r *run) find() error {
	r.screen = newScreen(r.g, r.o.Filter, r.o.Now)
	r.weigher = newWeigher(r.g, &r.t, r.o.Now)
	for _, step := range []func() error{r.lexical, r.titled, r.semantic, r.similar, r.associative, r.window, r.similar, r.contexts, r.speaker, r.dated} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// run is one recall. Its steps find candidates, cheapest first, and note of each what
// is in memory; what has to be read is left to ranking, which reads it of those only
// that may be rows.
type run struct {
	ctx        context.Context //nolint:containedctx // of one recall
	g          access.Reader
	o          Options
	began      map[value.NodeID]bool // where activation began
	t          Tuning
	ids        ids
	hits       []access.TextHit
	near       []float32 // the query's vector; nil: there is none, or it does not count
	candidates candidates
	compared   int // candidates whose similarity is known
	spread     *activation.Result
	screen     *screen
	weigher    *weigher    // nil: nothing speaks for or against any memory
	containers *containers // nil: nothing can be told
	speakers   *speakers   // nil: the query names none
	dates      *dates      // nil: the query names no time
}
