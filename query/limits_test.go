package query_test

import (
	"fmt"
	"strings"
	"testing"

	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/fault"
)

// TestStatementsTooLarge checks that statements which would take planning too long
// are refused in the words of what is too much.
func TestStatementsTooLarge(t *testing.T) {
	matches := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "MATCH (n%d) ", i)
		}
		return b.String() + "RETURN 1"
	}
	g, e := model.New(), query.New(nil)
	for _, c := range []struct{ text, says string }{
		{"RETURN 1 AS a" + strings.Repeat(" UNION RETURN 1 AS a", 5_000), "a UNION has 5001 parts; at most 5000 are allowed"},
		{strings.Repeat("WITH 1 AS a ", 20_000) + "RETURN a", "which is too much for one"},
		{matches(10_000), "the statement has over 1674 clauses with 1674 variables"},
		{"MATCH (a" + strings.Repeat(":L", 10_000) + ") RETURN a", "more than 5000 labels follow each other"},
		{"MATCH (a:L" + strings.Repeat("|L", 10_000) + ") RETURN a", "more than 5000 labels follow each other"},
		{"WITH {} AS a RETURN a" + strings.Repeat(".a", 10_000), "more than 5000 lookups follow each other"},
		{"RETURN 1" + strings.Repeat(" < 1", 10_000), "more than 5000 comparisons follow each other"},
		{"RETURN 1" + strings.Repeat(" + 1", 10_000), "more than 5000 operators follow each other"},
	} {
		_, err := e.Prepare(c.text, g)
		f := fault.As(err)
		if f == nil || f.Type != fault.ResourceExhausted || !strings.Contains(f.Message, c.says) {
			t.Errorf("%.60s: got %v", c.text, err)
		}
	}
	if _, err := e.Prepare(matches(300), g); err != nil {
		t.Errorf("three hundred clauses: %v", err)
	}
}

// TestPlansOfLongTexts checks that the cache is bounded by text, not only by number.
func TestPlansOfLongTexts(t *testing.T) {
	e := query.New(nil)
	prepare := func(i, length int) *query.Plan {
		t.Helper()
		p, err := e.Prepare(fmt.Sprintf("RETURN %d /*%s*/", i, strings.Repeat("x", length)), nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	first := prepare(0, 100<<10)
	if prepare(0, 100<<10) != first {
		t.Error("the plan was made again")
	}
	for i := range 20 {
		prepare(i+1, 100<<10)
	}
	last := prepare(20, 100<<10)
	if prepare(20, 100<<10) != last {
		t.Error("the last plan was made again")
	}
	if prepare(0, 100<<10) == first {
		t.Error("over 2 MB of text are kept")
	}
	long := prepare(1, 500<<10)
	if prepare(1, 500<<10) == long {
		t.Error("a plan of half a megabyte of text is kept")
	}
}
