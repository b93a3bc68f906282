package spool

import (
	"encoding/binary"
	"errors"
	"math"

	"engram/graph/value"
)

var errDamaged = errors.New("it does not hold what was written to it")

// decoder reads values from a frame. After the first error it yields nothing but
// zeros. Frames are checksummed, so an error means a bug here.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.b, d.err = nil, errDamaged
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	c := d.b[0]
	d.b = d.b[1:]
	return c
}

func (d *decoder) uint() uint64 {
	u, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return u
}

func (d *decoder) int() int64 {
	i, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return i
}

func (d *decoder) float() float64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.b))
	d.b = d.b[8:]
	return f
}

// count reads how many things follow; each takes a byte at least.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return 0
	}
	return int(n)
}

func (d *decoder) string() string {
	n := d.count()
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) strings() []string {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = d.string()
	}
	return out
}

func (d *decoder) list() []value.Value {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]value.Value, n)
	for i := range out {
		out[i] = d.value()
	}
	return out
}

func (d *decoder) props() []value.Prop {
	n := d.count()
	if n == 0 {
		return nil
	}
	out := make([]value.Prop, n)
	for i := range out {
		out[i].Key = d.string()
		out[i].Value = d.value()
	}
	return out
}

func (d *decoder) value() value.Value {
	switch tag := d.byte(); tag {
	case tagNull:
		return value.Null
	case tagFalse, tagTrue:
		return value.Bool(tag == tagTrue)
	case tagInt:
		return value.Int(d.int())
	case tagFloat:
		return value.Float(d.float())
	case tagString:
		return value.String(d.string())
	case tagList:
		return value.List(d.list())
	case tagMap:
		return value.Map(d.props())
	case tagDate:
		return value.OfDate(value.Date{Days: d.int()})
	case tagLocalTime:
		return value.OfLocalTime(value.LocalTime{Nanos: d.int()})
	case tagTime:
		return value.OfTime(value.Time{Nanos: d.int(), Offset: int32(d.int())})
	case tagLocalDateTime:
		return value.OfLocalDateTime(value.LocalDateTime{Seconds: d.int(), Nanos: int32(d.int())})
	case tagDateTime:
		return value.OfDateTime(value.DateTime{
			Seconds: d.int(), Nanos: int32(d.int()), Offset: int32(d.int()), Zone: d.string(),
		})
	case tagDuration:
		return value.OfDuration(value.Duration{
			Months: d.int(), Days: d.int(), Seconds: d.int(), Nanos: int32(d.int()),
		})
	case tagNodeRef:
		return value.NodeRef(value.NodeID(d.uint()))
	case tagEdgeRef:
		return value.EdgeRef(value.EdgeID(d.uint()))
	case tagNode:
		return value.OfNode(&value.Node{
			ID: value.NodeID(d.uint()), ElementID: d.string(), Labels: d.strings(), Properties: d.props(),
		})
	case tagEdge:
		return value.OfEdge(&value.Edge{
			ID: value.EdgeID(d.uint()), ElementID: d.string(), Type: d.string(),
			Src: value.NodeID(d.uint()), Dst: value.NodeID(d.uint()),
			SrcElementID: d.string(), DstElementID: d.string(), Properties: d.props(),
		})
	case tagPath:
		return value.OfPath(&value.Path{Nodes: d.list(), Edges: d.list()})
	}
	d.fail()
	return value.Null
}
