//go:build linux

package engram_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"
	"time"

	"engram"
)

const (
	blowupChild = "ENGRAM_TEST_BLOWUP"
	// blowupLimit is the hard limit of the child's data segment, blowupBudget the
	// budget of one statement, which is what has to keep it below.
	blowupLimit  = 640 << 20
	blowupBudget = 64 << 20
)

// blowups are statements that would take all memory or time. Each has to end with
// an error of its own.
func blowups() []step {
	deep := strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000)
	lists := strings.Repeat("[", 5000) + "1" + strings.Repeat("]", 5000)
	return []step{
		{"UNWIND range(1, 1000000000) AS x RETURN collect(x)", "ResourceExhausted"},
		{"UNWIND range(1, 1000000000) AS x RETURN x", "ResourceExhausted"},
		{"RETURN size(range(1, 1000000000))", "ResourceExhausted"},
		{"RETURN reduce(s = '', x IN range(1, 100000) | s + 'some more text')", "ResourceExhausted"},
		{"RETURN reduce(s = [0], x IN range(1, 40) | s + s)", "ResourceExhausted"},
		{"UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c RETURN a, b, c", "ResourceExhausted"},
		{"UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c WITH a, b, c ORDER BY c RETURN count(*)", "ResourceExhausted"},
		{"UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c RETURN DISTINCT a + b * 1000 + c * 1000000", "ResourceExhausted"},
		{"UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c RETURN a, b, c, count(*)", "ResourceExhausted"},
		{"UNWIND range(1, 1000) AS a UNWIND range(1, 1000) AS b UNWIND range(1, 1000) AS c RETURN count(DISTINCT a * b * c + c)", "ResourceExhausted"},
		{"UNWIND range(1, 10000) AS a UNWIND range(1, 10000) AS b RETURN percentileDisc(a * b, 0.5)", "ResourceExhausted"},
		{"MATCH (a), (b), (c), (d), (e), (f), (g) RETURN a, b, c, d, e, f, g", "ResourceExhausted"},
		{"MATCH (a), (b), (c), (d), (e), (f), (g) RETURN count(DISTINCT [a, b, c, d, e, f, g])", "ResourceExhausted"},
		{"MATCH (a), (b), (c), (d), (e), (f), (g), (h) WHERE a.i + b.i + c.i + d.i + e.i + f.i + g.i + h.i < 0 RETURN a", "ResourceExhausted"},
		{"MATCH p = (:K)-[*]->(:K) RETURN count(p)", "ResourceExhausted"},
		{"MATCH p = (a:K {i: 0})-[*]-(b) RETURN collect(p)", "ResourceExhausted"},
		{"MATCH p = allShortestPaths((a:K {i: 0})-[*]-(b:K {i: 1})) MATCH (x)-[*..12]-(y) RETURN count(*)", "ResourceExhausted"},
		{"RETURN " + deep, "ResourceExhausted"},
		{"RETURN " + lists, "ResourceExhausted"},
		{"RETURN " + strings.Repeat("NOT ", 100_000) + "true", "ResourceExhausted"},
		{"RETURN 1" + strings.Repeat(" + 1", 100_000), "ResourceExhausted"},
		{"RETURN '" + strings.Repeat("x", 10<<20) + "'", "ResourceExhausted"},
		{strings.Repeat("MATCH (n) ", 1<<20), "ResourceExhausted"},
		{"WITH reduce(s = 'aaaaaaaaaa', x IN range(1, 20) | s + s) AS t RETURN t =~ '(ab|cd|ef|gh|ij|kl|a)*(ab|cd|ef|gh|ij|kl)*(ab|cd|ef|gh|ij|kl)*b'", "ResourceExhausted"},
		{"WITH reduce(s = 'aaaaaaaaaa', x IN range(1, 20) | s + s) AS t UNWIND range(1, 1000) AS i RETURN count(t =~ ('(a|aa){1,50}b' + i))", "ResourceExhausted"},
		{"RETURN 'a' =~ '((((a{1,100}){1,100}){1,100}){1,100})'", "SyntaxError ArgumentError ResourceExhausted"},
		{"UNWIND range(1, 100000) AS x CREATE (n:Big {t: reduce(s = 'aaaaaaaaaa', x IN range(1, 10) | s + s)})", "ResourceExhausted LimitExceeded"},
		{"RETURN [x IN range(1, 30000) | [y IN range(1, 30000) | x * y]]", "ResourceExhausted"},
		{"RETURN all(x IN range(1, 2000000) WHERE any(y IN range(1, 2000000) WHERE x + y < 0))", "ResourceExhausted"},
		{"RETURN replace(reduce(s = 'aaaaaaaaaa', x IN range(1, 20) | s + s), 'a', reduce(s = 'b', x IN range(1, 20) | s + s))", "ResourceExhausted"},
		{"WITH reduce(l = [1], x IN range(1, 60) | [l, l]) AS l RETURN l", "ResourceExhausted"},
		{"WITH reduce(l = [1], x IN range(1, 60) | [l, l]) AS l, reduce(l = [1], x IN range(1, 60) | [l, l]) AS m RETURN l = m", "ResourceExhausted"},
		{"WITH reduce(m = {a: 1}, x IN range(1, 60) | {a: m, b: m}) AS m RETURN count(DISTINCT m)", "ResourceExhausted"},
		{"RETURN reduce(m = {a: 1}, x IN range(1, 60) | m {.a, b: [y IN [m, m] | y]})", "ResourceExhausted"},
		{"UNWIND range(1, 2) AS x WITH collect(range(1, 100000)) AS l " + strings.Repeat("UNWIND range(1, 2) AS x WITH collect(l) AS l ", 40) + "RETURN l", "ResourceExhausted"},
		{"RETURN reduce(l = [1], x IN range(1, 5000000) | [l])", "ResourceExhausted"},
		{"RETURN reduce(s = 'a', x IN range(1, 60) | s + s)", "ResourceExhausted"},
		{"WITH reduce(s = 'a', x IN range(1, 24) | s + s) AS s RETURN size([x IN range(1, 1000) | toUpper(s)])", "ResourceExhausted"},
		{"RETURN 'a' =~ reduce(s = 'a', x IN range(1, 24) | s + s)", "ResourceExhausted"},
		{"RETURN 1 AS a" + strings.Repeat(" UNION RETURN 1 AS a", 40_000), "ResourceExhausted"},
		{"RETURN 1 AS a" + strings.Repeat(" UNION ALL UNWIND range(1, 1000000) AS a RETURN a", 100), "ResourceExhausted"},
		{"RETURN split(reduce(s = 'aaaaaaaaaa', x IN range(1, 22) | s + s), '')", "ResourceExhausted"},
	}
}

// hugeParams are parameters that take a good part of the budget, or go deeper than
// anything should.
func hugeParams() map[string]any {
	deep := any(1)
	for range 100_000 {
		deep = []any{deep}
	}
	ints := make([]int, 500_000)
	for i := range ints {
		ints[i] = i
	}
	return map[string]any{"s": strings.Repeat("x", 16<<20), "l": ints, "deep": deep}
}

// blowupsOfParams are statements that each use some of hugeParams.
func blowupsOfParams() []step {
	return []step{
		{"RETURN [x IN range(1, 100) | $s + x]", "ResourceExhausted"},
		{"RETURN [x IN range(1, 100) | $l + x]", "ResourceExhausted"},
		{"UNWIND $l AS a UNWIND $l AS b RETURN count(DISTINCT a * 1000000 + b)", "ResourceExhausted"},
		{"UNWIND range(1, 1000) AS a RETURN a, $l", "ResourceExhausted"},
		{"RETURN $deep", "InvalidArgument"},
	}
}

// TestBlowupsInChild runs the statements in a process that cannot have more memory
// than a small multiple of the budget.
func TestBlowupsInChild(t *testing.T) {
	if testing.Short() {
		t.Skip("not with -short: statements that run into their time budget take a minute")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run", "^TestBlowups$", "-test.v")
	cmd.Env = append(os.Environ(), blowupChild+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "every blow-up ended well") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestBlowups is the part of TestBlowupsInChild that runs in the child; by itself it
// tests nothing.
func TestBlowups(t *testing.T) {
	if os.Getenv(blowupChild) == "" {
		return
	}
	limit := syscall.Rlimit{Cur: blowupLimit, Max: blowupLimit}
	if err := syscall.Setrlimit(syscall.RLIMIT_DATA, &limit); err != nil {
		t.Fatal(err)
	}
	db, err := engram.OpenMemory(&engram.Options{StatementMemory: blowupBudget, StatementTimeout: 3 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	ctx := context.Background()
	if _, err := db.Query(ctx, "UNWIND range(0, 29) AS i CREATE (:K {i: i})", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Query(ctx, "MATCH (a:K), (b:K) WHERE a.i < b.i CREATE (a)-[:T]->(b)", nil); err != nil {
		t.Fatal(err)
	}
	before := heap()
	params := hugeParams()
	for i, s := range append(blowupsOfParams(), blowups()...) {
		given := map[string]any{}
		if i < len(blowupsOfParams()) {
			for name, v := range params {
				if strings.Contains(s.text, "$"+name) {
					given[name] = v
				}
			}
		} else {
			params = nil // they are to be given back too
		}
		start := time.Now()
		_, err := db.Query(ctx, s.text, given)
		var e *engram.Error
		name := s.text[:min(len(s.text), 100)]
		if !errors.As(err, &e) || !strings.Contains(s.want, string(e.Code)) {
			t.Errorf("%s: %.300v, want %s", name, err, s.want)
		}
		fmt.Printf("%6d ms, %4d MB: %s\n", time.Since(start).Milliseconds(), heap()>>20, name)
		res, err := db.Query(ctx, "MATCH (n) RETURN count(n)", nil)
		if err != nil || fmt.Sprint(res.Rows) != "[[30]]" {
			t.Fatalf("after %s: %v, %v", name, res, err)
		}
	}
	if after := heap(); after > before+(32<<20) {
		t.Errorf("%d bytes are held, %d before", after, before)
	}
	if !t.Failed() {
		fmt.Println("every blow-up ended well")
	}
}

// heap returns the bytes that are in use after giving back what is not.
func heap() uint64 {
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
