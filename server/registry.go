// Package server is what stands between an embedded engram and other programs:
// the registry of namespaces and, in package importer, ways in.
package server

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"sync"
	"unicode"

	"engram"
)

// RegistryOptions say how a data directory is opened.
type RegistryOptions struct {
	// Create makes the data directory when it is missing.
	Create bool
	// ReadOnly opens for reading: nothing on disk changes.
	ReadOnly bool
	// Database configures the namespaces; nil means the defaults.
	Database *engram.Options
}

// Registry opens the namespaces of one data directory, each once. It is safe for
// concurrent use.
type Registry struct {
	data *engram.Data

	mu   sync.Mutex
	open map[string]*engram.DB
	// order is the names in the order they were opened.
	order []string
}

// OpenRegistry opens a data directory, which belongs to this process until
// Close.
func OpenRegistry(path string, o RegistryOptions) (*Registry, error) {
	var opts engram.Options
	if o.Database != nil {
		opts = *o.Database
	}
	opts.Create, opts.ReadOnly = o.Create, o.ReadOnly
	data, err := engram.OpenData(path, &opts)
	if err != nil {
		return nil, err
	}
	return &Registry{data: data, open: map[string]*engram.DB{}}, nil
}

// Open returns a namespace, opened at the first call; with create it is made when
// missing. The database is closed by the registry.
func (r *Registry) Open(name string, create bool) (*engram.DB, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if db, ok := r.open[name]; ok {
		return db, nil
	}
	db, err := r.data.Open(name, create)
	if err != nil {
		return nil, err
	}
	r.open[name] = db
	r.order = append(r.order, name)
	return db, nil
}

// Names lists the namespaces of the directory, sorted.
func (r *Registry) Names() ([]string, error) { return r.data.Namespaces() }

// Close closes every namespace and gives the directory back. It goes on past an
// error and returns the first.
func (r *Registry) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var first error
	for _, name := range r.order {
		if err := r.open[name].Close(); err != nil && first == nil {
			first = err
		}
	}
	r.open, r.order = map[string]*engram.DB{}, nil
	if err := r.data.Close(); err != nil && first == nil {
		first = err
	}
	return first
}

// maxDerived is the length of a namespace's name made of a text, before the piece
// of hash.
const maxDerived = 48

// NamespaceFor makes the name of a namespace of any text, such as a conversation's
// name: letters in lower case, and '-' for what a name can't have. When letters or
// digits are lost, a piece of the text's hash keeps names apart.
func NamespaceFor(text string) string {
	var b strings.Builder
	lost := false
	for _, c := range strings.ToLower(text) {
		switch {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', (c == '-' || c == '_') && b.Len() > 0:
			b.WriteRune(c)
		default:
			lost = lost || unicode.IsLetter(c) || unicode.IsNumber(c)
			if b.Len() > 0 {
				b.WriteByte('-')
			}
		}
	}
	name := strings.TrimRight(b.String(), "-_")
	if len(name) > maxDerived {
		name, lost = strings.TrimRight(name[:maxDerived], "-_"), true
	}
	if name == "" {
		name, lost = "unnamed", true
	}
	if lost {
		sum := sha256.Sum256([]byte(text))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	return name
}
