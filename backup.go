package engram

import (
	"context"

	"engram/graph"
)

type (
	// Backup tells about a backup: its folder, what it is of, and its size.
	Backup = graph.Backup
	// Compaction tells the length of a file before and after.
	Compaction = graph.Compaction
)

// BackupOptions say how a backup is made. The zero value, like nil, keeps all
// older ones.
type BackupOptions struct {
	// Keep is how many of the newest backups of this namespace and database
	// stay in the directory, the new one included; 0 means all.
	Keep int
}

// Backup writes a copy of the database, as of its newest transaction, into a new
// folder in dir, which is made if it is missing. Reading and writing go on
// meanwhile. The folder gets its name only after the copy was synced, read back,
// opened and checked.
func (db *DB) Backup(ctx context.Context, dir string, o *BackupOptions) (*Backup, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	if o == nil {
		o = &BackupOptions{}
	}
	b, err := db.graph.Backup(ctx, dir, graph.BackupOptions{Namespace: db.opts.Namespace, Keep: o.Keep})
	return b, convert(err, "")
}

// RestoreOptions say where a backup goes. The zero value, like nil, is usable.
type RestoreOptions struct {
	// Namespace is the name that the database gets; empty means the one it was
	// backed up from.
	Namespace string
	// Replace allows to replace a namespace that is there, whatever it is.
	Replace bool
}

// Restore makes a namespace of a backup's folder. It is checked in full before it
// takes its place in one step; what was there is untouched until then.
func (d *Data) Restore(ctx context.Context, path string, o *RestoreOptions) (*Backup, error) {
	if err := needContext(ctx); err != nil {
		return nil, err
	}
	if o == nil {
		o = &RestoreOptions{}
	}
	b, err := d.data.Restore(ctx, path, graph.RestoreOptions{Namespace: o.Namespace, Replace: o.Replace})
	return b, convert(err, "")
}

// Compact rewrites the file of a namespace, which must not be open, without its
// free pages. The new file is compared with the old one and checked before it
// takes its place in one step.
func (d *Data) Compact(ctx context.Context, name string) (Compaction, error) {
	if err := needContext(ctx); err != nil {
		return Compaction{}, err
	}
	c, err := d.data.Compact(ctx, name)
	return c, convert(err, "")
}
