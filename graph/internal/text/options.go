package text

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"iter"
	"time"

	"engram/graph/value"
)

// Doc is the text of one node as of one transaction. Without fields the node
// has no text, or is gone.
type Doc struct {
	Node   value.NodeID
	Fields []FieldText
}

// FieldText is the text of one field; a field may come several times.
type FieldText struct {
	Name string
	Text string
}

// Field is one searched field.
type Field struct {
	Name   string
	Kind   Kind
	Weight float64 // of its score in the sum; 0 means 1
}

// Options configure an index. The zero value of each field but Fields is usable.
type Options struct {
	// Dir is the index's directory. Empty: everything stays in memory.
	Dir string
	// Fields are searched. Changing names, order or kinds rebuilds the index;
	// changing weights does not.
	Fields []Field
	// Identity names the database the index belongs to; an index of another one
	// is set aside.
	Identity string
	// Head is the newest durable seq of the truth. An index that is ahead of it
	// is set aside: the truth was restored from a backup.
	Head uint64
	// Rebuild is called when an index that was to be opened later turned out to be
	// of no use: it hands all documents as of one seq to load. See OpenLater.
	Rebuild func(load func(seq uint64, docs iter.Seq2[Doc, error]) error) error
	// K1 and B are BM25's parameters; 0 means 1.2 and 0.4. B below 0 means 0.
	K1, B float64
	// FlushEvery is after how long without a change what waits is written to disk; 0
	// means 100 ms. While changes keep coming they wait up to twenty times as long,
	// or until there are FlushDocs; 0 means 4,000.
	FlushEvery time.Duration
	FlushDocs  int
	// MaxTail is how many changes may wait in memory before Throttle slows
	// writers; 0 means 20,000. MaxStall is how long it holds one writer at most;
	// 0 means 100 ms.
	MaxTail  int
	MaxStall time.Duration
}

// Errors; test with errors.Is.
var (
	// ErrClosed is returned by everything after Close.
	ErrClosed = errors.New("text index: closed")
	// ErrGone is returned for a seq that the index can no longer, or not yet,
	// show.
	ErrGone = errors.New("text index: it cannot show this snapshot any more, or not yet; run the statement again")
	// ErrFilling is returned by a search while the index is being filled, after some
	// waiting.
	ErrFilling = errors.New("text index: it is being filled, which takes longer than a statement waits; try again in a while")
	// ErrStale is why an index on disk is made anew, though nothing is wrong with it.
	ErrStale = errors.New("text index: made for other fields, by another version or for another database")
	// ErrBusy is returned by Open when another process has the index open.
	ErrBusy = errors.New("text index: in use by another process")
)

func (o Options) filled() (Options, error) {
	o.Fields = append([]Field(nil), o.Fields...)
	if len(o.Fields) == 0 || len(o.Fields) > 64 {
		return o, fmt.Errorf("text index: %d fields; want 1 to 64", len(o.Fields))
	}
	for i := range o.Fields {
		f := &o.Fields[i]
		for _, g := range o.Fields[:i] {
			if g.Name == f.Name {
				return o, fmt.Errorf("text index: field %q is given twice", f.Name)
			}
		}
		if f.Name == "" || f.Name[0] == '_' || f.Kind > Exact || f.Weight < 0 {
			return o, fmt.Errorf("text index: field %q is not usable", f.Name)
		}
		if f.Weight == 0 {
			f.Weight = 1
		}
	}
	orElse(&o.K1, 1.2)
	orElse(&o.B, 0.4)
	o.B = min(max(o.B, 0), 1)
	orElse(&o.FlushEvery, 100*time.Millisecond)
	orElse(&o.FlushDocs, 4000)
	orElse(&o.MaxTail, 20_000)
	orElse(&o.MaxStall, 100*time.Millisecond)
	return o, nil
}

func orElse[T comparable](p *T, value T) {
	var zero T
	if *p == zero {
		*p = value
	}
}

// fingerprint changes with everything that makes an index on disk useless for
// these options.
func (o *Options) fingerprint() uint32 {
	b := binary.AppendUvarint(nil, analyzerVersion)
	b = append(binary.AppendUvarint(b, uint64(len(o.Identity))), o.Identity...)
	for _, f := range o.Fields {
		b = append(binary.AppendUvarint(b, uint64(len(f.Name))), f.Name...)
		b = append(b, byte(f.Kind))
	}
	return crc32.ChecksumIEEE(b)
}
