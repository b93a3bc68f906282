package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"engram/cmd/engramd/internal/shellcomplete"
	"engram/server/importer"
)

// TestCompletion asks what may be typed next, as the scripts do.
func TestCompletion(t *testing.T) {
	for _, c := range []struct {
		shell, words string // words between spaces; the last has the cursor
		want         string
	}{
		{"zsh", "imp", "import"},
		{"zsh", "re", "recall remember restore review"},
		{"zsh", "--data x imp", "import"},
		{"zsh", "--data=x imp", "import"},
		{"zsh", "-n notes imp", "import"},
		{"zsh", "-n import", ""}, // it is the value of -n
		{"zsh", "import --f", "--format"},
		{"zsh", "import --sk", "--skip-bad"},
		{"zsh", "import --names", "--namespace"}, // of every command
		{"zsh", "import --split ", "none conversation heading"},
		{"zsh", "import --split=he", "--split=heading"},
		{"bash", "import --split = he", "heading"},
		{"bash", "import --split =", "none conversation heading"},
		{"fish", "import --split he", "heading"},
		{"zsh", "import --format ", strings.Join(importer.Formats(), " ")},
		{"zsh", "import --split heading --dr", "--dry-run"},
		{"zsh", "import file --dr", "--dry-run"},
		{"zsh", "import imp", ""}, // files
		{"zsh", "import -- --f", ""},
		{"zsh", "import -q --dr", "--dry-run"},
		{"zsh", "export --format c", "cypher csv"},
		{"zsh", "query --format c", "csv"},
		{"bash", "query -p x = import --js", "--json"},
		{"zsh", "recall --no-w", "--no-why"},
		{"zsh", "recall word --include superseded,t", "superseded,telemetry"},
		{"zsh", "token c", "create"},
		{"zsh", "token create notes --scope read,w", "read,write"},
		{"zsh", "chat ex", "export"},
		{"zsh", "chat export --format m", "markdown"},
		{"zsh", "chat --workspa", "--workspace"}, // of the command that needs no name
		{"zsh", "help e", "eql export embedder"},
		{"zsh", "help eql e", ""},
		{"zsh", "completion ", "bash zsh fish"},
		{"zsh", "nosuch x", ""},
		{"zsh", "--nosuch imp", "import"},
	} {
		code, out, errs := command("", append([]string{shellcomplete.Command, c.shell}, strings.Split(c.words, " ")...)...)
		if got := strings.Join(strings.Fields(out), " "); code != exitOK || errs != "" || got != c.want {
			t.Errorf("%s: engramd %s: %q, want %q; %d %s", c.shell, c.words, got, c.want, code, errs)
		}
	}
	if code, _, errs := command("", shellcomplete.Command); code != exitUsage || !strings.Contains(errs, "engramd completion") {
		t.Errorf("without a shell: %d %s", code, errs)
	}
}

// TestCompletionKnowsAll: every command and every flag of a command is offered behind
// the words that lead there.
func TestCompletionKnowsAll(t *testing.T) {
	parser, err := kong.New(&grammar{}, kong.Name("engramd"), grammarVars())
	if err != nil {
		t.Fatal(err)
	}
	var walk func(n *kong.Node, words []string)
	seen := 0
	walk = func(n *kong.Node, words []string) {
		offered := shellcomplete.Offer(parser.Model.Node, "zsh", append(slices.Clone(words), ""))
		flags := shellcomplete.Offer(parser.Model.Node, "zsh", append(slices.Clone(words), "--"))
		for _, f := range n.Flags {
			if !f.Hidden && !slices.Contains(flags, "--"+f.Name) {
				t.Errorf("engramd %v does not offer --%s", words, f.Name)
			}
		}
		for _, child := range n.Children {
			if !child.Hidden && !slices.Contains(offered, child.Name) {
				t.Errorf("engramd %v does not offer %s, but %q", words, child.Name, offered)
			}
			seen++
			walk(child, append(slices.Clone(words), child.Name))
		}
	}
	walk(parser.Model.Node, nil)
	if seen < 30 {
		t.Errorf("only %d commands were asked for", seen)
	}
}

// TestCompletionScripts reads each script in its shell, and completes in bash; zsh and
// fish only check theirs, where they are installed.
func TestCompletionScripts(t *testing.T) {
	dir := t.TempDir()
	for _, shell := range shellcomplete.Shells {
		code, script, errs := command("", "completion", shell)
		if code != exitOK || !strings.Contains(script, shellcomplete.Command+" "+shell) {
			t.Fatalf("completion %s: %d %s\n%s", shell, code, errs, script)
		}
		file := filepath.Join(dir, shell)
		if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("%v: its script is not checked", err)
			continue
		}
		if out, err := exec.Command(shell, "-n", file).CombinedOutput(); err != nil {
			t.Errorf("%s -n: %v\n%s", shell, err, out)
		}
	}
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("%v: completing is not tried", err)
	}
	typed := `engramd() { "$PROGRAM" "$@"; }
eval "$(engramd completion bash)"
complete -p engramd
`
	want := "complete -o bashdefault -o default -F _engramd engramd\n"
	for _, c := range []struct{ words, want string }{
		{"engramd imp", "import"},
		{"engramd import --f", "--format"},
		{"engramd import --split = c", "conversation"}, // as bash takes it apart
		{"engramd import --split ''", "none conversation heading"},
		{"engramd import nosuch", ""},
	} {
		typed += "COMP_WORDS=(" + c.words + "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _engramd; echo \"${COMPREPLY[*]-}\"\n"
		want += c.want + "\n"
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-euc", typed)
	cmd.Env = append(os.Environ(), asProgram+"=1", "PROGRAM="+os.Args[0])
	if out, err := cmd.CombinedOutput(); err != nil || string(out) != want {
		t.Errorf("%s\nshows\n%s%v, want\n%s", typed, out, err, want)
	}
}
