package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// newcomerHeading marks the section of the README that TestNewcomer types.
const newcomerHeading = "## Ten minutes with your own notes\n"

// newcomerSection cuts that section out of a text.
func newcomerSection(t *testing.T, text string) (section, rest string) {
	t.Helper()
	before, section, ok := strings.Cut(text, newcomerHeading)
	if !ok {
		t.Fatalf("the README has no section %q", newcomerHeading)
	}
	section, after, _ := strings.Cut(section, "\n## ")
	return section, before + after
}

// typing is a shell that somebody types into.
type typing struct {
	t   *testing.T
	in  io.Writer
	out *bufio.Reader
}

// startShell starts a shell at the top of the clone, in a home of its own in which
// there is nothing. It ends with the test, and what it left running with it.
func startShell(t *testing.T, home string, env ...string) *typing {
	t.Helper()
	cmd := exec.Command("bash", "--noprofile", "--norc")
	cmd.Dir = "../.."
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOENV"} { // of the user, whose home is not the shell's
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	cmd.Env = append(append(os.Environ(), "HOME="+home, "GOPATH="+filepath.Join(home, "go"), "GOBIN="), env...)
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = write, write
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Start()
	_ = write.Close() // the shell has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_, _ = io.Copy(io.Discard, read)
		_ = cmd.Wait() // what failed in it was told
		_ = read.Close()
	})
	s := &typing{t: t, in: in, out: bufio.NewReader(read)}
	s.types("set -eu\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT")
	return s
}

// types gives the shell some lines and returns what it shows until they are done.
func (s *typing) types(lines string) string {
	s.t.Helper()
	const done = "== the next, please"
	if _, err := fmt.Fprintf(s.in, "%s\necho; echo '%s'\n", lines, done); err != nil {
		s.t.Fatalf("%s\n%v", lines, err)
	}
	var shown strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if strings.TrimSpace(line) == done {
			return shown.String()
		}
		shown.WriteString(line)
		if err != nil {
			s.t.Fatalf("$ %s\n%s\nfailed", lines, shown.String())
		}
	}
}

// askClient asks as an MCP client does whose configuration file has this content.
func askClient(t *testing.T, config []byte, home, question string) string {
	t.Helper()
	var file struct {
		Servers map[string]struct {
			Command string
			Args    []string
		} `json:"mcpServers"`
	}
	if err := json.Unmarshal(config, &file); err != nil || len(file.Servers) != 1 {
		t.Fatalf("the configuration of an MCP client: %v\n%s", err, config)
	}
	server := file.Servers["engram"]
	cmd := exec.Command(server.Command, server.Args...)
	cmd.Dir, cmd.Env, cmd.Stderr = home, []string{"HOME=" + home}, os.Stderr // nothing else of the shell
	session, err := sdk.NewClient(&sdk.Implementation{Name: "newcomer", Version: "1"}, nil).
		Connect(t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatalf("%s %q: %v", server.Command, server.Args, err)
	}
	defer session.Close()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "recall", Arguments: map[string]any{"query": question}})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for _, content := range res.Content {
		if text, ok := content.(*sdk.TextContent); ok {
			said.WriteString(text.Text)
		}
	}
	if res.IsError {
		t.Fatal(said.String())
	}
	return said.String()
}

// TestNewcomer types what the README tells somebody who has a clone, Go, curl and
// nothing else, in its order: the sentences of the notes come back in the console, by
// HTTP and to an MCP client.
func TestNewcomer(t *testing.T) {
	for _, program := range []string{"bash", "curl"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%v: install it, to try what the README tells newcomers; .ci/run fails without", err)
		}
	}
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	section, _ := newcomerSection(t, string(text))
	typed := blocks(section, "bash")
	if fences := strings.Count(section, "```"); len(typed) < 4 || fences != 2*len(typed) {
		t.Fatalf("the section has %d blocks for bash among %d fences", len(typed), fences)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // finds a free port
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	_ = l.Close()
	home := t.TempDir()
	s := startShell(t, home, "ENGRAM_LISTEN="+address)
	doors := map[string]int{}
	for _, block := range typed {
		shown := s.types(strings.ReplaceAll(block, "127.0.0.1:7463", address))
		t.Logf("$ %s\n%s", block, shown)
		if found := slips.FindString(shown); found != "" {
			t.Errorf("$ %s\nshows %q", block, found)
		}
		for _, door := range []struct{ mark, question, note, file string }{
			{"engramd console", "where is the passport?", "The passport is in the blue drawer of the desk.", "testdata/notes/papers.md"},
			{"/v1/recall", "when does the night train leave?", "The night train to Porto leaves at 21:35 from platform 4.", "testdata/notes/porto.md"},
			{"mcp.json", "who waters the tomatoes?", "Mira waters the tomatoes while we are away.", "testdata/notes/house.md"},
		} {
			if !strings.Contains(block, door.mark) {
				continue
			}
			doors[door.mark]++
			if note, err := os.ReadFile(door.file); err != nil || !strings.Contains(string(note), door.note) {
				t.Errorf("%s does not say %q: %v", door.file, door.note, err)
			}
			if !strings.Contains(section, door.question) {
				t.Errorf("the section does not ask %q", door.question)
			}
			if door.mark == "mcp.json" {
				config, err := os.ReadFile(filepath.Join(home, "mcp.json"))
				if err != nil {
					t.Fatal(err)
				}
				shown = askClient(t, config, home, door.question)
			}
			if !strings.Contains(shown, door.note) {
				t.Errorf("%s: %q does not find %q:\n%s", door.mark, door.question, door.note, shown)
			}
		}
	}
	s.types("wait") // for what the section stops
	if len(doors) != 3 {
		t.Errorf("the section has only these doors: %v", doors)
	}
}
