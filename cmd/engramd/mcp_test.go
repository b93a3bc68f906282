package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"engram"
)

// mcpClient is a client of an engramd mcp of its own, and what was acknowledged.
type mcpClient struct {
	name    string
	cmd     *exec.Cmd
	session *sdk.ClientSession

	mu    sync.Mutex
	acked []string
}

func startMCP(t *testing.T, name, dir string, args ...string) *mcpClient {
	t.Helper()
	return startMCPLogging(t, os.Stderr, name, dir, args...)
}

func startMCPLogging(t *testing.T, log io.Writer, name, dir string, args ...string) *mcpClient {
	t.Helper()
	cmd := exec.Command(os.Args[0], append([]string{"--data", dir, "mcp", "--tools", "all"}, args...)...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	cmd.Stderr = log
	session, err := sdk.NewClient(&sdk.Implementation{Name: name, Version: "1"}, nil).
		Connect(t.Context(), &sdk.CommandTransport{Command: cmd, TerminateDuration: 20 * time.Second}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return &mcpClient{name: name, cmd: cmd, session: session}
}

// plan makes items of work, several at a time, and calls each once so many are
// acknowledged. Every item is asked for once.
func (c *mcpClient) plan(ctx context.Context, from, to int, each func(acked int)) error {
	next := make(chan int)
	errs := make(chan error, 4)
	var work sync.WaitGroup
	for range 4 {
		work.Go(func() {
			for i := range next {
				title := fmt.Sprintf("%s %d", c.name, i)
				res, err := c.session.CallTool(ctx, &sdk.CallToolParams{Name: "plan_work", Arguments: map[string]any{"title": title}})
				if err == nil && res.IsError {
					err = fmt.Errorf("%s", res.Content[0].(*sdk.TextContent).Text)
				}
				if err != nil {
					errs <- err
					for range next { // the others are left
					}
					return
				}
				c.mu.Lock()
				c.acked = append(c.acked, title)
				n := len(c.acked)
				c.mu.Unlock()
				if each != nil {
					each(n)
				}
			}
		})
	}
	for i := from; i < to; i++ {
		next <- i
	}
	close(next)
	work.Wait()
	close(errs)
	return <-errs
}

// TestMCPShared runs three clients with a server each on one directory, kills the
// owner under load, then ends the one that took its place, and starts another: who
// was not killed gets every answer, and what was acknowledged is there once.
func TestMCPShared(t *testing.T) {
	dir := t.TempDir() + "/data"
	a := startMCP(t, "a", dir)
	b, c := startMCP(t, "b", dir), startMCP(t, "c", dir)
	const each = 60
	var all sync.WaitGroup
	var killed, failed sync.Map
	all.Go(func() {
		_ = a.plan(t.Context(), 0, each, func(n int) {
			if n == 20 {
				_ = a.cmd.Process.Kill()
				killed.Store("a", true)
			}
		})
	})
	for _, cl := range []*mcpClient{b, c} {
		all.Go(func() {
			if err := cl.plan(t.Context(), 0, each, nil); err != nil {
				failed.Store(cl.name, err)
			}
		})
	}
	all.Wait()
	if _, ok := killed.Load("a"); !ok {
		t.Fatal("the owner was not killed")
	}
	for _, cl := range []*mcpClient{b, c} { // one of them owns the directory now
		d := startMCP(t, "d"+cl.name, dir)
		var ending sync.WaitGroup
		ending.Go(func() {
			if err := d.plan(t.Context(), 0, each, nil); err != nil {
				failed.Store(d.name, err)
			}
		})
		if err := cl.session.Close(); err != nil { // while the other one works
			t.Errorf("%s: %v", cl.name, err)
		}
		ending.Wait()
		if err := d.session.Close(); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		if len(d.acked) != each {
			t.Errorf("%s: %d of %d were answered", d.name, len(d.acked), each)
		}
		a.acked = append(a.acked, d.acked...)
	}
	failed.Range(func(name, err any) bool { t.Errorf("%v: %v", name, err); return true })
	if len(b.acked) != each || len(c.acked) != each {
		t.Errorf("of %d each, %d and %d were answered", each, len(b.acked), len(c.acked))
	}
	verifyWork(t, dir, append(append(a.acked, b.acked...), c.acked...))
}

// verifyWork opens what was left and looks for each title.
func verifyWork(t *testing.T, dir string, titles []string) {
	t.Helper()
	db, err := engram.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	res, err := db.Query(t.Context(), "MATCH (w:BacklogItem) RETURN w.title, count(*)", nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]int64{}
	for _, row := range res.Rows {
		found[row[0].AsString()] = row[1].AsInt()
		if row[1].AsInt() != 1 {
			t.Errorf("%s is there %d times", row[0].AsString(), row[1].AsInt())
		}
	}
	for _, title := range titles {
		if found[title] == 0 {
			t.Errorf("%s was acknowledged and is lost", title)
		}
	}
	if extra := len(found) - len(titles); extra > 4 { // those that were on their way at the kill
		t.Errorf("%d items were never acknowledged", extra)
	}
	if report, err := db.Check(t.Context()); err != nil || len(report.Problems) > 0 {
		t.Errorf("check: %+v, %v", report, err)
	}
}

// TestMCPOwnerLogsWrites: the process that has the directory tells on stderr of what its
// own client and those of others write, who came which way and how much, never what.
func TestMCPOwnerLogsWrites(t *testing.T) {
	dir := t.TempDir() + "/data"
	var ownerLog, guestLog lockedBuffer
	owner := startMCPLogging(t, &ownerLog, "owner", dir, "--log-format", "json")
	guest := startMCPLogging(t, &guestLog, "guest", dir, "--log-format", "json")
	for _, call := range []struct {
		c    *mcpClient
		tool string
		args map[string]any
	}{
		{owner, "remember", map[string]any{"content": "canary-content-71aa", "id": "m1", "alone": true}},
		{guest, "remember", map[string]any{"content": "canary-content-71ab", "id": "m2", "alone": true}},
		{guest, "link", map[string]any{"from": "m1", "to": "m2", "type": "ABOUT"}},
		{guest, "recall", map[string]any{"query": "canary"}},
		{owner, "link", map[string]any{"from": "m1", "to": "nobody", "type": "ABOUT"}},
	} {
		if _, err := call.c.session.CallTool(t.Context(), &sdk.CallToolParams{Name: call.tool, Arguments: call.args}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []*mcpClient{guest, owner} {
		if err := c.session.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for line := range strings.Lines(ownerLog.String()) {
		var e map[string]any
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		got = append(got, fmt.Sprint(e["msg"], " ", e["route"], " ", e["tool"], " ", e["namespace"], " ", e["outcome"], " ", e["nodes_created"], " ", e["edges_created"]))
	}
	want := "write stdio remember default ok 1 0\nwrite mcp.sock remember default ok 1 0\n" +
		"write mcp.sock link default ok 0 1\nwrite stdio link default refused 0 0"
	if strings.Join(got, "\n") != want {
		t.Errorf("the owner logs\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	if guestLog.String() != "" || strings.Contains(ownerLog.String(), "canary") {
		t.Errorf("the guest logs %q, the owner %s", guestLog.String(), ownerLog.String())
	}
}

// TestMCPAlone holds what the process itself says and how it ends.
func TestMCPAlone(t *testing.T) {
	dir := t.TempDir() + "/data"
	start := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"
	for _, c := range []struct {
		args string
		code int
		out  string
		err  string
	}{
		{"mcp --tools remembr", exitUsage, "", `there is no tool "remembr"; there are all, default, begin_session`},
		{"mcp --compat letta", exitUsage, "", `there is no compat mode "letta"`},
		{"mcp --compat memory --tools all", exitUsage, "", "tools cannot be chosen"},
		{"-n No mcp", exitUsage, "", "No"},
		{"mcp --read-only", exitNotFound, "", "no database"},
		{"mcp", exitOK, `"serverInfo":{"name":"engram"`, ""},
		{"mcp --read-only", exitOK, `"serverInfo":{"name":"engram"`, ""},
		{"help mcp", exitOK, `"mcpServers"`, ""},
		{"help mcp tools", exitUsage, "", "it has no topic tools"},
	} {
		var out, errOut strings.Builder
		code := run(context.Background(), append([]string{"--data", dir}, strings.Fields(c.args)...), strings.NewReader(start), &out, &errOut)
		if code != c.code || !strings.Contains(out.String(), c.out) || !strings.Contains(errOut.String(), c.err) {
			t.Errorf("engramd %s: exit %d\n%s%s", c.args, code, &out, &errOut)
		}
	}
}
