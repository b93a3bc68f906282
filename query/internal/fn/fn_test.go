package fn

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
)

// vals turns Go values into values; a bad one fails the test.
func vals(t testing.TB, in ...any) []value.Value {
	t.Helper()
	out := make([]value.Value, len(in))
	for i, x := range in {
		v, err := value.FromAny(x)
		if err != nil {
			t.Fatal(err)
		}
		out[i] = v
	}
	return out
}

// outcome is the printed result of a call, or its error's type and detail.
func outcome(v value.Value, err error) string {
	if f := fault.As(err); f != nil {
		return fmt.Sprintf("%s %s", f.Type, f.Detail)
	}
	if err != nil {
		return err.Error()
	}
	return v.String()
}

func callFunc(t testing.TB, name string, args ...any) string {
	t.Helper()
	f, ok := Lookup(name)
	if !ok {
		t.Fatalf("no function %s", name)
	}
	if !f.Accepts(len(args)) {
		t.Fatalf("%s does not take %d arguments", name, len(args))
	}
	in := vals(t, args...)
	if err := f.CheckArgs(in); err != nil {
		return outcome(value.Null, err)
	}
	return outcome(f.Call(&Context{}, in))
}

type list = []any

func TestScalarFunctions(t *testing.T) {
	obj := map[string]any{"a": 1, "b": nil}
	cases := []struct {
		name string
		args []any
		want string
	}{
		{"head", list{list{1, 2}}, "1"},
		{"head", list{list{}}, "null"},
		{"last", list{list{1, 2}}, "2"},
		{"last", list{list{}}, "null"},
		{"tail", list{list{1, 2, 3}}, "[2, 3]"},
		{"tail", list{list{}}, "[]"},
		{"reverse", list{list{1, "a", nil}}, "[null, 'a', 1]"},
		{"reverse", list{"aé日"}, "'日éa'"},
		{"size", list{"aé日"}, "3"},
		{"size", list{list{1, nil}}, "2"},
		{"size", list{1}, "TypeError InvalidArgumentValue"},
		{"isEmpty", list{""}, "true"},
		{"isEmpty", list{list{1}}, "false"},
		{"isEmpty", list{map[string]any{}}, "true"},
		{"range", list{0, 3}, "[0, 1, 2, 3]"},
		{"split", list{"a-b c", list{"-", " "}}, "['a', 'b', 'c']"},
		{"split", list{"a--b", list{"-", "--"}}, "['a', '', 'b']"},
		{"split", list{"a--b", list{"--", "-"}}, "['a', 'b']"},
		{"split", list{"", list{"-"}}, "['']"},
		{"split", list{"añb", list{}}, "['añb']"},
		{"split", list{"ab", list{"-", nil}}, "null"},
		{"split", list{"ab", list{1}}, "TypeError InvalidArgumentValue"},
		{"split", list{"ab", list{""}}, "ArgumentError InvalidArgumentValue"},
		{"normalize", list{"e\u0301"}, "'\u00e9'"},
		{"normalize", list{"\u00e9", "nfd"}, "'e\u0301'"},
		{"normalize", list{"\ufb01x", "NFKC"}, "'fix'"},
		{"normalize", list{"x", "NFX"}, "ArgumentError InvalidArgumentValue"},
		{"isNormalized", list{"e\u0301"}, "false"},
		{"isNormalized", list{"e\u0301", "NFD"}, "true"},
		{"valueType", list{1.5}, "'FLOAT'"},
		{"valueType", list{nil}, "'NULL'"},
		{"valueType", list{list{1}}, "'LIST'"},
		{"range", list{0, 10, 4}, "[0, 4, 8]"},
		{"range", list{3, 1, -1}, "[3, 2, 1]"},
		{"range", list{3, 1}, "[]"},
		{"range", list{0, 1, -1}, "[]"},
		{"range", list{5, 5, -3}, "[5]"},
		{"range", list{math.MinInt64, math.MaxInt64, math.MaxInt64}, "[-9223372036854775808, -1, 9223372036854775806]"},
		{"range", list{1, 2, 0}, "ArgumentError NumberOutOfRange"},
		{"range", list{1, 2.0}, "ArgumentError InvalidArgumentType"},
		{"range", list{0, math.MaxInt64}, "ResourceExhausted ResourceExhausted"},
		{"toLower", list{"ÄB"}, "'äb'"},
		{"upper", list{"äb"}, "'ÄB'"},
		{"trim", list{" \ta "}, "'a'"},
		{"ltrim", list{" a "}, "'a '"},
		{"rtrim", list{" a "}, "' a'"},
		{"trim", list{"xxaxy", "xy"}, "'a'"},
		{"ltrim", list{"   "}, "''"},
		{"substring", list{"äbcd", 1}, "'bcd'"},
		{"substring", list{"äbcd", 1, 2}, "'bc'"},
		{"substring", list{"ab", 7, 2}, "''"},
		{"substring", list{"ab", -1}, "ArgumentError NumberOutOfRange"},
		{"substring", list{"ab", 0, -1}, "ArgumentError NumberOutOfRange"},
		{"left", list{"äbc", 2}, "'äb'"},
		{"left", list{"ab", 9}, "'ab'"},
		{"right", list{"abä", 2}, "'bä'"},
		{"right", list{"ab", 9}, "'ab'"},
		{"right", list{"ab", -9}, "ArgumentError NumberOutOfRange"},
		{"replace", list{"aXbX", "X", "yy"}, "'ayybyy'"},
		{"replace", list{"ab", "", "-"}, "'ab'"},
		{"split", list{"one1two", "1"}, "['one', 'two']"},
		{"split", list{"", ","}, "['']"},
		{"split", list{"äb", ""}, "['ä', 'b']"},
		{"abs", list{-3}, "3"},
		{"abs", list{-3.5}, "3.5"},
		{"abs", list{math.MinInt64}, "ArithmeticError IntegerOverflow"},
		{"abs", list{"x"}, "TypeError InvalidArgumentValue"},
		{"sign", list{-0.5}, "-1"},
		{"sign", list{7}, "1"},
		{"sign", list{math.NaN()}, "0"},
		{"ceil", list{1.2}, "2.0"},
		{"floor", list{-1.2}, "-2.0"},
		{"sqrt", list{9}, "3.0"},
		{"sqrt", list{-1}, "NaN"},
		{"log10", list{1000}, "3.0"},
		{"atan2", list{0, 1}, "0.0"},
		{"degrees", list{math.Pi}, "180.0"},
		{"isNaN", list{math.NaN()}, "true"},
		{"isNaN", list{1}, "false"},
		{"pi", nil, "3.141592653589793"},
		{"coalesce", list{nil, 2, 3}, "2"},
		{"coalesce", list{nil}, "null"},
		{"exists", list{nil}, "false"},
		{"exists", list{obj}, "true"},
		{"nullIf", list{1, 1.0}, "null"},
		{"nullIf", list{1, 2}, "1"},
		{"keys", list{obj}, "['a', 'b']"},
		{"properties", list{obj}, "{a: 1, b: null}"},
		{"properties", list{1}, "TypeError InvalidArgumentValue"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s%v", c.name, c.args), func(t *testing.T) {
			if got := callFunc(t, c.name, c.args...); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

func TestConversions(t *testing.T) {
	cases := []struct {
		name string
		arg  any
		want string
	}{
		{"toInteger", "42", "42"},
		{"toInteger", " 42 ", "42"},
		{"toInteger", "1.9", "1"},
		{"toInteger", "-1.9", "-1"},
		{"toInteger", "foo", "null"},
		{"toInteger", "", "null"},
		{"toInteger", 82.9, "82"},
		{"toInteger", true, "1"},
		{"toInteger", "9223372036854775808", "null"},
		{"toInteger", 1e300, "ArithmeticError IntegerOverflow"},
		{"toInteger", "0x10", "null"},
		{"toInteger", "1_000", "null"},
		{"toFloat", "5.5", "5.5"},
		{"toFloat", 3, "3.0"},
		{"toFloat", "1e3", "1000.0"},
		{"toFloat", "NaN", "NaN"},
		{"toFloat", "inf", "null"},
		{"toFloat", "0x1p-2", "null"},
		{"toFloat", "foo", "null"},
		{"toFloat", list{}, "TypeError InvalidArgumentValue"},
		{"toBoolean", " TRUE ", "true"},
		{"toBoolean", "false", "false"},
		{"toBoolean", " tru ", "null"},
		{"toBoolean", 0, "false"},
		{"toBoolean", 1.0, "TypeError InvalidArgumentValue"},
		{"toString", 42, "'42'"},
		{"toString", 1.0, "'1.0'"},
		{"toString", true, "'true'"},
		{"toString", "a'b", `'a\'b'`},
		{"toString", list{}, "TypeError InvalidArgumentValue"},
		{"toIntegerOrNull", true, "1"},
		{"toIntegerOrNull", "7", "7"},
		{"toIntegerOrNull", 1e300, "null"},
		{"toFloatOrNull", list{}, "null"},
		{"toStringOrNull", map[string]any{}, "null"},
		{"toBooleanOrNull", 1.5, "null"},
		{"toIntegerList", list{"1", 2.5, nil, list{}}, "[1, 2, null, null]"},
		{"toStringList", list{1, "a", nil}, "['1', 'a', null]"},
		{"toFloatList", list{"1", "x"}, "[1.0, null]"},
		{"toBooleanList", list{"true", 0, 1.5}, "[true, false, null]"},
	}
	for _, c := range cases {
		if got := callFunc(t, c.name, c.arg); got != c.want {
			t.Errorf("%s(%v) = %s, want %s", c.name, c.arg, got, c.want)
		}
	}
}

func TestRound(t *testing.T) {
	cases := []struct {
		args []any
		want string
	}{
		{list{1.5}, "2.0"},
		{list{-1.5}, "-1.0"},
		{list{-1.6}, "-2.0"},
		{list{2.4999}, "2.0"},
		{list{0.49999999999999994}, "0.0"},
		{list{3}, "3.0"},
		{list{1e300}, "1.0E300"},
		{list{math.NaN()}, "NaN"},
		{list{2.675, 2}, "2.68"},
		{list{-2.675, 2}, "-2.68"},
		{list{1.249, 1}, "1.2"},
		{list{9.99, 1}, "10.0"},
		{list{1.25, 1, "HALF_EVEN"}, "1.2"},
		{list{1.35, 1, "HALF_EVEN"}, "1.4"},
		{list{1.25, 1, "HALF_DOWN"}, "1.2"},
		{list{1.251, 1, "HALF_DOWN"}, "1.3"},
		{list{1.21, 1, "UP"}, "1.3"},
		{list{-1.29, 1, "DOWN"}, "-1.2"},
		{list{-1.21, 1, "CEILING"}, "-1.2"},
		{list{-1.21, 1, "floor"}, "-1.3"},
		{list{1.21, 1, "CEILING"}, "1.3"},
		{list{0.00012, 3}, "0.0"},
		{list{123.456, 0}, "123.0"},
		{list{1.5, 400}, "1.5"},
		{list{1.5, -1}, "ArgumentError NumberOutOfRange"},
		{list{1.5, 1, "SIDEWAYS"}, "ArgumentError InvalidArgumentValue"},
	}
	for _, c := range cases {
		if got := callFunc(t, "round", c.args...); got != c.want {
			t.Errorf("round%v = %s, want %s", c.args, got, c.want)
		}
	}
}

func TestLookupIgnoresCase(t *testing.T) {
	f, ok := Lookup("TOINTEGER")
	if !ok || f.Name != "toInteger" {
		t.Fatalf("Lookup(TOINTEGER) = %v, %v", f, ok)
	}
	a, ok := LookupAggregate("percentiledisc")
	if !ok || a.Name != "percentileDisc" {
		t.Fatalf("LookupAggregate = %v, %v", a, ok)
	}
	if _, ok := Lookup("count"); ok {
		t.Error("count is found as a scalar function")
	}
	if f, _ := Lookup("char_length"); f == nil || f.Name != "size" {
		t.Error("the alias char_length does not lead to size")
	}
	if got := Suggest("toIntger"); got != "toInteger" {
		t.Errorf("Suggest(toIntger) = %q", got)
	}
	if got := Suggest("collct"); got != "collect" {
		t.Errorf("Suggest(collct) = %q", got)
	}
}

// Every row of the table must be complete: package bind and eval rely on it.
func TestTableIsComplete(t *testing.T) {
	if len(All()) < 80 {
		t.Fatalf("only %d functions", len(All()))
	}
	for _, f := range All() {
		if f.Doc == "" || !strings.HasSuffix(f.Doc, ".") || f.Call == nil || f.Required > len(f.Params) {
			t.Errorf("%s is incomplete: %+v", f.Name, f)
		}
		for i, p := range f.Params {
			if !p.Kinds.Has(value.KindNull) || p.Kinds == bound.Null.Kinds {
				t.Errorf("parameter %d of %s accepts %b", i, f.Name, p.Kinds)
			}
		}
		args := make([]bound.Type, len(f.Params))
		for i := range args {
			args[i] = bound.Any
		}
		if f.ResultType(args).Kinds&^bound.Null.Kinds == 0 {
			t.Errorf("%s has no result type", f.Name)
		}
	}
	for _, a := range AllAggregates() {
		if a.Doc == "" || a.New == nil || a.New() == a.New() {
			t.Errorf("%s is incomplete", a.Name)
		}
	}
}

func TestArity(t *testing.T) {
	for name, want := range map[string]string{
		"pi": "no arguments", "head": "1 argument", "atan2": "2 arguments", "substring": "2 or 3 arguments",
		"coalesce": "at least 1 argument", "date": "0 or 1 argument",
	} {
		f, _ := Lookup(name)
		if got := f.Arity(); got != want {
			t.Errorf("%s takes %q, want %q", name, got, want)
		}
	}
	f, _ := Lookup("coalesce")
	if f.Accepts(0) || !f.Accepts(9) {
		t.Error("coalesce takes the wrong number of arguments")
	}
}

func TestRandomIsInjected(t *testing.T) {
	uuidOf := func(seed uint64) string {
		f, _ := Lookup("randomUUID")
		v, err := f.Call(&Context{Rand: rand.New(rand.NewPCG(seed, 1))}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return v.AsString()
	}
	a, b := uuidOf(1), uuidOf(2)
	if a == b || a != uuidOf(1) {
		t.Errorf("randomUUID gave %s and %s", a, b)
	}
	if len(a) != 36 || a[14] != '4' || !strings.ContainsRune("89ab", rune(a[19])) {
		t.Errorf("%s is no UUID of version 4", a)
	}
	if got := callFunc(t, "rand"); got != "NotSupported NotSupported" {
		t.Errorf("rand() without a source gave %s", got)
	}
}

func TestBudgets(t *testing.T) {
	refuse := func(int64) error { return fault.AtRuntime(fault.ResourceExhausted, "ResourceExhausted", "full") }
	for _, c := range []struct {
		name string
		args []any
	}{
		{"range", list{1, 1000000}}, {"split", list{"a,b", ","}}, {"replace", list{"aaa", "a", "bb"}}, {"reverse", list{list{1}}},
	} {
		f, _ := Lookup(c.name)
		if got := outcome(f.Call(&Context{Grow: refuse}, vals(t, c.args...))); got != "ResourceExhausted ResourceExhausted" {
			t.Errorf("%s did not ask for memory: %s", c.name, got)
		}
	}
}

func TestTemporalFunctions(t *testing.T) {
	now := value.DateTime{Seconds: 1_700_000_000, Nanos: 5_000_000}
	later := value.DateTime{Seconds: 1_700_000_060}
	c := &Context{Statement: now, Transaction: value.DateTime{}, Now: func() value.DateTime { return later }}
	date := value.OfDate(value.Date{Days: 19_675}) // 2023-11-14
	month := value.OfDuration(value.Duration{Months: 1})
	for _, tc := range []struct {
		name string
		args []value.Value
		want string
	}{
		{"date", nil, "2023-11-14"},
		{"date.transaction", nil, "1970-01-01"},
		{"datetime", nil, "2023-11-14T22:13:20.005Z"},
		{"datetime.realtime", nil, "2023-11-14T22:14:20Z"},
		{"localtime.statement", vals(t, "+01:00"), "23:13:20.005"},
		{"date", vals(t, map[string]any{"year": 2020, "month": 2}), "2020-02-01"},
		{"date", vals(t, "garbage"), "ArgumentError InvalidArgumentValue"},
		{"date", vals(t, map[string]any{"year": 2020, "month": 13}), "ArgumentError InvalidArgumentValue"},
		{"date.truncate", append(vals(t, "month"), date), "2023-11-01"},
		{"date.truncate", append(vals(t, "month"), date, vals(t, map[string]any{"day": 3})[0]), "2023-11-03"},
		{"datetime.fromepoch", vals(t, 416779, 999999999), "1970-01-05T19:46:19.999999999Z"},
		{"datetime.fromepochmillis", vals(t, 237821673987), "1977-07-15T13:34:33.987Z"},
		{"duration", vals(t, "P1M"), "P1M"},
		{"duration", []value.Value{month}, "P1M"},
		{"duration.between", []value.Value{date, value.OfDate(value.Date{Days: 19_706})}, "P1M1D"},
		{"duration.inDays", []value.Value{date, value.OfDate(value.Date{Days: 19_706})}, "P31D"},
		{"timestamp", nil, "1700000000005"},
	} {
		f, ok := Lookup(tc.name)
		if !ok {
			t.Fatalf("no function %s", tc.name)
		}
		got, err := f.Call(c, tc.args)
		text := got.ToString()
		if err != nil {
			text = outcome(got, err)
		}
		if text != tc.want {
			t.Errorf("%s(%v) = %s, want %s", tc.name, tc.args, text, tc.want)
		}
	}
}
