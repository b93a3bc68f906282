package vector

import (
	"cmp"
	"slices"

	"engram/graph/value"
)

// Query asks for the nodes nearest to a direction.
type Query struct {
	Vector []float32
	// Limit is how many hits are wanted at most.
	Limit int
	// Floor: hits score more than it. 0, the zero value, leaves out what is no nearer
	// than the average of the store; -1 leaves out next to nothing.
	Floor float64
	// Uncentred compares without taking off the mean.
	Uncentred bool
	// Keep, when not nil, drops nodes before they are ranked. It is called for those
	// only that would be among the best.
	Keep func(value.NodeID) bool
	// Tie orders nodes of equal scores; nil: by id.
	Tie func(a, b value.NodeID) int
}

// Hit is a node with its score: the cosine, -1 to 1.
type Hit struct {
	Node  value.NodeID
	Score float64
}

// A store with up to exactWork bytes of codes is compared whole. A greater one is
// prefiltered by signs: of wantShare nodes one is compared, but wantLeast at least.
const (
	exactWork = 1 << 20
	wantShare = 100
	wantLeast = 4096
)

// Search returns the nearest nodes, best first. Among the nodes it compares the
// result is exact. Those are all that have a vector if there are few, or if Keep left
// too few of the best; else the share that the signs of their dimensions say is nearest,
// which loses a hit rarely. Either way the result depends only on the vectors that
// there are and on the query.
func (v *View) Search(query Query) ([]Hit, error) {
	if err := v.ix.opts.check(query.Vector); err != nil {
		return nil, err
	}
	if query.Limit <= 0 {
		return nil, nil
	}
	t := v.totals()
	q := newTarget(normalised(query.Vector), t, !query.Uncentred)
	want := max(t.live/wantShare, wantLeast, 4*query.Limit)
	if t.live*v.gen.dim > exactWork && want < t.live {
		f := v.ix.scratch()
		defer v.ix.scratches.Put(f)
		v.prefilter(q, f, want)
		b := newBest(&query)
		v.rescore(q, f, b)
		v.offerOverlay(q, b)
		if b.dropped == 0 || len(b.hits) == query.Limit {
			return b.sorted(), nil
		}
	}
	return v.compareAll(q, &query), nil
}

// compareAll compares every vector.
func (v *View) compareAll(q *target, query *Query) []Hit {
	b := newBest(query)
	for i := range v.n {
		k, in := split(i)
		if c := v.chunks[k]; v.sees(c, i, in) {
			b.offer(c.heads[in].node, q.score(c.code(in, v.gen.dim)))
		}
	}
	v.offerOverlay(q, b)
	return b.sorted()
}

// rescore compares the candidates. They lie all over memory, so the cache lines of
// some are asked for together before any is used.
func (v *View) rescore(q *target, f *funnel, b *best) {
	for some := range slices.Chunk(f.kept, 32) {
		for _, c := range some {
			k, in := split(c.at)
			f.touched += v.chunks[k].heads[in].scale + uint32(v.chunks[k].codes[int(in)*v.gen.dim])
		}
		for _, c := range some {
			k, in := split(c.at)
			b.offer(v.chunks[k].heads[in].node, q.score(v.chunks[k].code(in, v.gen.dim)))
		}
	}
}

func (v *View) offerOverlay(q *target, b *best) {
	if v.over == nil {
		return
	}
	for _, e := range v.over.entries {
		if e.kind == isVector {
			b.offer(e.node, q.score(e.code))
		}
	}
}

func (ix *Index) scratch() *funnel {
	if f, ok := ix.scratches.Get().(*funnel); ok {
		return f
	}
	return &funnel{}
}

// Scores compares some nodes with a direction: out[i] is the score of nodes[i], and
// 0 where it has no vector.
func (v *View) Scores(query []float32, uncentred bool, nodes []value.NodeID) ([]float64, error) {
	if err := v.ix.opts.check(query); err != nil {
		return nil, err
	}
	q := newTarget(normalised(query), v.totals(), !uncentred)
	out := make([]float64, len(nodes))
	for i, id := range nodes {
		if c, ok := v.code(id); ok {
			out[i] = q.score(c)
		}
	}
	return out, nil
}

// best keeps the best hits in a heap, worst first.
type best struct {
	query   *Query
	hits    []Hit
	dropped int // by Keep
}

func newBest(q *Query) *best { return &best{query: q} }

// compare orders hits, better first.
func (b *best) compare(x, y Hit) int {
	if c := cmp.Compare(y.Score, x.Score); c != 0 {
		return c
	}
	if b.query.Tie != nil {
		if c := b.query.Tie(x.Node, y.Node); c != 0 {
			return c
		}
	}
	return cmp.Compare(x.Node, y.Node)
}

func (b *best) offer(id value.NodeID, score float64) {
	if score <= b.query.Floor {
		return
	}
	h := Hit{id, score}
	full := len(b.hits) == b.query.Limit
	if full && (score < b.hits[0].Score || b.compare(h, b.hits[0]) > 0) {
		return
	}
	if b.query.Keep != nil && !b.query.Keep(id) {
		b.dropped++
		return
	}
	if !full {
		b.hits = append(b.hits, h)
		b.up(len(b.hits) - 1)
		return
	}
	b.hits[0] = h
	b.down(0)
}

func (b *best) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if b.compare(b.hits[i], b.hits[parent]) < 0 {
			return
		}
		b.hits[i], b.hits[parent] = b.hits[parent], b.hits[i]
		i = parent
	}
}

func (b *best) down(i int) {
	for {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(b.hits); child++ {
			if b.compare(b.hits[child], b.hits[worst]) > 0 {
				worst = child
			}
		}
		if worst == i {
			return
		}
		b.hits[i], b.hits[worst] = b.hits[worst], b.hits[i]
		i = worst
	}
}

func (b *best) sorted() []Hit {
	slices.SortFunc(b.hits, b.compare)
	return b.hits
}
