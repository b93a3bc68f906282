package recall

import (
	"cmp"
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
)

// window lifts what stands beside the best hits: what was said just before and just
// after is about the same, and a reply about what it replies to. Each hit hands on a
// share of its relevance over one and two steps of order, and from a question to its
// answers.
func (r *run) window() error {
	if r.o.Legs.NoAssociative || r.t.WindowHits == 0 || len(r.candidates.all) == 0 {
		return nil
	}
	order, ordered := r.g.RelType(precedes)
	answer, answered := r.g.RelType(answers)
	if !ordered && !answered {
		return nil
	}
	w := &windower{run: r, order: []value.TypeID{order}, answer: []value.TypeID{answer}}
	for _, h := range r.mostRelevant(r.t.WindowHits) {
		if ordered {
			for _, dir := range [...]access.Direction{access.In, access.Out} {
				if err := w.along(h, dir); err != nil {
					return err
				}
			}
		}
		if answered {
			if err := w.give(h.node, access.In, w.answer, r.t.WindowAnswer*h.relevance, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// hit is a candidate with what its text says for it.
type hit struct {
	node      value.NodeID
	relevance float64
}

// mostRelevant are the candidates with the best texts, at most n; of those that
// equal the last one all are taken or none.
func (r *run) mostRelevant(n int) []hit {
	hits := make([]hit, 0, len(r.candidates.all))
	for i := range r.candidates.all {
		c := &r.candidates.all[i]
		if x := c.lexical + float64(r.t.WindowSemantic*c.semantic); x > 0 {
			hits = append(hits, hit{c.node, x})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Compare(b.relevance, a.relevance) })
	if len(hits) <= n {
		return hits
	}
	for n > 0 && hits[n-1].relevance == hits[n].relevance {
		n--
	}
	return hits[:n]
}

// windower hands on shares. Where order branches into many, it says nothing.
type windower struct {
	*run
	order, answer []value.TypeID
	adjacent      []access.Adjacent
	next          []value.NodeID
}

const maxBranches = 4

func (w *windower) along(h hit, dir access.Direction) error {
	w.next = w.next[:0]
	if err := w.give(h.node, dir, w.order, w.t.Window*h.relevance, &w.next); err != nil {
		return err
	}
	for _, n := range w.next {
		if err := w.give(n, dir, w.order, w.t.Window2*h.relevance, nil); err != nil {
			return err
		}
	}
	return nil
}

// give adds to what stands beside a node, and notes it.
func (w *windower) give(id value.NodeID, dir access.Direction, types []value.TypeID, amount float64, note *[]value.NodeID) error {
	if w.g.Degree(id, dir, types) > maxBranches {
		return nil
	}
	var err error
	if w.adjacent, err = w.g.Expand(id, dir, types, w.adjacent[:0]); err != nil {
		return err
	}
	for _, a := range w.adjacent {
		w.candidates.of(a.Node).window += units(amount)
		if note != nil {
			*note = append(*note, a.Node)
		}
	}
	return nil
}

// Shares are summed in whole units, so that their order does not matter.
const unit = 1 << 40

func units(x float64) int64 { return int64(x * unit) }
