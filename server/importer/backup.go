package importer

import (
	"errors"
	"os"
	"path/filepath"

	"engram"
	"engram/server/exporter"
)

// readBackup restores a backup beside, where it is checked, and stages what is in it.
func readBackup(im *importing, s *stage) (err error) {
	dir, err := os.MkdirTemp("", "engram-import-*") // mode 0700
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	out, err := newSpoolFile()
	if err != nil {
		return err
	}
	defer func() { _ = out.file.Close() }() // it has no name any more
	if err := im.unpack(filepath.Join(dir, "data"), out); err != nil {
		return err
	}
	if _, err := out.file.Seek(0, 0); err != nil {
		return err
	}
	im.file = out.file
	return readGraphLines(im, s)
}

// unpack writes what a backup holds as lines.
func (im *importing) unpack(dir string, out *spoolFile) (err error) {
	data, err := engram.OpenData(dir, &engram.Options{Create: true, StatementTimeout: -1, StatementRows: -1, SpoolSize: -1, StatementSteps: -1})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if _, err := data.Restore(im.ctx, im.src.Dir.Name(), &engram.RestoreOptions{Namespace: "backup"}); err != nil {
		return err
	}
	db, err := data.Open("backup", false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	_, err = exporter.Export(im.ctx, db, out.file, exporter.Options{})
	return err
}
