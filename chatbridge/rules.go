package chatbridge

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// Rule is what the validator holds a number of a proposal to. It is decided exactly, in
// decimals, by no model.
type Rule struct {
	// Number is the name of a number that has to be there.
	Number string `json:"number"`
	// Min and Max bound it, both included, as decimals such as "0.5". Empty: no bound.
	Min string `json:"min,omitempty"`
	Max string `json:"max,omitempty"`
	// Whole: it has no fraction.
	Whole bool `json:"whole,omitempty"`
	// Sum are names of numbers that it is the sum of. None: of nothing.
	Sum []string `json:"sum,omitempty"`
}

// ParseRules reads a list of rules from JSON, strictly.
func ParseRules(text []byte) ([]Rule, error) {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.DisallowUnknownFields()
	var rules []Rule
	if err := d.Decode(&rules); err != nil || d.More() {
		return nil, refuse("invalid", `the rules are no JSON list such as [{"number": "total", "min": "0", "max": "100", "whole": true, "sum": ["a", "b"]}]`)
	}
	return rules, checkRules(rules)
}

func checkRules(rules []Rule) error {
	if len(rules) == 0 {
		return refuse("invalid", "a proposal needs at least one rule for its numbers")
	}
	if len(rules) > 100 {
		return refuse("invalid", "%d rules: there may be 100", len(rules))
	}
	for i, r := range rules {
		if strings.TrimSpace(r.Number) == "" || slices.Contains(r.Sum, "") {
			return refuse("invalid", "rule %d: a number has no name", i+1)
		}
		var low, high *big.Rat
		for _, bound := range []struct {
			text string
			into **big.Rat
		}{{r.Min, &low}, {r.Max, &high}} {
			if bound.text == "" {
				continue
			}
			v, ok := decimal(bound.text)
			if !ok {
				return refuse("invalid", "rule %d: %q is no decimal", i+1, bound.text)
			}
			*bound.into = v
		}
		if low != nil && high != nil && low.Cmp(high) > 0 {
			return refuse("invalid", "rule %d: nothing is from %s to %s", i+1, r.Min, r.Max)
		}
	}
	return nil
}

// decimal is the exact value of a number of JSON.
func decimal(text string) (*big.Rat, bool) {
	if len(text) > 64 || strings.ContainsAny(text, "/_xXpPbBoOnN") { // forms that JSON does not have
		return nil, false
	}
	if i := strings.IndexAny(text, "eE"); i >= 0 && len(strings.TrimLeft(text[i+1:], "+-0")) > 2 {
		return nil, false // it would be very long
	}
	return new(big.Rat).SetString(text)
}

var numeral = regexp.MustCompile(`\d+(?:\.\d+)?`)

// validate tells what is wrong with the numbers of a proposal, also with those that stand
// in its text and were not given to be checked; empty: nothing.
func (p *proposed) validate(rules []Rule) string {
	wrong := validate(rules, p.Numbers)
	known := map[string]bool{}
	for _, n := range p.Numbers {
		if v, ok := decimal(n.String()); ok {
			known[v.Abs(v).RatString()] = true
		}
	}
	for _, n := range numeral.FindAllString(p.Proposal, -1) {
		v, ok := decimal(n)
		if ok && known[v.RatString()] {
			continue
		}
		if wrong != "" {
			wrong += "; "
		}
		wrong += n + " stands in the text and is none of the numbers"
	}
	return wrong
}

// validate tells what is wrong with numbers by themselves.
func validate(rules []Rule, numbers map[string]json.Number) string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	get := func(name string) *big.Rat {
		n, ok := numbers[name]
		if !ok {
			say("%s is missing", name)
			return nil
		}
		v, ok := decimal(n.String())
		if !ok {
			say("%s is no decimal that can be checked", name)
		}
		return v
	}
	for _, r := range rules {
		v := get(r.Number)
		if v == nil {
			continue
		}
		written := numbers[r.Number].String()
		if low, ok := decimal(r.Min); ok && v.Cmp(low) < 0 {
			say("%s is %s, below %s", r.Number, written, r.Min)
		}
		if high, ok := decimal(r.Max); ok && v.Cmp(high) > 0 {
			say("%s is %s, above %s", r.Number, written, r.Max)
		}
		if r.Whole && !v.IsInt() {
			say("%s is %s, and has to be whole", r.Number, written)
		}
		if len(r.Sum) == 0 {
			continue
		}
		sum := new(big.Rat)
		for _, name := range r.Sum {
			part := get(name)
			if part == nil {
				sum = nil
				break
			}
			sum.Add(sum, part)
		}
		if sum != nil && sum.Cmp(v) != 0 {
			say("%s is %s, but %s make %s", r.Number, written, strings.Join(r.Sum, " + "), strings.TrimSuffix(strings.TrimRight(sum.FloatString(12), "0"), "."))
		}
	}
	return strings.Join(wrong, "; ")
}

// described are the rules in words, for the maker.
func described(rules []Rule) string {
	var out strings.Builder
	for _, r := range rules {
		out.WriteString("- " + r.Number)
		if r.Min != "" {
			out.WriteString(", at least " + r.Min)
		}
		if r.Max != "" {
			out.WriteString(", at most " + r.Max)
		}
		if r.Whole {
			out.WriteString(", whole")
		}
		if len(r.Sum) > 0 {
			out.WriteString(", the sum of " + strings.Join(r.Sum, ", "))
		}
		out.WriteString("\n")
	}
	return out.String()
}

func sortedNames(numbers map[string]json.Number) []string {
	names := make([]string, 0, len(numbers))
	for name := range numbers {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
