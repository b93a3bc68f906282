package engram_test

import (
	"context"
	"errors"
	"fmt"

	"engram"
)

func Example() {
	ctx := context.Background()
	db, err := engram.OpenMemory(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	_, err = db.Query(ctx, "CREATE (:Person {id: $id, name: $name})-[:LIVES_IN]->(:City {name: 'Lisbon'})",
		map[string]any{"id": "ada", "name": "Ada"})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := db.Query(ctx, "MATCH (p:Person)-[:LIVES_IN]->(c) RETURN p.name AS name, c.name AS city", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Columns)
	for _, row := range res.Rows {
		fmt.Println(row[0].AsString(), row[1].AsString())
	}
	// Output:
	// [name city]
	// Ada Lisbon
}

func ExampleDB_Update() {
	ctx := context.Background()
	db, err := engram.OpenMemory(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	err = db.Update(ctx, func(tx *engram.Tx) error {
		for _, name := range []string{"a", "b"} {
			if _, err := tx.Query(ctx, "CREATE (:N {id: $id})", map[string]any{"id": name}); err != nil {
				return err
			}
		}
		_, err := tx.Query(ctx, "MATCH (a {id: 'a'}), (b {id: 'b'}) CREATE (a)-[:NEXT]->(b)", nil)
		return err
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := db.Query(ctx, "MATCH (:N)-[r]->(n) RETURN r, n.id", nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(res.Rows[0][0], res.Rows[0][1])
	// Output:
	// [:NEXT] 'b'
}

func ExampleError() {
	db, err := engram.OpenMemory(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	_, err = db.Query(context.Background(), "MATCH (n) RETURN m", nil)
	var e *engram.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Detail, e.Line, e.Column)
	}
	// Output:
	// SyntaxError UndefinedVariable 1 18
}
