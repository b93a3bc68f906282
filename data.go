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
