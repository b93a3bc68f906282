package syntax

// labels parses a label expression from its colon on. A plain :A:B becomes
// LabelAnds with Colons set.
func (p *parser) labels() (LabelExpr, error) {
	p.take()
	return p.labelOr()
}

// labelOr parses a|b.
func (p *parser) labelOr() (LabelExpr, error) {
	left, err := p.labelAnd()
	for n := 0; err == nil && p.mode&noBar == 0 && p.at("|"); n++ {
		if n >= maxChain {
			return nil, tooLong(span(p.peek()), "labels")
		}
		p.take()
		p.accept(":") // the old form a|:b
		var right LabelExpr
		if right, err = p.labelAnd(); err == nil {
			left = &LabelOr{Span: left.At().To(right.At()), L: left, R: right}
		}
	}
	return left, err
}

// labelAnd parses a&b and a:b.
func (p *parser) labelAnd() (LabelExpr, error) {
	left, err := p.labelNot()
	for n := 0; err == nil && (p.at("&") || p.at(":") && p.mode&ofTypes == 0); n++ {
		if n >= maxChain {
			return nil, tooLong(span(p.peek()), "labels")
		}
		colons := p.take().Value == ":"
		var right LabelExpr
		if right, err = p.labelNot(); err == nil {
			left = &LabelAnd{Span: left.At().To(right.At()), L: left, R: right, Colons: colons}
		}
	}
	return left, err
}

// labelNot parses !a, (a), % and a name.
func (p *parser) labelNot() (LabelExpr, error) {
	t := p.peek()
	switch {
	case isPunct(t, "!"):
		if err := p.enter(); err != nil {
			return nil, err
		}
		defer p.leave()
		p.take()
		e, err := p.labelNot()
		if err != nil {
			return nil, err
		}
		return &LabelNot{Span: p.since(span(t)), E: e}, nil
	case isPunct(t, "("):
		return within(p, p.mode&ofTypes, func() (LabelExpr, error) {
			p.take()
			e, err := p.labelOr()
			if err != nil {
				return nil, err
			}
			return e, p.expect(")", "&", "|")
		})
	case isPunct(t, "%"):
		p.take()
		return &LabelAny{Span: span(t)}, nil
	}
	what := "a label"
	if p.mode&ofTypes != 0 {
		what = "a relationship type"
	}
	name, err := p.name(what)
	if err != nil {
		return nil, err
	}
	return &LabelName{Name: *name}, nil
}
