package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram"

	"go.etcd.io/bbolt"
)

// The graph whose import is killed, by default and for the long version.
const (
	killNodes, killEdges         = 50_000, 100_000
	longKillNodes, longKillEdges = 5_000_000, 10_000_000
	importKills                  = 10
)

// TestKillGraphImport kills an import of CSV files ten times at random and starts
// it again each time: it ends with the same nodes, edges and numbers as one that
// was left alone.
func TestKillGraphImport(t *testing.T) {
	nodes, edges, batch := killNodes, killEdges, []string{"--batch", "1000"}
	if os.Getenv("ENGRAM_LONG") != "" {
		nodes, edges, batch = longKillNodes, longKillEdges, nil
	} else if testing.Short() {
		nodes, edges = killNodes/10, killEdges/10
		batch[1] = "100"
	}
	dir := t.TempDir()
	files := []string{filepath.Join(dir, "nodes.csv"), filepath.Join(dir, "edges.csv")}
	writeGraph(t, files, nodes, edges)
	start := func(data string) *exec.Cmd {
		args := append([]string{"--data", filepath.Join(dir, data), "import", files[0], files[1], "--ack"}, batch...)
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), asProgram+"=1")
		return cmd
	}
	whole := start("whole")
	out, err := whole.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	acks := strings.Count(string(out), "ACK ")
	budget := importBudget(t, filepath.Join(dir, "whole"), nodes+edges)
	t.Logf("%d batches; the largest resident size was %d MiB of %d", acks, maxResident(whole)>>20, budget>>20)
	if maxResident(whole) > budget {
		t.Errorf("the import took %d MiB; its budget is %d", maxResident(whole)>>20, budget>>20)
	}
	if acks <= importKills {
		t.Fatalf("%d batches are too few to be interrupted %d times", acks, importKills)
	}
	const seed = 3
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	kills := 0
	for ; kills < importKills; kills++ {
		if !killAfter(t, start("killed"), random.IntN(acks/importKills)+1, time.Duration(random.IntN(int(20*time.Millisecond)))) {
			break
		}
	}
	if kills < importKills/2 {
		t.Errorf("only %d kills hit the import", kills)
	}
	last := start("killed")
	if out, err := last.CombinedOutput(); err != nil {
		t.Fatalf("the last one: %v\n%s", err, out)
	}
	t.Logf("after %d kills the last one had a largest resident size of %d MiB", kills, maxResident(last)>>20)
	// It opens what was there, which serving would need, beside making all of it.
	if budget += 60 * int64(nodes+edges); maxResident(last) > budget {
		t.Errorf("the last import took %d MiB; its budget is %d", maxResident(last)>>20, budget>>20)
	}
	compareGraphs(t, filepath.Join(dir, "whole"), filepath.Join(dir, "killed"))
}

// importBudget is how much memory an import may take, its file's pages included; see
// the section on bulk loads in graph/DESIGN.md.
func importBudget(t *testing.T, data string, elements int) int64 {
	t.Helper()
	info, err := os.Stat(graphFile(data))
	must(t, err)
	return info.Size() + 256<<20 + 60*int64(elements)
}

// writeGraph writes two CSV files with a few edges that repeat earlier ones.
func writeGraph(t *testing.T, files []string, nodes, edges int) {
	t.Helper()
	for i, fill := range []func(w *bufio.Writer){
		func(w *bufio.Writer) {
			fmt.Fprintln(w, "id,label,name,size")
			for i := range nodes {
				fmt.Fprintf(w, "node-%d,Kind%d,name of %d,%d\n", i*7919%nodes, i%3, i, i%1000)
			}
		},
		func(w *bufio.Writer) {
			fmt.Fprintln(w, "src,dst,type,weight")
			for i := range edges {
				if i%1000 == 999 {
					i -= 500
				}
				fmt.Fprintf(w, "node-%d,node-%d,TO%d,0.%d\n", i*13%nodes, (i*31+i/nodes)%nodes, i%2, i%10)
			}
		},
	} {
		f, err := os.Create(files[i])
		must(t, err)
		w := bufio.NewWriter(f)
		fill(w)
		must(t, w.Flush())
		must(t, f.Close())
	}
}

// killAfter kills a process some time after a number of acknowledgements, or tells
// that it ended before.
func killAfter(t *testing.T, cmd *exec.Cmd, acks int, delay time.Duration) (killed bool) {
	t.Helper()
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	must(t, err)
	must(t, cmd.Start())
	var timer *time.Timer
	for s := bufio.NewScanner(out); s.Scan(); {
		if acks--; acks == 0 {
			timer = time.AfterFunc(delay, func() { _ = cmd.Process.Kill() })
		}
	}
	err = cmd.Wait()
	if timer != nil {
		timer.Stop()
	}
	if err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return err != nil
}

// compareGraphs checks two directories and compares what is in them: the keys of
// the store, which hold all numbers, and what queries tell.
func compareGraphs(t *testing.T, a, b string) {
	t.Helper()
	if x, y := keysOf(t, a), keysOf(t, b); x != y {
		t.Errorf("the keys of the stores differ: %s and %s", x, y)
	}
	if x, y := told(t, a), told(t, b); x != y {
		t.Errorf("the graphs differ: %s and %s", x, y)
	}
}

func keysOf(t *testing.T, dir string) string {
	t.Helper()
	db, err := bbolt.Open(graphFile(dir), 0o600, &bbolt.Options{ReadOnly: true})
	must(t, err)
	defer func() { _ = db.Close() }()
	h, n := sha256.New(), 0
	must(t, db.View(func(tx *bbolt.Tx) error {
		for _, bucket := range []string{"names", "nodes", "edges", "index", "overflow"} {
			fmt.Fprintln(h, bucket)
			if err := tx.Bucket([]byte(bucket)).ForEach(func(k, _ []byte) error {
				n++
				fmt.Fprintf(h, "%x\n", k)
				return nil
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	return fmt.Sprintf("%d keys %x", n, h.Sum(nil)[:8])
}

func told(t *testing.T, dir string) string {
	t.Helper()
	ctx := context.Background()
	db, err := engram.Open(dir, &engram.Options{StatementTimeout: -1})
	must(t, err)
	defer func() { must(t, db.Close()) }()
	report, err := db.Check(ctx)
	must(t, err)
	if !report.OK() {
		t.Errorf("%s: %s", dir, report)
	}
	out := fmt.Sprintf("%d nodes, %d edges, %d texts", report.Nodes, report.Edges, report.Texts)
	for _, q := range []string{
		"MATCH (n) RETURN count(*), count(DISTINCT n.id), sum(n.size), min(n.name), max(n.name)",
		"MATCH (n) RETURN labels(n) AS l, count(*) ORDER BY l",
		"MATCH (a)-[r]->(b) RETURN type(r) AS t, count(*), sum(toInteger(r.weight * 10)), sum(a.size * b.size % 997) ORDER BY t",
		"MATCH (a {id: 'node-42'})-[r]-(b) RETURN b.id AS id, b.name, r.weight ORDER BY id, r.weight",
		"CALL text.search('name 4242', 3) YIELD node RETURN node.name",
	} {
		res, err := db.Query(ctx, q, nil)
		must(t, err)
		for _, row := range res.Rows {
			out += "\n"
			for _, v := range row {
				out += " " + v.String()
			}
		}
	}
	return out
}
