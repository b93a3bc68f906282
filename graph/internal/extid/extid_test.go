package extid_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"engram/graph/internal/extid"
	"engram/graph/value"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tag := extid.TagOf(rapid.Uint64().Draw(t, "tag"))
		id := value.NodeID(rapid.Uint64Range(1, 1<<40-1).Draw(t, "id"))
		ms := rapid.Int64Range(0, 1<<48-1).Draw(t, "ms")
		s := tag.Node(id, ms)
		got, gotMS, ok := tag.ParseNode(s)
		if !ok || got != id || gotMS != ms {
			t.Fatalf("%s decodes to %d, %d, %v", s, got, gotMS, ok)
		}
		if _, _, ok := tag.ParseEdge(s); ok {
			t.Fatal("a node's id names an edge")
		}
		if tag.Edge(value.EdgeID(id), ms) == s {
			t.Fatal("a node and an edge share an id")
		}
		if _, _, ok := extid.TagOf(uint64(tag) ^ 2).ParseNode(s); ok {
			t.Fatal("another database's id was accepted")
		}
	})
}

func TestOtherSpellingsAreOtherIDs(t *testing.T) {
	tag := extid.TagOf(12345)
	s := tag.Node(7, 1_700_000_000_000)
	for _, bad := range []string{"", "x", strings.ToLower(s), s + "0", s[:25], strings.Repeat("Z", 26), tag.Node(0, 5)} {
		if _, _, ok := tag.ParseNode(bad); ok {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestLaterIsGreater(t *testing.T) {
	tag := extid.TagOf(1)
	if tag.Node(9, 1000) >= tag.Node(1, 1001) || tag.Node(1, 1000) >= tag.Node(2, 1000) {
		t.Error("ids do not sort by time and number")
	}
}
