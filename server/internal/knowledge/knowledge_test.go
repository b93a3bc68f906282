package knowledge_test

import (
	"context"
	"strings"
	"testing"

	"engram"
	"engram/server/internal/knowledge"
)

func open(t *testing.T) (*engram.DB, func(context.Context, func(knowledge.Querier) error) error) {
	t.Helper()
	db, err := engram.OpenMemory(&engram.Options{LearnEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db, func(ctx context.Context, fn func(knowledge.Querier) error) error {
		return db.Update(ctx, func(tx *engram.Tx) error { return fn(tx) })
	}
}

// TestAgain holds that what comes in again changes nothing, and of what has more only
// that is added.
func TestAgain(t *testing.T) {
	db, update := open(t)
	entities := []knowledge.Entity{{Name: "Ann", EntityType: "person", Observations: []string{"Likes tea", "Likes tea"}}, {Name: "Acme", EntityType: "firm"}}
	relations := []knowledge.Relation{{From: "Ann", To: "Acme", RelationType: "works at"}, {From: "Ann", To: "Nowhere", RelationType: "lives in"}}
	more := []knowledge.Observations{{EntityName: "Ann", Contents: []string{"Likes tea", "Likes trams"}}}
	for i, want := range [][3]int{{2, 2, 1}, {0, 0, 0}} {
		var got [3]int
		err := update(t.Context(), func(q knowledge.Querier) error {
			made, err := knowledge.CreateEntities(t.Context(), q, entities)
			if err != nil {
				return err
			}
			joined, err := knowledge.CreateRelations(t.Context(), q, relations)
			if err != nil {
				return err
			}
			added, err := knowledge.AddObservations(t.Context(), q, more)
			got = [3]int{len(made), len(joined), len(added[0].Contents)}
			return err
		})
		if err != nil || got != want {
			t.Errorf("time %d: entities, relations and observations %v, %v; want %v", i, got, err, want)
		}
	}
	g, err := knowledge.Read(t.Context(), db)
	if err != nil || len(g.Entities) != 2 || strings.Join(g.Entities[0].Observations, "|") != "Likes tea|Likes tea|Likes trams" || len(g.Relations) != 2 || g.Relations[1].To != "Nowhere" {
		t.Errorf("%+v, %v", g, err)
	}
}

// TestNames holds that names that are strange, long or alike stay apart.
func TestNames(t *testing.T) {
	db, update := open(t)
	names := []string{"a", "A", "a ", "`)-[:x", "entity:a", strings.Repeat("é", 5000), strings.Repeat("é", 5000) + "x", "日本語", "a\nb", ""}
	var g knowledge.Graph
	for _, n := range names {
		g.Entities = append(g.Entities, knowledge.Entity{Name: n, EntityType: n, Observations: []string{n + "!"}})
		g.Relations = append(g.Relations, knowledge.Relation{From: n, To: "a", RelationType: "`x` " + n[:min(len(n), 10)]})
	}
	err := update(t.Context(), func(q knowledge.Querier) error {
		if _, err := knowledge.CreateEntities(t.Context(), q, g.Entities); err != nil {
			return err
		}
		_, err := knowledge.CreateRelations(t.Context(), q, g.Relations)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range names {
		got, err := knowledge.Open(t.Context(), db, []string{n})
		if err != nil || len(got.Entities) != 1 || got.Entities[0].Name != n || got.Entities[0].Observations[0] != n+"!" {
			t.Errorf("%d: %+v, %v", i, got, err)
		}
	}
	all, err := knowledge.Read(t.Context(), db)
	if err != nil || len(all.Entities) != len(names) || len(all.Relations) != len(names) {
		t.Errorf("%d entities, %d relations, %v", len(all.Entities), len(all.Relations), err)
	}
}
