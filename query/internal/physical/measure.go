package physical

import (
	"time"

	"engram/graph/value"
	"engram/query/internal/batch"
	"engram/query/internal/logical"
	"engram/query/result"
)

// measured counts the rows and the time of an operator, for PROFILE.
type measured struct {
	op   operator
	inst *instance
	rows int64
	time time.Duration
}

func (m *measured) open(f *frame) error { return m.op.open(f) }

func (m *measured) next() (*batch.Batch, error) {
	start := m.inst.in.Now()
	b, err := m.op.next()
	m.time += m.inst.in.Now().Sub(start)
	if b != nil {
		m.rows += int64(b.N)
	}
	return b, err
}

// describe returns the plan with what was measured.
func (inst *instance) describe() *result.Plan {
	return logical.Describe(inst.plan, func(op logical.Op, p *result.Plan) {
		if m := inst.measures[op]; m != nil {
			p.Measured, p.Rows, p.Time = true, m.rows, m.time
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
