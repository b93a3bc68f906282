package snapfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"engram/graph/internal/store"
)

var testHeader = Header{Content: 3, Tag: 0xabcdef, Seq: 42}

// testChunks are of all sizes that matter: none, one byte, many.
func testChunks() [][]byte {
	return [][]byte{{}, {7}, bytes.Repeat([]byte("abc"), 5000), {1, 2, 3}}
}

func write(t testing.TB, path string, h Header, chunks [][]byte) {
	t.Helper()
	size, err := Write(path, h, func(emit Emit) error {
		for i, c := range chunks {
			if err := emit(byte(i+1), c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != size || info.Mode().Perm() != 0o600 {
		t.Fatalf("size %d, mode %v, %v; want size %d", info.Size(), info.Mode(), err, size)
	}
}

// readAll returns all chunks, or the first error.
func readAll(path string, h *Header) (chunks [][]byte, err error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	*h = f.Header
	for i := range f.Len() {
		c, err := f.Read(i, nil)
		if err != nil {
			return nil, err
		}
		if f.Kind(i) != byte(i+1) {
			return nil, fmt.Errorf("chunk %d has kind %d", i, f.Kind(i))
		}
		chunks = append(chunks, c)
	}
	return chunks, nil
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.snap")
	write(t, path, Header{}, nil)
	write(t, path, testHeader, testChunks()) // over the one before
	var h Header
	got, err := readAll(path, &h)
	if err != nil || h != testHeader || fmt.Sprint(got) != fmt.Sprint(testChunks()) {
		t.Fatalf("%v: header %+v, %d chunks", err, h, len(got))
	}
	if _, err := os.Stat(path + NewSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file aside is left: %v", err)
	}
}

func TestAFailedWriteLeavesTheOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.snap")
	write(t, path, testHeader, testChunks())
	stop := errors.New("stop")
	_, err := Write(path, Header{}, func(emit Emit) error { return errors.Join(emit(1, []byte("new")), stop) })
	if !errors.Is(err, stop) {
		t.Fatalf("got %v", err)
	}
	var h Header
	if got, err := readAll(path, &h); err != nil || len(got) != 4 || h != testHeader {
		t.Fatalf("%v, %d chunks", err, len(got))
	}
	if _, err := os.Stat(path + NewSuffix); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file aside is left: %v", err)
	}
}

// TestDamageIsFound flips each bit of the ends of a file and some of every byte
// range, and cuts it at every length.
func TestDamageIsFound(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.snap")
	write(t, path, testHeader, testChunks())
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, b []byte) {
		t.Helper()
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var h Header
		_, err := readAll(path, &h)
		if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrForeign) && !errors.Is(err, store.ErrNewer) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	for at := range whole {
		if at > 64 && at < len(whole)-100 && at%97 != 0 {
			continue
		}
		for bit := range 8 {
			b := bytes.Clone(whole)
			b[at] ^= 1 << bit
			try(fmt.Sprintf("bit %d of byte %d", bit, at), b)
		}
	}
	for n := 0; n < len(whole); n += 61 {
		try(fmt.Sprintf("cut at %d", n), whole[:n])
	}
	try("a byte more", append(bytes.Clone(whole), 0))
}

// TestChunksKeepTheirPlace swaps two chunks of the same length with their table
// entries' checksums, and takes one from another database's file.
func TestChunksKeepTheirPlace(t *testing.T) {
	a := Header{Tag: 1, Seq: 5}
	payload := []byte("the same bytes")
	if a.sum(0, 1, payload) == a.sum(1, 1, payload) {
		t.Error("the place is not in the checksum")
	}
	for _, other := range []Header{{Tag: 2, Seq: 5}, {Tag: 1, Seq: 6}, {Tag: 1, Seq: 5, Content: 1}} {
		if a.sum(0, 1, payload) == other.sum(0, 1, payload) {
			t.Errorf("%+v has the checksum of %+v", other, a)
		}
	}
	if a.sum(0, 1, payload) == a.sum(0, 2, payload) {
		t.Error("the kind is not in the checksum")
	}
}

func TestNewerAndMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.snap")
	if _, err := Open(path); !errors.Is(err, store.ErrMissing) {
		t.Errorf("missing: got %v", err)
	}
	write(t, path, testHeader, nil)
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[8] = Format + 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(path); !errors.Is(err, store.ErrNewer) {
		t.Errorf("newer: got %v", err)
	}
}

func TestSetAside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.snap")
	if err := SetAside(path); err != nil {
		t.Errorf("nothing to set aside: %v", err)
	}
	for _, content := range []string{"one", "two"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := SetAside(path); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(path + DamagedSuffix)
		if err != nil || string(got) != content {
			t.Errorf("%q, %v", got, err)
		}
	}
}

// FuzzFile reads files with any content: an error, or chunks, never a panic.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed.snap")
	write(f, path, testHeader, testChunks())
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add(whole[:50])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		path := filepath.Join(t.TempDir(), "x.snap")
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		var h Header
		_, _ = readAll(path, &h)
	})
}
