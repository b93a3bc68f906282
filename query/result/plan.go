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
	Memory   int64         // the most bytes held of the budget, the inputs' included
	Hits     int64         // nodes scanned, edges followed and rows handled, without the inputs'
}

// Clone returns a copy that shares nothing with the plan.
func (p *Plan) Clone() *Plan {
	n := p.size()
	c := cloner{nodes: make([]Plan, 0, n), inputs: make([]*Plan, 0, n)}
	return c.clone(p)
}

func (p *Plan) size() int {
	n := 1
	for _, in := range p.Inputs {
		n += in.size()
	}
	return n
}

// cloner has room for all copies, made at once.
type cloner struct {
	nodes  []Plan
	inputs []*Plan
}

func (c *cloner) clone(p *Plan) *Plan {
	c.nodes = append(c.nodes, *p)
	out := &c.nodes[len(c.nodes)-1]
	if len(p.Inputs) == 0 {
		return out
	}
	from, to := len(c.inputs), len(c.inputs)+len(p.Inputs)
	c.inputs = c.inputs[:to]
	out.Inputs = c.inputs[from:to:to]
	for i, in := range p.Inputs {
		out.Inputs[i] = c.clone(in)
	}
	return out
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
		b.WriteString("  [rows " + strconv.FormatInt(p.Rows, 10) + ", hits " + strconv.FormatInt(p.Hits, 10))
		if p.Memory > 0 {
			b.WriteString(", " + strconv.FormatInt((p.Memory+1023)/1024, 10) + " kB")
		}
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
