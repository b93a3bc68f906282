package syntax

import (
	"strings"

	"engram/query/internal/fault"
)

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
	if p.dynamicAhead() {
		return p.dynamic()
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

// Functions that nobody can write test names that are computed.
const (
	HasAllNames = " hasAll"
	HasAnyName  = " hasAny"
)

// Test is the condition that an element has the names.
func (l *LabelDynamic) Test(of Expr) Expr {
	name := HasAllNames
	if l.Any {
		name = HasAnyName
	}
	return &Func{Span: l.Span, Name: name, Args: []Expr{of, l.E}}
}

// dynamicAhead reports whether names that are computed come next.
func (p *parser) dynamicAhead() bool {
	t := p.peek()
	if isPunct(t, "$") {
		return true // the scanner has seen the bracket
	}
	return t.Type == tParam && (strings.EqualFold(t.Value, "$all") || strings.EqualFold(t.Value, "$any")) && isPunct(p.ahead(1), "(")
}

// dynamic parses $(e), $all(e) or $any(e).
func (p *parser) dynamic() (*LabelDynamic, error) {
	t := p.take()
	return within(p, 0, func() (*LabelDynamic, error) {
		p.take()
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		err = p.expect(")", "an operator")
		return &LabelDynamic{Span: p.since(span(t)), E: e, Any: strings.EqualFold(t.Value, "$any")}, err
	})
}

// splitDynamic takes the computed names that must hold on their own out of a label
// expression; nothing may be left of it.
func splitDynamic(e LabelExpr) (LabelExpr, []*LabelDynamic, error) {
	switch e := e.(type) {
	case *LabelDynamic:
		return nil, []*LabelDynamic{e}, nil
	case *LabelAnd:
		l, dl, err := splitDynamic(e.L)
		if err != nil {
			return nil, nil, err
		}
		r, dr, err := splitDynamic(e.R)
		switch {
		case err != nil:
			return nil, nil, err
		case l == nil:
			return r, append(dl, dr...), nil
		case r == nil:
			return l, append(dl, dr...), nil
		case len(dl)+len(dr) == 0:
			return e, nil, nil
		}
		return &LabelAnd{Span: e.Span, L: l, R: r, Colons: e.Colons}, append(dl, dr...), nil
	}
	if d := findDynamic(e); d != nil {
		return nil, nil, fault.Unsupported(d.Span, "a computed name behind ! or beside |").
			WithHint("$any([...]) asks for any of several names; labels(n) and type(r) can be compared in WHERE.")
	}
	return e, nil, nil
}

// findDynamic returns the first computed name in a label expression, or nil.
func findDynamic(e LabelExpr) *LabelDynamic {
	either := func(l, r LabelExpr) *LabelDynamic {
		if d := findDynamic(l); d != nil {
			return d
		}
		return findDynamic(r)
	}
	switch e := e.(type) {
	case *LabelDynamic:
		return e
	case *LabelNot:
		return findDynamic(e.E)
	case *LabelAnd:
		return either(e.L, e.R)
	case *LabelOr:
		return either(e.L, e.R)
	}
	return nil
}

// labelled is the condition that e has labels, or is of types.
func labelled(at Span, e Expr, labels LabelExpr) (Expr, error) {
	plain, dynamic, err := splitDynamic(labels)
	if err != nil {
		return nil, err
	}
	var out Expr
	if plain != nil {
		out = &HasLabels{Span: at, E: e, Labels: plain}
	}
	for _, d := range dynamic {
		test := d.Test(e)
		if out != nil {
			test = &Binary{Span: at, Op: OpAnd, L: out, R: test}
		}
		out = test
	}
	return out, nil
}
