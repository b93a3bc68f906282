package query_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access"
	"engram/query/internal/access/model"
	"engram/query/internal/naive"
)

// TestGraphAgreesWithModel runs random statements on a transaction of package
// graph and on the model: on data that is committed, and on data that the same
// transaction has just written. Several statements follow each other, so that
// reads meet the writes of earlier ones.
func TestGraphAgreesWithModel(t *testing.T) {
	n := uint64(200)
	if testing.Short() {
		n = 30
	}
	db, err := graph.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close(context.Background()) }()
	for seed := range n {
		for _, committed := range []bool{true, false} {
			if err := compareGraphs(db, seed, committed); err != nil {
				t.Fatalf("seed %d, committed %v: %v", seed, committed, err)
			}
		}
	}
}

func compareGraphs(db *graph.DB, seed uint64, committed bool) error {
	ctx := context.Background()
	tx, err := db.Begin(ctx)
	if err != nil {
		return err
	}
	defer func() { tx.Rollback() }()
	g := model.New()
	for _, w := range []access.Writer{g, tx} {
		if err := naive.FillGraph(w, rand.New(rand.NewPCG(seed, 1))); err != nil {
			return err
		}
	}
	if committed {
		if _, err := tx.Commit(ctx); err != nil {
			return err
		}
		if tx, err = db.Begin(ctx); err != nil {
			return err
		}
	}
	r := rand.New(rand.NewPCG(seed, 2))
	e := query.New(nil)
	for i := range 4 {
		s := naive.Generate(r, i%2 == 0)
		if err := compareStatement(e, s, g, tx); err != nil {
			return fmt.Errorf("statement %d: %s\n%w", i, s.Text, err)
		}
	}
	if _, err := runText(e, tx, "MATCH (n) DETACH DELETE n"); err != nil {
		return err
	}
	_, err = tx.Commit(ctx)
	return err
}

// compareStatement runs a statement on both graphs; they must give the same
// rows and hold the same afterwards. A statement that fails must fail on both,
// and ends the comparison of what they hold.
func compareStatement(e *query.Engine, s naive.Statement, g *model.Graph, tx *graph.Tx) error {
	want, wantErr := runText(e, g.Clone(), s.Text)
	if wantErr != nil {
		return nil // half-run statements leave different halves
	}
	if _, err := runText(e, g, s.Text); err != nil {
		return err
	}
	got, err := runText(e, tx, s.Text)
	if err != nil {
		return err
	}
	if err := tx.EndStatement(); err != nil {
		return err
	}
	if a, b := rowLines(got, s.Ordered), rowLines(want, s.Ordered); a != b {
		return fmt.Errorf("got\n%s\nwant\n%s", a, b)
	}
	if a, b := held(tx), held(g); a != b {
		return fmt.Errorf("the graphs differ: got\n%s\nwant\n%s", a, b)
	}
	return nil
}

// rowLines writes rows down: nodes are compared by what they hold, since the two
// graphs number them differently.
func rowLines(rows [][]value.Value, ordered bool) string {
	var lines []string
	for _, r := range rows {
		lines = append(lines, fmt.Sprint(r))
	}
	if !ordered {
		slices.Sort(lines)
	}
	return strings.Join(lines, "\n")
}

func runText(e *query.Engine, g query.Reader, text string) ([][]value.Value, error) {
	p, err := e.Prepare(text, g)
	if err != nil {
		return nil, err
	}
	res, err := p.Run(context.Background(), g, nil, nil)
	if err != nil {
		return nil, err
	}
	return res.Rows, nil
}

// held lists what a graph holds, without ids.
func held(g access.Reader) string {
	var lines []string
	ids, _ := g.ScanNodes(0, 0, make([]value.NodeID, 10_000))
	for _, id := range ids {
		n, _ := g.LoadNode(id)
		lines = append(lines, fmt.Sprint("node ", n.Labels, n.Properties))
	}
	edges, _ := g.ScanEdges(0, 0, make([]value.EdgeID, 10_000))
	for _, id := range edges {
		e, _ := g.LoadEdge(id)
		src, _ := g.LoadNode(e.Src)
		dst, _ := g.LoadNode(e.Dst)
		lines = append(lines, fmt.Sprint("edge ", e.Type, e.Properties, src.Labels, src.Properties, dst.Labels, dst.Properties))
	}
	slices.Sort(lines)
	return fmt.Sprintf("%d nodes, %d edges\n%s", g.NodeCount(0), g.EdgeCount(0), strings.Join(lines, "\n"))
}
