package record

import (
	"encoding/binary"
	"fmt"
	"math"

	"engram/graph/value"
)

// Tags of stored values. Numbers are part of the format.
const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagInt
	tagFloat
	tagString
	tagList
	tagDate
	tagLocalTime
	tagTime
	tagLocalDateTime
	tagDateTime
	tagDuration
	tagMap
	tagOverflow // the value is in the overflow space
)

// maxDepth bounds nested lists and maps, in both directions.
const maxDepth = 64

// AppendValue appends the exact encoding of a storable value: scalars, temporal
// values, lists and maps of them. Nodes, edges and paths are refused.
func AppendValue(b []byte, v value.Value) ([]byte, error) { return appendValue(b, v, 0) }

func appendValue(b []byte, v value.Value, depth int) ([]byte, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("a value nested deeper than %d cannot be stored", maxDepth)
	}
	switch v.Kind() {
	case value.KindNull:
		return append(b, tagNull), nil
	case value.KindBool:
		if v.AsBool() {
			return append(b, tagTrue), nil
		}
		return append(b, tagFalse), nil
	case value.KindInt:
		return binary.AppendVarint(append(b, tagInt), v.AsInt()), nil
	case value.KindFloat:
		return binary.LittleEndian.AppendUint64(append(b, tagFloat), math.Float64bits(v.AsFloat())), nil
	case value.KindString:
		return appendBytes(append(b, tagString), v.AsString()), nil
	case value.KindList:
		var err error
		elems := v.AsList()
		b = binary.AppendUvarint(append(b, tagList), uint64(len(elems)))
		for _, e := range elems {
			if b, err = appendValue(b, e, depth+1); err != nil {
				return nil, err
			}
		}
		return b, nil
	case value.KindMap:
		var err error
		m := v.AsMap()
		b = binary.AppendUvarint(append(b, tagMap), uint64(len(m.Entries)))
		for _, e := range m.Entries {
			if b, err = appendValue(appendBytes(b, e.Key), e.Value, depth+1); err != nil {
				return nil, err
			}
		}
		return b, nil
	}
	if b, ok := appendTemporal(b, v); ok {
		return b, nil
	}
	return nil, fmt.Errorf("a value of type %s cannot be stored", v.Kind())
}

func appendTemporal(b []byte, v value.Value) ([]byte, bool) {
	switch v.Kind() {
	case value.KindDate:
		return binary.AppendVarint(append(b, tagDate), v.AsDate().Days), true
	case value.KindLocalTime:
		return binary.AppendVarint(append(b, tagLocalTime), v.AsLocalTime().Nanos), true
	case value.KindTime:
		t := v.AsTime()
		b = binary.AppendVarint(append(b, tagTime), t.Nanos)
		return binary.AppendVarint(b, int64(t.Offset)), true
	case value.KindLocalDateTime:
		t := v.AsLocalDateTime()
		b = binary.AppendVarint(append(b, tagLocalDateTime), t.Seconds)
		return binary.AppendVarint(b, int64(t.Nanos)), true
	case value.KindDateTime:
		t := v.AsDateTime()
		b = binary.AppendVarint(append(b, tagDateTime), t.Seconds)
		b = binary.AppendVarint(b, int64(t.Nanos))
		b = binary.AppendVarint(b, int64(t.Offset))
		return appendBytes(b, t.Zone), true
	case value.KindDuration:
		d := v.AsDuration()
		b = binary.AppendVarint(append(b, tagDuration), d.Months)
		b = binary.AppendVarint(b, d.Days)
		b = binary.AppendVarint(b, d.Seconds)
		return binary.AppendVarint(b, int64(d.Nanos)), true
	}
	return b, false
}

// DecodeValue decodes what AppendValue made. Strings are copied.
func DecodeValue(b []byte) (value.Value, error) {
	c := &cursor{b: b}
	v := c.value(0)
	if c.err == nil && len(c.b) > 0 {
		c.fail(fmt.Errorf("%d bytes behind the value", len(c.b)))
	}
	if c.err != nil {
		return value.Null, c.err
	}
	return v, nil
}

func (c *cursor) value(depth int) value.Value {
	if depth > maxDepth {
		c.fail(fmt.Errorf("values nested deeper than %d", maxDepth))
		return value.Null
	}
	switch tag := c.byte(); tag {
	case tagNull:
		return value.Null
	case tagFalse:
		return value.Bool(false)
	case tagTrue:
		return value.Bool(true)
	case tagInt:
		return value.Int(c.varint())
	case tagFloat:
		return value.Float(c.float())
	case tagString:
		return value.String(string(c.bytes()))
	case tagList:
		n := c.count(1)
		elems := make([]value.Value, 0, min(n, 4096))
		for i := 0; i < n && c.err == nil; i++ {
			elems = append(elems, c.value(depth+1))
		}
		return value.List(elems)
	case tagMap:
		n := c.count(2)
		entries := make([]value.Prop, 0, min(n, 4096))
		for i := 0; i < n && c.err == nil; i++ {
			key := string(c.bytes())
			entries = append(entries, value.Prop{Key: key, Value: c.value(depth + 1)})
		}
		return value.Map(entries)
	default:
		return c.temporal(tag)
	}
}

func (c *cursor) temporal(tag byte) value.Value {
	switch tag {
	case tagDate:
		return value.OfDate(value.Date{Days: c.varint()})
	case tagLocalTime:
		return value.OfLocalTime(value.LocalTime{Nanos: c.varint()})
	case tagTime:
		return value.OfTime(value.Time{Nanos: c.varint(), Offset: int32(c.varint())})
	case tagLocalDateTime:
		return value.OfLocalDateTime(value.LocalDateTime{Seconds: c.varint(), Nanos: int32(c.varint())})
	case tagDateTime:
		return value.OfDateTime(value.DateTime{
			Seconds: c.varint(), Nanos: int32(c.varint()), Offset: int32(c.varint()), Zone: string(c.bytes()),
		})
	case tagDuration:
		return value.OfDuration(value.Duration{
			Months: c.varint(), Days: c.varint(), Seconds: c.varint(), Nanos: int32(c.varint()),
		})
	}
	c.fail(fmt.Errorf("unknown value tag %d", tag))
	return value.Null
}

// skip moves behind one value without decoding it.
func (c *cursor) skip(depth int) {
	switch tag := c.byte(); tag {
	case tagNull, tagFalse, tagTrue:
	case tagInt, tagDate, tagLocalTime, tagOverflow:
		c.varint()
	case tagFloat:
		c.float()
	case tagString:
		c.bytes()
	case tagTime, tagLocalDateTime:
		c.varint()
		c.varint()
	case tagDuration:
		for range 4 {
			c.varint()
		}
	case tagDateTime:
		for range 3 {
			c.varint()
		}
		c.bytes()
	default:
		c.skipNested(tag, depth)
	}
}

func (c *cursor) skipNested(tag byte, depth int) {
	if tag != tagList && tag != tagMap || depth > maxDepth {
		c.fail(fmt.Errorf("unknown value tag %d at depth %d", tag, depth))
		return
	}
	for n := c.count(1); n > 0 && c.err == nil; n-- {
		if tag == tagMap {
			c.bytes()
		}
		c.skip(depth + 1)
	}
}
