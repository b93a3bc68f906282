package query_test

import (
	"context"
	"testing"

	"engram/query"
)

// PROFILE tells of each operator the rows it yields, the work it does itself and
// the memory that is held.
func TestProfile(t *testing.T) {
	g := clique(t, 12)
	p, err := query.New(nil).Prepare("PROFILE MATCH (a)-->(b) WITH a, b ORDER BY b.i RETURN a.i AS i, count(*) AS c", g)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(context.Background(), g, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows, memory, hits := map[string]int64{}, map[string]int64{}, map[string]int64{}
	for op := res.Plan; op != nil; {
		rows[op.Operator], memory[op.Operator], hits[op.Operator] = op.Rows, op.Memory, op.Hits
		if len(op.Inputs) == 0 {
			break
		}
		op = op.Inputs[0]
	}
	edges := rows["Expand"]
	if rows["NodeScan"] != 12 || edges == 0 || rows["Sort"] != edges || rows["Aggregate"] != 12 {
		t.Errorf("rows %v", rows)
	}
	// The sort holds a key and a column of every edge.
	if memory["Sort"] < edges*40 || memory["NodeScan"] != 0 || memory["Aggregate"] < memory["Sort"] {
		t.Errorf("memory %v", memory)
	}
	if hits["NodeScan"] < 12 || hits["Expand"] < edges || hits["NodeScan"] > 40 {
		t.Errorf("hits %v", hits)
	}
}
