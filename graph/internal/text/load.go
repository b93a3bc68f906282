package text

import (
	"fmt"
	"iter"
)

// Load replaces everything in the index by docs, as of seq: for the first filling
// and for rebuilding. The nodes of docs are distinct. No writer may be at work.
// When it fails the index is as it was, at its old seq.
func (ix *Index) Load(seq uint64, docs iter.Seq2[Doc, error]) error {
	ix.flushLock.Lock()
	defer ix.flushLock.Unlock()
	if err := ix.usable(); err != nil {
		return err
	}
	if ix.disk == nil {
		return ix.loadMemory(seq, docs)
	}
	err := ix.disk.replaceBy(func(n *disk) error { return ix.fill(n, seq, docs) })
	if err != nil && ix.disk.scorch != nil {
		return err
	}
	var b *base
	if err == nil {
		err = ix.disk.start(ix.disk.dir)
	}
	if err == nil {
		b, err = ix.disk.newBase(nil)
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

// startOver forgets all generations for one. The write lock is held.
func (ix *Index) startOver(g *generation, seq uint64) {
	ix.genLock.Lock()
	ix.gens = nil
	ix.genLock.Unlock()
	ix.install(g)
	ix.durable.Store(seq)
}

// fill writes docs to a fresh index.
func (ix *Index) fill(n *disk, seq uint64, docs iter.Seq2[Doc, error]) error {
	h := header{counts: newCounts(len(ix.fields))}
	batch := make([]*document, 0, loadDocs)
	flush := func() error {
		err := n.write(batch, h)
		batch = batch[:0]
		return err
	}
	for doc, err := range docs {
		if err != nil {
			return fmt.Errorf("text index: load: %w", err)
		}
		d := ix.analyze(seq, doc)
		if d.deleted() {
			continue
		}
		h.maxNode = max(h.maxNode, d.node)
		h.counts = h.counts.replaced(nil, d)
		if batch = append(batch, d); len(batch) == loadDocs {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	h.seq = seq
	return flush()
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
