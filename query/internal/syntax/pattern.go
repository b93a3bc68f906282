package syntax

import (
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// patternAhead reports whether the tokens from n on are a node pattern and an
// arrow, and so a pattern where an expression could stand as well.
func (p *parser) patternAhead(n int) bool {
	t := p.ahead(n)
	if t.Type <= tOpen || t.Value != "(" {
		return false
	}
	first := p.ahead(n + 1)
	switch {
	case isName(first):
		second := p.ahead(n + 2)
		if !isPunct(second, ")") && !isPunct(second, ":") && !isPunct(second, "{") && second.Type != kwWhere && second.Type != kwIs {
			return false
		}
	case !isPunct(first, ")") && !isPunct(first, ":") && !isPunct(first, "{"):
		return false
	}
	n += int(t.Type - tOpen) // the closing bracket
	a := p.ahead(n + 1)
	switch {
	case isPunct(a, "-"):
		b := p.ahead(n + 2)
		return isPunct(b, "-") || isPunct(b, "[")
	case isPunct(a, "<"):
		b := p.ahead(n + 2)
		if !isPunct(b, "-") {
			return false
		}
		c := p.ahead(n + 3)
		return isPunct(c, "-") || isPunct(c, "[")
	}
	return false
}

// patternExpr parses a pattern where an expression is expected.
func (p *parser) patternExpr() (Expr, error) {
	pattern, err := p.pathPattern()
	if err != nil {
		return nil, err
	}
	return &PatternExpr{Span: pattern.Span, Pattern: pattern}, nil
}

// pattern parses [name =] path.
func (p *parser) pattern() (*Pattern, error) {
	var v *Name
	if isName(p.peek()) && isPunct(p.ahead(1), "=") {
		v, _ = p.name("a variable")
		p.take()
	}
	pattern, err := p.pathPattern()
	if err != nil {
		return nil, err
	}
	if v != nil {
		pattern.Var = v
		pattern.Span = v.Span.To(pattern.Span)
	}
	return pattern, nil
}

// pathPattern parses a path, perhaps one of the shortest: within a shortest path
// function, or behind ANY SHORTEST and the like as GQL has it.
func (p *parser) pathPattern() (*Pattern, error) {
	t := p.peek()
	if p.selectorAhead() {
		return p.selected()
	}
	kind := NotShortest
	switch t.Type {
	case kwShortestPath:
		kind = ShortestPath
	case kwAllShortestPaths:
		kind = AllShortestPaths
	}
	if kind == NotShortest || !isPunct(p.ahead(1), "(") {
		return p.path()
	}
	p.take()
	p.take()
	pattern, err := p.path()
	if err != nil {
		return nil, err
	}
	if err := p.expect(")"); err != nil {
		return nil, err
	}
	pattern.Shortest = kind
	pattern.Span = p.since(span(t))
	return pattern, nil
}

// path parses node (relationship node)*.
func (p *parser) path() (*Pattern, error) {
	if !p.at("(") {
		t := p.peek()
		err := unexpected(t, "a pattern such as (n)")
		if isWord(t) && isPunct(p.ahead(1), "(") {
			if near := fault.Nearest(t.Value, []string{"shortestPath", "allShortestPaths"}); near != "" {
				return nil, hinted(err, "Did you mean "+near+"?")
			}
		}
		return nil, err
	}
	if first := p.ahead(1); isPunct(first, "(") {
		return nil, repeatedPath(first)
	}
	pattern := &Pattern{Span: span(p.peek())}
	for {
		node, err := p.node()
		if err != nil {
			return nil, err
		}
		pattern.Nodes = append(pattern.Nodes, node)
		if p.at("(") && isPunct(p.ahead(1), "(") {
			return nil, repeatedPath(p.peek())
		}
		if !p.at("-") && !(p.at("<") && isPunct(p.ahead(1), "-")) {
			pattern.Span = p.since(pattern.Span)
			return pattern, nil
		}
		rel, err := p.relationship()
		if err != nil {
			return nil, err
		}
		pattern.Rels = append(pattern.Rels, rel)
		if !p.at("(") {
			return nil, unexpected(p.peek(), "a node pattern such as (n)")
		}
	}
}

// repeatedPath is the error for a part of a path in parentheses.
func repeatedPath(t *lexer.Token) error {
	return fault.Unsupported(span(t), "repeating a part of a path").
		WithHint("One relationship can be repeated: (a)-[:KNOWS*1..3]->(b) or (a)-[:KNOWS]->{1,3}(b).")
}

// node parses (v:Label {props} WHERE e).
func (p *parser) node() (*NodePattern, error) {
	return within(p, 0, func() (*NodePattern, error) {
		n := &NodePattern{Span: span(p.take())}
		var err error
		n.Var = p.patternVar()
		if p.labelsAhead() {
			if n.Labels, err = p.labels(); err != nil {
				return nil, err
			}
			if n.Labels, n.Dynamic, err = splitDynamic(n.Labels); err != nil {
				return nil, err
			}
		}
		if n.Props, err = p.props(); err != nil {
			return nil, err
		}
		if n.Where, err = p.inlineWhere(); err != nil {
			return nil, err
		}
		if err := p.expect(")", patternRest(n.Var, n.Labels != nil || n.Dynamic != nil, n.Props, n.Where, "a label such as :Person")...); err != nil {
			return nil, err
		}
		n.Span = p.since(n.Span)
		return n, nil
	})
}

// labelsAhead reports whether a label expression comes next: behind a colon, or
// behind IS as GQL has it.
func (p *parser) labelsAhead() bool {
	t := p.peek()
	return isPunct(t, ":") || t.Type == kwIs && p.ahead(1).Type != kwNull && p.ahead(1).Type != kwNot
}

// patternRest lists what could still come before the closing bracket.
func patternRest(v *Name, typed bool, props, where Expr, label string) []string {
	if where != nil {
		return []string{"an operator"}
	}
	if props != nil {
		return []string{"WHERE"}
	}
	var list []string
	if v == nil && !typed {
		list = append(list, "a variable")
	}
	if !typed {
		list = append(list, label)
	}
	return append(list, "properties in { }")
}

// patternVar takes the variable of a node or relationship pattern, if there is
// one. A word that begins an inline WHERE is none.
func (p *parser) patternVar() *Name {
	t := p.peek()
	if !isName(t) {
		return nil
	}
	if t.Type == kwWhere {
		next := p.ahead(1)
		if isName(next) && next.Type != kwWhere || next.Type < tKeyword && next.Type != tPunct || isPunct(next, "(") {
			return nil
		}
	}
	p.take()
	return &Name{Span: span(t), Text: unquote(t)}
}

// props takes the properties of a pattern: a map, a parameter, or nothing.
func (p *parser) props() (Expr, error) {
	switch {
	case p.at("{"):
		return p.mapLit()
	case p.peek().Type == tParam:
		return p.param(), nil
	}
	return nil, nil
}

// inlineWhere takes the WHERE within a pattern, or nothing.
func (p *parser) inlineWhere() (Expr, error) {
	if !p.acceptKw(kwWhere) {
		return nil, nil
	}
	return p.expr()
}
