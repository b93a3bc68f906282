package syntax

import (
	"strings"
	"sync"
	"testing"

	"engram/query/internal/fault"
)

// detail returns the type and detail of the error of a statement, or "".
func detail(text string) string {
	_, err := Parse(text)
	if err == nil {
		return ""
	}
	e := fault.As(err)
	return string(e.Type) + " " + e.Detail
}

func TestLimits(t *testing.T) {
	const deep, long = "ResourceExhausted NestingTooDeep", "ResourceExhausted StatementTooLong"
	repeat := strings.Repeat
	cases := []struct{ name, text, want string }{
		{"parentheses", "RETURN " + repeat("(", 1e6), deep},
		{"lists", "RETURN " + repeat("[", 1e6), deep},
		{"maps", "RETURN " + repeat("{a:", 300_000), deep},
		{"not", "RETURN " + repeat("NOT ", 200_000) + "x", deep},
		{"signs", "RETURN " + repeat("- ", 500_000) + "x", deep},
		{"case", "RETURN " + repeat("CASE ", 200_000), deep},
		{"case in else", "RETURN " + repeat("CASE WHEN a THEN b ELSE ", 40_000), deep},
		{"label not", "MATCH (n:" + repeat("!", 500_000) + "A)", deep},
		{"label parentheses", "MATCH (n:" + repeat("(", 500_000) + "A)", deep},
		{"subqueries", repeat("CALL { ", 100_000), deep},
		{"exists", "RETURN " + repeat("EXISTS { RETURN ", 60_000), deep},
		{"foreach", repeat("FOREACH (x IN y | ", 50_000), deep},
		{"additions", "RETURN 1" + repeat("+1", 20_000), deep},
		{"comparisons", "RETURN 1" + repeat("<1", 20_000), deep},
		{"lookups", "RETURN a" + repeat(".a", 20_000), deep},
		{"labels", "MATCH (n" + repeat(":A", 20_000) + ")", deep},
		{"patterns in expressions", "RETURN " + repeat("(a{b:", 99) + "1" + repeat("})", 99) + repeat("+1", 4000), ""},
		{"comprehensions", "RETURN " + repeat("[x IN ", 199) + "y" + repeat("]", 199), ""},
		{"comprehensions with tails", "RETURN " + repeat("[x IN ", 199) + "y" + repeat(", 1]", 199), ""},
		{"allowed nesting", "RETURN " + repeat("(", 150) + "1" + repeat(")", 150), ""},
		{"allowed chain", "RETURN 1" + repeat("+1", 4000), ""},
		{"a long list", "RETURN [1" + repeat(",1", 50_000) + "]", ""},
		{"many clauses", repeat("CREATE (:A) ", 5_000), ""},
		{"too long", "RETURN '" + repeat("x", MaxText) + "'", long},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := detail(c.text); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestInvalidText(t *testing.T) {
	if got, want := detail("RETURN 'a\xff'"), "SyntaxError InvalidUnicodeCharacter"; got != want {
		t.Errorf("invalid UTF-8: got %q, want %q", got, want)
	}
	if got := detail("\uFEFFRETURN\u00a01"); got != "" {
		t.Errorf("byte order mark and no-break space: %q", got)
	}
}

// TestPositions checks that columns count characters and lines any ending.
func TestPositions(t *testing.T) {
	text := "MATCH (ä)\r\nWHERE ä.ö = 'ü' // ß\r\nRETURN 'äöü' ?"
	_, err := Parse(text)
	e := fault.As(err)
	if e == nil || e.Span.Line != 3 || e.Span.Column != 14 || e.Span.Offset != strings.Index(text, "?") {
		t.Errorf("got %+v", e)
	}
}

// TestConcurrentUse shares the grammar between goroutines; the race detector
// looks on.
func TestConcurrentUse(t *testing.T) {
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 20 {
				if got := detail("MATCH (n) WHERE EXISTS { (n)--() } RETURN [x IN n.l | x] AS l ORDER BY l"); got != "" {
					t.Error(got)
				}
			}
		})
	}
	wg.Wait()
}

// The one-line statement of DESIGN.md's figures.
const benchStatement = "MATCH (p:Person {id: $id})-[:KNOWS]->(f) WHERE f.age > 30 RETURN f.name AS name, count(*) AS c ORDER BY c DESC LIMIT 10"

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(benchStatement); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkParseExpression is a statement that is nearly all expression.
func BenchmarkParseExpression(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("RETURN (a.x + 3 * b.y) / 2 > coalesce(c.z, 1) AND NOT d.name STARTS WITH 'x' OR e IN [1, 2, 3]"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkRefuseNesting is text that is nested a million deep.
func BenchmarkRefuseNesting(b *testing.B) {
	text := "RETURN " + strings.Repeat("[", 1e6)
	for b.Loop() {
		if _, err := Parse(text); err == nil {
			b.Fatal("accepted")
		}
	}
}
