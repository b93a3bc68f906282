package engram

import (
	"context"
	"errors"

	"engram/graph"
)

// Data is an open data directory: a set of databases, each a namespace with a
// name of lower-case letters, digits, '-' and '_'. It is safe for concurrent
// use.
type Data struct {
	data *graph.Data
	opts Options
}

// OpenData opens a data directory. Without Options.Create it must exist, and
// nothing on disk changes before a database is opened.
func OpenData(path string, o *Options) (*Data, error) {
	opts := o.withDefaults()
	if err := opts.check(); err != nil {
		return nil, err
	}
	if path == "" {
		return nil, newError(CodeInvalidArgument, "the path of the data directory is empty: give one, such as . for the current directory")
	}
	do := graph.DataOptions{ReadOnly: opts.ReadOnly, Address: opts.Address, MaxSize: opts.MaxSize}
	d, err := graph.OpenData(path, do)
	if err != nil && opts.Create && !opts.ReadOnly && graph.CodeOf(err) == graph.NotFound {
		if err = graph.CreateData(path); err == nil {
			d, err = graph.OpenData(path, do)
		}
	}
	if err != nil {
		return nil, convert(err, "")
	}
	return &Data{data: d, opts: opts}, nil
}

// Open opens a namespace, and with create makes it when it is missing. Each can
// be open once. It must be closed before the directory.
func (d *Data) Open(name string, create bool) (*DB, error) {
	ctx := context.Background()
	g, err := d.data.Open(ctx, name, d.opts.graph())
	if err != nil && create && graph.CodeOf(err) == graph.NotFound {
		err = d.data.Create(name, d.opts.graph())
		if err == nil || graph.CodeOf(err) == graph.Exists {
			g, err = d.data.Open(ctx, name, d.opts.graph())
		}
	}
	if err != nil {
		return nil, convert(err, "")
	}
	opts := d.opts
	opts.Namespace = name
	return newDB(g, opts), nil
}

// Create makes an empty namespace. It is on disk whole or not at all.
func (d *Data) Create(name string) error {
	return convert(d.data.Create(name, d.opts.graph()), "")
}

// Drop deletes a namespace, which must not be open, with everything in it. It is gone
// in one step.
func (d *Data) Drop(name string) error { return convert(d.data.Drop(name), "") }

// Rename gives a namespace, which must not be open, a name that is free.
func (d *Data) Rename(name, to string) error { return convert(d.data.Rename(name, to), "") }

// SetMaxSize bounds the file of one namespace in bytes from its next opening on,
// 32 MiB or more; 0: as Options.MaxSize says. It is not stored.
func (d *Data) SetMaxSize(name string, size int64) error {
	return convert(d.data.SetMaxSize(name, size), "")
}

// OwnerOf tells which process has a data directory open, of an error with CodeBusy:
// its id, 0 when it is not known, and where it can be talked to, empty when nowhere.
func OwnerOf(err error) (pid int, address string, ok bool) { return graph.OwnerOf(err) }

// Namespaces lists the names, sorted.
func (d *Data) Namespaces() ([]string, error) {
	names, err := d.data.Names()
	return names, convert(err, "")
}

// SetAddress tells other processes where this one can be talked to.
func (d *Data) SetAddress(address string) error { return convert(d.data.SetAddress(address), "") }

// Close gives the directory back. Its databases must be closed before.
func (d *Data) Close() error { return convert(d.data.Close(), "") }

// CheckNamespace tells what is wrong with the name of a namespace.
func CheckNamespace(name string) error { return convert(graph.CheckName(name), "") }

// IsCode reports whether err is an *Error with the code.
func IsCode(err error, code Code) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == code
}
