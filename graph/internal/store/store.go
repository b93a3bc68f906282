// Package store is the seam between the engine and the key-value store that
// keeps the truth. Two drivers satisfy it, bbolt and memory; nothing above the
// seam sees a driver's types or error texts.
package store

import (
	"fmt"
	"io"
)

// Seq numbers committed transactions of a namespace, from 1. Seq 0 is the empty
// namespace.
type Seq uint64

// Space is a key space of its own: one bucket in bbolt. Keys sort bytewise
// inside a space.
type Space uint8

// The key spaces. Numbers are part of the file format.
const (
	Meta        Space = iota // format, database id, counters, high-water marks
	Names                    // interned names
	Nodes                    // node records by id
	Edges                    // edge records in blocks by id
	Log                      // log entries by seq
	Index                    // external ids, unique and property indexes
	Overflow                 // values over 2 KiB
	Idempotency              // client keys with the seq they committed at
	Activity                 // uses, last used: learning never rewrites content
	Weights                  // learned weights and learning events
	SpaceCount
)

// MaxKey is the longest key in bytes; keys are not empty.
const MaxKey = 4096

// Put is one change: Value nil deletes the key (an empty, not nil, value is
// stored). Space must be below SpaceCount and Key 1 to MaxKey bytes.
type Put struct {
	Space Space
	Key   []byte
	Value []byte
}

// Batch is the write-set of one transaction: its Seq and its changes, each key
// at most once.
type Batch struct {
	Seq  Seq
	Puts []Put
}

// Reader reads one snapshot. Returned bytes are copies that the caller owns. It is
// safe for concurrent use until it is closed. It must be closed, soon: a bbolt
// reader holds back page reuse, so that the file grows.
//
// A damaged page is answered with an error that wraps ErrDamaged, never with a
// panic.
type Reader interface {
	Seq() Seq
	// Get returns nil when the key is absent.
	Get(space Space, key []byte) ([]byte, error)
	// GetMany appends the value of each key, nil for an absent one.
	GetMany(space Space, keys [][]byte, out [][]byte) ([][]byte, error)
	// Scan calls fn for keys in [from, to) in ascending order until it returns
	// false; from nil means the start and to nil the end of the space. The bytes
	// given to fn are valid during the call only and must not be changed.
	Scan(space Space, from, to []byte, fn func(key, value []byte) bool) error
	Close() error
}

// Copier is a Reader that can write its snapshot as a file of its driver.
type Copier interface {
	// CopyTo writes the file and returns its length. An Apply meanwhile neither
	// waits nor shows.
	CopyTo(w io.Writer) (int64, error)
}

// BackScanner is a Reader that can scan from the end.
type BackScanner interface {
	// ScanBack is Scan in descending order; to must not be nil.
	ScanBack(space Space, from, to []byte, fn func(key, value []byte) bool) error
}

// Prover is a Reader of a store whose keys could be damaged on disk, so that a key
// that is not found proves nothing by itself. Around calls fn for the key's
// neighbours: the nearest key at or behind it and the nearest before it, where
// there are such. They are adjacent and in order, or the error wraps ErrDamaged; so
// if both are what was written, nothing is missing between them but by a change of
// many bytes. The bytes given to fn are valid during the call only.
type Prover interface {
	Around(space Space, key []byte, fn func(key, value []byte) error) error
}

// Outcome says what became of an Apply.
type Outcome uint8

// The four outcomes.
const (
	// Committed: all batches are durable.
	Committed Outcome = iota
	// Conflict: the store is not at the expected seq; nothing happened.
	Conflict
	// Failed: nothing happened and the store stays usable (full disk or a size
	// limit, met before the first sync).
	Failed
	// Unknown: an error at a sync; the batches may or may not be there after
	// reopening. The driver must not be written to again.
	Unknown
)

func (o Outcome) String() string {
	switch o {
	case Committed:
		return "committed"
	case Conflict:
		return "conflict"
	case Failed:
		return "failed"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("outcome %d", uint8(o))
}

// Stats are counters of a driver since it was opened and sizes now. The memory
// driver counts only Applies.
type Stats struct {
	Applies      uint64 // committed Apply calls
	Syncs        uint64 // of the file, for what was committed
	PagesWritten uint64 // pages handed to the file, meta pages included
	BytesWritten uint64 // bytes of those pages
	FileBytes    int64  // length of the file, room for growth included
	UsedBytes    int64  // pages below the high-water mark, free ones included
	FreePages    int    // pages that can be used again, now or soon
	PageBytes    int    // size of a page
}

// Driver is a key-value store of one namespace. Apply is called by one goroutine
// at a time; everything else at any time until Close.
type Driver interface {
	// Snapshot opens a reader at the last committed seq. It must not be called
	// while an Apply runs, nor after one whose outcome is Unknown: a reader opened
	// then may see what is not durable. (The engine keeps one reader open instead.)
	Snapshot() (Reader, error)
	// Apply makes all batches durable together, or none. The store must be at
	// seq expect; the batches carry the seqs behind it, in order. A key changed by
	// several batches ends with the last one's value. err explains every outcome
	// but Committed. The batches are not kept after the call.
	Apply(expect Seq, batches []Batch) (Outcome, error)
	// Stats reads the counters.
	Stats() Stats
	// Check looks at every page of the store and reports each problem found; it
	// returns an error only when it could not look. Values are not understood here:
	// checksums of records are checked by the graph.
	Check(report func(problem string)) error
	// Close releases the store. Readers must be closed before; it waits for them.
	Close() error
}
