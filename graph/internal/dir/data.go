package dir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// Options for opening a data directory; nil means the defaults.
type Options struct {
	// ReadOnly opens for reading: nothing is written, not even LOCK, so that a
	// read-only mount will do.
	ReadOnly bool
	// Address is told to a second process that wants to open the directory; a
	// daemon sets it, e.g. "127.0.0.1:7687". SetAddress changes it.
	Address string
	// MaxSize in bytes bounds the file of a namespace; 0 means bolt.DefaultMaxSize.
	MaxSize int64
}

// Data is an open data directory. It is safe for concurrent use.
type Data struct {
	path string
	opts Options

	mu     sync.Mutex
	lock   *os.File // nil until a namespace is created or opened, or SetAddress
	locked bool     // decided: a reader on a directory without LOCK holds none
	names  map[string]bool
	sizes  map[string]int64 // bounds of single namespaces' files
	closed bool
}

// Open opens an existing data directory. It changes nothing: LOCK is taken by the
// first CreateNamespace, OpenNamespace or SetAddress, once the format is accepted.
func Open(path string, opts *Options) (*Data, error) {
	if opts == nil {
		opts = &Options{}
	}
	if err := examine(path); err != nil {
		return nil, err
	}
	return &Data{path: path, opts: *opts, names: make(map[string]bool)}, nil
}

// Path is the directory.
func (d *Data) Path() string { return d.path }

// lockLocked takes LOCK unless it is held. A BusyError tells the owner.
func (d *Data) lockLocked() error {
	if d.closed {
		return store.ErrClosed
	}
	if d.locked {
		return nil
	}
	f, err := takeLock(d.path, d.opts.Address, d.opts.ReadOnly)
	if err != nil {
		return err
	}
	d.lock, d.locked = f, true
	return nil
}

// SetAddress takes LOCK, if it is not held yet, and tells other processes where
// this one can be talked to.
func (d *Data) SetAddress(address string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.opts.Address = address
	if err := d.lockLocked(); err != nil {
		return err
	}
	if d.opts.ReadOnly {
		return nil
	}
	if err := writeOwner(d.lock, address); err != nil {
		return systemError(filepath.Join(d.path, lockName), err)
	}
	return nil
}

// Namespaces lists the names, sorted.
func (d *Data) Namespaces() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(d.path, nsName)) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, systemError(d.path, err)
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() && CheckName(e.Name()) == nil {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

// CreateNamespace makes a namespace at seq 0 with the initial puts. Its directory
// appears complete and synced, or not at all. It fails with ErrExists if it exists.
func (d *Data) CreateNamespace(name string, initial []store.Put) error {
	if err := CheckName(name); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	ns := filepath.Join(d.path, nsName)
	final := filepath.Join(ns, name)
	if d.opts.ReadOnly {
		return &store.FileError{Err: store.ErrReadOnly, Path: final, Detail: "the directory was opened for reading"}
	}
	if _, err := os.Lstat(final); err == nil {
		return &store.FileError{Err: store.ErrExists, Path: final, Hint: "open it instead"}
	}
	if err := d.lockLocked(); err != nil {
		return err
	}
	if err := os.MkdirAll(ns, dirMode); err != nil {
		return systemError(ns, err)
	}
	if err := syncDir(d.path); err != nil {
		return err
	}
	removeLeftovers(ns)
	temp, err := os.MkdirTemp(ns, tempPrefix+name+"-*") // mode 0700
	if err != nil {
		return systemError(ns, err)
	}
	if err := fillNamespace(temp, initial); err != nil {
		_ = os.RemoveAll(temp)
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		_ = os.RemoveAll(temp)
		return systemError(final, err)
	}
	return syncDir(ns)
}

// removeLeftovers clears what interrupted creations left. LOCK is held, so nobody
// is creating now; what cannot be removed does no harm.
func removeLeftovers(ns string) {
	entries, err := os.ReadDir(ns)
	if err != nil {
		return
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), tempPrefix) {
			_ = os.RemoveAll(filepath.Join(ns, e.Name()))
		}
	}
}

func fillNamespace(path string, initial []store.Put) error {
	if err := bolt.Create(filepath.Join(path, graphName), initial); err != nil {
		return err
	}
	return startSide(path, 0)
}

// sideNote says what a side file that tells nothing means.
func sideNote(path, odd string) string {
	return path + ": " + odd + ", so that acknowledged transactions could be missing from graph.db without a trace; " +
		"all of graph.db was verified instead, and opening for writing makes the file anew. " +
		"Compare what is stored last with what you know of, or with a backup"
}

// Namespace is an open namespace.
type Namespace struct {
	data   *Data
	name   string
	driver *bolt.Driver
	side   *sideFile // nil when read-only
	notes  []string
	told   *os.File // of uses, once one was told
	once   sync.Once
	err    error
}

// OpenNamespace opens a namespace; each can be open once. What it refuses, it
// leaves unchanged. Close it before its Data.
func (d *Data) OpenNamespace(name string) (*Namespace, error) {
	if err := CheckName(name); err != nil {
		return nil, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	path := filepath.Join(d.path, nsName, name)
	if d.closed {
		return nil, store.ErrClosed
	}
	if d.names[name] {
		return nil, &BusyError{Path: path, Owner: Owner{PID: os.Getpid(), Address: d.opts.Address}}
	}
	known, odd, err := d.acceptLocked(path)
	if err != nil {
		return nil, err
	}
	maxSize, ok := d.sizes[name]
	if !ok {
		maxSize = d.opts.MaxSize
	}
	driver, err := bolt.Open(filepath.Join(path, graphName), &bolt.Options{
		MaxSize: maxSize, ReadOnly: d.opts.ReadOnly, Acked: known.seq, Roots: known.roots,
	})
	if err != nil {
		return nil, err
	}
	n := &Namespace{data: d, name: name, driver: driver}
	if odd != "" {
		n.notes = append(n.notes, sideNote(filepath.Join(path, seqName), odd))
	}
	if note := driver.Note(); note != "" {
		n.notes = append(n.notes, filepath.Join(path, graphName)+": "+note+"; the next commit writes it anew, and nothing is missing")
	}
	if !d.opts.ReadOnly {
		if n.side, err = openSide(filepath.Join(path, seqName)); err != nil {
			return nil, errors.Join(err, driver.Close())
		}
		n.side.last = known
		if err := n.noteRoots(); err != nil {
			return nil, errors.Join(err, n.side.f.Close(), driver.Close())
		}
	}
	d.names[name] = true
	return n, nil
}

// noteRoots writes the side file if it does not tell the roots of the store.
func (n *Namespace) noteRoots() error {
	roots := n.driver.Roots()
	if n.side.last.roots == roots {
		return nil
	}
	return n.side.write(sideState{max(n.side.last.seq, n.driver.OpenedAt()), roots})
}

// acceptLocked checks the namespace's format, then takes LOCK. A file that another
// process has locked is accepted, for that process has accepted it; LOCK then tells
// who it is.
func (d *Data) acceptLocked(path string) (known sideState, odd string, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return known, "", &store.FileError{Err: store.ErrMissing, Path: path, Hint: "create the namespace first, or check its name"}
	}
	if known, _, err = readSide(filepath.Join(path, seqName)); err != nil {
		return known, "", err
	}
	if !d.locked {
		_, err := bolt.Examine(filepath.Join(path, graphName), known.seq, known.roots)
		if err != nil && !errors.Is(err, store.ErrBusy) {
			return known, "", err
		}
	}
	if err := d.lockLocked(); err != nil {
		return known, "", err
	}
	// Read again: only now nobody else writes it.
	return readSide(filepath.Join(path, seqName))
}

// Name is the namespace's name.
func (n *Namespace) Name() string { return n.name }

// Path is the namespace's directory.
func (n *Namespace) Path() string { return filepath.Join(n.data.path, nsName, n.name) }

// TextDir is where the text index lives.
func (n *Namespace) TextDir() string { return filepath.Join(n.Path(), textName) }

// VectorDir is where the vectors of texts live, a directory for each model.
func (n *Namespace) VectorDir() string { return filepath.Join(n.Path(), vectorName) }

// TopologyFile is where the copy of the topology lives.
func (n *Namespace) TopologyFile() string { return filepath.Join(n.Path(), topoName) }

// ReadOnly tells whether writing is refused.
func (n *Namespace) ReadOnly() bool { return n.data.opts.ReadOnly }

// Driver is the namespace's store. The commit engine that it is given to closes it.
func (n *Namespace) Driver() store.Driver { return n.driver }

// Acked remembers the newest acknowledged seq; it is the engine's BeforeAck.
func (n *Namespace) Acked(seq store.Seq) error {
	if n.side == nil {
		return nil
	}
	return n.side.write(sideState{seq, n.driver.Roots()})
}

// Notes tell what opening found odd and could deal with.
func (n *Namespace) Notes() []string { return n.notes }

// Close lets the namespace be opened again. The driver must have been closed.
func (n *Namespace) Close() error {
	n.once.Do(func() {
		if n.side != nil { // closing the driver may have written to the file
			n.err = errors.Join(n.noteRoots(), n.side.f.Close())
		}
		if n.told != nil {
			n.err = errors.Join(n.err, n.told.Close())
		}
		n.data.mu.Lock()
		delete(n.data.names, n.name)
		n.data.mu.Unlock()
	})
	return n.err
}

// Close gives LOCK back. Namespaces must be closed before; it fails with ErrBusy
// while one is open.
func (d *Data) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	if len(d.names) > 0 {
		return &BusyError{Path: d.path, Owner: Owner{PID: os.Getpid()}}
	}
	d.closed = true
	if d.lock == nil {
		return nil
	}
	// The name is taken out first, so that nobody is sent to a process that is gone.
	// The file itself stays: removing it would let two processes hold two of them.
	var err error
	if !d.opts.ReadOnly {
		err = d.lock.Truncate(0)
	}
	return errors.Join(err, d.lock.Close())
}
