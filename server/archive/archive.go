// Package archive sends a folder through a stream as a tar file, and unpacks one that
// nobody has to trust.
package archive

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Type is the content type of an archive.
const Type = "application/x-tar"

// Bounds of an archive that is unpacked.
const (
	MaxEntries = 250_000 // files and folders
	maxName    = 1024    // bytes of a path
	maxPart    = 255     // bytes of one name in it
	maxDepth   = 100     // folders in each other
)

// ErrRefused is about an archive that is not unpacked.
var ErrRefused = errors.New("the archive is refused")

func refuse(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrRefused, fmt.Errorf(format, args...))
}

// Unpack writes the files and folders of an archive below an empty folder. It refuses an
// archive with more than MaxEntries entries, with anything but plain files and folders,
// with a name that leads out of the folder, is there already or has characters that
// control a terminal, and one that is cut off. It makes files of mode 0600 and folders
// of 0700, and no others; what was unpacked before an error stays for the caller to
// remove.
func Unpack(ctx context.Context, r io.Reader, into *os.Root) error {
	from := &ending{r: r}
	in := tar.NewReader(from)
	for entries := 0; ; {
		if err := ctx.Err(); err != nil {
			return err
		}
		h, err := in.Next()
		if errors.Is(err, io.EOF) && !from.ended {
			return nil
		}
		if err != nil {
			return unreadable(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if entries++; entries > MaxEntries {
			return refuse("it has more than %d files and folders", MaxEntries)
		}
		if err := unpack(in, h, into); err != nil {
			return err
		}
	}
}

// ending notes that a stream has ended: a whole archive ends before, with blocks that
// say so.
type ending struct {
	r     io.Reader
	ended bool
}

// Read reads a piece.
func (c *ending) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.ended = c.ended || n == 0 && errors.Is(err, io.EOF)
	return n, err
}

// unreadable tells errors of the stream from those of what is in it.
func unreadable(err error) error {
	if errors.Is(err, tar.ErrHeader) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return refuse("it is no tar file, or cut off")
	}
	return err
}

func unpack(in *tar.Reader, h *tar.Header, into *os.Root) error {
	dir := h.Typeflag == tar.TypeDir
	if !dir && h.Typeflag != tar.TypeReg {
		return refuse("%q is neither a file nor a folder", h.Name)
	}
	name := strings.TrimPrefix(h.Name, "./")
	if dir {
		name = strings.TrimSuffix(name, "/")
		if name == "" || name == "." {
			return nil
		}
	}
	if why := unfit(name); why != "" {
		return refuse("the name %q %s", h.Name, why)
	}
	if dir {
		return makeDir(into, name)
	}
	if err := makeDir(into, path.Dir(name)); err != nil {
		return err
	}
	f, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return refuse("the name %q stands twice", h.Name)
	}
	if err != nil {
		return err
	}
	_, err = io.Copy(f, in)
	return errors.Join(unreadable(err), f.Close())
}

// unfit tells what is wrong with a name, empty if nothing is.
func unfit(name string) string {
	switch {
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case len(name) > maxName:
		return fmt.Sprintf("is longer than %d bytes", maxName)
	case strings.ContainsFunc(name, unicode.IsControl):
		return "has a control character"
	case strings.Contains(name, "\\"):
		return "has a backslash"
	case !fs.ValidPath(name) || name == ".":
		return "leads out of the folder"
	case strings.Count(name, "/") > maxDepth:
		return fmt.Sprintf("lies more than %d folders deep", maxDepth)
	}
	for part := range strings.SplitSeq(name, "/") {
		if len(part) > maxPart {
			return fmt.Sprintf("has a part of more than %d bytes", maxPart)
		}
	}
	return ""
}

// makeDir makes a folder with those above it, which may be there.
func makeDir(into *os.Root, name string) error {
	if name == "." {
		return nil
	}
	err := into.MkdirAll(name, 0o700)
	if errors.Is(err, fs.ErrExist) || err != nil && strings.Contains(err.Error(), "not a directory") {
		return refuse("%q is a file and a folder", name)
	}
	return err
}

// Pack writes a folder as an archive in which all lies below top, in the order of
// names. Hidden files, and what is neither a file nor a folder, are left out; the latter
// are ending. Of files that whole, if it is not nil, does not choose, only the names
// are written.
func Pack(ctx context.Context, w io.Writer, top string, from *os.Root, whole func(name string) bool) (left int, err error) {
	out := tar.NewWriter(w)
	err = fs.WalkDir(from.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		switch {
		case name != "." && strings.HasPrefix(d.Name(), "."):
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir():
			return out.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: path.Join(top, name) + "/", Mode: 0o700, Format: tar.FormatPAX})
		case !d.Type().IsRegular():
			left++
			return nil
		}
		return packFile(out, path.Join(top, name), name, from, whole == nil || whole(name))
	})
	if err != nil {
		return left, err
	}
	return left, out.Close()
}

// File is a file that gets a name in an archive.
type File struct {
	Name string
	File *os.File
}

// PackFiles writes files, from their begin, as an archive.
func PackFiles(ctx context.Context, w io.Writer, files ...File) error {
	out := tar.NewWriter(w)
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, err := f.File.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if err := packOpen(out, f.Name, f.File); err != nil {
			return err
		}
	}
	return out.Close()
}

// packFile writes one file of a folder, or its name alone.
func packFile(out *tar.Writer, as, name string, from *os.Root, whole bool) error {
	if !whole {
		return out.WriteHeader(header(as))
	}
	f, err := from.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	return packOpen(out, as, f)
}

func header(name string) *tar.Header {
	return &tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Format: tar.FormatPAX}
}

func packOpen(out *tar.Writer, as string, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	h := header(as)
	h.Size = info.Size()
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	if _, err := io.Copy(out, io.LimitReader(f, h.Size)); err != nil {
		return err
	}
	return out.Flush() // an error if the file became shorter meanwhile
}
