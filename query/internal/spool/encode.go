package spool

import (
	"encoding/binary"
	"math"

	"engram/graph/value"
)

// Tags of values in the file. It lives as long as the result, so they may change
// at any time.
const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagString
	tagList
	tagMap
	tagDate
	tagLocalTime
	tagTime
	tagLocalDateTime
	tagDateTime
	tagDuration
	tagNodeRef
	tagEdgeRef
	tagNode
	tagEdge
	tagPath
)

// appendValue appends the exact encoding of any value: floats bit by bit, entities
// with all they hold or as the references they are.
func appendValue(b []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.KindNull:
		return append(b, tagNull)
	case value.KindBool:
		if v.AsBool() {
			return append(b, tagTrue)
		}
		return append(b, tagFalse)
	case value.KindInt:
		return binary.AppendVarint(append(b, tagInt), v.AsInt())
	case value.KindFloat:
		return binary.LittleEndian.AppendUint64(append(b, tagFloat), math.Float64bits(v.AsFloat()))
	case value.KindString:
		return appendString(append(b, tagString), v.AsString())
	case value.KindList:
		return appendList(append(b, tagList), v.AsList())
	case value.KindMap:
		return appendProps(append(b, tagMap), v.AsMap().Entries)
	case value.KindNode:
		return appendNode(b, v)
	case value.KindEdge:
		return appendEdge(b, v)
	case value.KindPath:
		p := v.AsPath()
		return appendList(appendList(append(b, tagPath), p.Nodes), p.Edges)
	}
	return appendTemporal(b, v)
}

func appendTemporal(b []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.KindDate:
		return appendInts(append(b, tagDate), v.AsDate().Days)
	case value.KindLocalTime:
		return appendInts(append(b, tagLocalTime), v.AsLocalTime().Nanos)
	case value.KindTime:
		t := v.AsTime()
		return appendInts(append(b, tagTime), t.Nanos, int64(t.Offset))
	case value.KindLocalDateTime:
		t := v.AsLocalDateTime()
		return appendInts(append(b, tagLocalDateTime), t.Seconds, int64(t.Nanos))
	case value.KindDateTime:
		t := v.AsDateTime()
		return appendString(appendInts(append(b, tagDateTime), t.Seconds, int64(t.Nanos), int64(t.Offset)), t.Zone)
	}
	d := v.AsDuration()
	return appendInts(append(b, tagDuration), d.Months, d.Days, d.Seconds, int64(d.Nanos))
}

func appendNode(b []byte, v value.Value) []byte {
	n := v.AsNode()
	if n == nil {
		return binary.AppendUvarint(append(b, tagNodeRef), uint64(v.NodeID()))
	}
	b = binary.AppendUvarint(append(b, tagNode), uint64(n.ID))
	b = binary.AppendUvarint(appendString(b, n.ElementID), uint64(len(n.Labels)))
	for _, label := range n.Labels {
		b = appendString(b, label)
	}
	return appendProps(b, n.Properties)
}

func appendEdge(b []byte, v value.Value) []byte {
	e := v.AsEdge()
	if e == nil {
		return binary.AppendUvarint(append(b, tagEdgeRef), uint64(v.EdgeID()))
	}
	b = binary.AppendUvarint(append(b, tagEdge), uint64(e.ID))
	b = appendString(appendString(b, e.ElementID), e.Type)
	b = binary.AppendUvarint(binary.AppendUvarint(b, uint64(e.Src)), uint64(e.Dst))
	b = appendString(appendString(b, e.SrcElementID), e.DstElementID)
	return appendProps(b, e.Properties)
}

func appendInts(b []byte, ints ...int64) []byte {
	for _, i := range ints {
		b = binary.AppendVarint(b, i)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

func appendList(b []byte, elems []value.Value) []byte {
	b = binary.AppendUvarint(b, uint64(len(elems)))
	for _, e := range elems {
		b = appendValue(b, e)
	}
	return b
}

func appendProps(b []byte, props []value.Prop) []byte {
	b = binary.AppendUvarint(b, uint64(len(props)))
	for _, p := range props {
		b = appendValue(appendString(b, p.Key), p.Value)
	}
	return b
}
