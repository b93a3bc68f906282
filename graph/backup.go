package graph

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"engram/graph/internal/backup"
	"engram/graph/internal/commit"
	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// BackupOptions say how a backup is made.
type BackupOptions struct {
	// Namespace is the name that the backup is filed under.
	Namespace string
	// Keep is how many of the newest backups of this namespace and database
	// stay in the directory, the new one included; 0 means all.
	Keep int
}

// Backup tells about a backup.
type Backup struct {
	Path         string // its folder
	Database     string // the database's tag in hex
	Namespace    string
	Seq          uint64
	Nodes, Edges int64
	Bytes        int64    // of graph.db
	Removed      []string // folders of older backups that were removed
}

func databaseID(tag uint64) string { return fmt.Sprintf("%010x", tag) }

// Backup writes a copy of the newest durable state into a new folder in dir, which
// is made if it is missing. Readers and writers go on meanwhile; the file of the
// database may grow, since pages are not used again until the copy is written. The
// copy is read back, opened and checked before its folder gets its name.
func (db *DB) Backup(ctx context.Context, dir string, o BackupOptions) (*Backup, error) {
	if err := CheckName(o.Namespace); err != nil {
		return nil, err
	}
	if o.Keep < 0 {
		return nil, fail(InvalidArgument, "keeping %d backups; 0 keeps all", o.Keep)
	}
	if inside(dir, filepath.Dir(filepath.Dir(db.place.file))) && db.place.textDir != "" {
		return nil, fail(InvalidArgument, "backups cannot go to %s: that is where the graphs are, and each folder in it is one; choose a directory outside of it", dir)
	}
	target, err := backup.OpenTarget(dir)
	if err != nil {
		return nil, wrap(err)
	}
	defer func() { _ = target.Close() }() // only unlocks
	out, err := db.backup(ctx, target, o)
	if err != nil {
		return nil, wrap(err)
	}
	if o.Keep > 0 {
		if out.Removed, err = target.Retain(o.Namespace, out.Database, o.Keep); err != nil {
			return out, wrap(err)
		}
	}
	return out, nil
}

// inside tells whether a path, of which the end may not exist yet, is a directory or
// below it, whatever links lead there.
func inside(path, directory string) bool {
	of, err := os.Stat(directory)
	if err != nil {
		return false
	}
	path, err = filepath.Abs(path)
	for err == nil {
		if info, err := os.Stat(path); err == nil {
			if os.SameFile(info, of) {
				return true
			}
			if real, err := filepath.EvalSymlinks(path); err == nil {
				path = real
			}
		}
		if path == filepath.Dir(path) {
			break
		}
		path = filepath.Dir(path)
	}
	return false
}

func (db *DB) backup(ctx context.Context, target *backup.Target, o BackupOptions) (*Backup, error) {
	snap, err := db.engine.Snapshot()
	if err != nil {
		return nil, err
	}
	defer snap.Close()
	if snap.Version().partial {
		return nil, fail(Busy, "a bulk load into the graph is under way; back it up when that is finished")
	}
	t := snap.Version().topo
	m := &backup.Manifest{
		Database: databaseID(uint64(db.tag)), Namespace: o.Namespace, Seq: uint64(snap.Seq()), Taken: db.opts.Now(),
		Nodes: t.NodeCount(0), Edges: t.EdgeCount(0),
	}
	path, err := target.Write(ctx, m, func(w io.Writer) error {
		defer snap.Close() // soon: until then no page is used again
		return copySnapshot(snap, w)
	}, func(path string) error { return verifyCopy(ctx, path, m) })
	if err != nil {
		return nil, err
	}
	return backupOf(path, m), nil
}

func copySnapshot(snap *commit.Snapshot[*state], w io.Writer) error {
	_, err := snap.CopyTo(w)
	if errors.Is(err, errors.ErrUnsupported) {
		return fail(NotSupported, "a graph that lives in memory has no file to back up")
	}
	return err
}

func backupOf(path string, m *backup.Manifest) *Backup {
	return &Backup{
		Path: path, Database: m.Database, Namespace: m.Namespace, Seq: m.Seq,
		Nodes: m.Nodes, Edges: m.Edges, Bytes: m.Graph().Size,
	}
}

// verifyCopy opens a store that nobody else has, checks all of it and compares it
// with the manifest.
func verifyCopy(ctx context.Context, path string, m *backup.Manifest) error {
	db, err := openForCheck(ctx, path, store.Seq(m.Seq))
	if err != nil {
		return err
	}
	r, err := db.Check(ctx)
	if err == nil {
		err = compareCopy(db, r, path, m)
	}
	if cerr := db.Close(context.WithoutCancel(ctx)); err == nil {
		err = cerr
	}
	return err
}

func compareCopy(db *DB, r *Report, path string, m *backup.Manifest) error {
	wrong := func(detail string, args ...any) error {
		return &store.FileError{Err: store.ErrDamaged, Path: path, Detail: fmt.Sprintf(detail, args...), Hint: "use another backup"}
	}
	switch {
	case !r.OK():
		return wrong("the check found %d problems, first: %s", int64(len(r.Problems))+r.More, r.Problems[0])
	case databaseID(uint64(db.tag)) != m.Database:
		return wrong("it is of database %s, the manifest tells of %s", databaseID(uint64(db.tag)), m.Database)
	case r.Seq != m.Seq || r.Nodes != m.Nodes || r.Edges != m.Edges:
		return wrong("it has %d nodes and %d edges at transaction %d, the manifest tells of %d and %d at %d",
			r.Nodes, r.Edges, r.Seq, m.Nodes, m.Edges, m.Seq)
	}
	return nil
}

// openForCheck opens the file of a store for reading, without what only queries
// need.
func openForCheck(ctx context.Context, path string, seq store.Seq) (*DB, error) {
	driver, err := bolt.Open(path, &bolt.Options{ReadOnly: true, Acked: seq})
	if err != nil {
		return nil, err
	}
	o := fill(&Options{HotColumns: []string{}})
	o.manual = true
	return openDriver(ctx, driver, o, place{file: path, readOnly: true})
}

// RestoreOptions say where a backup goes.
type RestoreOptions struct {
	// Namespace is the name that the graph gets; empty means the backup's.
	Namespace string
	// Replace allows to replace a namespace that is there.
	Replace bool
}

// Restore makes a namespace of a backup. The copy is compared with the manifest,
// opened and checked before it takes its place in one step; what was there before
// is untouched until then, and removed after. The text index is made when the
// namespace is opened next.
func (d *Data) Restore(ctx context.Context, path string, o RestoreOptions) (*Backup, error) {
	m, err := backup.Read(path)
	if err != nil {
		return nil, wrap(err)
	}
	name := o.Namespace
	if name == "" {
		name = m.Namespace
	}
	if err := CheckName(name); err != nil {
		return nil, err
	}
	err = d.data.ReplaceNamespace(name, o.Replace, func(graph string) (store.Seq, error) {
		if err := backup.Copy(ctx, path, m, graph); err != nil {
			return 0, err
		}
		return store.Seq(m.Seq), verifyCopy(ctx, graph, m)
	})
	if err != nil {
		return nil, wrap(err)
	}
	out := backupOf(path, m)
	out.Namespace = name
	return out, nil
}

// Compaction tells what Compact did.
type Compaction struct {
	Before, After int64 // bytes of graph.db
}

// Compact rewrites the file of a graph without its free pages. The graph must not
// be open. The new file is compared with the old one and checked before it takes
// its place in one step.
func (d *Data) Compact(ctx context.Context, name string) (Compaction, error) {
	if err := CheckName(name); err != nil {
		return Compaction{}, err
	}
	before, after, err := d.data.CompactNamespace(name, func(path string, seq store.Seq) error {
		db, err := openForCheck(ctx, path, seq)
		if err != nil {
			return err
		}
		r, err := db.Check(ctx)
		if err == nil && !r.OK() {
			err = fail(Damaged, "the check of namespace %s found %d problems, so its file was left as it is; first: %s; restore it from a backup",
				name, int64(len(r.Problems))+r.More, r.Problems[0])
		}
		if cerr := db.Close(context.WithoutCancel(ctx)); err == nil {
			err = cerr
		}
		return err
	})
	return Compaction{before, after}, wrap(err)
}
