package graph

import (
	"context"
	"errors"
	"path/filepath"

	"engram/graph/internal/backup"
	"engram/graph/internal/store"
)

// BackupStats reads a backup's folder and tells what it is of, with the counters of the
// graph in it. The copy is opened for reading and not compared with its checksum.
func BackupStats(ctx context.Context, path string) (*Backup, Stats, error) {
	m, err := backup.Read(path)
	if err != nil {
		return nil, Stats{}, wrap(err)
	}
	db, err := openForCheck(ctx, filepath.Join(path, m.Graph().Name), store.Seq(m.Seq))
	if err != nil {
		return nil, Stats{}, wrap(err)
	}
	s, err := db.Stats()
	return backupOf(path, m), s, errors.Join(err, db.Close(context.WithoutCancel(ctx)))
}
