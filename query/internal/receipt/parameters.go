package receipt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"engram/graph/value"
)

// Parameters are values by name. Nodes are kept by their external ids.
type Parameters map[string]value.Value

// typed is how a value is written that JSON has no form for.
type typed struct {
	Type string `json:"$type"`
	Text string `json:"text"`
}

// MarshalJSON implements json.Marshaler.
func (p Parameters) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(p)) {
		if i > 0 {
			b = append(b, ',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		b = append(append(b, key...), ':')
		if b, err = appendValue(b, p[name]); err != nil {
			return nil, fmt.Errorf("parameter $%s: %w", name, err)
		}
	}
	return append(b, '}'), nil
}

func appendValue(b []byte, v value.Value) ([]byte, error) {
	switch v.Kind() {
	case value.KindNull, value.KindBool, value.KindInt, value.KindString:
		return v.AppendJSON(b), nil
	case value.KindFloat:
		return appendFloat(b, v.AsFloat()), nil
	case value.KindList:
		b = append(b, '[')
		for i, e := range v.AsList() {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendValue(b, e); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	case value.KindMap:
		entries := Parameters{}
		for _, e := range v.AsMap().Entries {
			entries[e.Key] = e.Value
		}
		text, err := entries.MarshalJSON()
		return append(b, text...), err
	case value.KindDate, value.KindLocalTime, value.KindTime, value.KindLocalDateTime, value.KindDateTime, value.KindDuration:
		return appendTyped(b, v.Kind().String(), strings.Trim(v.String(), "'")), nil
	}
	return nil, fmt.Errorf("%s cannot be kept in a receipt", v.Kind().Named())
}

// Keeps reports whether a value can be a parameter of a receipt: nodes, edges and
// paths cannot, nor can lists and maps that have some in them.
func Keeps(v value.Value) bool {
	_, err := appendValue(nil, v)
	return err == nil
}

// appendFloat writes a number so that it is read as one that is no integer.
func appendFloat(b []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return appendTyped(b, value.KindFloat.String(), strconv.FormatFloat(f, 'g', -1, 64))
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(b, text...)
}

func appendTyped(b []byte, kind, text string) []byte {
	out, _ := json.Marshal(typed{kind, text}) // two texts: it cannot fail
	return append(b, out...)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Parameters) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var raw map[string]any
	if err := d.Decode(&raw); err != nil {
		return err
	}
	*p = Parameters{}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		v, err := decode(raw[name])
		if err != nil {
			return fmt.Errorf("parameter $%s: %w", name, err)
		}
		(*p)[name] = v
	}
	return nil
}

func decode(raw any) (value.Value, error) {
	switch x := raw.(type) {
	case nil:
		return value.Null, nil
	case bool:
		return value.Bool(x), nil
	case string:
		return value.String(x), nil
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			n, err := x.Int64()
			return value.Int(n), err
		}
		f, err := x.Float64()
		return value.Float(f), err
	case []any:
		list := make([]value.Value, len(x))
		for i, e := range x {
			var err error
			if list[i], err = decode(e); err != nil {
				return value.Null, err
			}
		}
		return value.List(list), nil
	case map[string]any:
		return decodeMap(x)
	}
	return value.Null, fmt.Errorf("a %T cannot be read", raw)
}

func decodeMap(m map[string]any) (value.Value, error) {
	if kind, ok := m["$type"].(string); ok {
		text, _ := m["text"].(string)
		return decodeTyped(kind, text)
	}
	var entries []value.Prop
	for _, key := range slices.Sorted(maps.Keys(m)) {
		v, err := decode(m[key])
		if err != nil {
			return value.Null, err
		}
		entries = append(entries, value.Prop{Key: key, Value: v})
	}
	return value.Map(entries), nil
}

func decodeTyped(kind, text string) (v value.Value, err error) {
	switch kind {
	case value.KindDate.String():
		d, err := value.ParseDate(text)
		return value.OfDate(d), err
	case value.KindLocalTime.String():
		t, err := value.ParseLocalTime(text)
		return value.OfLocalTime(t), err
	case value.KindTime.String():
		t, err := value.ParseTime(text)
		return value.OfTime(t), err
	case value.KindLocalDateTime.String():
		t, err := value.ParseLocalDateTime(text)
		return value.OfLocalDateTime(t), err
	case value.KindDateTime.String():
		t, err := value.ParseDateTime(text)
		return value.OfDateTime(t), err
	case value.KindDuration.String():
		d, err := value.ParseDuration(text)
		return value.OfDuration(d), err
	case value.KindFloat.String():
		f, err := strconv.ParseFloat(text, 64)
		return value.Float(f), err
	}
	return value.Null, fmt.Errorf("there is no type %q", kind)
}
