package audit_test

import (
	"slices"
	"testing"

	"engram/audit"
)

// ids lists the external ids of a finding's nodes.
func ids(f *audit.Finding) []string {
	out := []string{}
	for _, n := range f.Nodes.Items {
		out = append(out, n.Ext)
	}
	return out
}

// same fails unless a finding lists exactly these nodes.
func same(t *testing.T, f *audit.Finding, want ...string) {
	t.Helper()
	if got := ids(f); !slices.Equal(got, want) && len(got)+len(want) > 0 || f.Nodes.Total != int64(len(want)) {
		t.Errorf("%s names %v (%d in all), want %v", f.Name, got, f.Nodes.Total, want)
	}
}

// measures compares measures by name and value in turn.
func measures(t *testing.T, f *audit.Finding, want ...any) {
	t.Helper()
	for i := 0; i < len(want); i += 2 {
		v := want[i+1]
		if n, ok := v.(int); ok {
			v = int64(n)
		}
		if got := f.Measure(want[i].(string)); got != v {
			t.Errorf("%s: %s is %v, want %v", f.Name, want[i], got, v)
		}
	}
}

func TestOrphans(t *testing.T) {
	p := plant(t, nil)
	a, b := p.node("a", []string{"Note"}), p.node("b", []string{"Note"})
	p.edge(a, b, "RELATED")
	p.node("lonely", []string{"Note", "Memory"}, "tier", "Working")
	self := p.node("narcissus", nil)
	p.edge(self, self, "ADMIRES")
	p.node("counter", []string{"Telemetry"})
	f := p.find("orphans_and_dangling")
	same(t, f, "lonely", "narcissus")
	measures(t, f, "orphans", 2, "unlinked_telemetry", 1, "dangling", 0, "edge_records", 2, "nodes_without_record", 0)
	want := []audit.Part{
		{"label", "(none)", 1, ""}, {"label", "Memory", 1, ""}, {"label", "Note", 1, ""}, {"tier", "(none)", 1, ""}, {"tier", "Working", 1, ""},
	}
	if !slices.Equal(f.Parts, want) || f.Status != audit.Notice {
		t.Errorf("parts %v, status %s", f.Parts, f.Status)
	}
	p.begin()
	p.edge(a, self, "KNOWS")
	p.edge(b, p.node("c", nil), "KNOWS")
	p.commit()
	if f = p.find("orphans_and_dangling"); f.Nodes.Total != 1 {
		t.Errorf("after linking: %v", ids(f))
	}
}

func TestListsGoOnAtTheirCursor(t *testing.T) {
	p := plant(t, nil)
	want := []string{"n0", "n1", "n2", "n3", "n4"}
	for _, id := range want {
		p.node(id, nil)
	}
	var got []string
	o := audit.Options{Limit: 2}
	for range 3 {
		f := p.find("orphans_and_dangling", o)
		if f.Nodes.Total != 5 {
			t.Errorf("total %d", f.Nodes.Total)
		}
		got = append(got, ids(f)...)
		o.Cursor = f.Nodes.Next
	}
	if !slices.Equal(got, want) || o.Cursor != "" {
		t.Errorf("pages gave %v and end with %q", got, o.Cursor)
	}
	// The node that the cursor stands behind is found again when others went.
	o.Cursor = p.find("orphans_and_dangling", audit.Options{Limit: 3}).Nodes.Next
	p.begin()
	first, err := p.tx.NodeByElementID("n0")
	p.ok(err)
	_, err = p.tx.DeleteNode(first, false)
	p.ok(err)
	p.commit()
	if f := p.find("orphans_and_dangling", o); !slices.Equal(ids(f), []string{"n3", "n4"}) {
		t.Errorf("after a deletion the cursor goes on with %v", ids(f))
	}
}
