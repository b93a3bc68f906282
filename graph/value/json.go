package value

import (
	"encoding/json"
	"math"
	"strconv"
)

// AppendJSON appends v as JSON. Integers keep all their digits; floats that are
// whole keep a fraction (1.0) so that the kind survives; NaN, Inf and -Inf,
// which JSON lacks, and temporal values become strings. Nodes are objects with
// id, labels and properties, edges with id, type, start, end and properties,
// where id, start and end are external ids; paths hold nodes and relationships.
// A node or edge that is not loaded is null. Keys come in a fixed order.
func (v Value) AppendJSON(dst []byte) []byte {
	switch v.Kind() {
	case KindBool, KindInt:
		return v.AppendText(dst)
	case KindFloat:
		f := math.Float64frombits(v.num)
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return append(appendFloat(append(dst, '"'), f), '"')
		}
		return appendFloat(dst, f)
	case KindString:
		return appendJSONString(dst, v.AsString())
	case KindList:
		return appendJSONList(dst, v.AsList())
	case KindMap:
		return appendJSONProps(dst, v.AsMap().Entries)
	case KindNode:
		return v.AsNode().appendJSON(dst)
	case KindEdge:
		return v.AsEdge().appendJSON(dst)
	case KindPath:
		p := v.AsPath()
		dst = appendJSONList(append(dst, `{"nodes":`...), p.Nodes)
		dst = appendJSONList(append(dst, `,"relationships":`...), p.Edges)
		return append(dst, '}')
	case KindNull:
		return append(dst, "null"...)
	}
	return append(v.appendTemporal(append(dst, '"')), '"')
}

// MarshalJSON makes a Value usable with encoding/json; see AppendJSON.
func (v Value) MarshalJSON() ([]byte, error) { return v.AppendJSON(nil), nil }

func appendJSONList(dst []byte, elems []Value) []byte {
	dst = append(dst, '[')
	for i, e := range elems {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.AppendJSON(dst)
	}
	return append(dst, ']')
}

func appendJSONProps(dst []byte, props []Prop) []byte {
	dst = append(dst, '{')
	for i, p := range props {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, p.Key), ':')
		dst = p.Value.AppendJSON(dst)
	}
	return append(dst, '}')
}

func (n *Node) appendJSON(dst []byte) []byte {
	if n == nil {
		return append(dst, "null"...)
	}
	dst = appendJSONString(append(dst, `{"id":`...), n.ElementID)
	dst = append(dst, `,"labels":[`...)
	for i, label := range n.Labels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, label)
	}
	dst = appendJSONProps(append(dst, `],"properties":`...), n.Properties)
	return append(dst, '}')
}

func (e *Edge) appendJSON(dst []byte) []byte {
	if e == nil {
		return append(dst, "null"...)
	}
	dst = appendJSONString(append(dst, `{"id":`...), e.ElementID)
	dst = appendJSONString(append(dst, `,"type":`...), e.Type)
	dst = appendJSONString(append(dst, `,"start":`...), e.SrcElementID)
	dst = appendJSONString(append(dst, `,"end":`...), e.DstElementID)
	dst = appendJSONProps(append(dst, `,"properties":`...), e.Properties)
	return append(dst, '}')
}

// appendJSONString quotes s; bytes that are no UTF-8 become U+FFFD.
func appendJSONString(dst []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil { // a string always marshals
				return strconv.AppendQuote(dst, s)
			}
			return append(dst, quoted...)
		}
	}
	return append(append(append(dst, '"'), s...), '"')
}
