package naive_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"engram/graph/value"
	"engram/query/internal/access/model"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/naive"
	"engram/query/internal/syntax"
	"engram/query/internal/tck"
	"engram/query/result"
)

// session runs statements of the TCK on the naive engine.
type session struct{ g *model.Graph }

func (s *session) Declare(p tck.Procedure) error {
	return fmt.Errorf("%w: procedures", naive.ErrUnsupported)
}

func (s *session) Run(_ context.Context, text string, params map[string]value.Value) (*result.Result, error) {
	stmt, err := parseAndBind(text)
	if err != nil {
		return nil, err
	}
	after := s.g.Clone()
	rows, err := (&naive.Engine{G: after, Params: params}).Run(stmt)
	if err != nil {
		return nil, err
	}
	s.g = after
	return &result.Result{Columns: stmt.Columns, Rows: rows}, nil
}

func parseAndBind(text string) (*bound.Statement, error) {
	stmt, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	return bind.Bind(stmt, nil)
}

// TestTCK holds the reference engine to the TCK: what it runs at all it runs
// right. Runtime errors and side effects are not its business.
func TestTCK(t *testing.T) {
	root := os.Getenv("ENGRAM_TCK")
	if root == "" {
		root = filepath.Join("..", "..", "..", "..", "shared", "tck")
	}
	if _, err := os.Stat(root); err != nil {
		t.Skipf("the openCypher TCK is not at %s: set ENGRAM_TCK to a folder that holds features/", root)
	}
	scenarios, err := tck.Load(filepath.Join(root, "features"))
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for i := range scenarios {
		s := &scenarios[i]
		f := tck.Run(context.Background(), s, &session{model.New()}, filepath.Join(root, "graphs"))
		switch {
		case f == nil, f.Reason == "wrong counters":
			passed++
		case f.Reason == "wrong rows", f.Reason == "wrong side effects", f.Reason == "panic":
			t.Errorf("%s: %v", s.ID(), f)
		}
	}
	t.Logf("tck: naive ran %d of %d", passed, len(scenarios))
	if passed < len(scenarios)*9/10 {
		t.Errorf("only %d of %d scenarios ran: the others prove nothing", passed, len(scenarios))
	}
}

// TestGenerate binds and runs random statements: none may fail, most must find
// rows, or the comparison with the real engine means little.
func TestGenerate(t *testing.T) {
	const n = 2000
	found := 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 0))
		g := model.New()
		if err := naive.FillGraph(g, r); err != nil {
			t.Fatal(err)
		}
		s := naive.Generate(r, seed%4 == 0)
		stmt, err := parseAndBind(s.Text)
		if err != nil {
			t.Fatalf("seed %d: %s\n%v", seed, s.Text, err)
		}
		rows, err := (&naive.Engine{G: g}).Run(stmt)
		if err != nil {
			t.Fatalf("seed %d: %s\n%v", seed, s.Text, err)
		}
		if len(rows) > 0 {
			found++
		}
	}
	if found < n/3 {
		t.Errorf("only %d of %d statements returned rows", found, n)
	}
}
