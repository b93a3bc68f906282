package audit_test

import (
	"slices"
	"strings"
	"testing"

	"engram/audit"
	"engram/graph/value"
)

// TestDeclaredNodesThatAreGone: statements take the declaration of what they delete
// back; a program that deletes by itself leaves it.
func TestDeclaredNodesThatAreGone(t *testing.T) {
	p := plant(t, nil)
	self, care := p.node("self", []string{"Self"}), p.node("care", []string{"Pillar"}, "content", "people first")
	p.edge(self, care, "CONTAINS")
	p.begin()
	p.ok(p.tx.DeclareSelf(self))
	p.ok(p.tx.DeclarePillar("care", care))
	p.commit()
	if f := p.find("self_model_connectivity"); f.Status != audit.OK {
		t.Errorf("it is %s: %s", f.Status, f.Note)
	}
	p.begin()
	for _, id := range []value.NodeID{self, care} {
		_, err := p.tx.DeleteNode(id, true)
		p.ok(err)
	}
	p.commit()
	f := p.find("self_model_connectivity", audit.Options{Suggest: true})
	want := "The declared self is gone: its node was deleted; the pillar 'care' is gone: its node was deleted"
	if f.Status != audit.Defect || !strings.HasPrefix(f.Note, want) {
		t.Errorf("it is %s: %s", f.Status, f.Note)
	}
	if !slices.Equal(f.Suggestions, []string{"DROP SELF IF EXISTS", "DROP PILLAR 'care' IF EXISTS"}) {
		t.Errorf("it suggests %q", f.Suggestions)
	}
}
