package query

import (
	"context"
	"slices"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/physical"
)

// Procedures finds procedures by their full name, such as text.search.
type Procedures = physical.Procedures

// known finds the built-in procedures, then those of the options.
type known struct{ more Procedures }

// Lookup implements Procedures.
func (k known) Lookup(name string) (*physical.Procedure, bool) {
	for _, p := range builtIn {
		if p.Name == name {
			return p, true
		}
	}
	for _, p := range slices.Concat(relationCommands, layerCommands, lifecycleClauses) {
		if p.Name == name {
			return p, true
		}
	}
	if p, ok := shows[name]; ok {
		return p, true
	}
	if k.more == nil {
		return nil, false
	}
	return k.more.Lookup(name)
}

// builtIn are the built-in procedures in order of name.
var builtIn = []*physical.Procedure{dbLabels, dbProperty, dbTypes, textSearch}

// ProcedureNames lists the built-in procedures in order of name.
func ProcedureNames() []string {
	var names []string
	for _, p := range builtIn {
		names = append(names, p.Name)
	}
	return names
}

// signatures shows the binder what it needs of procedures.
type signatures struct{ from Procedures }

// Lookup implements bind.Procedures.
func (s signatures) Lookup(name string) (*bind.Procedure, bool) {
	p, ok := s.from.Lookup(name)
	if !ok {
		return nil, false
	}
	return &p.Procedure, true
}

// Names lists the procedures that may be suggested for a name there is not.
func (signatures) Names() []string { return ProcedureNames() }

// defaultHits is how many nodes text.search finds unless told otherwise.
const defaultHits = 10

// textSearch is text.search(query, limit): the nodes that say the words of a
// text, best first.
var textSearch = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: "text.search",
		Args: []bind.Field{
			{Name: "query", Type: bound.OneOf(value.KindString)},
			{Name: "limit", Type: bound.OneOf(value.KindInt)},
		},
		Optional: 1,
		Outputs: []bind.Field{
			{Name: "node", Type: bound.OneOf(value.KindNode)},
			{Name: "score", Type: bound.OneOf(value.KindFloat)},
		},
	},
	Call: searchText,
}

func searchText(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
	if args[0].IsNull() {
		return nil, nil
	}
	limit := int64(defaultHits)
	if !args[1].IsNull() {
		limit = args[1].AsInt()
	}
	if limit < 0 {
		return nil, fault.AtRuntime(fault.ArgumentError, "NegativeIntegerArgument",
			"the limit of text.search cannot be negative, but is %d", limit)
	}
	if args[0].Kind() != value.KindString {
		return nil, fault.AtRuntime(fault.TypeError, "InvalidArgumentType",
			"text.search needs a STRING, but got a %s", args[0].Kind())
	}
	hits, err := g.SearchText(args[0].AsString(), int(min(limit, 1<<31)), nil)
	if err != nil {
		return nil, err
	}
	rows := make([][]value.Value, len(hits))
	for i, h := range hits {
		rows[i] = []value.Value{value.NodeRef(h.Node), value.Float(h.Score)}
	}
	return rows, nil
}
