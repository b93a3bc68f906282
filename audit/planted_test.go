package audit_test

import (
	"slices"
	"strings"
	"testing"

	"engram/audit"
)

// The text that near duplicates are made of: 27 words, so 25 shingles. A word changed
// at an end changes one of them (24 of 26 are common, 0.92), one in the middle three
// (22 of 28, 0.79).
const walk = "on the first day of spring we walked along the river to the old mill and found that somebody had painted its door in bright blue again"

func plantDuplicates(t *testing.T) *planted {
	t.Helper()
	p := plant(t, nil)
	note, lesson := []string{"Note"}, []string{"Lesson"}
	p.node("same1", note, "content", "Ada likes tea")
	p.node("same2", []string{"Memory", "Note"}, "content", " Ada likes tea\n")
	p.node("near1", note, "content", walk)
	p.node("near2", note, "content", strings.Replace(walk, "again", "anew", 1))
	p.node("case1", note, "content", "Mind the gap")
	p.node("case2", note, "content", "mind THE gap!")
	p.node("bare1", nil, "content", "nothing is said of what it is")
	p.node("bare2", nil, "content", "nothing is said of what it is")
	// No duplicates are: another label, too little in common, what is out of the way,
	// counters, and what has no content.
	p.node("label", lesson, "content", "Ada likes tea")
	p.node("none", nil, "content", "Ada likes tea")
	p.node("far", note, "content", strings.Replace(walk, "old mill", "old inn", 1))
	p.node("old", note, "content", "Ada likes tea", "status", "superseded")
	p.node("forgotten", note, "content", "Ada likes tea", "status", "forgotten")
	p.node("count1", []string{"Note", "Telemetry"}, "content", "ten messages")
	p.node("count2", []string{"Note", "Telemetry"}, "content", "ten messages")
	p.node("blank1", note, "content", " ")
	p.node("blank2", note, "content", "")
	p.node("title1", note, "title", "Report")
	p.node("title2", note, "title", "Report")
	return p
}

func TestDuplicates(t *testing.T) {
	p := plantDuplicates(t)
	f := p.find("duplicates")
	same(t, f, "same1", "same2", "near1", "near2", "case1", "case2", "bare1", "bare2")
	measures(t, f, "with_content", 11, "left_out", 4, "same_groups", 2, "same_nodes", 4, "groups", 4, "nodes", 8, "to_spare", 4, "pairs_not_compared", 0)
	var whys []string
	for _, n := range f.Nodes.Items {
		whys = append(whys, n.Why)
	}
	want := []string{
		"the first of those that are alike", "the same content as same1",
		"the first of those that are alike", "92 % like near1",
		"the first of those that are alike", "100 % like case1",
		"the first of those that are alike", "the same content as bare1",
	}
	if !slices.Equal(whys, want) {
		t.Errorf("reasons %q", whys)
	}
	// The middle word is a difference of a fifth: with 0.7 both are near.
	f = p.find("duplicates", audit.Options{With: map[string]float64{"near_duplicate": 0.7}})
	same(t, f, "same1", "same2", "near1", "near2", "far", "case1", "case2", "bare1", "bare2")
	f = p.find("duplicates", audit.Options{With: map[string]float64{"near_pairs": 0}})
	same(t, f, "same1", "same2", "bare1", "bare2")
	if n, _ := f.Measure("pairs_not_compared").(int64); n < 2 || !strings.Contains(f.Note, "not compared") {
		t.Errorf("without pairs: %d not compared, %s", n, f.Note)
	}
}

func TestManyDuplicatesOfOneContent(t *testing.T) {
	p := plant(t, nil)
	p.begin()
	for i := range 300 {
		p.node(string(rune('a'+i%26))+strings.Repeat("x", i/26), []string{"Note"}, "content", strings.Replace(walk, "again", strings.Repeat("z", 1+i), 1))
	}
	p.node("other", []string{"Note"}, "content", "something else entirely is here to see")
	p.commit()
	f := p.find("duplicates", audit.Options{Limit: 1000})
	measures(t, f, "groups", 1, "nodes", 300, "pairs_not_compared", 0)
	if n := f.Measure("pairs_compared").(int64); n > 1000 {
		t.Errorf("%d pairs were compared for one group of 300", n)
	}
}

func TestTypedEdges(t *testing.T) {
	p := plant(t, nil)
	a, b := p.node("a", nil), p.node("b", nil)
	p.begin()
	for typ, n := range map[string]int{
		"RELATED": 3, "related": 1, "CONTAIN": 1, "TEMPORALLY-PRECEDES": 1, "ACTIVATS": 2,
		"WORKS_AT": 5, "WORKSAT": 1, "LIVES_IN": 1,
		// Nobody meant another one with these.
		"IS_A": 1, "IS_B": 2, "WORKED_FOR": 1, "SUPERSEEDED": 1,
	} {
		for range n {
			p.edge(a, b, typ)
		}
	}
	p.commit()
	f := p.find("typed_edge_distribution")
	measures(t, f, "edges", 20, "types", 12, "in_vocabulary", 0.15, "edges_per_100_nodes", 1000.0, "near_misses", 5)
	var near []string
	for _, part := range f.Parts {
		if part.Note != "" && part.Note != "not in the vocabulary" {
			near = append(near, part.Name+" "+part.Note)
		}
	}
	want := []string{
		"ACTIVATS is one letter off ACTIVATES",
		"CONTAIN is singular or plural of CONTAINS",
		"TEMPORALLY-PRECEDES differs by hyphens or underscores from TEMPORALLY_PRECEDES",
		"WORKSAT differs by hyphens or underscores from WORKS_AT",
		"related differs by case from RELATED",
	}
	if !slices.Equal(near, want) || f.Status != audit.Notice {
		t.Errorf("near misses %q, status %s", near, f.Status)
	}
}

func TestComponentsAndHubs(t *testing.T) {
	p := plant(t, nil)
	p.begin()
	hub, almost := p.node("hub", nil), p.node("almost", nil)
	for i := range 6 {
		n := p.node("n"+string(rune('0'+i)), nil)
		p.edge(n, hub, "FEEDS", "weight", 0.5)
		if i < 4 {
			p.edge(almost, n, "FEEDS", "weight", 0.5)
		}
	}
	p.edge(hub, hub, "ADMIRES") // one edge more, and no more than that
	a, b := p.node("a", nil), p.node("b", nil)
	p.edge(a, b, "RELATED")
	p.node("alone", nil)
	p.commit()
	f := p.find("components_and_hubs", audit.Options{With: map[string]float64{"hub_edges": 4}})
	same(t, f, "hub")
	measures(t, f, "components", 3, "linked_components", 2, "largest_component", 8, "largest_degree", 7, "hubs", 1)
	want := []audit.Part{{"size", "1", 1, ""}, {"size", "2", 1, ""}, {"size", "3-9", 1, ""}}
	if !slices.Equal(f.Parts, want) {
		t.Errorf("sizes %v", f.Parts)
	}
	attract := f.Measure("hubs_attract").(float64)
	p.edge(a, hub, "OPPOSES", "weight", 1.0, "inhibitory", true)
	after := p.find("components_and_hubs", audit.Options{With: map[string]float64{"hub_edges": 4}})
	if got := after.Measure("hubs_attract").(float64); got != attract || attract <= 0 || attract >= 1 {
		t.Errorf("hubs attract %v, and %v with an edge that holds back", attract, got)
	}
	measures(t, after, "components", 2, "largest_degree", 8)
	if f := p.find("components_and_hubs"); f.Status != audit.OK || f.Nodes.Total != 0 {
		t.Errorf("by default %s names %v", f.Status, ids(f))
	}
}

// Contents that are stored out of line are compared like others.
func TestLongDuplicates(t *testing.T) {
	p := plant(t, nil)
	var words []string
	for i := range 1000 {
		words = append(words, "word"+strings.Repeat("x", i%7)+string(rune('a'+i%26)))
	}
	long := strings.Join(words, " ")
	p.node("long1", []string{"Note"}, "content", long)
	p.node("long2", []string{"Note"}, "content", long)
	p.node("long3", []string{"Note"}, "content", long+" and one word more")
	p.node("half", []string{"Note"}, "content", strings.Join(words[:20], " "))
	f := p.find("duplicates")
	same(t, f, "long1", "long2", "long3")
	measures(t, f, "same_nodes", 2)
	measures(t, p.find("index_divergence", audit.Options{With: map[string]float64{"compare_content": 1}}), "texts", 4, "text_missing", 0, "text_stale", 0, "vector_extra", 0)
}
