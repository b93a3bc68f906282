package chatbridge

import (
	"encoding/json"
	"testing"
)

// TestValidate holds that numbers are compared exactly, as decimals.
func TestValidate(t *testing.T) {
	for _, c := range []struct{ rules, proposal, want string }{
		{`[{"number": "a", "sum": ["b", "c"]}]`, `{"proposal": "x", "numbers": {"a": 0.3, "b": 0.1, "c": 0.2}}`, ""},
		{`[{"number": "a", "sum": ["b", "c"]}]`, `{"proposal": "x", "numbers": {"a": 0.3000000000000000001, "b": 0.1, "c": 0.2}}`, "a is 0.3000000000000000001, but b + c make 0.3"},
		{`[{"number": "a", "sum": ["b", "c"]}]`, `{"proposal": "x", "numbers": {"a": 1, "b": 1}}`, "c is missing"},
		{`[{"number": "a", "min": "9007199254740993"}]`, `{"proposal": "x", "numbers": {"a": 9007199254740992}}`, "a is 9007199254740992, below 9007199254740993"},
		{`[{"number": "a", "min": "0.5", "max": "0.5"}]`, `{"proposal": "x", "numbers": {"a": 5e-1}}`, ""},
		{`[{"number": "a", "max": "1"}]`, `{"proposal": "x", "numbers": {"a": 1e999999}}`, "a is no decimal that can be checked"},
		{`[{"number": "a", "whole": true}]`, `{"proposal": "x", "numbers": {"a": 2.50}}`, "a is 2.50, and has to be whole"},
		{`[{"number": "a", "whole": true}]`, `{"proposal": "x", "numbers": {"a": 2.0}}`, ""},
		{`[{"number": "a"}]`, `{"proposal": "-7.50 and 8", "numbers": {"a": -7.5}}`, "8 stands in the text and is none of the numbers"},
		{`[{"number": "a"}]`, `{"proposal": "x", "numbers": {}}`, "a is missing"},
	} {
		rules, err := ParseRules([]byte(c.rules))
		if err != nil {
			t.Fatal(err)
		}
		var p proposed
		if err := json.Unmarshal([]byte(c.proposal), &p); err != nil {
			t.Fatal(err)
		}
		if got := p.validate(rules); got != c.want {
			t.Errorf("%s of %s: %q, want %q", c.rules, c.proposal, got, c.want)
		}
	}
	for _, bad := range []string{"", "[]", "{}", `[{"number": ""}]`, `[{"number": "a", "min": "1/2"}]`, `[{"number": "a", "min": "2", "max": "1"}]`, `[{"number": "a", "least": "1"}]`, `[{"number": "a"}] x`} {
		if _, err := ParseRules([]byte(bad)); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}
}
