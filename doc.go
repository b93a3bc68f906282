// Package engram is an embedded graph database for long-term memory, with a
// query language of its own, EQL: openCypher with words for remembering and
// recalling.
//
//	db, err := engram.Open("memory", &engram.Options{Create: true})
//	if err != nil {
//		return err
//	}
//	defer db.Close()
//	_, err = db.Query(ctx, "CREATE (:Person {id: $id, name: $name})",
//		map[string]any{"id": "ada", "name": "Ada"})
//	res, err := db.Query(ctx, "MATCH (p:Person) RETURN p.name", nil)
//	for _, row := range res.Rows {
//		fmt.Println(row[0].AsString())
//	}
//
// A statement is a transaction of its own unless it runs in Update, View or
// Begin. What Query returned is durable. Query holds its rows in memory; DB.Rows
// is for results that may be larger. Errors are *Error values with stable
// codes.
package engram
