package graph

import (
	"context"
	"errors"
	"path/filepath"

	"engram/graph/internal/dir"
)

// Data is an open data directory: a set of graphs, each a namespace with a name
// of lower-case letters, digits, '-' and '_'. It is safe for concurrent use.
type Data struct {
	data     *dir.Data
	readOnly bool
}

// DataOptions configure a data directory.
type DataOptions struct {
	// ReadOnly opens for reading: nothing on disk changes, not even the lock
	// file, so that a read-only mount will do.
	ReadOnly bool
	// Address is told to a second process that wants to open the directory.
	Address string
	// MaxSize in bytes bounds the file of a graph: 32 MiB or more; 0 means a large
	// default. A file that is larger already does not grow.
	MaxSize int64
}

// CreateData makes an empty data directory at path, with missing parents. An
// existing directory must be empty.
func CreateData(path string) error { return wrap(dir.Create(path)) }

// OpenData opens an existing data directory and changes nothing on disk. It
// locks the directory when the first graph is opened or created.
func OpenData(path string, o DataOptions) (*Data, error) {
	if o.MaxSize != 0 && o.MaxSize < dir.MinMaxSize {
		return nil, fail(InvalidArgument, "a MaxSize of %d bytes is too small for any graph: give %d or more, or 0 for a large default", o.MaxSize, int64(dir.MinMaxSize))
	}
	d, err := dir.Open(path, &dir.Options{ReadOnly: o.ReadOnly, Address: o.Address, MaxSize: o.MaxSize})
	if err != nil {
		return nil, wrap(err)
	}
	return &Data{data: d, readOnly: o.ReadOnly}, nil
}

// CheckName tells what is wrong with the name of a graph.
func CheckName(name string) error {
	if err := dir.CheckName(name); err != nil {
		return &Error{Code: InvalidArgument, Message: err.Error(), Err: err}
	}
	return nil
}

// Names lists the graphs, sorted.
func (d *Data) Names() ([]string, error) {
	names, err := d.data.Namespaces()
	return names, wrap(err)
}

// SetAddress tells other processes where this one can be talked to.
func (d *Data) SetAddress(address string) error { return wrap(d.data.SetAddress(address)) }

// SetMaxSize bounds the file of one graph in bytes from its next opening on, 32 MiB
// or more; 0: as DataOptions.MaxSize says.
func (d *Data) SetMaxSize(name string, size int64) error {
	if err := CheckName(name); err != nil {
		return err
	}
	if size != 0 && size < dir.MinMaxSize {
		return fail(InvalidArgument, "a bound of %d bytes is too small for any graph: give %d or more, or 0 for none of its own", size, int64(dir.MinMaxSize))
	}
	d.data.SetMaxSize(name, size)
	return nil
}

// Drop deletes a graph, which must not be open, with everything in it.
func (d *Data) Drop(name string) error {
	if err := CheckName(name); err != nil {
		return err
	}
	return wrap(d.data.DropNamespace(name))
}

// Rename gives a graph, which must not be open, a name that is free.
func (d *Data) Rename(name, to string) error {
	for _, n := range []string{name, to} {
		if err := CheckName(n); err != nil {
			return err
		}
	}
	return wrap(d.data.RenameNamespace(name, to))
}

// OwnerOf tells which process has a directory open, of an error with the code Busy:
// its id, 0 when it is not known, and where it can be talked to, empty when nowhere.
func OwnerOf(err error) (pid int, address string, ok bool) {
	var busy *dir.BusyError
	if !errors.As(err, &busy) {
		return 0, "", false
	}
	return busy.Owner.PID, busy.Owner.Address, true
}

// Create makes an empty graph. It is on disk whole or not at all.
func (d *Data) Create(name string, o *Options) error {
	if err := CheckName(name); err != nil {
		return err
	}
	opts := fill(o)
	puts, err := initialPuts(&opts)
	if err != nil {
		return wrap(err)
	}
	return wrap(d.data.CreateNamespace(name, puts))
}

// Open opens a graph. It reads all of it once to build the topology, as long as
// ctx lives.
func (d *Data) Open(ctx context.Context, name string, o *Options) (*DB, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	ns, err := d.data.OpenNamespace(name)
	if err != nil {
		return nil, wrap(err)
	}
	at := place{
		file: filepath.Join(ns.Path(), "graph.db"), textDir: ns.TextDir(), vectorDir: ns.VectorDir(), topoFile: ns.TopologyFile(),
		readOnly: d.readOnly, notes: ns.Notes(), acked: ns.Acked, told: ns.Told, tell: ns.Tell,
		usage: ns.Usage, keepUsage: ns.KeepUsage, release: ns.Close,
	}
	opts := fill(o)
	if opts.Rebuild && !d.readOnly {
		if err := setCopiesAside(at); err != nil {
			return nil, errors.Join(wrap(err), ns.Driver().Close(), ns.Close())
		}
	}
	db, err := openDriver(ctx, ns.Driver(), opts, at)
	if err != nil {
		_ = ns.Close()
		return nil, err
	}
	if opts.Rebuild && !d.readOnly {
		db.notes = append(db.notes, "the copy of the topology, the text index and the vectors were made anew; the old files are kept as *.damaged")
		if err := db.rebuildIndexes(ctx); err != nil {
			return nil, errors.Join(err, db.Close(context.WithoutCancel(ctx)))
		}
	}
	return db, nil
}

// Close gives the directory back. Its graphs must be closed before.
func (d *Data) Close() error { return wrap(d.data.Close()) }
