package query_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"engram"
)

// internalWords are what a user must never read: names of this program's types
// and packages, and what a formatting mistake prints.
var internalWords = regexp.MustCompile(
	`%!|<nil>|\bnil\b|0x[0-9a-f]{6,}|interface ?\{|\*?\b(bound|syntax|value|fault|access|physical|logical|eval|lexer|participle|graph|model)\.[A-Za-z]|\bint64\b|\bfloat64\b|\bstruct\b|goroutine|internal error`)

// TestErrorTexts shows what a user is told about typical mistakes. Commands:
//
//	say    a statement: the error as it is printed, or rows and notices
//	read   the same in a transaction that only reads
//
// Nothing of what a statement writes is kept.
func TestErrorTexts(t *testing.T) {
	db, err := engram.OpenMemory(&engram.Options{Now: fixedNow})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	const fixture = "CREATE (:Person {id: 'ada', name: 'Ada', age: 36})-[:KNOWS {since: 2020}]->(:Movie {id: 'm', title: 'T'})"
	if _, err := db.Query(ctx, fixture, nil); err != nil {
		t.Fatal(err)
	}
	cases := 0
	datadriven.Walk(t, "testdata/errors", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			cases++
			if d.Cmd != "say" && d.Cmd != "read" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			tx, err := db.Begin(ctx, d.Cmd == "say")
			if err != nil {
				t.Fatal(err)
			}
			defer tx.Rollback()
			res, err := tx.Query(ctx, d.Input, nil)
			out := outcome(res, err)
			if slip := internalWords.FindString(out); slip != "" {
				t.Errorf("%s: %s\nshows %q:\n%s", d.Pos, d.Input, slip, out)
			}
			return out
		})
	})
	if cases < 60 {
		t.Errorf("%d cases", cases)
	}
}

func outcome(res *engram.Result, err error) string {
	if err != nil {
		return strings.TrimRight(err.Error(), "\n") + "\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d rows\n", len(res.Rows))
	for _, n := range res.Notices {
		fmt.Fprintf(&b, "%s at line %d, column %d: %s\n", n.Code, n.Line, n.Column, n.Message)
	}
	return b.String()
}
