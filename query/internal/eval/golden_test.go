package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"engram/query/internal/fault"
)

// TestGolden evaluates the expressions of testdata, one a line. Run with
// -rewrite to write what they give now.
func TestGolden(t *testing.T) {
	files := 0
	datadriven.Walk(t, "testdata/golden", func(t *testing.T, path string) {
		files++
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			if d.Cmd != "eval" {
				t.Fatalf("%s: unknown command %s", d.Pos, d.Cmd)
			}
			var out strings.Builder
			for _, line := range strings.Split(strings.TrimSpace(d.Input), "\n") {
				env, _ := newEnv(t)
				v, err := eval1(env, line)
				switch f := fault.As(err); {
				case f != nil && f.Phase == fault.CompileTime:
					fmt.Fprintf(&out, "compile time: %s %s: %s\n", f.Type, f.Detail, f.Message)
				case f != nil:
					fmt.Fprintf(&out, "%s %s: %s", f.Type, f.Detail, f.Message)
					if !f.Span.Known() {
						out.WriteString(" (NO PLACE)")
					}
					out.WriteString("\n")
				case err != nil:
					fmt.Fprintf(&out, "PLAIN ERROR %v\n", err)
				default:
					fmt.Fprintln(&out, v)
				}
			}
			return out.String()
		})
	})
	if files == 0 {
		t.Fatal("no golden files found")
	}
}
