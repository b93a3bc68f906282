package dir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"engram/graph/internal/store"
)

// Owner is the process that has a data directory open.
type Owner struct {
	PID     int
	Address string // where it can be talked to, empty if nowhere
}

// BusyError tells who has the directory open. It wraps store.ErrBusy.
type BusyError struct {
	Path  string
	Owner Owner // PID 0 if unknown
}

func (e *BusyError) Error() string {
	text := fmt.Sprintf("%s: %v", e.Path, store.ErrBusy)
	switch {
	case e.Owner.PID == 0:
		text += " by another process"
	case e.Owner.PID == os.Getpid():
		text += " by this process already"
	default:
		text += fmt.Sprintf(" by process %d", e.Owner.PID)
	}
	if e.Owner.Address != "" {
		return text + fmt.Sprintf(" (talk to it at %s, or stop it)", e.Owner.Address)
	}
	return text + " (close it there first)"
}

// Unwrap gives store.ErrBusy.
func (e *BusyError) Unwrap() error { return store.ErrBusy }

const lockText = "pid %d\naddress %q\n"

// ownerWait bounds how long a taker waits for an owner that has locked the file
// and is about to write its name into it.
const (
	ownerWait  = time.Second
	ownerRetry = 10 * time.Millisecond
)

// takeLock locks the directory. A reader shares the lock with other readers, takes
// none where the file is missing, and never writes.
func takeLock(dir, address string, readOnly bool) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	flags, how := os.O_RDWR|os.O_CREATE, syscall.LOCK_EX
	if readOnly {
		flags, how = os.O_RDONLY, syscall.LOCK_SH
	}
	f, err := os.OpenFile(path, flags, fileMode)
	if err != nil {
		if readOnly && errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, systemError(path, err)
	}
	if err := flock(f, how|syscall.LOCK_NB); err != nil {
		defer func() { _ = f.Close() }() // only read
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, &BusyError{Path: dir, Owner: readOwner(f)}
		}
		return nil, systemError(path, err)
	}
	if readOnly {
		return f, nil
	}
	if err := writeOwner(f, address); err != nil {
		_ = f.Close()
		return nil, systemError(path, err)
	}
	return f, nil
}

func flock(f *os.File, how int) error {
	for {
		err := syscall.Flock(int(f.Fd()), how)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func writeOwner(f *os.File, address string) error {
	text := fmt.Sprintf(lockText, os.Getpid(), address)
	if err := f.Truncate(0); err != nil {
		return err
	}
	_, err := f.WriteAt([]byte(text), 0)
	return err
}

// readOwner reads who holds the lock. Readers leave no name, so Owner may stay
// empty.
func readOwner(f *os.File) Owner {
	for deadline := time.Now().Add(ownerWait); ; time.Sleep(ownerRetry) {
		buf := make([]byte, 512)
		n, _ := f.ReadAt(buf, 0) // io.EOF at a short file
		var o Owner
		if _, err := fmt.Sscanf(string(buf[:n]), lockText, &o.PID, &o.Address); err == nil {
			return o
		}
		if time.Now().After(deadline) {
			return Owner{}
		}
	}
}

// systemError names the file and translates what has a sentinel.
func systemError(path string, err error) error {
	var known *store.FileError
	switch {
	case errors.As(err, &known):
		return err
	case errors.Is(err, syscall.EROFS), errors.Is(err, fs.ErrPermission):
		return &store.FileError{Err: store.ErrReadOnly, Path: path, Detail: err.Error(), Hint: "open it for reading only, or make it writable"}
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return &store.FileError{Err: store.ErrFull, Path: path, Detail: err.Error(), Hint: "free space and try again"}
	}
	return &store.FileError{Err: err, Path: path}
}
