package mcp

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"engram"
)

const (
	// maxAnswer bounds text and structured content of one result together, in bytes:
	// at three bytes a token that is 20,000 tokens, where clients take 25,000.
	maxAnswer = 60_000
	// maxContent is how many bytes of a node's content a list shows.
	maxContent = 2_000
)

// answer is what a tool has to say: to a person or a model, and to a program.
type answer struct {
	text string
	data map[string]any
}

// listing collects items while there is room for them.
type listing struct {
	text  strings.Builder
	items []any
	size  int // in bytes, of text and structured content
	full  bool
}

// add takes an item in, unless the listing is full.
func (l *listing) add(text string, item any) error {
	if l.full {
		return nil
	}
	encoded, err := json.Marshal(item)
	if err != nil {
		return err
	}
	if size := len(text) + len(encoded) + 2; l.size+size <= maxAnswer-4_000 { // for what stands around
		l.size += size
		l.text.WriteString(text)
		l.text.WriteByte('\n')
		l.items = append(l.items, item)
		return nil
	}
	l.full = true
	return nil
}

// list is the items, never nil.
func (l *listing) list() []any {
	if l.items == nil {
		return []any{}
	}
	return l.items
}

// page is a part of a longer list, and where the rest begins.
type page struct {
	offset int64
	at     string // the reference time of a recall
}

// cursor writes a page as clients send it back.
func (p page) cursor() string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "1 %d %s", p.offset, p.at))
}

func parseCursor(text string) (page, error) {
	var p page
	if text == "" {
		return p, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		_, err = fmt.Sscanf(string(raw)+" -", "1 %d %s", &p.offset, &p.at)
	}
	if err != nil || p.offset < 0 || p.offset > 1_000_000 {
		return p, errors.New("the cursor is not one that this tool returned; leave it out to begin again")
	}
	if p.at == "-" {
		p.at = ""
	}
	return p, nil
}

// cut shortens a text to so many bytes, between characters, and says so.
func cut(text string, limit int) (string, bool) {
	if len(text) <= limit {
		return text, false
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + fmt.Sprintf("… [cut, %d more bytes]", len(text)-end), true
}

// row is one row of a result by its columns.
type row map[string]engram.Value

func rowsOf(res *engram.Result) []row {
	out := make([]row, len(res.Rows))
	for i, values := range res.Rows {
		out[i] = row{}
		for j, name := range res.Columns {
			out[i][name] = values[j]
		}
	}
	return out
}

func (r row) text(name string) string {
	v, ok := r[name]
	switch {
	case !ok || v.IsNull():
		return ""
	case v.Kind() == engram.KindString:
		return v.AsString()
	}
	return v.ToString()
}

func (r row) integer(name string) int64 {
	if v, ok := r[name]; ok && v.Kind() == engram.KindInt {
		return v.AsInt()
	}
	return 0
}

func (r row) flag(name string) bool {
	v, ok := r[name]
	return ok && v.Kind() == engram.KindBool && v.AsBool()
}

func (r row) texts(name string) []string {
	out := []string{}
	if v, ok := r[name]; ok && v.Kind() == engram.KindList {
		for _, e := range v.AsList() {
			if e.Kind() == engram.KindString {
				out = append(out, e.AsString())
			}
		}
	}
	return out
}

// memoryColumns are what is told of a node m in a list.
const memoryColumns = `m.id AS id, labels(m) AS labels,
	coalesce(m.content, m.title, m.name, m.text, m.summary, m.description, '') AS content,
	m.created_at AS created_at, m.valid_from AS valid_from, m.valid_to AS valid_to,
	m.status AS status, m.origin AS origin, m.tags AS tags`

// memory makes an item of a row of memoryColumns. What is absent is left out.
func (r row) memory(limit int) (item map[string]any, wasCut bool) {
	content, wasCut := cut(r.text("content"), limit)
	item = map[string]any{"id": r.text("id"), "labels": r.texts("labels"), "content": content}
	for _, name := range []string{"created_at", "valid_from", "valid_to", "origin", "why", "suppressed_by"} {
		if text := r.text(name); text != "" {
			item[name] = text
		}
	}
	if status := r.text("status"); status != "" && status != "active" {
		item["status"] = status
	}
	if tags := r.texts("tags"); len(tags) > 0 {
		item["tags"] = tags
	}
	if v, ok := r["score"]; ok && v.IsNumber() {
		item["score"] = v
	}
	return item, wasCut
}

// line tells of a memory in one paragraph.
func line(item map[string]any) string {
	var notes []string
	if status, ok := item["status"]; ok {
		notes = append(notes, fmt.Sprint(status))
	}
	if origin, ok := item["origin"].(string); ok && origin != "user" {
		notes = append(notes, "from "+origin)
	}
	if from, ok := item["valid_from"]; ok {
		notes = append(notes, fmt.Sprint("holds from ", from))
	}
	if to, ok := item["valid_to"]; ok {
		notes = append(notes, fmt.Sprint("held until ", to))
	}
	if why, ok := item["why"]; ok {
		notes = append(notes, fmt.Sprint(why))
	}
	text := fmt.Sprintf("- [%v] %v", item["id"], item["content"])
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, "; ") + ")"
	}
	return text
}

// explain is an error in words for a model. own says that the statement is
// one of ours, which is then not shown.
func explain(err error, own bool) string {
	var e *engram.Error
	if !errors.As(err, &e) {
		return err.Error()
	}
	message := e.Message
	if own && e.Line > 0 {
		first, _, _ := strings.Cut(message, "\n")
		if _, rest, ok := strings.Cut(first, fmt.Sprintf(" at line %d, column %d: ", e.Line, e.Column)); ok {
			message = rest
		}
	}
	if e.Hint != "" && !strings.Contains(message, e.Hint) {
		message += "\n" + e.Hint
	}
	return message
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// quoted writes a name as EQL has it.
func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
