package result

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCloneSharesNothing(t *testing.T) {
	whole := func() *Plan {
		scan := &Plan{Operator: "LabelScan", Detail: "(n:A)", Rows: 3, Measured: true}
		join := &Plan{Operator: "ValueJoin", Inputs: []*Plan{scan, {Operator: "Argument"}}}
		return &Plan{Operator: "ProduceResults", Inputs: []*Plan{{Operator: "Union", Inputs: []*Plan{join, {Operator: "AllNodesScan", Inputs: []*Plan{{Operator: "Argument"}}}}}}}
	}
	p := whole()
	c := p.Clone()
	if !cmp.Equal(p, c) {
		t.Fatal(cmp.Diff(p, c))
	}
	var spoil func(p *Plan)
	spoil = func(p *Plan) {
		for _, in := range p.Inputs {
			spoil(in)
		}
		p.Inputs = append(p.Inputs, &Plan{Operator: "Other"})
		p.Inputs[0] = p.Inputs[len(p.Inputs)-1]
		p.Operator, p.Rows = "Other", 99
	}
	spoil(c)
	if !cmp.Equal(p, whole()) {
		t.Error("changing a copy changed the plan:\n" + cmp.Diff(whole(), p))
	}
}
