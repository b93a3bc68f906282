package benchmarks

import (
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"engram"
)

// openings is how often opening is measured.
const openings = 5

// reopen measures opening up to a first answer after a clean stop, with the file
// cache warm and then, where the system lets us, cold; and after a kill.
func (r *speedRun) reopen() error {
	warm, err := r.openings(func() error { return nil })
	if err != nil {
		return err
	}
	r.add(speedRow{Metric: "warm_open_ms", Value: warm, Unit: "ms", N: openings})
	r.add(speedRow{Metric: "rss_anon_mb", Value: anonymousRSS(), Unit: "MB", N: 1})
	cold, err := r.openings(func() error { return dropCache(r.dir) })
	if err != nil {
		return err
	}
	r.add(speedRow{Metric: "cold_open_ms", Value: cold, Unit: "ms", N: openings})
	killed, err := r.killed()
	if err != nil {
		return err
	}
	r.add(speedRow{Metric: "killed_open_ms", Value: killed, Unit: "ms", N: 1})
	return nil
}

// openings closes and opens the database some times, with something in between,
// and returns the median of the milliseconds up to a first answer.
func (r *speedRun) openings(between func() error) (float64, error) {
	var took []time.Duration
	for range openings {
		if err := r.db.Close(); err != nil {
			return 0, err
		}
		r.db = nil
		if err := between(); err != nil {
			return 0, err
		}
		start := time.Now()
		db, err := engram.Open(r.dir, nil)
		if err != nil {
			return 0, err
		}
		r.db = db
		if err := r.firstAnswer(db); err != nil {
			return 0, err
		}
		took = append(took, time.Since(start))
	}
	return milliseconds(percentile(took, 50)), nil
}

func (r *speedRun) firstAnswer(db *engram.DB) error {
	_, err := db.Query(r.ctx, "MATCH (n {id: $id}) RETURN n", map[string]any{"id": id(r.queries.Point[0])})
	return err
}

// killed measures opening a copy of the files of the running database: what a kill
// would leave.
func (r *speedRun) killed() (float64, error) {
	dir, err := os.MkdirTemp(filepath.Dir(r.dir), "killed-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, os.DirFS(r.dir)); err != nil {
		return 0, err
	}
	start := time.Now()
	db, err := engram.Open(dir, nil)
	if err != nil {
		return 0, err
	}
	if err := r.firstAnswer(db); err != nil {
		_ = db.Close()
		return 0, err
	}
	took := time.Since(start)
	return milliseconds(took), db.Close()
}

// dropCache asks the system to forget the files of a directory. What is not
// written yet stays.
func dropCache(dir string) error {
	return filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		return forget(f)
	})
}
