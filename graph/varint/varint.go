// Package varint reads numbers as encoding/binary's AppendUvarint and AppendVarint write
// them, and what stands between them:
//
//	r := varint.Reader{Rest: payload, Short: errShort}
//	id, at := r.Uint(), r.Int()
//	if r.Err != nil { ... }
package varint

import "encoding/binary"

// Reader reads bytes front to back. After the first failure it returns zeros and
// nothing is left to be read. Nothing it is given makes it panic.
type Reader struct {
	Rest  []byte // what was not read yet
	Short error  // the failure to note when more is asked for than there is
	Err   error  // the first failure; nil while there was none
}

// Fail notes a failure, unless there was one before.
func (r *Reader) Fail(err error) {
	if r.Err == nil {
		r.Err = err
	}
	r.Rest = nil
}

// Byte reads one byte.
func (r *Reader) Byte() byte {
	if len(r.Rest) == 0 {
		r.Fail(r.Short)
		return 0
	}
	v := r.Rest[0]
	r.Rest = r.Rest[1:]
	return v
}

// Uint reads a number without a sign.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.Rest)
	if n <= 0 {
		r.Fail(r.Short)
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Int reads a number with a sign.
func (r *Reader) Int() int64 {
	v, n := binary.Varint(r.Rest)
	if n <= 0 {
		r.Fail(r.Short)
		return 0
	}
	r.Rest = r.Rest[n:]
	return v
}

// Count reads how many things follow, each of which takes a byte at least: so it
// never asks for more memory than there are bytes.
func (r *Reader) Count() int {
	n := r.Uint()
	if n > uint64(len(r.Rest)) {
		r.Fail(r.Short)
		return 0
	}
	return int(n)
}

// Bytes reads a count and so many bytes, which belong to what is read.
func (r *Reader) Bytes() []byte { return r.Take(r.Count()) }

// Take reads n bytes, which belong to what is read.
func (r *Reader) Take(n int) []byte {
	if n < 0 || n > len(r.Rest) {
		r.Fail(r.Short)
		return nil
	}
	b := r.Rest[:n]
	r.Rest = r.Rest[n:]
	return b
}
