package gold

import (
	"strings"
	"testing"
)

func TestAkin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"house", "house", true},
		{"house", "houses", true},
		{"hiking", "hiked", true},
		{"party", "parties", true},
		{"locate", "location", true},
		{"paint", "painter", true},
		{"house", "residence", false},
		{"plan", "plum", false},
		{"car", "cart", true}, // said to be akin, to be on the safe side
	} {
		if akin(c.a, c.b) != c.want || akin(c.b, c.a) != c.want {
			t.Errorf("akin(%s, %s) is not %v both ways", c.a, c.b, c.want)
		}
	}
}

func TestContent(t *testing.T) {
	got := strings.Join(content("The kids' KITE, the kite: it was at 10 or 100 m!"), " ")
	if got != "kids kite 100" {
		t.Errorf("content words are %q", got)
	}
}

// TestSynonymsAreOthers: no word stands for itself or its like.
func TestSynonymsAreOthers(t *testing.T) {
	all := synonyms()
	if len(all) < 300 {
		t.Errorf("only %d words have a synonym", len(all))
	}
	for w, s := range all {
		if akin(w, s) {
			t.Errorf("%s and %s are too much alike", w, s)
		}
	}
}
