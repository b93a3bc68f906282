package text

import (
	"sort"
	"sync"
	"sync/atomic"

	"engram/graph/value"
)

// tail is an inverted index in memory over the changes since a base, in order
// of seq. It only grows: a reader takes the number of entries it may see, and
// needs the lock only to find where things are.
type tail struct {
	mu     sync.RWMutex
	docs   []*tailDoc
	latest map[value.NodeID]uint32 // position of a node's newest entry
	terms  []map[string][]posting  // by field; postings ascend by position
	masked []maskedRef             // documents of the base that entries replace
}

// tailDoc is one change.
type tailDoc struct {
	*document
	prev  int32         // entry of the same node it replaced, or -1
	next  atomic.Uint32 // entry that replaced it, plus 1; 0: none yet
	after counts        // of everything, this entry included
}

type posting struct {
	at, freq, length uint32
}

// maskedRef says that entry at is the first to replace a document of the base.
type maskedRef struct {
	at  uint32
	ref docRef
}

func newTail(fields int) *tail {
	t := &tail{latest: map[value.NodeID]uint32{}, terms: make([]map[string][]posting, fields)}
	for i := range t.terms {
		t.terms[i] = map[string][]posting{}
	}
	return t
}

// add appends a change; b is the base the tail belongs to. Only one goroutine
// adds.
func (t *tail) add(d *document, b *base) error {
	at, entry := uint32(len(t.docs)), &tailDoc{document: d, prev: -1}
	var old []uint32
	var masked []maskedRef
	if p, ok := t.latest[d.node]; ok {
		entry.prev = int32(p)
		old = t.docs[p].lengths(len(t.terms))
	} else {
		ref, lengths, found, err := b.find(d.node)
		if err != nil {
			return err
		}
		if found {
			old, masked = lengths, []maskedRef{{at, ref}}
		}
	}
	before := b.counts
	if at > 0 {
		before = t.docs[at-1].after
	}
	entry.after = before.replaced(old, d)

	t.mu.Lock()
	defer t.mu.Unlock()
	t.docs = append(t.docs, entry)
	t.latest[d.node] = at
	t.masked = append(t.masked, masked...)
	for _, f := range d.fields {
		for _, x := range f.terms {
			t.terms[f.field][x.term] = append(t.terms[f.field][x.term], posting{at, x.freq, f.length})
		}
	}
	if entry.prev >= 0 {
		t.docs[entry.prev].next.Store(at + 1)
	}
	return nil
}

// entries returns the entries so far; the slice stays valid.
func (t *tail) entries() []*tailDoc {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.docs
}

// upTo returns how many entries there are up to a seq.
func (t *tail) upTo(seq uint64) uint32 {
	docs := t.entries()
	return uint32(sort.Search(len(docs), func(i int) bool { return docs[i].seq > seq }))
}

// postings returns where a term is, as far as the first n entries go.
func (t *tail) postings(field int, term string, n uint32) []posting {
	t.mu.RLock()
	p := t.terms[field][term]
	t.mu.RUnlock()
	return p[:sort.Search(len(p), func(i int) bool { return p[i].at >= n })]
}

// live reports whether an entry is a node's newest among the first n and holds
// text.
func (d *tailDoc) live(n uint32) bool {
	next := d.next.Load()
	return !d.deleted() && (next == 0 || next > n)
}

// newest returns a node's newest entry among the first n.
func (t *tail) newest(node value.NodeID, n uint32) (uint32, bool) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	at, ok := t.latest[node]
	for ok && at >= n {
		prev := t.docs[at].prev
		at, ok = uint32(prev), prev >= 0
	}
	return at, ok
}

// masks returns the documents of the base that the first n entries replace.
func (t *tail) masks(n uint32) []maskedRef {
	t.mu.RLock()
	m := t.masked
	t.mu.RUnlock()
	return m[:sort.Search(len(m), func(i int) bool { return m[i].at >= n })]
}
