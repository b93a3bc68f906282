package value

import (
	"math"
	"unsafe"
)

const (
	valueSize = int(unsafe.Sizeof(Value{}))
	propSize  = int(unsafe.Sizeof(Prop{}))
	wordSize  = 8
)

// Size estimates how many bytes of memory v holds, itself (24 bytes) included:
// what query budgets count. Text and elements shared with other values, and with
// other places in v, are counted in each, so this is also how much there is to go
// through. Beyond 32 GiB it stays there. It takes no time.
func (v Value) Size() int { return valueSize + wordSize*int(v.words()) }

// Depth tells how deep lists, maps, paths and loaded entities nest in v: 0 for
// other kinds, 1 for a list of numbers, at most 255.
func (v Value) Depth() int { return int(v.depth()) }

// describe puts together a kind, how many words of 8 bytes a value holds beside
// itself, and its depth.
func describe(k Kind, words uint32, depth uint8) uint64 {
	return uint64(words)<<32 | uint64(depth)<<8 | uint64(k)
}

func (v Value) words() uint32 { return uint32(v.what >> 32) }
func (v Value) depth() uint8  { return uint8(v.what >> 8) }

func wordsOf(bytes int) uint32 { return saturated(uint64(bytes+wordSize-1) / wordSize) }

func saturated(words uint64) uint32 { return uint32(min(words, math.MaxUint32)) }

func deeper(depth uint8) uint8 { return uint8(min(int(depth)+1, math.MaxUint8)) }

// weigh adds up what elements hold, themselves included, and finds the deepest.
func weigh(elems []Value) (words uint64, depth uint8) {
	words = uint64(len(elems)) * uint64(valueSize/wordSize)
	for i := range elems {
		words += uint64(elems[i].words())
		depth = max(depth, elems[i].depth())
	}
	return words, depth
}

func weighProps(props []Prop) (words uint64, depth uint8) {
	words = uint64(len(props)) * uint64(propSize/wordSize)
	for i := range props {
		words += uint64(wordsOf(len(props[i].Key))) + uint64(props[i].Value.words())
		depth = max(depth, props[i].Value.depth())
	}
	return words, depth
}
