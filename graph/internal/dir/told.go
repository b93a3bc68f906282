package dir

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// The file of told uses holds a mark, how many uses of memories the learning queue
// was ever told (u64, big endian) and a CRC32C of both. Like the side file it is
// overwritten in place and never synced: it survives a kill, and a torn or older one
// only tells of less.
const (
	toldMark = "engrtld1"
	toldSize = len(toldMark) + 8 + 4
)

// readTold returns how many uses were told, 0 if the file tells nothing.
func readTold(path string) (uint64, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, systemError(path, err)
	}
	if len(b) != toldSize || string(b[:len(toldMark)]) != toldMark {
		return 0, nil
	}
	body, sum := b[:toldSize-4], binary.BigEndian.Uint32(b[toldSize-4:])
	if crc32.Checksum(body, castagnoli) != sum {
		return 0, nil
	}
	return binary.BigEndian.Uint64(body[len(toldMark):]), nil
}

// Told returns how many uses the learning queue was told as of the last Tell.
func (n *Namespace) Told() (uint64, error) { return readTold(filepath.Join(n.Path(), toldName)) }

// Tell notes how many uses the learning queue was ever told, before anybody is told
// that they are queued. It must not run at the same time as another, nor as Close.
func (n *Namespace) Tell(told uint64) error {
	if n.side == nil {
		return nil
	}
	if n.told == nil {
		f, err := os.OpenFile(filepath.Join(n.Path(), toldName), os.O_WRONLY|os.O_CREATE, fileMode)
		if err != nil {
			return systemError(filepath.Join(n.Path(), toldName), err)
		}
		n.told = f
	}
	if _, err := n.told.WriteAt(toldContent(told), 0); err != nil {
		return systemError(n.told.Name(), err)
	}
	return nil
}

func toldContent(told uint64) []byte {
	b := binary.BigEndian.AppendUint64([]byte(toldMark), told)
	return binary.BigEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}
