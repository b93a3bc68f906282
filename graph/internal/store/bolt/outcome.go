package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"

	berrors "go.etcd.io/bbolt/errors"

	"engram/graph/internal/store"
)

const (
	errNoAddresses = syscall.ENOMEM
	errReadOnlyFS  = syscall.EROFS
)

// classify tells what an error of bbolt's commit means, by where it arose:
//
//   - The size limit is met while pages are numbered, before anything is written.
//   - Growing the file comes next: its truncate fails with a text of its own
//     (bbolt drops the system's error), its sync with another.
//   - Then pages are written, which fails with a *fs.PathError of the file, and
//     synced, which fails with a bare errno; then the same for the meta page.
//
// Only no room before the first sync is Failed, and only if the meta pages of the
// file still tell the transaction before. In doubt the outcome is Unknown.
func classify(err error, file *os.File, before uint64) (store.Outcome, error) {
	if errors.Is(err, berrors.ErrMaxSizeReached) {
		return store.Failed, fmt.Errorf("%w: the file would grow over its size limit; reopen it with a larger one", store.ErrFull)
	}
	var write *fs.PathError
	noRoom := strings.HasPrefix(err.Error(), "file resize error")
	if errors.As(err, &write) && write.Op == "write" {
		noRoom = errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EDQUOT)
	}
	if noRoom && metaIs(file, before) {
		return store.Failed, fmt.Errorf("%w: %w; free space and try again", store.ErrFull, err)
	}
	return store.Unknown, err
}

// metaIs tells whether the newest meta page of the file, as the system sees it,
// still is the one of transaction txid.
func metaIs(file *os.File, txid uint64) bool {
	in, err := inspectFile(file, file.Name())
	return err == nil && in.damaged == "" && in.newest.txid == txid
}
