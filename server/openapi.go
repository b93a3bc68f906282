package server

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// document makes the OpenAPI document of the routes: from the same table that
// answers them.
func document(s *Server) ([]byte, error) {
	d := &schemas{all: map[string]any{}, types: map[string]reflect.Type{}}
	paths := map[string]map[string]any{}
	for _, r := range s.table {
		if r.hidden {
			continue
		}
		if paths[r.pattern] == nil {
			paths[r.pattern] = map[string]any{}
		}
		paths[r.pattern][strings.ToLower(r.method)] = d.operation(r)
	}
	d.of(reflect.TypeFor[problem]())
	if d.clash != "" {
		return nil, fmt.Errorf("server: two types are called %s in the OpenAPI document", d.clash)
	}
	return json.Marshal(map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "engram", "version": s.config.Version,
			"description": "A graph database for long-term memory. Every request but GET /healthz and POST /v1/login needs a token, as Authorization: Bearer, or the cookie of a browser that logged in, which requests other than GET need the header X-CSRF-Token beside. Errors are problem documents (RFC 9457) with a stable code.",
			"license":     map[string]any{"name": "Apache-2.0", "identifier": "Apache-2.0"},
		},
		"servers":  []any{map[string]any{"url": "/"}},
		"security": []any{map[string]any{"token": []any{}}},
		"paths":    paths,
		// What is told where no operation is.
		"x-problems": d.elsewhere(),
		"components": map[string]any{
			"schemas":         d.all,
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	})
}

var pathParam = regexp.MustCompile(`\{(\w+)\}`)

// operation tells about one route.
func (d *schemas) operation(r *route) map[string]any {
	op := map[string]any{"summary": r.summary, "operationId": operationID(r), "responses": d.responses(r)}
	detail := r.detail
	if r.scope != "" {
		detail = strings.TrimSpace(detail + " Scope: " + string(r.scope) + ".")
		op["x-scope"] = string(r.scope)
	} else {
		op["security"] = []any{}
	}
	if detail != "" {
		op["description"] = detail
	}
	if params := parameters(r); len(params) > 0 {
		op["parameters"] = params
	}
	if r.body != noBody {
		d.request = true
		schema := d.of(reflect.TypeOf(r.request))
		d.request = false
		content := map[string]any{}
		types := r.types
		if types == nil {
			types = []string{typeJSON}
		}
		for _, t := range types {
			content[t] = media(r, t, schema)
		}
		op["requestBody"] = map[string]any{"required": true, "content": content}
	}
	return op
}

// media tells about a body of one media type, with examples.
func media(r *route, typ string, schema map[string]any) map[string]any {
	shown := map[string]any{}
	for _, e := range examples[r.method+" "+r.pattern] {
		switch {
		case cmp.Or(e.media, typeJSON) != typ:
		case r.body == jsonBody:
			shown[e.name] = map[string]any{"value": json.RawMessage(e.body)}
		default:
			shown[e.name] = map[string]any{"value": e.body}
		}
	}
	out := map[string]any{"schema": schema}
	if r.body == streamBody { // bytes as they come, whatever they are named
		out["schema"] = map[string]any{}
	}
	if len(shown) > 0 {
		out["examples"] = shown
	}
	return out
}

func operationID(r *route) string {
	id := strings.ToLower(r.method) + strings.NewReplacer("/v1", "", "{", "", "}", "", ":", "/", ".", "/").Replace(r.pattern)
	var b strings.Builder
	for i, part := range strings.Split(id, "/") {
		if i > 0 && part != "" {
			part = strings.ToUpper(part[:1]) + part[1:]
		}
		b.WriteString(part)
	}
	return b.String()
}

func parameters(r *route) []any {
	var out []any
	for _, m := range pathParam.FindAllStringSubmatch(r.pattern, -1) {
		out = append(out, map[string]any{"name": m[1], "in": "path", "required": true, "schema": map[string]any{"type": "string"}})
	}
	query := r.query
	if !r.global && r.scope != "" {
		query = append([]param{{name: "namespace", kind: "string", doc: "The namespace.", def: DefaultNamespace}}, query...)
	}
	for _, p := range query {
		schema := map[string]any{"type": p.kind}
		if p.enum != nil {
			schema["enum"] = p.enum
		}
		if p.def != "" {
			schema["default"] = p.def
			if n, err := strconv.Atoi(p.def); err == nil && p.kind == "integer" {
				schema["default"] = n
			}
		}
		shown := map[string]any{"name": p.name, "in": "query", "description": p.doc, "schema": schema}
		if p.example != "" {
			shown["example"] = p.example
		}
		out = append(out, shown)
	}
	if r.keyed {
		out = append(out, map[string]any{
			"name": "Idempotency-Key", "in": "header", "schema": map[string]any{"type": "string", "minLength": 1, "maxLength": maxKey},
			"description": "1 to 200 visible ASCII characters of the client's choice. A request with the key of one that was committed before writes nothing and is answered with repeated.",
		})
	}
	return out
}

// responses are the route's own and those that every route has.
func (d *schemas) responses(r *route) map[string]any {
	ok := map[string]any{"description": "Done."}
	content := map[string]any{}
	if r.response != nil {
		content[typeJSON] = map[string]any{"schema": d.of(reflect.TypeOf(r.response))}
	} else if r.answers == nil {
		content[typeJSON] = map[string]any{"schema": map[string]any{"type": "object"}}
	}
	for _, t := range sortedKeys(r.answers) {
		content[t] = map[string]any{"schema": map[string]any{"type": "string", "description": r.answers[t]}}
	}
	ok["content"] = content
	out := map[string]any{"200": ok}
	for _, code := range r.codes() {
		status := strconv.Itoa(statusOf(code))
		if out[status] == nil {
			out[status] = d.problems(statusOf(code))
		}
		addCode(out[status].(map[string]any), code)
	}
	return out
}

// problems are the answers of a status, of no code yet.
func (d *schemas) problems(status int) map[string]any {
	return map[string]any{
		"description": http.StatusText(status),
		"content": map[string]any{typeProblem: map[string]any{"schema": map[string]any{
			"allOf":      []any{d.of(reflect.TypeFor[problem]())},
			"properties": map[string]any{"status": map[string]any{"enum": []any{status}}, "code": map[string]any{"enum": []any{}}},
		}}},
	}
}

// elsewhere are the problems of requests that no operation is about.
func (d *schemas) elsewhere() map[string]any {
	out := map[string]any{}
	for code, doc := range elsewhere {
		out[code] = map[string]any{"status": statusOf(code), "description": doc}
	}
	return out
}

// addCode adds a code to the problems of a status.
func addCode(response map[string]any, code string) {
	schema := response["content"].(map[string]any)[typeProblem].(map[string]any)["schema"].(map[string]any)
	of := schema["properties"].(map[string]any)["code"].(map[string]any)
	of["enum"] = append(of["enum"].([]any), code)
}

// schemas are the JSON Schemas of types, by name.
type schemas struct {
	all   map[string]any
	types map[string]reflect.Type
	clash string // a name that two types have
	// request: types are of a request, whose fields may be left out unless they are
	// said to be required.
	request bool
}

// of returns the schema of a type: plain, without unions of kinds.
func (d *schemas) of(t reflect.Type) map[string]any {
	if t == reflect.TypeFor[time.Time]() {
		return map[string]any{"type": "string", "format": "date-time"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.of(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return map[string]any{"type": "integer", "format": "int64"}
	case reflect.Uint64:
		return map[string]any{"type": "integer", "minimum": 0}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": d.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": d.of(t.Elem())}
	case reflect.Struct:
		name := strings.ToUpper(t.Name()[:1]) + strings.TrimSuffix(t.Name()[1:], "JSON")
		if strings.HasSuffix(t.PkgPath(), "/importer") {
			name = "Import" + name
		}
		if _, known := d.all[name]; !known {
			d.all[name] = nil // ends recursion
			d.types[name] = t
			d.all[name] = d.object(t)
		}
		if d.types[name] != t {
			d.clash = name
		}
		return map[string]any{"$ref": "#/components/schemas/" + name}
	}
	return map[string]any{} // anything
}

func (d *schemas) object(t reflect.Type) map[string]any {
	props := map[string]any{}
	required := []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, rest, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || !f.IsExported() {
			continue
		}
		schema := d.of(f.Type)
		if doc := f.Tag.Get("doc"); doc != "" {
			schema["description"] = doc
		}
		if enum := f.Tag.Get("enum"); enum != "" {
			schema["enum"] = strings.Split(enum, ",")
		}
		props[name] = schema
		if f.Tag.Get("required") != "" || !d.request && !strings.Contains(rest, "omitempty") {
			required = append(required, name)
		}
	}
	out := map[string]any{"type": "object", "properties": props, "additionalProperties": false}
	if len(required) > 0 {
		out["required"] = required
	}
	return out
}
