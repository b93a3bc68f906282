package value

import (
	"math"
	"unsafe"
)

// Value is one immutable EQL value. It is 24 bytes, copied freely and safe for
// concurrent use. The zero Value is Null. Compare values with Equal,
// Equivalent or Order, never with ==.
//
// Small kinds live in num alone. Strings and lists keep their first element in
// ptr and their length in num, so that making one allocates nothing. Size and Depth
// are known when a value is made, so that asking for them takes no time, however
// often parts of it are shared.
//
// There are three fields since the compiler keeps a struct of up to four in
// registers; with kind, size and depth each in one of its own, comparing two values
// took ten times as long.
type Value struct {
	ptr  unsafe.Pointer
	num  uint64
	what uint64 // see describe
}

// Null is the absent value.
var Null = Value{}

// Bool makes a boolean.
func Bool(b bool) Value {
	if b {
		return Value{what: uint64(KindBool), num: 1}
	}
	return Value{what: uint64(KindBool)}
}

// Int makes a 64-bit integer.
func Int(i int64) Value { return Value{what: uint64(KindInt), num: uint64(i)} }

// Float makes a 64-bit IEEE 754 number.
func Float(f float64) Value { return Value{what: uint64(KindFloat), num: math.Float64bits(f)} }

// String makes a string. It should be valid UTF-8; Validate tells.
func String(s string) Value {
	return Value{what: describe(KindString, wordsOf(len(s)), 0), num: uint64(len(s)), ptr: unsafe.Pointer(unsafe.StringData(s))}
}

// List makes a list. It takes over the slice: the caller must not change it.
func List(elems []Value) Value {
	words, depth := weigh(elems)
	return Value{
		what: describe(KindList, saturated(words), deeper(depth)),
		num:  uint64(len(elems)), ptr: unsafe.Pointer(unsafe.SliceData(elems)),
	}
}

// Part returns the elements of a list from one place up to another, from 0 to its
// length. It takes no time for a list of numbers and the like.
func (v Value) Part(from, to int) Value {
	elems := v.AsList()
	if v.Depth() != 1 || int(v.words()) != len(elems)*(valueSize/wordSize) {
		return List(elems[from:to:to])
	}
	part := elems[from:to:to]
	v.num, v.what = uint64(len(part)), describe(KindList, uint32(len(part)*(valueSize/wordSize)), 1)
	v.ptr = unsafe.Pointer(unsafe.SliceData(part))
	return v
}

// Kind tells what v holds.
func (v Value) Kind() Kind { return Kind(v.what) }

// IsNull reports whether v is Null.
func (v Value) IsNull() bool { return v.Kind() == KindNull }

// IsNumber reports whether v is an integer or a float.
func (v Value) IsNumber() bool { return v.Kind() == KindInt || v.Kind() == KindFloat }

// AsBool returns the boolean that v holds; v must be of KindBool. It, like all
// As methods, returns a zero of its type when v is of another kind.
func (v Value) AsBool() bool { return v.Kind() == KindBool && v.num != 0 }

// AsInt returns the integer that v holds.
func (v Value) AsInt() int64 {
	if v.Kind() != KindInt {
		return 0
	}
	return int64(v.num)
}

// AsFloat returns the number that v holds; an integer is converted.
func (v Value) AsFloat() float64 {
	switch v.Kind() {
	case KindFloat:
		return math.Float64frombits(v.num)
	case KindInt:
		return float64(int64(v.num))
	}
	return 0
}

// AsString returns the string that v holds, without copying it.
func (v Value) AsString() string {
	if v.Kind() != KindString || v.num == 0 {
		return ""
	}
	return unsafe.String((*byte)(v.ptr), int(v.num))
}

// AsList returns the elements of v without copying them: read only.
func (v Value) AsList() []Value {
	if v.Kind() != KindList || v.num == 0 {
		return nil
	}
	return unsafe.Slice((*Value)(v.ptr), int(v.num))
}
