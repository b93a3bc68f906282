package reference_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query"
	"engram/query/internal/bound"
	"engram/query/internal/fn"
	"engram/query/reference"
)

// TestEveryPageIsListed holds the order of the pages to the files.
func TestEveryPageIsListed(t *testing.T) {
	var listed []string
	for _, topic := range reference.Topics() {
		listed = append(listed, topic.Name+".md")
		if topic.Title == "" || strings.HasPrefix(topic.Title, "#") {
			t.Errorf("page %s has the title %q", topic.Name, topic.Title)
		}
	}
	names, err := filepath.Glob("*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if name != "DESIGN.md" && !slices.Contains(listed, name) {
			t.Errorf("%s is not in the order of pages", name)
		}
	}
	overview, _ := reference.Lookup("overview")
	for i, name := range listed {
		if !slices.Contains(names, name) {
			t.Errorf("%s is listed and missing", name)
		}
		if topic := strings.TrimSuffix(name, ".md"); i > 0 && !strings.Contains(overview, "`"+topic+"`") {
			t.Errorf("the overview does not name the page %s", topic)
		}
	}
}

// TestEveryFunctionHasAnEntry: a heading of the function's name, the line that
// describes its signature, and an example that calls it. With -rewrite the lines
// are written.
func TestEveryFunctionHasAnEntry(t *testing.T) {
	lines := map[string]string{}
	for _, f := range fn.All() {
		lines[f.Name] = "`" + signature(f.Name, f.Params, f.Required, f.Variadic) + "` → " + results(f.Result, f.ResultOf != nil) + ". " + f.Doc
	}
	for _, a := range fn.AllAggregates() {
		line := "`" + signature(a.Name, a.Params, max(a.Required, 1), false) + "` → " + results(a.Result, a.ResultOf != nil) + ". " + a.Doc
		if _, twice := lines[a.Name]; twice {
			t.Errorf("%s is a function and an aggregate", a.Name)
		}
		lines[a.Name] = line
	}
	if *rewrite {
		rewriteSignatures(t, lines)
	}
	for _, f := range fn.All() {
		checkEntry(t, f.Name, lines[f.Name])
	}
	for _, a := range fn.AllAggregates() {
		checkEntry(t, a.Name, lines[a.Name])
	}
}

func checkEntry(t *testing.T, name, line string) {
	text, ok := reference.Lookup(name)
	if !ok {
		t.Errorf("%s() has no entry: add a heading with an example; it would begin\n### %s\n\n%s", name, name, line)
		return
	}
	if *rewrite { // what is compiled in is not yet what was written
		return
	}
	if !strings.Contains(text, "\n"+line+"\n") {
		t.Errorf("the entry of %s() does not have its line\n%s", name, line)
	}
	if !strings.Contains(strings.ToLower(text), "```eql") || !strings.Contains(text, name+"(") {
		t.Errorf("the entry of %s() has no example", name)
	}
}

// TestNoEntryForWhatIsNot: the headings of the function pages are functions.
func TestNoEntryForWhatIsNot(t *testing.T) {
	pages, err := filepath.Glob("functions-*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(data), "\n") {
			name, ok := strings.CutPrefix(line, "### ")
			if !ok {
				continue
			}
			_, scalar := fn.Lookup(name)
			_, aggregate := fn.LookupAggregate(name)
			if !scalar && !aggregate {
				t.Errorf("%s describes %s(), which there is not", page, name)
			}
		}
	}
}

// rewriteSignatures puts each line behind its heading, in place of an older one.
func rewriteSignatures(t *testing.T, lines map[string]string) {
	pages, _ := filepath.Glob("functions-*.md")
	for _, page := range pages {
		data, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		in := strings.Split(string(data), "\n")
		for i := 0; i < len(in); i++ {
			out = append(out, in[i])
			line, ok := lines[strings.TrimPrefix(in[i], "### ")]
			if !ok || !strings.HasPrefix(in[i], "### ") {
				continue
			}
			out = append(out, "", line)
			if i+2 < len(in) && strings.HasPrefix(in[i+2], "`") && strings.Contains(in[i+2], "` → ") {
				i += 2
			}
		}
		if err := os.WriteFile(page, []byte(strings.Join(out, "\n")), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// signature is name(TYPE, [TYPE], ...).
func signature(name string, params []bound.Type, required int, variadic bool) string {
	var parts []string
	for i, p := range params {
		s := kinds(p)
		if name == "range" { // which checks its arguments itself
			s = fmt.Sprint(value.KindInt)
		}
		if i >= required {
			s = "[" + s + "]"
		}
		parts = append(parts, s)
	}
	if variadic {
		parts = append(parts, "...")
	}
	return name + "(" + strings.Join(parts, ", ") + ")"
}

func results(t bound.Type, depends bool) string {
	if depends {
		return "depends on the arguments"
	}
	return kinds(t)
}

// kinds names a type, the temporal kinds together where all are taken.
func kinds(t bound.Type) string {
	temporal := bound.Of(value.KindDate, value.KindLocalTime, value.KindTime, value.KindLocalDateTime, value.KindDateTime)
	if t.Kinds&temporal == temporal && t.Kinds|bound.Null.Kinds != bound.AnyKind {
		rest := t
		rest.Kinds &^= temporal
		if rest.Kinds == bound.Null.Kinds {
			return "INSTANT"
		}
		return strings.ReplaceAll(fn.Describe(rest), " or ", ", ") + " or INSTANT"
	}
	return fn.Describe(t)
}

// TestEveryErrorIsListed holds the page of errors to the codes there are.
func TestEveryErrorIsListed(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "../../errors.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	codes := 0
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, "Code") {
			return true
		}
		code := strings.TrimPrefix(spec.Names[0].Name, "Code")
		ast.Inspect(spec.Values[0], func(n ast.Node) bool {
			if lit, ok := n.(*ast.BasicLit); ok {
				code, _ = strconv.Unquote(lit.Value)
			}
			return true
		})
		codes++
		if text, ok := reference.Lookup(code); !ok || !strings.Contains(text, code) {
			t.Errorf("the error %s is not described", code)
		}
		return true
	})
	if codes == 0 {
		t.Error("no code was found")
	}
}

// operatorName is what a plan operator's Name returns.
var operatorName = regexp.MustCompile(`return "([A-Za-z]+)"|Operator: "([A-Za-z]+)"`)

// TestEveryOperatorIsListed holds the page about plans to the planner.
func TestEveryOperatorIsListed(t *testing.T) {
	page, _ := reference.Lookup("plans")
	known := map[string]bool{}
	for _, file := range []string{"names.go", "describe.go"} {
		code, err := os.ReadFile(filepath.Join("../internal/logical", file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range operatorName.FindAllStringSubmatch(string(code), -1) {
			known[m[1]+m[2]] = true
		}
	}
	if len(known) < 20 {
		t.Errorf("only %d operators were found", len(known))
	}
	_, table, _ := strings.Cut(page, "## Operators of plans")
	listed := strings.FieldsFunc(table, func(r rune) bool { return r == ' ' || r == ',' || r == '|' || r == '\n' })
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if !slices.Contains(listed, name) {
			t.Errorf("the operator %s is not described", name)
		}
	}
}

// TestEveryProcedureIsListed: a heading of its name with an example.
func TestEveryProcedureIsListed(t *testing.T) {
	for _, name := range query.ProcedureNames() {
		if text, ok := reference.Lookup(name); !ok || !strings.Contains(text, "CALL "+name) {
			t.Errorf("the procedure %s has no entry with an example", name)
		}
	}
}

// TestLanguageIsCovered names what a user may look up.
func TestLanguageIsCovered(t *testing.T) {
	topics := strings.Split(`MATCH|OPTIONAL MATCH|WHERE|UNWIND|WITH|RETURN|DISTINCT|ORDER BY|SKIP|LIMIT|UNION|
CREATE|MERGE|SET|REMOVE|DELETE|DETACH DELETE|FOREACH|CALL|YIELD|REMEMBER|RECALL|SUPERSEDE|CONTRADICT|RESOLVE|FORGET|RESTORE|CONSOLIDATE|REINFORCE|SHOW LEARNING|REVERT LEARNING|PRUNE TELEMETRY|LINK|VIA|AGAINST|DEPTH|FROM|EXPLAIN|PROFILE|
CASE|EXISTS|COUNT|COLLECT|reduce|all|any|none|single|list comprehension|pattern comprehension|map projection|
shortestPath|allShortestPaths|label expressions|variable length|
=|<>|<|<=|>|>=|+|-|*|/|%|^|AND|OR|XOR|NOT|IN|IS NULL|IS NOT NULL|STARTS WITH|ENDS WITH|CONTAINS|=~|[]|.|IS ::|IS TYPED|
comments|identifiers|parameters|literals|keywords|precedence|null`, "|")
	for k := value.KindNull; k <= value.KindDuration; k++ {
		topics = append(topics, fmt.Sprint(k))
	}
	for _, topic := range topics {
		if topic = strings.TrimSpace(topic); topic == "" {
			continue
		}
		if _, ok := reference.Lookup(topic); !ok {
			t.Errorf("nothing is found for %s", topic)
		}
	}
}
