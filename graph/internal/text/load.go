package text

import (
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"
)

// Load replaces everything in the index by docs, as of seq: for the first filling
// and for rebuilding. The nodes of docs are distinct. No writer may be at work.
// When it fails the index is as it was, at its old seq.
func (ix *Index) Load(seq uint64, docs iter.Seq2[Doc, error]) error {
	if err := ix.opened(); err != nil {
		return err
	}
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.usable(); err != nil {
		return err
	}
	if ix.disk == nil {
		return ix.loadMemory(seq, docs)
	}
	b, err := ix.replaceDisk(seq, docs)
	if err != nil && ix.disk.scorch != nil {
		return err
	}
	if err != nil {
		ix.breakDown(err)
		return err
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	ix.startOver(&generation{base: b, tail: newTail(len(ix.fields))}, seq)
	return nil
}

// replaceDisk fills a new index aside and puts it in place of the one on disk.
// When it fails and the old one can still be used, that goes on.
func (ix *Index) replaceDisk(seq uint64, docs iter.Seq2[Doc, error]) (*base, error) {
	err := ix.disk.replaceBy(func(n *disk) error { return ix.fill(n, seq, docs) })
	if err != nil {
		return nil, err
	}
	if err := ix.disk.start(ix.disk.dir); err != nil {
		return nil, err
	}
	return ix.disk.newBase(nil)
}

// startOver forgets all generations for one. The write lock is held.
func (ix *Index) startOver(g *generation, seq uint64) {
	ix.genLock.Lock()
	defer ix.genLock.Unlock()
	ix.gens = []*generation{g} // in one step: others ask for the current one meanwhile
	close(ix.flushed)
	ix.flushed = make(chan struct{})
	ix.durable.Store(seq)
}

// fill writes docs to a fresh index. One batch is analysed, by as many goroutines
// as there are CPUs, while the one before is written; no more than these two are in
// memory.
func (ix *Index) fill(n *disk, seq uint64, docs iter.Seq2[Doc, error]) error {
	f := filler{ix: ix, header: header{counts: newCounts(len(ix.fields))}, raw: make([]Doc, 0, loadDocs)}
	f.start(n)
	for doc, err := range docs {
		if err == nil {
			if f.raw = append(f.raw, doc); len(f.raw) < loadDocs {
				continue
			}
			err = f.flush(seq)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("text index: load: %w", err), f.stop())
		}
	}
	err := f.flush(seq)
	if err = errors.Join(err, f.stop()); err != nil {
		return err
	}
	n.settle(ix.filling)
	f.header.seq = seq
	return n.write(nil, f.header)
}

// filler fills an index batch by batch.
type filler struct {
	ix     *Index
	header header // describes what was handed to the writer
	raw    []Doc
	write  chan []*document // unbuffered: at most one batch waits
	failed chan error       // holds the writer's error
	done   chan struct{}
}

// start runs the goroutine that writes, which stop ends.
func (f *filler) start(n *disk) {
	f.write, f.failed, f.done = make(chan []*document), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(f.done)
		var err error
		empty := header{counts: newCounts(len(f.ix.fields))}
		for batch := range f.write {
			if err != nil {
				continue
			}
			// What is on disk is an index only with the last header.
			if err = n.write(batch, empty); err != nil {
				f.failed <- err
			}
		}
	}()
}

func (f *filler) stop() error {
	close(f.write)
	<-f.done
	select {
	case err := <-f.failed:
		return err
	default:
		return nil
	}
}

// flush analyses the documents gathered and hands them to the writer.
func (f *filler) flush(seq uint64) error {
	analysed := make([]*document, len(f.raw))
	workers := min(runtime.GOMAXPROCS(0), len(f.raw)/100+1)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(f.raw); i += workers {
				analysed[i] = f.ix.analyze(seq, f.raw[i])
			}
		})
	}
	wg.Wait()
	clear(f.raw)
	f.raw = f.raw[:0]
	batch := analysed[:0]
	for _, d := range analysed {
		if d.deleted() {
			continue
		}
		f.header.maxNode = max(f.header.maxNode, d.node)
		f.header.counts = f.header.counts.replaced(nil, d)
		batch = append(batch, d)
	}
	select {
	case err := <-f.failed:
		f.failed <- err // for stop
		return err
	case f.write <- batch:
		return nil
	}
}

func (ix *Index) loadMemory(seq uint64, docs iter.Seq2[Doc, error]) error {
	b := emptyBase(ix.fields)
	b.seq = seq
	t := newTail(len(ix.fields))
	for doc, err := range docs {
		if err != nil {
			return fmt.Errorf("text index: load: %w", err)
		}
		if d := ix.analyze(seq, doc); !d.deleted() {
			if err := t.add(d, b); err != nil {
				return err
			}
		}
	}
	ix.writeLock.Lock()
	defer ix.writeLock.Unlock()
	ix.startOver(&generation{base: b, tail: t}, seq)
	return nil
}
