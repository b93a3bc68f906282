package archive_test

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/server/archive"
)

// tarOf makes an archive of headers; those of plain files have the content "x".
func tarOf(t *testing.T, headers ...tar.Header) *bytes.Buffer {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range headers {
		if h.Typeflag == tar.TypeReg {
			h.Size = 1
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := io.WriteString(w, "x"); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &b
}

// place is an empty folder in another one, which tells what is written beside it.
func place(t *testing.T) (root *os.Root, above string) {
	t.Helper()
	above = t.TempDir()
	if err := os.Mkdir(filepath.Join(above, "in"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(filepath.Join(above, "in"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := root.Close(); err != nil {
			t.Error(err)
		}
	})
	return root, above
}

// TestS29Refused unpacks archives that lead out of the folder, hold links and devices,
// odd names, the same name twice, more entries than are allowed, or less than they say:
// each is refused, and nothing is written beside the folder.
func TestS29Refused(t *testing.T) {
	reg := func(name string) tar.Header { return tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o777} }
	for _, c := range []struct {
		headers []tar.Header
		why     string
	}{
		{[]tar.Header{reg("../evil")}, "leads out"},
		{[]tar.Header{reg("a/../../evil")}, "leads out"},
		{[]tar.Header{reg("/etc/evil")}, "leads out"},
		{[]tar.Header{reg("a//b")}, "leads out"},
		{[]tar.Header{reg("a/./b")}, "leads out"},
		{[]tar.Header{reg(`..\evil`)}, "backslash"},
		{[]tar.Header{reg("a\nb")}, "control character"},
		{[]tar.Header{reg("a\x1b[31mb")}, "control character"},
		{[]tar.Header{reg("caf\xe9")}, "UTF-8"},
		{[]tar.Header{reg(strings.Repeat("a/", 600) + "b")}, "longer"},
		{[]tar.Header{reg(strings.Repeat("a/", 101) + "b")}, "deep"},
		{[]tar.Header{reg(strings.Repeat("a", 256))}, "a part of"},
		{[]tar.Header{{Typeflag: tar.TypeSymlink, Name: "l", Linkname: "../evil"}, reg("l/x")}, "neither a file nor a folder"},
		{[]tar.Header{{Typeflag: tar.TypeLink, Name: "l", Linkname: "../evil"}}, "neither a file nor a folder"},
		{[]tar.Header{{Typeflag: tar.TypeFifo, Name: "p"}}, "neither a file nor a folder"},
		{[]tar.Header{{Typeflag: tar.TypeChar, Name: "c"}}, "neither a file nor a folder"},
		{[]tar.Header{reg("a"), reg("a")}, "stands twice"},
		{[]tar.Header{reg("a"), reg("a/b")}, "a file and a folder"},
		{[]tar.Header{{Typeflag: tar.TypeDir, Name: "../up/"}}, "leads out"},
	} {
		root, above := place(t)
		err := archive.Unpack(context.Background(), tarOf(t, c.headers...), root)
		if !errors.Is(err, archive.ErrRefused) || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%q: %v, want %s", c.headers[0].Name, err, c.why)
		}
		if strings.ContainsAny(fmt.Sprint(err), "\n\x1b") {
			t.Errorf("%q is told as it is", c.headers[0].Name)
		}
		if entries, err := os.ReadDir(above); err != nil || len(entries) != 1 {
			t.Errorf("%q: beside the folder is %v, %v", c.headers[0].Name, entries, err)
		}
	}
	whole := tarOf(t, reg("a"), reg("b")).Bytes()
	for _, n := range []int{100, 512, 600, 1100} { // in a header, behind it, in a file, in the second header
		root, _ := place(t)
		if err := archive.Unpack(context.Background(), bytes.NewReader(whole[:n]), root); !errors.Is(err, archive.ErrRefused) {
			t.Errorf("cut off at %d: %v", n, err)
		}
	}
	root, _ := place(t)
	if err := archive.Unpack(context.Background(), strings.NewReader(strings.Repeat("no tar at all ", 100)), root); !errors.Is(err, archive.ErrRefused) {
		t.Errorf("no tar: %v", err)
	}
}

// many is an archive of a million entries for the folder itself.
type many struct {
	block []byte
	left  int
	at    int
}

func (m *many) Read(p []byte) (int, error) {
	if m.left == 0 {
		return 0, io.EOF
	}
	n := copy(p, m.block[m.at:])
	if m.at += n; m.at == len(m.block) {
		m.at, m.left = 0, m.left-1
	}
	return n, nil
}

// TestS29Entries: an archive of a million entries is given up at the bound.
func TestS29Entries(t *testing.T) {
	block := tarOf(t, tar.Header{Typeflag: tar.TypeDir, Name: "./"}).Bytes()[:512]
	root, _ := place(t)
	m := &many{block: block, left: 1_000_000}
	err := archive.Unpack(context.Background(), m, root)
	if !errors.Is(err, archive.ErrRefused) || !strings.Contains(err.Error(), "more than 250000") || m.left < 749_000 {
		t.Errorf("%v, with %d left", err, m.left)
	}
}

// TestPack sends a folder: what arrives is the same, without links and hidden files, and
// with names alone of what is not chosen.
func TestPack(t *testing.T) {
	from, _ := place(t)
	for name, text := range map[string]string{"a.md": "one", "d/e/b.md": "two", "d/big.png": "many bytes", ".hidden/x": "no", ".x": "no"} {
		if err := from.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := from.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := from.Symlink("a.md", "link.md"); err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		left, err := archive.Pack(context.Background(), b, "top", from, func(name string) bool { return strings.HasSuffix(name, ".md") })
		if err != nil || left != 1 {
			t.Fatalf("%d left, %v", left, err)
		}
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the same folder gives other bytes")
	}
	into, above := place(t)
	if err := archive.Unpack(context.Background(), &first, into); err != nil {
		t.Fatal(err)
	}
	got := ""
	err := filepath.WalkDir(filepath.Join(above, "in"), func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(path)
			name, _ := filepath.Rel(filepath.Join(above, "in"), path)
			got += fmt.Sprintf("%s=%s ", name, text)
		}
		return err
	})
	if want := "top/a.md=one top/d/big.png= top/d/e/b.md=two "; err != nil || got != want {
		t.Errorf("got %s, want %s; %v", got, want, err)
	}
}
