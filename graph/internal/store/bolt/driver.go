package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// appendFill is the fill of pages of the spaces whose keys only grow: nothing is
// inserted into a full page later.
const appendFill = 0.95

// maxSyncedFree is how many free pages are listed in the file at each commit: as
// many as fit one page. A longer list (after a large deletion) would make every
// commit dearer, so it is left out then and written at Close; opening after a crash
// scans the file instead.
const maxSyncedFree = 400

// Driver implements store.Driver.
type Driver struct {
	db       *bbolt.DB
	file     *os.File // bbolt's own handle, only read here
	path     string
	whole    string // the path from the root on: the working directory may change
	readOnly bool
	pages    *pages
	note     string // what opening found odd and could deal with
	openedAt store.Seq

	mu     sync.Mutex
	roots  Roots // of the last commit
	length int64 // of the file after the newest commit
	stats  store.Stats
	broken error // an outcome that was unknown
	closed bool
	stuck  bool // bbolt panicked inside a write transaction and cannot be closed
}

// start fills the counters that need a look at the file.
func (d *Driver) start() error {
	d.stats.PageBytes = d.db.Info().PageSize
	if info, err := d.file.Stat(); err == nil {
		d.length = info.Size()
	}
	return guard(d.path, func() error {
		return d.db.View(func(tx *bbolt.Tx) error {
			seq, err := readHeader(tx, d.path)
			d.openedAt = seq
			d.stats.UsedBytes = tx.Size()
			return err
		})
	})
}

// Snapshot opens a reader at the last committed seq.
func (d *Driver) Snapshot() (store.Reader, error) {
	if err := d.usable(); err != nil {
		return nil, err
	}
	var r *reader
	var tx *bbolt.Tx
	err := guard(d.path, func() (err error) {
		if tx, err = d.db.Begin(false); err == nil {
			r, err = newReader(d.pages, tx)
		}
		return err
	})
	if err != nil {
		if tx != nil {
			err = errors.Join(err, closedError(tx.Rollback()))
		}
		return nil, closedError(err)
	}
	return r, nil
}

// Roots are those of the last commit, or of opening before one; what must be known
// of them when the file is opened again.
func (d *Driver) Roots() Roots {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.roots
}

// OpenedAt is the seq that opening found.
func (d *Driver) OpenedAt() store.Seq { return d.openedAt }

// Note tells what opening found odd and could deal with, empty if nothing.
func (d *Driver) Note() string { return d.note }

// usable refuses what must not be done after an unknown outcome.
func (d *Driver) usable() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken != nil {
		return fmt.Errorf("an earlier commit ended unknown, reopen the database: %w", d.broken)
	}
	return nil
}

// Apply commits all batches in one bbolt transaction: one sync for the data, one
// for the meta page.
func (d *Driver) Apply(expect store.Seq, batches []store.Batch) (store.Outcome, error) {
	if d.readOnly {
		return store.Failed, &store.FileError{Err: store.ErrReadOnly, Path: d.path}
	}
	if err := d.usable(); err != nil {
		return store.Unknown, err
	}
	if err := store.CheckBatches(expect, batches); err != nil {
		return store.Failed, err
	}
	if err := d.inPlace(); err != nil {
		return store.Failed, err
	}
	var outcome store.Outcome
	var tx *bbolt.Tx
	panicked := true
	err := guard(d.path, func() (err error) {
		if tx, err = d.db.Begin(true); err != nil {
			outcome = store.Failed
			return closedError(err)
		}
		outcome, err = d.apply(tx, expect, batches)
		panicked = false
		return err
	})
	if panicked && tx != nil {
		outcome = store.Unknown
		if guard(d.path, tx.Rollback) != nil {
			d.mu.Lock()
			d.stuck = true
			d.mu.Unlock()
		}
	}
	if outcome == store.Unknown {
		d.mu.Lock()
		d.broken = err
		d.mu.Unlock()
	}
	return outcome, err
}

// inPlace refuses to write what nobody could find again.
func (d *Driver) inPlace() error {
	open, err := d.file.Stat()
	if err != nil {
		return closedError(err)
	}
	named, err := os.Stat(d.whole)
	if err == nil && os.SameFile(named, open) {
		return nil
	}
	detail := "its name belongs to another file now"
	if err != nil {
		detail = err.Error()
	}
	return &store.FileError{
		Err: store.ErrMoved, Path: d.path, Detail: detail,
		Hint: "nothing was written; what was stored before is still read here: make a backup of it, or put the file back and go on",
	}
}

func (d *Driver) apply(tx *bbolt.Tx, expect store.Seq, batches []store.Batch) (store.Outcome, error) {
	at, err := readHeader(tx, d.path)
	if err == nil && at != expect {
		return store.Conflict, errors.Join(fmt.Errorf("the store is at seq %d, not %d", at, expect), tx.Rollback())
	}
	if err == nil {
		spaces := bySpace(batches)
		if err = verifyWays(d.pages, tx, spaces); err == nil {
			err = write(tx, spaces)
		}
	}
	if err == nil {
		err = tx.Bucket(headerBucket).Put(seqKey, encodeSeq(expect+store.Seq(len(batches))))
	}
	if err != nil {
		return store.Failed, errors.Join(err, tx.Rollback())
	}
	before := uint64(tx.ID()) - 1
	free := d.db.Stats()
	d.db.NoFreelistSync = free.FreePageN+free.PendingPageN > maxSyncedFree // under bbolt's writer lock
	if err := tx.Commit(); err != nil {
		return classify(err, d.file, before)
	}
	d.count(tx.Stats())
	d.noteRoots()
	return store.Committed, nil
}

// noteRoots reads the roots of what was just committed. If it cannot, they are not
// known, and the next opening reads all of the file.
func (d *Driver) noteRoots() {
	var r Roots
	if in, err := inspectFile(d.file, d.path); err == nil {
		r, _, _ = rootsOf(d.file, in.newest)
	}
	d.mu.Lock()
	d.roots = r
	d.mu.Unlock()
}

// count adds a committed transaction to the counters.
func (d *Driver) count(s bbolt.TxStats) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.stats.Applies++
	d.stats.Syncs += 2
	if info, err := d.file.Stat(); err == nil && info.Size() > d.length {
		d.stats.Syncs++ // bbolt syncs when the file grows
		d.length = info.Size()
	}
	d.stats.PagesWritten += uint64(s.GetPageCount() + 1)
	d.stats.BytesWritten += uint64(s.GetPageAlloc() + int64(d.stats.PageBytes))
	_ = d.db.View(func(tx *bbolt.Tx) error { // cannot fail on an open database
		d.stats.UsedBytes = tx.Size()
		return nil
	})
}

// bySpace sorts the batches' changes by space and key; of several changes of a key
// the last one comes last.
func bySpace(batches []store.Batch) (spaces [store.SpaceCount][]store.Put) {
	for _, b := range batches {
		for _, p := range b.Puts {
			spaces[p.Space] = append(spaces[p.Space], p)
		}
	}
	for _, puts := range spaces {
		slices.SortStableFunc(puts, func(a, b store.Put) int { return bytes.Compare(a.Key, b.Key) })
	}
	return spaces
}

// write puts the changes into the buckets, the last change of a key winning.
func write(tx *bbolt.Tx, spaces [store.SpaceCount][]store.Put) error {
	for space, puts := range spaces {
		if len(puts) == 0 {
			continue
		}
		bucket := tx.Bucket([]byte(bucketNames[space]))
		if appends(store.Space(space)) {
			bucket.FillPercent = appendFill
		}
		for i, p := range puts {
			if i+1 < len(puts) && bytes.Equal(p.Key, puts[i+1].Key) {
				continue
			}
			var err error
			if p.Value == nil {
				err = bucket.Delete(p.Key)
			} else {
				err = bucket.Put(p.Key, p.Value)
			}
			if err != nil {
				return fmt.Errorf("%w: key %x in space %s: %w", store.ErrInvalid, p.Key, bucketNames[space], err)
			}
		}
	}
	return nil
}

func appends(space store.Space) bool {
	return space == store.Nodes || space == store.Edges || space == store.Log
}

// Stats reads the counters.
func (d *Driver) Stats() store.Stats {
	info, err := d.file.Stat()
	bs := d.db.Stats()
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.stats
	s.FreePages = bs.FreePageN + bs.PendingPageN
	if err == nil {
		s.FileBytes = info.Size()
	}
	return s
}

// Check walks every page and reports what does not fit together. Apply may go on
// meanwhile.
func (d *Driver) Check(report func(problem string)) error {
	if err := d.usable(); err != nil {
		return err
	}
	for {
		done, err := d.check(report)
		if done || err != nil {
			return err
		}
	}
}

// check is done unless two Applies overtook it, so that the meta page is gone.
func (d *Driver) check(report func(problem string)) (done bool, err error) {
	var tx *bbolt.Tx // keeps the pages from being used again
	err = guard(d.path, func() (err error) {
		tx, err = d.db.Begin(false)
		return err
	})
	if err != nil {
		return false, closedError(err)
	}
	defer func() { _ = tx.Rollback() }() // cannot fail on an open transaction
	info, err := d.file.Stat()
	if err != nil {
		return false, &store.FileError{Err: err, Path: d.path}
	}
	metas, err := readMetas(d.file, info.Size())
	if err != nil {
		return false, &store.FileError{Err: err, Path: d.path}
	}
	for _, m := range metas.valid {
		if m.txid == uint64(tx.ID()) {
			if metas.damaged != "" {
				report(metas.damaged)
			}
			walkFile(d.file, m, report)
			return true, nil
		}
	}
	return false, nil
}

// Close closes the file. It waits for open readers.
func (d *Driver) Close() error {
	d.mu.Lock()
	stuck, broken, closed, written := d.stuck, d.broken, d.closed, d.stats.Applies > 0
	d.closed = true
	d.mu.Unlock()
	switch {
	case closed:
		return nil
	case stuck:
		// bbolt's writer lock was lost in a panic, so its Close would never return.
		return abandon(d.file)
	}
	if d.db.NoFreelistSync && written && !d.readOnly && broken == nil {
		// Write the list of free pages, so that opening need not scan the file. It
		// only saves time, so failing does no harm.
		_ = guard(d.path, func() error {
			d.db.NoFreelistSync = false
			return d.db.Update(func(*bbolt.Tx) error { return nil })
		})
		d.noteRoots()
	}
	return d.db.Close()
}
