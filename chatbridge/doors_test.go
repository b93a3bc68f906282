package chatbridge_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/chatbridge"
)

// ways are the only functions that may name each step on the way of words to a model:
// all that a person says goes through leg, which screens it. Utility generations are
// made of what was recorded, and so was screened.
var ways = map[string][]string{
	"Ask":      {"ask", "generate"},
	"ask":      {"round"},
	"round":    {"check", "loop"},
	"loop":     {"leg"},
	"leg":      {"start"},
	"screen":   {"leg"},
	"generate": {"Summary", "askTitle"},
}

// TestDoors holds that no other function asks a model, that what leads to one is
// screened before, and that only the wires link the libraries of providers.
func TestDoors(t *testing.T) {
	found := map[string][]string{}
	var order []string // of calls in leg
	each(t, ".", func(file *ast.File) {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			ast.Inspect(f.Body, func(n ast.Node) bool {
				sel, ok := n.(*ast.SelectorExpr)
				if !ok {
					return true
				}
				if _, ok := ways[sel.Sel.Name]; !ok {
					return true
				}
				if !slices.Contains(found[sel.Sel.Name], f.Name.Name) {
					found[sel.Sel.Name] = append(found[sel.Sel.Name], f.Name.Name)
				}
				if f.Name.Name == "leg" {
					order = append(order, sel.Sel.Name)
				}
				return true
			})
		}
	})
	for _, step := range slices.Sorted(maps.Keys(ways)) {
		slices.Sort(found[step])
		if !slices.Equal(found[step], ways[step]) {
			t.Errorf("%s is named by %v, and may be by %v", step, found[step], ways[step])
		}
	}
	if !slices.Equal(order, []string{"screen", "loop"}) {
		t.Errorf("leg calls %v: words are screened before a model is asked", order)
	}
}

func TestOnlyWiresLinkProviders(t *testing.T) {
	linked := 0
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if strings.HasPrefix(d.Name(), ".") && d.Name() != ".." || d.Name() == "testdata" {
			return filepath.SkipDir
		}
		each(t, path, func(file *ast.File) {
			for _, i := range file.Imports {
				switch {
				case strings.Contains(i.Path.Value, "anthropic-sdk-go"), strings.Contains(i.Path.Value, "openai-go"):
					linked++
					if filepath.ToSlash(path) != "../chatbridge/internal/wire" {
						t.Errorf("%s links %s", path, i.Path.Value)
					}
				case i.Path.Value == `"engram/chatbridge/internal/wire"` && filepath.ToSlash(path) != "../chatbridge":
					t.Errorf("%s speaks to providers", path)
				}
			}
		})
		return nil
	})
	if err != nil || linked == 0 {
		t.Errorf("%d files link providers, error %v", linked, err)
	}
}

// TestS37NoOpeners holds that nothing here can open an address in another program, or give
// one to a shell: the only files that start programs are those of commands, of MCP servers,
// and of the pager, which run an argument list that a person or the configuration gave.
func TestS37NoOpeners(t *testing.T) {
	starts := []string{"../benchmarks/serve_daemon.go", "../chatbridge/internal/box/command.go", "../chatbridge/internal/remotetool/process.go", "../cmd/engramd/consoleterm.go", "../graph/internal/embed/gen/main.go", "../graph/mutationtest/mutationtest.go"}
	var found []string
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, i := range file.Imports {
			if i.Path.Value == `"os/exec"` || i.Path.Value == `"plugin"` {
				found = append(found, filepath.ToSlash(path))
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok && slices.Contains([]string{"StartProcess", "ForkExec", "Exec"}, sel.Sel.Name) {
				if pkg, ok := sel.X.(*ast.Ident); ok && (pkg.Name == "os" || pkg.Name == "syscall" || pkg.Name == "unix") {
					t.Errorf("%s uses %s.%s", path, pkg.Name, sel.Sel.Name)
				}
			}
			return true
		})
		return nil
	})
	slices.Sort(found)
	if err != nil || !slices.Equal(found, starts) {
		t.Errorf("programs are started by %q, error %v", found, err)
	}
}

// TestAttacksHaveTests holds the table of DESIGN.md to the tests that there are: each attack
// has one whose name carries its id, and each name is a test's.
func TestAttacksHaveTests(t *testing.T) {
	tests := map[string]bool{}
	err := filepath.WalkDir("..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for line := range strings.Lines(string(text)) {
			if name, ok := strings.CutPrefix(line, "func Test"); ok {
				name, _, _ = strings.Cut(name, "(")
				tests["Test"+name] = true
			}
		}
		return err
	})
	design, readErr := os.ReadFile("DESIGN.md")
	if err != nil || readErr != nil {
		t.Fatal(err, readErr)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(string(design)) {
		cells := strings.Split(line, "|")
		if len(cells) != 5 || !strings.HasPrefix(cells[1], " S") {
			continue
		}
		for i, name := range strings.Split(cells[3], "`") {
			if i%2 == 1 {
				rows[strings.TrimSpace(cells[1])] = append(rows[strings.TrimSpace(cells[1])], name)
			}
		}
	}
	for n := 20; n <= 67; n++ {
		if n == 47 {
			n = 60
		}
		id := fmt.Sprintf("S%d", n)
		if !slices.ContainsFunc(rows[id], func(name string) bool { return strings.HasPrefix(name, "Test"+id) }) {
			t.Errorf("%s has no test of its own", id)
		}
		for _, name := range rows[id] {
			if !tests[name] {
				t.Errorf("%s: there is no %s", id, name)
			}
		}
	}
}

// each gives the files of a folder but its tests.
func each(t *testing.T, dir string, look func(*ast.File)) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") || strings.HasSuffix(e.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(dir, e.Name()), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		look(file)
	}
}

// TestWorkedExampleOnEveryDoor holds the worked example for each way of saying something:
// 50 and a third of 85 ring hard and ask no model; with a calm history, none, or another
// conversation's they ring soft.
func TestWorkedExampleOnEveryDoor(t *testing.T) {
	const words = "I can't go on GATE-RUN"
	const script = `{"scenarios": [{"marker": "GATE-RUN", "steps": [{"text": "I am here.", "calls": [{"name": "run_command", "arguments": {"argv": ["touch", "made"]}}]}, {"text": "I stay here."}, {"text": "I stay here."}]},
		{"marker": "GATE-PLAN", "steps": [{"text": "1. Wait."}, {"text": "2. Wait on."}]}]}`
	heavy := []string{"It is all hopeless and I am worthless.", "nobody cares, I can't take it anymore, I want to disappear"}
	type door func(w *world, conversation string) *chatbridge.Outcome
	send := func(m chatbridge.Message) door {
		return func(w *world, conversation string) *chatbridge.Outcome {
			m.Conversation, m.Text = conversation, words
			return w.send(w.bridge(), m)
		}
	}
	answer := func(begin chatbridge.Message, a chatbridge.Answer) door {
		return func(w *world, conversation string) *chatbridge.Outcome {
			begin.Conversation, a.Conversation = conversation, conversation
			if out := w.send(w.bridge(), begin); out.Status != "pending" {
				w.t.Fatalf("%+v %+v", out, out.Failure)
			} else if conversation == "" {
				a.Conversation = out.Conversation
			}
			return w.answer(w.bridge(), a)
		}
	}
	said := words
	for name, say := range map[string]door{
		"plain":         send(chatbridge.Message{NoTools: true}),
		"agentic":       send(chatbridge.Message{}),
		"ask all":       send(chatbridge.Message{AskAll: true}),
		"plan":          send(chatbridge.Message{Plan: true}),
		"denial":        answer(chatbridge.Message{Text: "GATE-RUN"}, chatbridge.Answer{Words: words}),
		"client result": answer(chatbridge.Message{Text: "GATE-RUN"}, chatbridge.Answer{Result: &said}),
		"revision":      answer(chatbridge.Message{Text: "GATE-PLAN", Plan: true}, chatbridge.Answer{Words: words}),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "openai", true, script)
			b := w.bridge()
			for _, text := range heavy {
				w.send(b, chatbridge.Message{Conversation: "heavy", Text: text})
			}
			w.send(b, chatbridge.Message{Conversation: "calm", Text: "What a nice day."})
			if out := say(w, "heavy"); out.Status != "done" || !strings.Contains(out.Reply, "116 123") {
				t.Errorf("after distress: %+v %+v", out, out.Failure)
			}
			for _, e := range w.gate.Entries() {
				if strings.Contains(fmt.Sprintf("%+v", e), "can't go on") {
					t.Errorf("a model was asked: %+v", e)
				}
			}
			fresh := ""
			for _, conversation := range []string{"calm", ""} {
				out := say(w, conversation)
				if out.Status == "failed" || strings.Contains(out.Reply, "116 123") {
					t.Errorf("in %q: %+v %+v", conversation, out, out.Failure)
				}
				fresh = out.Conversation
			}
			if got := w.rows("MATCH (b:BellEvent) WHERE b.score IN [50, 78] RETURN b.conversation, b.kind, b.score ORDER BY b.conversation DESC"); got != fmt.Sprintf("[[heavy hard 78] [calm soft 50] [%s soft 50]]", fresh) {
				t.Errorf("bells %s", got)
			}
			if got := w.rows("MATCH (c:Conversation {id: 'heavy'})-[:CONTAINS]->(t:Turn) RETURN count(t)"); got != "[[4]]" {
				t.Errorf("turns of a hard bell: %s", got)
			}
		})
	}
}
