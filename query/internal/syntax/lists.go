package syntax

// bracketed parses what begins with [: a list, a list comprehension or a pattern
// comprehension.
func (p *parser) bracketed() (Expr, error) {
	return within(p, 0, func() (Expr, error) {
		start := span(p.take())
		switch {
		case p.accept("]"):
			return &ListLit{Span: p.since(start)}, nil
		case isName(p.peek()) && p.ahead(1).Type == kwIn:
			return p.comprehension(start)
		case p.patternAhead(0), isName(p.peek()) && isPunct(p.ahead(1), "=") && p.patternAhead(2):
			return p.patternComp(start)
		}
		first, err := p.expr()
		if err != nil {
			return nil, err
		}
		return p.listRest(start, first)
	})
}

// listRest parses a list from behind its first element.
func (p *parser) listRest(start Span, first Expr) (Expr, error) {
	list := &ListLit{Elems: []Expr{first}}
	for p.accept(",") {
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		list.Elems = append(list.Elems, e)
	}
	if err := p.expect("]", ","); err != nil {
		return nil, err
	}
	list.Span = p.since(start)
	return list, nil
}

// comprehension parses [v IN list WHERE p | e] from behind the bracket. The list
// is read with the operators that can yield a list; if an operator of truth or a
// comma follows, it was a list literal that begins with a membership test. So
// nothing is read twice, however deep comprehensions nest.
func (p *parser) comprehension(start Span) (Expr, error) {
	v, err := p.name("a variable")
	if err != nil {
		return nil, err
	}
	p.take()
	list, err := within(p, noBar, func() (Expr, error) { return p.binary(bindAdd) })
	if err != nil {
		return nil, err
	}
	if !p.at("|") && !p.at("]") && p.peek().Type != kwWhere {
		first := &Binary{Span: p.since(v.Span), Op: OpIn, L: &Variable{Name: *v}, R: list}
		e, err := p.operators(v.Span, first, bindOr)
		if err != nil {
			return nil, err
		}
		if t := p.peek(); isWord(t) {
			return nil, unexpected(t, "WHERE", "|", ",", "]")
		}
		return p.listRest(start, e)
	}
	c := &ListComp{Var: v, List: list}
	if p.acceptKw(kwWhere) {
		if c.Where, err = within(p, noBar, p.expr); err != nil {
			return nil, err
		}
	}
	if p.accept("|") {
		if c.Proj, err = p.expr(); err != nil {
			return nil, err
		}
	}
	if err := p.expect("]", "an operator"); err != nil {
		return nil, err
	}
	c.Span = p.since(start)
	return c, nil
}

// patternComp parses [p = pattern WHERE e | e] from behind the bracket.
func (p *parser) patternComp(start Span) (Expr, error) {
	pattern, err := p.pattern()
	if err != nil {
		return nil, err
	}
	c := &PatternComp{Pattern: pattern}
	if p.acceptKw(kwWhere) {
		if c.Where, err = within(p, noBar, p.expr); err != nil {
			return nil, err
		}
	}
	if c.Where == nil && p.at(",") || p.at("]") && pattern.Var == nil && c.Where == nil {
		// A list of pattern predicates.
		return p.listRest(start, &PatternExpr{Span: pattern.Span, Pattern: pattern})
	}
	if err := p.expect("|"); err != nil {
		return nil, err
	}
	if c.Proj, err = p.expr(); err != nil {
		return nil, err
	}
	if err := p.expect("]", "an operator"); err != nil {
		return nil, err
	}
	c.Span = p.since(start)
	return c, nil
}

// quantifier parses all|any|none|single(v IN list WHERE p).
func (p *parser) quantifier() (Expr, error) {
	t := p.take()
	q := &Quantifier{Kind: QuantKind(t.Type - kwAll)}
	return within(p, 0, func() (Expr, error) {
		p.take()
		var err error
		if q.Var, err = p.name("a variable"); err != nil {
			return nil, err
		}
		p.take()
		if q.List, err = p.expr(); err != nil {
			return nil, err
		}
		if err := p.expectKw(kwWhere); err != nil {
			return nil, err
		}
		if q.Where, err = p.expr(); err != nil {
			return nil, err
		}
		if err := p.expect(")", "an operator"); err != nil {
			return nil, err
		}
		q.Span = p.since(span(t))
		return q, nil
	})
}

// reduce parses reduce(acc = init, v IN list | e).
func (p *parser) reduce() (Expr, error) {
	t := p.take()
	r := &Reduce{}
	return within(p, 0, func() (Expr, error) {
		p.take()
		var err error
		if r.Acc, err = p.name("a variable"); err != nil {
			return nil, err
		}
		p.take()
		if r.Init, err = p.expr(); err != nil {
			return nil, err
		}
		if err := p.expect(","); err != nil {
			return nil, err
		}
		if r.Var, err = p.name("a variable"); err != nil {
			return nil, err
		}
		if err := p.expectKw(kwIn); err != nil {
			return nil, err
		}
		if r.List, err = within(p, noBar, p.expr); err != nil {
			return nil, err
		}
		if err := p.expect("|", "an operator"); err != nil {
			return nil, err
		}
		if r.E, err = p.expr(); err != nil {
			return nil, err
		}
		if err := p.expect(")", "an operator"); err != nil {
			return nil, err
		}
		r.Span = p.since(span(t))
		return r, nil
	})
}

// subqueryAhead tells EXISTS, COUNT or COLLECT before a brace from a map
// projection of a variable of that name: a projection begins with a dot, a
// closing brace, or a word and a colon, comma or closing brace.
func (p *parser) subqueryAhead() bool {
	t := p.ahead(2)
	if t.EOF() || isPunct(t, ".") || isPunct(t, "}") {
		return false
	}
	if !isName(t) {
		return true
	}
	next := p.ahead(3)
	return !isPunct(next, ":") && !isPunct(next, ",") && !isPunct(next, "}")
}

// subquery parses EXISTS { }, COUNT { } and COLLECT { }.
func (p *parser) subquery() (Expr, error) {
	t := p.take()
	s := &Subquery{}
	switch t.Type {
	case kwCount:
		s.Kind = CountSubquery
	case kwCollect:
		s.Kind = CollectSubquery
	}
	p.take()
	var err error
	if p.at("(") || isName(p.peek()) && isPunct(p.ahead(1), "=") {
		s.Query, err = p.bareMatch()
	} else {
		s.Query, err = p.query()
	}
	if err != nil {
		return nil, err
	}
	if !p.accept("}") {
		return nil, afterClause(p.peek(), s.Query, "}")
	}
	s.Span = p.since(span(t))
	return s, nil
}

// bareMatch parses patterns with an optional WHERE as a query of one MATCH.
func (p *parser) bareMatch() (*Query, error) {
	return within(p, 0, func() (*Query, error) {
		m := &Match{}
		var err error
		if m.Patterns, err = commaList(p, p.pattern); err != nil {
			return nil, err
		}
		if p.acceptKw(kwWhere) {
			if m.Where, err = p.expr(); err != nil {
				return nil, err
			}
		}
		m.Span = p.since(m.Patterns[0].Span)
		return &Query{Parts: []*SingleQuery{{Clauses: []Clause{m}}}}, nil
	})
}
