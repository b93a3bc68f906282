// Package backup is the format of backups on disk: what a folder holds, how it
// is named, when it is complete, and which ones are kept.
//
//	DIR/<namespace>-<time>-<seq>/
//	  graph.db        a copy of the namespace's store at one seq
//	  manifest.json   what it is, with sizes and SHA-256 of the files
//
// A folder has this name only when it is complete and was verified; until then
// it is called .tmp-*. What is in graph.db this package does not know.
package backup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"engram/graph/internal/store"
)

// Format is the version of the manifest.
//
//	1  first
const Format = 1

// The files of a backup.
const (
	GraphName    = "graph.db"
	manifestName = "manifest.json"
)

const (
	kind        = "engram backup"
	maxManifest = 1 << 20 // bytes
)

// Manifest tells what a backup is.
type Manifest struct {
	Kind      string    `json:"kind"`
	Format    int       `json:"format"`
	Database  string    `json:"database"` // the database's tag in hex
	Namespace string    `json:"namespace"`
	Seq       uint64    `json:"seq"`
	Taken     time.Time `json:"taken"` // UTC
	Nodes     int64     `json:"nodes"`
	Edges     int64     `json:"edges"`
	Files     []File    `json:"files"`
	// Checksum is the SHA-256 of the manifest with an empty checksum.
	Checksum string `json:"checksum"`
}

// File is one file of a backup.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// Graph is the entry of graph.db; every manifest that Read accepts has it.
func (m *Manifest) Graph() File { return m.Files[0] }

// encode writes a manifest, which is the same for the same content.
func (m Manifest) encode() ([]byte, error) {
	m.Kind, m.Checksum = kind, ""
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(text)
	m.Checksum = hex.EncodeToString(sum[:])
	text, err = json.MarshalIndent(m, "", "  ")
	return append(text, '\n'), err
}

// Write writes the manifest into a backup's folder, in place of an older one.
func (m *Manifest) Write(dir string) error {
	text, err := m.encode()
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, manifestName), text, fileMode)
}

// Decode reads a manifest. path is named in errors: a manifest of another
// program wraps store.ErrForeign, of a newer version store.ErrNewer, and one
// that is not what was written store.ErrDamaged.
func Decode(path string, text []byte) (*Manifest, error) {
	wrong := func(err error, detail, hint string) (*Manifest, error) {
		return nil, &store.FileError{Err: err, Path: path, Detail: detail, Hint: hint}
	}
	var head struct {
		Kind   string `json:"kind"`
		Format int    `json:"format"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return wrong(store.ErrDamaged, "the manifest cannot be read: "+err.Error(), "use another backup")
	}
	if head.Kind != kind {
		return wrong(store.ErrForeign, "it is no manifest of a backup", "check the path")
	}
	if head.Format > Format {
		return wrong(store.ErrNewer, fmt.Sprintf("its format is %d and this program knows up to %d", head.Format, Format), "use the newer program")
	}
	var m Manifest
	err := json.Unmarshal(text, &m)
	var again []byte
	if err == nil {
		again, err = m.encode()
	}
	if err != nil || !bytes.Equal(again, text) {
		return wrong(store.ErrDamaged, "the manifest is not what was written", "use another backup")
	}
	if len(m.Files) != 1 || m.Files[0].Name != GraphName || m.Files[0].Size < 0 {
		return wrong(store.ErrDamaged, "the manifest does not tell of "+GraphName, "use another backup")
	}
	return &m, nil
}

// Read reads the manifest of a backup and compares the sizes of its files. Their
// content is compared by Copy and Verify.
func Read(dir string) (*Manifest, error) {
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &store.FileError{Err: store.ErrMissing, Path: dir, Hint: "check the path of the backup"}
	case err != nil:
		return nil, &store.FileError{Err: err, Path: dir}
	case !info.IsDir():
		return nil, &store.FileError{Err: store.ErrForeign, Path: dir, Detail: "it is not a directory", Hint: "give the folder of one backup"}
	}
	path := filepath.Join(dir, manifestName)
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &store.FileError{
			Err: store.ErrForeign, Path: dir, Detail: "it has no " + manifestName,
			Hint: "give the folder of one backup; one that was interrupted is of no use",
		}
	}
	if err != nil {
		return nil, &store.FileError{Err: err, Path: path}
	}
	m, err := Decode(path, text)
	if err != nil {
		return nil, err
	}
	for _, f := range m.Files {
		if err := checkSize(filepath.Join(dir, f.Name), f.Size); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func readSmall(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // read only
	text, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err == nil && len(text) > maxManifest {
		err = fmt.Errorf("it has more than %d bytes: %w", maxManifest, store.ErrDamaged)
	}
	return text, err
}

func checkSize(path string, want int64) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return damaged(path, "it is missing")
	case err != nil:
		return &store.FileError{Err: err, Path: path}
	case !info.Mode().IsRegular():
		return damaged(path, "it is not a regular file")
	case info.Size() != want:
		return damaged(path, fmt.Sprintf("it has %d bytes, the manifest tells of %d", info.Size(), want))
	}
	return nil
}

func damaged(path, detail string) error {
	return &store.FileError{Err: store.ErrDamaged, Path: path, Detail: detail, Hint: "use another backup"}
}
