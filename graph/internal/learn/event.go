package learn

import (
	"encoding/binary"
	"errors"
	"fmt"

	"engram/graph/varint"
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
	r := read(b)
	n := r.Uint()
	if n > PerRecord {
		return nil, fmt.Errorf("%d events in a record; at most %d are", n, PerRecord)
	}
	var out []Event
	for range n {
		e := Event{At: r.Int(), Kind: Kind(r.Byte()), Element: r.Uint()}
		units := r.Int()
		e.Units, e.Before = int32(units), r.Int()
		if r.Err == nil && (e.Kind < Used || e.Kind > Linked || int64(e.Units) != units) {
			return nil, fmt.Errorf("an event of kind %d with %d units", e.Kind, units)
		}
		out = append(out, e)
	}
	return out, end(r)
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
	r := read(b)
	n := r.Uint()
	if n > maxPair {
		return nil, fmt.Errorf("a pair of nodes with %d times", n)
	}
	var out Pair
	for range n {
		out = append(out, r.Int())
	}
	return out, end(r)
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
	r := read(b)
	c := Counters{NextEvent: r.Uint(), Written: r.Uint(), Refused: r.Uint(), Lost: r.Uint()}
	if r.Err == nil && len(r.Rest) > 0 {
		c.Settled = r.Int()
	}
	return c, end(r)
}

func read(payload []byte) *varint.Reader {
	return &varint.Reader{Rest: payload[1:], Short: errShort}
}

// end is the error of a payload that was read.
func end(r *varint.Reader) error {
	if r.Err == nil && len(r.Rest) > 0 {
		return errors.New("there is more behind it")
	}
	return r.Err
}
