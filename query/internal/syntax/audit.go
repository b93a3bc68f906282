package syntax

import (
	"strings"

	"engram/graph/value"
	"engram/query/internal/fault"
)

// The names of the procedures that the audit's clauses call.
const (
	AuditStructure = "AUDIT STRUCTURE"
	RecordAudit    = "RECORD AUDIT"
)

// auditParts are the words that go on behind AUDIT STRUCTURE, in any order.
var auditParts = []string{"ONLY", "WITH", "SUGGEST"}

// audit parses
//
//	AUDIT STRUCTURE [ONLY finding, ...] [WITH {options}] [SUGGEST] [YIELD ...] [WHERE ...]
//
// as the call of a procedure of a list of names, a map and a truth value, each null
// when it is left out.
func (p *parser) audit() (*Call, error) {
	t := p.take()
	if err := p.expectWord("STRUCTURE"); err != nil {
		return nil, err
	}
	none := &Literal{Span: span(t), Value: value.Null}
	c := &Call{Procedure: []string{AuditStructure}, Show: true, Args: []Expr{none, none, none}}
	for {
		part := p.auditPart()
		if part < 0 {
			return c, p.showTail(c, span(t))
		}
		word := p.take()
		if c.Args[part] != none {
			return nil, fault.Syntax(unexpectedSyntax, span(word), "%s is given twice", auditParts[part])
		}
		arg, err := p.auditArg(auditParts[part], span(word))
		if err != nil {
			return nil, err
		}
		c.Args[part] = arg
	}
}

// auditPart returns which of auditParts the next word begins, -1 for none. WITH
// without a map behind it is the next clause.
func (p *parser) auditPart() int {
	for i, w := range auditParts {
		if is(p.peek(), w) && (w != "WITH" || p.auditOptions()) {
			return i
		}
	}
	return -1
}

// auditOptions reports whether WITH is followed by options: a map, or a parameter
// that gets no name.
func (p *parser) auditOptions() bool {
	next := p.ahead(1)
	return isPunct(next, "{") || next.Type == tParam && p.ahead(2).Type != kwAs && !isPunct(p.ahead(2), ",")
}

func (p *parser) auditArg(word string, at Span) (Expr, error) {
	switch word {
	case "ONLY":
		names, err := commaList(p, func() (*Name, error) { return p.name("the name of a finding") })
		if err != nil {
			return nil, err
		}
		list := &ListLit{Span: p.since(at)}
		for _, n := range names {
			list.Elems = append(list.Elems, &Literal{Span: n.Span, Value: value.String(n.Text)})
		}
		return list, nil
	case "WITH":
		return p.expr()
	}
	return &Literal{Span: at, Value: value.Bool(true)}, nil
}

// auditFollowers is followers for AUDIT STRUCTURE.
func auditFollowers(c *Call) []string {
	var list []string
	for i, w := range auditParts {
		if l, ok := c.Args[i].(*Literal); ok && l.Value.IsNull() {
			list = append(list, strings.Replace(w, "WITH", "WITH {", 1))
		}
	}
	return list
}

// recordAudit parses RECORD AUDIT [YIELD node].
func (p *parser) recordAudit() (*Call, error) {
	t := p.take()
	if err := p.expectWord("AUDIT"); err != nil {
		return nil, err
	}
	c := &Call{Procedure: []string{RecordAudit}, Memory: true}
	return c, p.memoryYield(c, span(t))
}
