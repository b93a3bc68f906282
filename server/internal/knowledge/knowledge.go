// Package knowledge keeps a knowledge graph as the reference memory server of the
// Model Context Protocol has it: entities with observations, and relations between
// them. In the graph they are
//
//	(:Entity {id: 'entity:NAME', name, entityType})
//	(:Entity)-[:OBSERVED]->(:Memory:Observation {content})
//	(:Entity)-[:`RELATION TYPE` {relation: true}]->(:Entity)
//
// so that recall finds an observation by its words and what is related to it. A
// relation may name an entity that does not exist: its end is then (:EntityName).
package knowledge

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"engram"
)

// Querier runs statements of one transaction.
type Querier interface {
	Query(ctx context.Context, statement string, params map[string]any) (*engram.Result, error)
}

// Entity is something that is known.
type Entity struct {
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
}

// Relation leads from one entity to another.
type Relation struct {
	From         string `json:"from"`
	To           string `json:"to"`
	RelationType string `json:"relationType"`
}

// Graph is a part of what is known. Its lists are never nil.
type Graph struct {
	Entities  []Entity   `json:"entities"`
	Relations []Relation `json:"relations"`
}

// Observations are texts about an entity.
type Observations struct {
	EntityName string
	Contents   []string
}

// NoEntityError is about an entity that is not there.
type NoEntityError struct{ Name string }

// Error says so as the reference server does.
func (e *NoEntityError) Error() string { return "Entity with name " + e.Name + " not found" }

// maxName is how many bytes of a name an id holds.
const maxName = 400

// ID is the id of the entity with a name.
func ID(name string) string {
	if len(name) <= maxName {
		return "entity:" + name
	}
	sum := sha256.Sum256([]byte(name))
	return "entity:" + strings.ToValidUTF8(name[:maxName], "") + "~" + hex.EncodeToString(sum[:8])
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

type rows = []map[string]any

// CreateEntities makes the entities whose names are new and returns them.
func CreateEntities(ctx context.Context, q Querier, entities []Entity) ([]Entity, error) {
	var list rows
	first := map[string]bool{}
	for i, e := range entities {
		if id := ID(e.Name); !first[id] {
			first[id] = true
			list = append(list, map[string]any{"i": i, "id": id, "name": e.Name, "type": e.EntityType})
		}
	}
	res, err := q.Query(ctx, "UNWIND $rows AS row OPTIONAL MATCH (e:Entity {id: row.id}) WITH row, e WHERE e IS NULL RETURN row.i ORDER BY row.i",
		map[string]any{"rows": list})
	if err != nil {
		return nil, err
	}
	created := []Entity{}
	fresh := map[int]bool{}
	var observed rows
	for _, r := range res.Rows {
		e := entities[r[0].AsInt()]
		fresh[int(r[0].AsInt())] = true
		created = append(created, e)
		observed = append(observed, observations(e.Name, e.Observations)...)
	}
	list = slices.DeleteFunc(list, func(row map[string]any) bool { return !fresh[row["i"].(int)] })
	_, err = q.Query(ctx, `UNWIND $rows AS row MERGE (e {id: row.id})
		REMOVE e:EntityName SET e:Entity, e.name = row.name, e.entityType = row.type, e.created_at = datetime()`, map[string]any{"rows": list})
	if err != nil {
		return nil, err
	}
	return created, observe(ctx, q, observed)
}

func observations(name string, contents []string) rows {
	var out rows
	for _, c := range contents {
		out = append(out, map[string]any{"id": ID(name), "content": c})
	}
	return out
}

func observe(ctx context.Context, q Querier, list rows) error {
	if len(list) == 0 {
		return nil
	}
	_, err := q.Query(ctx, `UNWIND $rows AS row MATCH (e:Entity {id: row.id})
		CREATE (e)-[:OBSERVED]->(:Memory:Observation {content: row.content, created_at: datetime(), tier: 'Working', layer: 1,
			importance: 0.5, confidence: 1.0, status: 'active', tags: [], origin: 'model'})`, map[string]any{"rows": list})
	return err
}

// CreateRelations makes the relations that are new and returns them.
func CreateRelations(ctx context.Context, q Querier, relations []Relation) ([]Relation, error) {
	created := []Relation{}
	known := map[Relation]bool{}
	var ends rows
	for _, r := range relations {
		if strings.TrimSpace(r.RelationType) == "" {
			return nil, fmt.Errorf("the relation from %q to %q has no type", r.From, r.To)
		}
		for _, name := range []string{r.From, r.To} {
			ends = append(ends, map[string]any{"id": ID(name), "name": name})
		}
	}
	for _, group := range byType(relations) {
		found, err := related(ctx, q, group)
		if err != nil {
			return nil, err
		}
		for _, r := range found {
			known[r] = true
		}
	}
	for _, r := range relations {
		if !known[r] {
			known[r] = true
			created = append(created, r)
		}
	}
	if len(created) == 0 {
		return created, nil
	}
	if _, err := q.Query(ctx, "UNWIND $rows AS row MERGE (e {id: row.id}) ON CREATE SET e:EntityName, e.name = row.name", map[string]any{"rows": ends}); err != nil {
		return nil, err
	}
	for _, group := range byType(created) {
		_, err := q.Query(ctx, "UNWIND $rows AS row MATCH (a {id: row.from}), (b {id: row.to}) CREATE (a)-[:"+quoted(group[0].RelationType)+" {relation: true}]->(b)",
			map[string]any{"rows": ids(group)})
		if err != nil {
			return nil, err
		}
	}
	return created, nil
}

// byType cuts relations into runs of one type, so that their order stays.
func byType(relations []Relation) [][]Relation {
	var out [][]Relation
	for i, r := range relations {
		if i == 0 || r.RelationType != relations[i-1].RelationType {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], r)
	}
	return out
}

func ids(relations []Relation) rows {
	out := rows{}
	for i, r := range relations {
		out = append(out, map[string]any{"i": i, "from": ID(r.From), "to": ID(r.To)})
	}
	return out
}

// related returns those relations of one type that are there.
func related(ctx context.Context, q Querier, group []Relation) ([]Relation, error) {
	res, err := q.Query(ctx, "UNWIND $rows AS row MATCH (a {id: row.from})-[r:"+quoted(group[0].RelationType)+"]->(b {id: row.to}) RETURN DISTINCT row.i",
		map[string]any{"rows": ids(group)})
	if err != nil {
		return nil, err
	}
	var out []Relation
	for _, r := range res.Rows {
		out = append(out, group[r[0].AsInt()])
	}
	return out, nil
}

// AddObservations adds texts that an entity does not have yet and returns those, an
// item for each of list. An entity that is not there is a *NoEntityError.
func AddObservations(ctx context.Context, q Querier, list []Observations) ([]Observations, error) {
	has := map[string]map[string]bool{}
	out := []Observations{}
	var add rows
	for _, o := range list {
		if has[o.EntityName] == nil {
			contents, err := observedOf(ctx, q, o.EntityName)
			if err != nil {
				return nil, err
			}
			has[o.EntityName] = contents
		}
		fresh := []string{}
		for _, c := range o.Contents {
			if !has[o.EntityName][c] {
				fresh = append(fresh, c)
			}
		}
		for _, c := range fresh {
			has[o.EntityName][c] = true
		}
		out = append(out, Observations{o.EntityName, fresh})
		add = append(add, observations(o.EntityName, fresh)...)
	}
	return out, observe(ctx, q, add)
}

func observedOf(ctx context.Context, q Querier, name string) (map[string]bool, error) {
	res, err := q.Query(ctx, "MATCH (e:Entity {id: $id}) RETURN [(e)-[:OBSERVED]->(o) WHERE "+active+" | o.content]", map[string]any{"id": ID(name)})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, &NoEntityError{name}
	}
	has := map[string]bool{}
	for _, c := range res.Rows[0][0].AsList() {
		has[c.AsString()] = true
	}
	return has, nil
}

// active says of an observation that it was not forgotten or superseded.
const active = "coalesce(o.status, 'active') = 'active'"

// DeleteEntities deletes entities with their observations and relations. Names that
// nothing has are passed over.
func DeleteEntities(ctx context.Context, q Querier, names []string) error {
	var list []string
	for _, n := range names {
		list = append(list, ID(n))
	}
	for _, statement := range []string{
		"UNWIND $ids AS id MATCH (e:Entity {id: id})-[:OBSERVED]->(o:Observation) DETACH DELETE o",
		"UNWIND $ids AS id MATCH (e:Entity|EntityName {id: id}) DETACH DELETE e",
	} {
		if _, err := q.Query(ctx, statement, map[string]any{"ids": list}); err != nil {
			return err
		}
	}
	return sweep(ctx, q)
}

// sweep deletes names that no relation has any more.
func sweep(ctx context.Context, q Querier) error {
	_, err := q.Query(ctx, "MATCH (e:EntityName) WHERE NOT EXISTS { (e)--() } DELETE e", nil)
	return err
}

// DeleteObservations deletes texts of entities. What is not there is passed over.
func DeleteObservations(ctx context.Context, q Querier, list []Observations) error {
	var out rows
	for _, o := range list {
		out = append(out, map[string]any{"id": ID(o.EntityName), "contents": append([]string{}, o.Contents...)})
	}
	_, err := q.Query(ctx, "UNWIND $rows AS row MATCH (e:Entity {id: row.id})-[:OBSERVED]->(o:Observation) WHERE o.content IN row.contents DETACH DELETE o",
		map[string]any{"rows": out})
	return err
}

// DeleteRelations deletes relations. What is not there is passed over.
func DeleteRelations(ctx context.Context, q Querier, relations []Relation) error {
	for _, group := range byType(relations) {
		if group[0].RelationType == "" {
			continue
		}
		_, err := q.Query(ctx, "UNWIND $rows AS row MATCH (a {id: row.from})-[r:"+quoted(group[0].RelationType)+"]->(b {id: row.to}) DELETE r",
			map[string]any{"rows": ids(group)})
		if err != nil {
			return err
		}
	}
	return sweep(ctx, q)
}
