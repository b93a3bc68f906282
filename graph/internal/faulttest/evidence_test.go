package faulttest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram/graph/internal/faulttest/powerloss"
)

// keptImages is how many images of bad states one test keeps at most.
const keptImages = 3

// evidence keeps what a verification that failed was about: the image as the power
// cut left it, for verifying changes it, and a report. The folder stays after the
// test.
type evidence struct {
	t    *testing.T
	data string // the database's name in an image
	kept int
}

// bad notes a bad state and tells about it in one line. A process that died is
// no verdict on the image: another one is asked, and its answer is told too.
func (e *evidence) bad(v *verifier, s *powerloss.State, seed uint64, acked, begun int, err error) string {
	what := fmt.Sprintf("%v: %v", s, err)
	if death := (*deathError)(nil); errors.As(err, &death) {
		what += "; " + e.again(v, s, seed, acked, begun)
	}
	if e.kept++; e.kept > keptImages {
		return what
	}
	name := strings.ReplaceAll(e.t.Name(), "/", "-")
	dir, err := os.MkdirTemp("", fmt.Sprintf("engram-evidence-%s-event%d-", name, s.At))
	if err == nil {
		image := filepath.Join(dir, "image")
		report := fmt.Sprintf("%s\nseed %d, acknowledged %d, begun %d, database in image/%s\n%s", what, seed, acked, begun, e.data, memory())
		err = errors.Join(os.Mkdir(image, 0o700), s.Store(image), os.WriteFile(filepath.Join(dir, "report.txt"), []byte(report), 0o600))
	}
	if err != nil {
		return what + "; the image could not be kept: " + err.Error()
	}
	return what + "; the image is kept in " + dir
}

// again verifies a state in a new process.
func (e *evidence) again(v *verifier, s *powerloss.State, seed uint64, acked, begun int) string {
	root := filepath.Join(fastDir(e.t), "again")
	if err := errors.Join(os.Mkdir(root, 0o700), s.Store(root)); err != nil {
		return "asked again: " + err.Error()
	}
	n, err := v.verify(filepath.Join(root, e.data), seed, acked, begun)
	if err != nil {
		return fmt.Sprintf("asked again: %v", err)
	}
	return fmt.Sprintf("another process finds transaction %d and nothing wrong: look for what ended the first", n)
}

// memory tells what the system had left, where it says so.
func memory() string {
	var told []string
	text, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "MemTotal") || strings.HasPrefix(line, "MemAvailable") || strings.HasPrefix(line, "Shmem:") {
			told = append(told, strings.Join(strings.Fields(line), " "))
		}
	}
	return strings.Join(told, ", ") + "\n"
}

// TestDeathIsTold ends a verifying process in the way the system does it when
// memory is short, without a word: the message says how it ended and what another
// process finds, and the image is there as it was.
func TestDeathIsTold(t *testing.T) {
	const seed = 3
	t.Setenv("TMPDIR", t.TempDir())
	root := t.TempDir()
	log := record(t, root, nil, "write", filepath.Join(root, "data"), fmt.Sprint(seed), "3")
	v := &verifier{}
	defer v.stop()
	log.States(1, seed, func(s *powerloss.State) bool {
		if err := v.start("verify"); err != nil {
			t.Fatal(err)
		}
		if err := v.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_, err := v.verify(filepath.Join(root, "data"), seed, s.Acked, s.Begun)
		if err == nil {
			t.Fatal("a dead process verifies")
		}
		e := &evidence{t: t, data: "data"}
		told := e.bad(v, s, seed, s.Acked, s.Begun, err)
		for _, part := range []string{s.String(), "signal: killed", `standard error ""`, "finds transaction 3 and nothing wrong"} {
			if !strings.Contains(told, part) {
				t.Errorf("%q does not tell %q", told, part)
			}
		}
		_, dir, _ := strings.Cut(told, "the image is kept in ")
		if report, err := os.ReadFile(filepath.Join(dir, "report.txt")); err != nil || !strings.HasPrefix(string(report), s.String()) {
			t.Errorf("the report is %q, %v", report, err)
		}
		if n := wantState(t, filepath.Join(dir, "image", "data"), seed, 3, 3); n != 3 {
			t.Errorf("the image is at transaction %d", n)
		}
		return false
	})
}
