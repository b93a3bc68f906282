package query_test

import (
	"context"
	"fmt"
	"testing"

	"engram/query"
	"engram/query/result"
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

// Every line of a profile is measured, and a line's hits are its own.
func TestProfileOfEveryLine(t *testing.T) {
	g := clique(t, 4)
	p, err := query.New(nil).Prepare("PROFILE MATCH (a) WHERE EXISTS { (a)-->(b) WHERE b.i > a.i } "+
		"CALL { WITH a MATCH (a)-->(c) RETURN c UNION MATCH (c {i: 1}) RETURN c } RETURN a.i AS i, c "+
		"UNION ALL MATCH (a) RETURN COLLECT { MATCH (a)-->(c) RETURN c.i } AS i, a AS c", g)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Run(context.Background(), g, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]int64{}
	var walk func(*result.Plan)
	walk = func(op *result.Plan) {
		if rows[op.Operator] = append(rows[op.Operator], op.Rows); !op.Measured || op.Hits < 0 || op.Time < 0 {
			t.Errorf("%s: measured is %v, %d hits, %v", op.Operator, op.Measured, op.Hits, op.Time)
		}
		for _, in := range op.Inputs {
			walk(in)
		}
	}
	walk(res.Plan)
	// Three nodes have a greater one. Each has three neighbours, and node 1 is not
	// its own; node 1 itself has three and itself.
	if got := fmt.Sprint(rows["ProduceResults"], rows["Union"], rows["CallSubquery"], rows["Collect"]); got != "[14] [14 10] [10] [12]" {
		t.Errorf("rows %s of\n%v", got, res.Plan)
	}
	if res.Plan.Memory == 0 || len(res.Rows) != 14 {
		t.Errorf("%d rows, %d bytes", len(res.Rows), res.Plan.Memory)
	}
}

// TestSemiJoinLooksForOneRow counts the rows that are made to find one.
func TestSemiJoinLooksForOneRow(t *testing.T) {
	g := clique(t, 200)
	profile := func(text string) map[string]*result.Plan {
		t.Helper()
		lines := map[string]*result.Plan{}
		var walk func(*result.Plan)
		walk = func(op *result.Plan) {
			lines[op.Operator] = op
			for _, in := range op.Inputs {
				walk(in)
			}
		}
		walk(mustRun(t, query.New(nil), g, "PROFILE "+text).Plan)
		return lines
	}
	for _, c := range []struct {
		text, join string
		kept       int64
	}{
		{"MATCH (a:N) WHERE EXISTS { (a)-->(b) WHERE b.i > 0 } RETURN count(a)", "SemiJoin", 200},
		{"MATCH (a:N) WHERE NOT EXISTS { (a)-->(b) WHERE b.i > 0 } RETURN count(a)", "AntiSemiJoin", 0},
		{"MATCH (a:N) WHERE COUNT { (a)-->(b) WHERE b.i > 0 } > 0 RETURN count(a)", "SemiJoin", 200},
		{"MATCH (a:N) RETURN sum(CASE WHEN EXISTS { (a)-->(b) WHERE b.i > 0 } THEN 1 END)", "Exists", 200},
	} {
		lines := profile(c.text)
		if join := lines[c.join]; join == nil || join.Rows != c.kept || lines["Expand"].Rows != 200 {
			t.Errorf("%s: %v", c.text, lines["ProduceResults"])
		}
	}
	// Where the first rows don't do, batches grow, so that many rows cost few calls.
	last := profile("MATCH (a:N) WHERE EXISTS { (a)-->(b) WHERE b.i = 200 OR b.i = 199 } RETURN count(a)")
	if rows := last["Expand"].Rows; last["SemiJoin"].Rows != 200 || rows < 200*190 {
		t.Errorf("%v", last["ProduceResults"])
	}
	// Nothing but the number of edges is read for a pattern without conditions.
	if lines := profile("MATCH (a:N) WHERE EXISTS { (a)-->() } RETURN COUNT { (a)<--() } AS c"); lines["Expand"] != nil || lines["Degree"].Rows != 200*199 {
		t.Errorf("%v", lines["ProduceResults"])
	}
}
