package value

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func ints(ns ...int64) Value {
	elems := make([]Value, len(ns))
	for i, n := range ns {
		elems[i] = Int(n)
	}
	return List(elems)
}

func list(elems ...Value) Value { return List(elems) }

func mapOf(pairs ...any) Value {
	var entries []Prop
	for i := 0; i < len(pairs); i += 2 {
		entries = append(entries, Prop{Key: pairs[i].(string), Value: pairs[i+1].(Value)})
	}
	return Map(entries)
}

var nan = Float(math.NaN())

func TestEqual(t *testing.T) {
	big := int64(1<<53 + 1)
	at := func(offset int32, nanos int64) Value { return OfTime(Time{Nanos: nanos, Offset: offset}) }
	for _, c := range []struct {
		a, b Value
		want Tri
	}{
		{Null, Null, Unknown},
		{Null, Int(1), Unknown},
		{Int(1), Float(1), True},
		{Int(big), Float(float64(big)), False}, // 2^53+1 is no float64
		{Int(math.MaxInt64), Float(1 << 63), False},
		{Int(math.MinInt64), Float(-(1 << 63)), True},
		{Float(0), Float(math.Copysign(0, -1)), True},
		{nan, nan, False},
		{String("1"), Int(1), False},
		{Bool(true), Int(1), False},
		{ints(1, 2), ints(1), False},
		{list(Null), ints(1), Unknown},
		{list(Null), list(Null, Null), False},
		{list(Null, Int(1)), list(Int(3), Int(2)), False}, // the second elements decide
		{list(ints(1), ints(2, 3)), list(ints(1), list(Null)), False},
		{list(ints(1), ints(2)), list(ints(1), list(Null)), Unknown},
		{list(nan), list(nan), False},
		{mapOf("k", Int(1)), mapOf("k", Float(1)), True},
		{mapOf("k", Null), mapOf(), False},
		{mapOf("k", Null), mapOf("k", Null), Unknown},
		{mapOf("k", Int(1)), mapOf("l", Int(1)), False},
		{mapOf("k", Int(1), "l", Null), mapOf("k", Int(2), "l", Null), False},
		{NodeRef(1), OfNode(&Node{ID: 1}), True},
		{NodeRef(1), EdgeRef(1), False},
		{at(3600, 3600*nanosPerSecond), at(0, 0), True},
		{at(3600, 0), at(0, 0), False},
		{OfDuration(Duration{Days: 1}), OfDuration(Duration{Seconds: secondsPerDay}), False},
		{OfDate(Date{}), OfLocalDateTime(LocalDateTime{}), False},
	} {
		if got := Equal(c.a, c.b); got != c.want {
			t.Errorf("%s = %s is %s, want %s", c.a, c.b, got, c.want)
		}
		if got := Equal(c.b, c.a); got != c.want {
			t.Errorf("%s = %s is %s, want %s", c.b, c.a, got, c.want)
		}
	}
}

func TestLess(t *testing.T) {
	for _, c := range []struct {
		a, b              Value
		less, lessOrEqual Tri
	}{
		{Int(1), Float(1.5), True, True},
		{Int(1), Float(1), False, True},
		{Int(1<<53 + 1), Float(1 << 53), False, False},
		{Float(1 << 53), Int(1<<53 + 1), True, True},
		{Int(1), Null, Unknown, Unknown},
		{Int(1), String("1"), Unknown, Unknown},
		{nan, Int(1), False, False},
		{Int(1), nan, False, False},
		{nan, String("a"), Unknown, Unknown},
		{String("a"), String("b"), True, True},
		{String("Z"), String("a"), True, True},
		{Bool(false), Bool(true), True, True},
		{ints(1), ints(1, 0), True, True},
		{ints(1), list(Int(1), Null), True, True},
		{list(Int(1), Null), ints(1, 2), Unknown, Unknown},
		{list(Int(3), Null), ints(1, 2), False, False},
		{list(Int(1), String("a")), ints(1, 2), Unknown, Unknown},
		{ints(1, 2), ints(1, 2), False, True},
		{mapOf(), mapOf(), Unknown, Unknown},
		{NodeRef(1), NodeRef(2), Unknown, Unknown},
		{OfDate(Date{1}), OfDate(Date{2}), True, True},
		{OfDate(Date{1}), OfLocalDateTime(LocalDateTime{}), Unknown, Unknown},
		{OfDuration(Duration{Days: 1}), OfDuration(Duration{Days: 2}), Unknown, Unknown},
	} {
		if got := Less(c.a, c.b); got != c.less {
			t.Errorf("%s < %s is %s, want %s", c.a, c.b, got, c.less)
		}
		if got := LessOrEqual(c.a, c.b); got != c.lessOrEqual {
			t.Errorf("%s <= %s is %s, want %s", c.a, c.b, got, c.lessOrEqual)
		}
	}
}

func TestOrderOfKinds(t *testing.T) {
	path := OfPath(&Path{Nodes: []Value{NodeRef(1)}})
	want := []Value{
		mapOf("a", String("map")), NodeRef(9), EdgeRef(1), list(String("list")), path,
		OfDateTime(DateTime{}), OfLocalDateTime(LocalDateTime{}), OfDate(Date{}), OfTime(Time{}), OfLocalTime(LocalTime{}),
		OfDuration(Duration{}), String("text"), Bool(false), Bool(true), Float(math.Inf(-1)), Int(1), Float(1.5),
		Float(math.Inf(1)), nan, Null,
	}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Order)
	for i := range want {
		if Order(got[i], want[i]) != 0 {
			t.Errorf("place %d holds %s, want %s", i, got[i], want[i])
		}
	}
}

func TestOrderWithinKinds(t *testing.T) {
	for _, ascending := range [][]Value{
		{
			list(), list(String("a")), list(String("a"), Int(1)), ints(1), list(Int(1), String("a")),
			list(Int(1), Null), list(Null, Int(1)), list(Null, Int(2)),
		},
		{mapOf(), mapOf("b", Int(1)), mapOf("c", Int(0)), mapOf("c", Int(1)), mapOf("a", Int(1), "b", Int(1))},
		{OfDuration(Duration{Days: 30}), OfDuration(Duration{Months: 1}), OfDuration(Duration{Days: 31})},
		{
			OfDuration(Duration{Months: math.MinInt64}), OfDuration(Duration{Days: -1}), OfDuration(Duration{Seconds: -1}),
			OfDuration(Duration{}), OfDuration(Duration{Nanos: 1}), OfDuration(Duration{Months: math.MaxInt64}),
		},
	} {
		for i := 1; i < len(ascending); i++ {
			if a, b := ascending[i-1], ascending[i]; Order(a, b) != -1 || Order(b, a) != 1 {
				t.Errorf("%s does not sort before %s", a, b)
			}
		}
	}
}

// Order must be a total order, or sorting and grouping go wrong.
func TestOrderIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genValue(2)
		a, b, c := g.Draw(t, "a"), g.Draw(t, "b"), g.Draw(t, "c")
		if Order(a, a) != 0 {
			t.Fatalf("%s is not like itself", a)
		}
		if Order(a, b) != -Order(b, a) {
			t.Fatalf("%s and %s sort both ways", a, b)
		}
		if Order(a, b) <= 0 && Order(b, c) <= 0 && Order(a, c) > 0 {
			t.Fatalf("%s, %s, %s are not transitive", a, b, c)
		}
	})
}

func TestComparisonsAgree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := genValue(2)
		a, b := g.Draw(t, "a"), g.Draw(t, "b")
		if Equivalent(a, b) != (Order(a, b) == 0) {
			t.Fatalf("%s and %s: Equivalent and Order disagree", a, b)
		}
		if Equivalent(a, b) && Hash(a) != Hash(b) {
			t.Fatalf("%s and %s are equivalent but hash to %d and %d", a, b, Hash(a), Hash(b))
		}
		if Equal(a, b) == True && !Equivalent(a, b) {
			t.Fatalf("%s and %s are equal but not equivalent", a, b)
		}
		if c, ok := Compare(a, b); ok {
			if (c == 0) != (Equal(a, b) == True) || (c < 0) != (Less(a, b) == True) || (c <= 0) != (LessOrEqual(a, b) == True) {
				t.Fatalf("%s and %s: Compare says %d, Equal %s, Less %s", a, b, c, Equal(a, b), Less(a, b))
			}
		} else if Less(a, b) == True {
			t.Fatalf("%s < %s without Compare", a, b)
		}
		if Less(a, b) == True && Less(b, a) == True {
			t.Fatalf("%s and %s are each less than the other", a, b)
		}
	})
}

// Hashes must be the same in every process: nothing may make them depend on a
// random seed. A change of the function is fine and changes these numbers.
func TestHashIsStable(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want uint64
	}{
		{Null, 0xc7fd23e475a7e02a},
		{Int(1), 0x77f994982fa7d5a6},
		{String("abcdefghi"), 0x1af969196f9bdf28},
		{list(Int(1), String("x")), 0xf1042a7e6c6391fd},
	} {
		if got := Hash(c.v); got != c.want {
			t.Errorf("%s hashes to %#x, want %#x", c.v, got, c.want)
		}
	}
	for _, pair := range [][2]Value{
		{Int(1), Float(1)},
		{Float(0), Float(math.Copysign(0, -1))},
		{Int(math.MinInt64), Float(-(1 << 63))},
		{nan, Float(math.Float64frombits(0x7ff8000000000099))},
		{ints(1), list(Float(1))},
		{OfTime(Time{Offset: 3600, Nanos: 3600 * nanosPerSecond}), OfTime(Time{})},
		{NodeRef(1), OfNode(&Node{ID: 1})},
	} {
		if Hash(pair[0]) != Hash(pair[1]) {
			t.Errorf("%s and %s are equivalent and hash apart", pair[0], pair[1])
		}
	}
	if HashWith(HashWith(0, Int(1)), Int(2)) == HashWith(HashWith(0, Int(2)), Int(1)) {
		t.Error("the order of combined values does not count")
	}
}

// Nearby integers, which ids are, must spread over the low bits that a hash
// table uses.
func TestHashSpreads(t *testing.T) {
	const n = 1 << 12
	buckets := make([]int, n)
	for i := range int64(n) {
		buckets[Hash(Int(i))%n]++
	}
	if fullest := slices.Max(buckets); fullest > 10 {
		t.Errorf("%d of %d consecutive integers share a bucket of %d", fullest, n, n)
	}
}

func TestTriTables(t *testing.T) {
	all := []Tri{True, False, Unknown}
	and := [][]Tri{{True, False, Unknown}, {False, False, False}, {Unknown, False, Unknown}}
	or := [][]Tri{{True, True, True}, {True, False, Unknown}, {True, Unknown, Unknown}}
	xor := [][]Tri{{False, True, Unknown}, {True, False, Unknown}, {Unknown, Unknown, Unknown}}
	for i, a := range all {
		for j, b := range all {
			if a.And(b) != and[i][j] || a.Or(b) != or[i][j] || a.Xor(b) != xor[i][j] {
				t.Errorf("%s and %s: AND %s, OR %s, XOR %s", a, b, a.And(b), a.Or(b), a.Xor(b))
			}
		}
	}
	if Unknown.Value().Kind() != KindNull || !True.Value().AsBool() || False.Value().Kind() != KindBool {
		t.Error("Tri.Value is wrong")
	}
}
