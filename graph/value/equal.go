package value

// Equal is Cypher's = : three-valued, Unknown where null takes part in the
// decision. Numbers compare by exact value whatever their kind, NaN equals
// nothing, other values of different kinds are different. Lists of unequal
// length and maps with unequal keys are different whatever they hold; otherwise
// one differing element decides, and a null among equal ones leaves Unknown.
// Nodes and edges are equal when their ids are; times with an offset and
// datetimes when they are the same instant; durations part by part.
func Equal(a, b Value) Tri {
	switch {
	case a.Kind() == KindNull || b.Kind() == KindNull:
		return Unknown
	case a.IsNumber() && b.IsNumber():
		c, ok := compareNumbers(a, b)
		return TriOf(ok && c == 0)
	case a.Kind() != b.Kind():
		return False
	}
	switch a.Kind() {
	case KindString:
		return TriOf(a.AsString() == b.AsString())
	case KindList:
		return equalLists(a.AsList(), b.AsList())
	case KindMap:
		return equalProps(a.AsMap().Entries, b.AsMap().Entries)
	}
	return TriOf(Order(a, b) == 0)
}

func equalLists(a, b []Value) Tri {
	if len(a) != len(b) {
		return False
	}
	all := True
	for i := range a {
		if all = all.And(Equal(a[i], b[i])); all == False {
			return False
		}
	}
	return all
}

func equalProps(a, b []Prop) Tri {
	if len(a) != len(b) {
		return False
	}
	for i := range a {
		if a[i].Key != b[i].Key {
			return False
		}
	}
	all := True
	for i := range a {
		if all = all.And(Equal(a[i].Value, b[i].Value)); all == False {
			return False
		}
	}
	return all
}

// Equivalent is the equality of DISTINCT, grouping and UNION: two-valued, null
// is like null and NaN like NaN, 1 is like 1.0. It holds exactly when Order is
// 0, and equivalent values have the same Hash.
func Equivalent(a, b Value) bool {
	if a.Kind() == KindString && b.Kind() == KindString {
		return a.AsString() == b.AsString()
	}
	return Order(a, b) == 0
}

// Less is Cypher's < : Unknown when either is null or their kinds are not
// comparable, False when NaN takes part. Comparable are numbers, strings (by
// code point), booleans (false first), lists (by the first element that
// differs, then by length) and temporal values of one kind other than
// durations.
func Less(a, b Value) Tri { return less(a, b, false) }

// LessOrEqual is Cypher's <=, with the same domain as Less.
func LessOrEqual(a, b Value) Tri { return less(a, b, true) }

func less(a, b Value, orEqual bool) Tri {
	if a.Kind() == KindList && b.Kind() == KindList {
		return lessList(a.AsList(), b.AsList(), orEqual)
	}
	if c, ok := Compare(a, b); ok {
		return TriOf(c < 0 || orEqual && c == 0)
	}
	if a.IsNumber() && b.IsNumber() {
		return False // NaN
	}
	return Unknown
}

func lessList(a, b []Value, orEqual bool) Tri {
	for i := range min(len(a), len(b)) {
		switch Equal(a[i], b[i]) {
		case Unknown:
			return Unknown
		case False:
			return less(a[i], b[i], false)
		}
	}
	return TriOf(len(a) < len(b) || orEqual && len(a) == len(b))
}

// Compare returns a negative number, 0 or a positive number as a is less than,
// equal to or greater than b. ok is false where < has no answer: for null, NaN
// and values of kinds that are not comparable. Operators want Less and
// LessOrEqual, which also tell NaN (false) from null.
func Compare(a, b Value) (c int, ok bool) {
	if a.IsNumber() && b.IsNumber() {
		return compareNumbers(a, b)
	}
	if a.Kind() != b.Kind() {
		return 0, false
	}
	switch a.Kind() {
	case KindString, KindBool, KindDate, KindLocalTime, KindTime, KindLocalDateTime, KindDateTime:
		return Order(a, b), true
	case KindList:
		return compareLists(a.AsList(), b.AsList())
	}
	return 0, false
}

func compareLists(a, b []Value) (c int, ok bool) {
	for i := range min(len(a), len(b)) {
		if c, ok = Compare(a[i], b[i]); ok && c == 0 {
			continue
		}
		if !ok && Equal(a[i], b[i]) == True { // equal, though without an order: nodes, maps
			continue
		}
		return c, ok
	}
	return len(a) - len(b), true
}
