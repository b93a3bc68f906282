// Package logentry is the format of the log: for each seq everything that a
// follower needs to move from the seq before it, without reading anything but
// the records the entry names.
package logentry

import (
	"encoding/binary"
	"errors"
	"fmt"

	"engram/graph/internal/record"
	"engram/graph/value"
	"engram/graph/varint"
)

// version of the entry format.
//
//	1  first
//	2  may end with counts
//	3  may end with learned weights; written only by an entry that has some
const version = 3

// The bits of an entry's flags.
const (
	flagBulk = 1 << iota
	flagCounts
	flagLearned
)

// Entry is one transaction as followers see it. Order inside a slice is the
// order in which the changes happened; a follower applies the slices in the
// order of the fields.
type Entry struct {
	// Bulk marks a batch of a bulk load: the entry lists nothing but the id
	// ranges, and a follower reads the records of [From, To).
	Bulk             bool
	NodeFrom, NodeTo value.NodeID
	EdgeFrom, EdgeTo value.EdgeID
	NodesAdded       []NodeAdded
	Labels           []LabelsSet
	EdgesAdded       []EdgeAdded
	EdgesDeleted     []value.EdgeID
	NodesDeleted     []value.NodeID // incident edges end with them
	Hot              []HotSet
	Attrs            []AttrSet
	TextChanged      []value.NodeID // in ascending order
	EdgesSwept       []value.EdgeID // records of edges that ended with a node before, ascending
	Learned          []LearnedSet   // of edges that are there at the end, in the order of the changes
	// Counts, when known, is how many elements there are after the transaction: a
	// follower can tell whether it missed something.
	Counts *Counts
}

// Counts are numbers of visible elements.
type Counts struct{ Nodes, Edges uint64 }

// NodeAdded is a new node with the labels it has at the end.
type NodeAdded struct {
	ID        value.NodeID
	CreatedMS int64
	Labels    []value.LabelID
}

// LabelsSet is an older node's labels at the end.
type LabelsSet struct {
	ID     value.NodeID
	Labels []value.LabelID
}

// EdgeAdded is a new edge.
type EdgeAdded struct {
	ID        value.EdgeID
	Src, Dst  value.NodeID
	Type      value.TypeID
	CreatedMS int64
}

// HotSet is a property that the topology keeps a copy of; Null when removed.
type HotSet struct {
	ID    value.NodeID
	Key   value.KeyID
	Value value.Value
}

// AttrSet is a property of an edge that the topology keeps a copy of; Null when
// removed. New edges are listed here too when they have one.
type AttrSet struct {
	ID    value.EdgeID
	Key   value.KeyID
	Value value.Value
}

// LearnedSet is the learned weight of an edge, in the units of package learn; 0 when
// nothing is learned any more.
type LearnedSet struct {
	ID    value.EdgeID
	Units int32
}

// Append appends the payload of an entry.
func Append(b []byte, e *Entry) ([]byte, error) {
	flags := byte(0)
	if e.Bulk {
		flags |= flagBulk
	}
	if e.Counts != nil {
		flags |= flagCounts
	}
	v := byte(2)
	if len(e.Learned) > 0 {
		v, flags = version, flags|flagLearned
	}
	b = append(b, v, flags)
	for _, v := range []uint64{uint64(e.NodeFrom), uint64(e.NodeTo), uint64(e.EdgeFrom), uint64(e.EdgeTo)} {
		b = binary.AppendUvarint(b, v)
	}
	b = binary.AppendUvarint(b, uint64(len(e.NodesAdded)))
	for _, n := range e.NodesAdded {
		b = binary.AppendUvarint(b, uint64(n.ID))
		b = binary.AppendVarint(b, n.CreatedMS)
		b = appendIDs(b, n.Labels)
	}
	b = binary.AppendUvarint(b, uint64(len(e.Labels)))
	for _, n := range e.Labels {
		b = appendIDs(binary.AppendUvarint(b, uint64(n.ID)), n.Labels)
	}
	b = binary.AppendUvarint(b, uint64(len(e.EdgesAdded)))
	for _, x := range e.EdgesAdded {
		for _, v := range []uint64{uint64(x.ID), uint64(x.Src), uint64(x.Dst), uint64(x.Type)} {
			b = binary.AppendUvarint(b, v)
		}
		b = binary.AppendVarint(b, x.CreatedMS)
	}
	b = appendIDs(b, e.EdgesDeleted)
	b = appendIDs(b, e.NodesDeleted)
	var err error
	b = binary.AppendUvarint(b, uint64(len(e.Hot)))
	for _, h := range e.Hot {
		if b, err = appendSet(b, uint64(h.ID), h.Key, h.Value); err != nil {
			return nil, err
		}
	}
	b = binary.AppendUvarint(b, uint64(len(e.Attrs)))
	for _, a := range e.Attrs {
		if b, err = appendSet(b, uint64(a.ID), a.Key, a.Value); err != nil {
			return nil, err
		}
	}
	b = appendIDs(b, e.TextChanged)
	b = appendRuns(b, e.EdgesSwept)
	if e.Counts != nil {
		b = binary.AppendUvarint(b, e.Counts.Nodes)
		b = binary.AppendUvarint(b, e.Counts.Edges)
	}
	if len(e.Learned) > 0 {
		b = binary.AppendUvarint(b, uint64(len(e.Learned)))
		for _, l := range e.Learned {
			b = binary.AppendUvarint(b, uint64(l.ID))
			b = binary.AppendVarint(b, int64(l.Units))
		}
	}
	return b, nil
}

func appendSet(b []byte, id uint64, key value.KeyID, v value.Value) ([]byte, error) {
	enc, err := record.AppendValue(nil, v)
	if err != nil {
		return nil, err
	}
	b = binary.AppendUvarint(b, id)
	b = binary.AppendUvarint(b, uint64(key))
	b = binary.AppendUvarint(b, uint64(len(enc)))
	return append(b, enc...), nil
}

func appendIDs[T ~uint32 | ~uint64](b []byte, ids []T) []byte {
	b = binary.AppendUvarint(b, uint64(len(ids)))
	for _, id := range ids {
		b = binary.AppendUvarint(b, uint64(id))
	}
	return b
}

// appendRuns appends ascending ids as runs of neighbours: the edges of a hub were
// often made together. A run is the gap before it and its length.
func appendRuns(b []byte, ids []value.EdgeID) []byte {
	runs, last := 0, value.EdgeID(0)
	var body []byte
	for i := 0; i < len(ids); runs++ {
		n := 1
		for i+n < len(ids) && ids[i+n] == ids[i]+value.EdgeID(n) {
			n++
		}
		body = binary.AppendUvarint(body, uint64(ids[i]-last))
		body = binary.AppendUvarint(body, uint64(n))
		last = ids[i] + value.EdgeID(n)
		i += n
	}
	return append(binary.AppendUvarint(b, uint64(runs)), body...)
}

// maxSwept bounds the ids of one entry, so that a damaged run cannot ask for all
// memory.
const maxSwept = 1 << 24

func (r *reader) runs() (out []value.EdgeID) {
	at := uint64(0)
	r.each(func() {
		at += r.Uint()
		n := r.Uint()
		if n > maxSwept || uint64(len(out))+n > maxSwept {
			r.Fail(errShort)
			return
		}
		for range n {
			out = append(out, value.EdgeID(at))
			at++
		}
	})
	return out
}

var errShort = errors.New("the log entry ends too early")

// reader reads an entry's payload.
type reader struct{ varint.Reader }

func (r *reader) units() int32 {
	v := r.Int()
	if v != int64(int32(v)) {
		r.Fail(errShort)
	}
	return int32(v)
}

// each reads a count and calls fn so often; an item takes at least a byte.
func (r *reader) each(fn func()) {
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		fn()
	}
}

func ids[T ~uint32 | ~uint64](r *reader) (out []T) {
	r.each(func() { out = append(out, T(r.Uint())) })
	return out
}

// Decode decodes the payload of an entry. Nothing in the result refers to it.
func Decode(b []byte) (*Entry, error) {
	if len(b) < 2 || b[0] == 0 || b[0] > version {
		return nil, fmt.Errorf("not a log entry of a version up to %d", version)
	}
	e := &Entry{Bulk: b[1]&flagBulk != 0}
	counted, learned := b[1]&flagCounts != 0, b[1]&flagLearned != 0
	r := &reader{varint.Reader{Rest: b[2:], Short: errShort}}
	e.NodeFrom, e.NodeTo = value.NodeID(r.Uint()), value.NodeID(r.Uint())
	e.EdgeFrom, e.EdgeTo = value.EdgeID(r.Uint()), value.EdgeID(r.Uint())
	r.each(func() {
		e.NodesAdded = append(e.NodesAdded,
			NodeAdded{ID: value.NodeID(r.Uint()), CreatedMS: r.Int(), Labels: ids[value.LabelID](r)})
	})
	r.each(func() {
		e.Labels = append(e.Labels, LabelsSet{ID: value.NodeID(r.Uint()), Labels: ids[value.LabelID](r)})
	})
	r.each(func() {
		e.EdgesAdded = append(e.EdgesAdded, EdgeAdded{
			ID: value.EdgeID(r.Uint()), Src: value.NodeID(r.Uint()), Dst: value.NodeID(r.Uint()),
			Type: value.TypeID(r.Uint()), CreatedMS: r.Int(),
		})
	})
	e.EdgesDeleted, e.NodesDeleted = ids[value.EdgeID](r), ids[value.NodeID](r)
	r.each(func() {
		id, key, v := r.set()
		e.Hot = append(e.Hot, HotSet{ID: value.NodeID(id), Key: key, Value: v})
	})
	r.each(func() {
		id, key, v := r.set()
		e.Attrs = append(e.Attrs, AttrSet{ID: value.EdgeID(id), Key: key, Value: v})
	})
	e.TextChanged, e.EdgesSwept = ids[value.NodeID](r), r.runs()
	if counted {
		e.Counts = &Counts{Nodes: r.Uint(), Edges: r.Uint()}
	}
	if learned {
		r.each(func() { e.Learned = append(e.Learned, LearnedSet{ID: value.EdgeID(r.Uint()), Units: r.units()}) })
	}
	if r.Err == nil && len(r.Rest) > 0 {
		r.Err = fmt.Errorf("%d bytes behind the log entry", len(r.Rest))
	}
	if r.Err != nil {
		return nil, r.Err
	}
	return e, nil
}

func (r *reader) set() (id uint64, key value.KeyID, v value.Value) {
	id, key = r.Uint(), value.KeyID(r.Uint())
	b := r.Bytes()
	if r.Err != nil {
		return 0, 0, value.Null
	}
	v, err := record.DecodeValue(b)
	if err != nil {
		r.Fail(err)
	}
	return id, key, v
}
