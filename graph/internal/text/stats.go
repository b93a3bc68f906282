package text

import (
	"encoding/binary"
	"errors"

	"engram/graph/value"
)

// fieldStats count what BM25 needs of one field.
type fieldStats struct {
	docs   uint64 // documents with a token in the field
	tokens uint64
}

// counts are the statistics of all documents at one point: exact, whatever the
// segments look like.
type counts struct {
	docs   uint64
	fields []fieldStats
}

func newCounts(fields int) counts { return counts{fields: make([]fieldStats, fields)} }

// replaced returns the counts after a document took the place of another; old
// is nil, or its lengths by field, when there was none.
func (c counts) replaced(old []uint32, d *document) counts {
	next := counts{docs: c.docs, fields: append([]fieldStats(nil), c.fields...)}
	if old != nil {
		next.docs--
	}
	for f, n := range old {
		if n > 0 {
			next.fields[f].docs--
			next.fields[f].tokens -= uint64(n)
		}
	}
	if !d.deleted() {
		next.docs++
	}
	for _, f := range d.fields {
		next.fields[f.field].docs++
		next.fields[f.field].tokens += uint64(f.length)
	}
	return next
}

// lengths returns the lengths of a document by field; nil for a deleted one.
func (d *document) lengths(fields int) []uint32 {
	if d.deleted() {
		return nil
	}
	out := make([]uint32, fields)
	for _, f := range d.fields {
		out[f.field] = f.length
	}
	return out
}

// header is what the index on disk says about itself. It is written in the same
// batch as the documents it describes.
type header struct {
	print   uint32 // Options.fingerprint
	seq     uint64 // every change up to it is in, and none after
	maxNode value.NodeID
	counts  counts
}

// headerKey is where the header is kept.
var headerKey = []byte("engram")

func (h header) encode() []byte {
	b := binary.AppendUvarint(nil, uint64(h.print))
	b = binary.AppendUvarint(b, h.seq)
	b = binary.AppendUvarint(b, uint64(h.maxNode))
	b = binary.AppendUvarint(b, h.counts.docs)
	b = binary.AppendUvarint(b, uint64(len(h.counts.fields)))
	for _, f := range h.counts.fields {
		b = binary.AppendUvarint(b, f.docs)
		b = binary.AppendUvarint(b, f.tokens)
	}
	return b
}

var errHeader = errors.New("text index: header missing or cut off")

func decodeHeader(b []byte) (h header, err error) {
	next := func() uint64 {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			err = errHeader
			return 0
		}
		b = b[n:]
		return v
	}
	h.print = uint32(next())
	h.seq = next()
	h.maxNode = value.NodeID(next())
	h.counts.docs = next()
	n := next()
	if err != nil || n > 64 {
		return h, errHeader
	}
	h.counts.fields = make([]fieldStats, n)
	for i := range h.counts.fields {
		h.counts.fields[i] = fieldStats{next(), next()}
	}
	return h, err
}

// appendLengths and readLengths are the stored form of a document's lengths.
func appendLengths(b []byte, lengths []uint32) []byte {
	for _, n := range lengths {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return b
}

func readLengths(b []byte, fields int) ([]uint32, error) {
	out := make([]uint32, fields)
	for i := range out {
		v, n := binary.Uvarint(b)
		if n <= 0 {
			return nil, errors.New("text index: stored lengths are cut off")
		}
		out[i], b = uint32(v), b[n:]
	}
	return out, nil
}
