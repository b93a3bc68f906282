package dir

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"

	"engram/graph/internal/store"
)

// The side file holds a mark, the newest acknowledged seq (u64, big endian) and a
// CRC32C of both.
const (
	sideMark = "engrseq1"
	sideSize = len(sideMark) + 8 + 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// sideFile remembers the newest acknowledged seq outside graph.db: bbolt hides a
// damaged newest meta page by falling back one transaction, which this reveals.
//
// It is overwritten in place and never synced. It survives a kill, being in the
// system's cache; after a power loss it may be older, which only makes it tell
// less. It can never be newer than graph.db, which is synced before it is written,
// so it never raises a false alarm. A torn one fails its checksum and tells nothing.
type sideFile struct{ f *os.File }

// readSide returns the acknowledged seq, 0 if the file tells nothing.
func readSide(path string) (store.Seq, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, systemError(path, err)
	}
	if len(b) != sideSize || string(b[:len(sideMark)]) != sideMark {
		return 0, nil
	}
	body, sum := b[:sideSize-4], binary.BigEndian.Uint32(b[sideSize-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return 0, nil
	}
	return store.Seq(binary.BigEndian.Uint64(body[len(sideMark):])), nil
}

func openSide(path string) (*sideFile, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, fileMode)
	if err != nil {
		return nil, systemError(path, err)
	}
	return &sideFile{f}, nil
}

func (s *sideFile) write(seq store.Seq) error {
	b := binary.BigEndian.AppendUint64([]byte(sideMark), uint64(seq))
	b = binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
	if _, err := s.f.WriteAt(b, 0); err != nil {
		return systemError(s.f.Name(), err)
	}
	return nil
}
