package learn

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Kind says what an event changed.
type Kind uint8

// The kinds. Numbers are part of the file format.
const (
	Used         Kind = 1 + iota // a node was used
	Strengthened                 // an edge's learned weight grew, or shrank
	Linked                       // an edge was made
)

// Event is one thing that was learned.
type Event struct {
	At      int64 // milliseconds since 1970
	Kind    Kind
	Element uint64 // a node for Used, else an edge
	// Units were added to the weight, of Strengthened.
	Units int32
	// Before is when the node was used last before that, of Used; 0: never.
	Before int64
}

// PerRecord is how many events one record has at most: a longer value would be
// written again by the commits behind it.
const PerRecord = 64

// AppendEvents appends the payload of a record of events.
func AppendEvents(b []byte, events []Event) []byte {
	b = binary.AppendUvarint(append(b, version), uint64(len(events)))
	for _, e := range events {
		b = binary.AppendVarint(b, e.At)
		b = binary.AppendUvarint(append(b, byte(e.Kind)), e.Element)
		b = binary.AppendVarint(b, int64(e.Units))
		b = binary.AppendVarint(b, e.Before)
	}
	return b
}

// DecodeEvents reads the payload of a record of events.
func DecodeEvents(b []byte) ([]Event, error) {
	if len(b) == 0 || b[0] != version {
		return nil, fmt.Errorf("not events of version %d", version)
	}
	r := reader{b: b[1:]}
	n := r.uint()
	if n > PerRecord {
		return nil, fmt.Errorf("%d events in a record; at most %d are", n, PerRecord)
	}
	var out []Event
	for range n {
		e := Event{At: r.int(), Kind: Kind(r.byte()), Element: r.uint()}
		units := r.int()
		e.Units, e.Before = int32(units), r.int()
		if r.err == nil && (e.Kind < Used || e.Kind > Linked || int64(e.Units) != units) {
			return nil, fmt.Errorf("an event of kind %d with %d units", e.Kind, units)
		}
		out = append(out, e)
	}
	return out, r.end()
}

// Pair is when two nodes without an edge were used together, the earliest first.
type Pair []int64

// maxPair bounds a pair's times: with one more an edge is made.
const maxPair = 8

// AppendPair appends the payload of a pair.
func AppendPair(b []byte, p Pair) []byte {
	b = binary.AppendUvarint(append(b, version), uint64(len(p)))
	for _, at := range p {
		b = binary.AppendVarint(b, at)
	}
	return b
}

// DecodePair reads the payload of a pair.
func DecodePair(b []byte) (Pair, error) {
	if len(b) == 0 || b[0] != version {
		return nil, fmt.Errorf("not a pair of version %d", version)
	}
	r := reader{b: b[1:]}
	n := r.uint()
	if n > maxPair {
		return nil, fmt.Errorf("a pair of nodes with %d times", n)
	}
	var out Pair
	for range n {
		out = append(out, r.int())
	}
	return out, r.end()
}

// Counters are what has to outlive the process.
type Counters struct {
	NextEvent uint64 // number of the next event
	Written   uint64 // uses that were written, ever
	Refused   uint64 // uses that were refused, ever
	Lost      uint64 // uses that were told but never written, since the process ended
	// Settled is when the newest of the events was learned that were given up, in
	// milliseconds since 1970; 0: none was.
	Settled int64
}

// AppendCounters appends the payload of the counters.
func AppendCounters(b []byte, c Counters) []byte {
	b = append(b, version)
	for _, n := range []uint64{c.NextEvent, c.Written, c.Refused, c.Lost} {
		b = binary.AppendUvarint(b, n)
	}
	if c.Settled != 0 {
		b = binary.AppendVarint(b, c.Settled)
	}
	return b
}

// DecodeCounters reads the payload of the counters.
func DecodeCounters(b []byte) (Counters, error) {
	if len(b) == 0 || b[0] != version {
		return Counters{}, fmt.Errorf("not counters of version %d", version)
	}
	r := reader{b: b[1:]}
	c := Counters{NextEvent: r.uint(), Written: r.uint(), Refused: r.uint(), Lost: r.uint()}
	if r.err == nil && len(r.b) > 0 {
		c.Settled = r.int()
	}
	return c, r.end()
}

type reader struct {
	b   []byte
	err error
}

func (r *reader) byte() byte {
	if len(r.b) == 0 {
		r.err = errShort
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.err, r.b = errShort, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) int() int64 {
	v, n := binary.Varint(r.b)
	if n <= 0 {
		r.err, r.b = errShort, nil
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		return errors.New("there is more behind it")
	}
	return r.err
}
