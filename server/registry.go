// Package server is what stands between an embedded engram and other programs:
// the registry of namespaces and, in package importer, ways in.
package server

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"
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
	// MaxLoaded is how many namespaces may be loaded at a time that Acquire opened: the
	// one that was not used for longest is closed for another one. Those in use are
	// never closed. Default 64.
	MaxLoaded int
	// Idle is how long a namespace stays loaded unused. Default 10 min, negative: for
	// good.
	Idle time.Duration
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Registry opens the namespaces of one data directory, each once. It is safe for
// concurrent use.
type Registry struct {
	data *engram.Data
	path string
	opts RegistryOptions

	mu     sync.Mutex
	open   map[string]*loaded
	quotas map[string]int64
	closed bool
}

// loaded is a namespace that is open, or on its way to be, or to be closed.
type loaded struct {
	name   string
	db     *engram.DB
	err    error
	users  int
	pinned bool
	used   time.Time
	ready  chan struct{} // closed when db or err is set
	gone   chan struct{} // closed when it is closed; nil before that begins
}

// OpenRegistry opens a data directory, which belongs to this process until
// Close.
func OpenRegistry(path string, o RegistryOptions) (*Registry, error) {
	var opts engram.Options
	if o.Database != nil {
		opts = *o.Database
	}
	opts.Create, opts.ReadOnly = o.Create, o.ReadOnly
	def(&o.MaxLoaded, 64)
	def(&o.Idle, 10*time.Minute)
	if o.Now == nil {
		o.Now = time.Now
	}
	data, err := engram.OpenData(path, &opts)
	if err != nil {
		return nil, err
	}
	r := &Registry{data: data, path: path, opts: o, open: map[string]*loaded{}}
	if err := r.readQuotas(); err != nil {
		return nil, errors.Join(err, data.Close())
	}
	return r, nil
}

// SetAddress tells other processes where this one can be talked to.
func (r *Registry) SetAddress(address string) error { return r.data.SetAddress(address) }

// Open returns a namespace, opened at the first call; with create it is made when
// missing. It stays open until the registry is closed, which closes it.
func (r *Registry) Open(name string, create bool) (*engram.DB, error) {
	l, err := r.take(name, create)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	l.pinned = true
	l.users--
	return l.db, nil
}

// Acquire returns a namespace that is there, opened if it is not loaded, and a
// function that has to be called when it is used no more: then it may be unloaded.
func (r *Registry) Acquire(name string) (db *engram.DB, release func(), err error) {
	l, err := r.take(name, false)
	if err != nil {
		return nil, nil, err
	}
	return l.db, sync.OnceFunc(func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		l.users--
		l.used = r.opts.Now()
	}), nil
}

// take counts a user of a namespace and opens it if need be. Opening is done by one,
// without the lock, so that other namespaces are not kept waiting.
func (r *Registry) take(name string, create bool) (*loaded, error) {
	for {
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return nil, &engram.Error{Code: engram.CodeClosed, Message: "the data directory was closed"}
		}
		l, ok := r.open[name]
		if !ok {
			l = &loaded{name: name, ready: make(chan struct{}), users: 1}
			r.open[name] = l
			victims := r.tooManyLocked()
			r.mu.Unlock()
			r.closeAll(victims)
			r.load(l, create)
			return l, l.err
		}
		if l.gone != nil { // being closed: wait, and open it again
			gone := l.gone
			r.mu.Unlock()
			<-gone
			continue
		}
		l.users++
		r.mu.Unlock()
		<-l.ready
		if l.err == nil {
			return l, nil
		}
		if !create {
			return nil, l.err
		}
		// Whoever opened it did not want to make it: try again.
		if !engram.IsCode(l.err, engram.CodeNotFound) {
			return nil, l.err
		}
	}
}

// load opens a namespace for the first of its users.
func (r *Registry) load(l *loaded, create bool) {
	l.db, l.err = r.data.Open(l.name, create)
	r.mu.Lock()
	defer r.mu.Unlock()
	l.used = r.opts.Now()
	if l.err != nil {
		delete(r.open, l.name)
	}
	close(l.ready)
}

// tooManyLocked picks the namespaces to be closed for others.
func (r *Registry) tooManyLocked() []*loaded {
	return r.pickLocked(len(r.open)-r.opts.MaxLoaded, func(*loaded) bool { return true })
}

// pickLocked picks up to n loaded namespaces that nobody uses, those first that were
// not used for longest, and marks them.
func (r *Registry) pickLocked(n int, want func(*loaded) bool) []*loaded {
	if n <= 0 {
		return nil
	}
	var idle []*loaded
	for _, l := range r.open {
		if l.users == 0 && !l.pinned && l.gone == nil && l.db != nil && want(l) {
			idle = append(idle, l)
		}
	}
	slices.SortFunc(idle, func(a, b *loaded) int {
		return cmp.Or(a.used.Compare(b.used), cmp.Compare(a.name, b.name))
	})
	idle = idle[:min(n, len(idle))]
	for _, l := range idle {
		l.gone = make(chan struct{})
	}
	return idle
}

// closeAll closes namespaces that are marked.
func (r *Registry) closeAll(list []*loaded) (first error) {
	for _, l := range list {
		if err := l.db.Close(); err != nil && first == nil {
			first = err
		}
		r.mu.Lock()
		delete(r.open, l.name)
		close(l.gone)
		r.mu.Unlock()
	}
	return first
}

// UnloadIdle closes namespaces that nobody has used for as long as
// RegistryOptions.Idle.
func (r *Registry) UnloadIdle() {
	r.mu.Lock()
	if r.opts.Idle < 0 || r.closed {
		r.mu.Unlock()
		return
	}
	now := r.opts.Now()
	victims := r.pickLocked(len(r.open), func(l *loaded) bool { return now.Sub(l.used) >= r.opts.Idle })
	r.mu.Unlock()
	_ = r.closeAll(victims) // what was acknowledged is safe; opening again tells
}

// Unload closes up to n namespaces that nobody uses, those first that were not used for
// longest, and returns how many.
func (r *Registry) Unload(n int) int {
	r.mu.Lock()
	var victims []*loaded
	if !r.closed {
		victims = r.pickLocked(n, func(*loaded) bool { return true })
	}
	r.mu.Unlock()
	_ = r.closeAll(victims) // what was acknowledged is safe; opening again tells
	return len(victims)
}

// Loaded is how many namespaces are open.
func (r *Registry) Loaded() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.open)
}

// Names lists the namespaces of the directory, sorted.
func (r *Registry) Names() ([]string, error) { return r.data.Namespaces() }

// Close closes every namespace and gives the directory back. It goes on past an
// error and returns the first.
func (r *Registry) Close() error {
	r.mu.Lock()
	r.closed = true
	var list, leaving []*loaded
	for _, name := range sortedKeys(r.open) {
		switch l := r.open[name]; {
		case l.gone != nil:
			leaving = append(leaving, l)
		default:
			list = append(list, l)
		}
	}
	r.mu.Unlock()
	for _, l := range leaving {
		<-l.gone
	}
	var first error
	for _, l := range list {
		<-l.ready
		if l.db == nil {
			continue
		}
		if err := l.db.Close(); err != nil && first == nil {
			first = err
		}
	}
	r.mu.Lock()
	r.open = map[string]*loaded{}
	r.mu.Unlock()
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
