package graph

import (
	"runtime"
	"sync"

	"engram/graph/internal/text"
	"engram/graph/internal/vector"
)

// changes are the documents that one transaction changed, with what the text index
// and the vectors need of each: analysing and embedding take longer than all else
// that publishing does, so whoever waits for the disk does it meanwhile.
type changes struct {
	docs []text.Doc

	mu      sync.Mutex
	ready   bool
	texts   text.Analyzed
	vectors []vector.Doc
}

func newChanges(docs []text.Doc) *changes {
	if len(docs) == 0 {
		return nil
	}
	return &changes{docs: docs}
}

// prepare makes what followers need, once: the committer waits for a caller who is
// about it. If it panics it was not made.
func (db *DB) prepare(seq uint64, c *changes) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ready {
		return
	}
	c.texts = db.text.Analyze(seq, c.docs)
	if db.vectors.used() {
		c.vectors = db.vectors.docs(c.docs)
	}
	c.ready = true
}

// preparedDocs is how many documents a caller prepares at most: it could not give up
// meanwhile.
const preparedDocs = 1000

// prepareWhileWaiting is prepare for the caller of a commit, who has nothing else to do
// until it is durable.
func (tx *Tx) prepareWhileWaiting() {
	if s := tx.w.next; s != nil && !s.partial && s.changed != nil && len(s.changed.docs) <= preparedDocs {
		runtime.Gosched() // the committer first
		tx.db.prepare(s.topo.Seq(), s.changed)
	}
}

// publishChanges tells the followers of a durable transaction.
func (db *DB) publishChanges(seq uint64, c *changes) {
	if c == nil {
		db.text.Publish(seq, nil)
		db.vectors.publish(seq, nil)
		return
	}
	db.prepare(seq, c)
	db.text.PublishAnalyzed(seq, c.texts)
	db.vectors.publish(seq, c)
}
