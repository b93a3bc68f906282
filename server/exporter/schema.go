package exporter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"engram"
)

// declarations are the statements that declare what the graph has beside nodes and
// edges: those that can run before there are any, and those that speak of nodes.
func declarations(g *graph) (before, after []string, err error) {
	for _, part := range []func(*graph) ([]string, error){layers, relationTypes, constraints, indexes} {
		list, err := part(g)
		if err != nil {
			return nil, nil, err
		}
		before = append(before, list...)
	}
	if after, err = pillars(g); err != nil {
		return nil, nil, err
	}
	closed, err := mode(g)
	return before, append(after, closed...), err
}

func texts(v engram.Value) []string {
	var out []string
	for _, e := range v.AsList() {
		out = append(out, e.AsString())
	}
	return out
}

// named writes what a map of options has.
func named(columns []string, row []engram.Value) string {
	var parts []string
	for i, c := range columns {
		if !row[i].IsNull() {
			parts = append(parts, c+": "+literal(row[i]))
		}
	}
	return "{" + strings.Join(parts, ", ") + "}"
}

func layers(g *graph) ([]string, error) {
	columns := []string{"kind", "priority", "suppressible", "transparent", "injectable"}
	rows, err := g.list("SHOW LAYERS YIELD name, origin, " + strings.Join(columns, ", ") + " WHERE origin <> 'built in' RETURN name, " + strings.Join(columns, ", ") + " ORDER BY name")
	var out []string
	for _, r := range rows {
		out = append(out, "CREATE LAYER "+quoteName(r[0].AsString())+" IF NOT EXISTS "+named(columns, r[1:]))
	}
	return out, err
}

// relationTypes declares the types that are not as in a new database.
func relationTypes(g *graph) ([]string, error) {
	columns := []string{"meaning", "from", "to", "weight", "forward", "backward", "inhibitory", "transitive"}
	text := "SHOW RELATION TYPES YIELD name, origin, " + quoted(columns) + " WHERE origin = 'declared' RETURN name, " + quoted(columns) + " ORDER BY name"
	rows, err := g.list(text)
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	builtIn, err := builtInTypes(g.ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range rows {
		name := r[0].AsString()
		if builtIn[name] {
			out = append(out, "ALTER RELATION TYPE "+quoteName(name)+" "+named(columns, r[1:]))
			continue
		}
		out = append(out, "CREATE RELATION TYPE "+quoteName(name)+" IF NOT EXISTS "+named(columns, r[1:]))
	}
	return out, nil
}

// builtInTypes are the names of the relation types that every database has.
func builtInTypes(ctx context.Context) (names map[string]bool, err error) {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	res, err := db.Query(ctx, "SHOW RELATION TYPES YIELD name RETURN name", nil)
	if err != nil {
		return nil, err
	}
	names = map[string]bool{}
	for _, r := range res.Rows {
		names[r[0].AsString()] = true
	}
	return names, nil
}

// mode is the statement that closes the vocabulary, if it is closed.
func mode(g *graph) ([]string, error) {
	rows, err := g.list("SHOW RELATION TYPES YIELD mode WHERE mode = 'closed' RETURN DISTINCT mode")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return []string{"ALTER RELATION TYPES SET MODE closed"}, nil
}

func quoted(names []string) string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = quoteName(n)
	}
	return strings.Join(out, ", ")
}

// pattern writes what an index or a constraint is about: FOR (n:Label) or FOR
// ()-[n:TYPE]-().
func pattern(entity string, names []string) string {
	inner := "n:" + strings.Join(mapText(names, quoteName), "|")
	if entity == "NODE" {
		return "(" + inner + ")"
	}
	return "()-[" + inner + "]-()"
}

func mapText(list []string, fn func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = fn(s)
	}
	return out
}

func keys(names []string) string {
	return strings.Join(mapText(names, func(s string) string { return "n." + quoteName(s) }), ", ")
}

func indexes(g *graph) ([]string, error) {
	rows, err := g.list("SHOW INDEXES YIELD name, type, entityType, labelsOrTypes, properties, owningConstraint WHERE owningConstraint IS NULL " +
		"RETURN name, type, entityType, labelsOrTypes, properties ORDER BY name")
	var out []string
	for _, r := range rows {
		if r[1].AsString() == "LOOKUP" {
			continue
		}
		kind, on := "INDEX ", " ON ("+keys(texts(r[4]))+")"
		if r[1].AsString() == "FULLTEXT" {
			kind, on = "FULLTEXT INDEX ", " ON EACH ["+keys(texts(r[4]))+"]"
		}
		out = append(out, "CREATE "+kind+quoteName(r[0].AsString())+" IF NOT EXISTS FOR "+pattern(r[2].AsString(), texts(r[3]))+on)
	}
	return out, err
}

func constraints(g *graph) ([]string, error) {
	rows, err := g.list("SHOW CONSTRAINTS YIELD name, type, entityType, labelsOrTypes, properties RETURN name, type, entityType, labelsOrTypes, properties ORDER BY name")
	var out []string
	for _, r := range rows {
		what := "IS UNIQUE"
		switch typ := r[1].AsString(); {
		case strings.Contains(typ, "EXISTENCE"):
			what = "IS NOT NULL"
		case strings.Contains(typ, "KEY"):
			what = "IS NODE KEY"
		case !strings.Contains(typ, "UNIQUE"):
			return nil, fmt.Errorf("a constraint of the type %s cannot be exported", typ)
		}
		names := texts(r[4])
		list := keys(names)
		if len(names) > 1 {
			list = "(" + list + ")"
		}
		out = append(out, "CREATE CONSTRAINT "+quoteName(r[0].AsString())+" IF NOT EXISTS FOR "+pattern(r[2].AsString(), texts(r[3]))+" REQUIRE "+list+" "+what)
	}
	return out, err
}

func pillars(g *graph) ([]string, error) {
	rows, err := g.list("SHOW PILLARS YIELD kind, name, node RETURN kind, name, elementId(node)")
	var out []string
	for _, r := range rows {
		match := "MATCH (n {id: " + quoteText(r[2].AsString()) + "}) DECLARE "
		if r[0].AsString() == "self" {
			out = append(out, match+"SELF n")
			continue
		}
		out = append(out, match+"PILLAR n AS "+quoteText(r[1].AsString()))
	}
	slices.Sort(out)
	return out, err
}
