package main

import (
	"errors"
	"path/filepath"

	"engram"
)

type backupCommand struct {
	Dir  string `arg:"" help:"Where backups go; each is a folder of its own." placeholder:"DIR"`
	Keep int    `help:"Remove the oldest backups of this namespace beyond the newest N." placeholder:"N"`
	JSON bool   `help:"Print one JSON object."`
}

// Help is shown by --help.
func (backupCommand) Help() string {
	return `Copies the namespace as of its newest transaction, reads the copy back, opens and checks it, and only
then gives the folder its name. Prints the folder.

Examples:
  engramd backup ./backups
  engramd backup ./backups --keep 7`
}

func (c *backupCommand) Run(a *app) error {
	if c.Keep < 0 {
		return &usageError{errors.New("--keep wants 1 or more; without it all are kept")}
	}
	return a.withNamespace(reading, func(db *engram.DB) error {
		b, err := db.Backup(a.ctx, c.Dir, &engram.BackupOptions{Keep: c.Keep})
		if err != nil {
			return err
		}
		if c.JSON {
			return backupJSON(a, b)
		}
		a.printf("%s\n", b.Path)
		printBackup(a, "backed up", b)
		for _, path := range b.Removed {
			a.printf("removed %s\n", path)
		}
		return nil
	})
}

func printBackup(a *app, done string, b *engram.Backup) {
	a.printf("%s namespace %s: %s, %s, transaction %d, %s; checked, nothing is wrong\n", done, b.Namespace,
		plural(b.Nodes, "node"), plural(b.Edges, "edge"), b.Seq, size(b.Bytes))
}

func backupJSON(a *app, b *engram.Backup) error {
	removed := append([]string{}, b.Removed...) // [] and not null
	return printObject(a, struct {
		Path        string   `json:"path"`
		Database    string   `json:"database"`
		Namespace   string   `json:"namespace"`
		Transaction uint64   `json:"transaction"`
		Nodes       int64    `json:"nodes"`
		Edges       int64    `json:"edges"`
		Bytes       int64    `json:"bytes"`
		Removed     []string `json:"removed"`
	}{b.Path, b.Database, b.Namespace, b.Seq, b.Nodes, b.Edges, b.Bytes, removed})
}

type restoreCommand struct {
	Backup string `arg:"" help:"The folder of one backup." placeholder:"FOLDER"`
	Force  bool   `help:"Replace the namespace if it is there."`
}

// Help is shown by --help.
func (restoreCommand) Help() string {
	return `Copies the backup beside, compares it with its manifest, opens and checks it, and then puts it in place in
one step. A namespace that is there is refused without --force, and stays as it is until that step.
Without --namespace the graph gets the name that it was backed up from.

Examples:
  engramd restore ./backups/default-20260102T030405Z-17
  engramd --data ./elsewhere restore ./backups/default-20260102T030405Z-17
  engramd restore ./backups/default-20260102T030405Z-17 --namespace yesterday
  engramd restore ./backups/default-20260102T030405Z-17 --force`
}

func (c *restoreCommand) Run(a *app) error {
	if err := existingDir(c.Backup); err != nil {
		return err
	}
	name := ""
	if a.named {
		name = a.namespace
	}
	return a.withData(true, func(d *engram.Data) error {
		b, err := d.Restore(a.ctx, filepath.Clean(c.Backup), &engram.RestoreOptions{Namespace: name, Replace: c.Force})
		if engram.IsCode(err, engram.CodeExists) {
			return &plainError{err.Error() + "; --namespace gives another name, --force replaces it", err}
		}
		if err != nil {
			return err
		}
		printBackup(a, "restored", b)
		return nil
	})
}

type compactCommand struct {
	JSON bool `help:"Print one JSON object."`
}

// Help is shown by --help.
func (compactCommand) Help() string {
	return `Rewrites the namespace's file without the pages that are free, compares and checks the new file, and puts it
in place in one step. Nothing else may have the data directory open.

Examples:
  engramd compact
  engramd compact --namespace map`
}

func (c *compactCommand) Run(a *app) error {
	return a.withData(false, func(d *engram.Data) error {
		done, err := d.Compact(a.ctx, a.namespace)
		if err != nil {
			return err
		}
		if c.JSON {
			return printObject(a, struct {
				Namespace string `json:"namespace"`
				Before    int64  `json:"bytes_before"`
				After     int64  `json:"bytes_after"`
			}{a.namespace, done.Before, done.After})
		}
		a.printf("namespace %s: %s before, %s after\n", a.namespace, size(done.Before), size(done.After))
		return nil
	})
}

// withData opens the data directory for writing for fn and closes it again.
func (a *app) withData(create bool, fn func(*engram.Data) error) (err error) {
	if err := engram.CheckNamespace(a.namespace); err != nil {
		return &usageError{err}
	}
	d, err := engram.OpenData(a.data, &engram.Options{Create: create})
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := d.Close(); err == nil {
			err = closeErr
		}
	}()
	return fn(d)
}
