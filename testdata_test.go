package engram_test

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryGoldenFileIsRead fails for a file below a testdata folder that no
// test of the owning package names: by its own path, by a pattern or by a folder
// above it other than testdata itself. Fuzz corpora belong to their target.
func TestEveryGoldenFileIsRead(t *testing.T) {
	named := map[string][]string{} // package folder → literals that start with testdata
	targets := map[string]bool{}   // package folder/FuzzName
	for _, f := range sourceFiles(t) {
		if !f.isTest {
			continue
		}
		dir := path.Dir(f.path)
		ast.Inspect(f.syntax, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); n.Kind == token.STRING && err == nil && strings.HasPrefix(s, "testdata/") {
					named[dir] = append(named[dir], s)
				}
			case *ast.FuncDecl:
				if strings.HasPrefix(n.Name.Name, "Fuzz") {
					targets[dir+"/"+n.Name.Name] = true
				}
			}
			return true
		})
	}
	for _, name := range filesBelowTestdata(t) {
		dir, rest, _ := strings.Cut(name, "/testdata/")
		if !strings.Contains(name, "/testdata/") {
			dir, rest = ".", strings.TrimPrefix(name, "testdata/")
		}
		if corpus, ok := strings.CutPrefix(rest, "fuzz/"); ok {
			target, _, _ := strings.Cut(corpus, "/")
			if !targets[dir+"/"+target] {
				t.Errorf("%s belongs to no fuzz target", name)
			}
			continue
		}
		if !isNamed("testdata/"+rest, named[dir]) {
			t.Errorf("%s is read by no test", name)
		}
	}
}

func filesBelowTestdata(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && strings.HasPrefix(d.Name(), ".") {
			return filepath.SkipDir
		}
		slash := filepath.ToSlash(name)
		if !d.IsDir() && (strings.HasPrefix(slash, "testdata/") || strings.Contains(slash, "/testdata/")) && !strings.Contains(slash, "testdata/rapid/") {
			out = append(out, slash)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func isNamed(file string, literals []string) bool {
	for _, lit := range literals {
		if lit == "testdata/" {
			continue
		}
		if ok, err := path.Match(lit, file); err == nil && ok {
			return true
		}
		if strings.HasPrefix(file, strings.TrimSuffix(lit, "/")+"/") {
			return true
		}
	}
	return false
}

var codePath = regexp.MustCompile("`([a-zA-Z0-9_]+(?:/[a-zA-Z0-9_.-]+)+)`")

// TestPathsInDocumentsExist checks the paths of this module that README and
// DESIGN files name in code spans.
func TestPathsInDocumentsExist(t *testing.T) {
	documents := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{"README.md", "DESIGN.md", "FORMATS.md"}, d.Name()) {
			return err
		}
		documents++
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, m := range codePath.FindAllStringSubmatch(string(text), -1) {
			first, _, _ := strings.Cut(m[1], "/")
			if _, area := allowed[first]; !area {
				continue
			}
			if _, err := os.Stat(filepath.FromSlash(m[1])); err != nil {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if documents == 0 {
		t.Error("no README or DESIGN file was read")
	}
}
