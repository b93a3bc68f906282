package physical

import (
	"time"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
	"engram/query/result"
)

// meter counts what calls yield and take, for PROFILE.
type meter struct {
	inst *instance
	rows int64
	time time.Duration
	hits int64 // those of the inputs included
	held int64 // bytes of the budget taken in the calls and not given back
	peak int64
}

// around measures one call.
func (m *meter) around(next func() (*batch.Batch, error)) (*batch.Batch, error) {
	start, hits, memory := m.inst.in.Now(), m.inst.taken(), m.inst.memory
	b, err := next()
	m.time += m.inst.in.Now().Sub(start)
	m.hits += m.inst.taken() - hits
	m.held += memory - m.inst.memory
	m.peak = max(m.peak, m.held)
	if b != nil {
		m.rows += int64(b.N)
	}
	return b, err
}

// show puts what was measured into a line of the plan. below is how many of the
// hits are shown further down.
func (m *meter) show(p *result.Plan, below int64) {
	p.Measured, p.Rows, p.Time, p.Memory, p.Hits = true, m.rows, m.time, m.peak, m.hits-below
}

// measured is an operator with a meter.
type measured struct {
	meter
	op operator
}

func (m *measured) open(f *frame) error { return m.op.open(f) }

func (m *measured) next() (*batch.Batch, error) { return m.around(m.op.next) }

// describe returns the plan with what was measured. all is the meter of the whole
// statement.
func (inst *instance) describe(all *meter) *result.Plan {
	below := func(ops []logical.Op) (hits int64) {
		for _, op := range ops {
			if m := inst.measures[op]; m != nil {
				hits += m.hits
			}
		}
		return hits
	}
	plan := logical.Describe(inst.plan, &logical.Notes{
		Op: func(op logical.Op, p *result.Plan) {
			if m := inst.measures[op]; m != nil {
				m.show(p, below(inst.plan.Below(op)))
			}
		},
		Query: func(q *logical.Query, p *result.Plan) {
			if u := inst.queries[q]; u != nil {
				u.meter.show(p, below(q.Ends()))
			}
		},
	})
	all.show(plan, inst.root.meter.hits)
	return plan
}

// dateTime converts an instant with its zone.
func dateTime(t time.Time) value.DateTime {
	zone, offset := t.Zone()
	name := t.Location().String()
	if name == "Local" || name == zone {
		name = ""
	}
	return value.DateTime{Seconds: t.Unix(), Nanos: int32(t.Nanosecond()), Offset: int32(offset), Zone: name}
}
