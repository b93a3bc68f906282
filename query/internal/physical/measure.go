package physical

import (
	"time"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
	"engram/query/result"
)

// measured counts what an operator yields and takes, for PROFILE.
type measured struct {
	op   operator
	inst *instance
	rows int64
	time time.Duration
	hits int64 // its inputs' included
	held int64 // bytes of the budget taken in its calls and not given back
	peak int64
}

func (m *measured) open(f *frame) error { return m.op.open(f) }

func (m *measured) next() (*batch.Batch, error) {
	start, hits, memory := m.inst.in.Now(), m.inst.taken(), m.inst.memory
	b, err := m.op.next()
	m.time += m.inst.in.Now().Sub(start)
	m.hits += m.inst.taken() - hits
	m.held += memory - m.inst.memory
	m.peak = max(m.peak, m.held)
	if b != nil {
		m.rows += int64(b.N)
	}
	return b, err
}

// describe returns the plan with what was measured.
func (inst *instance) describe() *result.Plan {
	return logical.Describe(inst.plan, func(op logical.Op, p *result.Plan) {
		if m := inst.measures[op]; m != nil {
			p.Measured, p.Rows, p.Time, p.Memory, p.Hits = true, m.rows, m.time, m.peak, m.hits
			for _, in := range inst.plan.Below(op) {
				if below := inst.measures[in]; below != nil {
					p.Hits -= below.hits
				}
			}
		}
	})
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
