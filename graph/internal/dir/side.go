package dir

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// The side file holds a mark, the newest acknowledged seq (u64), the number of the
// store's transaction (u64) and the checksum of its roots (u32), and a CRC32C of
// all of it, everything big endian. The first version knew no roots.
const (
	sideMark  = "engrseq2"
	sideSize  = len(sideMark) + 8 + 8 + 4 + 4
	sideMark1 = "engrseq1"
	sideSize1 = len(sideMark1) + 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sideFile remembers outside of graph.db the newest acknowledged seq, because bbolt
// hides a damaged newest meta page by falling back one transaction, and the roots
// of that transaction, which nothing in graph.db protects.
//
// It is overwritten in place and never synced. It survives a kill, being in the
// system's cache; after a power loss it may be older, which only makes it tell
// less. It can never be newer than graph.db, which is synced before it is written,
// so it never raises a false alarm. A torn one fails its checksum and tells nothing.
type sideFile struct {
	f    *os.File
	last sideState
}

// sideState is what a side file tells.
type sideState struct {
	seq   store.Seq
	roots bolt.Roots
}

// readSide returns what the file tells, or the zero state and why it tells nothing.
func readSide(path string) (s sideState, odd string, err error) {
	b, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, "it is missing", nil
	case err != nil:
		return s, "", systemError(path, err)
	case len(b) == 0:
		return s, "it is empty", nil
	}
	body, sum := b[:max(len(b)-4, 0)], uint32(0)
	if len(b) >= 4 {
		sum = binary.BigEndian.Uint32(b[len(b)-4:])
	}
	if crc32.Checksum(body, castagnoli) != sum {
		return s, "it is damaged", nil
	}
	switch {
	case len(b) == sideSize && string(b[:len(sideMark)]) == sideMark:
		rest := b[len(sideMark):]
		s.roots = bolt.Roots{Tx: binary.BigEndian.Uint64(rest[8:]), Sum: binary.BigEndian.Uint32(rest[16:])}
	case len(b) == sideSize1 && string(b[:len(sideMark1)]) == sideMark1:
	default:
		return s, "it is damaged", nil
	}
	s.seq = store.Seq(binary.BigEndian.Uint64(b[len(sideMark):]))
	return s, "", nil
}

func openSide(path string) (*sideFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return nil, systemError(path, err)
	}
	return &sideFile{f: f}, nil
}

func (s *sideFile) write(state sideState) error {
	b := binary.BigEndian.AppendUint64([]byte(sideMark), uint64(state.seq))
	b = binary.BigEndian.AppendUint64(b, state.roots.Tx)
	b = binary.BigEndian.AppendUint32(b, state.roots.Sum)
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := s.f.WriteAt(b, 0); err != nil {
		return systemError(s.f.Name(), err)
	}
	s.last = state
	return nil
}
