package bolt

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// treePage is a branch or leaf page with all that belongs to it, or an inline leaf
// page; walk.go tells the layout.
type treePage struct {
	data  []byte
	count int
	leaf  bool
}

func parseTree(data []byte) treePage {
	return treePage{data, int(binary.NativeEndian.Uint16(data[10:])), binary.NativeEndian.Uint16(data[8:]) == leafPage}
}

// element tells where the key of element i starts and how long key and value are.
func (p treePage) element(i int) (start, keySize, valueSize int) {
	at := pageHeaderSize + i*elementSize
	e := p.data[at : at+elementSize]
	if p.leaf {
		return at + int(binary.NativeEndian.Uint32(e[4:])), int(binary.NativeEndian.Uint32(e[8:])), int(binary.NativeEndian.Uint32(e[12:]))
	}
	return at + int(binary.NativeEndian.Uint32(e)), int(binary.NativeEndian.Uint32(e[4:])), 0
}

func (p treePage) key(i int) []byte {
	at := pageHeaderSize + i*elementSize
	e := p.data[at : at+elementSize]
	if p.leaf {
		e = e[4:]
	}
	start := at + int(binary.NativeEndian.Uint32(e))
	return p.data[start : start+int(binary.NativeEndian.Uint32(e[4:]))]
}

func (p treePage) value(i int) []byte {
	start, key, size := p.element(i)
	return p.data[start+key : start+key+size : start+key+size]
}

// flags of an element of a leaf.
func (p treePage) flags(i int) uint32 {
	return binary.NativeEndian.Uint32(p.data[pageHeaderSize+i*elementSize:])
}

// child is the page that element i of a branch leads to.
func (p treePage) child(i int) uint64 {
	return binary.NativeEndian.Uint64(p.data[pageHeaderSize+i*elementSize+8:])
}

// search returns the first element whose key is not below key.
func (p treePage) search(key []byte) (i int, exact bool) {
	low, high := 0, p.count
	for low < high {
		middle := int(uint(low+high) / 2)
		switch c := bytes.Compare(p.key(middle), key); {
		case c == 0:
			return middle, true
		case c < 0:
			low = middle + 1
		default:
			high = middle
		}
	}
	return low, false
}

// toward returns the element of a branch below which key belongs.
func (p treePage) toward(key []byte) int {
	i, exact := p.search(key)
	if !exact && i > 0 {
		i--
	}
	return i
}

// fault tells what is wrong with the page's layout, or nothing. bbolt writes the
// elements' keys and values right behind each other, in order, and into as few
// pages as hold them; so whatever single number is another one, in the header or
// in an element, shows here, except for the page that a branch leads to. pageSize
// 0 stands for an inline page.
func (p treePage) fault(pageSize int) string {
	next := pageHeaderSize + p.count*elementSize
	if next > len(p.data) {
		return fmt.Sprintf("%d elements are outside of the page", p.count)
	}
	var last []byte
	for i := range p.count {
		start, keySize, valueSize := p.element(i)
		end := start + keySize + valueSize
		switch {
		case end > len(p.data):
			return fmt.Sprintf("element %d is outside of the page", i)
		case start != next || keySize == 0:
			return fmt.Sprintf("element %d, with a key of %d bytes, begins at byte %d instead of %d", i, keySize, start, next)
		}
		key := p.data[start : start+keySize]
		if i > 0 && bytes.Compare(last, key) >= 0 {
			return fmt.Sprintf("element %d is out of order", i)
		}
		next, last = end, key
	}
	if pageSize == 0 && next != len(p.data) || pageSize > 0 && (next+pageSize-1)/pageSize*pageSize != len(p.data) {
		return fmt.Sprintf("its %d elements end at byte %d of %d", p.count, next, len(p.data))
	}
	return ""
}
