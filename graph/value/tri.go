package value

// Tri is a truth value of Cypher's three-valued logic. The zero Tri is Unknown,
// which Cypher writes null.
type Tri uint8

// The truth values.
const (
	Unknown Tri = iota
	False
	True
)

// TriOf turns a Go boolean into a truth value.
func TriOf(b bool) Tri {
	if b {
		return True
	}
	return False
}

// Not negates t; Unknown stays Unknown.
func (t Tri) Not() Tri {
	switch t {
	case True:
		return False
	case False:
		return True
	}
	return Unknown
}

// And is True when both are, False when either is, else Unknown.
func (t Tri) And(u Tri) Tri {
	switch {
	case t == False || u == False:
		return False
	case t == True && u == True:
		return True
	}
	return Unknown
}

// Or is True when either is, False when both are, else Unknown.
func (t Tri) Or(u Tri) Tri { return t.Not().And(u.Not()).Not() }

// Xor is Unknown when either is, else whether exactly one is True.
func (t Tri) Xor(u Tri) Tri {
	if t == Unknown || u == Unknown {
		return Unknown
	}
	return TriOf(t != u)
}

// Value returns the boolean value of t, or Null for Unknown.
func (t Tri) Value() Value {
	if t == Unknown {
		return Null
	}
	return Bool(t == True)
}

// String returns true, false or null.
func (t Tri) String() string {
	switch t {
	case True:
		return "true"
	case False:
		return "false"
	}
	return "null"
}
