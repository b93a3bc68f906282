package physical

import (
	"engram/query/internal/fault"
	"engram/query/internal/logical"
)

// maxLayout bounds the bytes that the operators of one part hold in column
// headers alone: each has room for every slot of the part. It is reached by
// statements of more than a thousand clauses that each bind something.
const maxLayout = 128 << 20

// headerBytes is what output holds for a slot.
const headerBytes = 48

// checkLayout refuses a part whose operators times slots are too many.
func checkLayout(p *logical.Part) error {
	operators := int64(countOperators(p.Op))
	if operators*int64(p.Width)*headerBytes <= maxLayout {
		return nil
	}
	return fault.New(fault.ResourceExhausted, fault.CompileTime, "StatementTooLarge", fault.Span{},
		"the statement has %d steps over %d variables and unnamed parts of patterns, which is too much for one", operators, p.Width).
		WithHint("Split it, or put the data into a list parameter and UNWIND it.")
}

func countOperators(op logical.Op) int {
	n := 1
	for _, in := range op.Inputs() {
		n += countOperators(*in)
	}
	return n
}
