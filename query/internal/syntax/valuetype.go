package syntax

import (
	"maps"
	"slices"
	"strings"

	"engram/graph/value"
	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

// ValueType is a type that values can be tested for, as in x IS :: LIST<INTEGER>.
// Null is of every type that doesn't say NOT NULL.
type ValueType struct {
	Name    string      // in upper case, as value.Kind has it; or ANY, NOTHING, PROPERTY VALUE
	Elem    *ValueType  // of a LIST; nil: anything
	Or      []ValueType // other than Name, of a union
	NotNull bool
}

// Has reports whether v is of the type.
func (t *ValueType) Has(v value.Value) bool {
	if t.has(v) {
		return true
	}
	for i := range t.Or {
		if t.Or[i].Has(v) {
			return true
		}
	}
	return false
}

func (t *ValueType) has(v value.Value) bool {
	if v.IsNull() {
		return !t.NotNull && t.Name != "NOTHING"
	}
	switch t.Name {
	case "ANY":
		return true
	case "PROPERTY VALUE":
		return storable(v)
	}
	if v.Kind().String() != t.Name {
		return false
	}
	if v.Kind() == value.KindList && t.Elem != nil {
		for _, e := range v.AsList() {
			if !t.Elem.Has(e) {
				return false
			}
		}
	}
	return true
}

// storable reports whether v could be a property, or an element of one.
func storable(v value.Value) bool {
	switch v.Kind() {
	case value.KindMap, value.KindNode, value.KindEdge, value.KindPath:
		return false
	case value.KindList:
		for _, e := range v.AsList() {
			if e.IsNull() || e.Kind() == value.KindList || !storable(e) {
				return false
			}
		}
	}
	return true
}

// String writes the type as EQL has it.
func (t *ValueType) String() string {
	s := t.Name
	if t.Elem != nil {
		s += "<" + t.Elem.String() + ">"
	}
	if t.NotNull {
		s += " NOT NULL"
	}
	for i := range t.Or {
		s += " | " + t.Or[i].String()
	}
	return s
}

// typeWords are the spellings of types, in upper case, with the name they mean.
var typeWords = map[string]string{
	"BOOLEAN": "BOOLEAN", "BOOL": "BOOLEAN", "STRING": "STRING", "VARCHAR": "STRING",
	"INTEGER": "INTEGER", "INT": "INTEGER", "SIGNED INTEGER": "INTEGER", "FLOAT": "FLOAT",
	"DATE": "DATE", "DURATION": "DURATION",
	"LOCAL TIME": "LOCAL TIME", "TIME WITHOUT TIME ZONE": "LOCAL TIME",
	"ZONED TIME": "TIME", "TIME": "TIME", "TIME WITH TIME ZONE": "TIME",
	"LOCAL DATETIME": "LOCAL DATETIME", "TIMESTAMP WITHOUT TIME ZONE": "LOCAL DATETIME",
	"ZONED DATETIME": "DATETIME", "DATETIME": "DATETIME", "TIMESTAMP WITH TIME ZONE": "DATETIME",
	"NODE": "NODE", "VERTEX": "NODE", "ANY NODE": "NODE", "ANY VERTEX": "NODE",
	"RELATIONSHIP": "RELATIONSHIP", "EDGE": "RELATIONSHIP", "ANY RELATIONSHIP": "RELATIONSHIP", "ANY EDGE": "RELATIONSHIP",
	"PATH": "PATH", "MAP": "MAP", "ANY MAP": "MAP", "LIST": "LIST", "ARRAY": "LIST",
	"NULL": "NULL", "NOTHING": "NOTHING", "ANY": "ANY", "ANY VALUE": "ANY",
	"PROPERTY VALUE": "PROPERTY VALUE", "ANY PROPERTY VALUE": "PROPERTY VALUE",
}

// typeWordsMost is how many words a spelling has at most.
const typeWordsMost = 4

// isTyped parses what stands behind IS [NOT], or in its place: :: or TYPED and a
// type.
func (p *parser) isTyped(start Span, e Expr, not bool) (Expr, error) {
	if p.accept(":") {
		if err := p.expect(":"); err != nil {
			return nil, err
		}
	} else {
		p.take()
	}
	t, err := p.valueType()
	if err != nil {
		return nil, err
	}
	return &IsTyped{Span: p.since(start), E: e, ValueType: t, Not: not}, nil
}

// typedAhead reports whether :: or TYPED comes next.
func (p *parser) typedAhead() bool {
	return p.at(":") && isPunct(p.ahead(1), ":") || is(p.peek(), "TYPED")
}

// valueType parses a type or several joined by |.
func (p *parser) valueType() (*ValueType, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	t, err := p.oneType()
	for err == nil && p.mode&noBar == 0 && p.accept("|") {
		var other *ValueType
		if other, err = p.oneType(); err == nil {
			t.Or = append(t.Or, *other)
		}
	}
	return t, err
}

// noType is the error for a token that begins no type.
func noType(t *lexer.Token) error {
	err := unexpected(t, "a type such as INTEGER or LIST<STRING>")
	if near := fault.Nearest(t.Value, slices.Sorted(maps.Keys(typeWords))); isWord(t) && near != "" {
		return hinted(err, "Did you mean "+near+"?")
	}
	return err
}

// oneType parses NAME, LIST<type> or ANY<type | type>, perhaps with NOT NULL.
func (p *parser) oneType() (*ValueType, error) {
	t := &ValueType{}
	words, n := "", 0
	for i := 1; i <= typeWordsMost && isWord(p.ahead(i-1)); i++ {
		words = strings.TrimPrefix(words+" "+strings.ToUpper(p.ahead(i-1).Value), " ")
		if name, ok := typeWords[words]; ok {
			t.Name, n = name, i
		}
	}
	if n == 0 {
		return nil, noType(p.peek())
	}
	for range n {
		p.take()
	}
	if (t.Name == "LIST" || t.Name == "ANY") && p.accept("<") {
		inner, err := within(p, 0, p.valueType)
		if err == nil {
			err = p.expect(">", "|")
		}
		if err != nil {
			return nil, err
		}
		if t.Name == "ANY" {
			*t = *inner
		} else {
			t.Elem = inner
		}
	}
	if p.accept("!") {
		t.NotNull = true
	} else if p.peek().Type == kwNot && p.ahead(1).Type == kwNull {
		p.take()
		p.take()
		t.NotNull = true
	}
	return t, nil
}
