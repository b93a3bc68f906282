package spool

import (
	"encoding/binary"
	"errors"
	"math"

	"engram/graph/value"
	"engram/graph/varint"
)

var errDamaged = errors.New("it does not hold what was written to it")

// decoder reads values from a frame. After the first error it yields nothing but
// zeros. Frames are checksummed, so an error means a bug here.
type decoder struct{ varint.Reader }

func (d *decoder) float() float64 {
	b := d.Take(8)
	if b == nil {
		return 0
	}
	return math.Float64frombits(binary.LittleEndian.Uint64(b))
}

func (d *decoder) string() string { return string(d.Bytes()) }

func (d *decoder) strings() []string {
	n := d.Count()
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
	n := d.Count()
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
	n := d.Count()
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
	switch tag := d.Byte(); tag {
	case tagNull:
		return value.Null
	case tagFalse, tagTrue:
		return value.Bool(tag == tagTrue)
	case tagInt:
		return value.Int(d.Int())
	case tagFloat:
		return value.Float(d.float())
	case tagString:
		return value.String(d.string())
	case tagList:
		return value.List(d.list())
	case tagMap:
		return value.Map(d.props())
	case tagDate:
		return value.OfDate(value.Date{Days: d.Int()})
	case tagLocalTime:
		return value.OfLocalTime(value.LocalTime{Nanos: d.Int()})
	case tagTime:
		return value.OfTime(value.Time{Nanos: d.Int(), Offset: int32(d.Int())})
	case tagLocalDateTime:
		return value.OfLocalDateTime(value.LocalDateTime{Seconds: d.Int(), Nanos: int32(d.Int())})
	case tagDateTime:
		return value.OfDateTime(value.DateTime{
			Seconds: d.Int(), Nanos: int32(d.Int()), Offset: int32(d.Int()), Zone: d.string(),
		})
	case tagDuration:
		return value.OfDuration(value.Duration{
			Months: d.Int(), Days: d.Int(), Seconds: d.Int(), Nanos: int32(d.Int()),
		})
	case tagNodeRef:
		return value.NodeRef(value.NodeID(d.Uint()))
	case tagEdgeRef:
		return value.EdgeRef(value.EdgeID(d.Uint()))
	case tagNode:
		return value.OfNode(&value.Node{
			ID: value.NodeID(d.Uint()), ElementID: d.string(), Labels: d.strings(), Properties: d.props(),
		})
	case tagEdge:
		return value.OfEdge(&value.Edge{
			ID: value.EdgeID(d.Uint()), ElementID: d.string(), Type: d.string(),
			Src: value.NodeID(d.Uint()), Dst: value.NodeID(d.Uint()),
			SrcElementID: d.string(), DstElementID: d.string(), Properties: d.props(),
		})
	case tagPath:
		return value.OfPath(&value.Path{Nodes: d.list(), Edges: d.list()})
	}
	d.Fail(errDamaged)
	return value.Null
}
