package key

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"engram/graph/value"
)

var texts = rapid.SampledFrom([]string{
	"", "a", "ab", "\x00", "a\x00", "é", strings.Repeat("x", 256), strings.Repeat("x", 300),
	strings.Repeat("x", 299) + "y", strings.Repeat("\x00", 300),
})

// drawIndexed draws values that are often equal, close or long.
func drawIndexed(t *rapid.T, label string) value.Value {
	scalar := rapid.OneOf(
		rapid.Map(rapid.Int64Range(-3, 3), value.Int),
		rapid.Map(rapid.SampledFrom([]float64{-2, -.5, 0, 1, 1.5, 9007199254740993}), value.Float),
		rapid.Map(texts, value.String),
		rapid.Map(rapid.Bool(), value.Bool),
		rapid.Map(rapid.Int64Range(-2, 2), func(d int64) value.Value { return value.OfDate(value.Date{Days: d}) }),
		rapid.Custom(func(t *rapid.T) value.Value {
			zone := time.FixedZone("", 3600*rapid.IntRange(-2, 2).Draw(t, "zone"))
			v, err := value.FromAny(time.Unix(rapid.Int64Range(0, 3).Draw(t, "second"), 0).In(zone))
			if err != nil {
				t.Fatal(err)
			}
			return v
		}),
	)
	return rapid.OneOf(scalar, rapid.Map(rapid.SliceOfN(scalar, 0, 3), value.List)).Draw(t, label)
}

func component(t *rapid.T, v value.Value) []byte {
	b, err := AppendIndexed(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	if len(b) > componentMax {
		t.Fatalf("%d bytes", len(b))
	}
	return b
}

func TestIndexedComponents(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := drawIndexed(t, "a"), drawIndexed(t, "b")
		x, y := component(t, a), component(t, b)
		if equal := value.Equal(a, b) == value.True; equal != bytes.Equal(x, y) {
			t.Fatalf("%v = %v is %v, but the keys are %x and %x", a, b, equal, x, y)
		}
	})
}

func TestRangeHoldsWhatLiesBetween(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo, hi, v := drawIndexed(t, "lo"), drawIndexed(t, "hi"), drawIndexed(t, "v")
		switch rapid.IntRange(0, 2).Draw(t, "open") {
		case 0:
			lo = value.Null
		case 1:
			hi = value.Null
		}
		from, to, ok := Range(lo, hi)
		x := component(t, v)
		inside := ok && bytes.Compare(x, from) >= 0 && (to == nil || bytes.Compare(x, to) < 0)
		wanted := (lo.IsNull() || value.LessOrEqual(lo, v) == value.True) && (hi.IsNull() || value.LessOrEqual(v, hi) == value.True)
		if wanted && !inside {
			t.Fatalf("%v lies between %v and %v, but %x not in %x to %x", v, lo, hi, x, from, to)
		}
	})
}

func TestPrefixHoldsWhatBeginsWithIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := texts.Draw(t, "s")
		n := rapid.IntRange(0, len(s)).Draw(t, "n")
		if !bytes.HasPrefix(component(t, value.String(s)), Prefix(s[:n])) {
			t.Fatalf("%q does not begin as %q does", s, s[:n])
		}
	})
}
