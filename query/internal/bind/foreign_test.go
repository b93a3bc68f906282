package bind

import (
	"testing"

	"engram/query/internal/fn"
)

// TestForeign: what is told to be another language's function is none here.
func TestForeign(t *testing.T) {
	for name := range foreignFunctions {
		if _, ok := fn.Lookup(name); ok {
			t.Errorf("%s() is a function", name)
		}
		if foreign(name) == "" {
			t.Errorf("%s is not found: keys are in lower case, without underscores and points", name)
		}
	}
}
