package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"engram"
	"engram/server"
)

// access is what a command does with a namespace.
type access bool

const (
	reading access = false // changes nothing on disk; refuses what is missing
	writing access = true  // creates what is missing
)

// withNamespace opens the namespace of the command line for fn and closes it
// again.
func (a *app) withNamespace(how access, fn func(*engram.DB) error) error {
	return a.withRegistry(how, func(r *server.Registry) error {
		db, err := r.Open(a.namespace, how == writing)
		if err != nil {
			return err
		}
		a.known = func(namespace string) (bool, error) {
			names, err := r.Names()
			return slices.Contains(names, namespace), err
		}
		err = fn(db)
		if err == nil && how == writing {
			a.embedRest(db)
		}
		return err
	})
}

// withRebuilt opens the namespace, which must exist, for fn, and makes what is
// derived from its records anew before.
func (a *app) withRebuilt(fn func(*engram.DB) error) (err error) {
	if err := engram.CheckNamespace(a.namespace); err != nil {
		return &usageError{err}
	}
	r, err := server.OpenRegistry(a.data, a.registryOptions(server.RegistryOptions{Database: &engram.Options{Rebuild: true}}))
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
	}()
	db, err := r.Open(a.namespace, false)
	if err != nil {
		return err
	}
	return fn(db)
}

// withRegistry opens the data directory for fn and closes it again.
func (a *app) withRegistry(how access, fn func(*server.Registry) error) (err error) {
	return a.withRegistryOptions(server.RegistryOptions{Create: how == writing, ReadOnly: how == reading}, fn)
}

func (a *app) withRegistryOptions(o server.RegistryOptions, fn func(*server.Registry) error) (err error) {
	if err := engram.CheckNamespace(a.namespace); err != nil {
		return &usageError{err}
	}
	r, err := server.OpenRegistry(a.data, a.registryOptions(o))
	if engram.IsCode(err, engram.CodeNotFound) {
		return fmt.Errorf("%w; engramd remember, import and console make one, --data names another", err)
	}
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
	}()
	return fn(r)
}

// withRegistryLater is withRegistry for writing that makes and opens the directory
// when fn first asks for it: what is refused before leaves nothing behind.
func (a *app) withRegistryLater(fn func(open func() (*server.Registry, error)) error) (err error) {
	if err := engram.CheckNamespace(a.namespace); err != nil {
		return &usageError{err}
	}
	var r *server.Registry
	defer func() {
		if r == nil {
			return
		}
		if closeErr := r.Close(); err == nil {
			err = closeErr
		}
	}()
	return fn(func() (_ *server.Registry, err error) {
		if r == nil {
			r, err = server.OpenRegistry(a.data, a.registryOptions(server.RegistryOptions{Create: true}))
		}
		return r, err
	})
}

// missing tells that there is no namespace of the command line yet.
func (a *app) missing() bool { return a.lacks(a.namespace) }

// lacks tells that there is no such namespace yet.
func (a *app) lacks(namespace string) bool {
	d, err := engram.OpenData(a.data, &engram.Options{ReadOnly: true})
	if err != nil {
		return engram.IsCode(err, engram.CodeNotFound)
	}
	names, err := d.Namespaces()
	return errors.Join(err, d.Close()) == nil && !slices.Contains(names, namespace)
}

// openInput opens a file that the command line names.
func openInput(path string) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &missingFileError{path}
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &usageError{fmt.Errorf("%s is a directory, not a file", path)}
	}
	return os.Open(path)
}

// existingDir tells whether a folder that the command line names is there.
func existingDir(path string) error {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &missingFileError{path}
	case err != nil:
		return err
	case !info.IsDir():
		return &usageError{fmt.Errorf("%s is a file, not a directory", path)}
	}
	return nil
}

func (a *app) printf(format string, args ...any) { fmt.Fprintf(a.out, format, args...) }
