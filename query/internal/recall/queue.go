package recall

// bounded is a candidate, by number, with a bound of its score.
type bounded struct {
	bound float64
	index int32
}

// boundQueue hands out candidates, the highest bound first: a heap, since only a
// few are ever asked for. The order of equal bounds has no meaning.
type boundQueue struct {
	items   []bounded
	started bool
}

func (q *boundQueue) build() {
	for i := len(q.items)/2 - 1; i >= 0; i-- {
		q.down(i)
	}
}

// next moves on to the next candidate; false when there is none.
func (q *boundQueue) next() bool {
	if q.started {
		last := len(q.items) - 1
		q.items[0] = q.items[last]
		q.items = q.items[:last]
		q.down(0)
	}
	q.started = true
	return len(q.items) > 0
}

func (q *boundQueue) top() bounded { return q.items[0] }

func (q *boundQueue) down(i int) {
	for {
		best := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(q.items); child++ {
			if q.items[child].bound > q.items[best].bound {
				best = child
			}
		}
		if best == i {
			return
		}
		q.items[i], q.items[best] = q.items[best], q.items[i]
		i = best
	}
}
