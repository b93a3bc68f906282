package syntax

import (
	"github.com/alecthomas/participle/v2/lexer"
)

// The types here are the hooks (participle's Parseable) by which the grammar of
// the clauses reaches the hand-written parser.

// hook runs f on participle's tokens.
func hook[T any](lex *lexer.PeekingLexer, m mode, into *T, f func(*parser) (T, error)) (err error) {
	p := &parser{lex: lex, mode: m}
	*into, err = f(p)
	return err
}

// gExpr is an expression.
type gExpr struct{ E Expr }

// Parse implements participle.Parseable.
func (g *gExpr) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.E, (*parser).expr)
}

// get returns the expression, or nil when g was left out.
func (g *gExpr) get() Expr {
	if g == nil {
		return nil
	}
	return g.E
}

// exprs returns the expressions of a list.
func exprs(list []*gExpr) []Expr {
	out := make([]Expr, len(list))
	for i, g := range list {
		out[i] = g.E
	}
	return out
}

// gBarExpr is an expression that a bar ends.
type gBarExpr struct{ E Expr }

// Parse implements participle.Parseable.
func (g *gBarExpr) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, noBar, &g.E, (*parser).expr)
}

// gTextExpr is an expression that may be followed by labels, properties or IN
// LAYERS.
type gTextExpr struct{ E Expr }

// Parse implements participle.Parseable.
func (g *gTextExpr) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, noLayers|noTail, &g.E, (*parser).expr)
}

// gLayersExpr is an expression that may be followed by IN LAYERS.
type gLayersExpr struct{ E Expr }

// Parse implements participle.Parseable.
func (g *gLayersExpr) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, noLayers, &g.E, (*parser).expr)
}

// gBound is an expression that AND ends.
type gBound struct{ E Expr }

// Parse implements participle.Parseable.
func (g *gBound) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, noLayers, &g.E, func(p *parser) (Expr, error) { return p.binary(bindNot) })
}

// gMap is a map literal or a parameter.
type gMap struct{ E Expr }

// Parse implements participle.Parseable.
func (g *gMap) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.E, func(p *parser) (Expr, error) {
		e, err := p.props()
		if e == nil && err == nil {
			err = unexpected(p.peek(), "properties in { }")
		}
		return e, err
	})
}

// gName is a variable's or a field's name.
type gName struct{ N *Name }

// Parse implements participle.Parseable.
func (g *gName) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.N, func(p *parser) (*Name, error) { return p.name("a name") })
}

// get returns the name, or nil when g was left out.
func (g *gName) get() *Name {
	if g == nil {
		return nil
	}
	return g.N
}

// gPattern is [name =] path.
type gPattern struct{ P *Pattern }

// Parse implements participle.Parseable.
func (g *gPattern) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.P, (*parser).pattern)
}

// patterns returns the patterns of a list.
func patterns(list []*gPattern) []*Pattern {
	out := make([]*Pattern, len(list))
	for i, g := range list {
		out[i] = g.P
	}
	return out
}

// gItem is expression [AS name] of WITH or RETURN.
type gItem struct{ I *Item }

// Parse implements participle.Parseable. By hand, because the text of the
// expression is wanted to the letter.
func (g *gItem) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.I, func(p *parser) (*Item, error) {
		t := p.peek()
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		item := &Item{Expr: e, Text: t.Pos.Filename[t.Pos.Offset:p.last]}
		if p.acceptKw(kwAs) {
			if item.As, err = p.name("a name for the column"); err != nil {
				return nil, err
			}
		}
		item.Span = p.since(span(t))
		return item, nil
	})
}

// gSetItem is one item of SET.
type gSetItem struct{ I *SetItem }

// Parse implements participle.Parseable. By hand, because only what follows the
// target tells which form it is.
func (g *gSetItem) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.I, (*parser).setItem)
}

// setItems returns the items of a list.
func setItems(list []*gSetItem) []*SetItem {
	var out []*SetItem
	for _, g := range list {
		out = append(out, g.I)
	}
	return out
}

// setItem parses v:A:B, v = map, v += map or e.key = value.
func (p *parser) setItem() (*SetItem, error) {
	t := p.peek()
	item := &SetItem{}
	target, err := p.target()
	if err != nil {
		return nil, err
	}
	item.Target = target
	_, isVariable := target.(*Variable)
	switch {
	case isVariable && p.at(":"):
		item.Kind = SetLabels
		item.Labels, item.Dynamic, err = p.labelsGiven()
	case isVariable && p.accept("+="):
		item.Kind = SetMerge
		item.Value, err = p.expr()
	case p.accept("="):
		if isVariable {
			item.Kind = SetReplace
		}
		item.Value, err = p.expr()
	case isVariable:
		err = unexpected(p.peek(), ".property", "=", "+=", "a label such as :Person")
	default:
		err = unexpected(p.peek(), "=")
	}
	item.Span = p.since(span(t))
	return item, err
}

// gRemoveItem is one item of REMOVE.
type gRemoveItem struct{ I *RemoveItem }

// Parse implements participle.Parseable.
func (g *gRemoveItem) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.I, func(p *parser) (*RemoveItem, error) {
		t := p.peek()
		target, err := p.target()
		if err != nil {
			return nil, err
		}
		item := &RemoveItem{Target: target}
		if _, ok := target.(*Variable); ok {
			if !p.at(":") {
				return nil, unexpected(p.peek(), ".property", "a label such as :Person")
			}
			if item.Labels, item.Dynamic, err = p.labelsGiven(); err != nil {
				return nil, err
			}
		}
		item.Span = p.since(span(t))
		return item, nil
	})
}

// target parses what SET and REMOVE change: a variable or a property.
func (p *parser) target() (Expr, error) {
	t := p.peek()
	e, err := within(p, noTail, func() (Expr, error) {
		operand, err := p.primary()
		if err != nil {
			return nil, err
		}
		return p.lookups(span(t), operand)
	})
	if err != nil {
		return nil, err
	}
	switch e.(type) {
	case *Variable, *Property, *Index:
		return e, nil
	}
	return nil, unexpected(t, "a variable", "a property such as n.name")
}

// labelsGiven parses :A:$(e).
func (p *parser) labelsGiven() ([]*Name, []*LabelDynamic, error) {
	var list []*Name
	var dynamic []*LabelDynamic
	for p.accept(":") {
		if p.dynamicAhead() {
			d, err := p.dynamic()
			if err != nil {
				return nil, nil, err
			}
			dynamic = append(dynamic, d)
			continue
		}
		name, err := p.name("a label")
		if err != nil {
			return nil, nil, err
		}
		list = append(list, name)
	}
	return list, dynamic, nil
}

// labelList parses :A:B.
func (p *parser) labelList() ([]*Name, error) {
	var list []*Name
	for p.accept(":") {
		name, err := p.name("a label")
		if err != nil {
			return nil, err
		}
		list = append(list, name)
	}
	return list, nil
}

// gLabels is :A:B.
type gLabels struct{ L []*Name }

// Parse implements participle.Parseable.
func (g *gLabels) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.L, (*parser).labelList)
}

// gTypes is :A|B.
type gTypes struct{ T []*Name }

// Parse implements participle.Parseable.
func (g *gTypes) Parse(lex *lexer.PeekingLexer) error {
	return hook(lex, 0, &g.T, func(p *parser) ([]*Name, error) {
		if !p.at(":") {
			return nil, unexpected(p.peek(), "types such as :KNOWS|LIKES")
		}
		return p.relTypes()
	})
}
