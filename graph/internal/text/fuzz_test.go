package text

import (
	"bytes"
	"testing"
)

// FuzzHeader reads arbitrary headers of an index and lengths of a document: they
// may be refused, and what is accepted means the same when it is written again.
func FuzzHeader(f *testing.F) {
	h := header{print: 7, seq: 9, maxNode: 11, counts: newCounts(2)}
	f.Add(h.encode())
	f.Add(appendLengths(nil, []uint32{3, 0, 400}))
	f.Add([]byte{1, 1, 1, 1, 0xFF, 0xFF, 0xFF, 0x7F})
	f.Fuzz(func(t *testing.T, b []byte) {
		if h, err := decodeHeader(b); err == nil {
			again, err := decodeHeader(h.encode())
			if err != nil || !bytes.Equal(again.encode(), h.encode()) {
				t.Errorf("%x is read as %+v and then as %+v, %v", b, h, again, err)
			}
		}
		if lengths, err := readLengths(b, 3); err == nil && len(lengths) != 3 {
			t.Errorf("%x has %d lengths", b, len(lengths))
		}
	})
}
