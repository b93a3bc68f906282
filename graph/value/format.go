package value

import (
	"math"
	"strconv"
	"strings"
)

// String returns v as Cypher writes it in a result: strings and temporal values
// quoted, floats with a fraction or an exponent, maps as {a: 1}, nodes as
// (:Label {k: 1}), edges as [:TYPE {k: 1}], paths as <(:A)-[:T]->(:B)>. A node
// or edge whose content is not loaded shows its internal id, as (#7).
func (v Value) String() string { return string(v.AppendText(nil)) }

// ToString returns v as toString() does: strings without quotes and temporal
// values in ISO 8601, all else as String.
func (v Value) ToString() string {
	switch v.Kind() {
	case KindString:
		return v.AsString()
	case KindDate, KindLocalTime, KindTime, KindLocalDateTime, KindDateTime, KindDuration:
		return string(v.appendTemporal(nil))
	}
	return v.String()
}

// AppendText appends what String returns.
func (v Value) AppendText(dst []byte) []byte {
	switch v.Kind() {
	case KindNull:
		return append(dst, "null"...)
	case KindBool:
		return strconv.AppendBool(dst, v.num != 0)
	case KindInt:
		return strconv.AppendInt(dst, int64(v.num), 10)
	case KindFloat:
		return appendFloat(dst, math.Float64frombits(v.num))
	case KindString:
		return appendQuoted(dst, v.AsString())
	case KindList:
		dst = append(dst, '[')
		for i, e := range v.AsList() {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = e.AppendText(dst)
		}
		return append(dst, ']')
	case KindMap:
		return appendProps(dst, v.AsMap().Entries)
	case KindNode:
		return v.appendNode(dst)
	case KindEdge:
		return v.appendEdge(dst)
	case KindPath:
		return v.AsPath().appendText(dst)
	}
	return append(v.appendTemporal(append(dst, '\'')), '\'')
}

// appendTemporal appends a temporal value in ISO 8601, nothing for other kinds.
func (v Value) appendTemporal(dst []byte) []byte {
	switch v.Kind() {
	case KindDate:
		return v.AsDate().appendText(dst)
	case KindLocalTime:
		return v.AsLocalTime().appendText(dst)
	case KindTime:
		return append(dst, v.AsTime().String()...)
	case KindLocalDateTime:
		return v.AsLocalDateTime().appendText(dst)
	case KindDateTime:
		return v.AsDateTime().appendText(dst)
	case KindDuration:
		return v.AsDuration().appendText(dst)
	}
	return dst
}

// appendFloat writes the shortest decimal that reads back as f, always with a
// fraction: plainly from 1e-5 up to 1e15, beyond with an exponent, as 1.0E20.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Inf"...)
	case math.IsInf(f, -1):
		return append(dst, "-Inf"...)
	}
	if a := math.Abs(f); a == 0 || a >= 1e-5 && a < 1e15 {
		start := len(dst)
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
		if strings.IndexByte(string(dst[start:]), '.') < 0 {
			dst = append(dst, ".0"...)
		}
		return dst
	}
	text := strconv.FormatFloat(f, 'E', -1, 64)
	mantissa, exponent, _ := strings.Cut(text, "E")
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	n, _ := strconv.Atoi(exponent) // drops the plus and leading zeros
	return strconv.AppendInt(append(append(dst, mantissa...), 'E'), int64(n), 10)
}

// appendQuoted writes a string literal that the language reads back.
func appendQuoted(dst []byte, s string) []byte {
	dst = append(dst, '\'')
	for _, r := range s {
		switch r {
		case '\'', '\\':
			dst = append(dst, '\\', byte(r))
		case '\n':
			dst = append(dst, `\n`...)
		case '\r':
			dst = append(dst, `\r`...)
		case '\t':
			dst = append(dst, `\t`...)
		default:
			if r < ' ' || r == 0x7f {
				dst = append(dst, `\u00`...)
				dst = append(dst, hexDigits[r>>4], hexDigits[r&15])
				continue
			}
			dst = append(dst, string(r)...)
		}
	}
	return append(dst, '\'')
}

const hexDigits = "0123456789abcdef"

// appendName writes a label, type or key, in backticks where it is no plain
// identifier.
func appendName(dst []byte, name string) []byte {
	plain := name != ""
	for i, r := range name {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
		if !letter && (i == 0 || r < '0' || r > '9') {
			plain = false
			break
		}
	}
	if plain {
		return append(dst, name...)
	}
	dst = append(dst, '`')
	dst = append(dst, strings.ReplaceAll(name, "`", "``")...)
	return append(dst, '`')
}

func appendProps(dst []byte, props []Prop) []byte {
	dst = append(dst, '{')
	for i, p := range props {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(appendName(dst, p.Key), ": "...)
		dst = p.Value.AppendText(dst)
	}
	return append(dst, '}')
}

func (v Value) appendNode(dst []byte) []byte {
	n := v.AsNode()
	if n == nil {
		return append(strconv.AppendUint(append(dst, "(#"...), v.num, 10), ')')
	}
	dst = append(dst, '(')
	for _, label := range n.Labels {
		dst = appendName(append(dst, ':'), label)
	}
	if len(n.Properties) > 0 {
		if len(n.Labels) > 0 {
			dst = append(dst, ' ')
		}
		dst = appendProps(dst, n.Properties)
	}
	return append(dst, ')')
}

func (v Value) appendEdge(dst []byte) []byte {
	e := v.AsEdge()
	if e == nil {
		return append(strconv.AppendUint(append(dst, "[#"...), v.num, 10), ']')
	}
	dst = appendName(append(dst, "[:"...), e.Type)
	if len(e.Properties) > 0 {
		dst = appendProps(append(dst, ' '), e.Properties)
	}
	return append(dst, ']')
}

// appendText writes each edge with the arrow it has seen along the walk; an
// edge that is not loaded has none.
func (p *Path) appendText(dst []byte) []byte {
	dst = append(dst, '<')
	for i, n := range p.Nodes {
		if i > 0 {
			edge := p.Edges[i-1]
			e := edge.AsEdge()
			forward := e != nil && e.Src == p.Nodes[i-1].NodeID()
			if e != nil && !forward {
				dst = append(dst, '<')
			}
			dst = append(edge.appendEdge(append(dst, '-')), '-')
			if forward {
				dst = append(dst, '>')
			}
		}
		dst = n.AppendText(dst)
	}
	return append(dst, '>')
}
