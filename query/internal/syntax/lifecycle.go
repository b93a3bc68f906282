package syntax

import (
	"strings"

	"engram/graph/value"
)

// The clauses that change memories are parsed by hand, as calls of procedures: their
// words are no keywords, so that they stay names everywhere else.

// memoryWord is how one of these clauses goes on behind its first memory.
type memoryWord struct {
	other   string // word before a second memory or a number; "": none
	because bool   // may end with BECAUSE reason
	may     bool   // the part of other may be left out, and is 1 then
	of      bool   // may end with OF CONVERSATION name
}

var memoryWords = map[string]memoryWord{
	"SUPERSEDE":  {other: "BY", because: true},
	"CONTRADICT": {other: "WITH", because: true},
	"RESOLVE":    {other: "OVER"},
	"FORGET":     {because: true},
	"RESTORE":    {},
	"REINFORCE":  {other: "BY", may: true, of: true},
}

// memoryChange returns the grammar of a clause that changes memories, if one begins
// here.
func (p *parser) memoryChange() production {
	verb := strings.ToUpper(p.peek().Value)
	if _, ok := memoryWords[verb]; ok {
		return handmade((*parser).changeMemory)
	}
	switch verb {
	case "REVERT":
		return handmade((*parser).revert)
	case "PRUNE":
		return handmade((*parser).prune)
	case "CONSOLIDATE":
		return handmade((*parser).consolidate)
	}
	return nil
}

// changeMemory parses
//
//	SUPERSEDE old BY new [BECAUSE reason]      CONTRADICT a WITH b [BECAUSE reason]
//	RESOLVE a OVER b                           REINFORCE m [BY strength] [OF CONVERSATION name]
//	FORGET m [BECAUSE reason]                  RESTORE m
//
// each with YIELD behind it.
func (p *parser) changeMemory() (*Call, error) {
	t := p.take()
	verb := strings.ToUpper(t.Value)
	form := memoryWords[verb]
	c := &Call{Procedure: []string{verb}, Memory: true}
	first, err := p.expr()
	if err != nil {
		return nil, err
	}
	c.Args = []Expr{first}
	if form.other != "" {
		switch {
		case p.acceptWord(form.other):
			second, err := p.expr()
			if err != nil {
				return nil, err
			}
			c.Args = append(c.Args, second)
		case !form.may:
			return nil, unexpected(p.peek(), form.other, "an operator")
		default:
			c.Args = append(c.Args, leftOut(value.Float(1)))
		}
	}
	if form.of {
		conversation, err := p.ofConversation()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, conversation)
	}
	if form.because && p.acceptWord("BECAUSE") {
		reason, err := p.expr()
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, reason)
	}
	return c, p.memoryYield(c, span(t))
}

// ofConversation parses OF CONVERSATION name; left out it is the one without a name.
func (p *parser) ofConversation() (Expr, error) {
	if !p.acceptWord("OF") {
		return leftOut(value.String("")), nil
	}
	if err := p.expectWord("CONVERSATION"); err != nil {
		return nil, err
	}
	return p.expr()
}

// leftOut stands for an argument that is not written: it has no place.
func leftOut(v value.Value) Expr { return &Literal{Value: v} }

func isLeftOut(e Expr) bool {
	l, ok := e.(*Literal)
	return ok && l.Span == (Span{})
}

// memoryYield parses YIELD behind a clause that changes memories, and ends it.
func (p *parser) memoryYield(c *Call, at Span) (err error) {
	if p.acceptKw(kwYield) {
		c.HasYield = true
		c.Yield, err = commaList(p, p.yieldItem)
	}
	c.Span = p.since(at)
	return err
}

// prune parses PRUNE TELEMETRY OLDER THAN duration.
func (p *parser) prune() (*Call, error) {
	t := p.take()
	for _, w := range []string{"TELEMETRY", "OLDER", "THAN"} {
		if err := p.expectWord(w); err != nil {
			return nil, err
		}
	}
	age, err := p.expr()
	if err != nil {
		return nil, err
	}
	c := &Call{Procedure: []string{"PRUNE TELEMETRY"}, Args: []Expr{age}, Memory: true}
	return c, p.memoryYield(c, span(t))
}

// revert parses REVERT LEARNING SINCE moment and REVERT LEARNING OF a-[r]-b.
func (p *parser) revert() (*Call, error) {
	t := p.take()
	if err := p.expectWord("LEARNING"); err != nil {
		return nil, err
	}
	c := &Call{Memory: true, Writes: true}
	if p.acceptWord("SINCE") {
		at, err := p.expr()
		if err != nil {
			return nil, err
		}
		c.Procedure, c.Args = []string{"REVERT LEARNING SINCE"}, []Expr{at}
		return c, p.memoryYield(c, span(t))
	}
	if err := p.expectWord("OF", "SINCE"); err != nil {
		return nil, err
	}
	c.Procedure = []string{"REVERT LEARNING OF"}
	for _, before := range [][]string{nil, {"-", "["}, {"]", "-"}} {
		for _, punct := range before {
			if err := p.expect(punct); err != nil {
				return nil, hinted(err, "Name a relationship and its ends, as in a-[r]-b.")
			}
		}
		v, err := p.name("a variable")
		if err != nil {
			return nil, err
		}
		c.Args = append(c.Args, &Variable{Name: *v})
	}
	return c, p.memoryYield(c, span(t))
}

// consolidate parses CONSOLIDATE [:Label] [WHERE condition] [TO tier] [DRY RUN] as
//
//	CALL () {
//	  MATCH (node:Label) WHERE node.tier IS NOT NULL AND condition
//	  WITH collect(node) AS nodes
//	  CALL CONSOLIDATE(nodes, tier) YIELD action, node, other, from, to, reason
//	  RETURN action, node, other, from, to, reason
//	}
func (p *parser) consolidate() (*CallSubquery, error) {
	t := p.take()
	at := span(t)
	name := func(text string) *Name { return &Name{Span: at, Text: text} }
	node := &NodePattern{Span: at, Var: name("node")}
	if p.at(":") {
		p.take()
		label, err := p.name("a label")
		if err != nil {
			return nil, err
		}
		node.Labels = &LabelName{Name: *label}
	}
	var where Expr = &IsNull{Span: at, E: &Property{Span: at, E: &Variable{Name: *name("node")}, Key: name("tier")}, Not: true}
	if p.acceptKw(kwWhere) {
		cond, err := p.expr()
		if err != nil {
			return nil, err
		}
		where = &Binary{Span: cond.At(), Op: OpAnd, L: where, R: cond}
	}
	tier, err := p.tier()
	if err != nil {
		return nil, err
	}
	procedure := "CONSOLIDATE"
	if p.acceptWord("DRY") {
		if err := p.expectWord("RUN"); err != nil {
			return nil, err
		}
		procedure = "CONSOLIDATE DRY RUN"
	}
	at = p.since(at)
	call := &Call{Span: at, Procedure: []string{procedure}, Memory: true, HasYield: true}
	call.Args = []Expr{&Variable{Name: *name("nodes")}, tier}
	out := &Projection{Span: at, Return: true}
	for _, f := range []string{"action", "node", "other", "from", "to", "reason"} {
		call.Yield = append(call.Yield, &YieldItem{Span: at, Field: name(f)})
		out.Items = append(out.Items, &Item{Span: at, Expr: &Variable{Name: *name(f)}, As: name(f), Text: f})
	}
	gather := &Projection{Span: at, Items: []*Item{{
		Span: at, As: name("nodes"), Text: "nodes",
		Expr: &Func{Span: at, Name: "collect", Args: []Expr{&Variable{Name: *name("node")}}},
	}}}
	match := &Match{Span: at, Patterns: []*Pattern{{Span: at, Nodes: []*NodePattern{node}}}, Where: where}
	return &CallSubquery{
		Span: at, Scoped: true, Memory: true,
		Query: &Query{Parts: []*SingleQuery{{Clauses: []Clause{match, gather, call, out}}}},
	}, nil
}

// tier parses TO tier: a bare name or an expression.
func (p *parser) tier() (Expr, error) {
	t := p.peek()
	if !p.acceptWord("TO") {
		return &Literal{Span: span(t), Value: value.String("")}, nil // any
	}
	if t = p.peek(); isWord(t) && !isPunct(p.ahead(1), ".") && !isPunct(p.ahead(1), "(") {
		p.take()
		return &Literal{Span: span(t), Value: value.String(t.Value)}, nil
	}
	return p.expr()
}
