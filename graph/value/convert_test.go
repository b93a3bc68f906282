package value

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

type named string

func TestFromAny(t *testing.T) {
	stockholm, err := location("Europe/Stockholm")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		in   any
		want string
		kind Kind
	}{
		{nil, "null", KindNull},
		{true, "true", KindBool},
		{int8(-3), "-3", KindInt},
		{int(5), "5", KindInt},
		{uint16(5), "5", KindInt},
		{uint64(math.MaxInt64), "9223372036854775807", KindInt},
		{float32(0.5), "0.5", KindFloat},
		{2.0, "2.0", KindFloat},
		{"x", "'x'", KindString},
		{named("x"), "'x'", KindString},
		{json.Number("12"), "12", KindInt},
		{json.Number("12.0"), "12.0", KindFloat},
		{json.Number("1e3"), "1000.0", KindFloat},
		{[]any{1, "a", nil}, "[1, 'a', null]", KindList},
		{[]string{"a"}, "['a']", KindList},
		{[2]int{1, 2}, "[1, 2]", KindList},
		{[]float64(nil), "[]", KindList},
		{[]Value{Int(1)}, "[1]", KindList},
		{map[string]any{"b": 1, "a": []int{2}}, "{a: [2], b: 1}", KindMap},
		{map[named]bool{"k": true}, "{k: true}", KindMap},
		{Int(4), "4", KindInt},
		{Date{Days: 1}, "'1970-01-02'", KindDate},
		{Duration{Days: 2}, "'P2D'", KindDuration},
		{alice, OfNode(alice).String(), KindNode},
		{(*Node)(nil), "null", KindNull},
		{(*Edge)(nil), "null", KindNull},
		{time.Duration(-1500) * time.Millisecond, "'PT-1.5S'", KindDuration},
		{time.Date(2017, 8, 8, 12, 0, 0, 5000, time.UTC), "'2017-08-08T12:00:00.000005Z'", KindDateTime},
		{time.Date(2017, 8, 8, 12, 0, 0, 0, time.FixedZone("", 3600)), "'2017-08-08T12:00+01:00'", KindDateTime},
		{time.Date(2017, 8, 8, 12, 0, 0, 0, stockholm), "'2017-08-08T12:00+02:00[Europe/Stockholm]'", KindDateTime},
	} {
		got, err := FromAny(c.in)
		if err != nil || got.Kind() != c.kind || got.String() != c.want {
			t.Errorf("%T %v is the %s %s, %v, want the %s %s", c.in, c.in, got.Kind(), got, err, c.kind, c.want)
		}
	}
}

func TestFromAnyErrors(t *testing.T) {
	deep := any(1)
	for range MaxDepth + 1 {
		deep = []any{deep}
	}
	loop := map[string]any{}
	loop["self"] = loop
	for _, c := range []struct {
		in   any
		want string
	}{
		{uint64(1 << 63), "9223372036854775808 is larger than the largest integer"},
		{json.Number("9223372036854775808"), "larger than the largest integer"},
		{json.Number("1e999"), "no number that fits"},
		{[]byte("x"), "bytes cannot be stored"},
		{struct{ A int }{}, "a Go struct { A int } is no value"},
		{make(chan int), "is no value"},
		{map[int]string{}, "is no value"},
		{new(int), "is no value"},
		{"\xff", "not UTF-8"},
		{String("\xff"), "not UTF-8"},
		{map[string]any{"\xff": 1}, "not UTF-8"},
		{map[string]any{"z": []byte{}, "a": []any{1, map[string]any{"b": uint64(1 << 63)}}}, "at a[1].b: 9223372036854775808"},
		{deep, "nested more than 256 deep"},
		{loop, "nested more than 256 deep"},
		{time.Unix(1<<60, 0), "out of range"},
	} {
		if v, err := FromAny(c.in); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T gives %s, %v, want an error with %q", c.in, v, err, c.want)
		}
	}
}

func TestAnyRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := genValue(2).Filter(func(v Value) bool { return loaded(v) }).Draw(t, "value")
		back, err := FromAny(v.Any())
		if err != nil || !Equivalent(v, back) || v.String() != back.String() {
			t.Fatalf("%s came back as %s, %v", v, back, err)
		}
	})
}

// loaded reports whether v has no bare reference to a node or edge, which turns
// into a number.
func loaded(v Value) bool {
	switch v.Kind() {
	case KindNode, KindEdge:
		return false
	case KindList:
		for _, e := range v.AsList() {
			if !loaded(e) {
				return false
			}
		}
	case KindMap:
		for _, e := range v.AsMap().Entries {
			if !loaded(e.Value) {
				return false
			}
		}
	}
	return true
}

func TestCheckStorable(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string // empty: storable
	}{
		{Bool(true), ""},
		{nan, ""},
		{String("x"), ""},
		{OfDate(Date{}), ""},
		{OfDuration(Duration{}), ""},
		{list(), ""},
		{list(Int(1), Float(2.5)), ""},
		{list(String("a"), String("b")), ""},
		{list(OfDate(Date{}), OfDate(Date{})), ""},
		{Null, "null is not allowed"},
		{mapOf("a", Int(1)), "a MAP is not allowed"},
		{NodeRef(1), "a NODE is not allowed"},
		{OfPath(&Path{}), "a PATH is not allowed"},
		{list(Int(1), Null), "element 1 of the list is null"},
		{list(mapOf("num", Int(1))), "element 0 of the list is a MAP"},
		{list(list(Int(1))), "element 0 of the list is a LIST"},
		{list(Int(1), String("a")), "mixes INTEGER and STRING"},
		{list(OfDate(Date{}), OfLocalTime(LocalTime{})), "mixes DATE and LOCAL TIME"},
		{String("\xff"), "not UTF-8"},
		{list(String("a"), String("\xff")), "element 1 of the list: the text is not UTF-8"},
		{OfDate(Date{Days: maxDays + 1}), "out of range"},
	} {
		err := CheckStorable(c.v)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.v, err, c.want)
		}
		if strings.Contains(c.want, "not allowed") && !errors.Is(err, ErrNotStorable) {
			t.Errorf("%s: %v is no ErrNotStorable", c.v, err)
		}
		if IsStorable(c.v) != (err == nil) {
			t.Errorf("%s: IsStorable and CheckStorable disagree", c.v)
		}
	}
}

func TestValidate(t *testing.T) {
	deep := Int(1)
	for range MaxDepth + 1 {
		deep = list(deep)
	}
	for name, v := range map[string]Value{
		"text in a list": list(String("ok"), String("\xff")),
		"key":            mapOf("\xff", Int(1)),
		"text in a map":  mapOf("k", list(String("\xff"))),
		"nesting":        deep,
		"date":           OfDate(Date{Days: minDays - 1}),
		"local time":     OfLocalTime(LocalTime{Nanos: nanosPerDay}),
		"time":           OfTime(Time{Nanos: -1}),
		"time's offset":  OfTime(Time{Offset: maxOffset + 1}),
		"local datetime": OfLocalDateTime(LocalDateTime{Nanos: nanosPerSecond}),
		"datetime":       OfDateTime(DateTime{Seconds: maxDays * secondsPerDay, Offset: maxOffset, Nanos: -1}),
		"datetime's end": OfDateTime(DateTime{Seconds: (maxDays+1)*secondsPerDay - 1, Offset: 3600}),
		"duration":       OfDuration(Duration{Nanos: -1}),
	} {
		if Validate(v) == nil {
			t.Errorf("%s passes", name)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		if v := genValue(2).Draw(t, "value"); Validate(v) != nil {
			t.Fatalf("%s: %v", v, Validate(v))
		}
	})
}

func TestSizeGrowsWithContent(t *testing.T) {
	text := strings.Repeat("x", 1000)
	for _, c := range []struct {
		v        Value
		min, max int
	}{
		{Int(1), 24, 24},
		{String(text), 1024, 1024},
		{list(String(text), Int(1)), 1000 + 3*24, 1000 + 3*24},
		{mapOf(text, String(text)), 2000 + 48, 2200},
		{OfNode(&Node{ElementID: "e", Labels: []string{text}, Properties: []Prop{{"k", String(text)}}}), 2000, 2300},
		{OfEdge(&Edge{Type: text, Properties: []Prop{{"k", String(text)}}}), 2000, 2300},
		{OfPath(&Path{Nodes: []Value{OfNode(&Node{ElementID: text})}}), 1000, 1300},
		{OfDateTime(DateTime{Zone: "Europe/Stockholm"}), 24 + 16, 100},
	} {
		if got := c.v.Size(); got < c.min || got > c.max {
			t.Errorf("%.40s has size %d, want %d to %d", c.v, got, c.min, c.max)
		}
	}
}

// Sizes are known without going through a value, which may be far larger as a whole
// than in memory, and reach no further than they can be counted.
func TestSizeOfSharedParts(t *testing.T) {
	v, n := list(Int(1)), 48
	for depth := 2; depth <= 300; depth++ {
		v = list(v, v)
		n = min(2*n+24, 24+8*math.MaxUint32)
		if v.Size() != n || v.Depth() != min(depth, 255) {
			t.Fatalf("level %d has size %d and depth %d, want %d", depth, v.Size(), v.Depth(), n)
		}
	}
	for _, c := range []struct {
		v    Value
		want int
	}{
		{Int(1), 0},
		{String("x"), 0},
		{list(), 1},
		{mapOf("k", list(Int(1))), 2},
		{OfNode(&Node{Properties: []Prop{{"k", list(Int(1))}}}), 2},
		{NodeRef(1), 0},
		{list(OfPath(&Path{Nodes: []Value{NodeRef(1)}})), 2},
	} {
		if got := c.v.Depth(); got != c.want {
			t.Errorf("%v has depth %d, want %d", c.v, got, c.want)
		}
	}
}

func TestPart(t *testing.T) {
	for _, v := range []Value{list(Int(1), Int(2), Int(3), Null), list(String("a"), Int(2), list(Int(3)), Null), list(list(), Int(1)), list()} {
		n := len(v.AsList())
		for from := range n + 1 {
			for to := from; to <= n; to++ {
				got, want := v.Part(from, to), List(v.AsList()[from:to])
				if got.String() != want.String() || got.Size() != want.Size() || got.Depth() != want.Depth() {
					t.Errorf("%v from %d to %d is %v of size %d", v, from, to, got, got.Size())
				}
			}
		}
	}
}
