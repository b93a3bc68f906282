package query

import (
	"context"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/physical"
)

// The procedures db.* list the names that the graph knows, as other databases have
// them.
var (
	dbLabels   = listing("db.labels", "label", usedLabels)
	dbTypes    = listing("db.relationshipTypes", "relationshipType", usedTypes)
	dbProperty = listing("db.propertyKeys", "propertyKey", knownKeys)
)

// listing makes a procedure without arguments that yields one column of names.
func listing(name, column string, list func(access.Reader) []string) *physical.Procedure {
	return &physical.Procedure{
		Procedure: bind.Procedure{
			Name:    name,
			Outputs: []bind.Field{{Name: column, Type: bound.OneOf(value.KindString)}},
		},
		Call: func(_ context.Context, g access.Reader, _ []value.Value) ([][]value.Value, error) {
			var rows [][]value.Value
			for _, n := range list(g) {
				rows = append(rows, []value.Value{value.String(n)})
			}
			return rows, nil
		},
	}
}

// usedLabels lists the labels that some node carries, the oldest first.
func usedLabels(g access.Reader) []string {
	var names []string
	for id := value.LabelID(1); g.LabelName(id) != ""; id++ {
		if g.NodeCount(id) > 0 {
			names = append(names, g.LabelName(id))
		}
	}
	return names
}

// usedTypes lists the types that some edge has, the oldest first.
func usedTypes(g access.Reader) []string {
	var names []string
	for id := value.TypeID(1); g.RelTypeName(id) != ""; id++ {
		if g.EdgeCount(id) > 0 {
			names = append(names, g.RelTypeName(id))
		}
	}
	return names
}

// knownKeys lists the property keys that were ever used, the oldest first: nobody
// counts who has one.
func knownKeys(g access.Reader) []string {
	var names []string
	for id := value.KeyID(1); g.KeyName(id) != ""; id++ {
		names = append(names, g.KeyName(id))
	}
	return names
}
