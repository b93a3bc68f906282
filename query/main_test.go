package query_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// TestMain fails when goroutines are left behind, and prints the sum of the TCK
// behind all reports of subtests.
func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		// bleve starts its analysis workers once for the process.
		if err := goleak.Find(goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker")); err != nil {
			fmt.Println(err)
			code = 1
		}
	}
	if tckSummary != "" {
		fmt.Println(tckSummary)
	}
	os.Exit(code)
}
