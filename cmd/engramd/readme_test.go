package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// readmeFiles are what the commands of the README read.
var readmeFiles = map[string]string{
	"memories.jsonl": `{"id":"r1","conversation":"move","session":1,"date":"2024-05-01","speaker":"Ann","text":"I moved to Lisbon."}
{"id":"r2","conversation":"move","session":1,"date":"2024-05-01","speaker":"Ben","text":"How is the new flat?"}
`,
	"nodes.csv":     "id,label,name\np,City,Porto\nl,City,Lisbon\n",
	"edges.csv":     "src,dst,type,km\np,l,ROAD,313\n",
	"notes/trip.md": "The coat is in the wardrobe, see [[packing]].\n", "notes/packing.md": "# Packing\nSocks.\n",
	"script.eql": "// comment\nMATCH (m:Memory) RETURN count(m);\n:stats\n",
	"talks/memories.jsonl": `{"id":"r1","conversation":"move","session":1,"text":"I moved to Lisbon."}
`,
	"talks/questions.jsonl": `{"id":"q1","conversation":"move","question":"Who moved to Lisbon?","category":"single-hop","evidence":["r1"]}
`,
}

// blocks returns the code blocks of a language in a Markdown text.
func blocks(text, language string) []string {
	var out []string
	for _, part := range strings.Split(text, "```"+language+"\n")[1:] {
		code, _, _ := strings.Cut(part, "```")
		out = append(out, code)
	}
	return out
}

// TestReadme runs every command and the program that the README shows.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, content := range readmeFiles {
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := 0
	for _, block := range blocks(string(text), "sh") {
		for line := range strings.Lines(block) {
			command := strings.Replace(strings.TrimSpace(line), "go run ./cmd/engramd", "engramd", 1)
			if !strings.HasPrefix(command, "engramd ") {
				t.Errorf("the README shows %q, which this test does not know how to run", line)
				continue
			}
			cmd := exec.Command("sh", "-c", `engramd() { "$PROGRAM" "$@"; }; `+command)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), asProgram+"=1", "PROGRAM="+os.Args[0])
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", command, err, out)
			}
			if found := slips.Find(out); found != nil {
				t.Errorf("%s shows %q", command, found)
			}
			ran++
		}
	}
	if ran < 10 {
		t.Errorf("only %d commands of the README were run", ran)
	}
	programs := blocks(string(text), "go")
	if len(programs) != 1 {
		t.Fatalf("the README has %d Go programs, want 1", len(programs))
	}
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(programs[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "program"), source) // from this module, whose packages it imports
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	program := exec.Command(filepath.Join(dir, "program"))
	program.Dir = dir
	out, err := program.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "Ann moved to Lisbon in May - matches Lisbon") {
		t.Errorf("the README's program: %v, printed %q", err, out)
	}
}

// TestReadmeTellsExitCodes holds the README's table to the codes of the program.
func TestReadmeTellsExitCodes(t *testing.T) {
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	for code, word := range map[int]string{
		exitOK: "ok", exitError: "error", exitUsage: "command line", exitNotFound: "not there", exitInUse: "another process",
		exitDamaged: "damaged", exitLimit: "limit", exitRefused: "refused", exitUnknown: "not known",
	} {
		found := false
		for line := range strings.Lines(string(text)) {
			found = found || strings.HasPrefix(line, "| "+string(rune('0'+code))+" |") && strings.Contains(line, word)
		}
		if !found {
			t.Errorf("the README does not tell exit code %d with the word %q", code, word)
		}
	}
}

// TestHelpOfEveryCommand asks every command that there is for help: each shows an example
// of itself.
func TestHelpOfEveryCommand(t *testing.T) {
	parser, err := kong.New(&grammar{}, kong.Name("engramd"), kong.Vars{"formats": "x", "export_formats": "x"})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	var walk func(n *kong.Node, path string)
	walk = func(n *kong.Node, path string) {
		for _, child := range n.Children {
			if child.Type != kong.CommandNode {
				continue
			}
			command := strings.TrimSpace(path + " " + child.Name)
			code, stdout, stderr := engramd(append(strings.Fields(command), "--help")...)
			if code != exitOK || stderr != "" || !strings.Contains(stdout, "engramd "+command+" ") {
				t.Errorf("%s --help: exit code %d, %s", command, code, stderr)
			}
			if child == n.DefaultCmd {
				command = path // it needs no name
			}
			_, examples, ok := strings.Cut(stdout, "Example")
			name := strings.Fields(command)
			if !ok || !strings.Contains(examples, "engramd ") || !strings.Contains(examples, name[len(name)-1]) {
				t.Errorf("%s --help shows no example:\n%s", command, stdout)
			}
			seen++
			walk(child, command)
		}
	}
	walk(parser.Model.Node, "")
	if seen < 30 {
		t.Errorf("only %d commands were asked", seen)
	}
}
