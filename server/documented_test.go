package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/getkin/kin-openapi/openapi3filter"
)

// operation is what the OpenAPI document of a running server says of one.
type operation struct {
	id, method, pattern string
	bodies              map[string]map[string]string // media type → name of an example → body
	properties          []string                     // of a body that is an object
	params              []documentedParam
	answers             []string       // media types of 200
	codes               map[string]int // of problems, and their statuses
}

type documentedParam struct {
	name   string
	values []string // those that the document names; none: of the test's choice
}

// documented is the document, and what of it was exercised.
type documented struct {
	*checkedDocument
	all       []*operation
	elsewhere map[string]int

	mu   sync.Mutex
	seen map[string]bool
}

type documentJSON struct {
	Paths map[string]map[string]struct {
		Parameters []struct {
			Name, In string
			Example  string
			Schema   struct {
				Type    string
				Enum    []string
				Default any
			}
		}
		RequestBody struct {
			Content map[string]struct {
				Schema struct {
					Ref string `json:"$ref"`
				}
				Examples map[string]struct{ Value json.RawMessage }
			}
		}
		Responses map[string]struct {
			Content map[string]struct {
				Schema struct {
					Properties struct {
						Code struct{ Enum []string }
					}
				}
			}
		}
	}
	Elsewhere  map[string]struct{ Status int } `json:"x-problems"`
	Components struct {
		Schemas map[string]struct{ Properties map[string]json.RawMessage }
	}
}

// readDocumented reads the document of a running server.
func readDocumented(t *testing.T, h *harness) *documented {
	t.Helper()
	d := &documented{checkedDocument: loadDocument(t, h), elsewhere: map[string]int{}, seen: map[string]bool{}}
	var doc documentJSON
	if err := json.Unmarshal([]byte(h.must("GET", "/v1/openapi.json", "").body), &doc); err != nil {
		t.Fatal(err)
	}
	for code, e := range doc.Elsewhere {
		d.elsewhere[code] = e.Status
	}
	for pattern, methods := range doc.Paths {
		for method, o := range methods {
			op := &operation{method: strings.ToUpper(method), pattern: pattern, bodies: map[string]map[string]string{}, codes: map[string]int{}}
			op.id = op.method + " " + pattern
			for media, c := range o.RequestBody.Content {
				op.bodies[media] = map[string]string{}
				for name, e := range c.Examples {
					text := string(e.Value)
					_ = json.Unmarshal(e.Value, &text) // a text that is no JSON is shown as one
					op.bodies[media][name] = text
				}
				name := strings.TrimPrefix(c.Schema.Ref, "#/components/schemas/")
				for p := range doc.Components.Schemas[name].Properties {
					op.properties = append(op.properties, p)
				}
			}
			slices.Sort(op.properties)
			for _, p := range o.Parameters {
				if p.In != "query" {
					continue
				}
				values := p.Schema.Enum
				switch {
				case values != nil:
				case p.Schema.Type == "boolean":
					values = []string{"true", "false"}
				case p.Schema.Default != nil:
					values = []string{fmt.Sprint(p.Schema.Default)}
				case p.Example != "":
					values = []string{p.Example}
				}
				op.params = append(op.params, documentedParam{p.Name, values})
			}
			for status, r := range o.Responses {
				for media, c := range r.Content {
					if status == "200" {
						op.answers = append(op.answers, media)
						continue
					}
					for _, code := range c.Schema.Properties.Code.Enum {
						if _, err := fmt.Sscan(status, new(int)); err != nil || op.codes[code] != 0 {
							t.Errorf("%s: %s is told twice, or of no status: %s", op.id, code, status)
						}
						n := 0
						_, _ = fmt.Sscan(status, &n) // it was looked at
						op.codes[code] = n
					}
				}
			}
			d.all = append(d.all, op)
		}
	}
	slices.SortFunc(d.all, func(a, b *operation) int { return strings.Compare(a.id, b.id) })
	if len(d.all) < 30 {
		t.Fatalf("the document has only %d operations", len(d.all))
	}
	return d
}

func (d *documented) mark(parts ...string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.seen[strings.Join(parts, " | ")] = true
}

func (d *documented) marked(parts ...string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.seen[strings.Join(parts, " | ")]
}

// holds compares an answer with the document and notes what was exercised.
func (d *documented) holds(t *testing.T, op *operation, path string, media string, a answer) {
	t.Helper()
	got, _, _ := strings.Cut(a.header.Get("Content-Type"), ";")
	switch {
	case a.status == http.StatusOK:
		if !slices.ContainsFunc(op.answers, func(m string) bool { m, _, _ = strings.Cut(m, ";"); return m == got }) {
			t.Errorf("%s answers with %s, which the document does not list", op.id, got)
		}
		d.mark(op.id, "answer", got)
	case op.codes[a.code()] != a.status || got != "application/problem+json":
		t.Errorf("%s answers with %d %s (%s), which the document does not list: %.300s", op.id, a.status, a.code(), got, a.body)
		return
	default:
		d.mark(op.id, "problem", a.code())
	}
	if got != "application/json" && got != "application/problem+json" {
		return // texts, of which the document tells no more
	}
	req, err := http.NewRequest(op.method, path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	route, params, err := d.router.FindRoute(req)
	if err != nil {
		t.Fatalf("%s %s: %v", op.method, path, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: a.status, Header: a.header, Options: in.Options, Body: io.NopCloser(bytes.NewReader([]byte(a.body)))}
	if err := openapi3filter.ValidateResponse(context.Background(), out); err != nil {
		t.Errorf("%s: the answer is not as documented: %.700s", op.id, err.Error())
	}
}

// fits tells whether a request is as the document has it.
func (d *documented) fits(t *testing.T, op *operation, path, media, body string) {
	t.Helper()
	req, err := http.NewRequest(op.method, path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if media != "" {
		req.Header.Set("Content-Type", media)
	}
	route, params, err := d.router.FindRoute(req)
	if err != nil {
		t.Fatalf("%s %s: %v", op.method, path, err)
	}
	in := &openapi3filter.RequestValidationInput{Request: req, PathParams: params, Route: route, Options: &openapi3filter.Options{
		AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, ExcludeRequestBody: media != "" && media != "application/json" || op.pattern == "/v1/import",
	}}
	if err := openapi3filter.ValidateRequest(context.Background(), in); err != nil {
		t.Errorf("%s %s: the request is not as documented: %.500s", op.id, body, err.Error())
	}
}
