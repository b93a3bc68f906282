package commit

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"engram/graph/internal/store"
)

// Options configure an Engine. Zero limits mean the defaults.
type Options[V any] struct {
	// Initial is the version of the seq at which the store stands.
	Initial V
	// Publish, if set, is called for each transaction once it is durable and before
	// anyone can see or is told of it, in order of seq, by the committer goroutine.
	// It must be quick, since commits wait for it, and must not wait for the engine (a
	// ticket, a slot, Close).
	Publish func(seq store.Seq, version V)
	// Advanced, if set, is called when snapshots show what was published, under the
	// same terms.
	Advanced func(seq store.Seq)
	// BeforeAck, if set, is called with the newest durable seq before the answers
	// of a group are given. Its error does not change the outcome, which is certain
	// already; it is counted in Stats and kept there.
	BeforeAck func(seq store.Seq) error
	// Envelope, if set, seals what the engine itself stores, and verifies what is next
	// to a key that is not found; see Prove.
	Envelope Envelope
	// Waiting, if set, tells how many would like to write and do not have the slot
	// yet: a group waits for what they write, see MaxGroupWait. If nil, it waits for
	// nobody.
	Waiting func() int
	// Now is the clock for the age of long snapshots and for how long an Apply
	// takes; default time.Now.
	Now func() time.Time

	MaxBytes        int           // of keys and values of a write-set; default 64 MiB
	MaxKeys         int           // of a write-set; default 100,000
	MaxGroupBytes   int           // made durable by one Apply; default 64 MiB
	MaxGroupWait    time.Duration // of a group for others, and never longer than two Applies take; default 20 ms
	MaxPendingBytes int           // finished but not durable, before AcquireSlot waits; default 128 MiB
	MaxUndoBytes    int           // prior values kept for long snapshots; default 64 MiB
	MaxLongAge      time.Duration // of a long snapshot; default 60 s
}

// Envelope protects a value together with its key by a checksum.
type Envelope interface {
	Seal(space store.Space, key, payload []byte) []byte
	Open(space store.Space, key, sealed []byte) ([]byte, error)
}

func (o Options[V]) withDefaults() Options[V] {
	setDefault(&o.MaxBytes, 64<<20)
	setDefault(&o.MaxKeys, 100_000)
	setDefault(&o.MaxGroupBytes, 64<<20)
	setDefault(&o.MaxGroupWait, 20*time.Millisecond)
	setDefault(&o.MaxPendingBytes, 128<<20)
	setDefault(&o.MaxUndoBytes, 64<<20)
	setDefault(&o.MaxLongAge, 60*time.Second)
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

func setDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Engine runs the commit protocol for one store. It owns the driver from New on.
// All methods are safe for concurrent use.
type Engine[V any] struct {
	driver store.Driver
	opts   Options[V]

	slot    chan struct{} // holds one token: the right to execute a writing statement
	wake    chan struct{} // tells the committer that something pends
	stop    chan struct{} // closed by Close once nothing can pend any more
	stopped chan struct{} // closed when the committer has returned

	mem memtable // guarded by the slot token
	tap atomic.Pointer[func([]store.Batch)]

	// epoch counts lost groups. What was executed in an older epoch has read
	// something that does not exist.
	epoch atomic.Uint64

	mu       sync.Mutex // guards all below; never held across a call of the driver or an option
	durable  *durable[V]
	pending  []*writeSet[V] // finished and not known to be durable, in order of seq
	bytes    int            // of pending
	retired  []*writeSet[V] // durable, still in the memtable
	progress chan struct{}  // closed and replaced whenever a group ends or a snapshot closes
	waiting  int            // how many wait for progress
	poison   error
	closing  bool
	closed   bool
	open     int // snapshots and slots that hold a reference
	longs    []*long
	undo     undo
	stats    Stats
}

// durable is the newest durable state: the store's reader and the version, paired
// by construction. Everyone shares one reader per seq, so that no reader has to be
// opened while an Apply runs, when it could see what is not synced yet; it also is
// the snapshot pinned before a failure.
type durable[V any] struct {
	seq     store.Seq
	version V
	reader  store.Reader
	refs    int // guarded by Engine.mu; the engine itself holds one on the current
}

// writeSet is a finished transaction on its way to the disk.
type writeSet[V any] struct {
	seq     store.Seq
	puts    []store.Put
	version V
	bytes   int
	ticket  *Ticket
}

// Stats tell how the engine fares.
type Stats struct {
	Seq          store.Seq // newest durable
	Pending      int       // write-sets finished but not durable
	PendingBytes int
	Commits      uint64 // write-sets made durable since New
	Groups       uint64 // Applies that made them so
	Lost         uint64 // write-sets that failed, ended unknown or were aborted on top
	Snapshots    int    // open snapshots, long ones included
	Long         int    // open long snapshots
	UndoBytes    int
	AckErrors    uint64 // errors of BeforeAck
	LastAckError error
	Poison       error // why writing is refused, or nil
}

// New starts an engine over driver, which it closes at Close, also when New fails.
func New[V any](driver store.Driver, opts Options[V]) (*Engine[V], error) {
	reader, err := driver.Snapshot()
	if err != nil {
		_ = driver.Close()
		return nil, fmt.Errorf("reading the store's state: %w", err)
	}
	e := &Engine[V]{
		driver:   driver,
		opts:     opts.withDefaults(),
		slot:     make(chan struct{}, 1),
		wake:     make(chan struct{}, 1),
		stop:     make(chan struct{}),
		stopped:  make(chan struct{}),
		progress: make(chan struct{}),
		durable:  &durable[V]{seq: reader.Seq(), version: opts.Initial, reader: Prove(reader, opts.Envelope), refs: 1},
	}
	e.slot <- struct{}{}
	go e.run()
	return e, nil
}

// Seq is the newest durable seq.
func (e *Engine[V]) Seq() store.Seq {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.durable.seq
}

// Poisoned tells why writing is refused, nil while it is not.
func (e *Engine[V]) Poisoned() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.poison
}

// Stats reads the counters.
func (e *Engine[V]) Stats() Stats {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.stats
	s.Seq, s.Pending, s.PendingBytes = e.durable.seq, len(e.pending), e.bytes
	s.Long, s.UndoBytes, s.Poison = len(e.longs), e.undo.bytes, e.poison
	return s
}

// Driver gives access to the driver's Stats and Check.
func (e *Engine[V]) Driver() store.Driver { return e.driver }

// Close refuses new slots and snapshots, waits for the slot's holder, for what is
// pending and for open snapshots, then stops the committer and closes the driver.
// If ctx ends first, everything that was answered is safe, the error says what is
// still open, and Close can be called again.
func (e *Engine[V]) Close(ctx context.Context) error {
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closing = true
	e.signalLocked()
	e.mu.Unlock()

	if err := e.waitUntil(ctx, func() bool { return e.open == 0 && len(e.pending) == 0 }); err != nil {
		return err
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil
	}
	e.closed = true
	e.mu.Unlock()
	close(e.stop)
	<-e.stopped
	err := e.durable.reader.Close()
	if cerr := e.driver.Close(); err == nil {
		err = cerr
	}
	return err
}

// waitUntil waits for a condition that is read under the lock.
func (e *Engine[V]) waitUntil(ctx context.Context, ok func() bool) error {
	for {
		e.mu.Lock()
		if ok() {
			e.mu.Unlock()
			return nil
		}
		open, progress := e.open, e.progress
		e.waiting++
		e.mu.Unlock()
		var err error
		select {
		case <-progress:
		case <-ctx.Done():
			err = fmt.Errorf("%w: %d of them; end them and close again, all that was acknowledged is safe: %w", ErrSnapshotsOpen, open, ctx.Err())
		}
		e.mu.Lock()
		e.waiting--
		e.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// signalLocked wakes everyone who waits for the state to change.
func (e *Engine[V]) signalLocked() {
	if e.waiting == 0 {
		return
	}
	close(e.progress)
	e.progress = make(chan struct{})
}

// pinLocked takes a reference to the durable state.
func (e *Engine[V]) pinLocked() *durable[V] {
	e.durable.refs++
	return e.durable
}

// unpin gives a reference back and closes the reader with the last one.
func (e *Engine[V]) unpin(d *durable[V]) {
	e.mu.Lock()
	d.refs--
	last := d.refs == 0
	e.mu.Unlock()
	if last {
		// Closing a reader cannot lose anything; a driver that fails here fails at
		// the next read, too.
		_ = d.reader.Close()
	}
}

// leaveLocked counts a snapshot or slot out.
func (e *Engine[V]) leaveLocked() {
	e.open--
	e.signalLocked()
}

// headLocked is the newest finished write-set, nil if all are durable.
func (e *Engine[V]) headLocked() *writeSet[V] {
	if len(e.pending) == 0 {
		return nil
	}
	return e.pending[len(e.pending)-1]
}
