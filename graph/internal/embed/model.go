package embed

import (
	"bytes"
	_ "embed" // the table
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strings"
)

// Dim is the number of dimensions of a vector.
const Dim = 64

// Vector is a text's vector, of length 1.
type Vector [Dim]float32

//go:embed table.bin
var table string

const (
	tableMark  = "EGWV\x01\x00\x00\x00"
	headerSize = len(tableMark) + 32 + 3*4
	maxWord    = 32
	slotBits   = 16
)

// Model is a table made ready for look-ups: about 1.6 MB. It never changes and may
// be used by any number of goroutines.
type Model struct {
	name    string
	source  [32]byte
	words   string   // joined
	starts  []uint32 // of words, and the end
	weights []int64  // by word: rarity over the length of its codes, in 1/65,536
	codes   []int8   // Dim a word
	slots   []uint16 // open-addressed: word number plus 1, 0 empty
}

// Load reads the built-in table.
func Load() (*Model, error) { return parse(table) }

var errTable = errors.New("word vectors: the table is damaged; build the program again")

// parse reads a table: mark, SHA-256 of the source, number of words, dimensions,
// size of the words' text, the words with a newline after each, a rarity of 2
// bytes a word in 1/1,024, a code of 4 bits a dimension, offset by 8 and the even
// dimension low, and a CRC-32C of all that; numbers little-endian.
func parse(data string) (*Model, error) {
	if len(data) < headerSize+4 || !strings.HasPrefix(data, tableMark) {
		return nil, errTable
	}
	body, sum := []byte(data[:len(data)-4]), crc32.Checksum([]byte(data[:len(data)-4]), crc32.MakeTable(crc32.Castagnoli))
	if sum != binary.LittleEndian.Uint32([]byte(data[len(data)-4:])) {
		return nil, errTable
	}
	head := body[len(tableMark):]
	m := &Model{}
	copy(m.source[:], head)
	n, dim, size := binary.LittleEndian.Uint32(head[32:]), binary.LittleEndian.Uint32(head[36:]), binary.LittleEndian.Uint32(head[40:])
	if dim != Dim || n == 0 || n >= 1<<slotBits/2 || uint64(len(body)-headerSize) != uint64(size)+uint64(n)*(2+Dim/2) {
		return nil, errTable
	}
	m.name = fmt.Sprintf("builtin-words-%d-%08x", Dim, sum)
	text, rest := body[headerSize:headerSize+int(size)], body[headerSize+int(size):]
	if bytes.Count(text, []byte{'\n'}) != int(n) {
		return nil, errTable
	}
	m.readWords(text)
	m.readCodes(rest[:2*n], rest[2*n:])
	return m, nil
}

func (m *Model) readWords(text []byte) {
	m.slots = make([]uint16, 1<<slotBits)
	m.starts = []uint32{0}
	var joined []byte
	for w := range bytes.Lines(text) {
		w = w[:len(w)-1]
		joined = append(joined, w...)
		m.starts = append(m.starts, uint32(len(joined)))
		at := slot(hash(w))
		for m.slots[at] != 0 {
			at = (at + 1) & (1<<slotBits - 1)
		}
		m.slots[at] = uint16(len(m.starts) - 1)
	}
	m.words = string(joined)
}

// readCodes unpacks the codes. The weight of a word makes its row one of length 1
// times its rarity; division and square root are exact by IEEE 754.
func (m *Model) readCodes(rarity, packed []byte) {
	n := len(rarity) / 2
	m.weights, m.codes = make([]int64, n), make([]int8, n*Dim)
	for i := range n {
		row, norm := m.codes[i*Dim:][:Dim], 0
		for b, two := range packed[i*Dim/2:][:Dim/2] {
			low, high := int8(two&15)-8, int8(two>>4)-8
			row[2*b], row[2*b+1] = low, high
			norm += int(low)*int(low) + int(high)*int(high)
		}
		if norm > 0 {
			m.weights[i] = int64(math.Round(float64(binary.LittleEndian.Uint16(rarity[2*i:])) * 64 / math.Sqrt(float64(norm))))
		}
	}
}

// Model names the table; vectors of tables with other names cannot be compared.
func (m *Model) Model() string { return m.name }

// Dim returns the number of dimensions.
func (m *Model) Dim() int { return Dim }

// Words returns the number of words in the table.
func (m *Model) Words() int { return len(m.weights) }

// Source returns the SHA-256 of the package the table was made from.
func (m *Model) Source() [32]byte { return m.source }

// find returns the number of a word, or -1. h is its hash.
func (m *Model) find(word []byte, h uint32) int {
	for at := slot(h); ; at = (at + 1) & (1<<slotBits - 1) {
		i := int(m.slots[at])
		if i == 0 {
			return -1
		}
		if m.words[m.starts[i-1]:m.starts[i]] == string(word) {
			return i - 1
		}
	}
}

// FNV-1a (Fowler, Noll and Vo).
const (
	hashStart = 2166136261
	hashPrime = 16777619
)

func hash(word []byte) uint32 {
	h := uint32(hashStart)
	for _, c := range word {
		h = (h ^ uint32(c)) * hashPrime
	}
	return h
}

func slot(h uint32) uint32 { return (h ^ h>>slotBits) & (1<<slotBits - 1) }
