package varint

import (
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

var errShort = errors.New("short")

func TestReader(t *testing.T) {
	b := binary.AppendUvarint([]byte{7}, math.MaxUint64)
	b = binary.AppendVarint(b, math.MinInt64)
	b = append(binary.AppendUvarint(b, 3), "abcde"...)
	r := Reader{Rest: b, Short: errShort}
	if v := r.Byte(); v != 7 {
		t.Errorf("byte %d", v)
	}
	if v := r.Uint(); v != math.MaxUint64 {
		t.Errorf("uint %d", v)
	}
	if v := r.Int(); v != math.MinInt64 {
		t.Errorf("int %d", v)
	}
	if v := r.Bytes(); string(v) != "abc" {
		t.Errorf("bytes %q", v)
	}
	if v := r.Take(2); string(v) != "de" || r.Err != nil || len(r.Rest) != 0 {
		t.Errorf("%q, %v, %q are left", v, r.Err, r.Rest)
	}
}

// TestReaderFails: what is too short ends the reading for good, and the first failure
// is kept.
func TestReaderFails(t *testing.T) {
	for name, read := range map[string]func(*Reader) bool{
		"byte":   func(r *Reader) bool { r.Rest = nil; return r.Byte() == 0 },
		"uint":   func(r *Reader) bool { r.Rest = []byte{0x80}; return r.Uint() == 0 },
		"int":    func(r *Reader) bool { r.Rest = []byte{0x80}; return r.Int() == 0 },
		"count":  func(r *Reader) bool { r.Rest = []byte{3, 1, 2}; return r.Count() == 0 },
		"bytes":  func(r *Reader) bool { r.Rest = []byte{3, 1, 2}; return len(r.Bytes()) == 0 },
		"take":   func(r *Reader) bool { r.Rest = []byte{1}; return r.Take(2) == nil },
		"take -": func(r *Reader) bool { r.Rest = []byte{1}; return r.Take(-1) == nil },
	} {
		r := &Reader{Short: errShort}
		if !read(r) || !errors.Is(r.Err, errShort) || r.Rest != nil {
			t.Errorf("%s: %v, %v is left", name, r.Err, r.Rest)
		}
		if r.Fail(errors.New("later")); !errors.Is(r.Err, errShort) || r.Byte() != 0 {
			t.Errorf("%s: the first failure is lost: %v", name, r.Err)
		}
	}
}
