package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"engram/graph/internal/store"
)

const (
	// DefaultMaxSize bounds a file and is the address space mapped for it. It costs
	// no memory, only addresses, of which a process has 128 TiB.
	DefaultMaxSize = 16 << 30
	// MinMaxSize keeps bbolt from ever remapping: it grows a file in steps that must
	// be smaller than the mapping.
	MinMaxSize = 32 << 20

	growStep    = 4 << 20                // bytes by which a file grows, with a sync each time
	lockTimeout = time.Second            // for opening: who only examines holds the lock shortly
	peekTimeout = 100 * time.Millisecond // for examining: whoever locks longer is an owner
)

// Options for opening; nil means the defaults.
type Options struct {
	// MaxSize in bytes bounds the file; an Apply that would grow it further fails
	// with ErrFull. One that is larger already does not grow. 0 means
	// DefaultMaxSize; the least is MinMaxSize.
	MaxSize int64
	// ReadOnly opens without the right to write; several processes may.
	ReadOnly bool
	// Acked is the newest seq known to have been acknowledged, 0 if unknown. A file
	// at an older seq is refused: bbolt silently falls back by one transaction when
	// its newest meta page is damaged.
	Acked store.Seq
	// Roots are what the last commit that was noted led to. With those of the newest
	// transaction opening reads a few pages only; with others, or none, all of the
	// file. Roots that contradict the file are refused.
	Roots Roots

	mapped int64 // addresses for the file; 0: MaxSize
}

// Create makes a database at seq 0 with the initial puts. The file appears at path
// complete and synced, or not at all; path must not exist.
func Create(path string, initial []store.Put) error {
	if err := store.CheckBatches(0, []store.Batch{{Seq: 1, Puts: initial}}); err != nil {
		return err
	}
	if _, err := os.Lstat(path); err == nil {
		return &store.FileError{Err: store.ErrExists, Path: path, Hint: "open it instead"}
	} else if !errors.Is(err, fs.ErrNotExist) {
		return &store.FileError{Err: err, Path: path}
	}
	temp, err := os.CreateTemp(filepath.Dir(path), ".tmp-"+filepath.Base(path)+"-*") // mode 0600
	if err != nil {
		return &store.FileError{Err: err, Path: path}
	}
	_ = temp.Close() // still empty, bbolt fills it
	if err = fill(temp.Name(), initial); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err == nil {
		err = syncDir(filepath.Dir(path))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
		return &store.FileError{Err: err, Path: path}
	}
	return nil
}

// fill writes a new database into the empty file and syncs it.
func fill(path string, initial []store.Put) error {
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: lockTimeout, FreelistType: bbolt.FreelistMapType})
	if err != nil {
		return err
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		header, err := tx.CreateBucket(headerBucket)
		if err != nil {
			return err
		}
		if err := header.Put(formatKey, binary.BigEndian.AppendUint32(nil, Format)); err != nil {
			return err
		}
		if err := header.Put(seqKey, encodeSeq(0)); err != nil {
			return err
		}
		for _, name := range bucketNames {
			if _, err := tx.CreateBucket([]byte(name)); err != nil {
				return err
			}
		}
		return write(tx, bySpace([]store.Batch{{Puts: initial}}))
	})
	if err == nil {
		err = db.Sync()
	}
	return errors.Join(err, db.Close())
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Open opens an existing database. Whatever it refuses it leaves unchanged; the
// error is a *store.FileError.
func Open(path string, opts *Options) (*Driver, error) {
	if opts == nil {
		opts = &Options{}
	}
	in, err := Examine(path, opts.Acked, opts.Roots)
	if err != nil {
		return nil, err
	}
	pages, roots, err := prove(path, opts.Roots)
	if err != nil {
		return nil, err
	}
	o := *opts
	if o.MaxSize == 0 {
		o.MaxSize = DefaultMaxSize
	}
	if o.MaxSize < MinMaxSize {
		return nil, &store.FileError{
			Err: store.ErrInvalid, Path: path, Detail: fmt.Sprintf("a limit of %d bytes is too small for any database", o.MaxSize),
			Hint: fmt.Sprintf("give %d bytes or more", MinMaxSize),
		}
	}
	o.mapped = max(o.MaxSize, 2*in.Size)
	whole, err := filepath.Abs(path)
	if err != nil {
		return nil, &store.FileError{Err: err, Path: path}
	}
	db, file, err := openBolt(path, &o, lockTimeout)
	if err != nil {
		return nil, err
	}
	d := &Driver{db: db, file: file, path: path, whole: whole, readOnly: o.ReadOnly, pages: pages, roots: roots, note: in.Damaged}
	err = d.start()
	if err == nil && roots != opts.Roots && !o.ReadOnly {
		// The last commit was perhaps not synced when its process ended.
		if err = file.Sync(); err != nil {
			err = &store.FileError{Err: err, Path: path}
		}
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return d, nil
}

// Info is what Examine tells about a database.
type Info struct {
	Seq  store.Seq
	Size int64 // bytes of the file
	// Damaged tells what is wrong with one of the two meta pages when the other one
	// suffices and no acknowledged transaction is missing; the next commit heals it.
	Damaged string
}

// Examine checks, without changing anything, that a database can be opened: its
// length, its marks, its format, that its seq is not below acked, and that known
// roots are what was written. It fails with ErrBusy while a writer has it open.
func Examine(path string, acked store.Seq, known Roots) (Info, error) {
	in, err := inspect(path)
	if err != nil {
		return Info{}, err
	}
	if in.newest.txid == known.Tx {
		found, err := ReadRoots(path)
		if err != nil {
			return Info{}, err
		}
		if err := known.contradict(path, found); err != nil {
			return Info{}, err
		}
	}
	db, _, err := openBolt(path, &Options{ReadOnly: true}, peekTimeout)
	if err != nil {
		return Info{}, err
	}
	info := Info{Size: in.size, Damaged: in.damaged}
	err = guard(path, func() error {
		return db.View(func(tx *bbolt.Tx) error {
			info.Seq, err = readHeader(tx, path)
			return err
		})
	})
	if err != nil {
		return Info{}, errors.Join(err, closeBolt(db))
	}
	if err := closeBolt(db); err != nil {
		return Info{}, &store.FileError{Err: err, Path: path}
	}
	if info.Seq < acked {
		detail := fmt.Sprintf("it is at seq %d, but seq %d was acknowledged", info.Seq, acked)
		if in.damaged != "" {
			detail += "; " + in.damaged
		}
		return Info{}, &store.FileError{
			Err: store.ErrLostCommits, Path: path, Detail: detail,
			Hint: "restore the whole directory from a backup, or delete the file seq beside it to accept the older state",
		}
	}
	return info, nil
}

// readHeader checks the format and returns the seq.
func readHeader(tx *bbolt.Tx, path string) (store.Seq, error) {
	header := tx.Bucket(headerBucket)
	if header == nil {
		return 0, &store.FileError{Err: store.ErrForeign, Path: path, Detail: "it is a bbolt file of another program", Hint: "check the path"}
	}
	format := header.Get(formatKey)
	if len(format) != 4 {
		return 0, &store.FileError{Err: store.ErrDamaged, Path: path, Detail: "no format number", Hint: "restore it from a backup"}
	}
	if n := binary.BigEndian.Uint32(format); n > Format {
		return 0, &store.FileError{
			Err: store.ErrNewer, Path: path,
			Detail: fmt.Sprintf("its format is %d and this program knows up to %d", n, Format), Hint: "use the newer program",
		}
	}
	for _, name := range bucketNames {
		if tx.Bucket([]byte(name)) == nil {
			return 0, &store.FileError{Err: store.ErrDamaged, Path: path, Detail: "the space " + name + " is missing", Hint: "restore it from a backup"}
		}
	}
	return decodeSeq(header.Get(seqKey), path)
}

func encodeSeq(seq store.Seq) []byte { return binary.BigEndian.AppendUint64(nil, uint64(seq)) }

func decodeSeq(b []byte, path string) (store.Seq, error) {
	if len(b) != 8 {
		return 0, &store.FileError{Err: store.ErrDamaged, Path: path, Detail: "no seq", Hint: "restore it from a backup"}
	}
	return store.Seq(binary.BigEndian.Uint64(b)), nil
}

// openBolt opens the bbolt file and returns bbolt's own file handle beside it.
// The first size tried is the wanted one, then smaller ones while the process has
// too few addresses.
func openBolt(path string, opts *Options, timeout time.Duration) (db *bbolt.DB, file *os.File, err error) {
	flags := os.O_RDWR
	if opts.ReadOnly {
		flags = os.O_RDONLY
	}
	for size := max(opts.MaxSize, opts.mapped); ; size = max(size/4, MinMaxSize) {
		bo := &bbolt.Options{
			Timeout: timeout, ReadOnly: opts.ReadOnly, FreelistType: bbolt.FreelistMapType,
			InitialMmapSize: int(size), MaxSize: int(min(size, opts.MaxSize)),
			NoFreelistSync: true, // opening must not write; Apply decides anew each time
			OpenFile: func(name string, _ int, mode os.FileMode) (*os.File, error) {
				f, err := os.OpenFile(name, flags, mode) // without O_CREATE: a missing file stays missing
				file = f
				return f, err
			},
		}
		err = guard(path, func() error {
			db, err = bbolt.Open(path, 0o600, bo)
			return err
		})
		if !errors.Is(err, errNoAddresses) || size <= MinMaxSize {
			break
		}
	}
	if err == nil {
		db.AllocSize = growStep
		return db, file, nil
	}
	if errors.Is(err, store.ErrDamaged) && file != nil {
		_ = abandon(file) // bbolt panicked and left it open and locked
	}
	return nil, nil, openError(path, err)
}

// abandon unlocks and closes the file of a bbolt that panicked. Closing alone would
// not unlock it, because the mapping, which stays, holds on to it as well.
func abandon(file *os.File) error {
	return errors.Join(syscall.Flock(int(file.Fd()), syscall.LOCK_UN), file.Close())
}

func openError(path string, err error) error {
	var known *store.FileError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, berrors.ErrTimeout):
		return &store.FileError{Err: store.ErrBusy, Path: path, Detail: "another process has locked it", Hint: "close it there, or talk to that process"}
	case errors.Is(err, fs.ErrPermission), errors.Is(err, errReadOnlyFS):
		return &store.FileError{Err: store.ErrReadOnly, Path: path, Detail: err.Error(), Hint: "open it for reading only, or make it writable"}
	}
	return &store.FileError{Err: err, Path: path}
}

func closeBolt(db *bbolt.DB) error {
	if db == nil {
		return nil
	}
	return db.Close()
}

// guard turns a panic or a memory fault inside bbolt, which a damaged page causes,
// into ErrDamaged.
func guard(path string, fn func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if p := recover(); p != nil {
			err = damage(path, p)
		}
	}()
	return fn()
}

func damage(path string, found any) error {
	return &store.FileError{Err: store.ErrDamaged, Path: path, Detail: fmt.Sprint(found), Hint: "restore it from a backup"}
}
