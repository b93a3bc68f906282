package faulttest

import (
	"archive/zip"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph/internal/faulttest/workload"
)

// fixtures are databases as each version of the formats wrote them, kept for
// ever; beside each is what it holds, in the words of workload.Lines. To add one
// for a new format, set ENGRAM_FIXTURE to its name and run the test.
const fixtures = "testdata/formats"

// TestFaultF26OlderFormats opens a copy of each fixture: it holds what it held,
// passes check, takes a write, and holds that when opened again.
func TestFaultF26OlderFormats(t *testing.T) {
	if name := os.Getenv("ENGRAM_FIXTURE"); name != "" {
		makeFixture(t, filepath.Join(fixtures, name))
	}
	found, err := filepath.Glob(filepath.Join(fixtures, "*.zip"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no fixture in %s: %v", fixtures, err)
	}
	for _, archive := range found {
		t.Run(filepath.Base(archive), func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			if err := unzip(archive, dir); err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(archive, ".zip") + ".txt")
			if err != nil {
				t.Fatal(err)
			}
			if got := content(t, dir); got != string(want) {
				t.Errorf("it holds\n%s\nwant\n%s", got, want)
			}
			h := mustOpen(t, dir, false, workload.Options())
			if err := bulk(h.DB, 3); err != nil {
				t.Errorf("writing to it: %v", err)
			}
			before := nodes(h.DB)
			if err := errors.Join(checked(h.DB), h.close()); err != nil {
				t.Error(err)
			}
			if h := mustOpen(t, dir, false, workload.Options()); nodes(h.DB) != before {
				t.Errorf("%d nodes when opened again, want %d", nodes(h.DB), before)
			}
		})
	}
}

// content is what a database holds, a line for each thing.
func content(t *testing.T, dir string) string {
	t.Helper()
	h, err := open(dir, false, workload.Options())
	if err != nil {
		t.Fatal(err)
	}
	tx, err := h.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	lines, err := workload.Lines(tx)
	tx.Rollback()
	if err := errors.Join(err, h.close()); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n") + "\n"
}

func makeFixture(t *testing.T, name string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	populate(t, dir, 1, 25)
	if err := os.MkdirAll(filepath.Dir(name), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name+".txt", []byte(content(t, dir)), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name + ".zip")
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	if err := errors.Join(z.AddFS(os.DirFS(dir)), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func unzip(archive, dir string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return err
	}
	defer func() { _ = z.Close() }()
	return fs.WalkDir(z, ".", func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		at := filepath.Join(dir, filepath.FromSlash(name))
		if e.IsDir() {
			return os.MkdirAll(at, 0o700)
		}
		in, err := z.Open(name)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(in)
		if err := errors.Join(err, in.Close()); err != nil {
			return err
		}
		return os.WriteFile(at, b, 0o600)
	})
}
