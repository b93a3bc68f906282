package tck

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"engram/graph/value"
)

// cell is an expected value as the TCK writes it. Temporal values are written
// as strings.
type cell interface{}

type (
	scalar struct{ v value.Value } // null, boolean, number or string
	list   struct{ elems []cell }
	record struct { // a map
		keys   []string
		values []cell
	}
	node struct {
		labels []string
		props  record
	}
	edge struct {
		typ   string
		props record
	}
	walk struct { // a path
		nodes   []node
		edges   []edge
		forward []bool
	}
)

// parseCell reads one table cell.
func parseCell(text string) (cell, error) {
	r := &reader{text: text}
	c, err := r.value()
	if err == nil {
		r.space()
		if r.off < len(r.text) {
			err = r.fail("the end")
		}
	}
	return c, err
}

// reader reads the TCK's notation of values.
type reader struct {
	text string
	off  int
}

func (r *reader) fail(want string) error {
	return fmt.Errorf("tck: cell %q: want %s at byte %d", r.text, want, r.off)
}

func (r *reader) space() {
	for r.off < len(r.text) && r.text[r.off] == ' ' {
		r.off++
	}
}

// accept skips space and then s, if it is next.
func (r *reader) accept(s string) bool {
	r.space()
	if strings.HasPrefix(r.text[r.off:], s) {
		r.off += len(s)
		return true
	}
	return false
}

func (r *reader) value() (cell, error) {
	r.space()
	switch {
	case r.off >= len(r.text):
		return nil, r.fail("a value")
	case r.text[r.off] == '\'':
		return r.quoted()
	case r.accept("<"):
		return r.path()
	case r.accept("("):
		return r.node()
	case r.accept("[:"):
		return r.edge()
	case r.accept("["):
		return r.list()
	case r.accept("{"):
		return r.record()
	}
	return r.plain()
}

// quoted reads a string; \' and \\ are escapes.
func (r *reader) quoted() (cell, error) {
	var b strings.Builder
	for i := r.off + 1; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '\'':
			r.off = i + 1
			return scalar{value.String(b.String())}, nil
		case c == '\\' && i+1 < len(r.text) && (r.text[i+1] == '\'' || r.text[i+1] == '\\'):
			i++
			b.WriteByte(r.text[i])
		default:
			b.WriteByte(c)
		}
	}
	return nil, r.fail("a closing quote")
}

// plain reads null, a boolean or a number.
func (r *reader) plain() (cell, error) {
	rest := r.text[r.off:]
	n := strings.IndexAny(rest, ",]})> ")
	if n < 0 {
		n = len(rest)
	}
	word := rest[:n]
	switch word {
	case "null":
		r.off += n
		return scalar{}, nil
	case "true", "false":
		r.off += n
		return scalar{value.Bool(word == "true")}, nil
	case "NaN":
		r.off += n
		return scalar{value.Float(math.NaN())}, nil
	case "Inf", "-Inf", "Infinity", "-Infinity":
		r.off += n
		sign := 1
		if word[0] == '-' {
			sign = -1
		}
		return scalar{value.Float(math.Inf(sign))}, nil
	}
	if i, err := strconv.ParseInt(word, 10, 64); err == nil {
		r.off += n
		return scalar{value.Int(i)}, nil
	}
	f, err := strconv.ParseFloat(word, 64)
	if err != nil {
		return nil, r.fail("a value")
	}
	r.off += n
	return scalar{value.Float(f)}, nil
}

// list reads from behind the opening bracket.
func (r *reader) list() (cell, error) {
	l := list{}
	if r.accept("]") {
		return l, nil
	}
	for {
		c, err := r.value()
		if err != nil {
			return nil, err
		}
		l.elems = append(l.elems, c)
		if r.accept("]") {
			return l, nil
		}
		if !r.accept(",") {
			return nil, r.fail("a comma or ]")
		}
	}
}

// record reads a map from behind the opening brace.
func (r *reader) record() (cell, error) { return r.entries() }

func (r *reader) entries() (record, error) {
	m := record{}
	if r.accept("}") {
		return m, nil
	}
	for {
		key, err := r.name()
		if err != nil {
			return m, err
		}
		if !r.accept(":") {
			return m, r.fail("a colon")
		}
		v, err := r.value()
		if err != nil {
			return m, err
		}
		m.keys, m.values = append(m.keys, key), append(m.values, v)
		if r.accept("}") {
			return m, nil
		}
		if !r.accept(",") {
			return m, r.fail("a comma or }")
		}
	}
}

// name reads a key, label or type, perhaps in backticks.
func (r *reader) name() (string, error) {
	r.space()
	if r.accept("`") {
		n := strings.IndexByte(r.text[r.off:], '`')
		if n < 0 {
			return "", r.fail("a closing backtick")
		}
		r.off += n + 1
		return r.text[r.off-n-1 : r.off-1], nil
	}
	from := r.off
	for r.off < len(r.text) {
		c, n := utf8.DecodeRuneInString(r.text[r.off:])
		if c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) {
			break
		}
		r.off += n
	}
	if r.off == from {
		return "", r.fail("a name")
	}
	return r.text[from:r.off], nil
}

// node reads a node from behind the opening bracket.
func (r *reader) node() (cell, error) { return r.nodeRest() }

func (r *reader) nodeRest() (n node, err error) {
	for r.accept(":") {
		label, err := r.name()
		if err != nil {
			return n, err
		}
		n.labels = append(n.labels, label)
	}
	if r.accept("{") {
		if n.props, err = r.entries(); err != nil {
			return n, err
		}
	}
	if !r.accept(")") {
		return n, r.fail(")")
	}
	return n, nil
}

// edge reads an edge from behind the opening bracket and colon.
func (r *reader) edge() (cell, error) { return r.edgeRest() }

func (r *reader) edgeRest() (e edge, err error) {
	if e.typ, err = r.name(); err != nil {
		return e, err
	}
	if r.accept("{") {
		if e.props, err = r.entries(); err != nil {
			return e, err
		}
	}
	if !r.accept("]") {
		return e, r.fail("]")
	}
	return e, nil
}

// path reads a path from behind the opening bracket.
func (r *reader) path() (cell, error) {
	w := walk{}
	for {
		if !r.accept("(") {
			return nil, r.fail("(")
		}
		n, err := r.nodeRest()
		if err != nil {
			return nil, err
		}
		w.nodes = append(w.nodes, n)
		if r.accept(">") {
			return w, nil
		}
		back := r.accept("<")
		if !r.accept("-[:") {
			return nil, r.fail("a relationship")
		}
		e, err := r.edgeRest()
		if err != nil {
			return nil, err
		}
		if !r.accept("-") || !back && !r.accept(">") {
			return nil, r.fail("an arrow")
		}
		w.edges, w.forward = append(w.edges, e), append(w.forward, !back)
	}
}

// literal returns the value of a cell of a parameter or of a procedure's table.
func literal(c cell) (value.Value, error) {
	switch c := c.(type) {
	case scalar:
		return c.v, nil
	case list:
		elems := make([]value.Value, len(c.elems))
		for i, e := range c.elems {
			v, err := literal(e)
			if err != nil {
				return value.Null, err
			}
			elems[i] = v
		}
		return value.List(elems), nil
	case record:
		props := make([]value.Prop, len(c.keys))
		for i, e := range c.values {
			v, err := literal(e)
			if err != nil {
				return value.Null, err
			}
			props[i] = value.Prop{Key: c.keys[i], Value: v}
		}
		return value.Map(props), nil
	}
	return value.Null, fmt.Errorf("tck: %T is not a literal", c)
}
