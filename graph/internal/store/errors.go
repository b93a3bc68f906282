package store

import (
	"errors"
	"fmt"
)

// What can be wrong with a store or its file. Compare with errors.Is.
var (
	// ErrMissing: there is no database at the path.
	ErrMissing = errors.New("no database here")
	// ErrExists: creating found something at the path.
	ErrExists = errors.New("already exists")
	// ErrEmpty: the file has no bytes; opening it as a new database would hide a loss.
	ErrEmpty = errors.New("the file is empty")
	// ErrForeign: the file is not an engram database.
	ErrForeign = errors.New("not an engram database")
	// ErrNewer: the file was written by a newer format version.
	ErrNewer = errors.New("written by a newer version")
	// ErrTruncated: the file is shorter than its own meta page says.
	ErrTruncated = errors.New("the file is cut short")
	// ErrDamaged: pages of the file contradict each other.
	ErrDamaged = errors.New("damaged")
	// ErrLostCommits: the file is at an older seq than was acknowledged.
	ErrLostCommits = errors.New("acknowledged transactions are missing")
	// ErrMoved: the file has another name, or none, since it was opened.
	ErrMoved = errors.New("removed or replaced while it was open")
	// ErrBusy: another process or another handle of this one has it open.
	ErrBusy = errors.New("in use")
	// ErrReadOnly: the store was opened for reading, or can only be.
	ErrReadOnly = errors.New("read-only")
	// ErrFull: the disk, the quota or the size limit has no room.
	ErrFull = errors.New("no room")
	// ErrClosed: used after Close.
	ErrClosed = errors.New("the store is closed")
	// ErrInvalid: the caller broke the contract (an empty key, a wrong seq order).
	ErrInvalid = errors.New("invalid use")
)

// FileError says what is wrong with which file and what to do about it.
type FileError struct {
	Err    error  // one of the sentinels above, or an error of the system
	Path   string // the file or directory
	Detail string // what was found, may be empty
	Hint   string // what to do, may be empty
}

func (e *FileError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Path, e.Err)
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// Unwrap gives the sentinel.
func (e *FileError) Unwrap() error { return e.Err }

// CheckBatches tells how batches break the contract of Apply for a store at seq
// expect, or nil. The error wraps ErrInvalid.
func CheckBatches(expect Seq, batches []Batch) error {
	for i, b := range batches {
		if want := expect + Seq(i) + 1; b.Seq != want {
			return fmt.Errorf("%w: batch %d carries seq %d instead of %d", ErrInvalid, i, b.Seq, want)
		}
		for _, p := range b.Puts {
			if p.Space >= SpaceCount {
				return fmt.Errorf("%w: space %d does not exist", ErrInvalid, p.Space)
			}
			if len(p.Key) == 0 || len(p.Key) > MaxKey {
				return fmt.Errorf("%w: a key of %d bytes in space %d; 1 to %d are allowed", ErrInvalid, len(p.Key), p.Space, MaxKey)
			}
		}
	}
	return nil
}
