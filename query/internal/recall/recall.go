// Package recall answers RECALL: it finds seeds by text, spreads activation from
// them over the graph, and ranks what was found or reached. It only reads.
package recall

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sort"
	"strings"
	"unicode"

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
	From    []Seed
	Via     []string // relation types to spread over; empty: all
	Against []string // relation types not to spread over
	Depth   int      // hops, 1 to 16; 0: 2
	Limit   int      // rows; 0: 10
	// Where, when set, drops candidates before ranking.
	Where func(value.NodeID) (bool, error)
	Legs  Legs
	// Tuning replaces DefaultTuning when it is set.
	Tuning *Tuning
}

// Legs switch parts of recall off, for measuring. The zero value has all on.
type Legs struct {
	NoLexical     bool
	NoAssociative bool
}

// LegsOf has only the named legs on, lexical and associative; none named: all.
func LegsOf(names []string) (Legs, error) {
	if len(names) == 0 {
		return Legs{}, nil
	}
	legs := Legs{NoLexical: true, NoAssociative: true}
	for _, n := range names {
		switch n {
		case "lexical":
			legs.NoLexical = false
		case "associative":
			legs.NoAssociative = false
		default:
			return Legs{}, fmt.Errorf("recall has no leg %q; its legs are lexical and associative", n)
		}
	}
	return legs, nil
}

// Row is one recalled memory.
type Row struct {
	Node       value.NodeID
	Score      float64
	Lexical    float64 // share of the best text score, 0 to 1
	Activation float64 // share of the highest activation, 0 to 1
	Path       *value.Path
	Why        string
}

// ErrNothingToSearch is returned for a query without a word to search for and
// without another seed.
var ErrNothingToSearch = errors.New("the query has no word to search for, and there is no other seed; name a rarer word or give FROM a node")

// Run recalls. The same data and options give the same rows with the same bits;
// ties are broken by external id.
func Run(ctx context.Context, g access.Reader, o Options) ([]Row, error) {
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
	r := &run{ctx: ctx, g: g, o: o, t: t, ids: ids{g: g}, candidates: map[value.NodeID]*candidate{}}
	if err := r.lexical(); err != nil {
		return nil, err
	}
	if err := r.associative(); err != nil {
		return nil, err
	}
	if r.ids.err != nil {
		return nil, r.ids.err
	}
	return r.rank()
}

type candidate struct {
	node       value.NodeID
	lexical    float64
	terms      []string
	activation float64
	received   float64 // what came over edges, relative to the strongest seed's 1
	context    float64 // how much speaks for what contains it, 0 to 1
	score      float64
}

type run struct {
	ctx        context.Context
	g          access.Reader
	o          Options
	t          Tuning
	ids        ids
	hits       []access.TextHit
	candidates map[value.NodeID]*candidate
	spread     *activation.Result
}

func (r *run) candidate(id value.NodeID) *candidate {
	c := r.candidates[id]
	if c == nil {
		c = &candidate{node: id}
		r.candidates[id] = c
	}
	return c
}

// lexical searches the text. Candidates that WHERE drops are not ranked, so that
// a filter never eats up the rows.
func (r *run) lexical() error {
	if !r.hasWord(r.o.Query) || r.o.Legs.NoLexical && r.o.Legs.NoAssociative {
		return r.needSeed()
	}
	limit := max(r.t.Pool, r.t.PoolFactor*r.o.Limit)
	hits, err := r.g.SearchText(r.o.Query, limit, nil)
	if err != nil {
		return err
	}
	r.hits = hits
	if len(hits) == 0 {
		return nil
	}
	best := hits[0].Score
	for _, h := range hits {
		c := r.candidate(h.Node)
		c.lexical, c.terms = h.Score/best, h.Terms
	}
	return nil
}

// hasWord reports whether a text has a word that could be found: stop words are
// in no document.
func (r *run) hasWord(text string) bool {
	if a, ok := r.g.(access.TextAnalyser); ok {
		return len(a.SearchTerms(text)) > 0
	}
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

func (r *run) needSeed() error {
	if len(r.o.From) == 0 {
		return ErrNothingToSearch
	}
	return nil
}

// associative spreads from the best text hits and the given seeds.
func (r *run) associative() error {
	if r.o.Legs.NoAssociative {
		return nil
	}
	seeds := r.seeds()
	if len(seeds) == 0 {
		return nil
	}
	src, err := newSource(r.g, &r.ids, &r.t, r.o.Via, r.o.Against)
	if err != nil {
		return err
	}
	r.spread, err = activation.Steps(r.ctx, src, seeds, activation.Params{
		Residual: r.t.Residual, Depth: r.o.Depth, Factor: src.factor, EdgesPerNode: r.t.EdgesPerNode,
	})
	if err != nil {
		return err
	}
	if len(r.spread.Nodes) == 0 {
		return nil
	}
	best := r.spread.Nodes[0].Activation
	for _, a := range r.spread.Nodes {
		c := r.candidate(value.NodeID(a.ID))
		c.activation, c.received = a.Activation/best, a.Received
	}
	return r.context()
}

// context rates every candidate by what contains it: a session in which many
// memories match is the one that is meant. Containers are rated against the best
// of them; where there is only one, or none, nothing can be told.
func (r *run) context() error {
	container, ok := r.g.RelType(contains)
	if !ok || r.t.Context == 0 {
		return nil
	}
	types := []value.TypeID{container}
	sums := map[value.NodeID]float64{}
	best := 0.0
	var adjacent []access.Adjacent
	for i, h := range r.hits {
		if i == r.t.ContextHits {
			break
		}
		var err error
		if adjacent, err = r.g.Expand(h.Node, access.In, types, adjacent[:0]); err != nil {
			return err
		}
		for _, a := range adjacent {
			sums[a.Node] += h.Score / r.hits[0].Score
			best = max(best, sums[a.Node])
		}
	}
	if len(sums) < 2 {
		return nil
	}
	for _, c := range r.candidates {
		var err error
		if adjacent, err = r.g.Expand(c.node, access.In, types, adjacent[:0]); err != nil {
			return err
		}
		for _, a := range adjacent {
			c.context = max(c.context, sums[a.Node]/best)
		}
	}
	return nil
}

func (r *run) seeds() []activation.Seed {
	var seeds []activation.Seed
	for i, h := range r.hits {
		share := h.Score / r.hits[0].Score
		if i >= r.t.Seeds || share < r.t.SeedFloor {
			break
		}
		seeds = append(seeds, activation.Seed{ID: activation.ID(h.Node), Weight: math.Pow(share, r.t.SeedPower)})
	}
	for _, s := range r.o.From {
		if s.Weight > 0 {
			seeds = append(seeds, activation.Seed{ID: activation.ID(s.Node), Weight: s.Weight})
		}
	}
	return seeds
}

// rank scores the candidates, best first, and keeps those that are memories and
// pass WHERE until there are enough.
func (r *run) rank() ([]Row, error) {
	ranked := make([]*candidate, 0, len(r.candidates))
	speakers := newSpeakers(r.g, r.o.Query)
	for _, c := range r.candidates {
		c.score = r.score(c)
		if c.score > 0 && r.t.Speaker > 0 {
			named, err := speakers.named(c.node)
			if err != nil {
				return nil, err
			}
			if named {
				c.score *= 1 + r.t.Speaker
			}
		}
		if c.score > 0 {
			ranked = append(ranked, c)
		}
	}
	sort.Slice(ranked, func(i, j int) bool {
		if ranked[i].score != ranked[j].score {
			return ranked[i].score > ranked[j].score
		}
		return r.ids.less(ranked[i].node, ranked[j].node)
	})
	if r.ids.err != nil {
		return nil, r.ids.err
	}
	var rows []Row
	for _, c := range ranked {
		if len(rows) == r.o.Limit {
			break
		}
		ok, err := r.keep(c)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		row, err := r.row(c)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (r *run) score(c *candidate) float64 {
	lexical := c.lexical
	if r.o.Legs.NoLexical {
		lexical = 0
	}
	if r.o.Legs.NoAssociative {
		return lexical
	}
	return lexical + r.t.Activation*c.received + r.t.Context*c.context
}

// keep reports whether a candidate may be a row: structure that holds memories
// together carries activation, but only nodes with text are memories.
func (r *run) keep(c *candidate) (bool, error) {
	if !r.g.NodeExists(c.node) {
		return false, nil
	}
	if c.lexical == 0 {
		if ok, err := r.g.HasText(c.node); !ok || err != nil {
			return false, err
		}
	}
	if r.o.Where == nil {
		return true, nil
	}
	return r.o.Where(c.node)
}

func (r *run) row(c *candidate) (Row, error) {
	row := Row{Node: c.node, Score: c.score, Lexical: c.lexical, Activation: c.activation}
	var err error
	if row.Path, err = r.path(c.node); err != nil {
		return row, fmt.Errorf("recall: path of a row: %w", err)
	}
	row.Why, err = r.why(c, row.Path)
	return row, err
}
