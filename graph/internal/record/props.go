package record

import (
	"encoding/binary"
	"fmt"
	"sort"

	"engram/graph/value"
)

// OverflowAt is the encoded size in bytes from which a value is stored out of
// line.
const OverflowAt = 2048

// Prop is a stored property. An out-of-line value has Overflow set and its
// Value Null until somebody fetches it.
type Prop struct {
	Key      value.KeyID
	Value    value.Value
	Overflow bool
}

// Large is a value to store out of line.
type Large struct {
	Key     value.KeyID
	Encoded []byte // as AppendValue made it
}

// appendProps appends properties in ascending order of key. Values over
// OverflowAt bytes are returned apart; those already out of line (Overflow set)
// keep their reference.
func appendProps(b []byte, props []Prop) ([]byte, []Large, error) {
	var large []Large
	b = binary.AppendUvarint(b, uint64(len(props)))
	for _, p := range props {
		b = binary.AppendUvarint(b, uint64(p.Key))
		if p.Overflow {
			b = append(b, tagOverflow, 0)
			continue
		}
		start := len(b)
		var err error
		if b, err = AppendValue(b, p.Value); err != nil {
			return nil, nil, err
		}
		if len(b)-start > OverflowAt {
			large = append(large, Large{Key: p.Key, Encoded: append([]byte(nil), b[start:]...)})
			b = append(b[:start], tagOverflow, 0)
		}
	}
	return b, large, nil
}

func (c *cursor) props() []Prop {
	n := c.count(2)
	props := make([]Prop, 0, n)
	last := value.KeyID(0)
	for i := 0; i < n && c.err == nil; i++ {
		key := c.keyID()
		if key <= last {
			c.fail(fmt.Errorf("property keys out of order: %d after %d", key, last))
			return nil
		}
		last = key
		if len(c.b) > 0 && c.b[0] == tagOverflow {
			c.skip(0)
			props = append(props, Prop{Key: key, Overflow: true})
			continue
		}
		props = append(props, Prop{Key: key, Value: c.value(0)})
	}
	if c.err != nil {
		return nil
	}
	return props
}

func (c *cursor) keyID() value.KeyID {
	v := c.uvarint()
	if v > 1<<32-1 {
		c.fail(fmt.Errorf("property key %d is too large", v))
	}
	return value.KeyID(v)
}

// findProp decodes one property of a property list and skips the others.
func (c *cursor) findProp(key value.KeyID) (Prop, bool) {
	for n := c.count(2); n > 0 && c.err == nil; n-- {
		k := c.keyID()
		if k > key {
			return Prop{}, false
		}
		if k < key {
			c.skip(0)
			continue
		}
		if len(c.b) > 0 && c.b[0] == tagOverflow {
			return Prop{Key: k, Overflow: true}, true
		}
		p := Prop{Key: k, Value: c.value(0)}
		return p, c.err == nil
	}
	return Prop{}, false
}

// SetProp sets or, with Null, removes the property in a list that is in
// ascending order of key. It may change props in place.
func SetProp(props []Prop, key value.KeyID, v value.Value) []Prop {
	i := sort.Search(len(props), func(i int) bool { return props[i].Key >= key })
	there := i < len(props) && props[i].Key == key
	switch {
	case v.IsNull() && there:
		return append(props[:i], props[i+1:]...)
	case v.IsNull():
		return props
	case there:
		props[i] = Prop{Key: key, Value: v}
		return props
	}
	props = append(props, Prop{})
	copy(props[i+1:], props[i:])
	props[i] = Prop{Key: key, Value: v}
	return props
}

// GetProp finds a property in a list that is in ascending order of key.
func GetProp(props []Prop, key value.KeyID) (Prop, bool) {
	i := sort.Search(len(props), func(i int) bool { return props[i].Key >= key })
	if i < len(props) && props[i].Key == key {
		return props[i], true
	}
	return Prop{}, false
}

// FindProp decodes one property of the encoded properties that WalkBlock hands
// out; ok is false when the edge does not have it.
func FindProp(b []byte, key value.KeyID) (p Prop, ok bool, err error) {
	c := cursor{b: b}
	p, ok = c.findProp(key)
	return p, ok, c.err
}
