package mcp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// schema is the part of JSON Schema that the tools' arguments use.
type schema struct {
	Type       string            `json:"type"`
	Properties map[string]schema `json:"properties"`
	Required   []string          `json:"required"`
	Items      *schema           `json:"items"`
	Enum       []string          `json:"enum"`
	Minimum    *float64          `json:"minimum"`
	Maximum    *float64          `json:"maximum"`
	MinLength  int               `json:"minLength"`
	MaxLength  int               `json:"maxLength"`
	MaxItems   int               `json:"maxItems"`
	// AdditionalProperties is false or absent.
	AdditionalProperties *bool `json:"additionalProperties"`
}

// decode reads a tool's arguments: strictly, but for what clients are known to get
// wrong, such as an object that comes as a text, and the aliases.
func (s schema) decode(raw json.RawMessage, aliases map[string]string) (arguments, error) {
	if len(raw) == 0 {
		raw = []byte("{}")
	}
	value, err := parseJSON(raw)
	if err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	if value == nil {
		value = map[string]any{}
	}
	if value, err = s.unpack(value); err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	if m, ok := value.(map[string]any); ok {
		if err := rename(m, aliases); err != nil {
			return nil, err
		}
	}
	checked, err := s.check("", value)
	if err != nil {
		return nil, err
	}
	return checked.(map[string]any), nil
}

// loosen takes unknown arguments.
func (s *schema) loosen() {
	s.AdditionalProperties = nil
	for name, p := range s.Properties {
		p.loosen()
		s.Properties[name] = p
	}
	if s.Items != nil {
		s.Items.loosen()
	}
}

func parseJSON(raw []byte) (any, error) {
	if err := checkJSON(raw); err != nil {
		return nil, err
	}
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil || d.More() {
		return nil, fmt.Errorf("it is no JSON")
	}
	return value, nil
}

// rename gives what came under an alias its proper name.
func rename(m map[string]any, aliases map[string]string) error {
	for _, alias := range sortedKeys(aliases) {
		value, ok := m[alias]
		if !ok {
			continue
		}
		name := aliases[alias]
		if _, both := m[name]; both {
			return fmt.Errorf("%s and %s are the same argument; give one", name, alias)
		}
		delete(m, alias)
		m[name] = value
	}
	return nil
}

// unpack reads an object or list that came as the text of one. A single value
// for a list of texts becomes a list.
func (s schema) unpack(value any) (any, error) {
	text, ok := value.(string)
	if !ok || s.Type != "object" && s.Type != "array" {
		return value, nil
	}
	trimmed := strings.TrimSpace(text)
	if s.Type == "object" && strings.HasPrefix(trimmed, "{") || s.Type == "array" && strings.HasPrefix(trimmed, "[") {
		return parseJSON([]byte(trimmed))
	}
	if s.Type == "array" && s.Items != nil && s.Items.Type == "string" {
		return []any{text}, nil
	}
	return value, nil
}

// check returns the value as the schema wants it: texts, int64, float64, booleans,
// lists and maps of them.
func (s schema) check(where string, value any) (any, error) {
	value, err := s.unpack(value)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	switch s.Type {
	case "object":
		return s.checkObject(where, value)
	case "array":
		return s.checkArray(where, value)
	case "string":
		return s.checkString(where, value)
	case "boolean":
		if text, ok := value.(string); ok && (text == "true" || text == "false") {
			return text == "true", nil
		}
		if b, ok := value.(bool); ok {
			return b, nil
		}
		return nil, wanted(where, "true or false", value)
	case "integer", "number":
		return s.checkNumber(where, value)
	}
	return plainNumbers(value), nil // anything
}

func (s schema) checkObject(where string, value any) (any, error) {
	m, ok := value.(map[string]any)
	if !ok {
		return nil, wanted(where, "an object", value)
	}
	out := map[string]any{}
	for _, name := range sortedKeys(m) {
		property, known := s.Properties[name]
		switch {
		case !known && s.AdditionalProperties != nil:
			return nil, unknown(where, name, s.Properties)
		case !known:
			out[name] = plainNumbers(m[name])
			continue
		case m[name] == nil: // some clients send what is absent as null
			continue
		}
		checked, err := property.check(join(where, name), m[name])
		if err != nil {
			return nil, err
		}
		out[name] = checked
	}
	for _, name := range s.Required {
		if _, ok := out[name]; !ok {
			return nil, fmt.Errorf("%s is missing", join(where, name))
		}
	}
	return out, nil
}

func (s schema) checkArray(where string, value any) (any, error) {
	list, ok := value.([]any)
	if !ok {
		return nil, wanted(where, "a list", value)
	}
	if s.MaxItems > 0 && len(list) > s.MaxItems {
		return nil, fmt.Errorf("%s has %d items; at most %d are allowed", where, len(list), s.MaxItems)
	}
	out := make([]any, len(list))
	for i, item := range list {
		if s.Items == nil {
			out[i] = plainNumbers(item)
			continue
		}
		checked, err := s.Items.check(fmt.Sprintf("%s[%d]", where, i), item)
		if err != nil {
			return nil, err
		}
		out[i] = checked
	}
	return out, nil
}

func (s schema) checkString(where string, value any) (any, error) {
	text, ok := value.(string)
	if n, isNumber := value.(json.Number); isNumber {
		text, ok = n.String(), true
	}
	if !ok {
		return nil, wanted(where, "a text", value)
	}
	switch length := utf8.RuneCountInString(text); {
	case s.MinLength > 0 && strings.TrimSpace(text) == "":
		return nil, fmt.Errorf("%s is empty", where)
	case s.MaxLength > 0 && length > s.MaxLength:
		return nil, fmt.Errorf("%s has %d characters; at most %d are allowed", where, length, s.MaxLength)
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		for _, e := range s.Enum {
			if strings.EqualFold(e, text) {
				return e, nil
			}
		}
		return nil, fmt.Errorf("%s is %q; it can be %s", where, text, strings.Join(s.Enum, ", "))
	}
	return text, nil
}

func (s schema) checkNumber(where string, value any) (any, error) {
	var text string
	switch v := value.(type) {
	case json.Number:
		text = v.String()
	case string:
		text = strings.TrimSpace(v)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
		return nil, wanted(where, "a number", value)
	}
	if s.Minimum != nil && f < *s.Minimum || s.Maximum != nil && f > *s.Maximum {
		return nil, fmt.Errorf("%s is %s; it can be %s", where, text, s.span())
	}
	if s.Type == "number" {
		return f, nil
	}
	if f != math.Trunc(f) || math.Abs(f) > 1<<53 {
		return nil, fmt.Errorf("%s is %s; want a whole number", where, text)
	}
	return int64(f), nil
}

func (s schema) span() string {
	number := func(f *float64) string { return strconv.FormatFloat(*f, 'f', -1, 64) }
	switch {
	case s.Minimum == nil:
		return "at most " + number(s.Maximum)
	case s.Maximum == nil:
		return number(s.Minimum) + " or more"
	}
	return number(s.Minimum) + " to " + number(s.Maximum)
}

// plainNumbers makes int64 or float64 of the numbers in a value.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = plainNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = plainNumbers(v[k])
		}
	}
	return value
}

func join(where, name string) string {
	if where == "" {
		return name
	}
	return where + "." + name
}

func wanted(where, what string, value any) error {
	if where == "" {
		where = "the arguments"
	}
	found := "a text"
	switch value.(type) {
	case nil:
		found = "null"
	case bool:
		found = "a boolean"
	case json.Number:
		found = "a number"
	case []any:
		found = "a list"
	case map[string]any:
		found = "an object"
	}
	return fmt.Errorf("%s: want %s, not %s", where, what, found)
}

func unknown(where, name string, known map[string]schema) error {
	names := sortedKeys(known)
	for _, n := range names {
		if strings.EqualFold(n, name) || strings.HasPrefix(n, name) || strings.HasPrefix(name, n) {
			return fmt.Errorf("there is no argument %s; did you mean %s?", join(where, name), join(where, n))
		}
	}
	if len(names) == 0 {
		return fmt.Errorf("there is no argument %s; none is taken", join(where, name))
	}
	return fmt.Errorf("there is no argument %s; there are %s", join(where, name), strings.Join(names, ", "))
}

// arguments are those of one call, checked.
type arguments map[string]any

func (a arguments) has(name string) bool { _, ok := a[name]; return ok }

func (a arguments) text(name string) string { s, _ := a[name].(string); return s }

func (a arguments) flag(name string) bool { b, _ := a[name].(bool); return b }

func (a arguments) integer(name string, otherwise int64) int64 {
	if i, ok := a[name].(int64); ok {
		return i
	}
	return otherwise
}

func (a arguments) texts(name string) []string {
	list, _ := a[name].([]any)
	var out []string
	for _, v := range list {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

func (a arguments) objects(name string) []arguments {
	list, _ := a[name].([]any)
	var out []arguments
	for _, v := range list {
		if m, ok := v.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func (a arguments) object(name string) map[string]any { m, _ := a[name].(map[string]any); return m }
