package text

import (
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"
	"time"
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
	fill    bool         // all of it is made anew, whatever is on disk
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
// everything, and nothing else. After an error that wraps ErrBusy or
// fs.ErrPermission Open fails, too; after any other one, Open would make a new index.
func Peek(o Options) (seq uint64, err error) {
	if o, err = o.filled(); err != nil {
		return 0, err
	}
	if o.Dir == "" {
		return 0, errors.New("text index: it is in memory only")
	}
	if err := markedDamaged(o.Dir); err != nil {
		return 0, err
	}
	r, err := readRoot(rootPath(o.Dir))
	if err != nil {
		return 0, err
	}
	h, err := decodeHeader(r.header)
	if err == nil {
		err = h.usable(&o)
	}
	return h.seq, err
}

// usable tells what keeps an index with the header from being used.
func (h *header) usable(o *Options) error {
	switch {
	case h.print != o.fingerprint():
		return ErrStale
	case o.Head != 0 && h.seq > o.Head:
		return errAhead(h.seq, o.Head)
	case len(h.counts.fields) != len(o.Fields):
		return errHeader
	}
	return nil
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

// OpenToFill opens an index that is to be filled anew, which is left to the follower
// like opening. Begin has to be called before anything else.
func OpenToFill(o Options) (*Index, error) {
	ix, err := newIndex(o)
	if err != nil {
		return nil, err
	}
	ix.late = &late{fill: true, wanted: make(chan struct{}), done: make(chan struct{})}
	ix.durable.Store(o.Head)
	return ix, nil
}

// LoadLater is Load left to the follower: rebuild is called at the first search or a
// little later, and calls load with the documents as of some seq not before this
// one. Until then searches wait; what is published is kept and added. Closing before
// leaves the index as it is on disk. An index without a directory is filled now.
func (ix *Index) LoadLater(seq uint64, rebuild func(load func(seq uint64, docs iter.Seq2[Doc, error]) error) error) error {
	if err := ix.opened(); err != nil {
		return err
	}
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.usable(); err != nil {
		return err
	}
	if ix.disk == nil {
		return rebuild(ix.loadMemory)
	}
	ix.opts.Rebuild = rebuild
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	ix.genLock.Lock()
	defer ix.genLock.Unlock()
	ix.late = &late{applied: ix.gens[len(ix.gens)-1].base.seq, fill: true, wanted: make(chan struct{}), done: make(chan struct{})}
	ix.durable.Store(max(seq, ix.durable.Load()))
	select {
	case ix.kick <- struct{}{}:
	default:
	}
	return nil
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

// patience is how long a search waits for an index that is being filled: less than a
// statement may take by default.
const patience = 20 * time.Second

func (l *late) wait() error {
	l.once.Do(func() { close(l.wanted) })
	<-l.done
	return l.err
}

// waitToSearch is wait, but not for ever.
func (l *late) waitToSearch() error {
	if !l.fill {
		return l.wait()
	}
	l.once.Do(func() { close(l.wanted) })
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-l.done:
		return l.err
	case <-timer.C:
		return ErrFilling
	}
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
	var b *base
	if ix.disk == nil {
		d, found, err := openDisk(ix.opts, ix.print)
		if err != nil {
			return err
		}
		ix.disk, b = d, found
	}
	if l.fill || b.seq != l.applied {
		var err error
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
	// In one step: who finds the index open finds a generation.
	ix.genLock.Lock()
	defer ix.genLock.Unlock()
	ix.late, ix.gens = nil, []*generation{g}
	close(ix.flushed)
	ix.flushed = make(chan struct{})
	return nil
}

// rebuild fills the empty index that took the place of one that was of no use.
func (ix *Index) rebuild() (b *base, err error) {
	if ix.opts.Rebuild == nil {
		return nil, errNotRebuilt
	}
	err = ix.opts.Rebuild(func(seq uint64, docs iter.Seq2[Doc, error]) error {
		b, err = ix.replaceDisk(seq, whileOpen(ix, docs))
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

// EndFilling gives up a filling that is under way or would begin: the index is about
// to be closed, and what the documents are read from even before it.
func (ix *Index) EndFilling() { ix.endFill() }

// whileOpen ends the documents with an error once nobody waits for them any more.
func whileOpen(ix *Index, docs iter.Seq2[Doc, error]) iter.Seq2[Doc, error] {
	return func(yield func(Doc, error) bool) {
		for doc, err := range docs {
			if ix.filling.Err() != nil {
				yield(Doc{}, ErrClosed)
				return
			}
			if !yield(doc, err) {
				return
			}
		}
	}
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
	if err := v.late.waitToSearch(); err != nil {
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
