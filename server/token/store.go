package token

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// The files of a data directory.
const (
	rootFile  = "token"       // the secret that may do everything
	namedFile = "tokens.json" // named tokens, as hashes
)

// Store reads the tokens of a data directory, again whenever a file changed. It is
// safe for concurrent use.
type Store struct {
	root, named string
	now         func() time.Time

	mu     sync.Mutex
	stamps [2]stamp
	known  []Identity
	err    error
}

// stamp tells whether a file is still the one that was read.
type stamp struct {
	size  int64
	mtime time.Time
	inode any
	mode  fs.FileMode
	there bool
}

// Options say where tokens are.
type Options struct {
	// File is the file of the token that may do everything; empty: "token" in the
	// data directory.
	File string
	// Now is the clock. Default time.Now.
	Now func() time.Time
}

// Open opens the tokens of a data directory, which may have none yet.
func Open(dir string, o *Options) *Store {
	if o == nil {
		o = &Options{}
	}
	s := &Store{root: o.File, named: filepath.Join(dir, namedFile), now: o.Now}
	if s.root == "" {
		s.root = filepath.Join(dir, rootFile)
	}
	if s.now == nil {
		s.now = time.Now
	}
	return s
}

// File is where the token is that may do everything.
func (s *Store) File() string { return s.root }

// Ensure makes the token that may do everything, unless there is one, and returns
// it. The file has mode 0600; one that others can read is refused.
func (s *Store) Ensure() (string, error) {
	secret, err := readSecret(s.root)
	if !errors.Is(err, fs.ErrNotExist) {
		return secret, err
	}
	secret = newSecret()
	f, err := os.OpenFile(s.root, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was faster
		return readSecret(s.root)
	}
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(secret + "\n")
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(s.root))
	}
	return secret, nil
}

// minSecret is the shortest secret that a file may hold, in characters.
const minSecret = 32

func readSecret(path string) (string, error) {
	content, err := readPrivate(path)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(content))
	if len(secret) < minSecret || strings.ContainsAny(secret, " \t\r\n") {
		return "", fmt.Errorf("%s does not hold a token of %d characters or more on one line: remove it, and a new one is made", path, minSecret)
	}
	return secret, nil
}

// readPrivate reads a small file that nobody else may read.
func readPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > 4<<20 {
		return nil, fmt.Errorf("%s is no file of tokens", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("%s can be read by other users: chmod 600 it, and make a new token if somebody may have seen it", path)
	}
	return os.ReadFile(path)
}

// Lookup tells whose secret it is; not ok when it is nobody's, or has expired. How
// long it takes does not tell how much of a secret was right.
func (s *Store) Lookup(secret string) (Identity, bool) {
	hash := sha256.Sum256([]byte(secret))
	known, err := s.current()
	if err != nil {
		return Identity{}, false
	}
	found := -1
	for i := range known {
		if subtle.ConstantTimeCompare(known[i].hash[:], hash[:]) == 1 {
			found = i
		}
	}
	if found < 0 || s.expired(known[found]) {
		return Identity{}, false
	}
	return known[found], true
}

// Valid reports whether an identity's token still works.
func (s *Store) Valid(i Identity) bool {
	known, err := s.current()
	if err != nil {
		return false
	}
	at := slices.IndexFunc(known, i.Same)
	return at >= 0 && !s.expired(known[at])
}

func (s *Store) expired(i Identity) bool { return !i.Expires.IsZero() && !s.now().Before(i.Expires) }

// Err tells why tokens cannot be read; nil when they can.
func (s *Store) Err() error {
	_, err := s.current()
	return err
}

// current reads the files again if they changed.
func (s *Store) current() ([]Identity, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stamps := [2]stamp{stampOf(s.root), stampOf(s.named)}
	if stamps == s.stamps && (s.known != nil || s.err != nil) {
		return s.known, s.err
	}
	s.stamps = stamps
	s.known, s.err = s.readAll()
	return s.known, s.err
}

func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{size: info.Size(), mtime: info.ModTime(), inode: inode(info), mode: info.Mode(), there: true}
}

func (s *Store) readAll() ([]Identity, error) {
	known := []Identity{}
	secret, err := readSecret(s.root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		known = append(known, Identity{Name: rootName, Scopes: Scopes(), hash: sha256.Sum256([]byte(secret))})
	}
	list, err := s.readNamed()
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		i := Identity{Name: r.Name, Scopes: r.Scopes, Namespaces: r.Namespaces, Expires: r.Expires}
		hash, err := hex.DecodeString(r.Hash)
		if err != nil || len(hash) != len(i.hash) {
			return nil, fmt.Errorf("%s: the hash of %s is damaged: revoke it and create it again", s.named, r.Name)
		}
		copy(i.hash[:], hash)
		known = append(known, i)
	}
	return known, nil
}

// record is a named token in the file.
type record struct {
	Name       string    `json:"name"`
	Hash       string    `json:"sha256"`
	Scopes     []Scope   `json:"scopes"`
	Namespaces []string  `json:"namespaces,omitempty"`
	Created    time.Time `json:"created"`
	Expires    time.Time `json:"expires,omitzero"`
}

func (s *Store) readNamed() ([]record, error) {
	content, err := readPrivate(s.named)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var list []record
	if err := json.Unmarshal(content, &list); err != nil {
		return nil, fmt.Errorf("%s is no list of tokens: %w", s.named, err)
	}
	return list, nil
}
