package audit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"engram/audit"
)

func TestOwner(t *testing.T) {
	p := plant(t, nil)
	p.begin()
	a, b := p.node("a", nil), p.node("b", nil)
	p.edge(a, b, "KNOWS")
	p.edge(b, a, "LIKES")
	p.commit()
	tx, err := p.db.Snapshot()
	p.ok(err)
	here := audit.CountsOf(tx)
	tx.Rollback()
	if here.Nodes != 2 || here.Edges != 2 || here.Types["KNOWS"] != 1 || here.Types["LIKES"] != 1 {
		t.Fatalf("counts %+v", here)
	}
	lost := here
	lost.Nodes, lost.Edges, lost.Types = 5, 3, map[string]int64{"KNOWS": 2, "LIKES": 1}
	later := lost
	later.Seq++
	for _, c := range []struct {
		name   string
		owner  *audit.Owner
		status audit.Status
		nodes  any
		parts  []audit.Part
		note   string
	}{
		{"nobody else", nil, audit.OK, nil, nil, "No other owner was named"},
		{"the same", &audit.Owner{Source: "a copy", Counts: here}, audit.OK, int64(2), nil, "a copy has the same numbers"},
		{"otherwise", &audit.Owner{Source: "a copy", Counts: lost}, audit.Defect, int64(5), []audit.Part{{"type", "KNOWS", 1, "2 at the owner"}}, "counts otherwise: -3 nodes, -1 edges here, and 1 type differs"},
		{"later", &audit.Owner{Source: "a copy", Counts: later}, audit.Notice, int64(5), []audit.Part{{"type", "KNOWS", 1, "2 at the owner"}}, "That may be what was written in between"},
		{"silent", &audit.Owner{Source: "10.0.0.7", Err: errors.New("nobody answers")}, audit.Unknown, nil, nil, "10.0.0.7 could not be asked, so it is not known whether anything differs: nobody answers."},
	} {
		r := p.run(audit.Options{Only: []string{"owner_runtime_divergence"}, Owner: c.owner})
		f := r.Finding("owner_runtime_divergence")
		if f.Status != c.status || !slices.Equal(f.Parts, c.parts) && len(f.Parts)+len(c.parts) > 0 || !strings.Contains(f.Note, c.note) {
			t.Errorf("%s: %s, %v, %s", c.name, f.Status, f.Parts, f.Note)
		}
		measures(t, f, "nodes", 2, "edges", 2, "owner_nodes", c.nodes)
		if unknown := c.status == audit.Unknown; unknown != (len(r.Unknown) == 1) || unknown && r.Unknown[0].Reason != f.Note {
			t.Errorf("%s: unknown are %+v", c.name, r.Unknown)
		}
	}
}

func TestTrend(t *testing.T) {
	p := plant(t, nil)
	p.begin()
	first := p.node("n0", nil)
	for range 9 {
		p.edge(first, p.node(strings.Repeat("x", int(p.tx.NodeCount(0))), nil), "KNOWS")
	}
	p.commit()
	for _, c := range []struct {
		name   string
		last   *audit.Recorded
		status audit.Status
		more   any
		note   string
	}{
		{"none", nil, audit.OK, nil, "No RECORD AUDIT"},
		{"grown", &audit.Recorded{Counts: audit.Counts{Seq: 3, Nodes: 4, Edges: 2, Types: map[string]int64{"KNOWS": 2}}}, audit.OK, int64(6), "(transaction 3): +6 nodes, +7 edges"},
		{"a tenth less", &audit.Recorded{Counts: audit.Counts{Nodes: 11, Edges: 10}}, audit.OK, int64(-1), "-1 nodes, -1 edges"},
		{"fewer nodes", &audit.Recorded{Counts: audit.Counts{Nodes: 12, Edges: 9}}, audit.Notice, int64(-2), "the graph shrank: -2 nodes, +0 edges"},
		{"fewer edges", &audit.Recorded{Counts: audit.Counts{Nodes: 10, Edges: 11}}, audit.Notice, int64(0), "the graph shrank: +0 nodes, -2 edges"},
	} {
		f := p.find("owner_runtime_divergence", audit.Options{Last: c.last})
		if f.Status != c.status || !strings.Contains(f.Note, c.note) {
			t.Errorf("%s: %s, %s", c.name, f.Status, f.Note)
		}
		measures(t, f, "nodes_since_last", c.more)
		if c.name == "grown" && !slices.Equal(f.Parts, []audit.Part{{"type since last", "KNOWS", 7, ""}}) {
			t.Errorf("%s: parts %v", c.name, f.Parts)
		}
	}
}
