package dir

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"engram/graph/internal/store"
	"engram/graph/internal/store/bolt"
)

// TestMain doubles as the second process of the tests.
func TestMain(m *testing.M) {
	if path := os.Getenv("ENGRAM_TEST_OWN"); path != "" {
		os.Exit(own(path))
	}
	if path := os.Getenv("ENGRAM_TEST_READONLY"); path != "" {
		os.Exit(readOnlyMount(path))
	}
	os.Exit(m.Run())
}

// child runs this test binary as another process.
func child(t *testing.T, env string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), env)
	cmd.Stderr = os.Stderr
	return cmd
}

// withNamespace makes a data directory with the namespace main at seq 0.
func withNamespace(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "data")
	if err := Create(path); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path, nil)
	if err := d.CreateNamespace("main", []store.Put{{Space: store.Meta, Key: []byte("id"), Value: []byte("x")}}); err != nil {
		t.Fatal(err)
	}
	mustClose(t, d)
	return path
}

func mustOpen(t *testing.T, path string, opts *Options) *Data {
	t.Helper()
	d, err := Open(path, opts)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func mustClose(t *testing.T, d *Data) {
	t.Helper()
	if err := d.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func mustOpenNamespace(t *testing.T, d *Data, name string) *Namespace {
	t.Helper()
	n, err := d.OpenNamespace(name)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func closeNamespace(t *testing.T, n *Namespace) {
	t.Helper()
	if err := errors.Join(n.Driver().Close(), n.Close()); err != nil {
		t.Errorf("closing the namespace: %v", err)
	}
}

// picture lists everything below path with mode, size, time and content.
func picture(t *testing.T, path string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s %v %d %v\n", p, info.Mode(), info.Size(), info.ModTime())
		if info.Mode().IsRegular() {
			content, err := os.ReadFile(p)
			b.Write(content)
			return err
		}
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return b.String()
}

func TestLayoutAndModes(t *testing.T) {
	path := withNamespace(t)
	d := mustOpen(t, path, nil)
	n := mustOpenNamespace(t, d, "main")
	if n.Name() != "main" || n.Path() != filepath.Join(path, "ns", "main") || n.TextDir() != filepath.Join(n.Path(), "text") || n.ReadOnly() {
		t.Errorf("the namespace tells %q, %q, %q", n.Name(), n.Path(), n.TextDir())
	}
	for name, mode := range map[string]fs.FileMode{
		".": 0o700, "catalog": 0o600, "LOCK": 0o600, "ns": 0o700, "ns/main": 0o700,
		"ns/main/graph.db": 0o600, "ns/main/seq": 0o600,
	} {
		info, err := os.Stat(filepath.Join(path, name))
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: %v, %v; want mode %v", name, info, err, mode)
		}
	}
	closeNamespace(t, n)
	mustClose(t, d)
}

func write(t *testing.T, p, content string) {
	t.Helper()
	if err := os.WriteFile(p, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, p string) {
	t.Helper()
	if err := os.RemoveAll(p); err != nil {
		t.Fatal(err)
	}
}

// TestRefused: each is refused for its reason, saying what, where and what to do,
// and nothing changes on disk.
func TestRefused(t *testing.T) {
	graph := func(p string) string { return filepath.Join(p, "ns", "main", "graph.db") }
	cases := []struct {
		name   string
		change func(t *testing.T, path string)
		want   error
		says   []string
	}{
		{"missing", remove, store.ErrMissing, []string{"create it first"}},
		{"empty", func(t *testing.T, p string) {
			remove(t, p)
			if err := os.Mkdir(p, 0o700); err != nil {
				t.Fatal(err)
			}
		}, store.ErrMissing, []string{"create a database"}},
		{"a dangling link", func(t *testing.T, p string) {
			remove(t, p)
			if err := os.Symlink("elsewhere", p); err != nil {
				t.Fatal(err)
			}
		}, store.ErrForeign, []string{"link to elsewhere, which does not exist", "remove the link"}},
		{"a file", func(t *testing.T, p string) { remove(t, p); write(t, p, "x") }, store.ErrForeign, []string{"not a directory"}},
		{"foreign", func(t *testing.T, p string) { remove(t, filepath.Join(p, "catalog")) }, store.ErrForeign, []string{"no catalog"}},
		{"foreign catalog", func(t *testing.T, p string) { write(t, filepath.Join(p, "catalog"), "shoes\n") }, store.ErrForeign, []string{"check the path"}},
		{"newer layout", func(t *testing.T, p string) { write(t, filepath.Join(p, "catalog"), catalogMark+"9\n") }, store.ErrNewer, []string{"layout is 9", "newer program"}},
		{"missing namespace", func(t *testing.T, p string) { remove(t, filepath.Join(p, "ns", "main")) }, store.ErrMissing, []string{"check its name"}},
		{"missing graph", func(t *testing.T, p string) { remove(t, graph(p)) }, store.ErrMissing, []string{"graph.db"}},
		{"empty graph", func(t *testing.T, p string) { write(t, graph(p), "") }, store.ErrEmpty, []string{"backup"}},
		{"foreign graph", func(t *testing.T, p string) { write(t, graph(p), strings.Repeat("x", 9000)) }, store.ErrForeign, []string{"graph.db"}},
		{"truncated graph", func(t *testing.T, p string) {
			if err := os.Truncate(graph(p), 8192); err != nil {
				t.Fatal(err)
			}
		}, store.ErrTruncated, []string{"8192 bytes"}},
		{"lost commits", func(t *testing.T, p string) {
			side, err := openSide(filepath.Join(p, "ns", "main", "seq"))
			if err == nil {
				err = errors.Join(side.write(sideState{seq: 7}), side.f.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
		}, store.ErrLostCommits, []string{"seq 7 was acknowledged", "restore"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			path := withNamespace(t)
			remove(t, filepath.Join(path, "LOCK"))
			c.change(t, path)
			before := picture(t, path)
			for _, readOnly := range []bool{false, true} {
				d, err := Open(path, &Options{ReadOnly: readOnly})
				if err == nil {
					_, err = d.OpenNamespace("main")
					mustClose(t, d)
				}
				if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), path) {
					t.Errorf("read-only %v: %v; want %v and the path", readOnly, err, c.want)
				}
				for _, says := range c.says {
					if !strings.Contains(fmt.Sprint(err), says) {
						t.Errorf("read-only %v: %v; want it to say %q", readOnly, err, says)
					}
				}
			}
			if after := picture(t, path); after != before {
				t.Errorf("refusing changed the disk:\n%.300s\nwas\n%.300s", after, before)
			}
		})
	}
}

func TestNamesAreChecked(t *testing.T) {
	path := withNamespace(t)
	d := mustOpen(t, path, nil)
	for _, name := range []string{"", ".", "..", "a/b", "../x", "Main", "-a", "_a", "a b", "ä", strings.Repeat("a", MaxName+1), ".tmp-x"} {
		if err := d.CreateNamespace(name, nil); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("CreateNamespace(%q) = %v; want invalid", name, err)
		}
		if _, err := d.OpenNamespace(name); !errors.Is(err, store.ErrInvalid) {
			t.Errorf("OpenNamespace(%q) = %v; want invalid", name, err)
		}
	}
	for _, name := range []string{"a", "0", "work-2_x", strings.Repeat("a", MaxName)} {
		if err := d.CreateNamespace(name, nil); err != nil {
			t.Errorf("CreateNamespace(%q) = %v", name, err)
		}
	}
	names, err := d.Namespaces()
	want := []string{"0", "a", strings.Repeat("a", MaxName), "main", "work-2_x"}
	if err != nil || !slices.Equal(names, want) {
		t.Errorf("Namespaces = %q, %v; want %q", names, err, want)
	}
	mustClose(t, d)
}

func TestCreateRefusesWhatIsThere(t *testing.T) {
	path := withNamespace(t)
	before := picture(t, path)
	if err := Create(path); !errors.Is(err, store.ErrExists) {
		t.Errorf("Create over a data directory: %v; want exists", err)
	}
	d := mustOpen(t, path, nil)
	if err := d.CreateNamespace("main", nil); !errors.Is(err, store.ErrExists) {
		t.Errorf("CreateNamespace again: %v; want exists", err)
	}
	mustClose(t, d)
	if picture(t, path) != before {
		t.Error("a refused creation changed the disk")
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink("elsewhere", link); err != nil {
		t.Fatal(err)
	}
	if err := Create(link); !errors.Is(err, store.ErrForeign) || !strings.Contains(err.Error(), "elsewhere") {
		t.Errorf("Create over a dangling link: %v; want foreign", err)
	}
	other := t.TempDir()
	if err := os.WriteFile(filepath.Join(other, "letter.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Create(other); !errors.Is(err, store.ErrForeign) {
		t.Errorf("Create over other files: %v; want foreign", err)
	}
	if err := os.Rename(filepath.Join(other, "letter.txt"), filepath.Join(other, tempPrefix+"123")); err != nil {
		t.Fatal(err)
	}
	if err := Create(other); err != nil {
		t.Errorf("Create over what an interrupted one left: %v", err)
	}
}

func TestLeftoversOfAnInterruptedCreationAreCleared(t *testing.T) {
	path := withNamespace(t)
	left := filepath.Join(path, "ns", tempPrefix+"next-1")
	if err := os.Mkdir(left, 0o700); err != nil {
		t.Fatal(err)
	}
	d := mustOpen(t, path, nil)
	if names, err := d.Namespaces(); err != nil || !slices.Equal(names, []string{"main"}) {
		t.Errorf("Namespaces = %q, %v; want main only", names, err)
	}
	if err := d.CreateNamespace("next", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the leftover is still there: %v", err)
	}
	mustClose(t, d)
}

func TestASecondOpenInThisProcessIsRefused(t *testing.T) {
	path := withNamespace(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	first := mustOpen(t, path, nil)
	n := mustOpenNamespace(t, first, "main")
	if _, err := first.OpenNamespace("main"); !errors.Is(err, store.ErrBusy) {
		t.Errorf("OpenNamespace twice: %v; want busy", err)
	}
	if err := first.Close(); !errors.Is(err, store.ErrBusy) {
		t.Errorf("Close with an open namespace: %v; want busy", err)
	}
	for _, way := range []string{path, link} {
		for _, readOnly := range []bool{false, true} {
			d := mustOpen(t, way, &Options{ReadOnly: readOnly})
			_, err := d.OpenNamespace("main")
			if !errors.Is(err, store.ErrBusy) || !strings.Contains(err.Error(), "this process already") {
				t.Errorf("opening %s again (read-only %v): %v; want busy, by this process", way, readOnly, err)
			}
			mustClose(t, d)
		}
	}
	closeNamespace(t, n)
	n = mustOpenNamespace(t, first, "main") // closed, it can be opened again
	closeNamespace(t, n)
	mustClose(t, first)
	if _, err := first.OpenNamespace("main"); !errors.Is(err, store.ErrClosed) {
		t.Errorf("OpenNamespace after Close: %v; want closed", err)
	}
}

func TestAHardLinkedGraphIsRefused(t *testing.T) {
	path, other := withNamespace(t), withNamespace(t)
	linked := filepath.Join(other, "ns", "main", "graph.db")
	if err := errors.Join(os.Remove(linked), os.Link(filepath.Join(path, "ns", "main", "graph.db"), linked)); err != nil {
		t.Fatal(err)
	}
	first := mustOpen(t, path, nil)
	n := mustOpenNamespace(t, first, "main")
	second := mustOpen(t, other, nil)
	if _, err := second.OpenNamespace("main"); !errors.Is(err, store.ErrBusy) {
		t.Errorf("the same graph from another directory: %v; want busy", err)
	}
	mustClose(t, second)
	closeNamespace(t, n)
	mustClose(t, first)
}

// own is the other process: it opens the namespace, says so and keeps it until its
// input ends.
func own(path string) int {
	d, err := Open(path, &Options{Address: "127.0.0.1:4711"})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	if _, err := d.OpenNamespace("main"); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("open")
	_, _ = bufio.NewReader(os.Stdin).ReadString('\n')
	return 0
}

func TestASecondProcessIsToldTheOwner(t *testing.T) {
	path := withNamespace(t)
	cmd := child(t, "ENGRAM_TEST_OWN="+path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "open\n" {
		t.Fatalf("the owner says %q, %v", line, err)
	}
	d := mustOpen(t, path, nil)
	_, err = d.OpenNamespace("main")
	var busy *BusyError
	want := Owner{PID: cmd.Process.Pid, Address: "127.0.0.1:4711"}
	if !errors.As(err, &busy) || busy.Owner != want || !strings.Contains(err.Error(), "4711") {
		t.Errorf("OpenNamespace: %v; want busy by %+v", err, want)
	}
	if err := d.SetAddress("x"); !errors.As(err, &busy) || busy.Owner != want {
		t.Errorf("SetAddress: %v; want busy by %+v", err, want)
	}
	if err := errors.Join(in.Close(), cmd.Wait()); err != nil {
		t.Errorf("the owner ends with %v", err)
	}
	// It ended without closing, as by a kill: nothing is left that locks.
	n := mustOpenNamespace(t, d, "main")
	if err := d.SetAddress("127.0.0.1:4712"); err != nil {
		t.Error(err)
	}
	if text, err := os.ReadFile(filepath.Join(path, "LOCK")); err != nil || string(text) != fmt.Sprintf(lockText, os.Getpid(), "127.0.0.1:4712") {
		t.Errorf("LOCK tells %q, %v", text, err)
	}
	closeNamespace(t, n)
	mustClose(t, d)
}

func TestReadersShareAndDoNotWrite(t *testing.T) {
	path := withNamespace(t)
	before := picture(t, path)
	first, second := mustOpen(t, path, &Options{ReadOnly: true}), mustOpen(t, path, &Options{ReadOnly: true})
	a, b := mustOpenNamespace(t, first, "main"), mustOpenNamespace(t, second, "main")
	if outcome, err := a.Driver().Apply(0, []store.Batch{{Seq: 1}}); outcome != store.Failed || !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("Apply = %v, %v; want failed, read-only", outcome, err)
	}
	if err := first.CreateNamespace("other", nil); !errors.Is(err, store.ErrReadOnly) {
		t.Errorf("CreateNamespace = %v; want read-only", err)
	}
	if err := errors.Join(a.Acked(9), first.SetAddress("x")); err != nil {
		t.Error(err)
	}
	writer := mustOpen(t, path, nil)
	if _, err := writer.OpenNamespace("main"); !errors.Is(err, store.ErrBusy) {
		t.Errorf("a writer beside readers: %v; want busy", err)
	}
	mustClose(t, writer)
	closeNamespace(t, a)
	closeNamespace(t, b)
	mustClose(t, first)
	mustClose(t, second)
	if picture(t, path) != before {
		t.Error("reading changed the disk")
	}
}

// readOnlyMount runs in a mount namespace of its own and tells, on a line each, how
// opening the directory on a read-only mount ends.
func readOnlyMount(path string) int {
	if err := errors.Join(
		syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""),
		syscall.Mount(path, path, "", syscall.MS_BIND, ""),
		syscall.Mount("", path, "", syscall.MS_REMOUNT|syscall.MS_BIND|syscall.MS_RDONLY, "")); err != nil {
		fmt.Println("cannot mount:", err)
		return 0
	}
	d, err := Open(path, nil)
	if err == nil {
		_, err = d.OpenNamespace("main")
	}
	fmt.Printf("writing: %v, %v\n", errors.Is(err, store.ErrReadOnly), err)
	d, err = Open(path, &Options{ReadOnly: true})
	var n *Namespace
	if err == nil {
		n, err = d.OpenNamespace("main")
	}
	if err == nil {
		var r store.Reader
		if r, err = n.Driver().Snapshot(); err == nil {
			v, gerr := r.Get(store.Meta, []byte("id"))
			fmt.Printf("reading: %s, %v\n", v, gerr)
			return 0
		}
	}
	fmt.Println("reading:", err)
	return 0
}

func TestAReadOnlyMountOpensForReading(t *testing.T) {
	path := withNamespace(t)
	if err := os.Remove(filepath.Join(path, "LOCK")); err != nil {
		t.Fatal(err)
	}
	before := picture(t, path)
	cmd := child(t, "ENGRAM_TEST_READONLY="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
	}
	out, err := cmd.Output()
	if err != nil || strings.HasPrefix(string(out), "cannot mount") {
		t.Skipf("no mount namespace here, so read-only mounts are not tested: %v %s", err, out)
	}
	lines := strings.SplitN(string(out), "\n", 2)
	if !strings.HasPrefix(lines[0], "writing: true") || !strings.Contains(lines[0], "reading only") {
		t.Errorf("opening for writing: %s; want read-only and what to do", lines[0])
	}
	if lines[1] != "reading: x, <nil>\n" {
		t.Errorf("opening for reading: %q; want the value x", lines[1])
	}
	if picture(t, path) != before {
		t.Error("the disk changed")
	}
}

func TestTheSideFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seq")
	if s, odd, err := readSide(path); s != (sideState{}) || odd != "it is missing" || err != nil {
		t.Errorf("a missing side file tells %v, %q, %v; want nothing, and why", s, odd, err)
	}
	s, err := openSide(path)
	if err != nil {
		t.Fatal(err)
	}
	if s, odd, err := readSide(path); s != (sideState{}) || odd != "it is empty" || err != nil {
		t.Errorf("an empty side file tells %v, %q, %v; want nothing, and why", s, odd, err)
	}
	for _, want := range []sideState{{seq: 1}, {1 << 40, bolt.Roots{Tx: 1 << 50, Sum: 1 << 31}}, {3, bolt.Roots{Tx: 4, Sum: 5}}} {
		if err := s.write(want); err != nil {
			t.Fatal(err)
		}
		if s, odd, err := readSide(path); s != want || odd != "" || err != nil {
			t.Errorf("the side file tells %v, %q, %v; want %v", s, odd, err, want)
		}
	}
	if err := s.f.Close(); err != nil {
		t.Error(err)
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := range content {
		torn := slices.Clone(content)
		torn[at] ^= 4
		for _, b := range [][]byte{torn, content[:at]} {
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			if s, odd, err := readSide(path); s != (sideState{}) || odd == "" || err != nil {
				t.Errorf("with byte %d changed, or cut there, it tells %v, %q, %v; want nothing, and why", at, s, odd, err)
			}
		}
	}
}

// TestASideFileOfTheFirstVersion tells a seq and no roots.
func TestASideFileOfTheFirstVersion(t *testing.T) {
	path := filepath.Join(t.TempDir(), "seq")
	old := append([]byte("engrseq1"), 0, 0, 0, 0, 0, 0, 0, 9, 0xcb, 0x7e, 0x5b, 0x40)
	binary.BigEndian.PutUint32(old[16:], crc32.Checksum(old[:16], castagnoli))
	write(t, path, string(old))
	if s, odd, err := readSide(path); s != (sideState{seq: 9}) || odd != "" || err != nil {
		t.Errorf("it tells %v, %q, %v; want seq 9", s, odd, err)
	}
}

// TestASideFileThatTellsNothingIsNoted: opening goes on, having read all of
// graph.db, says so, and writes the file anew.
func TestASideFileThatTellsNothingIsNoted(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, path string){
		"it is missing": func(t *testing.T, path string) { remove(t, path) },
		"it is empty":   func(t *testing.T, path string) { write(t, path, "") },
		"it is damaged": func(t *testing.T, path string) { write(t, path, "garbage") },
	} {
		t.Run(name, func(t *testing.T) {
			path := withNamespace(t)
			change(t, filepath.Join(path, "ns", "main", "seq"))
			for _, readOnly := range []bool{true, false} {
				d := mustOpen(t, path, &Options{ReadOnly: readOnly})
				n := mustOpenNamespace(t, d, "main")
				if notes := strings.Join(n.Notes(), " "); !strings.Contains(notes, name) || !strings.Contains(notes, "backup") {
					t.Errorf("read-only %v: notes %q; want them to say that %s, and what to do", readOnly, notes, name)
				}
				closeNamespace(t, n)
				mustClose(t, d)
			}
			d := mustOpen(t, path, nil)
			n := mustOpenNamespace(t, d, "main")
			if len(n.Notes()) > 0 {
				t.Errorf("the next opening notes %q", n.Notes())
			}
			closeNamespace(t, n)
			mustClose(t, d)
		})
	}
}

func TestAckedIsReadAtOpening(t *testing.T) {
	path := withNamespace(t)
	d := mustOpen(t, path, nil)
	n := mustOpenNamespace(t, d, "main")
	if outcome, err := n.Driver().Apply(0, []store.Batch{{Seq: 1}}); outcome != store.Committed {
		t.Fatalf("Apply: %v, %v", outcome, err)
	}
	if err := n.Acked(1); err != nil {
		t.Fatal(err)
	}
	closeNamespace(t, n)
	n = mustOpenNamespace(t, d, "main")
	if err := n.Acked(2); err != nil { // tells of one that the store has not
		t.Fatal(err)
	}
	closeNamespace(t, n)
	if _, err := d.OpenNamespace("main"); !errors.Is(err, store.ErrLostCommits) {
		t.Errorf("OpenNamespace = %v; want lost commits", err)
	}
	mustClose(t, d)
}
