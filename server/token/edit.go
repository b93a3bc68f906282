package token

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Info tells about a named token. Its secret is known only when it is made.
type Info struct {
	Name       string
	Scopes     []Scope
	Namespaces []string
	Created    time.Time
	Expires    time.Time // zero: never
	Expired    bool
}

// List returns the named tokens, by name.
func (s *Store) List() ([]Info, error) {
	list, err := s.readNamed()
	if err != nil {
		return nil, err
	}
	out := make([]Info, 0, len(list))
	for _, r := range list {
		out = append(out, Info{
			Name: r.Name, Scopes: r.Scopes, Namespaces: r.Namespaces, Created: r.Created, Expires: r.Expires,
			Expired: s.expired(Identity{Expires: r.Expires}),
		})
	}
	slices.SortFunc(out, func(a, b Info) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

// Create makes a named token and returns its secret, of which only a hash is kept.
// A running server takes it at once.
func (s *Store) Create(spec Spec) (secret string, err error) {
	if err := spec.check(); err != nil {
		return "", err
	}
	now := s.now().UTC()
	if !spec.Expires.IsZero() && !spec.Expires.After(now) {
		return "", fmt.Errorf("token %s would have expired at %s already", spec.Name, spec.Expires.Format(time.RFC3339))
	}
	secret = newSecret()
	hash := sha256.Sum256([]byte(secret))
	err = s.edit(func(list []record) ([]record, error) {
		if slices.ContainsFunc(list, func(r record) bool { return r.Name == spec.Name }) {
			return nil, fmt.Errorf("there is a token %s already: revoke it first, or take another name", spec.Name)
		}
		return append(list, record{
			Name: spec.Name, Hash: hex.EncodeToString(hash[:]), Scopes: spec.Scopes, Namespaces: spec.Namespaces,
			Created: now, Expires: spec.Expires.UTC(),
		}), nil
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

// Revoke ends a named token. A running server refuses it at once, and closes what is
// open with it within seconds.
func (s *Store) Revoke(name string) error {
	return s.edit(func(list []record) ([]record, error) {
		at := slices.IndexFunc(list, func(r record) bool { return r.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("there is no token %s", name)
		}
		return slices.Delete(list, at, at+1), nil
	})
}

// Rotate replaces the token that may do everything by a new one and returns it.
func (s *Store) Rotate() (string, error) {
	secret := newSecret()
	if err := replace(s.root, []byte(secret+"\n")); err != nil {
		return "", err
	}
	return secret, nil
}

// edit changes the file of named tokens in one step; editors wait for each other.
func (s *Store) edit(change func([]record) ([]record, error)) (err error) {
	dir, err := os.Open(filepath.Dir(s.named))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: there is no such data directory", filepath.Dir(s.named))
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, dir.Close()) }()
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}
	list, err := s.readNamed()
	if err != nil {
		return err
	}
	if list, err = change(list); err != nil {
		return err
	}
	content, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return err
	}
	return replace(s.named, append(content, '\n'))
}

// replace writes a file aside, synced, and puts it in place.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// inode tells files apart that have one name, size and time.
func inode(info fs.FileInfo) any {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return s.Ino
	}
	return nil
}
