package query_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"engram/graph/schema"
	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access/model"
)

// TestLongInLists asks for one of 10,000 values, written in the statement and given
// as a parameter, with an index and without, with null among them.
func TestLongInLists(t *testing.T) {
	g := model.New()
	e := query.New(nil)
	mustRun(t, e, g, "UNWIND range(0, 299) AS i CREATE (:N {i: i, s: 'x' + toString(i)})")
	indexed := g.Clone()
	for _, key := range []string{"i", "s"} {
		if err := indexed.CreateSchema(schema.Def{Kind: schema.Range, Owner: "N", Keys: []string{key}}); err != nil {
			t.Fatal(err)
		}
	}
	// Every third number from 100 on: 67 of them are there.
	var numbers, texts []string
	var list []value.Value
	for i := range 10_000 {
		n := 100 + 3*i
		numbers, texts = append(numbers, fmt.Sprint(n)), append(texts, fmt.Sprintf("'x%d'", n))
		list = append(list, value.Int(int64(n)))
	}
	params := map[string]value.Value{
		"list": value.List(list), "holed": value.List(append([]value.Value{value.Null}, list...)),
	}
	for _, c := range []struct {
		what, condition string
		want            int64
	}{
		{"integers", "n.i IN [" + strings.Join(numbers, ", ") + "]", 67},
		{"strings", "n.s IN [" + strings.Join(texts, ", ") + "]", 67},
		{"none of them", "NOT n.i IN [" + strings.Join(numbers, ", ") + "]", 233},
		{"a parameter", "n.i IN $list", 67},
		{"none of a parameter", "NOT n.i IN $list", 233},
		{"null among them", "n.i IN $holed", 67},
		{"not in a list with null is never true", "NOT n.i IN $holed", 0},
		{"null where it is not found", "(n.i IN $holed) IS NULL", 233},
	} {
		for name, g := range map[string]*model.Graph{"without an index": g, "with an index": indexed} {
			p, err := e.Prepare("MATCH (n:N) WHERE "+c.condition+" RETURN count(*) AS c", g)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			res, err := p.Run(context.Background(), g, params, nil)
			if err != nil {
				t.Fatalf("%s: %v", c.what, err)
			}
			if got := res.Rows[0][0].AsInt(); got != c.want {
				t.Errorf("%s, %s: %d rows, want %d", c.what, name, got, c.want)
			}
		}
	}
}

// TestStatementsWithCRLF runs statements whose lines end as on Windows.
func TestStatementsWithCRLF(t *testing.T) {
	g := model.New()
	e := query.New(nil)
	mustRun(t, e, g, "// a comment\r\nCREATE (:N {t: 'one\r\ntwo'}) /* and\r\nanother */\r\n")
	res := mustRun(t, e, g, "MATCH (n:N)\r\nWHERE n.t CONTAINS 'one' // why\r\nRETURN\r\n  size(n.t) AS `a\r\nb`,\r\n  n.t\r\n")
	if want := "[a\r\nb n.t]"; fmt.Sprint(res.Columns) != want {
		t.Errorf("columns %q, want %q", res.Columns, want)
	}
	if n := res.Rows[0][0].AsInt(); n != 8 {
		t.Errorf("the text has %d characters: line ends within quotes are kept", n)
	}
	_, err := e.Prepare("MATCH (n)\r\n\r\nRETURN m", g)
	if err == nil || !strings.Contains(err.Error(), "line 3, column 8") {
		t.Errorf("got %v", err)
	}
}
