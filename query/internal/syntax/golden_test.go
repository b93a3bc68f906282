package syntax_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"

	"github.com/cockroachdb/datadriven"
)

// TestGolden holds trees and error texts to testdata. In trees every node that
// has a span shows the text it covers.
func TestGolden(t *testing.T) {
	for _, folder := range []string{"testdata/parse", "testdata/errors"} {
		datadriven.Walk(t, folder, func(t *testing.T, path string) {
			datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
				if d.Cmd != "parse" {
					d.Fatalf(t, "unknown command %s", d.Cmd)
				}
				s, err := syntax.Parse(d.Input)
				if err != nil {
					f := fault.As(err)
					if f == nil {
						t.Fatalf("%s: %v is no fault", d.Pos, err)
					}
					return f.Render(d.Input)
				}
				if folder == "testdata/errors" {
					return "no error\n"
				}
				return dump(s)
			})
		})
	}
}

// dump writes a statement as an indented tree.
func dump(s *syntax.Statement) string {
	w := &dumper{text: s.Text}
	if s.Mode != syntax.Plain {
		fmt.Fprintf(&w.out, "mode %d\n", s.Mode)
	}
	for i, part := range s.Query.Parts {
		if i > 0 {
			fmt.Fprintf(&w.out, "union all=%v «%s»\n", s.Query.All[i-1], s.Query.Union[i-1].Text(s.Text))
		}
		for _, c := range part.Clauses {
			w.node("", reflect.ValueOf(c), 0)
		}
	}
	return w.out.String()
}

type dumper struct {
	out  strings.Builder
	text string
}

// node writes a struct: its type, its plain fields, the text it covers, and
// below it the fields that are nodes.
func (w *dumper) node(label string, v reflect.Value, depth int) {
	for v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface {
		v = v.Elem()
	}
	w.out.WriteString(strings.Repeat("  ", depth) + label + v.Type().Name())
	var below []func()
	w.fields(v, depth, &below)
	if at, ok := v.Addr().Interface().(interface{ At() syntax.Span }); ok {
		if span := at.At(); span.Known() {
			w.out.WriteString("  «" + strings.Join(strings.Fields(span.Text(w.text)), " ") + "»")
		}
	}
	w.out.WriteString("\n")
	for _, f := range below {
		f()
	}
}

func (w *dumper) fields(v reflect.Value, depth int, below *[]func()) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		switch {
		case f.Type() == reflect.TypeFor[syntax.Span]() || f.IsZero():
		case f.Type() == reflect.TypeFor[syntax.Name]():
			fmt.Fprintf(&w.out, " %s", f.Field(1))
		case f.Type() == reflect.TypeFor[value.Value]():
			fmt.Fprintf(&w.out, " %s", f.Interface())
		case f.Kind() == reflect.Slice && f.Type().Elem().Kind() > reflect.Float64 && f.Type().Elem().Kind() != reflect.String:
			for j := range f.Len() {
				*below = append(*below, func() { w.node(fmt.Sprintf("%s[%d] ", name, j), f.Index(j), depth+1) })
			}
		case f.Kind() == reflect.Pointer && f.Type().Elem().Kind() == reflect.Int64:
			fmt.Fprintf(&w.out, " %s=%d", name, f.Elem().Int())
		case f.Kind() == reflect.Pointer || f.Kind() == reflect.Interface:
			*below = append(*below, func() { w.node(name+" ", f, depth+1) })
		default:
			fmt.Fprintf(&w.out, " %s=%v", name, f.Interface())
		}
	}
}
