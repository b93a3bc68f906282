package chatbridge_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"engram"
	"engram/server/client"

	"go.uber.org/goleak"
)

// onDaemon runs all tests of this package against a process of engramd, a namespace for
// each world, in place of databases in memory: go test ./chatbridge -remote.
var onDaemon = flag.Bool("remote", false, "use the memory of a daemon")

// database is a database, here or of a daemon.
type database interface {
	Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
	Read(ctx context.Context, text string, params map[string]any) (*engram.Result, error)
}

// embedded is a database of this process.
type embedded struct{ *engram.DB }

func (e embedded) Read(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	return e.Query(engram.WithLimits(ctx, engram.Limits{ReadOnly: true}), text, params)
}

// daemon is the process of -remote.
var daemon struct {
	url, token string
	namespaces atomic.Int64
}

func TestMain(m *testing.M) {
	if os.Getenv(asMCPServer) != "" {
		serveMCP()
	}
	flag.Parse()
	stop := func() {}
	if *onDaemon {
		var err error
		if stop, err = startDaemon(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"), goleak.Cleanup(func(code int) {
		stop()
		os.Exit(code)
	}))
}

// startDaemon builds engramd and serves an empty directory.
func startDaemon() (stop func(), err error) {
	dir, err := os.MkdirTemp("", "engram-chatbridge-")
	if err != nil {
		return nil, err
	}
	program := filepath.Join(dir, "engramd")
	if out, err := exec.Command("go", "build", "-o", program, "engram/cmd/engramd").CombinedOutput(); err != nil {
		return nil, fmt.Errorf("building engramd: %w: %s", err, out)
	}
	cmd := exec.Command(program, "--data", filepath.Join(dir, "data"), "serve", "--listen", "127.0.0.1:0", "--log-level", "error", "--loaded", "16")
	cmd.Stderr = os.Stderr
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "ENGRAM_") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	stop = func() {
		_ = cmd.Process.Signal(os.Interrupt) // it may have ended
		kill := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		_ = cmd.Wait() // nothing is asserted about it here
		_ = os.RemoveAll(dir)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		stop()
		return nil, fmt.Errorf("engramd serve: %q: %w", line, err)
	}
	secret, err := os.ReadFile(filepath.Join(dir, "data", "token"))
	if err != nil {
		stop()
		return nil, err
	}
	daemon.url, daemon.token = regexp.MustCompile(`http://\S+`).FindString(line), strings.TrimSpace(string(secret))
	return stop, nil
}

// newDatabase is an empty database for one world.
func newDatabase(t *testing.T) database {
	t.Helper()
	if !*onDaemon {
		db, err := engram.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { db.Close() })
		return embedded{db}
	}
	c, err := client.Open(daemon.url, &client.Options{Token: daemon.token, Namespace: fmt.Sprintf("world-%d", daemon.namespaces.Add(1))})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.CreateNamespace(t.Context()); err != nil {
		t.Fatal(err)
	}
	return c
}
