package text

import (
	"context"
	"time"
)

// idleSeqs is how far the index may lag behind when nothing textual changes,
// before the seq alone is written.
const idleSeqs = 10_000

// mostTicks is how many ticks a change waits at most while others keep coming.
const mostTicks = 20

// lull finds the moment to write: writing takes the disk and the processor from
// whoever commits, and one large batch takes less of both than many small ones.
type lull struct {
	seq   uint64
	ticks int
}

// now tells at a tick, with the newest published seq, whether nothing has come since
// the tick before, or enough have waited.
func (l *lull) now(seq uint64) bool {
	quiet := seq == l.seq
	l.seq = seq
	if l.ticks++; !quiet && l.ticks < mostTicks {
		return false
	}
	l.ticks = 0
	return true
}

// follow writes the tail to disk from time to time. It is woken by time or by
// a full batch, never by a single commit: a follower nudged at each commit
// halves the rate of commits.
func (ix *Index) follow(ctx context.Context) {
	defer close(ix.done)
	ticker := time.NewTicker(ix.opts.FlushEvery)
	defer ticker.Stop()
	failures, skip := 0, 0
	var lull lull
	for {
		if l := ix.pending(); l != nil && ix.usable() == nil {
			select {
			case <-ctx.Done():
				return
			case <-l.wanted:
			case <-ticker.C:
			}
			ix.openNow(l)
		}
		select {
		case <-ctx.Done():
			return
		case <-ix.kick:
		case <-ticker.C:
			if skip == 0 && !lull.now(ix.durable.Load()) {
				continue
			}
		}
		if skip--; skip > 0 || ix.paused.Load() || ix.usable() != nil {
			continue
		}
		skip = 0
		if err := ix.flushOpen(); err != nil {
			failures = min(failures+1, 6)
			skip = 1 << failures // a full disk: try again ever later
			continue
		}
		failures = 0
	}
}

// Pause stops the follower after the flush it may be in. Everything published
// stays searchable.
func (ix *Index) Pause() {
	ix.paused.Store(true)
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
}

// Resume lets the follower go on.
func (ix *Index) Resume() { ix.paused.Store(false) }

// Flush writes everything published to disk now.
func (ix *Index) Flush() error {
	if err := ix.opened(); err != nil {
		return err
	}
	return ix.flushOpen()
}

// flushOpen is Flush of what is open: LoadLater may have come, and then there is
// nothing that could be written.
func (ix *Index) flushOpen() error {
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.usable(); err != nil || ix.pending() != nil {
		return err
	}
	return ix.flushLocked(false)
}

// flushLocked writes the tail to disk and starts a generation without it. final
// also writes a seq that brought no text.
func (ix *Index) flushLocked(final bool) error {
	if ix.disk == nil {
		ix.compactMemory()
		return nil
	}
	ix.writeLock.Lock()
	g, seq := ix.current(), ix.durable.Load()
	docs := g.tail.entries() // none newer than seq
	ix.writeLock.Unlock()
	if len(docs) == 0 && (seq == g.base.seq || !final && seq-g.base.seq < idleSeqs) {
		return nil
	}
	next, err := ix.disk.append(g, docs, seq)
	if err != nil {
		ix.lastError.Store(&err)
		return err
	}
	ix.lastError.Store(nil)
	ix.flushes.Add(1)
	return ix.succeed(g, next, len(docs))
}

// succeed starts a generation on a new base that has the first n entries of g's
// tail in it. Entries that came meanwhile move over.
func (ix *Index) succeed(g *generation, b *base, n int) error {
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	t := newTail(len(ix.fields))
	for _, d := range g.tail.entries()[n:] {
		if err := t.add(d.document, b); err != nil {
			ix.breakDown(err)
			return err
		}
	}
	ix.install(&generation{base: b, tail: t})
	return nil
}

// compactMemory drops what newer entries replaced, when that is most of it. It
// is what an index without a directory does in place of flushing.
func (ix *Index) compactMemory() {
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	g := ix.current()
	docs := g.tail.entries()
	n := uint32(len(docs))
	if n == 0 || uint64(n) < 2*docs[n-1].after.docs+1000 {
		return
	}
	b := emptyBase(ix.fields)
	b.seq = ix.durable.Load()
	t := newTail(len(ix.fields))
	for _, d := range docs {
		if d.live(n) {
			_ = t.add(d.document, b) // an empty base cannot fail
		}
	}
	ix.install(&generation{base: b, tail: t})
}
