// Package notice finds what is no error in a statement but probably a mistake:
// labels, relationship types and properties that it looks for and that nothing
// in the graph has ever had.
package notice

import (
	"cmp"
	"fmt"
	"slices"

	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
	"engram/query/result"
)

// The codes of the notices.
const (
	UnknownLabel        = "UnknownLabel"
	UnknownRelationType = "UnknownRelationType"
	UnknownProperty     = "UnknownProperty"
)

// most is how many notices a statement gets.
const most = 10

// Unknown returns a notice for each name that stmt reads, that g does not know
// and that stmt does not write either, in the order of the text. A statement
// whose writes can't be told from the text, such as SET n += $map, gets none for
// properties.
func Unknown(stmt *bound.Statement, g access.Names) []result.Notice {
	w := &walker{names: g, written: map[name]bool{}}
	w.query(stmt.Query)
	var out []result.Notice
	seen := map[name]bool{}
	slices.SortStableFunc(w.missing, func(a, b missing) int { return cmp.Compare(a.at.Offset, b.at.Offset) })
	for _, m := range w.missing {
		if seen[m.name] || w.written[m.name] || m.code == UnknownProperty && w.anyProperty {
			continue
		}
		seen[m.name] = true
		out = append(out, result.Notice{Code: m.code, Message: w.message(m.name), Line: m.at.Line, Column: m.at.Column})
		if len(out) == most {
			break
		}
	}
	return out
}

// name is a name with the code of the notice about it.
type name struct{ code, text string }

type missing struct {
	name
	at syntax.Span
}

// walker gathers the names of a statement.
type walker struct {
	names   access.Names
	missing []missing
	written map[name]bool
	// anyProperty: the statement writes properties whose names are not in its text.
	anyProperty bool
	class       string // of INCLUDING that is looked for
	included    bool
}

func (w *walker) message(n name) string {
	var text string
	var known func(id uint32) string
	switch n.code {
	case UnknownLabel:
		text = fmt.Sprintf("No node has ever had the label `%s`.", n.text)
		known = func(id uint32) string { return w.names.LabelName(labelID(id)) }
	case UnknownRelationType:
		text = fmt.Sprintf("No relationship has ever had the type `%s`.", n.text)
		known = func(id uint32) string { return w.names.RelTypeName(typeID(id)) }
	default:
		text = fmt.Sprintf("Nothing has ever had the property `%s`.", n.text)
		known = func(id uint32) string { return w.names.KeyName(keyID(id)) }
	}
	var all []string
	for id := uint32(1); known(id) != ""; id++ {
		all = append(all, known(id))
	}
	slices.Sort(all)
	if near := fault.NearestName(n.text, all); near != "" {
		text += fmt.Sprintf(" Did you mean `%s`?", near)
	}
	return text
}

func (w *walker) label(text string, at syntax.Span) {
	if _, ok := w.names.Label(text); !ok {
		w.missing = append(w.missing, missing{name{UnknownLabel, text}, at})
	}
}

func (w *walker) relType(text string, at syntax.Span) {
	if _, ok := w.names.RelType(text); !ok {
		w.missing = append(w.missing, missing{name{UnknownRelationType, text}, at})
	}
}

func (w *walker) key(text string, at syntax.Span) {
	if _, ok := w.names.Key(text); !ok && text != "id" { // every node has an id
		w.missing = append(w.missing, missing{name{UnknownProperty, text}, at})
	}
}

func (w *walker) writes(code string, texts ...string) {
	for _, t := range texts {
		w.written[name{code, t}] = true
	}
}

// labels calls visit for every label of a label expression.
func labels(l syntax.LabelExpr, visit func(*syntax.LabelName)) {
	switch l := l.(type) {
	case *syntax.LabelName:
		visit(l)
	case *syntax.LabelNot:
		labels(l.E, visit)
	case *syntax.LabelAnd:
		labels(l.L, visit)
		labels(l.R, visit)
	case *syntax.LabelOr:
		labels(l.L, visit)
		labels(l.R, visit)
	}
}
