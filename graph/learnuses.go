package graph

import (
	"sync"

	"engram/graph/internal/learn"
)

// LearningStats count uses of memories: entries of the learning queue.
type LearningStats struct {
	Pending int    // told, and not written yet
	Written uint64 // ever
	Refused uint64 // ever: of memories that were not there any more, or do not learn
	Dropped uint64 // since opening: told to a full queue
	// Lost were told, ever, but not written before their process ended.
	Lost uint64
	// Err is what keeps the queue from being written; nil when all is well.
	Err error
}

// uses counts what the learning queue was told, in a file beside the graph, so that
// after a kill it is known how much was lost.
type uses struct {
	mu    sync.Mutex
	told  uint64
	lost  uint64 // of processes before, beyond what the counters say
	count learn.Counters
	tell  func(uint64) error
}

// begin reads both counts. A file that tells less, of another time, is of no use.
func (u *uses) begin(db *DB, place place) error {
	snap, err := db.Snapshot()
	if err != nil {
		return err
	}
	defer snap.Rollback()
	if u.count, err = snap.learnCounters(); err != nil {
		return err
	}
	known := u.count.Written + u.count.Refused + u.count.Lost
	u.told = known
	if place.told != nil {
		told, err := place.told()
		if err != nil {
			return err
		}
		if u.told = max(told, known); !place.readOnly {
			u.tell = place.tell
		}
	}
	u.lost = u.told - known
	return nil
}

// NoteTold notes that the learning queue was told of a use. It is called before
// anybody hears that the use is queued.
func (db *DB) NoteTold() error {
	db.uses.mu.Lock()
	defer db.uses.mu.Unlock()
	db.uses.told++
	if db.uses.tell == nil {
		return nil
	}
	return wrap(db.uses.tell(db.uses.told))
}

// settled notes the counters of a durable transaction that learned.
func (db *DB) settled(c learn.Counters) {
	db.uses.mu.Lock()
	defer db.uses.mu.Unlock()
	now := &db.uses.count
	if c.Lost > now.Lost {
		db.uses.lost -= c.Lost - now.Lost
	}
	// The same counters may come again, with a transaction that did not learn.
	now.Written, now.Refused, now.Lost = max(now.Written, c.Written), max(now.Refused, c.Refused), max(now.Lost, c.Lost)
}

// lostUses is what a transaction that learns adds to the counter of lost uses.
func (db *DB) lostUses() uint64 {
	db.uses.mu.Lock()
	defer db.uses.mu.Unlock()
	return db.uses.lost
}

func (db *DB) learningStats() LearningStats {
	db.uses.mu.Lock()
	defer db.uses.mu.Unlock()
	c := db.uses.count
	return LearningStats{Written: c.Written, Refused: c.Refused, Lost: c.Lost + db.uses.lost}
}
