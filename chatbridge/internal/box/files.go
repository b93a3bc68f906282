// Package box confines what a model does to the machine: files below one folder,
// commands without a shell, pages of public hosts.
package box

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Limits of file tools.
const (
	maxRead    = 1 << 20 // bytes of a file
	maxWrite   = 4 << 20
	maxEntries = 1000 // of a folder, and matches of a search
	maxWalked  = 20_000
	maxPath    = 1024
)

// Files are the files below one folder. They must be closed.
type Files struct {
	root *os.Root
	dir  string
}

// OpenFiles opens a folder, which must exist.
func OpenFiles(dir string) (*Files, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("the workspace %s cannot be opened: %w", dir, plain(err))
	}
	return &Files{root, dir}, nil
}

// Dir is the folder. Close closes it.
func (f *Files) Dir() string { return f.dir }

// Close closes the folder.
func (f *Files) Close() error { return f.root.Close() }

// plain is an error without the path that the system put before it.
func plain(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// Clean makes a path that a model gave one below the folder, and refuses what cannot be.
func Clean(name string) (string, error) {
	switch {
	case name == "":
		return "", errors.New("the path is empty")
	case len(name) > maxPath:
		return "", fmt.Errorf("the path has more than %d bytes", maxPath)
	case !utf8.ValidString(name), strings.ContainsFunc(name, unicode.IsControl):
		return "", errors.New("the path holds characters that names of files do not have")
	case strings.HasPrefix(name, "/"), strings.Contains(name, `\`), strings.Contains(strings.ToLower(name), "%2e"):
		return "", fmt.Errorf("%q is outside of the workspace, or no plain path below it", name)
	case slices.Contains(strings.Split(name, "/"), ".."):
		return "", fmt.Errorf("%q leaves the workspace", name)
	}
	return path.Clean(name), nil
}

// Protected tells whether a path is one that runs programs or holds secrets, in
// whatever letters it is written: it is never written without being asked for.
func Protected(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		part = strings.TrimRight(strings.ToLower(norm.NFKC.String(part)), ". ")
		if strings.HasPrefix(part, ".") && part != "." || slices.Contains(protected, part) {
			return true
		}
	}
	return false
}

// protected are names beside those that begin with a dot.
var protected = []string{"engram-data", "makefile", "package.json", "mcp.json", "authorized_keys", "token", "conftest.py", "setup.py"}

// open opens a regular file without waiting for what is none.
func (f *Files) open(name string) (*os.File, error) {
	file, err := f.root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, plain(err))
	}
	info, err := file.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is no regular file")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", name, plain(err)), file.Close())
	}
	return file, nil
}

// Read reads a file of text.
func (f *Files) Read(name string) (string, error) {
	name, err := Clean(name)
	if err != nil {
		return "", err
	}
	file, err := f.open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxRead+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, plain(err))
	}
	if len(text) > maxRead {
		return "", fmt.Errorf("%s has more than %d bytes", name, maxRead)
	}
	if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return "", fmt.Errorf("%s is no text", name)
	}
	return string(text), nil
}

// Hash is what a file holds, as a hash; "absent" where there is none.
func (f *Files) Hash(name string) string {
	name, err := Clean(name)
	if err != nil {
		return "refused"
	}
	file, err := f.open(name)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return "absent"
		}
		return "refused"
	}
	defer file.Close()
	h := sha256.New()
	if _, err := io.Copy(h, io.LimitReader(file, maxWrite+1)); err != nil {
		return "refused"
	}
	return hex.EncodeToString(h.Sum(nil))
}

// List lists a folder: names, folders with a slash behind, sizes.
func (f *Files) List(name string) (string, error) {
	name, err := Clean(name)
	if err != nil {
		return "", err
	}
	entries, err := fs.ReadDir(f.root.FS(), name)
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, plain(err))
	}
	var b strings.Builder
	for i, e := range entries {
		if i == maxEntries {
			fmt.Fprintf(&b, "[%d more entries are left out]\n", len(entries)-i)
			break
		}
		switch info, err := e.Info(); {
		case e.IsDir():
			b.WriteString(Visible(e.Name()) + "/\n")
		case err == nil && info.Mode().IsRegular():
			fmt.Fprintf(&b, "%s (%d bytes)\n", Visible(e.Name()), info.Size())
		default:
			b.WriteString(Visible(e.Name()) + " (no regular file)\n")
		}
	}
	if b.Len() == 0 {
		return "The folder is empty.", nil
	}
	return b.String(), nil
}

// Search finds lines that hold a text, letters of either case.
func (f *Files) Search(text, below string) (string, error) {
	below, err := Clean(below)
	if err != nil {
		return "", err
	}
	if text == "" {
		return "", errors.New("the text to look for is empty")
	}
	var b strings.Builder
	found, walked := 0, 0
	err = fs.WalkDir(f.root.FS(), below, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			if name == below {
				return err
			}
			return nil // a folder that cannot be read is left out
		}
		if walked++; walked > maxWalked {
			return fs.SkipAll
		}
		if d.IsDir() && name != below && d.Name() == ".git" {
			return fs.SkipDir
		}
		if !d.Type().IsRegular() {
			return nil
		}
		content, err := f.Read(name)
		if err != nil {
			return nil // no text, or too large
		}
		n := 0
		for line := range strings.Lines(content) {
			n++
			if !strings.Contains(strings.ToLower(line), strings.ToLower(text)) {
				continue
			}
			if found++; found > maxEntries {
				return fs.SkipAll
			}
			fmt.Fprintf(&b, "%s:%d: %s\n", Visible(name), n, Cut(strings.TrimRight(line, "\r\n"), 300))
		}
		return nil
	})
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", below, plain(err))
	case found == 0 && walked <= maxWalked:
		return "Nothing holds this text.", nil
	case found > maxEntries || walked > maxWalked:
		b.WriteString("[there is more; search below a folder, or for a longer text]\n")
	}
	return b.String(), nil
}

// Write writes a file whole, with the folders above it: what was there stays until the
// new one is complete.
func (f *Files) Write(name, content string) error {
	name, err := Clean(name)
	if err != nil {
		return err
	}
	if name == "." || strings.HasSuffix(name, "/") {
		return fmt.Errorf("%s is a folder", name)
	}
	if len(content) > maxWrite {
		return fmt.Errorf("the content has more than %d bytes", maxWrite)
	}
	mode, keep := fs.FileMode(0o644), false
	if info, err := f.root.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no regular file", name)
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			return fmt.Errorf("%s has other names as well (hard links); it is not written", name)
		}
		mode, keep = info.Mode().Perm(), true
	}
	if dir := path.Dir(name); dir != "." {
		if err := f.root.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("%s: %w", dir, plain(err))
		}
	}
	return f.replace(name, content, mode, keep)
}

func (f *Files) replace(name, content string, mode fs.FileMode, keep bool) (err error) {
	temporary := path.Join(path.Dir(name), ".engram-writing-"+path.Base(name))
	file, err := f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) { // left behind by a process that was killed
		if err = f.root.Remove(temporary); err == nil {
			file, err = f.root.OpenFile(temporary, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
		}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", name, plain(err))
	}
	_, err = file.WriteString(content)
	if keep {
		err = errors.Join(err, file.Chmod(mode)) // whatever new files get
	}
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = f.root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("%s: %w", name, plain(err)), f.root.Remove(temporary))
	}
	return nil
}

// Edited is a file with one text in it replaced, which must be there exactly once.
func (f *Files) Edited(name, old, replacement string) (string, error) {
	content, err := f.Read(name)
	if err != nil {
		return "", err
	}
	switch n := strings.Count(content, old); {
	case old == "":
		return "", errors.New("the text to replace is empty")
	case n != 1:
		return "", fmt.Errorf("%s holds the text to replace %d times; it must be there once", name, n)
	}
	return strings.Replace(content, old, replacement, 1), nil
}

// Cut cuts a text to n bytes between characters, and says so.
func Cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	end := n
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s\n[cut here: %d of %d bytes are shown]", text[:end], end, len(text))
}
