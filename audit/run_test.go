package audit_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"engram/audit"
	"engram/graph"
)

func TestReportHasEveryFindingInOrderAndNoScore(t *testing.T) {
	p := plant(t, nil)
	r := p.run(audit.Options{})
	var names []string
	for _, f := range r.Findings {
		names = append(names, f.Name)
	}
	if !slices.Equal(names, audit.Names()) || len(names) == 0 {
		t.Errorf("findings %v, want %v", names, audit.Names())
	}
	b, err := json.Marshal(r)
	p.ok(err)
	if !strings.HasPrefix(string(b), `{"score":null,"seq":`) {
		t.Errorf("the report begins with %.40s", b)
	}
	only := p.run(audit.Options{Only: []string{names[1]}})
	if len(only.Findings) != 1 || only.Findings[0].Name != names[1] {
		t.Errorf("ONLY gave %+v", only.Findings)
	}
}

func TestOptionsThatCannotBeMeant(t *testing.T) {
	p := plant(t, nil)
	tx, err := p.db.Snapshot()
	p.ok(err)
	defer tx.Rollback()
	for _, c := range []struct {
		o    audit.Options
		want string
	}{
		{audit.Options{Only: []string{"typed_edge_distributoin"}}, `there is no finding "typed_edge_distributoin"; did you mean typed_edge_distribution?`},
		{audit.Options{Only: []string{"xyz"}}, `there is no finding "xyz"; there are owner_runtime_divergence`},
		{audit.Options{With: map[string]float64{"shrnk": 1}}, `there is no threshold "shrnk"; did you mean shrink?`},
		{audit.Options{With: map[string]float64{"shrink": 1.5}}, "the threshold shrink is from 0 to 1, but 1.5 was given"},
		{audit.Options{Limit: -1}, "limit is from 1 to 10000, but -1 was given"},
		{audit.Options{Cursor: "next"}, `"next" is no cursor`},
	} {
		_, err := audit.Run(context.Background(), tx, &c.o)
		if err == nil || !strings.HasPrefix(err.Error(), c.want) || graph.CodeOf(err) != graph.InvalidArgument {
			t.Errorf("%+v: %v, want %s", c.o, err, c.want)
		}
	}
	w, err := p.db.Begin(context.Background())
	p.ok(err)
	defer w.Rollback()
	if _, err := audit.Run(context.Background(), w, nil); graph.CodeOf(err) != graph.InvalidArgument {
		t.Errorf("in a writing transaction: %v", err)
	}
}

func TestCanceledAudit(t *testing.T) {
	p := plant(t, nil)
	tx, err := p.db.Snapshot()
	p.ok(err)
	defer tx.Rollback()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := audit.Run(ctx, tx, nil); graph.CodeOf(err) != graph.Canceled {
		t.Errorf("got %v", err)
	}
}

// While a bulk load fills an empty graph, its records are there and its topology is not:
// that is no defect.
func TestAuditDuringABulkLoad(t *testing.T) {
	p := plant(t, nil)
	load, err := p.db.LoadFrom(context.Background(), graph.LoadOptions{Source: "test", BatchKeys: 1})
	p.ok(err)
	for range 10 {
		_, err = load.Node([]string{"Note"}, nil)
		p.ok(err)
	}
	tx, err := p.db.LongSnapshot()
	p.ok(err)
	_, err = audit.Run(context.Background(), tx, nil)
	if graph.CodeOf(err) != graph.Busy {
		t.Errorf("during the load: %v", err)
	}
	tx.Rollback()
	_, err = load.Close()
	p.ok(err)
	if f := p.find("orphans_and_dangling"); f.Nodes.Total != 10 || f.Status != audit.Notice {
		t.Errorf("after the load: %s, %d orphans", f.Status, f.Nodes.Total)
	}
}
