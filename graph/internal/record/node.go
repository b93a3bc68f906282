package record

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"engram/graph/value"
)

// Node is a stored node. Its id is its key.
type Node struct {
	CreatedMS int64 // since 1970, from the database's clock
	Labels    []value.LabelID
	Props     []Prop // in ascending order of key
}

// AppendNode appends the payload of a node record and returns the values that
// belong out of line.
func AppendNode(b []byte, n *Node) ([]byte, []Large, error) {
	b = binary.AppendVarint(b, n.CreatedMS)
	b = binary.AppendUvarint(b, uint64(len(n.Labels)))
	for _, l := range n.Labels {
		b = binary.AppendUvarint(b, uint64(l))
	}
	return appendProps(b, n.Props)
}

// DecodeNode decodes a payload. Nothing in the result refers to it.
func DecodeNode(b []byte) (*Node, error) {
	c := &cursor{b: b}
	n := &Node{CreatedMS: c.varint()}
	n.Labels = c.labels()
	n.Props = c.props()
	if c.err == nil && len(c.b) > 0 {
		c.fail(fmt.Errorf("%d bytes behind the node", len(c.b)))
	}
	if c.err != nil {
		return nil, c.err
	}
	return n, nil
}

func (c *cursor) labels() []value.LabelID {
	n := c.count(1)
	if n == 0 {
		return nil
	}
	labels := make([]value.LabelID, 0, n)
	for i := 0; i < n && c.err == nil; i++ {
		l := c.uvarint()
		if l > 1<<32-1 {
			c.fail(fmt.Errorf("label %d is too large", l))
		}
		labels = append(labels, value.LabelID(l))
	}
	return labels
}

// NodeProp decodes one property of a node's payload; ok is false when the node
// does not have it.
func NodeProp(b []byte, key value.KeyID) (p Prop, ok bool, err error) {
	c := cursor{b: b}
	c.varint()
	for n := c.count(1); n > 0; n-- {
		c.uvarint()
	}
	p, ok = c.findProp(key)
	return p, ok, c.err
}

// Want says what WalkNode makes of a property.
type Want uint8

// What is made of a property.
const (
	Skip  Want = iota
	Copy       // its value
	Share      // its value; a string is not copied and is valid as long as the payload
	Peek       // nothing but whether it is a string that is not empty, or out of line
)

// WalkNode decodes of a node's payload what want asks for: each property is handed to
// fn in ascending order of key, those that were peeked at only if there is something. n
// gets the creation time and the labels, before want is called; its slice of labels is
// used again.
func WalkNode(b []byte, n *Node, want func(value.KeyID) Want, fn func(p Prop, w Want)) error {
	c := cursor{b: b}
	n.CreatedMS = c.varint()
	n.Labels = n.Labels[:0]
	for k := c.count(1); k > 0 && c.err == nil; k-- {
		n.Labels = append(n.Labels, value.LabelID(c.uvarint()))
	}
	for k := c.count(2); k > 0 && c.err == nil; k-- {
		p := Prop{Key: c.keyID()}
		w := want(p.Key)
		tag := byte(tagNull)
		if len(c.b) > 0 {
			tag = c.b[0]
		}
		switch {
		case w == Skip || w == Peek && tag != tagString && tag != tagOverflow:
			c.skip(0)
			continue
		case tag == tagOverflow:
			c.skip(0)
			p.Overflow = true
		case w == Peek:
			c.byte()
			if len(c.bytes()) == 0 {
				continue
			}
		case w == Share && tag == tagString:
			c.byte()
			s := c.bytes()
			p.Value = value.String(unsafe.String(unsafe.SliceData(s), len(s)))
		default:
			p.Value = c.value(0)
		}
		if c.err == nil {
			fn(p, w)
		}
	}
	return c.err
}
