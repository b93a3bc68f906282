package vector

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"engram/graph/value"
)

// Index is the space of one model. Publish is for one goroutine, the rest for any
// number.
type Index struct {
	opts Options

	// writeLock is held while entries are added or a generation changes. Lock order:
	// flushLock, writeLock, genLock.
	writeLock sync.Mutex
	genLock   sync.RWMutex  // guards gens, never held long
	gens      []*generation // the current one last
	durable   atomic.Uint64 // newest published seq
	closed    atomic.Bool
	invalid   atomic.Int64

	flushLock sync.Mutex // held while writing to disk
	disk      *disk      // nil: in memory
	applied   atomic.Uint64

	kick      chan struct{}
	stop      context.CancelFunc
	done      chan struct{}
	lastError atomic.Pointer[error]
	flushes   atomic.Int64
	scratches sync.Pool
}

// Open opens a space, creating it when it is missing. What cannot be used, be it
// damaged, of another database, model or number of dimensions, is moved aside to
// its directory's name with ".damaged", and an empty space at seq 0 takes its place:
// AppliedSeq tells from where to Publish again, or whether to Load. One process at a
// time may have it open; the caller sees to that.
func Open(o Options) (*Index, error) {
	o, err := o.filled()
	if err != nil {
		return nil, err
	}
	ix := &Index{opts: o, kick: make(chan struct{}, 1), done: make(chan struct{})}
	g := newGeneration(o.Dim, 0)
	if o.Dir != "" && o.ReadOnly {
		g = readDisk(o)
	} else if o.Dir != "" {
		if ix.disk, g, err = openDisk(o); err != nil {
			return nil, err
		}
	}
	ix.applied.Store(g.base)
	ix.durable.Store(g.base)
	ix.gens = []*generation{g}
	ctx, stop := context.WithCancel(context.Background())
	ix.stop = stop
	go ix.follow(ctx)
	return ix, nil
}

// Model returns the name of the space's model.
func (ix *Index) Model() string { return ix.opts.Model }

// AppliedSeq returns the seq up to which the space on disk has everything. After
// Open, every transaction behind it has to be published, in order.
func (ix *Index) AppliedSeq() uint64 { return ix.applied.Load() }

// PublishedSeq returns the newest seq that was published.
func (ix *Index) PublishedSeq() uint64 { return ix.durable.Load() }

func (ix *Index) current() *generation {
	ix.genLock.RLock()
	defer ix.genLock.RUnlock()
	return ix.gens[len(ix.gens)-1]
}

// Check tells what is wrong with a vector, nil when it can be published or
// searched for.
func (ix *Index) Check(v []float32) error { return ix.opts.check(v) }

// entryOf makes an entry of a document. A vector that cannot be used counts as
// none: the transaction it came with is durable already.
func (ix *Index) entryOf(seq uint64, d Doc) entry {
	e := entry{node: d.Node, seq: seq, kind: isGone}
	switch {
	case d.Vector != nil && ix.opts.check(d.Vector) == nil:
		e.kind, e.code = isVector, encode(d.Vector)
	case d.Vector != nil:
		ix.invalid.Add(1)
	case d.Pending:
		e.kind = isPending
	}
	return e
}

// Publish adds the changes of a durable transaction. Seqs ascend; one that is
// published already is passed over, so replaying a log is harmless. Views of
// seq are exact once it returns. It never waits for the disk.
func (ix *Index) Publish(seq uint64, docs []Doc) {
	entries := make([]entry, len(docs))
	for i, d := range docs {
		entries[i] = ix.entryOf(seq, d)
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	if seq <= ix.durable.Load() || ix.closed.Load() {
		return
	}
	g := ix.current()
	for _, e := range entries {
		g.add(e)
	}
	ix.durable.Store(seq)
	if int(g.seen().n-g.onDisk()) >= ix.opts.FlushDocs {
		select {
		case ix.kick <- struct{}{}:
		default:
		}
	}
}

func (g *generation) onDisk() uint32 {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.flushed
}

// Task is a vector to be made: of the node's text as of seq Of.
type Task struct {
	Node value.NodeID
	Of   uint64
}

// Missing returns up to limit nodes that wait for their vector, longest waiting
// first.
func (ix *Index) Missing(limit int) []Task {
	g := ix.current()
	g.mu.Lock()
	defer g.mu.Unlock()
	var out []Task
	first := true
	for i := g.cursor; i < g.n && len(out) < limit; i++ {
		k, in := split(i)
		h := &g.chunks[k].heads[in]
		if h.kind() != isPending || h.next.Load() != 0 {
			continue
		}
		if first {
			g.cursor, first = i, false
		}
		out = append(out, Task{h.node, h.seq})
	}
	if first && limit > 0 {
		g.cursor = g.n
	}
	return out
}

// Fill brings the vector of a task. It is refused, with false, when the node's text
// changed since: the new text has a task of its own. A nil vector says that the text
// has none. A vector that is filled in is
// seen by views taken from then on, and does not move the seq.
func (ix *Index) Fill(t Task, v []float32) (bool, error) {
	e := entry{node: t.Node, kind: isGone}
	if v != nil {
		if err := ix.opts.check(v); err != nil {
			return false, err
		}
		e.kind, e.code = isVector, encode(v)
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	if ix.closed.Load() {
		return false, ErrClosed
	}
	g := ix.current()
	g.mu.RLock()
	at := g.newest.get(t.Node)
	waits := false
	if at != 0 {
		now := g.at(at - 1)
		waits = now.kind == isPending && now.seq == t.Of
	}
	g.mu.RUnlock()
	if waits {
		e.seq = ix.durable.Load()
		g.add(e)
	}
	return waits, nil
}

// Load replaces everything by the documents of one state of the truth, that at seq,
// and writes it to disk. Nothing may be published meanwhile.
func (ix *Index) Load(seq uint64, docs iter.Seq2[Doc, error]) error {
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if ix.closed.Load() {
		return ErrClosed
	}
	g := newGeneration(ix.opts.Dim, seq)
	for d, err := range docs {
		if err != nil {
			return err
		}
		g.add(ix.entryOf(seq, d))
	}
	if ix.disk != nil {
		if err := ix.disk.replace(g, seq); err != nil {
			return err
		}
		g.flushed = g.n
		ix.applied.Store(seq)
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	ix.genLock.Lock()
	defer ix.genLock.Unlock()
	ix.durable.Store(seq)
	ix.gens = []*generation{g}
	return nil
}

// Stats describe a space.
type Stats struct {
	Model              string
	Published, Applied uint64 // seqs
	Live, Pending      int    // nodes with a vector, and waiting for one
	Entries, Unwritten int    // in memory, and of them not yet on disk
	Invalid            int64  // vectors published that could not be used
	Files              int
	Flushes            int64
	LastError          error // of the newest flush, nil when it went well
}

// Stats returns what the space is doing.
func (ix *Index) Stats() Stats {
	g := ix.current()
	g.mu.RLock()
	s := Stats{
		Model: ix.opts.Model, Published: ix.durable.Load(), Applied: ix.applied.Load(), Live: g.total.live, Pending: int(g.pending),
		Entries: int(g.n), Unwritten: int(g.n - g.flushed), Invalid: ix.invalid.Load(), Flushes: ix.flushes.Load(),
	}
	g.mu.RUnlock()
	if ix.disk != nil {
		s.Files = int(ix.disk.files.Load())
	}
	if err := ix.lastError.Load(); err != nil {
		s.LastError = *err
	}
	return s
}

// Close writes what waits to disk and closes the space. Views stay usable.
func (ix *Index) Close() error {
	if !ix.closed.CompareAndSwap(false, true) {
		return nil
	}
	ix.stop()
	<-ix.done
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	return ix.flushLocked(true)
}

// follow writes to disk from time to time.
func (ix *Index) follow(ctx context.Context) {
	defer close(ix.done)
	ticker := time.NewTicker(ix.opts.FlushEvery)
	defer ticker.Stop()
	failures, skip := 0, 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-ix.kick:
		case <-ticker.C:
		}
		if skip--; skip > 0 {
			continue
		}
		skip = 0
		if err := ix.Flush(); err != nil && !errors.Is(err, ErrClosed) {
			failures = min(failures+1, 6)
			skip = 1 << failures // a full disk: try again ever later
			continue
		}
		failures = 0
	}
}

// Flush writes everything published to disk now.
func (ix *Index) Flush() error {
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if ix.closed.Load() {
		return ErrClosed
	}
	return ix.flushLocked(false)
}

// idleSeqs is how far the disk may lag behind when no vector changes, before the
// seq alone is written.
const idleSeqs = 10_000

// flushLocked writes the entries that are not on disk. final also writes a seq that
// brought none.
func (ix *Index) flushLocked(final bool) error {
	ix.writeLock.Lock()
	g, seq := ix.current(), ix.durable.Load()
	s := g.seen()
	from := g.onDisk()
	ix.writeLock.Unlock()
	if ix.disk != nil && (s.n > from || seq > ix.applied.Load() && (final || seq-ix.applied.Load() >= idleSeqs)) {
		if err := ix.disk.append(g, from, s.n, seq); err != nil {
			ix.lastError.Store(&err)
			return err
		}
		ix.applied.Store(seq)
		ix.flushes.Add(1)
	}
	ix.lastError.Store(nil)
	g.mu.Lock()
	g.flushed = s.n
	g.mu.Unlock()
	ix.compact()
	return nil
}

// compact makes a new generation when most of the current one is of no use. The one
// before serves views of older seqs until the next flush.
func (ix *Index) compact() {
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	next := []*generation{ix.current()}
	if next[0].wasteful() {
		next = append(next, next[0].compacted(ix.durable.Load()))
	}
	ix.genLock.Lock()
	defer ix.genLock.Unlock()
	ix.gens = next
}
