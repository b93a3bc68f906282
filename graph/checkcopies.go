package graph

import (
	"errors"
	"maps"
	"slices"

	"engram/graph/internal/logentry"
	"engram/graph/internal/snapfile"
	"engram/graph/internal/store"
	"engram/graph/internal/text"
	"engram/graph/value"
)

// adjacency compares the topology's entries with its edges, which were compared
// with the records before.
func (c *checker) adjacency() error {
	c.s.topo.Verify(func(problem string) bool {
		c.report.add("%s", problem)
		return c.report.More == 0 && c.ctx.Err() == nil
	})
	return c.ctx.Err()
}

// topologyFile reads the copy of the topology and compares all checksums. What it
// says was compared with the records when opening took the topology from it.
func (c *checker) topologyFile() error {
	if c.db.readOnly {
		// A database that is open for writing has put right what was noted.
		for _, note := range c.db.notes {
			c.report.add("%s", note)
		}
		if len(c.db.notes) > 0 {
			return nil
		}
	}
	if c.db.place.topoFile == "" {
		return nil
	}
	f, err := snapfile.Open(c.db.place.topoFile)
	if errors.Is(err, store.ErrMissing) {
		return nil
	}
	if err != nil {
		c.report.add("%v", err)
		return nil
	}
	var buf []byte
	for i := range f.Len() {
		if err := c.ctx.Err(); err != nil {
			return errors.Join(err, f.Close())
		}
		b, err := f.Read(i, buf)
		if err != nil {
			c.report.add("%v", err)
			break
		}
		buf = b
	}
	return f.Close()
}

// textFiles looks at the text index of a database that is open for reading, where
// searches do not use it. Documents that changed since it was written are left
// out.
func (c *checker) textFiles() error {
	o := text.Options{
		Dir: c.db.place.textDir, Fields: c.db.opts.textFields(), Identity: textIdentity(c.db.seal.Tag), Head: uint64(c.snap.Seq()),
	}
	if o.Dir == "" {
		return nil
	}
	var have []value.NodeID
	seq, ok, err := text.Inspect(o, func(id value.NodeID) bool {
		have = append(have, id)
		return c.ctx.Err() == nil
	})
	switch {
	case errors.Is(err, text.ErrStale):
		c.report.Notes = append(c.report.Notes, err.Error()+": it is not used, and is made anew when the database is next opened for writing")
	case err != nil:
		c.report.add("%v", err)
	}
	if !ok || err != nil || seq == 0 {
		return c.ctx.Err()
	}
	changed, ok, err := c.textChangedSince(store.Seq(seq))
	if !ok || err != nil {
		return err // it will be filled anew
	}
	c.report.Texts = int64(len(have))
	return c.compareTexts(have, changed)
}

// textChangedSince lists the nodes whose text changed after a seq; ok is false
// when the log does not tell.
func (c *checker) textChangedSince(seq store.Seq) (changed map[value.NodeID]bool, ok bool, err error) {
	changed, next, ok := map[value.NodeID]bool{}, seq+1, true
	err = readLog(c.snap, c.db.seal, seq, func(at store.Seq, e *logentry.Entry) error {
		ok = ok && at == next && !(e.Bulk && e.NodeTo > e.NodeFrom && len(e.TextChanged) == 0)
		next = at + 1
		for _, id := range e.TextChanged {
			changed[id] = true
		}
		return nil
	})
	return changed, ok && next == c.snap.Seq()+1, err
}

func (c *checker) compareTexts(have []value.NodeID, changed map[value.NodeID]bool) error {
	found := map[value.NodeID]bool{}
	for _, id := range have {
		if _, ok := slices.BinarySearch(c.texts, id); !changed[id] && (!ok || found[id]) {
			c.report.add("the text index has node %d, which has no text, or has it twice", id)
		}
		found[id] = true
	}
	missing := map[value.NodeID]bool{}
	for _, id := range c.texts {
		if !found[id] && !changed[id] {
			missing[id] = true
		}
	}
	for _, id := range slices.Sorted(maps.Keys(missing)) {
		// Text without a word in it, such as "?", is in no index.
		words, err := c.hasWords(id)
		if err != nil {
			return err
		}
		if words {
			c.report.add("the text of node %d is not in the index", id)
		}
	}
	return c.ctx.Err()
}
