package text

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// keptGenerations is how many flushes back a view can still be taken.
const keptGenerations = 8

// Index is the text follower of one graph. Publish is for one goroutine, the
// rest for any number.
type Index struct {
	opts     Options
	fields   []Field
	analyzer *analyzer
	print    uint32

	// writeLock is held while the tail grows or a generation changes. Lock order:
	// flushLock, writeLock, genLock.
	writeLock sync.Mutex
	genLock   sync.RWMutex // guards gens and late, never held long
	gens      []*generation
	late      *late         // nil once the index is open
	durable   atomic.Uint64 // newest published seq
	closed    atomic.Bool
	filling   context.Context // ends with EndFilling
	endFill   context.CancelFunc
	broken    atomic.Pointer[error]

	// flushLock is held while writing to disk.
	flushLock sync.Mutex
	disk      *disk // nil: in memory

	paused    atomic.Bool
	kick      chan struct{} // FlushDocs changes wait
	flushed   chan struct{} // closed and replaced when the tail got shorter
	stop      context.CancelFunc
	done      chan struct{}
	lastError atomic.Pointer[error]
	flushes   atomic.Int64
	scratches sync.Pool
}

// Open opens the index of a database, creating it when it is missing. What
// cannot be used, be it damaged, of another database or of other fields, is moved
// aside to Dir.damaged, and an empty index at seq 0 takes its place: AppliedSeq
// tells from where to Publish again, or whether to Load.
func Open(o Options) (*Index, error) {
	ix, err := newIndex(o)
	if err != nil {
		return nil, err
	}
	b := emptyBase(ix.fields)
	if o.Dir != "" {
		if ix.disk, b, err = openDisk(ix.opts, ix.print); err != nil {
			return nil, err
		}
	}
	ix.durable.Store(b.seq)
	ix.gens = []*generation{{base: b, tail: newTail(len(ix.fields))}}
	ix.run()
	return ix, nil
}

// newIndex makes an index that is neither open nor running.
func newIndex(o Options) (*Index, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	a, err := newAnalyzer()
	if err != nil {
		return nil, err
	}
	filling, endFill := context.WithCancel(context.Background())
	return &Index{
		filling: filling, endFill: endFill,
		opts: o, fields: o.Fields, analyzer: a, print: o.fingerprint(),
		kick: make(chan struct{}, 1), flushed: make(chan struct{}), done: make(chan struct{}),
	}, nil
}

// run starts the follower.
func (ix *Index) run() {
	ctx, stop := context.WithCancel(context.Background())
	ix.stop = stop
	go ix.follow(ctx)
}

// AppliedSeq returns the seq up to which the index on disk has everything. After
// Open, every transaction behind it has to be published, in order.
func (ix *Index) AppliedSeq() uint64 {
	if l := ix.pending(); l != nil {
		return l.applied
	}
	return ix.current().base.seq
}

// PublishedSeq returns the newest seq that was published.
func (ix *Index) PublishedSeq() uint64 { return ix.durable.Load() }

func (ix *Index) current() *generation {
	ix.genLock.RLock()
	defer ix.genLock.RUnlock()
	return ix.gens[len(ix.gens)-1]
}

func (ix *Index) usable() error {
	if ix.closed.Load() {
		return ErrClosed
	}
	if err := ix.broken.Load(); err != nil {
		return *err
	}
	return nil
}

// Publish adds the changes of a durable transaction. Seqs ascend; one that is
// published already is passed over, so replaying a log is harmless. Views of
// seq are exact once it returns. It never waits for the disk's writing side.
func (ix *Index) Publish(seq uint64, docs []Doc) { ix.PublishAnalyzed(seq, ix.Analyze(seq, docs)) }

// Analyzed are the terms of a transaction's documents.
type Analyzed struct{ docs []*document }

// Analyze does the part of Publish that takes long, for any goroutine and before the
// transaction is durable. seq is the one it will have.
func (ix *Index) Analyze(seq uint64, docs []Doc) Analyzed {
	a := Analyzed{make([]*document, len(docs))}
	for i, d := range docs {
		a.docs[i] = ix.analyze(seq, d)
	}
	return a
}

// PublishAnalyzed is the rest of Publish.
func (ix *Index) PublishAnalyzed(seq uint64, a Analyzed) {
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	if seq <= ix.durable.Load() || ix.closed.Load() {
		return
	}
	if l := ix.pending(); l != nil {
		if ix.broken.Load() == nil {
			l.enqueue(seq, a.docs)
		}
		ix.durable.Store(seq)
		return
	}
	g := ix.current()
	for _, d := range a.docs {
		if err := g.tail.add(d, g.base); err != nil {
			ix.breakDown(err)
			return
		}
	}
	ix.durable.Store(seq)
	if len(g.tail.entries()) >= ix.opts.FlushDocs {
		select {
		case ix.kick <- struct{}{}:
		default:
		}
	}
}

// breakDown makes every later call fail: the index on disk could not be read. It
// also marks the index, so that the next Open sets it aside.
func (ix *Index) breakDown(err error) {
	err = errors.Join(errors.New("text index: damaged; reopen the database to rebuild it"), err)
	if ix.broken.CompareAndSwap(nil, &err) && ix.disk != nil {
		ix.disk.markDamaged()
	}
}

// Throttle holds a writer back while more changes wait than MaxTail, for
// MaxStall at most: the tail never drops anything, so it slows its source. Call
// it before taking the write slot.
func (ix *Index) Throttle(ctx context.Context) error {
	if ix.opts.Dir == "" || ix.tailLen() < ix.opts.MaxTail || ix.paused.Load() {
		return nil
	}
	timer := time.NewTimer(ix.opts.MaxStall)
	defer timer.Stop()
	for {
		ix.genLock.RLock()
		flushed := ix.flushed
		ix.genLock.RUnlock()
		if ix.tailLen() < ix.opts.MaxTail {
			return nil
		}
		select {
		case <-flushed:
		case <-timer.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (ix *Index) tailLen() int {
	ix.genLock.RLock()
	defer ix.genLock.RUnlock()
	if ix.late != nil {
		return int(ix.late.docs.Load())
	}
	return len(ix.gens[len(ix.gens)-1].tail.entries())
}

// install makes g the current generation. The write lock is held.
func (ix *Index) install(g *generation) {
	ix.genLock.Lock()
	defer ix.genLock.Unlock()
	ix.gens = append(ix.gens, g)
	if extra := len(ix.gens) - keptGenerations; extra > 0 {
		ix.gens = append([]*generation(nil), ix.gens[extra:]...)
	}
	close(ix.flushed)
	ix.flushed = make(chan struct{})
}

// Stats describe an index.
type Stats struct {
	Published, Applied uint64 // seqs
	Tail               int    // changes in memory
	Segments           int    // on disk
	Flushes            int64
	LastError          error // of the newest flush, nil when it went well
}

// Stats returns what the index is doing.
func (ix *Index) Stats() Stats {
	if l := ix.pending(); l != nil {
		s := Stats{Published: ix.durable.Load(), Applied: l.applied, Tail: ix.tailLen()}
		if err := ix.broken.Load(); err != nil {
			s.LastError = *err
		}
		return s
	}
	g := ix.current()
	s := Stats{
		Published: ix.durable.Load(), Applied: g.base.seq, Tail: len(g.tail.entries()),
		Segments: len(g.base.segs), Flushes: ix.flushes.Load(),
	}
	if err := ix.lastError.Load(); err != nil {
		s.LastError = *err
	}
	return s
}

// Close writes what waits to disk, unless the follower is paused, and closes the
// index. Searches that are running finish first.
func (ix *Index) Close() error {
	if !ix.closed.CompareAndSwap(false, true) {
		return nil
	}
	ix.EndFilling()
	if ix.stop != nil {
		ix.stop()
		<-ix.done
	}
	if l := ix.pending(); l != nil && ix.broken.Load() == nil {
		if l.fill || l.docs.Load() < closingDocs {
			ix.abandon(l)
		} else {
			ix.openNow(l)
		}
	}
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	var err error
	if ix.disk != nil && ix.pending() == nil && ix.broken.Load() == nil && !ix.paused.Load() {
		err = ix.flushLocked(true)
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	if ix.disk != nil {
		err = errors.Join(err, ix.disk.close())
	}
	return err
}
