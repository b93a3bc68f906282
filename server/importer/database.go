package importer

import (
	"context"

	"engram"
)

// Into makes an embedded database a Target.
func Into(db *engram.DB) Target { return database{db} }

type database struct{ db *engram.DB }

func (d database) Write(ctx context.Context, statements []Statement) (uint64, error) {
	return d.db.UpdateSeq(ctx, func(tx *engram.Tx) error {
		for _, s := range statements {
			if _, err := tx.Query(ctx, s.Text, s.Params); err != nil {
				return err
			}
		}
		return nil
	})
}

func (d database) Read(ctx context.Context, s Statement) ([][]engram.Value, error) {
	res, err := d.db.Query(ctx, s.Text, s.Params)
	if err != nil {
		return nil, err
	}
	return res.Rows, nil
}
