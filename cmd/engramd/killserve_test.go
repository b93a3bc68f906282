package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"engram"
	"engram/server/client"
)

// TestKillServer kills a server with SIGKILL under load from 32 clients, again and
// again: every write that was acknowledged is there afterwards, and every one that was
// spooled arrives once.
func TestKillServer(t *testing.T) {
	rounds, acks := 8, 400
	if testing.Short() {
		rounds, acks = 2, 150
	}
	if os.Getenv("ENGRAM_LONG") != "" {
		rounds = 60
	}
	dir, spools := filepath.Join(t.TempDir(), "data"), t.TempDir()
	var acked, queued sync.Map // ids
	for round := range rounds {
		url, kill := startProcess(t, dir)
		secret, err := os.ReadFile(filepath.Join(dir, "token"))
		if err != nil {
			t.Fatal(err)
		}
		var count atomic.Int64
		var clients sync.WaitGroup
		for i := range 32 {
			c, err := client.Open(url, &client.Options{Token: strings.TrimSpace(string(secret)), Spool: filepath.Join(spools, fmt.Sprint(i))})
			if err != nil {
				t.Fatal(err)
			}
			clients.Go(func() {
				defer func() { _ = c.Close() }() // its spool is read below
				for n := 0; n < 5000; n++ {
					id := fmt.Sprintf("r%d-c%d-%d", round, i, n)
					_, err := c.Store(context.Background(), "REMEMBER $text :Load {id: $id} ALONE", map[string]any{"id": id, "text": "load " + id})
					switch {
					case err == nil:
						acked.Store(id, true)
						if count.Add(1) == int64(acks) {
							kill()
						}
					case engram.IsCode(err, client.CodeQueued):
						queued.Store(id, true)
						return
					default:
						t.Errorf("%s: %v", id, err)
						return
					}
				}
				t.Errorf("client %d was never cut off", i)
			})
		}
		clients.Wait()
		kill()
	}
	s := serve(t, dir)
	for i := range 32 {
		c, err := client.Open(s.url, &client.Options{Token: s.token, Spool: filepath.Join(spools, fmt.Sprint(i))})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Drain(context.Background()); err != nil || c.Waiting() != 0 {
			t.Errorf("client %d: %v, %d wait", i, err, c.Waiting())
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	if code, errs := s.stop(); code != 0 {
		t.Fatalf("%d %s", code, errs)
	}
	db, err := engram.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	res, err := db.Query(context.Background(), "MATCH (m:Load) RETURN m.id, m.content, coalesce(m.uses, 0)", nil)
	if err != nil {
		t.Fatal(err)
	}
	there := map[string]bool{}
	for _, row := range res.Rows {
		id := row[0].AsString()
		if there[id] || row[1].AsString() != "load "+id {
			t.Errorf("%s is there twice, or with another text: %v", id, row)
		}
		there[id] = true
	}
	lost, nAcked, nQueued := 0, 0, 0
	acked.Range(func(id, _ any) bool {
		if nAcked++; !there[id.(string)] {
			lost++
		}
		return true
	})
	queued.Range(func(id, _ any) bool {
		if nQueued++; !there[id.(string)] {
			lost++
		}
		return true
	})
	t.Logf("%d kills: %d writes acknowledged, %d spooled, %d there", rounds, nAcked, nQueued, len(there))
	if lost > 0 || nAcked < rounds*acks || nQueued < rounds || len(there) != nAcked+nQueued {
		t.Errorf("lost %d; acknowledged %d, spooled %d, there %d", lost, nAcked, nQueued, len(there))
	}
	if report, err := db.Check(context.Background()); err != nil || !report.OK() {
		t.Errorf("check: %+v, %v", report, err)
	}
}

// startProcess runs engramd serve as a process of its own.
func startProcess(t *testing.T, dir string) (url string, kill func()) {
	t.Helper()
	return startProcessWith(t, dir, nil)
}

// startProcessWith is startProcess with more variables of the environment and flags.
func startProcessWith(t *testing.T, dir string, env []string, flags ...string) (url string, kill func()) {
	t.Helper()
	url, _, kill = startCommand(t, dir, env, flags...)
	return url, kill
}

// startCommand is startProcessWith that tells the process too.
func startCommand(t *testing.T, dir string, env []string, flags ...string) (url string, cmd *exec.Cmd, kill func()) {
	t.Helper()
	cmd = exec.Command(os.Args[0], append([]string{"--data", dir, "serve", "--listen", "127.0.0.1:0", "--log-level", "error"}, flags...)...)
	cmd.Env = append(append(os.Environ(), asProgram+"=1"), env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed: its status says so
	})
	t.Cleanup(kill)
	timer := time.AfterFunc(time.Minute, kill)
	defer timer.Stop()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("serve: %q, %v", line, err)
	}
	return regexp.MustCompile(`http://\S+`).FindString(line), cmd, kill
}
