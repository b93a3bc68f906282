// Package mutationtest makes mistakes in the module's code, one at a time, and shows that
// the tests that are there for it turn red. Only tests import it:
//
//	mutationtest.Run(t, "..", os.Getenv("ENGRAM_LONG") != "", mutationtest.Options{}, list)
package mutationtest

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Mutation is a mistake that somebody could make: in File, a path from the module's root,
// the text From, which stands there once, becomes To, and then the tests Run of Package
// must fail.
type Mutation struct {
	Name, File, From, To, Package, Run string
}

// Options of a run. The zero value is usable.
type Options struct {
	// Args of go test, before the package.
	Args []string
	// Env is added to the environment, without ENGRAM_LONG.
	Env []string
}

// Run looks that each mistake can be made. With long it makes each one in turn, in a copy
// of the file that only the compiler sees, and shows that its tests turn red. root is
// the module's.
func Run(t *testing.T, root string, long bool, o Options, mutations []Mutation) {
	t.Helper()
	root, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	if len(mutations) == 0 {
		t.Fatal("there are no mutations")
	}
	for _, m := range mutations {
		source, err := os.ReadFile(filepath.Join(root, m.File))
		if err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(string(source), m.From); n != 1 {
			t.Errorf("%s: %s has %q %d times, not once", m.Name, m.File, m.From, n)
		}
	}
	if !long {
		return // that they can be made is worth knowing at once
	}
	for _, m := range mutations {
		t.Run(m.Name, func(t *testing.T) {
			out, err := m.test(t, root, o)
			switch {
			case err == nil:
				t.Errorf("%s stays green:\n%.1000s", m.Run, out)
			case !strings.Contains(out, "--- FAIL: Test") && !strings.Contains(out, "panic: test timed out"):
				t.Errorf("it does not run: %v\n%.1000s", err, out)
			}
		})
	}
}

// test runs the mutation's tests with the mistake in it.
func (m Mutation) test(t *testing.T, root string, o Options) (string, error) {
	t.Helper()
	path := filepath.Join(root, m.File)
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed, list := filepath.Join(t.TempDir(), "changed.go"), filepath.Join(t.TempDir(), "overlay.json")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{changed: strings.Replace(string(source), m.From, m.To, 1), list: string(overlay)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"test", "-count=1", "-timeout", "5m", "-overlay", list, "-run", m.Run}, o.Args...)
	cmd := exec.Command("go", append(args, m.Package)...)
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), "ENGRAM_LONG="), o.Env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
