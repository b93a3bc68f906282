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
	return p.searchKnown(key, nil, nil)
}

// searchKnown is search in a page of which the key with which it begins and one
// behind it are known, or are nil; then its own are read.
func (p treePage) searchKnown(key, first, behind []byte) (i int, exact bool) {
	low, high := 0, p.count
	if len(key) == numberSize && p.count > fewElements {
		if first == nil {
			first = p.key(0)
		}
		if behind == nil {
			behind = p.key(p.count - 1)
		}
		if len(first) == numberSize && len(behind) == numberSize {
			low, high = p.around(key, first, behind)
		}
	}
	return p.halve(key, low, high)
}

func (p treePage) halve(key []byte, low, high int) (i int, exact bool) {
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

const (
	numberSize  = 8 // of the big-endian numbers that most keys are
	fewElements = 8 // in which halving finds as fast as guessing
)

// around narrows where a key that is a number can be: numbers are mostly given out
// one after another, so that two keys tell about where (interpolation search,
// Peterson 1957), and steps that double from there find both bounds, whatever the
// two keys are. A search of a page then reads two or three lines of it, not eight.
func (p treePage) around(key, first, last []byte) (low, high int) {
	from, to, at := binary.BigEndian.Uint64(first), binary.BigEndian.Uint64(last), binary.BigEndian.Uint64(key)
	low, high = 0, p.count
	guess := 0
	if from < at {
		guess = p.count - 1
		if at < to {
			guess = int(float64(at-from) / float64(to-from) * float64(p.count-1))
		}
	}
	if bytes.Compare(p.key(guess), key) < 0 {
		low = guess + 1
		for step := 1; low+step < high; step *= 2 {
			if bytes.Compare(p.key(low+step-1), key) >= 0 {
				return low, low + step
			}
			low += step
		}
		return low, high
	}
	high = guess + 1
	for step := 1; high-1-step >= low; step *= 2 {
		if bytes.Compare(p.key(high-1-step), key) < 0 {
			return high - step, high
		}
		high -= step
	}
	return low, high
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
