package query_test

import (
	"slices"
	"testing"

	"engram/query"
)

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		script string
		want   []string
		rest   string
	}{
		{"RETURN 1", nil, "RETURN 1"},
		{"RETURN 1; RETURN 2 ;\n", []string{"RETURN 1", "RETURN 2"}, "\n"},
		{";;", nil, ""},
		{"RETURN ';', \"a;\\\"b\", `x;y`; rest", []string{"RETURN ';', \"a;\\\"b\", `x;y`"}, " rest"},
		{"RETURN 1 // no; end\n; /* a; b */ RETURN 2;", []string{"RETURN 1 // no; end", "/* a; b */ RETURN 2"}, ""},
		{"RETURN 'open; ", nil, "RETURN 'open; "},
		{"RETURN 1 /* open;", nil, "RETURN 1 /* open;"},
		{"RETURN 'a\\';", nil, "RETURN 'a\\';"},
	} {
		got, rest := query.Split(c.script)
		if !slices.Equal(got, c.want) || rest != c.rest {
			t.Errorf("%q splits into %q and %q", c.script, got, rest)
		}
	}
}
