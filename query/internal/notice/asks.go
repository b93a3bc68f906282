package notice

import (
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
)

// Asks reports whether a statement names a label, to read or to write it, or recalls
// INCLUDING a class.
func Asks(stmt *bound.Statement, label, class string) bool {
	w := &walker{names: allBut{label: label}, written: map[name]bool{}, class: class}
	w.query(stmt.Query)
	asked := name{UnknownLabel, label}
	return w.included || w.written[asked] || slices.ContainsFunc(w.missing, func(m missing) bool { return m.name == asked })
}

// allBut knows every name but a label.
type allBut struct {
	access.Names
	label string
}

func (n allBut) Label(name string) (value.LabelID, bool)  { return 1, name != n.label }
func (n allBut) RelType(name string) (value.TypeID, bool) { return 1, true }
func (n allBut) Key(name string) (value.KeyID, bool)      { return 1, true }
