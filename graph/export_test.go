package graph

import (
	"context"

	"engram/graph/internal/backup"
	"engram/graph/internal/store"
)

// OpenDriver opens a database over a store, which tests may keep or break.
func OpenDriver(driver store.Driver, o *Options) (*DB, error) {
	return openDriver(context.Background(), driver, fill(o), place{file: "test"})
}

// OpenWithTopology is OpenDriver with a file for the copy of the topology.
func OpenWithTopology(driver store.Driver, o *Options, file string) (*DB, error) {
	return openDriver(context.Background(), driver, fill(o), place{file: "test", topoFile: file})
}

// InitialPuts is the content of a new store.
func InitialPuts(o *Options) ([]store.Put, error) {
	opts := fill(o)
	return initialPuts(&opts)
}

// Manual switches background work off; TidyOnce does it.
func Manual(o *Options) *Options {
	o.manual = true
	return o
}

// KeepEvents keeps fewer events of learning.
func KeepEvents(o *Options, n uint64) *Options {
	o.keptEvents = n
	return o
}

// TidyOnce does one piece of background work and reports whether there was any.
func (db *DB) TidyOnce(ctx context.Context) bool { return db.tidyOnce(ctx) }

// TidyError is the last error of background work.
func (db *DB) TidyError() error { return db.tidyErr.get() }

// Manifest is what a backup tells about itself.
type Manifest = backup.Manifest

// Forge changes a backup's manifest so that its sums fit again.
func Forge(path string, change func(*Manifest)) error {
	m, err := backup.Read(path)
	if err != nil {
		return err
	}
	change(m)
	return m.Write(path)
}

// TrimAt lowers the thresholds of trimming the log.
func TrimAt(o *Options, entries, logCap uint64) *Options {
	o.trimEntries, o.logCap = store.Seq(entries), store.Seq(logCap)
	return o
}

// PauseText keeps the text index from getting on; FlushText lets it catch up.
func (db *DB) PauseText() { db.text.Pause() }

// FlushText writes the text index, and the vectors.
func (db *DB) FlushText() {
	db.text.Resume()
	_ = db.text.Flush()
	_ = db.vectors.index.Flush()
}

// LoadRecordAgain decodes the record of a load and encodes it again.
func LoadRecordAgain(b []byte) ([]byte, error) {
	r, err := decodeLoadRecord(b)
	if err != nil {
		return nil, err
	}
	return r.encode(), nil
}

// ALoadRecord is a record of a load.
func ALoadRecord() []byte {
	r := &loadRecord{source: "s", fresh: true, nodes: 3, edges: 1, marks: marks{9, 9}, next: marks{4, 2}, runs: []loadRun{{0, 1}, {2, 7}}}
	return r.encode()
}
