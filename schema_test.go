package engram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"engram"
)

var indexStatements = []string{
	"CREATE INDEX FOR (n:Person) ON (n.name)",
	"CREATE INDEX FOR (n:Person) ON (n.city, n.age)",
	"CREATE INDEX FOR (n:`Straße 🛣️`) ON (n.`größe ``in`` m`)",
	"CREATE INDEX FOR ()-[r:KNOWS]-() ON (r.since)",
	"CREATE CONSTRAINT FOR (c:City) REQUIRE c.name IS UNIQUE",
}

// people fills a database, half of it before fn and half of it afterwards.
func people(t *testing.T, db *engram.DB, fn func()) {
	for half := range 2 {
		query(t, db, `UNWIND range($from, $from + 999) AS i
			CREATE (p:Person {name: 'p' + toString(i), age: i % 90, city: 'c' + toString(i % 20)})`,
			map[string]any{"from": 1000 * half})
		query(t, db, "UNWIND range($from, $from + 9) AS i CREATE (:City {name: 'c' + toString(i)})", map[string]any{"from": 10 * half})
		query(t, db, "UNWIND range(1, 50) AS i CREATE (:`Straße 🛣️` {`größe ``in`` m`: i})", nil)
		query(t, db, `MATCH (a:Person), (b:Person) WHERE a.age = 89 AND b.age = 88 AND NOT EXISTS { (a)-[:KNOWS]->() }
			CREATE (a)-[:KNOWS {since: a.age + b.age}]->(b) SET b.age = null`, nil)
		if half == 0 {
			fn()
		}
	}
}

func manyNames() []any {
	names := make([]any, 10_000)
	for i := range names {
		names[i] = fmt.Sprint("p", 7*i)
	}
	return names
}

// TestIndexesChangeNoAnswer runs the same statements with and without indexes.
func TestIndexesChangeNoAnswer(t *testing.T) {
	plain, indexed := memory(t, nil), memory(t, nil)
	people(t, plain, func() {})
	people(t, indexed, func() {
		for _, text := range indexStatements {
			query(t, indexed, text, nil)
		}
	})
	params := map[string]any{"name": "p77", "names": manyNames(), "none": nil, "id": "p5"}
	for _, text := range []string{
		"MATCH (n:Person {name: $name}) RETURN n.age",
		"MATCH (n:Person {name: $none}) RETURN n.age",
		"MATCH (n:Person) WHERE n.name IN [$id] RETURN n.age",
		"MATCH (n:Person) WHERE n.name IN $names RETURN n.name, n.age",
		"MATCH (n:Person) WHERE n.city = 'c3' AND n.age > 80 RETURN n.name",
		"MATCH (n:Person {city: 'c4'}) RETURN count(*), sum(n.age)",
		"MATCH (n:Person) WHERE n.name STARTS WITH 'p19' RETURN n.name",
		"MATCH (n:Person) WHERE 'p19' <= n.name < 'p2' RETURN n.name",
		"MATCH (n:`Straße 🛣️`) WHERE n.`größe ``in`` m` >= 49 RETURN n",
		"MATCH (p:Person {name: 'p3'}), (c:City) WHERE c.name = p.city RETURN c.name",
		"MATCH (c:City), (p:Person) WHERE c.name = p.city AND p.age = 7 RETURN p.name, c.name",
		"MATCH (a)-[r:KNOWS {since: 177}]->(b) RETURN a.name, b.name",
		"UNWIND $names AS name MATCH (n:Person {name: name}) RETURN count(*)",
		"UNWIND range(15, 25) AS i MERGE (c:City {name: 'c' + toString(i)}) RETURN c.name",
		"MATCH (n:Person) WHERE n.name STARTS WITH 'p1' SET n.city = 'moved' RETURN count(*)",
		"MATCH (n:Person {city: 'moved'}) RETURN n.name",
		"MATCH (n:Person {city: 'moved'}) WHERE n.age < 40 DETACH DELETE n RETURN count(*)",
		"MATCH (n:Person {city: 'moved'}) RETURN n.name",
	} {
		a, b := query(t, plain, text, params), query(t, indexed, text, params)
		// Ids differ, but no row shows one.
		if got, want := fmt.Sprint(b.Columns, b.Rows, b.Counters), fmt.Sprint(a.Columns, a.Rows, a.Counters); got != want {
			t.Errorf("%s\nwith indexes:\n%.2000s\nwithout:\n%.2000s", text, got, want)
		}
	}
	if r, err := indexed.Check(context.Background()); err != nil || !r.OK() {
		t.Errorf("%v, %v", err, r)
	}
	plan := query(t, indexed, "EXPLAIN MATCH (n:Person) WHERE n.name IN $names RETURN n", nil).Plan.String()
	if !strings.Contains(plan, "IndexSeek") {
		t.Errorf("the index is not used:\n%s", plan)
	}
}

func TestConstraintStatements(t *testing.T) {
	db := memory(t, nil)
	ctx := context.Background()
	query(t, db, "CREATE (:User {mail: 'a@x'}), (:User {mail: 'b@x'})", nil)
	res := query(t, db, "CREATE CONSTRAINT one_mail FOR (u:User) REQUIRE u.mail IS UNIQUE", nil)
	if res.Counters.ConstraintsAdded != 1 || res.Counters.IndexesAdded != 0 {
		t.Errorf("counters: %+v", res.Counters)
	}
	query(t, db, "CREATE CONSTRAINT FOR (u:User) REQUIRE u.mail IS NOT NULL", nil)
	for text, words := range map[string]string{
		"CREATE (:User {mail: 'a@x'})":                                        "one_mail",
		"CREATE (:User {name: 'Ada'})":                                        "no property mail",
		"MATCH (u:User {mail: 'b@x'}) SET u.mail = 'a@x'":                     "mail = 'a@x'",
		"MATCH (u:User {mail: 'b@x'}) REMOVE u.mail":                          "no property mail",
		"UNWIND ['z', 'z'] AS m CREATE (:User {mail: m})":                     "mail = 'z'",
		"CREATE CONSTRAINT one_mail FOR (u:User) REQUIRE u.x IS UNIQUE":       "one_mail",
		"CREATE CONSTRAINT FOR (u:User) REQUIRE u.name IS NOT NULL":           "no property name",
		"CREATE CONSTRAINT FOR ()-[r:KNOWS]-() REQUIRE (r.a, r.mail) IS KEYS": "UNIQUE",
	} {
		_, err := db.Query(ctx, text, nil)
		var e *engram.Error
		if !errors.As(err, &e) || !strings.Contains(e.Error(), words) {
			t.Errorf("%s: %v, want an error with %q", text, err, words)
		}
		if err != nil && strings.HasPrefix(text, "CREATE (") && !engram.IsCode(err, engram.CodeConstraintViolated) {
			t.Errorf("%s: %v", text, err)
		}
	}
	// A MERGE finds the node by its index, and swapping values is fine.
	query(t, db, "MERGE (u:User {mail: 'a@x'}) SET u.seen = true", nil)
	query(t, db, "MATCH (a:User {mail: 'a@x'}), (b:User {mail: 'b@x'}) SET a.mail = 'b@x', b.mail = 'a@x'", nil)
	if n := number(t, db, "MATCH (u:User {mail: 'b@x', seen: true}) RETURN count(*)"); n != 1 {
		t.Errorf("%d users were swapped", n)
	}
	query(t, db, "DROP CONSTRAINT one_mail", nil)
	query(t, db, "CREATE (:User {mail: 'a@x'})", nil)
	if _, err := db.Query(ctx, "CREATE CONSTRAINT FOR (u:User) REQUIRE u.mail IS UNIQUE", nil); !engram.IsCode(err, engram.CodeConstraintViolated) {
		t.Errorf("a constraint over two users with one mail: %v", err)
	}
	if n := number(t, db, "SHOW CONSTRAINTS YIELD name RETURN count(*)"); n != 1 {
		t.Errorf("%d constraints", n)
	}
}

// TestSchemaIsTransactional: what a rolled back transaction made is not there,
// and plans made with it are not used.
func TestSchemaIsTransactional(t *testing.T) {
	db := memory(t, nil)
	ctx := context.Background()
	query(t, db, "UNWIND range(1, 100) AS i CREATE (:N {a: i % 10, b: i})", nil)
	const text = "MATCH (n:N) WHERE n.a = 3 RETURN count(n)"
	for _, key := range []string{"a", "b"} {
		tx, err := db.Begin(ctx, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []string{"CREATE INDEX ix FOR (n:N) ON (n." + key + ")", "CREATE (:N {a: 3})", text} {
			res, err := tx.Query(ctx, s, nil)
			if err != nil {
				t.Fatalf("%s: %v", s, err)
			}
			if s == text && res.Rows[0][0].AsInt() != 11 {
				t.Errorf("with an index on %s: %v", key, res.Rows)
			}
		}
		tx.Rollback()
		if n := number(t, db, text); n != 10 {
			t.Errorf("%d nodes", n)
		}
		if n := number(t, db, "SHOW INDEXES YIELD name RETURN count(*)"); n != 0 {
			t.Errorf("%d indexes are left", n)
		}
	}
}
