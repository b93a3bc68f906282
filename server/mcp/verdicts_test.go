package mcp_test

import (
	"strings"
	"testing"

	"engram/server/mcp"
)

// TestToolsSeeNoVerdicts holds that no tool names or sees a verdict, and that attempts
// are counted.
func TestToolsSeeNoVerdicts(t *testing.T) {
	c := newClient(t, mcp.Options{})
	c.do("CREATE (:Memory {id: 'm', content: 'an open word'})<-[:JUDGES]-(:Memory:Verdict {id: 'v', content: 'hushword', reason: 'hushword', created_at: datetime('2026-01-02T00:00:00Z')})")
	for name, args := range map[string]map[string]any{
		"recall": {"query": "hushword", "include": []string{"verdicts"}}, "query": {"statement": "MATCH (v:Verdict) RETURN v.reason"},
	} {
		if got := c.refused(name, args); !strings.Contains(got, "verdicts are a class of their own") || strings.Contains(got, "hushword'") {
			t.Errorf("%s: %s", name, got)
		}
	}
	if s, err := c.db.Stats(t.Context()); err != nil || s.Withheld != 2 {
		t.Errorf("%d attempts are counted, error %v", s.Withheld, err)
	}
	for name, args := range map[string]map[string]any{
		"recall": {"query": "hushword"}, "query": {"statement": "MATCH (n) RETURN n.id, n.reason, n.content"}, "recent": {}, "begin_session": {},
	} {
		if _, there := c.tools[name]; !there {
			continue
		}
		if text, _, _ := c.raw(name, args); strings.Contains(strings.ReplaceAll(text, `"hushword"`, ""), "hushword") {
			t.Errorf("%s shows %s", name, text)
		}
	}
	if got := c.one("MATCH (v:Verdict) RETURN v.reason"); got != `"hushword"` {
		t.Errorf("the verdict is %s", got)
	}
}
