package bind_test

import (
	"testing"

	"github.com/cockroachdb/datadriven"

	"engram/graph/value"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
)

// TestGolden binds the statements in testdata and compares the bound tree, or
// the error, with what is written below them.
func TestGolden(t *testing.T) {
	procs := procedures{
		"test.search": {
			Name:    "test.search",
			Args:    []bind.Field{{Name: "text", Type: bound.OneOf(value.KindString)}},
			Outputs: []bind.Field{{Name: "node", Type: bound.OneOf(value.KindNode)}, {Name: "score", Type: bound.OneOf(value.KindFloat)}},
		},
		"test.nothing": {Name: "test.nothing"},
	}
	files := 0
	datadriven.Walk(t, "testdata", func(t *testing.T, path string) {
		files++
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "bind" {
				d.Fatalf(t, "unknown command %s", d.Cmd)
			}
			stmt, err := parseAndBind(d.Input, procs)
			if err != nil {
				return err.Error() + "\n"
			}
			return bound.Dump(stmt)
		})
	})
	if files == 0 {
		t.Fatal("testdata holds no files")
	}
}
