package query

import (
	"context"
	"slices"
	"strings"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
	"engram/query/internal/physical"
	"engram/query/internal/recall"
)

// shows are the procedures behind SHOW, by their names.
var shows = map[string]*physical.Procedure{
	"SHOW INDEXES": show("SHOW INDEXES", showIndexes,
		"name", "state", "type", "entityType", "labelsOrTypes", "properties", "owningConstraint", "entries", "distinctValues"),
	"SHOW CONSTRAINTS": show("SHOW CONSTRAINTS", showConstraints,
		"name", "type", "entityType", "labelsOrTypes", "properties", "ownedIndex"),
	"SHOW PROCEDURES": show("SHOW PROCEDURES", showProcedures, "name", "signature"),
	"SHOW FUNCTIONS":  show("SHOW FUNCTIONS", showFunctions, "name", "category", "signature", "description"),
	"SHOW RELATION TYPES": show("SHOW RELATION TYPES", showRelations, "name", "meaning", "from", "to", "weight",
		"forward", "backward", "inhibitory", "transitive", "origin", "mode", "count"),
	"SHOW LAYERS": show("SHOW LAYERS", showLayers,
		"name", "kind", "priority", "suppressible", "transparent", "injectable", "origin"),
	"SHOW PILLARS":  show("SHOW PILLARS", showPillars, "kind", "name", "node"),
	"SHOW LEARNING": showLearning,
	"SHOW STATS":    show("SHOW STATS", showStats, "kind", "name", "count", "value"),
}

// fieldTypes are the types of the columns that are no strings: of all commands, or
// of one.
var fieldTypes = map[string]bound.Type{
	"value":            bound.OneOf(value.KindFloat),
	"SHOW LAYERS kind": bound.OneOf(value.KindInt), "priority": bound.OneOf(value.KindInt), "suppressible": bound.OneOf(value.KindBool),
	"transparent": bound.OneOf(value.KindBool), "injectable": bound.OneOf(value.KindBool), "node": bound.OneOf(value.KindNode),
	"labelsOrTypes": bound.OneOf(value.KindList), "properties": bound.OneOf(value.KindList),
	"from": bound.OneOf(value.KindList), "to": bound.OneOf(value.KindList), "weight": bound.OneOf(value.KindFloat),
	"forward": bound.OneOf(value.KindFloat), "backward": bound.OneOf(value.KindFloat),
	"inhibitory": bound.OneOf(value.KindBool), "transitive": bound.OneOf(value.KindBool),
	"entries": bound.OneOf(value.KindInt), "distinctValues": bound.OneOf(value.KindInt), "count": bound.OneOf(value.KindInt),
}

// show makes the procedure of a SHOW.
func show(name string, rows func(access.Reader) [][]value.Value, columns ...string) *physical.Procedure {
	p := &physical.Procedure{Procedure: bind.Procedure{Name: name}}
	for _, c := range columns {
		t, ok := fieldTypes[name+" "+c]
		if !ok {
			t, ok = fieldTypes[c]
		}
		if !ok {
			t = bound.OneOf(value.KindString)
		}
		p.Outputs = append(p.Outputs, bind.Field{Name: c, Type: t})
	}
	kind := slices.Index(columns, "type")
	if kind >= 0 { // the only rows wanted, as in SHOW FULLTEXT INDEXES
		p.Args, p.Optional = []bind.Field{{Name: "type", Type: bound.OneOf(value.KindString)}}, 1
	}
	p.Call = func(_ context.Context, g access.Reader, args []value.Value) ([][]value.Value, error) {
		list := rows(g)
		if kind >= 0 && !args[0].IsNull() {
			list = slices.DeleteFunc(list, func(row []value.Value) bool { return row[kind].AsString() != args[0].AsString() })
		}
		return list, nil
	}
	return p
}

// definitions lists the indexes and constraints.
func definitions(g access.Reader) (access.Indexes, []*schema.Def) {
	ix, ok := g.(access.Indexes)
	if !ok {
		return nil, nil
	}
	return ix, ix.Schema().All()
}

// target is what a definition is about: the columns entityType, labelsOrTypes
// and properties.
func target(d *schema.Def) []value.Value {
	entity := "NODE"
	if d.Edge {
		entity = "RELATIONSHIP"
	}
	return []value.Value{value.String(entity), texts(d.Owners()...), texts(d.Keys...)}
}

func texts(list ...string) value.Value {
	out := make([]value.Value, len(list))
	for i, s := range list {
		out[i] = value.String(s)
	}
	return value.List(out)
}

func showIndexes(g access.Reader) [][]value.Value {
	ix, defs := definitions(g)
	var rows [][]value.Value
	for _, d := range defs {
		if d.Kind == schema.Exists {
			continue
		}
		kind, state, owner := "RANGE", "ONLINE", value.Null
		if d.State != schema.Online {
			state = "POPULATING"
		}
		if d.Constraint() {
			owner = value.String(d.Name)
		}
		entries, distinct := value.Null, value.Null // of a full-text index nobody counts them
		if d.Indexed() {
			n, m := ix.IndexCounts(d.ID)
			entries, distinct = value.Int(n), value.Int(m)
		} else {
			kind = "FULLTEXT"
		}
		row := append([]value.Value{value.String(d.Name), value.String(state), value.String(kind)}, target(d)...)
		rows = append(rows, append(row, owner, entries, distinct))
	}
	return rows
}

func showConstraints(g access.Reader) [][]value.Value {
	_, defs := definitions(g)
	var rows [][]value.Value
	for _, d := range defs {
		if !d.Constraint() {
			continue
		}
		kind, owned := "UNIQUENESS", value.String(d.Name)
		if d.Kind == schema.Exists {
			kind, owned = "PROPERTY_EXISTENCE", value.Null
		}
		row := append([]value.Value{value.String(d.Name), value.String(kind)}, target(d)...)
		rows = append(rows, append(row, owned))
	}
	return rows
}

func showProcedures(access.Reader) [][]value.Value {
	var rows [][]value.Value
	for _, p := range builtIn {
		var args, outs []string
		for i, a := range p.Args {
			s := a.Name + " :: " + fn.Describe(a.Type)
			if i >= len(p.Args)-p.Optional {
				s = "[" + s + "]"
			}
			args = append(args, s)
		}
		for _, o := range p.Outputs {
			outs = append(outs, o.Name+" :: "+fn.Describe(o.Type))
		}
		signature := p.Name + "(" + strings.Join(args, ", ") + ") :: (" + strings.Join(outs, ", ") + ")"
		rows = append(rows, []value.Value{value.String(p.Name), value.String(signature)})
	}
	return rows
}

func showFunctions(access.Reader) [][]value.Value {
	var rows [][]value.Value
	add := func(name, category string, params []bound.Type, required int, variadic bool, doc string) {
		var args []string
		for i, p := range params {
			s := fn.Describe(p)
			if i >= required {
				s = "[" + s + "]"
			}
			args = append(args, s)
		}
		if variadic {
			args = append(args, "...")
		}
		rows = append(rows, []value.Value{
			value.String(name), value.String(category), value.String(name + "(" + strings.Join(args, ", ") + ")"), value.String(doc),
		})
	}
	for _, f := range fn.All() {
		add(f.Name, "scalar", f.Params, f.Required, f.Variadic, f.Doc)
	}
	for _, a := range fn.AllAggregates() {
		add(a.Name, "aggregating", a.Params, a.Required, false, a.Doc)
	}
	return rows
}

// showStats lists the counts that the planner goes by, and the constants that
// memories are weighed by.
func showStats(g access.Reader) [][]value.Value {
	row := func(kind string, name value.Value, n int64) []value.Value {
		return []value.Value{value.String(kind), name, value.Int(n), value.Null}
	}
	rows := [][]value.Value{row("nodes", value.Null, g.NodeCount(0)), row("relationships", value.Null, g.EdgeCount(0))}
	for id := value.LabelID(1); g.LabelName(id) != ""; id++ {
		if n := g.NodeCount(id); n > 0 {
			rows = append(rows, row("label", value.String(g.LabelName(id)), n))
		}
	}
	for id := value.TypeID(1); g.RelTypeName(id) != ""; id++ {
		if n := g.EdgeCount(id); n > 0 {
			rows = append(rows, row("type", value.String(g.RelTypeName(id)), n))
		}
	}
	ix, defs := definitions(g)
	for _, d := range defs {
		if d.Indexed() {
			entries, distinct := ix.IndexCounts(d.ID)
			rows = append(rows, row("index entries", value.String(d.Name), entries), row("index values", value.String(d.Name), distinct))
		}
	}
	for _, s := range recall.Settings() {
		rows = append(rows, []value.Value{value.String("weighing"), value.String(s.Name), value.Null, value.Float(s.Value)})
	}
	return rows
}
