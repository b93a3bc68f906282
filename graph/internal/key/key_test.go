package key_test

import (
	"bytes"
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/internal/key"
	"engram/graph/value"
)

func of(t interface{ Fatal(...any) }, v value.Value) []byte {
	b, err := key.Append(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestNumbersOrderExactly(t *testing.T) {
	ascending := []value.Value{
		value.Float(math.Inf(-1)), value.Float(-math.MaxFloat64), value.Int(math.MinInt64), value.Int(math.MinInt64 + 1),
		value.Int(-(1<<53 + 1)), value.Int(-1 << 53), value.Float(-1.5), value.Int(-1), value.Int(0),
		value.Float(5e-324), value.Int(1), value.Float(1.5), value.Int(1 << 53), value.Int(1<<53 + 1), value.Int(1<<53 + 2),
		value.Int(math.MaxInt64 - 1), value.Int(math.MaxInt64), value.Float(1 << 63), value.Float(math.Inf(1)), value.Float(math.NaN()),
	}
	for i := 1; i < len(ascending); i++ {
		if bytes.Compare(of(t, ascending[i-1]), of(t, ascending[i])) >= 0 {
			t.Errorf("number %d does not sort behind number %d", i, i-1)
		}
	}
	if !bytes.Equal(of(t, value.Int(1)), of(t, value.Float(1))) {
		t.Error("1 and 1.0 have different keys")
	}
	if !bytes.Equal(of(t, value.Float(0)), of(t, value.Float(math.Copysign(0, -1)))) {
		t.Error("0.0 and -0.0 have different keys")
	}
	if bytes.Equal(of(t, value.Int(1<<53+1)), of(t, value.Float(1<<53))) {
		t.Error("2^53+1 and 2.0^53 have one key")
	}
}

func TestRandomNumbersOrderLikeBigNumbers(t *testing.T) {
	number := rapid.OneOf(
		rapid.Map(rapid.Int64(), value.Int),
		rapid.Map(rapid.Float64(), value.Float),
		rapid.Custom(func(t *rapid.T) value.Value { // near a float
			return value.Int(int64(1)<<rapid.IntRange(50, 62).Draw(t, "exp") + rapid.Int64Range(-1025, 1025).Draw(t, "off"))
		}),
		rapid.Map(rapid.IntRange(50, 62), func(e int) value.Value { return value.Float(math.Ldexp(1, e)) }),
	)
	exact := func(v value.Value) *big.Float {
		f := new(big.Float).SetPrec(2000)
		if v.Kind() == value.KindInt {
			return f.SetInt64(v.AsInt())
		}
		return f.SetFloat64(v.AsFloat())
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := number.Draw(t, "a"), number.Draw(t, "b")
		if want, got := exact(a).Cmp(exact(b)), bytes.Compare(of(t, a), of(t, b)); want != got {
			t.Fatalf("keys compare %d, numbers %d", got, want)
		}
	})
}

func TestStringsOrderBytewiseAndAreNoPrefixes(t *testing.T) {
	alphabet := rapid.StringOf(rapid.SampledFrom([]rune{0, 1, 'a', 'b', 0xFF, 0x10FFFF}))
	rapid.Check(t, func(t *rapid.T) {
		a, b := alphabet.Draw(t, "a"), alphabet.Draw(t, "b")
		ka, kb := of(t, value.String(a)), of(t, value.String(b))
		if len(a) <= key.StringMax && len(b) <= key.StringMax && strings.Compare(a, b) != bytes.Compare(ka, kb) {
			t.Fatalf("%q and %q sort differently from their keys", a, b)
		}
		if a != b && (bytes.HasPrefix(ka, kb) || bytes.HasPrefix(kb, ka)) {
			t.Fatalf("a key of %q and %q is a prefix of the other", a, b)
		}
	})
}

func TestLongStrings(t *testing.T) {
	long := strings.Repeat("l", key.StringMax)
	a, b := of(t, value.String(long+"a")), of(t, value.String(long+"b"))
	if bytes.Equal(a, b) || len(a) > key.StringMax+32 {
		t.Errorf("long strings: equal %v, %d bytes", bytes.Equal(a, b), len(a))
	}
	if bytes.Compare(of(t, value.String(long)), a) >= 0 {
		t.Error("a long string sorts before its own prefix")
	}
	if bytes.Compare(a, of(t, value.String("m"))) >= 0 {
		t.Error("a long string sorts behind what is greater")
	}
}

func TestListsAndTemporals(t *testing.T) {
	list := func(vs ...value.Value) value.Value { return value.List(vs) }
	ascending := []value.Value{
		list(), list(value.String("")), list(value.String("a")), list(value.String("a"), value.Int(1)), list(value.String("b")),
		value.OfDateTime(value.DateTime{Seconds: -1, Nanos: 5}), value.OfDateTime(value.DateTime{Seconds: 1, Offset: 3600}),
		value.OfDateTime(value.DateTime{Seconds: 1, Offset: 3600, Zone: "Europe/Berlin"}),
		value.OfDate(value.Date{Days: -1}), value.OfDate(value.Date{Days: 1}),
		value.OfTime(value.Time{Nanos: 7200e9, Offset: 7200}), value.OfTime(value.Time{Nanos: 1}),
		value.String("a"), value.Bool(false), value.Bool(true), value.Int(-1),
	}
	for i := 1; i < len(ascending); i++ {
		if bytes.Compare(of(t, ascending[i-1]), of(t, ascending[i])) >= 0 {
			t.Errorf("value %d does not sort behind value %d", i, i-1)
		}
	}
	for _, v := range []value.Value{value.Null, value.NodeRef(1), list(value.Null)} {
		if _, err := key.Append(nil, v); err == nil {
			t.Errorf("a %s got a key", v.Kind())
		}
	}
}

func TestAfter(t *testing.T) {
	for _, c := range []struct{ in, want string }{{"a", "b"}, {"a\xff", "b"}, {"a\xff\xff", "b"}} {
		if got := key.After([]byte(c.in)); string(got) != c.want {
			t.Errorf("After(%q) = %q, want %q", c.in, got, c.want)
		}
	}
	if key.After([]byte{0xFF}) != nil {
		t.Error("there is a key after everything")
	}
}
