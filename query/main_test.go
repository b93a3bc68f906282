package query_test

import (
	"fmt"
	"os"
	"testing"
)

// TestMain prints the sum of the TCK behind all reports of subtests.
func TestMain(m *testing.M) {
	code := m.Run()
	if tckSummary != "" {
		fmt.Println(tckSummary)
	}
	os.Exit(code)
}
