package bolt

import (
	"bytes"

	"go.etcd.io/bbolt"

	"engram/graph/internal/store"
)

// verifyWays verifies the pages that a commit will read and write anew: otherwise it
// would make of a damaged page one that looks sound. Before the first commit since
// opening it also verifies all branches, because afterwards pages that were free
// may be used, and an old version of a page could not be told any more.
func verifyWays(p *pages, tx *bbolt.Tx, spaces [store.SpaceCount][]store.Put) error {
	v := newView(p, tx)
	_, trees, err := v.buckets(tx)
	if err != nil {
		return err
	}
	if p.free.Load() != nil {
		for i := range trees {
			if err := v.branches(&trees[i]); err != nil {
				return err
			}
		}
		p.free.Store(nil)
	}
	for i, puts := range spaces {
		w := way{c: newCursor(v, &trees[i])}
		for _, put := range puts {
			if err := w.to(put.Key, put.Value == nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// branches verifies all branches of a tree.
func (v view) branches(t *tree) error {
	if t.root == 0 {
		return nil
	}
	p, err := v.root(t.root)
	if err != nil || p.leaf {
		return err
	}
	return v.branchesBelow(p)
}

func (v view) branchesBelow(p treePage) error {
	for i := range p.count {
		child, err := v.below(p, i)
		if err != nil || child.leaf {
			return err // all the others are leaves, too
		}
		if err := v.branchesBelow(child); err != nil {
			return err
		}
	}
	return nil
}

// way follows ascending keys down a tree.
type way struct {
	c       *cursor
	at      bool   // the cursor's leaf is where keys below upper belong
	upper   []byte // nil: up to the end
	deletes bool   // the neighbours are verified, too
}

func (w *way) to(key []byte, deletes bool) error {
	if !w.at || w.upper != nil && bytes.Compare(key, w.upper) >= 0 {
		if err := w.seek(key); err != nil {
			return err
		}
	}
	if !deletes || w.deletes {
		return nil
	}
	// A page that gets small is joined with one beside it.
	w.deletes = true
	for _, at := range w.c.stack[:len(w.c.stack)-1] {
		for _, i := range []int{at.index - 1, at.index + 1} {
			if i >= 0 && i < at.page.count {
				if _, err := w.c.v.below(at.page, i); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// seek goes to the leaf where key belongs.
func (w *way) seek(key []byte) error {
	p, err := w.c.t.first(w.c.v)
	if err != nil {
		return err
	}
	w.c.stack = w.c.stack[:0]
	if err := w.c.descend(p, func(p treePage) int { return p.toward(key) }); err != nil {
		return err
	}
	w.at, w.deletes, w.upper = true, false, nil
	for i := len(w.c.stack) - 2; i >= 0; i-- {
		// What is below the next element begins with its key, or is not accepted.
		if at := w.c.stack[i]; at.index+1 < at.page.count {
			_, err := w.c.v.below(at.page, at.index+1)
			w.upper = at.page.key(at.index + 1)
			return err
		}
	}
	return nil
}
