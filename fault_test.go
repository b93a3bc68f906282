package engram_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"engram"
)

// TestFaultF20DeepStatements sends statements that are nested or repeated without
// end: each is answered or refused with a reason, and the database goes on.
func TestFaultF20DeepStatements(t *testing.T) {
	db := memory(t, nil)
	wrapped := func(open, middle, end string) func(n int) string {
		return func(n int) string {
			return "RETURN " + strings.Repeat(open, n) + middle + strings.Repeat(end, n) + " AS x"
		}
	}
	shapes := map[string]func(n int) string{
		"brackets":      wrapped("(", "1", ")"),
		"lists":         wrapped("[", "1", "]"),
		"maps":          wrapped("{a: ", "1", "}"),
		"minus":         wrapped("- ", "1", ""),
		"not":           wrapped("NOT ", "true", ""),
		"case":          wrapped("CASE WHEN true THEN ", "1", " END"),
		"calls":         wrapped("abs(", "1", ")"),
		"comprehension": wrapped("[y IN ", "[1]", " | y]"),
		"subscripts":    wrapped("", "[1]", "[0]"),
		"sum":           wrapped("1 + ", "1", ""),
		"or":            wrapped("true OR ", "true", ""),
		"power":         wrapped("1 ^ ", "1", ""),
		"exists":        wrapped("EXISTS { MATCH (a) WHERE ", "true", " }"),
		"subqueries": func(n int) string {
			return strings.Repeat("CALL { ", n) + "RETURN 1 AS x" + strings.Repeat(" } RETURN x", n)
		},
		"unions":   func(n int) string { return strings.Repeat("RETURN 1 AS x UNION ALL ", n) + "RETURN 1 AS x" },
		"clauses":  func(n int) string { return strings.Repeat("WITH 1 AS x ", n) + "RETURN x" },
		"path":     func(n int) string { return "MATCH (a)" + strings.Repeat("-->()", n) + " RETURN a" },
		"unclosed": func(n int) string { return "RETURN " + strings.Repeat("(", n) },
	}
	sizes := []int{100, 1_000, 10_000, 100_000}
	if testing.Short() {
		sizes = sizes[:3]
	}
	for name, shape := range shapes {
		refused := 0
		for _, n := range sizes {
			if _, err := db.Query(t.Context(), shape(n), nil); err != nil {
				refused++
				if e := new(engram.Error); !errors.As(err, &e) || e.Code == "Internal" || len(err.Error()) > 2000 {
					t.Errorf("%s, %d deep: %.300v", name, n, err)
				}
			}
		}
		if flat := name == "sum" || name == "or" || name == "power" || name == "subscripts" || name == "unions"; refused == 0 && !flat {
			t.Errorf("%s: none is refused, however deep", name)
		}
	}
	params := map[string]any{}
	var list []string
	for i := range 10_000 {
		params[fmt.Sprint("p", i)] = i
		list = append(list, fmt.Sprint("$p", i))
	}
	if res, err := db.Query(t.Context(), "RETURN size(["+strings.Join(list, ", ")+"])", params); err != nil || res.Rows[0][0].AsInt() != 10_000 {
		t.Errorf("10,000 parameters: %v", err)
	}
	if res, err := db.Query(t.Context(), "RETURN 1", nil); err != nil || len(res.Rows) != 1 {
		t.Errorf("afterwards: %v", err)
	}
}

// TestFaultF22ClientGone cancels statements that would run for ever.
func TestFaultF22ClientGone(t *testing.T) {
	db := memory(t, nil)
	if _, err := db.Query(t.Context(), "UNWIND range(1, 60) AS i CREATE (a:N {i: i}) WITH collect(a) AS all UNWIND all AS x UNWIND all AS y CREATE (x)-[:R]->(y)", nil); err != nil {
		t.Fatal(err)
	}
	for name, q := range map[string]string{
		"product": "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a WHERE a < 0 RETURN count(*)",
		"paths":   "MATCH (:N {i: 1})-[:R*1..12]->(b) RETURN count(b)",
		"writing": "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a WHERE a < 0 CREATE (:Never)",
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond) // well inside of it
			defer cancel()
			_, err := db.Query(ctx, q, nil)
			if e := new(engram.Error); !errors.As(err, &e) || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Errorf("a statement nobody waits for ends with %v", err)
			}
			if res, err := db.Query(t.Context(), "MATCH (n:N) RETURN count(n)", nil); err != nil || res.Rows[0][0].AsInt() != 60 {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}
