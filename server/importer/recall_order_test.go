package importer_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	"engram"
	"engram/server/importer"
)

// orderedGraph writes two CSV files: sessions with turns in order, questions and
// answers, mentions, and many turns that say the same. The rows are shuffled.
func orderedGraph(seed uint64) (nodes, edges string) {
	subjects := []string{"the ferry to Kos", "her blue bicycle", "plum jam", "a broken oven", "the choir", "his knee"}
	verbs := []string{"asked about", "talked of", "sold", "painted", "waited for", "dreamt of"}
	var n, e []string
	for s := range 8 {
		n = append(n, fmt.Sprintf("s%d,Session,,", s))
		for t := range 30 {
			id := fmt.Sprintf("m%d-%d", s, t)
			who := []string{"Ida", "Jon"}[t%2]
			text := fmt.Sprintf("%s %s again", verbs[(s+t)%6], subjects[(s*t+t)%6])
			if t%10 == 9 {
				text = "hm plum jam" // equal texts: ties everywhere
			}
			n = append(n, fmt.Sprintf("%s,Memory,%s,%s", id, text, who))
			e = append(e, fmt.Sprintf("s%d,%s,CONTAINS", s, id))
			if t > 0 {
				e = append(e, fmt.Sprintf("m%d-%d,%s,TEMPORALLY_PRECEDES", s, t-1, id))
			}
			if t%7 == 1 {
				e = append(e, fmt.Sprintf("%s,m%d-%d,ANSWERS", id, s, t-1), fmt.Sprintf("%s,m%d-%d,REFERENCES", id, (s+3)%8, (t*5)%30))
			}
		}
	}
	r := rand.New(rand.NewPCG(seed, 1))
	r.Shuffle(len(n), func(i, j int) { n[i], n[j] = n[j], n[i] })
	r.Shuffle(len(e), func(i, j int) { e[i], e[j] = e[j], e[i] })
	return "id,label,content,speaker\n" + strings.Join(n, "\n") + "\n", "src,dst,type\n" + strings.Join(e, "\n") + "\n"
}

// recalledAfter imports the graph in an order and prints what is recalled, with
// the bits of all scores.
func recalledAfter(t *testing.T, seed uint64) string {
	t.Helper()
	db := memory(t)
	nodes, edges := orderedGraph(seed)
	if _, err := importer.Graph(context.Background(), db, strings.NewReader(nodes), strings.NewReader(edges), importer.Options{}); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, q := range []string{"plum jam", "What did Ida sell?", "who waited for the ferry?", "jam", "a broken bike and cooking"} {
		res := answer(t, db, "RECALL $q LIMIT 30 AT datetime('2026-01-01') YIELD node AS m, score, lexical, semantic, activation, path, why RETURN m.id, score, lexical, semantic, activation, [n IN nodes(path) | n.id], why", map[string]any{"q": q})
		for _, row := range res.Rows {
			fmt.Fprintf(&b, "%s %s", q, row[0])
			for _, v := range row[1:5] {
				fmt.Fprintf(&b, " %x", math.Float64bits(v.AsFloat()))
			}
			fmt.Fprintf(&b, " %s %s\n", row[5], row[6])
		}
	}
	return b.String()
}

const orderSeedEnv = "ENGRAM_TEST_RECALL_ORDER"

// TestRecallInAnyOrder imports the same records in several orders, and in another
// process: the same rows with the same bits are recalled.
func TestRecallInAnyOrder(t *testing.T) {
	if os.Getenv(orderSeedEnv) != "" { // the other process
		fmt.Print("BEGIN\n", recalledAfter(t, 4), "END\n")
		return
	}
	want := recalledAfter(t, 1)
	if n := strings.Count(want, "\n"); n < 100 {
		t.Fatalf("only %d rows are recalled:\n%s", n, want)
	}
	for seed := range uint64(3) {
		if got := recalledAfter(t, seed+1); got != want {
			t.Fatalf("in order %d it recalls\n%s\nnot\n%s", seed+1, got, want)
		}
	}
	child := exec.Command(os.Args[0], "-test.run=^TestRecallInAnyOrder$")
	child.Env = append(os.Environ(), orderSeedEnv+"=1")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("the other process: %v\n%s", err, out)
	}
	_, got, _ := strings.Cut(string(out), "BEGIN\n")
	if got, _, _ = strings.Cut(got, "END\n"); got != want {
		t.Errorf("another process recalls\n%s\nnot\n%s", got, want)
	}
}

// TestNonsenseRecallsNothing asks for what the store says nothing of: in words that
// nobody has, and in words that mean something else.
func TestNonsenseRecallsNothing(t *testing.T) {
	db := memory(t)
	nodes, edges := orderedGraph(1)
	if _, err := importer.Graph(context.Background(), db, strings.NewReader(nodes), strings.NewReader(edges), importer.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, q := range []string{
		"zorblat quinfle", "photosynthesis enzymes", "Which dynasty minted silver currency?", "quarterly parliamentary budget deficit",
		"compiler register allocation", "submarine torpedo admiral",
	} {
		if res := answer(t, db, "RECALL $q", map[string]any{"q": q}); len(res.Rows) != 0 {
			t.Errorf("%q recalls %v", q, res.Rows)
		}
	}
	if res := answer(t, db, "RECALL 'a cracked stove or oven' LIMIT 3", nil); len(res.Rows) == 0 {
		t.Error("what is there is not recalled")
	}
}

// answer runs a statement and ends the test when it fails.
func answer(t *testing.T, db *engram.DB, text string, params map[string]any) *engram.Result {
	t.Helper()
	res, err := db.Query(context.Background(), text, params)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res
}
