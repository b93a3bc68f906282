package result

import (
	"strconv"
	"strings"
	"time"
)

// Plan describes one operator of a plan and, below it, its inputs.
type Plan struct {
	Operator string // a noun, such as LabelScan
	Detail   string // what it works on, in the statement's words
	Inputs   []*Plan
	Measured bool // whether the fields below are set: PROFILE
	Rows     int64
	Time     time.Duration // the inputs' time included
}

// String returns the plan as an indented tree, the operator that yields the
// result first. Without measurements it is the same for the same plan.
func (p *Plan) String() string {
	var b strings.Builder
	p.write(&b, 0, false)
	return b.String()
}

// StringNoTimes is String without the times, which differ between runs.
func (p *Plan) StringNoTimes() string {
	var b strings.Builder
	p.write(&b, 0, true)
	return b.String()
}

func (p *Plan) write(b *strings.Builder, depth int, noTimes bool) {
	for range depth {
		b.WriteString("  ")
	}
	b.WriteString(p.Operator)
	if p.Detail != "" {
		b.WriteString(" ")
		b.WriteString(p.Detail)
	}
	if p.Measured {
		b.WriteString("  [rows " + strconv.FormatInt(p.Rows, 10))
		if !noTimes {
			b.WriteString(", " + p.Time.String())
		}
		b.WriteString("]")
	}
	b.WriteString("\n")
	for _, in := range p.Inputs {
		in.write(b, depth+1, noTimes)
	}
}
