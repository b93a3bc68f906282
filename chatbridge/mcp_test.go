package chatbridge_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram/chatbridge"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// asMCPServer has the test program be an MCP server; its value is what echo is described as.
const asMCPServer = "ENGRAM_TEST_MCP"

const hiddenName = "e\u200bcho"

func toolServer(described string) *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	add := func(name, description string, answer func(arguments string) string) {
		s.AddTool(&mcp.Tool{Name: name, Description: description, InputSchema: map[string]any{"type": "object"}}, func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			text := answer(string(r.Params.Arguments))
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: text == "fails"}, nil
		})
	}
	add("echo", described, func(a string) string { return "echo " + a })
	add(hiddenName, "hidden", func(string) string { return "hidden" })
	add("env", "environment", func(string) string { return strings.Join(os.Environ(), "\n") })
	add("big", "much", func(string) string { return strings.Repeat("é", 5000) })
	add("fails", "fails", func(string) string { return "fails" })
	add("child", "starts a program and tells both ids", func(string) string {
		c := exec.Command("sleep", "600")
		if err := c.Start(); err != nil {
			return err.Error()
		}
		return fmt.Sprintf("%d %d", os.Getpid(), c.Process.Pid)
	})
	add("secret", "not allowed", func(string) string { return "SECRET" })
	return s
}

func serveMCP() {
	if err := toolServer(os.Getenv(asMCPServer)).Run(context.Background(), &mcp.StdioTransport{}); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// stdio is the test program as a server named notes.
func stdio(described string, tools ...string) chatbridge.MCPServer {
	return chatbridge.MCPServer{Name: "notes", Command: []string{os.Args[0]}, Env: map[string]string{asMCPServer: described}, Tools: tools}
}

func calling(marker, name, arguments string) string {
	return `{"scenarios": [{"marker": "` + marker + `", "steps": [{"calls": [{"name": "` + name + `", "arguments": ` + arguments + `}]}, {"text": "Got: {results}"}]}]}`
}

// worked are the texts of the working events of a run.
func (w *world) worked(b *chatbridge.Bridge, run string) string {
	w.t.Helper()
	events, err := b.Events(w.t.Context(), run, 0)
	if err != nil {
		w.t.Fatal(err)
	}
	var out []string
	for _, e := range events {
		if e.Type == chatbridge.EventWorking || e.Type == chatbridge.EventToolCall {
			out = append(out, e.Type+" "+e.Text)
		}
	}
	return strings.Join(out, "\n")
}

// TestMCPTool calls a tool of a program and of an address: it is announced before, asks
// for consent, goes on in another process, and answers.
func TestMCPTool(t *testing.T) {
	everyWay(t, func(t *testing.T, wire string, stream bool) {
		for _, kind := range []string{"program", "address"} {
			w := newWorld(t, wire, stream, calling("GATE-MCP", "notes__echo", `{"text": "é <&> \"x\""}`))
			server := stdio("says it again", "echo")
			if kind == "address" {
				h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return toolServer("says it again") }, nil))
				t.Cleanup(h.Close)
				server = chatbridge.MCPServer{Name: "notes", URL: h.URL, Tools: []string{"echo"}}
			}
			w.o.MCP = []chatbridge.MCPServer{server}
			out := w.send(w.bridge(), chatbridge.Message{Text: "GATE-MCP"})
			if out.Pending == nil || out.Pending.RiskTier != "escalate" || !strings.HasPrefix(out.Pending.Shown, "call echo of the MCP server notes (") || !strings.Contains(out.Pending.Shown, `\"x\"`) {
				t.Fatalf("%s: %+v %+v", kind, out.Failure, out.Pending)
			}
			b := w.bridge()
			done := w.answer(b, chatbridge.Answer{Conversation: out.Conversation, CallID: out.Pending.CallID, Digest: out.Pending.Digest, Approve: true})
			if done.Status != "done" || !strings.HasPrefix(done.ToolsUsed[0].Result, "echo {") || !strings.Contains(done.ToolsUsed[0].Result, `é <&> \"x\"`) {
				t.Errorf("%s: %+v %+v", kind, done.Failure, done.ToolsUsed)
			}
			told := w.worked(b, out.Run)
			announced, call := strings.Index(told, "tool notes__echo: echo of the MCP server notes"), strings.Index(told, "tool_call")
			if first := strings.Index(told, "working MCP server notes: "); first != 0 || announced < 0 || call < announced {
				t.Errorf("%s: announced as\n%s", kind, told)
			}
			if tools := w.gate.Entries()[0].Tools; !slices.Contains(tools, "notes__echo") || slices.Contains(tools, "notes__secret") {
				t.Errorf("%s: offered %v", kind, tools)
			}
		}
	})
}

// TestS27ChangedEntryAsksAgain holds that an allowance is for a server as it was: another
// entry or another description of the same name asks again, and an approval of the one does
// not cover the other.
func TestS27ChangedEntryAsksAgain(t *testing.T) {
	w := newWorld(t, "openai", false, calling("GATE-MCP", "notes__echo", `{}`))
	ask := func(server chatbridge.MCPServer) (*chatbridge.Bridge, *chatbridge.Outcome) {
		w.o.MCP = []chatbridge.MCPServer{server}
		b := w.bridge()
		if _, err := b.Cancel(t.Context(), "c1"); err != nil {
			t.Fatal(err)
		}
		return b, w.send(b, chatbridge.Message{Conversation: "c1", Text: "GATE-MCP"})
	}
	b, out := ask(stdio("one", "echo"))
	if out.Status != "pending" {
		t.Fatalf("%+v", out)
	}
	if done := w.answer(b, chatbridge.Answer{Conversation: "c1", Approve: true, Remember: "always"}); done.Status != "done" {
		t.Fatalf("%+v", done)
	}
	if _, out := ask(stdio("one", "echo")); out.Status != "done" || out.ToolsUsed[0].Status != "ok" {
		t.Errorf("as it was allowed: %+v", out)
	}
	changed := stdio("one", "echo")
	changed.Command = append(changed.Command, "-more")
	if _, out := ask(changed); out.Status != "pending" {
		t.Errorf("another command: %s", out.Status)
	}
	h := func(described string) chatbridge.MCPServer {
		s := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return toolServer(described) }, nil))
		t.Cleanup(s.Close)
		return chatbridge.MCPServer{Name: "notes", URL: s.URL, Tools: []string{"echo"}}
	}
	if _, out := ask(h("one")); out.Status != "pending" {
		t.Errorf("an address in place of the program: %s", out.Status)
	}
	_, out = ask(stdio("two", "echo"))
	if out.Status != "pending" {
		t.Fatalf("another description: %s", out.Status)
	}
	w.o.MCP = []chatbridge.MCPServer{stdio("three", "echo")}
	if _, err := w.bridge().Answer(t.Context(), chatbridge.Answer{Conversation: "c1", Approve: true}); code(err) != "changed" {
		t.Errorf("approved as two, run as three: %v", err)
	}
}

// TestMCPServerThatIsDead holds that a server which does not start, does not speak, is not
// there or never answers is named, and that the run goes on without it.
func TestMCPServerThatIsDead(t *testing.T) {
	w := newWorld(t, "openai", false, calling("GATE-MCP", "list_dir", `{"path": "."}`))
	gone := httptest.NewServer(nil)
	gone.Close()
	w.o.MCPTime = 500 * time.Millisecond
	w.o.MCP = []chatbridge.MCPServer{
		{Name: "a-missing", Command: []string{"no-such-program"}, Tools: []string{"x"}},
		{Name: "b-mute", Command: []string{"true"}, Tools: []string{"x"}},
		{Name: "c-gone", URL: gone.URL, Tools: []string{"x"}},
		{Name: "d-hangs", Command: []string{"sleep", "600"}, Tools: []string{"x"}},
	}
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Text: "GATE-MCP"})
	told := w.worked(b, out.Run)
	for _, name := range []string{"a-missing", "b-mute", "c-gone", "d-hangs"} {
		if !strings.Contains(told, "the MCP server "+name+" cannot be used: ") {
			t.Errorf("%s is not named", name)
		}
	}
	if out.Status != "done" || !strings.Contains(told, "it did not answer within 500ms") {
		t.Errorf("%+v\n%s", out.Failure, told)
	}
}

// TestMCPResults holds what of results comes to a model: what fits, that the tool failed,
// nothing of what is not allowed; that arguments with a key twice are refused; and that
// hidden characters of a name are shown (S41).
func TestMCPResults(t *testing.T) {
	call := func(name, arguments string) string {
		return `{"calls": [{"name": "notes__` + name + `", "arguments": ` + arguments + `}]},`
	}
	w := newWorld(t, "anthropic", true, `{"scenarios": [{"marker": "GATE-MCP", "steps": [`+call("big", "{}")+call("fails", "{}")+call("secret", "{}")+
		call("echo", `{"a": {"b": 1, "B": 2}}`)+call("e_x200b_cho", "{}")+`{"text": "end"}]}]}`)
	w.o.MCP = []chatbridge.MCPServer{stdio("x", "big", "fails", "echo", hiddenName, "nowhere")}
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Text: "GATE-MCP"})
	shown := ""
	for out.Status == "pending" {
		shown += out.Pending.Shown + "\n"
		out = w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Approve: true})
	}
	if out.Status != "done" || len(out.ToolsUsed) != 5 {
		t.Fatalf("%+v %+v", out.Failure, out.ToolsUsed)
	}
	for i, want := range []string{"[cut here: 6000 of 10000 bytes are shown]", "The call failed: the tool says that it failed\nfails", "There is no tool notes__secret.", "is there twice", "hidden"} {
		if u := out.ToolsUsed[i]; !strings.HasSuffix(strings.TrimSuffix(u.Result, "."), strings.TrimSuffix(want, ".")) {
			t.Errorf("%s: %s %s", u.Name, u.Status, u.Result)
		}
	}
	if !strings.Contains(shown, `call e\u{200b}cho of the MCP server notes`) || strings.Contains(shown, "\u200b") {
		t.Errorf("shown was\n%s", shown)
	}
	if told := w.worked(b, out.Run); !strings.Contains(told, "the MCP server notes has no tool nowhere") || strings.Contains(told, "\u200b") {
		t.Errorf("told was\n%s", told)
	}
}

// TestS66ChildrenGetNoKeys holds that the programs of MCP servers have no keys in their
// environment, and end with the run together with what they started.
func TestS66ChildrenGetNoKeys(t *testing.T) {
	for _, name := range []string{"ENGRAM_LLM_KEY", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ENGRAM_TOKEN", "LD_PRELOAD_X"} {
		t.Setenv(name, "CANARY-KEY")
	}
	w := newWorld(t, "openai", false, `{"scenarios": [{"marker": "GATE-MCP", "steps": [{"calls": [{"name": "notes__env", "arguments": {}}]}, {"calls": [{"name": "notes__child", "arguments": {}}]}, {"text": "end"}]}]}`)
	w.o.MCP = []chatbridge.MCPServer{stdio("x", "env", "child")}
	b := w.bridge()
	out := w.send(b, chatbridge.Message{Text: "GATE-MCP"})
	for out.Status == "pending" {
		out = w.answer(b, chatbridge.Answer{Conversation: out.Conversation, Approve: true})
	}
	if len(out.ToolsUsed) != 2 || strings.Contains(out.ToolsUsed[0].Result, "CANARY") || !strings.Contains(out.ToolsUsed[0].Result, "PATH=/usr/local/bin:/usr/bin:/bin\n") {
		t.Fatalf("%+v", out.ToolsUsed)
	}
	for _, id := range strings.Fields(out.ToolsUsed[1].Result) {
		pid, err := strconv.Atoi(id)
		if err != nil {
			t.Fatal(err)
		}
		for runs(pid) { // it is killed, and ends in its own time
			runtime.Gosched()
		}
	}
}

// runs tells whether a process is there and was not ended.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return syscall.Kill(pid, 0) == nil && err == nil && !strings.Contains(string(stat), ") Z ")
}

// TestMCPServersThatCannotBe holds what of a configuration is refused.
func TestMCPServersThatCannotBe(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": {"command": ["x"]}}`: "list the tools", `{"a": {"command": ["x"], "tools": []}}`: "list the tools", `{"a": {"tools": ["x"]}}`: "a command or a url",
		`{"a": {"command": ["x"], "url": "http://h/", "tools": ["x"]}}`: "a command or a url", `{"a": {"url": "file:///x", "tools": ["x"]}}`: "no http or https",
		`{"A\u200b": {"command": ["x"], "tools": ["x"]}}`: `a\\u{200b}`, `{"a": {"command": ["x"], "tools": ["x"], "shell": true}}`: "no JSON object such as", `[]`: "no JSON object such as",
		`{"a": {"url": "http://u:p@h/", "tools": ["x"]}}`: "without a user", `{"a": {"command": ["x"], "tools": ["x"], "env": {"A=B": "x"}}}`: "no name of a variable",
	} {
		if _, err := chatbridge.ParseMCPServers([]byte(text)); err == nil || !strings.Contains(strings.ToLower(err.Error()), strings.ToLower(want)) {
			t.Errorf("%s: %v", text, err)
		}
	}
	servers, err := chatbridge.ParseMCPServers([]byte(`{"b": {"url": "https://h/mcp", "tools": ["y"]}, "a": {"command": ["x", "with space"], "env": {"K": "CANARY"}, "tools": ["x", "z"]}}`))
	if err != nil || fmt.Sprint(servers) != `[x "with space", tools: x, z https://h/mcp, tools: y]` {
		t.Errorf("%v, error %v", servers, err)
	}
}
