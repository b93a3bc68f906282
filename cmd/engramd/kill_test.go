package main

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram"
)

const (
	killRounds   = 200
	killAcks     = 100 // acknowledged transactions in a round, before the kill; fivefold with ENGRAM_LONG
	killSlack    = 100 // the kill comes within so many more
	roundsPerDir = 25
	minInside    = 50                   // kills that hit a transaction on its way
	maxDelay     = 2 * time.Millisecond // from the begin of a transaction to the kill
)

// TestKill kills an importing process with SIGKILL, again and again, and opens
// what it left: acknowledged transactions are there whole, others whole or not
// at all, and check finds nothing.
func TestKill(t *testing.T) {
	rounds := killRounds
	if testing.Short() {
		rounds = 10
	}
	acks := killAcks
	if os.Getenv("ENGRAM_LONG") != "" {
		acks *= 5
	}
	const seed = 1
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	inside, past := 0, 0
	var dir string
	for round := range rounds {
		if round%roundsPerDir == 0 {
			dir = t.TempDir()
		}
		k := killRound{dir: dir, name: fmt.Sprintf("r%d", round), file: filepath.Join(t.TempDir(), "memories.jsonl")}
		k.write(t, acks+killSlack+100)
		k.run(t, acks+random.IntN(killSlack), time.Duration(random.IntN(int(maxDelay))))
		k.verify(t)
		if k.inside {
			inside++
		}
		if k.found > k.acked {
			past++
		}
	}
	t.Logf("%d rounds: %d kills while a transaction was on its way, of which %d had become durable unacknowledged", rounds, inside, past)
	if want := minInside * rounds / killRounds; inside < want {
		t.Errorf("only %d kills hit a transaction on its way, want %d", inside, want)
	}
}

// killRound is one import that is killed.
type killRound struct {
	dir, name, file string
	acked           int  // lines acknowledged
	begun           int  // lines whose transaction was begun
	inside          bool // the last begun transaction was not acknowledged
	found           int  // lines found afterwards
}

func (k *killRound) id(i int) string { return fmt.Sprintf("%s-m%d", k.name, i) }

func (k *killRound) text(i int) string {
	return fmt.Sprintf("memory %d of round %s %s", i, k.name, strings.Repeat("x", i%50))
}

func (k *killRound) write(t *testing.T, lines int) {
	t.Helper()
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, `{"id":%q,"conversation":%q,"session":1,"speaker":"Ann","text":%q}`+"\n", k.id(i), k.name, k.text(i))
	}
	if err := os.WriteFile(k.file, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run starts the import and kills it after acks acknowledgements, a moment after
// the next transaction began: the moment is random, so that kills fall on every
// part of a commit.
func (k *killRound) run(t *testing.T, acks int, delay time.Duration) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "--data", k.dir, "import", k.file, "--batch", "1", "--ack", "--ack-begin")
	cmd.Env = append(os.Environ(), asProgram+"=1")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s := bufio.NewScanner(out)
	var timer *time.Timer
	for s.Scan() {
		k.read(t, s.Text())
		if timer == nil && k.acked >= acks && k.begun > k.acked {
			timer = time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait() // killed: its status says so
	if timer == nil || cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("%s ended by itself after %d acknowledgements: %s", k.name, k.acked, stderr.String())
	}
	k.inside = k.begun > k.acked
}

// read takes in a line that arrived whole.
func (k *killRound) read(t *testing.T, line string) {
	t.Helper()
	var seq, lines int
	if _, err := fmt.Sscanf(line, "ACK %d %d", &seq, &lines); err == nil {
		k.acked = lines
		return
	}
	if _, err := fmt.Sscanf(line, "BEGIN %d", &lines); err == nil {
		k.begun = lines
		return
	}
	if strings.HasPrefix("ACK ", line) || strings.HasPrefix(line, "ACK") || strings.HasPrefix(line, "BEGIN") {
		return // cut by the kill
	}
	t.Fatalf("unexpected output %q", line)
}

// verify opens what was left, in this process, and compares it with the file.
func (k *killRound) verify(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	db, err := engram.Open(k.dir, nil)
	if err != nil {
		t.Fatalf("%s: opening after the kill: %v", k.name, err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Errorf("%s: %v", k.name, err)
		}
	}()
	res, err := db.Query(ctx, `MATCH (s:Session {id: $session})-[:CONTAINS]->(m:Memory)
OPTIONAL MATCH (before:Memory)-[:TEMPORALLY_PRECEDES]->(m)
RETURN m.id, m.content, m.speaker, m.position, before.id ORDER BY m.position`, map[string]any{"session": "session:" + k.name + "/1"})
	if err != nil {
		t.Fatal(err)
	}
	all, err := db.Query(ctx, "MATCH (m:Memory {conversation: $c}) RETURN count(m)", map[string]any{"c": k.name})
	if err != nil {
		t.Fatal(err)
	}
	k.found = len(res.Rows)
	if n := all.Rows[0][0].AsInt(); n != int64(k.found) {
		t.Fatalf("%s: %d memories, but %d hang on their session", k.name, n, k.found)
	}
	if k.found < k.acked || k.found > k.begun {
		t.Fatalf("%s: found %d memories of %d acknowledged and %d begun", k.name, k.found, k.acked, k.begun)
	}
	for i, row := range res.Rows {
		before := ""
		if i > 0 {
			before = k.id(i - 1)
		}
		want := []any{k.id(i), k.text(i), "Ann", int64(i + 1), before}
		got := []any{row[0].AsString(), row[1].AsString(), row[2].AsString(), row[3].AsInt(), row[4].AsString()}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("%s: memory %d is %v, want %v", k.name, i, got, want)
		}
	}
	report, err := db.Check(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Fatalf("%s: check after the kill:\n%s", k.name, report)
	}
}
