package powerloss

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// traced writes a log as strace would and reads it for a directory that is in the
// end as after tells: content by name. before is how it was.
func traced(t *testing.T, before, after map[string]string, lines ...string) (*Log, error) {
	t.Helper()
	root := t.TempDir()
	put := func(files map[string]string) {
		entries, err := os.ReadDir(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if err := os.Remove(filepath.Join(root, e.Name())); err != nil {
				t.Fatal(err)
			}
		}
		for name, content := range files {
			if err := os.WriteFile(filepath.Join(root, name), []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(before)
	r, err := Record(root)
	if err != nil {
		t.Fatal(err)
	}
	put(after)
	var b strings.Builder
	for _, line := range lines {
		for name, path := range map[string]string{"ROOT": root, "A": filepath.Join(root, "a"), "B": filepath.Join(root, "b")} {
			line = strings.ReplaceAll(line, "<"+name+">", `"`+escaped(path)+`"`)
		}
		for strings.Contains(line, "'") { // 'text' stands for strace's string of it
			head, rest, _ := strings.Cut(line, "'")
			text, tail, _ := strings.Cut(rest, "'")
			line = head + `"` + escaped(text) + `"` + tail
		}
		b.WriteString(line + "\n")
	}
	trace := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(trace, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return r.Read(trace)
}

func escaped(text string) (out string) {
	for _, c := range []byte(text) {
		out += `\x` + hex.EncodeToString([]byte{c})
	}
	return out
}

// outcomes lists what is in the states of a log, each in the words of picture, with
// what was acknowledged.
func outcomes(t *testing.T, l *Log, n int) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	l.States(n, 1, func(s *State) bool {
		dir := t.TempDir()
		if err := s.Store(dir); err != nil {
			t.Fatal(err)
		}
		found[fmt.Sprintf("%s; acked %d", picture(t, dir), s.Acked)] = true
		return true
	})
	return found
}

// picture tells the files of a directory: runs of the same byte as it and a count.
func picture(t *testing.T, dir string) string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var parts []string
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		part := e.Name() + "="
		for len(b) > 0 {
			n := len(b) - len(bytes.TrimLeft(b, string(b[:1])))
			part += fmt.Sprintf("%c%d", max(b[0], '.'), n)
			b = b[n:]
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, " ")
}

func mustTrace(t *testing.T, before, after map[string]string, lines ...string) *Log {
	t.Helper()
	l, err := traced(t, before, after, lines...)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func want(t *testing.T, found map[string]bool, states ...string) {
	t.Helper()
	slices.Sort(states)
	if got := slices.Sorted(maps.Keys(found)); !slices.Equal(got, states) {
		t.Errorf("the states are\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(states, "\n  "))
	}
}

const ack = `1 write(1, 'ACK 1
', 6) = 6`

// TestWhatIsNotSyncedMayBeLost: a write is durable after the file's sync only, and
// before that any of its sectors may be there.
func TestWhatIsNotSyncedMayBeLost(t *testing.T) {
	old, next := strings.Repeat("o", 1024), strings.Repeat("n", 1024)
	write := []string{
		`1 openat(AT_FDCWD, <A>, O_RDWR) = 3`,
		`1 pwrite64(3, '` + next + `', 1024, 0) = 1024`,
	}
	before, after := map[string]string{"a": old}, map[string]string{"a": next}
	l := mustTrace(t, before, after, append(write, ack)...)
	want(t, outcomes(t, l, 200), "a=o1024; acked -1", "a=o1024; acked 1", "a=n1024; acked 1", "a=n512o512; acked 1", "a=o512n512; acked 1")
	l = mustTrace(t, before, after, append(write, `1 fdatasync(3) = 0`, ack)...)
	want(t, outcomes(t, l, 200), "a=o1024; acked -1", "a=n1024; acked -1", "a=n512o512; acked -1", "a=o512n512; acked -1", "a=n1024; acked 1")
	l = mustTrace(t, before, after, append(write, `1 fdatasync(3) = -1 EIO (Input/output error)`, ack)...)
	if found := outcomes(t, l, 200); !found["a=o1024; acked 1"] {
		t.Errorf("a sync that failed made a write durable: %v", found)
	}
}

// TestASyncCoversWhatReturnedBefore it was called, not what happened meanwhile.
func TestASyncCoversWhatReturnedBefore(t *testing.T) {
	l := mustTrace(t, map[string]string{"a": "oo"}, map[string]string{"a": "nn"},
		`1 openat(AT_FDCWD, <A>, O_RDWR) = 3`,
		`1 pwrite64(3, 'n', 1, 0) = 1`,
		`1 fdatasync(3 <unfinished ...>`,
		`2 pwrite64(3, 'n', 1, 1) = 1`,
		`1 <... fdatasync resumed>) = 0`,
		ack)
	found := outcomes(t, l, 400)
	for state := range found {
		if strings.HasSuffix(state, "acked 1") && state != "a=n2; acked 1" && state != "a=n1o1; acked 1" {
			t.Errorf("after the sync there is %s", state)
		}
	}
	if !found["a=n1o1; acked 1"] {
		t.Errorf("the write beside the sync is taken for durable: %v", found)
	}
}

// TestANameNeedsItsDirectory: a new file and a rename are durable after the
// directory's sync only, whatever was synced of the file.
func TestANameNeedsItsDirectory(t *testing.T) {
	create := []string{
		`1 openat(AT_FDCWD, <B>, O_RDWR|O_CREAT, 0600) = 3`,
		`1 write(3, 'n', 1) = 1`,
		`1 fsync(3) = 0`,
		`1 renameat(AT_FDCWD, <B>, AT_FDCWD, <A>) = 0`,
	}
	before, after := map[string]string{"a": "o"}, map[string]string{"a": "n"}
	l := mustTrace(t, before, after, append(create, ack)...)
	found := outcomes(t, l, 400)
	if !found["a=o1; acked 1"] || !found["a=n1; acked 1"] {
		t.Errorf("an unsynced rename is there, or is not: %v", found)
	}
	l = mustTrace(t, before, after, append(create, `1 openat(AT_FDCWD, <ROOT>, O_RDONLY) = 4`, `1 fsync(4) = 0`, ack)...)
	for state := range outcomes(t, l, 400) {
		if strings.HasSuffix(state, "acked 1") && state != "a=n1; acked 1" {
			t.Errorf("after the directory's sync there is %s", state)
		}
	}
}

// TestAKillLosesNothing that had been done.
func TestAKillLosesNothing(t *testing.T) {
	l := mustTrace(t, map[string]string{"a": "o"}, map[string]string{"b": "n"},
		`1 openat(AT_FDCWD, <A>, O_RDWR) = 3`,
		`1 pwrite64(3, 'n', 1, 0) = 1`,
		`1 renameat2(AT_FDCWD, <A>, AT_FDCWD, <B>, 0) = 0`)
	var states []string
	l.Kills(100, func(s *State) bool {
		dir := t.TempDir()
		if err := s.Store(dir); err != nil {
			t.Fatal(err)
		}
		if p := picture(t, dir); len(states) == 0 || states[len(states)-1] != p {
			states = append(states, p)
		}
		return true
	})
	if !slices.Equal(states, []string{"a=o1", "a=n1", "b=n1"}) {
		t.Errorf("the states are %q", states)
	}
}

// TestALogThatDoesNotAddUp is refused: a call is missing in it, or is not modelled.
func TestALogThatDoesNotAddUp(t *testing.T) {
	for name, lines := range map[string][]string{
		"a write is missing": {`1 openat(AT_FDCWD, <A>, O_RDWR) = 3`},
		"another name":       {`1 openat(AT_FDCWD, <B>, O_RDWR|O_CREAT, 0600) = 3`, `1 write(3, 'n', 1) = 1`},
		"an unknown file":    {`1 openat(AT_FDCWD, <B>, O_RDWR) = 3`},
	} {
		if _, err := traced(t, map[string]string{"a": "o"}, map[string]string{"a": "n"}, lines...); err == nil {
			t.Errorf("%s: the log is accepted", name)
		}
	}
}
