package graph

import (
	"context"
	"fmt"

	"engram/graph/internal/snapfile"
	"engram/graph/internal/text"
	"engram/graph/internal/vector"
)

// setCopiesAside moves the topology's file, the text index and the vectors away, so that
// opening makes them anew from the records.
func setCopiesAside(p place) error {
	if err := snapfile.SetAside(p.topoFile); err != nil {
		return err
	}
	if err := vector.SetAside(p.vectorDir); err != nil {
		return err
	}
	return text.SetAside(p.textDir)
}

// rebuildIndexes makes the declared indexes anew: in one transaction their
// definitions are dropped and made again, the entries of large ones follow chunk
// by chunk. Constraints without an index stay.
func (db *DB) rebuildIndexes(ctx context.Context) error {
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer tx.Rollback()
	rebuilt := 0
	for _, d := range tx.schema.set.All() {
		if !d.Indexed() {
			continue
		}
		// The index of such a constraint is made first and then taken over, which is
		// more than one transaction: a crash in between would lose the constraint.
		if n := tx.sizeOfOwner(tx.schema.byID(d.ID)); d.Constraint() && n > int64(db.opts.IndexChunk) {
			db.notes = append(db.notes, fmt.Sprintf("%s was left as it is: it is over %d elements; drop it and create it anew", d, n))
			continue
		}
		if err := tx.DropSchema(d.ID); err != nil {
			return fmt.Errorf("index %s: %w", d.Name, err)
		}
		again := *d
		again.ID = 0
		if err := tx.CreateSchema(again); err != nil {
			return fmt.Errorf("index %s: %w", d.Name, err)
		}
		rebuilt++
	}
	if rebuilt == 0 {
		return nil
	}
	if _, err := tx.Commit(ctx); err != nil {
		return err
	}
	for more := true; more; {
		if more, err = db.workSchema(ctx); err != nil {
			return err
		}
	}
	db.notes = append(db.notes, fmt.Sprintf("%d declared indexes were made anew", rebuilt))
	return nil
}
