package recall

import (
	"slices"

	"engram/graph/value"
)

// ranked is a candidate with its score.
type ranked struct {
	*candidate
	score  float64
	heldBy value.NodeID // what lowered the score by contradicting it; 0: nothing
	copy   bool         // or by saying the same
}

// rank returns the best candidates that may be rows, best first. It goes through
// them by the highest score that each could have, and ends when that is below the
// last row's, so that only a few are looked at closely.
func (r *run) rank() ([]ranked, error) {
	queue := r.bounds()
	top := ranking{limit: r.o.Limit, ids: &r.ids}
	for queue.next() {
		c := &r.candidates.all[queue.top().index]
		if top.full() && queue.top().bound < top.worst().score {
			break
		}
		score, err := r.score(c)
		if err != nil {
			return nil, err
		}
		x := ranked{candidate: c, score: score}
		if score <= 0 || !top.fits(x) {
			continue
		}
		ok, err := r.keep(c)
		if err != nil {
			return nil, err
		}
		if ok {
			top.add(x)
		}
	}
	slices.SortFunc(top.rows, func(a, b ranked) int {
		if top.before(a, b) {
			return -1
		}
		return 1
	})
	return top.rows, nil
}

// base is the part of a candidate's score that is known without looking further.
// The conversions keep compilers from fusing operations, so that every machine
// gets the same bits.
func (r *run) base(c *candidate) float64 {
	lexical := c.lexical
	if r.o.Legs.NoLexical {
		lexical = 0
	}
	if c.titled {
		lexical += r.t.Title
	}
	relevance := lexical + float64(r.t.Semantic*c.semantic)
	return relevance + float64(r.t.Activation*c.received) + float64(c.window)/unit
}

// bounds queues the candidates by the highest score that they could have.
func (r *run) bounds() *boundQueue {
	context, agreed, speaker, dated, most := 0.0, 0.0, 1.0, 1.0, 1.0
	if r.containers != nil {
		context, agreed = r.t.Context, r.t.SemanticAgreed
	}
	if r.speakers != nil {
		speaker = 1 + r.t.Speaker
	}
	if r.dates != nil {
		dated = 1 + r.t.Date
	}
	if r.weigher != nil {
		most = r.weigher.most()
	}
	q := &boundQueue{items: make([]bounded, len(r.candidates.all))}
	for i := range r.candidates.all {
		c := &r.candidates.all[i]
		bound := float64((r.base(c) + float64(context+float64(agreed*c.semantic))) * speaker)
		bound = float64(bound * dated)
		q.items[i] = bounded{float64(bound * most), int32(i)}
	}
	q.build()
	return q
}

// score is never above the candidate's bound: it does the same operations with
// nothing greater.
func (r *run) score(c *candidate) (float64, error) {
	score := r.base(c)
	if r.containers != nil {
		rate, err := r.containers.rate(c.node)
		if err != nil {
			return 0, err
		}
		score += float64((r.t.Context + float64(r.t.SemanticAgreed*c.semantic)) * rate)
	}
	if r.speakers != nil && score > 0 {
		named, err := r.speakers.named(c.node)
		if err != nil {
			return 0, err
		}
		if named {
			score = float64(score * (1 + r.t.Speaker))
		}
	}
	if r.dates != nil && score > 0 {
		named, err := r.dates.named(c.node)
		if err != nil {
			return 0, err
		}
		if named {
			score = float64(score * (1 + r.t.Date))
		}
	}
	if r.weigher != nil && score > 0 {
		salience, recency, err := r.weigher.of(c.node)
		if err != nil {
			return 0, err
		}
		score = float64(score * r.weigher.f.Weigh(salience, recency))
	}
	return score, nil
}

// keep reports whether a candidate may be a row: structure that holds memories
// together carries activation, but only nodes with text are memories.
func (r *run) keep(c *candidate) (bool, error) {
	if !r.g.NodeExists(c.node) {
		return false, nil
	}
	if c.lexical == 0 {
		if ok, err := r.g.HasText(c.node); !ok || err != nil {
			r.drop(c.node, WithoutText)
			return false, err
		}
	}
	x, err := r.dropped(c.node)
	if x != Kept {
		r.drop(c.node, x)
	}
	return x == Kept, err
}

// dropped tells why a filter or WHERE leaves a node out.
func (r *run) dropped(id value.NodeID) (Exclusion, error) {
	if !r.screen.open() {
		if x, err := r.screen.why(id); x != Kept || err != nil {
			return x, err
		}
	}
	if r.o.Where != nil {
		if ok, err := r.o.Where(id); !ok || err != nil {
			return DroppedByWhere, err
		}
	}
	return Kept, nil
}

// ranking keeps the best rows, the worst of them first: a heap.
type ranking struct {
	limit int
	ids   *ids
	rows  []ranked
}

// before reports whether a ranks before b.
func (t *ranking) before(a, b ranked) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	return t.ids.less(a.node, b.node)
}

func (t *ranking) full() bool    { return len(t.rows) == t.limit }
func (t *ranking) worst() ranked { return t.rows[0] }

// fits reports whether a candidate would be among the best.
func (t *ranking) fits(x ranked) bool { return !t.full() || t.before(x, t.rows[0]) }

// add takes a candidate that fits.
func (t *ranking) add(x ranked) {
	if !t.full() {
		t.rows = append(t.rows, x)
		for i := len(t.rows) - 1; i > 0; {
			parent := (i - 1) / 2
			if t.before(t.rows[i], t.rows[parent]) {
				return
			}
			t.rows[i], t.rows[parent] = t.rows[parent], t.rows[i]
			i = parent
		}
		return
	}
	t.rows[0] = x
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(t.rows); child++ {
			if t.before(t.rows[worst], t.rows[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		t.rows[i], t.rows[worst] = t.rows[worst], t.rows[i]
		i = worst
	}
}
