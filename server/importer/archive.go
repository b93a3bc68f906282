package importer

import (
	"context"
	"errors"
	"io"
	"os"

	"engram/server/archive"
)

// OpenArchive unpacks a folder that came as a tar file, beside the data. A folder that
// is all there is in it is the source, and gives it its name. done removes what was
// unpacked.
func OpenArchive(ctx context.Context, r io.Reader) (src Source, done func() error, err error) {
	dir, err := os.MkdirTemp("", "engram-import-*") // mode 0700
	if err != nil {
		return Source{}, nil, err
	}
	var root *os.Root
	remove := func() error {
		if root != nil {
			_ = root.Close() // it was only read
		}
		return os.RemoveAll(dir)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	if root, err = os.OpenRoot(dir); err != nil {
		return Source{}, nil, err
	}
	if err := archive.Unpack(ctx, r, root); err != nil {
		return Source{}, nil, err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return Source{}, nil, err
	}
	src = Source{Name: "import", Dir: root}
	if len(entries) == 1 && entries[0].IsDir() {
		top, err := root.OpenRoot(entries[0].Name())
		if err != nil {
			return Source{}, nil, err
		}
		_ = root.Close() // the one below is enough
		root = top
		src = Source{Name: entries[0].Name(), Dir: top}
	}
	return src, remove, nil
}
