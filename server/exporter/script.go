package exporter

import (
	"bufio"
	"strconv"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// script writes statements that make the graph in an empty namespace.
type script struct {
	out    *bufio.Writer
	schema []string
}

func newScript(g *graph, out *bufio.Writer) (writer, error) {
	before, after, err := declarations(g)
	if err != nil {
		return nil, err
	}
	w := &script{out: out, schema: after}
	for _, s := range before {
		w.statement(s)
	}
	return w, nil
}

// statement writes one; the writer keeps its error until it is flushed.
func (w *script) statement(text string) {
	_, _ = w.out.WriteString(text)
	_, _ = w.out.WriteString(";\n")
}

func (w *script) node(n *graphline.Node) error {
	props := n.Props
	if !hasText(props, "id") {
		if hasKey(props, "id") {
			// Its edges could not name it: the database's own id takes the place.
			props = rename(props, "id", "id_")
		}
		props = append(props[:len(props):len(props)], engram.Prop{Key: "id", Value: textValue(n.ID)})
	}
	var b strings.Builder
	b.WriteString("CREATE (")
	for _, l := range n.Labels {
		b.WriteString(":" + quoteName(l))
	}
	b.WriteString(" " + mapLiteral(props) + ")")
	w.statement(b.String())
	return nil
}

func (w *script) edge(e *graphline.Edge) error {
	text := "MATCH (a {id: " + quoteText(e.From) + "}), (b {id: " + quoteText(e.To) + "}) CREATE (a)-[:" + quoteName(e.Type)
	if len(e.Props) > 0 {
		text += " " + mapLiteral(e.Props)
	}
	w.statement(text + "]->(b)")
	return nil
}

func (w *script) end() error {
	for _, s := range w.schema {
		w.statement(s)
	}
	return nil
}

func hasText(props []engram.Prop, key string) bool {
	for _, p := range props {
		if p.Key == key {
			return p.Value.AsString() != ""
		}
	}
	return false
}

func hasKey(props []engram.Prop, key string) bool {
	for _, p := range props {
		if p.Key == key {
			return true
		}
	}
	return false
}

func rename(props []engram.Prop, from, to string) []engram.Prop {
	out := make([]engram.Prop, len(props))
	for i, p := range props {
		if p.Key == from {
			p.Key = to
		}
		out[i] = p
	}
	return out
}

func textValue(s string) engram.Value {
	v, _ := engram.ValueOf(s) // a text is always a value
	return v
}

// quoteName makes a name safe in a statement.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// quoteText writes a text as a literal.
func quoteText(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		switch r {
		case '\'', '\\':
			b.WriteRune('\\')
			b.WriteRune(r)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			if r < ' ' || r == 0x7f || r == 0x2028 || r == 0x2029 || r == 0xfeff {
				b.WriteString(`\u` + strings.Repeat("0", 4-len(strconv.FormatInt(int64(r), 16))) + strconv.FormatInt(int64(r), 16))
				continue
			}
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

func mapLiteral(props []engram.Prop) string {
	parts := make([]string, len(props))
	for i, p := range props {
		parts[i] = quoteName(p.Key) + ": " + literal(p.Value)
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

// literal writes a property's value as an expression that makes it.
func literal(v engram.Value) string {
	switch v.Kind() {
	case engram.KindString:
		return quoteText(v.AsString())
	case engram.KindList:
		parts := make([]string, 0, len(v.AsList()))
		for _, e := range v.AsList() {
			parts = append(parts, literal(e))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
	text := v.ToString()
	switch name := graphline.KindName(v); name {
	case "":
		return text
	case "float":
		return map[string]string{"NaN": "(0.0 / 0.0)", "Inf": "(1.0 / 0.0)", "-Inf": "(-1.0 / 0.0)"}[text]
	default:
		return name + "(" + quoteText(text) + ")"
	}
}
