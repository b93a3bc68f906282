package graph

import (
	"context"

	"engram/graph/internal/store"
	"engram/graph/schema"
)

const indexSpace = store.Index

// unfinished returns the first definition that has background work, nil when
// there is none.
func (t *schemaTable) unfinished() *indexDef {
	for _, d := range t.defs {
		if d.State != schema.Online {
			return d
		}
	}
	return nil
}

// workSchema does one chunk of filling or emptying an index, in a transaction of
// its own. How far it came is stored with the definition, so that after a crash
// it goes on from there.
func (db *DB) workSchema(ctx context.Context) (worked bool, err error) {
	tx, err := db.Begin(ctx)
	if err != nil {
		return false, err
	}
	defer tx.Rollback()
	d := tx.schema.unfinished()
	if d == nil {
		return false, nil
	}
	switch {
	case d.Kind == schema.FullText && d.State == schema.Populating:
		err = tx.populateText(d)
	case d.Kind == schema.FullText:
		err = tx.dropText(d)
	case d.State == schema.Populating:
		err = tx.populate(d)
	default:
		err = tx.depopulate(d)
	}
	if err == nil {
		_, err = tx.Commit(ctx)
	}
	return err == nil, err
}

func (tx *Tx) populate(d *indexDef) error {
	last, done, err := tx.fill(d, d.storedDef.After, tx.db.opts.IndexChunk)
	if err != nil {
		return err
	}
	state := schema.Populating
	if done {
		state, last = schema.Online, 0
	}
	tx.setDef(tx.inState(d, state, last))
	return nil
}

func (tx *Tx) depopulate(d *indexDef) error {
	_, done, err := tx.dropEntries(d, tx.db.opts.IndexChunk)
	if err != nil {
		return err
	}
	if done {
		tx.dropDef(d.ID)
	} else {
		tx.setDef(d)
	}
	return nil
}
