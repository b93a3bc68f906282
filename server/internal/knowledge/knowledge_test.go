package knowledge_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"engram"
	"engram/server/internal/knowledge"
)

const file = `{"type":"entity","name":"Ann","entityType":"person","observations":["Likes tea","Likes tea"]}

{"type":"entity","name":"Acme","entityType":"firm","observations":[]}
{"type":"relation","from":"Ann","to":"Acme","relationType":"works at"}
{"type":"relation","from":"Ann","to":"Nowhere","relationType":"lives in"}
`

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

// TestFile holds that a file of the reference server comes in whole, and again
// changes nothing.
func TestFile(t *testing.T) {
	db, update := open(t)
	g, err := knowledge.ReadFile(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []knowledge.Counts{{2, 2, 2, 2, 2, 2}, {2, 0, 2, 0, 2, 0}} {
		c, err := knowledge.Merge(t.Context(), g, update)
		if err != nil || c != want {
			t.Errorf("time %d: %+v, %v", i, c, err)
		}
	}
	g.Entities[0].Observations = append(g.Entities[0].Observations, "Likes trams")
	c, err := knowledge.Merge(t.Context(), g, update)
	if err != nil || c.NewObservations != 1 || c.NewEntities != 0 {
		t.Errorf("with more: %+v, %v", c, err)
	}
	again, err := knowledge.Read(t.Context(), db)
	if err != nil || len(again.Entities) != 2 || strings.Join(again.Entities[0].Observations, "|") != "Likes tea|Likes tea|Likes trams" || len(again.Relations) != 2 || again.Relations[1].To != "Nowhere" {
		t.Errorf("%+v, %v", again, err)
	}
}

func TestFileErrors(t *testing.T) {
	for text, says := range map[string]string{
		"{}": "line 1: want", file + "x": "line 6: this is no JSON object", "[]": "line 1: this is no JSON object",
		`{"type":"entity","name":5}`: "line 1: this is no JSON object", `{"type":"relation","from":"a","to":"b"}`: "line 1: want",
		"\n" + `{"type":"entity","name":"` + strings.Repeat("x", 17<<20) + `"}`: "line 2: it is longer than 16 MiB",
	} {
		_, err := knowledge.ReadFile(strings.NewReader(text))
		var line *knowledge.LineError
		if !errors.As(err, &line) || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("%.40q: %v", text, err)
		}
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
	if _, err := knowledge.Merge(t.Context(), g, update); err != nil {
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
