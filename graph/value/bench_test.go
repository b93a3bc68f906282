package value

import "testing"

// The comparisons run once a row or more and must not allocate.
func TestHotPathsDoNotAllocate(t *testing.T) {
	a, b := list(Int(1), String("abcdefghij"), OfDate(Date{Days: 3})), list(Int(1), String("abcdefghij"), OfDate(Date{Days: 4}))
	for name, f := range map[string]func(){
		"Equal":      func() { Equal(a, b) },
		"Less":       func() { Less(a, b) },
		"Order":      func() { Order(a, b) },
		"Equivalent": func() { Equivalent(a, b) },
		"Hash":       func() { Hash(a) },
		"String":     func() { String("x").AsString() },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s allocates %v times", name, n)
		}
	}
}

func BenchmarkHash(b *testing.B) {
	b.ReportAllocs()
	v := String("the quick brown fox jumps over the lazy dog")
	for b.Loop() {
		Hash(v)
	}
}

func BenchmarkEqual(b *testing.B) {
	b.ReportAllocs()
	x, y := String("the quick brown fox"), String("the quick brown fix")
	for b.Loop() {
		Equal(x, y)
	}
}
