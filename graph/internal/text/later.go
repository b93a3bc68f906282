package text

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
)

// Opening an index means reading all of it once, see openable. OpenLater leaves
// that to the follower's goroutine, so that a database answers before; a search
// waits for it. Until then changes are queued, and views know nothing but their
// seq.

// late is an index that is not open yet.
type late struct {
	applied uint64 // what Peek found on disk
	once    sync.Once
	wanted  chan struct{} // closed when somebody waits
	done    chan struct{} // closed when gen or err is there
	gen     *generation   // the first one
	err     error
	queue   []queued     // guarded by Index.writeLock
	docs    atomic.Int64 // in queue
}

// queued is what one Publish brought.
type queued struct {
	seq  uint64
	docs []*document
}

// closingDocs is from how many queued documents on Close opens the index to write
// them. Fewer are left to the log.
const closingDocs = 100

// errNotRebuilt is why an index that turned out to be of no use stays so.
var errNotRebuilt = errors.New("text index: damaged; reopen the database to rebuild it")

// Peek reads from the root file up to which seq the index in a directory has
// everything, and nothing else. ok is false when it cannot be used or is missing:
// Open makes a new one.
func Peek(o Options) (seq uint64, ok bool) {
	o, err := o.filled()
	if err != nil || o.Dir == "" || markedDamaged(o.Dir) != nil {
		return 0, false
	}
	r, err := readRoot(rootPath(o.Dir))
	if err != nil {
		return 0, false
	}
	h, err := decodeHeader(r.header)
	if err != nil || h.print != o.fingerprint() || o.Head != 0 && h.seq > o.Head || len(h.counts.fields) != len(o.Fields) {
		return 0, false
	}
	return h.seq, true
}

// OpenLater opens an index that Peek found to be at seq applied, soon: at the
// first search, or a little later by itself. docs are what changed from applied
// to Options.Head. If the index turns out to be of no use, it is set aside, and
// Options.Rebuild is called. Begin has to be called before anything else.
func OpenLater(o Options, applied uint64, docs []Doc) (*Index, error) {
	ix, err := newIndex(o)
	if err != nil {
		return nil, err
	}
	ix.late = &late{applied: applied, wanted: make(chan struct{}), done: make(chan struct{})}
	ix.durable.Store(applied)
	if o.Head > applied {
		ix.Publish(o.Head, docs)
	}
	return ix, nil
}

// Begin starts the follower of an index got from OpenLater.
func (ix *Index) Begin(rebuild func(load func(seq uint64, docs iter.Seq2[Doc, error]) error) error) {
	ix.opts.Rebuild = rebuild
	ix.run()
}

// pending returns what there is of an index that is not open, nil when it is.
func (ix *Index) pending() *late {
	ix.genLock.RLock()
	defer ix.genLock.RUnlock()
	return ix.late
}

// opened waits until the index is open.
func (ix *Index) opened() error {
	l := ix.pending()
	if l == nil {
		return nil
	}
	return l.wait()
}

func (l *late) wait() error {
	l.once.Do(func() { close(l.wanted) })
	<-l.done
	return l.err
}

// enqueue keeps a change of an index that is not open. The write lock is held.
func (l *late) enqueue(seq uint64, docs []*document) {
	if len(docs) > 0 {
		l.queue = append(l.queue, queued{seq, docs})
		l.docs.Add(int64(len(docs)))
	}
}

// openNow opens the index; only one goroutine calls it, once.
func (ix *Index) openNow(l *late) {
	err := ix.openLate(l)
	if err != nil {
		ix.broken.CompareAndSwap(nil, &err)
		ix.writeLock.Lock()
		l.err, l.queue = err, nil
		l.docs.Store(0)
		ix.writeLock.Unlock()
	}
	close(l.done)
}

func (ix *Index) openLate(l *late) error {
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	d, b, err := openDisk(ix.opts, ix.print)
	if err != nil {
		return err
	}
	ix.disk = d
	if b.seq != l.applied {
		if b, err = ix.rebuild(); err != nil {
			return err
		}
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	g := &generation{base: b, tail: newTail(len(ix.fields))}
	for _, q := range l.queue {
		if q.seq <= b.seq {
			continue
		}
		for _, doc := range q.docs {
			if err := g.tail.add(doc, b); err != nil {
				return err
			}
		}
	}
	l.gen, l.queue = g, nil
	ix.durable.Store(max(ix.durable.Load(), b.seq))
	ix.genLock.Lock()
	ix.late = nil
	ix.genLock.Unlock()
	ix.install(g)
	return nil
}

// rebuild fills the empty index that took the place of one that was of no use.
func (ix *Index) rebuild() (b *base, err error) {
	if ix.opts.Rebuild == nil {
		return nil, errNotRebuilt
	}
	err = ix.opts.Rebuild(func(seq uint64, docs iter.Seq2[Doc, error]) error {
		b, err = ix.replaceDisk(seq, docs)
		return err
	})
	if err == nil && b == nil {
		err = errNotRebuilt
	}
	if err != nil {
		return nil, fmt.Errorf("text index: rebuild: %w", err)
	}
	return b, nil
}

// abandon ends an index that was never opened.
func (ix *Index) abandon(l *late) {
	l.err = ErrClosed
	close(l.done)
}

// resolve makes a view usable that was taken before the index was open.
func (v *View) resolve() (*View, error) {
	if v.late == nil {
		return v, nil
	}
	if err := v.late.wait(); err != nil {
		return nil, err
	}
	g := v.late.gen
	if g.base.seq > v.seq {
		return nil, ErrGone // rebuilt as of a later transaction
	}
	next := *v
	next.late, next.gen, next.n = nil, g, g.tail.upTo(v.seq)
	return &next, nil
}
