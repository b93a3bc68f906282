package bolt

import (
	"errors"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// Bare writes to a bbolt file with nothing around it: what the engine underneath
// can do at best. It is a yardstick, not a driver.
type Bare struct{ db *bbolt.DB }

// OpenBare opens a copy of a database's file, which it changes.
func OpenBare(path string) (*Bare, error) {
	db, _, err := openBolt(path, &Options{MaxSize: DefaultMaxSize}, lockTimeout)
	if err != nil {
		return nil, err
	}
	db.NoFreelistSync = false
	return &Bare{db}, nil
}

// Write commits the changes of one transaction, with its two syncs.
func (b *Bare) Write(batch store.Batch) error {
	tx, err := b.db.Begin(true)
	if err != nil {
		return closedError(err)
	}
	if err = write(tx, bySpace([]store.Batch{batch})); err == nil {
		err = tx.Bucket(headerBucket).Put(seqKey, encodeSeq(batch.Seq))
	}
	if err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// Close closes the file.
func (b *Bare) Close() error { return b.db.Close() }
