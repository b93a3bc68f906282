package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"engram"
)

// Create makes an empty namespace.
func (r *Registry) Create(name string) error { return r.data.Create(name) }

// Drop deletes a namespace with everything in it. One that is in use is refused with
// engram.CodeAborted.
func (r *Registry) Drop(name string) error {
	return r.unloaded(name, func() error {
		if err := r.data.Drop(name); err != nil {
			return err
		}
		return r.setQuota(name, 0)
	})
}

// Rename gives a namespace that is not in use another name.
func (r *Registry) Rename(name, to string) error {
	return r.unloaded(name, func() error {
		if err := r.data.Rename(name, to); err != nil {
			return err
		}
		quota := r.Quota(name)
		return errors.Join(r.setQuota(to, quota), r.setQuota(name, 0))
	})
}

// SetQuota bounds a namespace's file in bytes, 32 MiB or more; 0 takes the bound away.
// It holds from now on, for which the namespace is unloaded: one in use is refused.
func (r *Registry) SetQuota(name string, bytes int64) error {
	return r.unloaded(name, func() error { return r.setQuota(name, bytes) })
}

// Quota is the bound of a namespace's file in bytes; 0: none of its own.
func (r *Registry) Quota(name string) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.quotas[name]
}

// unloaded runs fn while a namespace is closed.
func (r *Registry) unloaded(name string, fn func() error) error {
	if err := engram.CheckNamespace(name); err != nil {
		return err
	}
	r.mu.Lock()
	l, ok := r.open[name]
	if ok && (l.users > 0 || l.pinned || l.gone != nil || l.db == nil) {
		r.mu.Unlock()
		return &engram.Error{Code: engram.CodeAborted, Message: "the namespace " + name + " is in use: try again when nothing runs in it"}
	}
	if !ok { // keeps others from opening it meanwhile
		l = &loaded{name: name, ready: make(chan struct{})}
		close(l.ready)
		r.open[name] = l
	}
	l.gone = make(chan struct{})
	r.mu.Unlock()
	var err error
	if l.db != nil {
		err = l.db.Close()
	}
	if err == nil {
		err = fn()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.open, name)
	close(l.gone)
	return err
}

// quotasFile holds the quotas, as JSON: name → bytes.
const quotasFile = "quotas.json"

func (r *Registry) readQuotas() error {
	r.quotas = map[string]int64{}
	content, err := os.ReadFile(filepath.Join(r.path, quotasFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(content, &r.quotas); err != nil {
		return fmt.Errorf("%s is no list of quotas: %w", filepath.Join(r.path, quotasFile), err)
	}
	for _, name := range sortedKeys(r.quotas) {
		if err := r.data.SetMaxSize(name, r.quotas[name]); err != nil {
			return fmt.Errorf("%s: %w", filepath.Join(r.path, quotasFile), err)
		}
	}
	return nil
}

// setQuota stores a quota and has it hold from the next opening on.
func (r *Registry) setQuota(name string, bytes int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if bytes == r.quotas[name] {
		return nil
	}
	if err := r.data.SetMaxSize(name, bytes); err != nil {
		return err
	}
	r.quotas[name] = bytes
	if bytes == 0 {
		delete(r.quotas, name)
	}
	content, err := json.MarshalIndent(r.quotas, "", "  ")
	if err != nil {
		return err
	}
	path := filepath.Join(r.path, quotasFile)
	f, err := os.CreateTemp(r.path, "."+quotasFile+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(append(content, '\n'))
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
