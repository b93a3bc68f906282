package text

import (
	"cmp"
	"container/heap"
	"slices"

	"engram/graph/value"
)

// ranked is a hit with the number of its document.
type ranked struct {
	node  value.NodeID
	score float64
	doc   uint32
}

// ranking is a heap with the worst hit on top.
type ranking struct {
	hits []ranked
	tie  func(a, b value.NodeID) int
}

// worse reports whether a ranks behind b.
func (h *ranking) worse(a, b *ranked) bool {
	if a.score != b.score {
		return a.score < b.score
	}
	return h.tie(a.node, b.node) > 0
}

func (h *ranking) Len() int           { return len(h.hits) }
func (h *ranking) Less(i, j int) bool { return h.worse(&h.hits[i], &h.hits[j]) }
func (h *ranking) Swap(i, j int)      { h.hits[i], h.hits[j] = h.hits[j], h.hits[i] }
func (h *ranking) Push(x any)         { h.hits = append(h.hits, x.(ranked)) }

// Pop removes the last element, as container/heap wants it.
func (h *ranking) Pop() any {
	last := h.hits[len(h.hits)-1]
	h.hits = h.hits[:len(h.hits)-1]
	return last
}

// best ranks the touched documents.
func (r *reading) best(q *Query, s *scratch) ([]Hit, []uint32, error) {
	ranked, err := r.apart(q, s)
	if err == nil && ranked == nil {
		h := &ranking{tie: q.Tie}
		if h.tie == nil {
			h.tie = cmp.Compare[value.NodeID]
		}
		ranked, err = r.rank(q, s, h, q.Limit)
	}
	if err != nil {
		return nil, nil, err
	}
	hits, docs := make([]Hit, len(ranked)), make([]uint32, len(ranked))
	for i, x := range ranked {
		hits[i], docs[i] = Hit{Node: x.node, Score: x.score}, x.doc
	}
	return hits, docs, nil
}

// apart ranks without asking for ties; nil when it has to be asked for, or is not
// wanted. Whose documents they are is looked up for the hits only.
func (r *reading) apart(q *Query, s *scratch) ([]ranked, error) {
	if q.Apart <= 0 || q.Keep != nil {
		return nil, nil
	}
	var top scoreHeap
	for _, doc := range s.touched {
		top.offer(scored{s.scores[doc], doc}, q.Limit+1)
	}
	if len(top) > q.Limit {
		least := top[0].score
		if top = slices.DeleteFunc(top, func(x scored) bool { return x.score == least }); len(top) < q.Apart {
			return nil, nil
		}
	}
	hits := make([]ranked, len(top))
	for i, x := range top {
		node, err := r.node(x.doc)
		if err != nil {
			return nil, err
		}
		hits[i] = ranked{node, x.score, x.doc}
	}
	slices.SortFunc(hits, func(a, b ranked) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return cmp.Compare(a.node, b.node)
	})
	return hits, nil
}

// scored is a document with its score.
type scored struct {
	score float64
	doc   uint32
}

// scoreHeap keeps the highest scores, the lowest of them first.
type scoreHeap []scored

func (h *scoreHeap) offer(x scored, limit int) {
	if len(*h) < limit {
		*h = append(*h, x)
		for i := len(*h) - 1; i > 0; {
			parent := (i - 1) / 2
			if (*h)[parent].score <= (*h)[i].score {
				return
			}
			(*h)[i], (*h)[parent] = (*h)[parent], (*h)[i]
			i = parent
		}
		return
	}
	if x.score <= (*h)[0].score {
		return
	}
	(*h)[0] = x
	for i := 0; ; {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(*h); child++ {
			if (*h)[child].score < (*h)[least].score {
				least = child
			}
		}
		if least == i {
			return
		}
		(*h)[i], (*h)[least] = (*h)[least], (*h)[i]
		i = least
	}
}

// rank returns the best of the touched documents, up to a limit.
func (r *reading) rank(q *Query, s *scratch, h *ranking, limit int) ([]ranked, error) {
	for _, doc := range s.touched {
		score := s.scores[doc]
		if len(h.hits) == limit && score < h.hits[0].score {
			continue
		}
		node, err := r.node(doc)
		if err != nil {
			return nil, err
		}
		x := ranked{node, score, doc}
		if len(h.hits) == limit && !h.worse(&h.hits[0], &x) || q.Keep != nil && !q.Keep(node) {
			continue
		}
		if len(h.hits) == limit {
			h.hits[0] = x
			heap.Fix(h, 0)
		} else {
			heap.Push(h, x)
		}
	}
	slices.SortFunc(h.hits, func(a, b ranked) int {
		if h.worse(&b, &a) {
			return -1
		}
		return 1
	})
	return h.hits, nil
}
