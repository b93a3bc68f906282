// Package strict reads JSON from strangers: unknown, repeated and differently
// written keys are errors that name them, and depth and numbers of values are
// bounded before anything is built.
package strict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of one document.
const (
	MaxDepth  = 64        // of lists and objects in each other
	MaxKeys   = 10_000    // of one object
	MaxValues = 1_000_000 // of the document
)

// Error tells what is wrong with a document.
type Error struct {
	// Code is InvalidJSON, UnknownField, DuplicateKey or TooComplex.
	Code string
	// Field is the key that it is about, or empty.
	Field   string
	Message string
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Codes of Error.
const (
	InvalidJSON  = "InvalidJSON"
	UnknownField = "UnknownField"
	DuplicateKey = "DuplicateKey"
	TooComplex   = "TooComplex"
)

// Decode reads one document into a pointer to a struct with json tags. Keys have to
// be written as in the tags. Numbers in values of type any are json.Number.
func Decode(data []byte, into any) error {
	if !utf8.Valid(data) {
		return &Error{Code: InvalidJSON, Message: "the body is not UTF-8"}
	}
	if err := scan(data, reflect.TypeOf(into).Elem()); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return decodeError(err)
	}
	return nil
}

// decodeError tells the error of the decoder in the words of a user.
func decodeError(err error) error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		field := kind.Field
		if field == "" {
			return &Error{Code: InvalidJSON, Message: fmt.Sprintf("the body is a %s: want %s", kind.Value, wanted(kind.Type))}
		}
		return &Error{Code: InvalidJSON, Field: field, Message: fmt.Sprintf("the field %q is a %s: want %s", field, kind.Value, wanted(kind.Type))}
	}
	return syntaxError(err)
}

func syntaxError(err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &Error{Code: InvalidJSON, Message: fmt.Sprintf("the body is no JSON: %v, at byte %d", syntax, syntax.Offset)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return &Error{Code: InvalidJSON, Message: "the body ends in the middle of the JSON"}
	}
	return &Error{Code: InvalidJSON, Message: "the body is no JSON: " + strings.TrimPrefix(err.Error(), "json: ")}
}

// wanted names a Go type as a user of JSON knows it.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.String:
		return "a text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "a whole number that fits"
}

// frame is one open list or object.
type frame struct {
	object bool
	typ    reflect.Type // nil: anything goes
	keys   []string     // seen so far, of an object
	seen   map[string]struct{}
	key    string // whose value is next
	atKey  bool
}

// scan walks over the document once and checks everything but the kinds of values.
func scan(data []byte, typ reflect.Type) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var stack []frame
	values, next := 0, typ
	for {
		t, err := d.Token()
		if err != nil {
			if errors.Is(err, io.EOF) && values > 0 && len(stack) == 0 {
				return nil
			}
			return syntaxError(err)
		}
		if len(stack) == 0 && values > 0 {
			return &Error{Code: InvalidJSON, Message: "the body goes on behind the end of the JSON"}
		}
		if values++; values > MaxValues {
			return &Error{Code: TooComplex, Message: fmt.Sprintf("the JSON has more than %d values: send it in several requests", MaxValues)}
		}
		top := len(stack) - 1
		if top >= 0 && stack[top].object && stack[top].atKey && t != json.Delim('}') {
			if next, err = stack[top].take(t); err != nil {
				return err
			}
			continue
		}
		if top >= 0 {
			stack[top].atKey = stack[top].object
			if !stack[top].object {
				next = elem(stack[top].typ)
			}
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			if len(stack) == MaxDepth {
				return &Error{Code: TooComplex, Message: fmt.Sprintf("the JSON is nested deeper than %d", MaxDepth)}
			}
			stack = append(stack, frame{object: t == json.Delim('{'), atKey: t == json.Delim('{'), typ: next})
		case json.Delim('}'), json.Delim(']'):
			stack = stack[:top]
		}
	}
}

// take checks a key of an object and returns the type of its value.
func (f *frame) take(t json.Token) (reflect.Type, error) {
	key, _ := t.(string)
	f.key, f.atKey = key, false
	if len(f.keys) == MaxKeys {
		return nil, &Error{Code: TooComplex, Message: fmt.Sprintf("an object of the JSON has more than %d keys", MaxKeys)}
	}
	if f.has(key) {
		return nil, &Error{Code: DuplicateKey, Field: key, Message: fmt.Sprintf("the key %q is there twice", key)}
	}
	f.add(key)
	typ := f.typ
	for typ != nil && typ.Kind() == reflect.Pointer {
		typ = typ.Elem()
	}
	if typ == nil || typ.Kind() != reflect.Struct {
		return elem(typ), nil
	}
	var names []string
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if name == key {
			return typ.Field(i).Type, nil
		}
		if name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return nil, unknown(key, names)
}

func unknown(key string, names []string) error {
	hint := "known are " + strings.Join(names, ", ")
	for _, n := range names {
		if strings.EqualFold(n, key) {
			hint = "did you mean " + n + "?"
		}
	}
	return &Error{Code: UnknownField, Field: key, Message: fmt.Sprintf("the field %q is unknown: %s", key, hint)}
}

// has reports whether a key was seen. Small objects need no map.
func (f *frame) has(key string) bool {
	if f.seen != nil {
		_, ok := f.seen[key]
		return ok
	}
	return slices.Contains(f.keys, key)
}

func (f *frame) add(key string) {
	f.keys = append(f.keys, key)
	switch {
	case f.seen != nil:
		f.seen[key] = struct{}{}
	case len(f.keys) == 16:
		f.seen = map[string]struct{}{}
		for _, k := range f.keys {
			f.seen[k] = struct{}{}
		}
	}
}

// elem is the type of what a list or a map holds; nil when anything goes.
func elem(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t != nil && (t.Kind() == reflect.Slice || t.Kind() == reflect.Map) {
		if e := t.Elem(); e.Kind() != reflect.Interface {
			return e
		}
	}
	return nil
}
