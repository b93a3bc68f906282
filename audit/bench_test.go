package audit_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram/audit"
	"engram/graph"
	"engram/graph/value"
)

// BenchmarkAudit audits 1 million nodes and 5 million edges on disk, or with -short a
// hundredth of that, all findings in one run and each alone.
//
//	go test ./audit -run '^$' -bench Audit -benchtime 1x -cpu 1
func BenchmarkAudit(b *testing.B) {
	nodes := 1_000_000
	if testing.Short() {
		nodes = 10_000
	}
	db := large(b, nodes, 5*nodes)
	// The pages of the file count as the process's memory once they were read.
	tx, err := db.LongSnapshot()
	if err != nil {
		b.Fatal(err)
	}
	if _, err := audit.Run(context.Background(), tx, &audit.Options{Only: []string{"orphans_and_dangling"}}); err != nil {
		b.Fatal(err)
	}
	tx.Rollback()
	run := func(b *testing.B, o *audit.Options) {
		for b.Loop() {
			debug.FreeOSMemory()
			peak()
			before, cpu := peak(), cpuTime()
			tx, err := db.LongSnapshot()
			if err != nil {
				b.Fatal(err)
			}
			if _, err := audit.Run(context.Background(), tx, o); err != nil {
				b.Fatal(err)
			}
			tx.Rollback()
			b.ReportMetric((cpuTime() - cpu).Seconds(), "cpu-s/op")
			b.ReportMetric(float64(peak()-before)/(1<<20), "MiB-more/op")
		}
	}
	b.Run("all", func(b *testing.B) { run(b, nil) })
	for _, name := range audit.Names() {
		b.Run(name, func(b *testing.B) { run(b, &audit.Options{Only: []string{name}}) })
	}
}

// peak returns the most memory that the process had since it was called last, 0 where
// that is not told.
func peak() int64 {
	defer func() { _ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) }()
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(b), "VmHWM:")
	fields := strings.Fields(rest)
	if len(fields) == 0 {
		return 0
	}
	kib, err := strconv.ParseInt(fields[0], 10, 64)
	if err != nil {
		return 0
	}
	return kib << 10
}

// cpuTime is what the process has used of all cores.
func cpuTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// large makes a graph on disk like memories are: notes of some twelve words, a few of
// them alike, relations that favour some nodes.
func large(tb testing.TB, nodes, edges int) *graph.DB {
	tb.Helper()
	ok := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	dir := os.Getenv("ENGRAM_AUDIT_DATA") // kept for the next run
	kept := dir != ""
	if !kept {
		dir = filepath.Join(tb.TempDir(), "data")
	}
	_, missing := os.Stat(dir)
	if missing != nil {
		ok(graph.CreateData(dir))
	}
	data, err := graph.OpenData(dir, graph.DataOptions{})
	ok(err)
	tb.Cleanup(func() { ok(data.Close()) })
	if missing != nil {
		ok(data.Create("large", nil))
	}
	db, err := data.Open(context.Background(), "large", nil)
	ok(err)
	tb.Cleanup(func() { ok(db.Close(context.Background())) })
	if missing != nil {
		fill(tb, db, nodes, edges)
	}
	return db
}

func fill(tb testing.TB, db *graph.DB, nodes, edges int) {
	tb.Helper()
	ok := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	rnd := rand.New(rand.NewPCG(7, uint64(nodes)))
	words := strings.Fields(common)
	for i := range 20_000 {
		words = append(words, fmt.Sprintf("x%x", i*7919))
	}
	load, err := db.Load(context.Background())
	ok(err)
	ids := make([]value.NodeID, nodes)
	text := make([]string, 12)
	tiers := []string{"Working", "Episodic", "Canonical"}
	for i := range ids {
		if rnd.IntN(50) != 0 { // else the text before, again
			for j := range text {
				text[j] = words[int(float64(len(words))*rnd.Float64()*rnd.Float64()*rnd.Float64()*rnd.Float64())]
			}
		} else {
			text[rnd.IntN(len(text))] = "changed"
		}
		ids[i], err = load.Node([]string{"Memory", "Note"}, []value.Prop{
			{Key: "content", Value: value.String(strings.Join(text, " "))},
			{Key: "tier", Value: value.String(tiers[rnd.IntN(3)])},
			{Key: "importance", Value: value.Float(rnd.Float64())},
		})
		ok(err)
	}
	types := []string{"RELATED", "ACTIVATES", "CONTAINS", "TEMPORALLY_PRECEDES", "KNOWS"}
	for range edges {
		to := ids[int(float64(nodes)*rnd.Float64()*rnd.Float64()*rnd.Float64())]
		_, err := load.Edge(ids[rnd.IntN(nodes)], to, types[rnd.IntN(len(types))], []value.Prop{{Key: "weight", Value: value.Float(rnd.Float64())}})
		ok(err)
	}
	_, err = load.Close()
	ok(err)
}

// common are words that any model knows.
const common = `time person year way day thing man world life hand part child eye woman place work week case
point government company number group problem fact water room mother area money story month lot right study book job word
business issue side kind head house service friend father power hour game line end member law car city community name
president team minute idea body information back parent face others level office door health art war history party result
change morning reason research girl guy moment air teacher force education garden river music train summer winter doctor`
