// Package record is the format of what the store keeps: a checksummed envelope
// around every value, and inside it nodes, blocks of edges, out-of-line values
// and small entries.
//
// Format history (the envelope's first byte):
//
//	1  first version
package record

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"engram/graph/internal/store"
)

// Version is the format version that Seal writes.
const Version = 1

// headerSize is version, codec, encryption key id and CRC32C.
const headerSize = 1 + 1 + 1 + 4

// castagnoli is the polynomial that CPUs compute in hardware.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Sealer wraps and unwraps values of one namespace. The checksum covers the
// namespace's tag, the space and the key besides the value, so that a record
// read from the wrong place or from another database is noticed. The zero
// Sealer works for tag 0. It is immutable.
type Sealer struct {
	Tag  uint64 // the database's random tag
	File string // named in errors
}

// DamagedError says that a stored value is not what was written.
type DamagedError struct {
	File   string
	Space  store.Space
	Key    []byte
	Reason string
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("damaged record in %s, space %s, key %x: %s; run check and restore from a backup",
		e.File, SpaceName(e.Space), e.Key, e.Reason)
}

var spaceNames = [store.SpaceCount]string{
	"meta", "names", "nodes", "edges", "log", "index", "overflow", "idempotency", "activity", "weights",
}

// SpaceName names a key space in messages.
func SpaceName(s store.Space) string {
	if int(s) < len(spaceNames) {
		return spaceNames[s]
	}
	return fmt.Sprintf("%d", uint8(s))
}

// Damaged makes the error for a value of this namespace.
func (s Sealer) Damaged(space store.Space, key []byte, reason string) error {
	file := s.File
	if file == "" {
		file = "the store"
	}
	return &DamagedError{File: file, Space: space, Key: append([]byte(nil), key...), Reason: reason}
}

// Room returns a buffer with space for the envelope; append the payload to it
// and hand it to Close.
func (s Sealer) Room(payload int) []byte {
	return make([]byte, headerSize, headerSize+payload)
}

// Close completes an envelope begun with Room.
func (s Sealer) Close(space store.Space, key, buf []byte) []byte {
	buf[0], buf[1], buf[2] = Version, 0, 0
	binary.LittleEndian.PutUint32(buf[3:], s.sum(space, key, buf[:3], buf[headerSize:]))
	return buf
}

// Seal wraps a copy of payload.
func (s Sealer) Seal(space store.Space, key, payload []byte) []byte {
	return s.Close(space, key, append(s.Room(len(payload)), payload...))
}

// Open checks an envelope and returns the payload inside it, not copied.
func (s Sealer) Open(space store.Space, key, sealed []byte) ([]byte, error) {
	if len(sealed) < headerSize {
		return nil, s.Damaged(space, key, fmt.Sprintf("%d bytes are too few", len(sealed)))
	}
	if binary.LittleEndian.Uint32(sealed[3:]) != s.sum(space, key, sealed[:3], sealed[headerSize:]) {
		return nil, s.Damaged(space, key, "the checksum does not match")
	}
	if sealed[0] != Version || sealed[1] != 0 || sealed[2] != 0 {
		return nil, s.Damaged(space, key, fmt.Sprintf(
			"format %d, codec %d, encryption key %d: written by a newer engram", sealed[0], sealed[1], sealed[2]))
	}
	return sealed[headerSize:], nil
}

func (s Sealer) sum(space store.Space, key, head, payload []byte) uint32 {
	// Bytes handed to package crc32 are moved to the heap, so the few in front of the
	// key are summed up here.
	c := ^uint32(0)
	c = sumBytes(c, s.Tag, 8)
	c = sumBytes(c, uint64(space), 1)
	c = sumBytes(c, uint64(uint32(len(key))), 4)
	for _, b := range head { // three bytes, and a zero
		c = sumBytes(c, uint64(b), 1)
	}
	c = sumBytes(c, 0, 1)
	c = crc32.Update(^c, castagnoli, key)
	return crc32.Update(c, castagnoli, payload)
}

// sumBytes goes on with an inverted checksum over the n lowest bytes of v, lowest
// first.
func sumBytes(c uint32, v uint64, n int) uint32 {
	for range n {
		c = castagnoli[byte(c)^byte(v)] ^ c>>8
		v >>= 8
	}
	return c
}
