package benchmarks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"engram"
	"engram/server/importer"
)

// transaction is one line of writes.jsonl: a node and its edges.
type transaction struct {
	Node struct {
		ID         int     `json:"id"`
		Label      string  `json:"label"`
		Content    string  `json:"content"`
		Importance float64 `json:"importance"`
		CreatedAt  int64   `json:"created_at"`
	} `json:"node"`
	Edges []struct {
		Src    int     `json:"src"`
		Dst    int     `json:"dst"`
		Type   string  `json:"type"`
		Weight float64 `json:"weight"`
	} `json:"edges"`
}

// load imports the graph and checks the counts.
func (r *speedRun) load() error {
	start, cpu := time.Now(), cpuTime()
	if err := r.importInto(r.dir, importer.Options{}); err != nil {
		return err
	}
	took, used := time.Since(start).Seconds(), (cpuTime()-cpu).Seconds()*1000
	checksum, right, err := r.counts(r.meta.N, r.meta.E)
	if err != nil {
		return err
	}
	r.add(speedRow{Metric: "load_s", Value: took, Unit: "s", CPUMean: &used, N: 1, Checksum: checksum, OK: &right})
	r.add(speedRow{Metric: "load_peak_rss_mb", Value: peakRSS(), Unit: "MB", N: 1})
	// Closed, so that everything is written that will be.
	if err := r.db.Close(); err != nil {
		return err
	}
	r.db = nil
	if err := r.disk(); err != nil {
		return err
	}
	r.db, err = engram.Open(r.dir, nil)
	return err
}

// importInto makes r.db a database in dir and imports the graph into it.
func (r *speedRun) importInto(dir string, opts importer.Options) error {
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		return err
	}
	r.db = db
	nodes, err := os.Open(filepath.Join(r.set, "nodes.csv"))
	if err != nil {
		return err
	}
	defer nodes.Close()
	edges, err := os.Open(filepath.Join(r.set, "edges.csv"))
	if err != nil {
		return err
	}
	defer edges.Close()
	_, err = importer.Graph(r.ctx, db, nodes, edges, opts)
	return err
}

// loadWithoutText imports the graph once more, into a database of its own, and
// leaves the text index for later; then it measures the first search, which fills
// it.
func (r *speedRun) loadWithoutText() error {
	if err := r.db.Close(); err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(r.dir), "notext")
	defer os.RemoveAll(dir)
	start, cpu := time.Now(), cpuTime()
	if err := r.importInto(dir, importer.Options{NoText: true}); err != nil {
		return err
	}
	loaded, used := time.Since(start), (cpuTime()-cpu).Seconds()*1000
	checksum, right, err := r.counts(r.meta.N, r.meta.E)
	if err != nil {
		return err
	}
	r.add(speedRow{Metric: "load_notext_s", Value: loaded.Seconds(), Unit: "s", CPUMean: &used, N: 1, Checksum: checksum, OK: &right})
	filled := time.Now()
	q := map[string]any{"q": r.queries.Ft[0][0]}
	for {
		_, err := r.query("CALL text.search($q, 1) YIELD node RETURN node.id", q)
		if err == nil {
			break
		}
		if !engram.IsCode(err, engram.CodeBusy) { // it is being filled, longer than a search waits
			return err
		}
	}
	r.add(speedRow{Metric: "text_fill_s", Value: time.Since(filled).Seconds(), Unit: "s", N: 1})
	if err := r.db.Close(); err != nil {
		return err
	}
	r.db, err = engram.Open(r.dir, nil)
	return err
}

func (r *speedRun) disk() error {
	var bytes int64
	err := filepath.Walk(r.dir, func(_ string, info os.FileInfo, err error) error {
		if err == nil && !info.IsDir() {
			bytes += info.Size()
		}
		return err
	})
	r.add(speedRow{Metric: "disk_mb", Value: float64(bytes) / (1 << 20), Unit: "MB", N: 1})
	return err
}

// counts compares the numbers of nodes and edges with the wanted ones.
func (r *speedRun) counts(nodes, edges int) (checksum string, right bool, err error) {
	var got [2]int64
	for i, text := range []string{"MATCH (n) RETURN count(n)", "MATCH ()-[r]->() RETURN count(r)"} {
		res, err := r.query(text, nil)
		if err != nil {
			return "", false, err
		}
		got[i] = res.Rows[0][0].AsInt()
	}
	return fmt.Sprintf("%d:%d", got[0], got[1]), got == [2]int64{int64(nodes), int64(edges)}, nil
}

func (r *speedRun) transactions() ([]transaction, error) {
	return readLines[transaction](filepath.Join(r.set, "writes.jsonl"))
}

// turns is in how many turns the transactions are written, with bbolt's between
// them, so that both meet the same machine.
const turns = 20

// write runs every transaction durably: with one writer, in turns with bbolt alone
// writing the same, and then with 64 writers.
func (r *speedRun) write() error {
	transactions, err := r.transactions()
	if err != nil {
		return err
	}
	one, err := r.writeBeside(transactions)
	if err != nil {
		return err
	}
	before, err := r.db.Stats(r.ctx)
	if err != nil {
		return err
	}
	start := time.Now()
	if err := r.writeAll(transactions, 64, "w64-"); err != nil {
		return err
	}
	rate := float64(len(transactions)) / time.Since(start).Seconds()
	after, err := r.db.Stats(r.ctx)
	if err != nil {
		return err
	}
	if err := r.addWrites("write_tx_per_s_64", rate, len(transactions), 2); err != nil {
		return err
	}
	r.add(speedRow{Metric: "write_64_to_one", Value: rate / one, Unit: "x", N: 1})
	r.add(speedRow{Metric: "syncs_per_tx", Value: float64(after.Store.Syncs-before.Store.Syncs) / float64(len(transactions)), Unit: "syncs", N: len(transactions)})
	return nil
}

// writeBeside writes with one writer in turns with bbolt alone, which repeats the
// same puts and syncs on a copy of the file, and returns the transactions a second.
func (r *speedRun) writeBeside(transactions []transaction) (rate float64, err error) {
	copied, err := r.copyStore()
	if err != nil {
		return 0, err
	}
	yardstick, err := r.db.NewYardstick(copied)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, yardstick.Close()) }()
	var ours, bare, oursCPU, bareCPU time.Duration
	written, syncs, done := 0, uint64(0), 0
	for i := range turns {
		part := transactions[len(transactions)*i/turns : len(transactions)*(i+1)/turns]
		before, err := r.db.Stats(r.ctx)
		if err != nil {
			return 0, err
		}
		start, cpu := time.Now(), cpuTime()
		if err := r.writeAll(part, 1, ""); err != nil {
			return 0, err
		}
		ours, oursCPU = ours+time.Since(start), oursCPU+cpuTime()-cpu
		after, err := r.db.Stats(r.ctx)
		if err != nil {
			return 0, err
		}
		syncs += after.Store.Syncs - before.Store.Syncs
		done += len(part)
		cpu = cpuTime()
		n, took, err := yardstick.Repeat()
		if err != nil {
			return 0, err
		}
		written, bare, bareCPU = written+n, bare+took, bareCPU+cpuTime()-cpu
	}
	rate = float64(done) / ours.Seconds()
	alone := float64(written) / bare.Seconds()
	if err := r.addWrites("write_tx_per_s", rate, done, 1); err != nil {
		return 0, err
	}
	cpu, bareMean := milliseconds(oursCPU)/float64(done), milliseconds(bareCPU)/float64(written)
	r.rows[len(r.rows)-1].CPUMean = &cpu
	r.add(speedRow{Metric: "bbolt_tx_per_s", Value: alone, Unit: "tx/s", CPUMean: &bareMean, N: written})
	r.add(speedRow{Metric: "write_to_bbolt", Value: rate / alone, Unit: "x", N: 1})
	r.add(speedRow{Metric: "syncs_per_tx_one", Value: float64(syncs) / float64(done), Unit: "syncs", N: done})
	return rate, nil
}

// copyStore closes the database, copies its store's file and opens it again.
func (r *speedRun) copyStore() (copied string, err error) {
	if err := r.db.Close(); err != nil {
		return "", err
	}
	r.db = nil
	copied = filepath.Join(filepath.Dir(r.dir), "bbolt.db")
	from, err := os.Open(filepath.Join(r.dir, "ns", "default", "graph.db"))
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.Create(copied)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(to, from)
	if err = errors.Join(err, to.Close()); err != nil {
		return "", err
	}
	r.db, err = engram.Open(r.dir, nil)
	return copied, err
}

// addWrites adds the rate of a metric after so many rounds of all transactions, and
// checks the counts.
func (r *speedRun) addWrites(metric string, rate float64, transactions, rounds int) error {
	n := transactions * rounds
	checksum, right, err := r.counts(r.meta.N+n, r.meta.E+2*n)
	if err != nil {
		return err
	}
	r.add(speedRow{Metric: metric, Value: rate, Unit: "tx/s", N: transactions, Checksum: checksum, OK: &right})
	return nil
}

func (r *speedRun) writeAll(transactions []transaction, writers int, prefix string) error {
	ctx, cancel := context.WithCancelCause(r.ctx)
	defer cancel(nil)
	work := make(chan transaction)
	var wg sync.WaitGroup
	for range writers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for t := range work {
				if err := r.writeOne(ctx, t, prefix); err != nil {
					cancel(err)
					return
				}
			}
		}()
	}
	for _, t := range transactions {
		select {
		case work <- t:
		case <-ctx.Done():
		}
	}
	close(work)
	wg.Wait()
	return context.Cause(ctx)
}

func (r *speedRun) writeOne(ctx context.Context, t transaction, prefix string) error {
	text := "MATCH (a {id: $a}), (b {id: $b}) CREATE (n:" + t.Node.Label + " {id: $id, content: $content, importance: $importance, created_at: $created_at}), " +
		"(n)-[:" + t.Edges[0].Type + " {weight: $w1}]->(a), (b)-[:" + t.Edges[1].Type + " {weight: $w2}]->(n)"
	res, err := r.db.Query(ctx, text, map[string]any{
		"id": prefix + id(t.Node.ID), "content": t.Node.Content, "importance": t.Node.Importance, "created_at": t.Node.CreatedAt,
		"a": id(t.Edges[0].Dst), "b": id(t.Edges[1].Src), "w1": t.Edges[0].Weight, "w2": t.Edges[1].Weight,
	})
	if err != nil {
		return err
	}
	if res.Counters.NodesCreated != 1 || res.Counters.EdgesCreated != 2 {
		return fmt.Errorf("transaction of node %d created %d nodes and %d edges", t.Node.ID, res.Counters.NodesCreated, res.Counters.EdgesCreated)
	}
	return nil
}
