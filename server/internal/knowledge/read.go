package knowledge

import (
	"context"

	"engram"
)

const (
	// entityRows returns entities e with their observations, in the order in which
	// they were made.
	entityRows = ` OPTIONAL MATCH (e)-[:OBSERVED]->(o:Observation) WHERE ` + active + `
		WITH e, o ORDER BY id(o)
		WITH e, collect(o.content) AS observations`
	entityColumns = ` RETURN e.name AS name, e.entityType AS type, observations ORDER BY e.created_at, id(e)`
	// relationWhere leaves out what was learned or associated, unless it was made as a
	// relation.
	relationWhere = ` WHERE r.relation OR NOT type(r) IN ['ACTIVATES', 'RELATED']`
	relationRows  = ` WITH DISTINCT a, r, b ORDER BY id(r) RETURN a.name, b.name, type(r)`
)

// Read returns all that is known.
func Read(ctx context.Context, q Querier) (Graph, error) {
	g, err := entities(ctx, q, "MATCH (e:Entity)"+entityRows+entityColumns, nil)
	if err != nil {
		return g, err
	}
	err = g.relations(ctx, q, "MATCH (a:Entity|EntityName)-[r]->(b:Entity|EntityName)"+relationWhere+relationRows, nil)
	return g, err
}

// Search returns the entities whose name, type or observations contain a text, in
// any case, with all their relations.
func Search(ctx context.Context, q Querier, text string) (Graph, error) {
	g, err := entities(ctx, q, "WITH toLower($text) AS text MATCH (e:Entity) WITH text, e"+` OPTIONAL MATCH (e)-[:OBSERVED]->(o:Observation) WHERE `+active+`
		WITH text, e, o ORDER BY id(o)
		WITH text, e, collect(o.content) AS observations
		WHERE toLower(e.name) CONTAINS text OR toLower(e.entityType) CONTAINS text OR any(c IN observations WHERE toLower(c) CONTAINS text)`+
		entityColumns, map[string]any{"text": text})
	if err != nil {
		return g, err
	}
	return g, g.around(ctx, q)
}

// Open returns the entities with these names, with all their relations.
func Open(ctx context.Context, q Querier, names []string) (Graph, error) {
	var list []string
	for _, n := range names {
		list = append(list, ID(n))
	}
	g, err := entities(ctx, q, "UNWIND $ids AS id WITH DISTINCT id MATCH (e:Entity {id: id}) WITH e"+entityRows+entityColumns, map[string]any{"ids": list})
	if err != nil {
		return g, err
	}
	return g, g.around(ctx, q)
}

func entities(ctx context.Context, q Querier, statement string, params map[string]any) (Graph, error) {
	g := Graph{[]Entity{}, []Relation{}}
	res, err := q.Query(ctx, statement, params)
	if err != nil {
		return g, err
	}
	for _, r := range res.Rows {
		e := Entity{text(r[0]), text(r[1]), []string{}}
		for _, c := range r[2].AsList() {
			e.Observations = append(e.Observations, text(c))
		}
		g.Entities = append(g.Entities, e)
	}
	return g, nil
}

// text is a text, also where somebody stored something else.
func text(v engram.Value) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == engram.KindString:
		return v.AsString()
	}
	return string(v.AppendText(nil))
}

// around adds the relations of the graph's entities.
func (g *Graph) around(ctx context.Context, q Querier) error {
	var list []string
	for _, e := range g.Entities {
		list = append(list, ID(e.Name))
	}
	if list == nil {
		return nil
	}
	return g.relations(ctx, q, `UNWIND $ids AS id MATCH (e {id: id})-[r]-(x:Entity|EntityName)`+relationWhere+
		` WITH startNode(r) AS a, r, endNode(r) AS b`+relationRows, map[string]any{"ids": list})
}

func (g *Graph) relations(ctx context.Context, q Querier, statement string, params map[string]any) error {
	res, err := q.Query(ctx, statement, params)
	if err != nil {
		return err
	}
	for _, r := range res.Rows {
		g.Relations = append(g.Relations, Relation{text(r[0]), text(r[1]), text(r[2])})
	}
	return nil
}
