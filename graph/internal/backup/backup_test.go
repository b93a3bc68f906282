package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"engram/graph/internal/store"
)

var ctx = context.Background()

func open(t *testing.T, dir string) *Target {
	t.Helper()
	target, err := OpenTarget(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = target.Close() })
	return target
}

func manifest(namespace string, minute int) *Manifest {
	return &Manifest{Database: "00000000ab", Namespace: namespace, Seq: 7, Taken: time.Date(2030, 1, 2, 3, minute, 5, 0, time.UTC)}
}

func text(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func fine(string) error { return nil }

func write(t *testing.T, target *Target, m *Manifest) string {
	t.Helper()
	path, err := target.Write(ctx, m, text("the content"), fine)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestWriteAndRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "backups")
	target := open(t, dir)
	path := write(t, target, manifest("main", 4))
	if want := filepath.Join(dir, "main-20300102T030405Z-7"); path != want {
		t.Errorf("the backup is %s; want %s", path, want)
	}
	if again := write(t, target, manifest("main", 4)); again != path+"-2" {
		t.Errorf("the second one of that second is %s", again)
	}
	m, err := Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if m.Namespace != "main" || m.Seq != 7 || m.Database != "00000000ab" || m.Graph().Size != 11 || !m.Taken.Equal(manifest("", 4).Taken) {
		t.Errorf("the manifest tells %+v", m)
	}
	if err := Verify(ctx, path, m); err != nil {
		t.Error(err)
	}
	to := filepath.Join(t.TempDir(), "copy")
	if err := Copy(ctx, path, m, to); err != nil {
		t.Error(err)
	}
	if got, err := os.ReadFile(to); string(got) != "the content" {
		t.Errorf("the copy is %q, %v", got, err)
	}
}

// TestNothingIsLeft: what fails leaves no folder, of any name.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir)
	boom := errors.New("boom")
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for name, try := range map[string]func() (string, error){
		"copying": func() (string, error) {
			return target.Write(ctx, manifest("main", 4), func(io.Writer) error { return boom }, fine)
		},
		"verifying": func() (string, error) {
			return target.Write(ctx, manifest("main", 4), text("x"), func(string) error { return boom })
		},
		"canceled": func() (string, error) { return target.Write(ended, manifest("main", 4), text("x"), fine) },
	} {
		if _, err := try(); !errors.Is(err, boom) && !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}

// TestChangedWhileItWasWritten: what is read back must be what was written.
func TestChangedWhileItWasWritten(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir)
	_, err := target.Write(ctx, manifest("main", 4), func(w io.Writer) error {
		f := names(t, dir)[0]
		if err := text("the content")(w); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, f, GraphName), []byte("THE content"), 0o600)
	}, fine)
	if !errors.Is(err, store.ErrDamaged) {
		t.Errorf("Write = %v; want damaged", err)
	}
}

func TestOneBackupAtATime(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".tmp-dead"), 0o700); err != nil {
		t.Fatal(err)
	}
	target := open(t, dir)
	if left := names(t, dir); len(left) > 0 {
		t.Errorf("leftovers stay: %v", left)
	}
	if _, err := OpenTarget(dir); !errors.Is(err, store.ErrBusy) {
		t.Errorf("a second one: %v; want busy", err)
	}
	if err := target.Close(); err != nil {
		t.Error(err)
	}
	open(t, dir)
}

// TestEveryChangedByteIsFound flips each byte of a backup's files.
func TestEveryChangedByteIsFound(t *testing.T) {
	dir := t.TempDir()
	path := write(t, open(t, dir), manifest("main", 4))
	for _, name := range []string{manifestName, GraphName} {
		file := filepath.Join(path, name)
		whole, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		try := func(what string, content []byte) {
			t.Helper()
			if err := os.WriteFile(file, content, 0o600); err != nil {
				t.Fatal(err)
			}
			m, err := Read(path)
			if err == nil {
				err = Verify(ctx, path, m)
			}
			known := errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrForeign) || errors.Is(err, store.ErrNewer)
			if !known || !strings.Contains(err.Error(), path) {
				t.Errorf("%s %s: %v", name, what, err)
			}
		}
		for at := range whole {
			flipped := slices.Clone(whole)
			flipped[at] ^= 1
			try(fmt.Sprintf("with byte %d flipped", at), flipped)
		}
		for _, n := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
			try(fmt.Sprintf("cut to %d", n), whole[:n])
		}
		try("with more behind it", append(slices.Clone(whole), '\n'))
		if err := os.WriteFile(file, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	link := write(t, open(t, filepath.Join(dir, "b")), manifest("main", 4))
	if err := errors.Join(os.Remove(filepath.Join(link, GraphName)), os.Symlink(file, filepath.Join(link, GraphName))); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "missing"): store.ErrMissing,
		file:                          store.ErrForeign,
		dir:                           store.ErrForeign,
		link:                          store.ErrDamaged,
	} {
		if _, err := Read(path); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", path, err, want)
		}
	}
}

func TestRetain(t *testing.T) {
	dir := t.TempDir()
	target := open(t, dir)
	var main []string
	for minute := range 4 {
		main = append(main, write(t, target, manifest("main", 40-minute))) // the newest first
	}
	other := write(t, target, manifest("main-2", 1))
	foreign := manifest("main", 1)
	foreign.Database = "00000000cd"
	elsewhere := write(t, target, foreign)
	if err := os.Mkdir(filepath.Join(dir, "main-notes"), 0o700); err != nil {
		t.Fatal(err)
	}
	removed, err := target.Retain("main", "00000000ab", 2)
	if err != nil || !slices.Equal(removed, []string{main[3], main[2]}) {
		t.Errorf("it removed %v, %v; want the two oldest", removed, err)
	}
	want := []string{filepath.Base(main[0]), filepath.Base(main[1]), filepath.Base(other), filepath.Base(elsewhere), "main-notes"}
	slices.Sort(want)
	if left := names(t, dir); !slices.Equal(left, want) {
		t.Errorf("it left %v; want %v", left, want)
	}
	if removed, err := target.Retain("main", "00000000ab", 5); err != nil || len(removed) > 0 {
		t.Errorf("with fewer than it may keep it removed %v, %v", removed, err)
	}
}

func FuzzManifest(f *testing.F) {
	m := manifest("main", 4)
	m.Format, m.Files = Format, []File{{Name: GraphName, Size: 5, SHA256: "00"}}
	whole, err := m.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"kind":"engram backup","format":2}`))
	f.Add([]byte(`{"kind":"engram backup","format":1,"files":[{"name":"../graph.db","size":-1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := Decode("m", text)
		if err != nil {
			if !errors.Is(err, store.ErrDamaged) && !errors.Is(err, store.ErrForeign) && !errors.Is(err, store.ErrNewer) {
				t.Errorf("an error of another kind: %v", err)
			}
			return
		}
		if again, err := m.encode(); err != nil || string(again) != string(text) {
			t.Errorf("%q is read, but written as %q, %v", text, again, err)
		}
		if m.Graph().Name != GraphName {
			t.Errorf("it is of %q", m.Graph().Name)
		}
	})
}
