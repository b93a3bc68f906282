package text

import (
	"errors"
	"io/fs"
	"os"

	"engram/graph/value"
)

// Inspect reads the index in a directory without changing anything in it: every
// segment's checksum, then the nodes that it has text of, as of the seq that it
// returns. ok is false when there is no index. It is for a database that is open
// for reading.
func Inspect(o Options, fn func(value.NodeID) bool) (seq uint64, ok bool, err error) {
	o, err = o.filled()
	if err != nil {
		return 0, false, err
	}
	if _, err := os.Stat(o.Dir); errors.Is(err, fs.ErrNotExist) {
		return 0, false, nil
	}
	d := &disk{dir: o.Dir, fields: o.Fields, print: o.fingerprint(), readOnly: true}
	b, err := d.tryOpen(o.Head)
	if err != nil {
		return 0, true, err
	}
	defer func() { err = errors.Join(err, d.close()) }()
	for _, s := range b.segs {
		ids, err := s.nodeIDs()
		if err != nil {
			return b.seq, true, err
		}
		for i, id := range ids {
			if s.deleted != nil && s.deleted.Contains(uint32(i)) {
				continue
			}
			if !fn(id) {
				return b.seq, true, nil
			}
		}
	}
	return b.seq, true, nil
}

// SetAside moves the index of a closed database to dir.damaged, in place of an
// earlier one. A missing one is no error.
func SetAside(dir string) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return setAside(dir)
}
