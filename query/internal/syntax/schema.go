package syntax

import (
	"strings"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// The commands on the schema are parsed by hand: their words are no keywords, so
// that they stay names everywhere else.

// schemaCommand returns the grammar of a command on the schema, if one begins
// here, or the error for one that this version does not run.
func (p *parser) schemaCommand() (production, error) {
	t, next := p.peek(), p.ahead(1)
	switch {
	case is(t, "SHOW"):
		return handmade((*parser).show), nil
	case is(next, "RELATION"):
		return handmade((*parser).relation), nil
	case is(next, "LAYER") && (t.Type == kwCreate || is(t, "DROP")):
		return handmade((*parser).layer), nil
	case is(t, "DROP") && (is(next, "SELF") || is(next, "PILLAR")):
		return handmade((*parser).undeclare), nil
	case is(t, "DECLARE"):
		return handmade((*parser).declare), nil
	case is(t, "REPLAY"):
		return handmade((*parser).replay), nil
	case is(t, "AUDIT"):
		return handmade((*parser).audit), nil
	case is(t, "FINISH"):
		return handmade((*parser).finish), nil
	case is(t, "RECORD"):
		return handmade((*parser).recordAudit), nil
	case is(t, "ACTIVATE"):
		return grammar().activate, nil
	case is(t, "COMPILE"):
		return grammar().compile, nil
	case (is(next, "INDEX") || is(next, "CONSTRAINT")) && (t.Type == kwCreate || is(t, "DROP")):
		return handmade((*parser).schemaChange), nil
	case t.Type == kwCreate && indexTypes[strings.ToUpper(next.Value)] && is(p.ahead(2), "INDEX"):
		return handmade((*parser).schemaChange), nil
	}
	if t.Type == kwCreate {
		return nil, p.unsupportedSchema()
	}
	if change := p.memoryChange(); change != nil {
		return change, nil
	}
	return nil, p.unsupported()
}

// finish parses FINISH.
func (p *parser) finish() (*Finish, error) { return &Finish{span(p.take())}, nil }

// indexTypes are the words before INDEX that ask for an index by properties.
var indexTypes = map[string]bool{"RANGE": true, "TEXT": true, "BTREE": true, "FULLTEXT": true}

// handmade makes a production of a method of the parser.
func handmade[C Clause](f func(*parser) (C, error)) production {
	return func(lex *lexer.PeekingLexer) (Clause, error) {
		c, err := f(&parser{lex: lex})
		if err != nil {
			return nil, err
		}
		return c, nil
	}
}

// expectWord takes the given word, or fails.
func (p *parser) expectWord(w string, also ...string) error {
	if is(p.peek(), w) {
		p.take()
		return nil
	}
	return unexpected(p.peek(), append([]string{w}, also...)...)
}

func (p *parser) acceptWord(w string) bool {
	if is(p.peek(), w) {
		p.take()
		return true
	}
	return false
}

// schemaChange parses CREATE and DROP of an index or a constraint.
func (p *parser) schemaChange() (*SchemaChange, error) {
	t := p.take()
	c := &SchemaChange{Drop: is(t, "DROP"), Kind: schema.Range}
	if !c.Drop && indexTypes[strings.ToUpper(p.peek().Value)] {
		if is(p.take(), "FULLTEXT") {
			c.Kind = schema.FullText
		}
	}
	c.Constraint = is(p.take(), "CONSTRAINT")
	if !is(p.peek(), "IF") && !is(p.peek(), "FOR") && p.peek().Type != kwOn {
		name, err := p.name("a name")
		if err != nil {
			return nil, err
		}
		c.Name = name
	}
	if err := p.ifExists(c); err != nil {
		return nil, err
	}
	var err error
	switch old := p.acceptKw(kwOn); {
	case c.Drop && !old && c.Name == nil:
		err = unexpected(p.peek(), "the name of what to drop")
	case c.Drop && !old:
	case !old && !p.acceptWord("FOR"):
		err = unexpected(p.peek(), "FOR", "IF NOT EXISTS")
	case c.Constraint:
		err = p.constraint(c, old)
	default:
		err = p.index(c, old)
	}
	if err == nil && !c.Drop && is(p.peek(), "OPTIONS") {
		err = p.indexOptions()
	}
	c.Span = p.since(span(t))
	return c, err
}

// ifExists parses IF NOT EXISTS of CREATE and IF EXISTS of DROP.
func (p *parser) ifExists(c *SchemaChange) error {
	if !p.acceptWord("IF") {
		return nil
	}
	c.Lenient = true
	if !c.Drop {
		if err := p.expectKw(kwNot); err != nil {
			return err
		}
	}
	return p.expectKw(kwExists)
}

// index parses (n:Label) ON (n.p, n.q), or the old form :Label(p, q).
func (p *parser) index(c *SchemaChange, old bool) (err error) {
	if old && p.accept(":") {
		if c.Owner, err = p.name("a label"); err != nil {
			return err
		}
		if err = p.expect("("); err != nil {
			return err
		}
		if c.Keys, err = commaList(p, func() (*Name, error) { return p.name("a property") }); err != nil {
			return err
		}
		return p.expect(")")
	}
	v, err := p.schemaPattern(c)
	if err != nil {
		return err
	}
	if err := p.expectKw(kwOn); err != nil {
		return err
	}
	if c.Kind == schema.FullText {
		p.acceptWord("EACH")
	}
	return p.schemaKeys(c, v)
}

// constraint parses (n:Label) REQUIRE n.p IS UNIQUE, or with ON and ASSERT.
func (p *parser) constraint(c *SchemaChange, old bool) error {
	v, err := p.schemaPattern(c)
	if err != nil {
		return err
	}
	demand := "REQUIRE"
	if old {
		demand = "ASSERT"
	}
	if err := p.expectWord(demand); err != nil {
		return err
	}
	if old && p.acceptKw(kwExists) { // exists(n.p)
		c.Kind = schema.Exists
		return p.schemaKeys(c, v)
	}
	if err := p.schemaKeys(c, v); err != nil {
		return err
	}
	if err := p.expectKw(kwIs); err != nil {
		return err
	}
	return p.demand(c)
}

// demand parses what stands behind IS.
func (p *parser) demand(c *SchemaChange) error {
	t := p.peek()
	switch {
	case p.uniqueAhead(c.Edge):
		c.Kind = schema.Unique
		return nil
	case p.acceptKw(kwNot):
		c.Kind = schema.Exists
		if len(c.Keys) > 1 {
			return fault.Syntax(unexpectedSyntax, span(t), "IS NOT NULL is about one property").
				WithHint("Make a constraint for each property.")
		}
		return p.expectKw(kwNull)
	case (is(t, "NODE") || is(t, "RELATIONSHIP") || is(t, "REL")) && is(p.ahead(1), "KEY"), is(t, "KEY"):
		return fault.Unsupported(span(t), "a KEY constraint").
			WithHint("Make a unique constraint, and one IS NOT NULL for each property.")
	case is(t, "TYPED"), t.Type == tPunct && t.Value == ":":
		return unsupportedHere(p, "a constraint on the type of a property")
	}
	return unexpected(t, "UNIQUE", "NOT NULL")
}

// uniqueAhead takes UNIQUE, NODE UNIQUE, or REL or RELATIONSHIP UNIQUE.
func (p *parser) uniqueAhead(edge bool) bool {
	t := p.peek()
	if isWord(t) && is(p.ahead(1), "UNIQUE") && (is(t, "NODE") && !edge || (is(t, "REL") || is(t, "RELATIONSHIP")) && edge) {
		p.take()
	}
	return p.acceptWord("UNIQUE")
}

// schemaPattern parses (n:Label) or ()-[r:TYPE]-() and returns the variable.
func (p *parser) schemaPattern(c *SchemaChange) (v *Name, err error) {
	if err = p.expect("("); err != nil {
		return nil, err
	}
	if p.accept(")") {
		c.Edge = true
		p.accept("<")
		if err = p.expect("-"); err == nil {
			err = p.expect("[")
		}
	}
	if err != nil {
		return nil, err
	}
	if v, err = p.name("a variable"); err != nil {
		return nil, err
	}
	if err = p.expect(":"); err != nil {
		return nil, err
	}
	if c.Owner, err = p.name("a label or a type"); err == nil && c.Kind == schema.FullText && c.Edge {
		return nil, fault.Unsupported(c.Owner.Span, "a full-text index of relationships").
			WithHint("Nodes are searched as text; relationships are not.")
	}
	if err == nil && p.at("|") {
		err = p.moreLabels(c)
	}
	if err != nil || !c.Edge {
		if err == nil {
			err = p.expect(")")
		}
		return v, err
	}
	for _, punct := range []string{"]", "-"} {
		if err = p.expect(punct); err != nil {
			return nil, err
		}
	}
	p.accept(">")
	if err = p.expect("("); err == nil {
		err = p.expect(")")
	}
	return v, err
}

// moreLabels parses |B|C of a full-text index.
func (p *parser) moreLabels(c *SchemaChange) error {
	if c.Kind != schema.FullText {
		return fault.Unsupported(span(p.peek()), "an index of several labels").WithHint("Make an index for each label.")
	}
	for p.accept("|") {
		label, err := p.name("a label")
		if err != nil {
			return err
		}
		c.Also = append(c.Also, label)
	}
	return nil
}

// schemaKeys parses n.p, (n.p, n.q) or [n.p, n.q].
func (p *parser) schemaKeys(c *SchemaChange, v *Name) (err error) {
	key := func() (*Name, error) {
		n, err := p.name("the property " + v.Text + ".name")
		if err != nil {
			return nil, err
		}
		if n.Text != v.Text {
			return nil, fault.Syntax("UndefinedVariable", n.Span, "the variable `%s` is not defined", n.Text).
				WithHint("The pattern has the variable `%s`.", v.Text)
		}
		if err := p.expect("."); err != nil {
			return nil, err
		}
		return p.name("a property")
	}
	closing := ""
	switch {
	case p.accept("("):
		closing = ")"
	case c.Kind == schema.FullText && p.accept("["):
		closing = "]"
	default:
		k, err := key()
		c.Keys = []*Name{k}
		return err
	}
	if c.Keys, err = commaList(p, key); err != nil {
		return err
	}
	return p.expect(closing, ",")
}

// shown are the things that SHOW lists, as the name of the procedure says them.
var shown = map[string]string{
	"INDEX": "INDEXES", "INDEXES": "INDEXES", "CONSTRAINT": "CONSTRAINTS", "CONSTRAINTS": "CONSTRAINTS",
	"PROCEDURE": "PROCEDURES", "PROCEDURES": "PROCEDURES", "FUNCTION": "FUNCTIONS", "FUNCTIONS": "FUNCTIONS",
	"STATS": "STATS", "LEARNING": "LEARNING", "RELATION": "RELATION TYPES", "LAYER": "LAYERS", "LAYERS": "LAYERS",
	"PILLAR": "PILLARS", "PILLARS": "PILLARS",
}

// shownKinds are the words before INDEXES and CONSTRAINTS that narrow a list down,
// with what the column type says of those.
var shownKinds = map[string]map[string]string{
	"INDEXES": {
		"ALL": "", "RANGE": "RANGE", "BTREE": "RANGE", "FULLTEXT": "FULLTEXT", "TEXT": "TEXT", "POINT": "POINT",
		"LOOKUP": "LOOKUP", "VECTOR": "VECTOR",
	},
	"CONSTRAINTS": {
		"ALL": "", "UNIQUE": "UNIQUENESS", "UNIQUENESS": "UNIQUENESS",
		"EXIST": "PROPERTY_EXISTENCE", "EXISTENCE": "PROPERTY_EXISTENCE", "KEY": "NODE_KEY",
	},
	"FUNCTIONS": {"ALL": ""},
}

// shownKind takes such a word and returns what it narrows the list down to.
func (p *parser) shownKind() string {
	t := p.peek()
	if t.EOF() || p.ahead(1).EOF() {
		return ""
	}
	kind, ok := shownKinds[shown[strings.ToUpper(p.ahead(1).Value)]][strings.ToUpper(t.Value)]
	if ok && isWord(t) {
		p.take()
	}
	return kind
}

// show parses SHOW [kind] thing [YIELD items] [WHERE condition] as the call of a
// procedure.
func (p *parser) show() (*Call, error) {
	t := p.take()
	kind := p.shownKind()
	next := p.peek()
	if is(next, "WORKING") {
		return p.showWorkingMemory(span(t))
	}
	name, ok := shown[strings.ToUpper(next.Value)]
	if !ok || !isWord(next) {
		if laterShown[strings.ToUpper(next.Value)] {
			return nil, unsupportedAt(span(t), "SHOW "+upperWords(next, p.ahead(1)))
		}
		return nil, unexpected(next, "INDEXES", "CONSTRAINTS", "PROCEDURES", "FUNCTIONS", "RELATION TYPES", "LAYERS", "PILLARS", "WORKING MEMORY", "LEARNING", "STATS")
	}
	p.take()
	if name == "RELATION TYPES" {
		if err := p.expectWord("TYPES"); err != nil {
			return nil, err
		}
	}
	c := &Call{Procedure: []string{"SHOW " + name}, Show: true}
	if kind != "" {
		c.Args = []Expr{&Literal{Span: span(t), Value: value.String(kind)}}
	}
	if name == "LEARNING" && p.acceptWord("SINCE") {
		at, err := p.expr()
		if err != nil {
			return nil, err
		}
		c.Args = []Expr{at}
	}
	return c, p.showTail(c, span(t))
}

// showWorkingMemory parses SHOW WORKING MEMORY [OF CONVERSATION name].
func (p *parser) showWorkingMemory(at Span) (*Call, error) {
	p.take()
	if err := p.expectWord("MEMORY"); err != nil {
		return nil, err
	}
	c := &Call{Procedure: []string{"SHOW WORKING MEMORY"}, Show: true}
	conversation, err := p.ofConversation()
	if err != nil {
		return nil, err
	}
	c.Args = []Expr{conversation}
	return c, p.showTail(c, at)
}

// replay parses REPLAY receipt [YIELD ...].
func (p *parser) replay() (*Call, error) {
	t := p.take()
	text, err := p.expr()
	if err != nil {
		return nil, err
	}
	c := &Call{Procedure: []string{"REPLAY"}, Args: []Expr{text}, Show: true}
	return c, p.showTail(c, span(t))
}

// showTail parses what may stand behind any SHOW.
func (p *parser) showTail(c *Call, at Span) (err error) {
	if p.acceptKw(kwYield) {
		c.HasYield = true
		if p.accept("*") {
			c.YieldStar = true
		} else if c.Yield, err = commaList(p, p.yieldItem); err != nil {
			return err
		}
	}
	if p.acceptKw(kwWhere) {
		if c.Where, err = p.expr(); err != nil {
			return err
		}
	}
	if !c.HasYield {
		c.HasYield, c.YieldStar = true, true
	}
	c.Span = p.since(at)
	return nil
}

// laterShown are things that SHOW will list.
var laterShown = map[string]bool{
	"ALL": true, "RANGE": true, "TEXT": true,
	"FULLTEXT": true, "VECTOR": true, "POINT": true, "LOOKUP": true, "UNIQUE": true, "UNIQUENESS": true,
	"DATABASES": true, "DATABASE": true, "USERS": true, "ROLES": true, "SETTINGS": true, "TRANSACTIONS": true,
}

func (p *parser) yieldItem() (*YieldItem, error) {
	t := p.peek()
	field, err := p.name("a field")
	if err != nil {
		return nil, err
	}
	y := &YieldItem{Field: field}
	if p.acceptKw(kwAs) {
		if y.As, err = p.name("a name"); err != nil {
			return nil, err
		}
	}
	y.Span = p.since(span(t))
	return y, nil
}
