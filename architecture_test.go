package engram_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed says which areas each area's packages may import, beside its own.
// "engram" is the root package. A path with a slash allows that package only.
var allowed = map[string][]string{
	"graph":      {},
	"activation": {},
	"audit":      {"graph"},
	"query":      {"graph", "activation", "audit"},
	"engram":     {"graph", "activation", "audit", "query"},
	"chatbridge": {},
	"server":     {"engram", "chatbridge", "query/result"},
	"cmd":        {"engram", "chatbridge", "server", "benchmarks"},
	"benchmarks": {"engram", "chatbridge", "server"},
}

// allowedInTests are imports of tests of an area beside allowed ones: chatbridge is
// tested as a client of a server, too, and broken to see its tests turn red.
var allowedInTests = map[string][]string{"chatbridge": {"server/client", "graph/mutationtest"}}

// planned areas have no package yet; the first one needs its row in allowed.
var planned = []string{}

// owners are the only areas that may link a third-party engine, with spaces between.
var owners = map[string]string{
	"go.etcd.io/bbolt":                  "graph",
	"github.com/blevesearch/":           "graph",
	"github.com/RoaringBitmap/":         "graph",
	"github.com/alecthomas/participle/": "query",
	"github.com/alecthomas/kong":        "cmd",
	"github.com/prometheus/":            "server",
	"github.com/gorilla/websocket":      "server benchmarks", // the latter as a client
	"go.opentelemetry.io/":              "server",
	"github.com/modelcontextprotocol/":  "server chatbridge", // the latter as a client
	"github.com/anthropics/":            "chatbridge",
	"github.com/openai/":                "chatbridge",
	"github.com/chzyer/readline":        "cmd",
	"github.com/schollz/progressbar/v3": "cmd",
}

const (
	maxFileLines     = 800
	maxFunctionLines = 100 // more needs to be one flat switch
)

// sourceFile is one parsed Go file of the module.
type sourceFile struct {
	path   string // slash-separated, from the module root
	area   string
	isTest bool
	lines  int
	syntax *ast.File
	set    *token.FileSet
}

func sourceFiles(t *testing.T) []sourceFile {
	t.Helper()
	var files []sourceFile
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
			return filepath.SkipDir
		}
		if d.IsDir() || filepath.Ext(name) != ".go" {
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		set := token.NewFileSet()
		syntax, err := parser.ParseFile(set, name, text, parser.ParseComments)
		if err != nil {
			return err
		}
		slash := filepath.ToSlash(name)
		files = append(files, sourceFile{
			path: slash, area: areaOf(path.Dir(slash)), lines: strings.Count(string(text), "\n"), syntax: syntax, set: set,
			isTest: strings.HasSuffix(name, "_test.go") || strings.HasSuffix(path.Dir(slash), "test"),
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func areaOf(dir string) string {
	if dir == "." {
		return "engram"
	}
	area, _, _ := strings.Cut(dir, "/")
	return area
}

func TestLayering(t *testing.T) {
	seen := map[string]bool{}
	linked := map[string]bool{}
	for _, f := range sourceFiles(t) {
		seen[f.area] = true
		rules, known := allowed[f.area]
		if !known {
			t.Errorf("%s: area %q has no row in the table of allowed imports", f.path, f.area)
		}
		for _, spec := range f.syntax.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if owner := ownerOf(name, linked); owner != "" && !slices.Contains(strings.Fields(owner), f.area) && !f.isTest {
				t.Errorf("%s: only %s may link %s", f.path, owner, name)
			}
			target, ours := strings.CutPrefix(name, "engram")
			if !ours || (target != "" && target[0] != '/') {
				continue
			}
			target = strings.TrimPrefix(target, "/")
			if target == "" {
				target = "."
			}
			area := areaOf(target)
			switch {
			case area == f.area, slices.Contains(rules, area), slices.Contains(rules, target):
			case f.isTest && (area == "engram" || slices.Contains(allowedInTests[f.area], target)):
			default:
				t.Errorf("%s: %s may not import %s", f.path, f.area, name)
			}
		}
	}
	for area := range allowed {
		if !seen[area] {
			t.Errorf("the rule for area %q matches no file", area)
		}
	}
	for prefix := range owners {
		if !linked[prefix] {
			t.Errorf("the rule for %s matches no import", prefix)
		}
	}
	for _, area := range planned {
		if seen[area] {
			t.Errorf("area %q exists now: move it from planned to the table of allowed imports", area)
		}
	}
}

func ownerOf(name string, linked map[string]bool) string {
	for prefix, owner := range owners {
		if strings.HasPrefix(name, prefix) {
			linked[prefix] = true
			return owner
		}
	}
	return ""
}

func TestSizes(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.lines > maxFileLines {
			t.Errorf("%s has %d lines, more than %d: split it", f.path, f.lines, maxFileLines)
		}
		for _, d := range f.syntax.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Body == nil || f.isTest || isFlat(fn.Body) {
				continue
			}
			if n := f.set.Position(fn.End()).Line - f.set.Position(fn.Pos()).Line + 1; n > maxFunctionLines {
				t.Errorf("%s: %s has %d lines, more than %d", f.path, fn.Name.Name, n, maxFunctionLines)
			}
		}
	}
}

// isFlat reports whether a body is little more than one switch, or one literal
// table.
func isFlat(body *ast.BlockStmt) bool {
	switches := 0
	for _, s := range body.List {
		switch s := s.(type) {
		case *ast.SwitchStmt, *ast.TypeSwitchStmt:
			switches++
		case *ast.ReturnStmt:
			for _, r := range s.Results {
				if _, ok := r.(*ast.CompositeLit); ok {
					switches++
				}
			}
		}
	}
	return switches > 0 && len(body.List) <= 6
}

func TestExportsAreDocumented(t *testing.T) {
	packages := map[string]bool{}
	checked := 0
	for _, f := range sourceFiles(t) {
		dir := path.Dir(f.path)
		if f.isTest || f.syntax.Name.Name == "main" {
			continue
		}
		packages[dir] = packages[dir] || f.syntax.Doc != nil
		if strings.Contains(dir, "internal") {
			continue
		}
		for _, d := range f.syntax.Decls {
			for _, name := range undocumented(d) {
				t.Errorf("%s: %s is exported and has no comment", f.path, name)
			}
			checked++
		}
	}
	if checked == 0 {
		t.Error("no declaration was checked")
	}
	for dir, documented := range packages {
		if !documented {
			t.Errorf("package %s has no package comment", dir)
		}
	}
}

func undocumented(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Doc == nil && d.Name.IsExported() && (d.Recv == nil || receiverIsExported(d.Recv)) {
			return []string{d.Name.Name}
		}
	case *ast.GenDecl:
		var out []string
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
					out = append(out, spec.Name.Name)
				}
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					if n.IsExported() && d.Doc == nil && spec.Doc == nil && spec.Comment == nil {
						out = append(out, n.Name)
					}
				}
			}
		}
		return out
	}
	return nil
}

func receiverIsExported(recv *ast.FieldList) bool {
	typ := recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}
