package text

import (
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	"github.com/blevesearch/bleve/v2/index/scorch"
	segment "github.com/blevesearch/scorch_segment_api/v2"

	"engram/graph/value"
)

// lengthsField is the stored field that keeps a document's lengths.
const lengthsField = "_n"

// docID is a node's id in the index on disk: fixed width, in order of id.
func docID(n value.NodeID) string {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(n))
	return string(b[:])
}

// base is one immutable snapshot of the index on disk: its segments and what
// the header says of them. The empty base has no segments.
type base struct {
	header
	fields []string // the names, in order of Options.Fields
	segs   []*baseSeg
	total  uint32 // documents in segs, deleted ones included
	pin    *pin
	pool   sync.Pool // of *[]dictionaries
}

// baseSeg is one segment of a snapshot.
type baseSeg struct {
	seg     segment.Segment
	id      uint64
	deleted *roaring.Bitmap // may be nil
	start   uint32          // of its documents among all of the base
	table   *nodeTable
}

// nodeTable tells the node of every document of a segment. Segments with the
// same id have the same documents, so snapshots share it.
type nodeTable struct {
	once  sync.Once
	nodes []value.NodeID
	err   error
}

// pin keeps a snapshot's files in place. It is let go when the index closes or
// when nothing refers to the base any more, whichever comes first, but never
// while somebody reads.
type pin struct {
	mu      sync.Mutex
	idle    sync.Cond
	readers int
	closed  bool
	snap    *scorch.IndexSnapshot
}

func newPin(snap *scorch.IndexSnapshot) *pin {
	p := &pin{snap: snap}
	p.idle.L = &p.mu
	return p
}

// acquire starts a read; false once the pin was let go.
func (p *pin) acquire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return false
	}
	p.readers++
	return true
}

func (p *pin) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readers--; p.readers == 0 {
		p.idle.Broadcast()
	}
}

// letGo waits for readers to finish and releases the files.
func (p *pin) letGo() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for p.readers > 0 {
		p.idle.Wait()
	}
	if !p.closed {
		p.closed = true
		if p.snap != nil {
			_ = p.snap.Close()
		}
	}
}

func emptyBase(fields []Field) *base {
	b := &base{pin: newPin(nil)}
	b.setFields(fields)
	b.counts = newCounts(len(fields))
	return b
}

func (b *base) setFields(fields []Field) {
	for _, f := range fields {
		b.fields = append(b.fields, f.Name)
	}
}

// openBase wraps the index's current snapshot. prev may share its node tables.
func openBase(s *scorch.Scorch, fields []Field, prev *base) (*base, error) {
	r, err := s.Reader()
	if err != nil {
		return nil, err
	}
	snap, ok := r.(*scorch.IndexSnapshot)
	if !ok || snap == nil {
		return nil, ErrClosed
	}
	b := &base{pin: newPin(snap)}
	b.setFields(fields)
	raw, err := snap.GetInternal(headerKey)
	if err == nil {
		b.header, err = decodeHeader(raw)
	}
	if err != nil {
		b.pin.letGo()
		return nil, err
	}
	tables := map[uint64]*nodeTable{}
	if prev != nil {
		for _, s := range prev.segs {
			tables[s.id] = s.table
		}
	}
	for _, s := range snap.Segments() {
		seg := &baseSeg{seg: s.Segment(), id: s.Id(), deleted: s.Deleted(), start: b.total, table: tables[s.Id()]}
		if seg.table == nil {
			seg.table = &nodeTable{}
		}
		b.segs = append(b.segs, seg)
		b.total += uint32(seg.seg.Count())
	}
	runtime.AddCleanup(b, func(p *pin) { p.letGo() }, b.pin)
	return b, nil
}

// nodeIDs returns the nodes of a segment's documents.
func (s *baseSeg) nodeIDs() ([]value.NodeID, error) {
	t := s.table
	t.once.Do(func() {
		n := s.seg.Count()
		t.nodes = make([]value.NodeID, n)
		for i := range n {
			id, err := s.seg.DocID(i)
			if err != nil || len(id) != 8 {
				t.err = fmt.Errorf("text index: document %d of segment %d has no usable id: %w", i, s.id, err)
				return
			}
			t.nodes[i] = value.NodeID(binary.BigEndian.Uint64(id))
		}
	})
	return t.nodes, t.err
}

// docRef is a document of a base.
type docRef struct {
	seg int
	doc uint32
}

// find returns the document of a node and its lengths; ok is false when the
// base has none.
func (b *base) find(node value.NodeID) (ref docRef, lengths []uint32, ok bool, err error) {
	if node > b.maxNode || len(b.segs) == 0 {
		return ref, nil, false, nil
	}
	ids := []string{docID(node)}
	for i := len(b.segs) - 1; i >= 0; i-- { // the newest segment first
		s := b.segs[i]
		docs, err := s.seg.DocNumbers(ids)
		if err != nil {
			return ref, nil, false, err
		}
		if s.deleted != nil {
			docs.AndNot(s.deleted)
		}
		if docs.IsEmpty() {
			continue
		}
		ref = docRef{i, docs.Minimum()}
		lengths, err = b.lengthsOf(ref)
		return ref, lengths, err == nil, err
	}
	return ref, nil, false, nil
}

func (b *base) lengthsOf(r docRef) (lengths []uint32, err error) {
	verr := b.segs[r.seg].seg.VisitStoredFields(uint64(r.doc), func(field string, _ byte, val []byte, _ []uint64) bool {
		if field != lengthsField {
			return true
		}
		lengths, err = readLengths(val, len(b.fields))
		return false
	})
	if err == nil {
		err = verr
	}
	if err == nil && lengths == nil {
		err = fmt.Errorf("text index: document %d of segment %d has no stored lengths", r.doc, b.segs[r.seg].id)
	}
	return lengths, err
}

// dictionaries are one reader's term dictionaries by segment and field; they
// are not safe for concurrent use, hence the pool.
type dictionaries [][]segment.TermDictionary

func (b *base) dictionaries() (dictionaries, error) {
	if d, ok := b.pool.Get().(*dictionaries); ok {
		return *d, nil
	}
	out := make(dictionaries, len(b.segs))
	for i, s := range b.segs {
		out[i] = make([]segment.TermDictionary, len(b.fields))
		for f, name := range b.fields {
			d, err := s.seg.Dictionary(name)
			if err != nil {
				return nil, fmt.Errorf("text index: dictionary of field %q: %w", name, err)
			}
			out[i][f] = d
		}
	}
	return out, nil
}

func (b *base) giveBack(d dictionaries) { b.pool.Put(&d) }

// lengthOf reads a field's length from a posting. The segments store it as it
// is, while the interface's norm is one over its root.
func lengthOf(p segment.Posting) uint32 {
	if exact, ok := p.(interface{ NormUint64() uint64 }); ok {
		return uint32(exact.NormUint64())
	}
	norm := p.Norm()
	return uint32(math.Round(1 / (norm * norm))) // exact below four million
}
