package value

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
)

// kindKey marks an object of the typed JSON that stands for a value that JSON lacks.
const kindKey = "$kind"

// typedNames are the names of temporal kinds in typed JSON.
var typedNames = map[Kind]string{
	KindDate: "date", KindLocalTime: "localtime", KindTime: "time", KindLocalDateTime: "localdatetime", KindDateTime: "datetime", KindDuration: "duration",
}

// AppendTyped appends v as JSON from which ParseTyped makes the same value: null,
// booleans, numbers, texts and lists are as in AppendJSON, all others are objects
// with $kind, such as {"$kind":"date","value":"2024-05-01"} and
// {"$kind":"map","value":{"a":1}}.
func (v Value) AppendTyped(dst []byte) []byte {
	switch k := v.Kind(); k {
	case KindFloat:
		if f := v.AsFloat(); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(v.AppendJSON(append(dst, `{"$kind":"float","value":`...)), '}')
		}
	case KindList:
		return appendTypedList(dst, v.AsList())
	case KindMap:
		return append(appendTypedProps(append(dst, `{"$kind":"map","value":`...), v.AsMap().Entries), '}')
	case KindNode:
		if n := v.AsNode(); n != nil {
			return n.appendTyped(dst)
		}
		return append(dst, "null"...)
	case KindEdge:
		if e := v.AsEdge(); e != nil {
			return e.appendTyped(dst)
		}
		return append(dst, "null"...)
	case KindPath:
		p := v.AsPath()
		dst = appendTypedList(append(dst, `{"$kind":"path","nodes":`...), p.Nodes)
		return append(appendTypedList(append(dst, `,"relationships":`...), p.Edges), '}')
	case KindDate, KindLocalTime, KindTime, KindLocalDateTime, KindDateTime, KindDuration:
		dst = append(append(append(dst, `{"$kind":"`...), typedNames[k]...), `","value":`...)
		return append(v.AppendJSON(dst), '}')
	}
	return v.AppendJSON(dst)
}

func appendTypedList(dst []byte, list []Value) []byte {
	dst = append(dst, '[')
	for i, e := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = e.AppendTyped(dst)
	}
	return append(dst, ']')
}

func appendTypedProps(dst []byte, props []Prop) []byte {
	dst = append(dst, '{')
	for i, p := range props {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = p.Value.AppendTyped(append(appendJSONString(dst, p.Key), ':'))
	}
	return append(dst, '}')
}

func (n *Node) appendTyped(dst []byte) []byte {
	dst = appendJSONString(append(dst, `{"$kind":"node","id":`...), n.ElementID)
	dst = strconv.AppendUint(append(dst, `,"number":`...), uint64(n.ID), 10)
	dst = append(dst, `,"labels":[`...)
	for i, l := range n.Labels {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, l)
	}
	return append(appendTypedProps(append(dst, `],"properties":`...), n.Properties), '}')
}

func (e *Edge) appendTyped(dst []byte) []byte {
	dst = appendJSONString(append(dst, `{"$kind":"edge","id":`...), e.ElementID)
	dst = strconv.AppendUint(append(dst, `,"number":`...), uint64(e.ID), 10)
	dst = appendJSONString(append(dst, `,"type":`...), e.Type)
	dst = appendJSONString(append(dst, `,"start":`...), e.SrcElementID)
	dst = strconv.AppendUint(append(dst, `,"start_number":`...), uint64(e.Src), 10)
	dst = appendJSONString(append(dst, `,"end":`...), e.DstElementID)
	dst = strconv.AppendUint(append(dst, `,"end_number":`...), uint64(e.Dst), 10)
	return append(appendTypedProps(append(dst, `,"properties":`...), e.Properties), '}')
}

// ParseTyped reads what AppendTyped wrote. Anything else is an error.
func ParseTyped(data []byte) (Value, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var x any
	if err := d.Decode(&x); err != nil {
		return Null, errors.New("it is no JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Null, errors.New("it goes on behind the end of the JSON")
	}
	return FromTyped(x)
}

// FromTyped makes a value of typed JSON that was read into nil, bool, json.Number,
// string, []any and map[string]any.
func FromTyped(x any) (Value, error) { return fromTyped(x, 0) }

func fromTyped(x any, depth int) (Value, error) {
	if depth > MaxDepth {
		return Null, fmt.Errorf("it is nested more than %d deep", MaxDepth)
	}
	switch x := x.(type) {
	case []any:
		list := make([]Value, len(x))
		for i, e := range x {
			var err error
			if list[i], err = fromTyped(e, depth+1); err != nil {
				return Null, err
			}
		}
		return List(list), nil
	case map[string]any:
		return fromTypedObject(x, depth)
	}
	return FromAny(x)
}

func fromTypedObject(x map[string]any, depth int) (Value, error) {
	kind, _ := x[kindKey].(string)
	text, isText := x["value"].(string)
	switch kind {
	case "map":
		props, err := typedProps(x["value"], depth)
		return Map(props), err
	case "float":
		f, err := strconv.ParseFloat(text, 64)
		if err != nil || !isText {
			return Null, fmt.Errorf("%q is no float", text)
		}
		return Float(f), nil
	case "node":
		n, err := typedNode(x, depth)
		if err != nil {
			return Null, err
		}
		return OfNode(n), nil
	case "edge":
		e, err := typedEdge(x, depth)
		if err != nil {
			return Null, err
		}
		return OfEdge(e), nil
	case "path":
		return typedPath(x, depth)
	}
	if !isText {
		return Null, errors.New(`an object needs $kind, such as {"$kind":"map","value":{}}, and its value`)
	}
	return typedTemporal(kind, text)
}

func typedTemporal(kind, text string) (Value, error) {
	switch kind {
	case "date":
		v, err := ParseDate(text)
		return OfDate(v), err
	case "localtime":
		v, err := ParseLocalTime(text)
		return OfLocalTime(v), err
	case "time":
		v, err := ParseTime(text)
		return OfTime(v), err
	case "localdatetime":
		v, err := ParseLocalDateTime(text)
		return OfLocalDateTime(v), err
	case "datetime":
		v, err := ParseDateTime(text)
		return OfDateTime(v), err
	case "duration":
		v, err := ParseDuration(text)
		return OfDuration(v), err
	}
	return Null, fmt.Errorf("there is no $kind %q", kind)
}

func typedProps(x any, depth int) ([]Prop, error) {
	m, ok := x.(map[string]any)
	if !ok {
		return nil, errors.New("want an object")
	}
	props := make([]Prop, 0, len(m))
	for key, e := range m {
		v, err := fromTyped(e, depth+1)
		if err != nil {
			return nil, err
		}
		props = append(props, Prop{Key: key, Value: v})
	}
	slices.SortFunc(props, func(a, b Prop) int {
		switch {
		case a.Key < b.Key:
			return -1
		case a.Key > b.Key:
			return 1
		}
		return 0
	})
	return props, nil
}

// typedFields reads texts and numbers of an object.
func typedFields(x map[string]any, texts map[string]*string, numbers map[string]*uint64) error {
	for name, into := range texts {
		s, ok := x[name].(string)
		if !ok {
			return fmt.Errorf("%s is missing", name)
		}
		*into = s
	}
	for name, into := range numbers {
		n, _ := x[name].(json.Number)
		i, err := strconv.ParseUint(n.String(), 10, 64)
		if err != nil {
			return fmt.Errorf("%s is no number", name)
		}
		*into = i
	}
	return nil
}

func typedNode(x map[string]any, depth int) (*Node, error) {
	n := &Node{Labels: []string{}}
	var id uint64
	if err := typedFields(x, map[string]*string{"id": &n.ElementID}, map[string]*uint64{"number": &id}); err != nil {
		return nil, err
	}
	n.ID = NodeID(id)
	labels, _ := x["labels"].([]any)
	for _, l := range labels {
		s, ok := l.(string)
		if !ok {
			return nil, errors.New("labels are texts")
		}
		n.Labels = append(n.Labels, s)
	}
	var err error
	n.Properties, err = typedProps(x["properties"], depth)
	return n, err
}

func typedEdge(x map[string]any, depth int) (*Edge, error) {
	e := &Edge{}
	var id, src, dst uint64
	err := typedFields(x,
		map[string]*string{"id": &e.ElementID, "type": &e.Type, "start": &e.SrcElementID, "end": &e.DstElementID},
		map[string]*uint64{"number": &id, "start_number": &src, "end_number": &dst})
	if err != nil {
		return nil, err
	}
	e.ID, e.Src, e.Dst = EdgeID(id), NodeID(src), NodeID(dst)
	e.Properties, err = typedProps(x["properties"], depth)
	return e, err
}

func typedPath(x map[string]any, depth int) (Value, error) {
	nodes, err := fromTyped(x["nodes"], depth+1)
	if err != nil {
		return Null, err
	}
	edges, err := fromTyped(x["relationships"], depth+1)
	if err != nil {
		return Null, err
	}
	p := &Path{Nodes: nodes.AsList(), Edges: edges.AsList()}
	if len(p.Nodes) != len(p.Edges)+1 {
		return Null, errors.New("a path has one node more than relationships")
	}
	for _, n := range p.Nodes {
		if n.Kind() != KindNode {
			return Null, errors.New("a path has nodes and relationships")
		}
	}
	for _, e := range p.Edges {
		if e.Kind() != KindEdge {
			return Null, errors.New("a path has nodes and relationships")
		}
	}
	return OfPath(p), nil
}
