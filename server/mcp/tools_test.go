package mcp_test

import (
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

func callParams(name string, args any) *sdk.CallToolParams {
	return &sdk.CallToolParams{Name: name, Arguments: args}
}

type m = map[string]any

func (c *client) says(what, text, part string) {
	c.t.Helper()
	if !strings.Contains(text, part) {
		c.t.Errorf("%s says\n%s\nwithout %q", what, text, part)
	}
}

func beginSessionContract(c *client) {
	empty := c.call("begin_session", m{})
	c.want("a new conversation", empty["conversation"], "n1")
	c.want("an empty memory", empty["stats"], m{"nodes": 0, "relationships": 0, "labels": m{}})
	c.do("CREATE (me:Person {id: 'me', name: 'Ann'})-[:OWNS]->(:Memory {id: 'boat', content: 'The boat has a new engine', importance: 0.9, created_at: datetime('2020-01-01T00:00Z')})")
	c.do("MATCH (n {id: 'me'}) DECLARE SELF n")
	c.do("CREATE (p:Memory {id: 'honest', content: 'Be honest'}) WITH p DECLARE PILLAR p AS 'honesty'")
	c.do("CREATE (:Preference {id: 'tea', content: 'Ann prefers tea'})")
	c.do("CREATE (:BellEvent {id: 'bell', content: 'a hard day', created_at: datetime('2026-01-14T00:00Z')})")
	c.do("CREATE (:Memory {id: 'gone', content: 'forgotten', status: 'forgotten', created_at: datetime('2026-01-14T00:00Z')})")
	for i := range 12 {
		c.do(fmt.Sprintf("CREATE (:Memory {id: 'm%02d', content: 'note %d %s', created_at: datetime('2026-01-01T00:00:%02dZ')})", i, i, strings.Repeat("long ", 60), i))
	}
	for i := range 8 {
		c.call("plan_work", m{"title": fmt.Sprintf("work %d", i), "priority": 5 - i%5})
	}
	c.do("CREATE LAYER pirate")
	c.do("CREATE (:Memory:BellEvent:Preference {id: 'arr', content: 'The boat engine says arr', layer: 'pirate', importance: 1.0, created_at: datetime('2026-01-14T00:00Z')})")
	c.do("MATCH (p {id: 'arr'}), (n {id: 'me'}) CREATE (n)-[:OWNS]->(p)")
	c.do("CREATE (:BacklogItem {id: 'plunder', title: 'plunder', priority: 0, status: 'open', layer: 'pirate', created_at: datetime('2020-01-01T00:00Z')})")
	c.do("MATCH (n {id: 'boat'}) ACTIVATE n OF CONVERSATION 'trip' YIELD node RETURN count(*)")
	c.do("MATCH (n {id: 'arr'}) ACTIVATE n IN LAYERS ['pirate'] OF CONVERSATION 'trip' YIELD node RETURN count(*)")
	got := c.call("begin_session", m{"conversation": "trip", "about": "boat engine", "budget": 100})
	c.want("the conversation", got["conversation"], "trip")
	c.want("the newest first", ids(got["recent"]), []string{"m11", "m10", "m09", "m08", "m07", "m06", "m05", "m04", "m03", "m02"})
	first := got["recent"].([]any)[0].(m)["content"].(string)
	if len(first) > 240+len("… [cut, 999 more bytes]") || !strings.Contains(first, "more bytes]") {
		c.t.Errorf("content of %d bytes: %s", len(first), first)
	}
	c.want("on the mind", ids(got["activated"])[0], "boat")
	c.want("the self", ids(got["self"]), []string{"boat"})
	c.want("the profile", ids(got["profile"]), []string{"honest", "me", "tea"})
	c.want("the events", ids(got["events"]), []string{"bell"})
	c.want("the most urgent work", len(got["open_work"].([]any)), 6)
	c.want("the rest of the work", got["left_out"], 2)
	c.says("context", got["context"].(string), "The boat has a new engine")
	for _, imprint := range []string{"arr", "plunder"} { // it is on only where it is asked for
		if whole := fmt.Sprint(got); strings.Contains(whole, imprint) {
			c.t.Errorf("a session begins with the imprint's %s: %s", imprint, whole)
		}
	}
}

func rememberContract(c *client) {
	c.do("CREATE (:Project {id: 'atlas', name: 'Atlas'}), (:Memory {id: 'm1', content: 'Lunch with Ada at the harbour'})")
	got := c.call("remember", m{
		"content": "Lunch with Bob at the harbour", "labels": []string{"Lesson"}, "tags": []string{"food"}, "importance": 0.8, "valid_from": "2024-05-01",
		"properties": m{"speaker": "Ben", "a `b": 1}, "links": []m{{"to": "atlas", "type": "ABOUT", "weight": 0.5}}, "conversation": "trip",
	})
	c.want("created", got["created"], true)
	c.want("associated", ids(got["associated"]), []string{"m1"})
	id := got["id"].(string)
	c.want("stored", c.one("MATCH (m:Memory:Lesson {id: '"+id+"'})-[r:ABOUT]->({id: 'atlas'}) RETURN [m.content, m.tags, m.importance, m.speaker, m.`a ``b`, m.origin, m.conversation, toString(m.valid_from), r.weight]"),
		`["Lunch with Bob at the harbour",["food"],0.8,"Ben",1,"model","trip","2024-05-01T00:00Z",0.5]`)
	again := c.call("remember", m{"content": "Lunch with Bob at the harbour", "labels": []string{"Lesson"}, "conversation": "trip"})
	c.want("the same again", []any{again["id"], again["created"]}, []any{id, false})
	c.says("the same again", again["text"].(string), "remembered before")
	c.call("remember", m{"content": "Grace lives in Arlington", "id": "grace"})
	replaced := c.call("remember", m{"content": "Grace lives in New Haven", "id": "grace", "alone": true})
	c.want("the older version", replaced["replaced"], "grace~1")
	c.says("a link to nothing", c.refused("remember", m{"content": "x", "links": []m{{"to": "nobody"}}}), `there is no node with the id "nobody"`)
	c.says("status", c.refused("remember", m{"content": "x", "properties": m{"status": "forgotten"}}), "the memory's own")
	c.says("twice", c.refused("remember", m{"content": "x", "tags": []string{"a"}, "properties": m{"tags": []string{"b"}}}), "given twice")
	c.says("a time", c.refused("remember", m{"content": "x", "valid_from": "tomorrow"}), "tomorrow")
	c.want("nothing more is stored", c.one("MATCH (m) WHERE m.content = 'x' RETURN count(m)"), "0")
}

func recallContract(c *client) {
	c.do("CREATE (a:Memory {id: 'crash', content: 'The server crashed'})-[:CAUSES {weight: 0.9}]->(:Memory {id: 'gap', content: 'Two hours of missing measurements'})")
	c.do("CREATE (:Memory {id: 'old', content: 'The server is small', status: 'superseded'}), (:Note {id: 'note', content: 'server notes'})")
	got := c.call("recall", m{"query": "server crash"})
	c.want("found", ids(got["memories"]), []string{"crash", "gap", "note"})
	c.want("no more", got["more"], false)
	c.says("why", got["text"].(string), "reached by crash -CAUSES-> gap")
	c.want("labels", ids(c.call("recall", m{"query": "server", "labels": []string{"Note"}})["memories"]), []string{"note"})
	c.want("against", ids(c.call("recall", m{"query": "crash", "against": []string{"CAUSES"}})["memories"]), []string{"crash"})
	c.want("via", ids(c.call("recall", m{"query": "crash", "via": []string{"CAUSES"}, "depth": 1})["memories"]), []string{"crash", "gap"})
	c.want("from", ids(c.call("recall", m{"from": []string{"gap"}, "depth": 1})["memories"]), []string{"crash"})
	c.want("superseded", len(ids(c.call("recall", m{"query": "server small", "include": []string{"superseded"}})["memories"])), 4)
	c.want("nothing", c.call("recall", m{"query": "zebra"})["text"], "Nothing comes to mind.")
	c.says("no question", c.refused("recall", m{}), "query is missing")
	for i := range 30 {
		c.do(fmt.Sprintf("CREATE (:Memory {id: 'p%02d', content: 'parrot number %d %s'})", i, i, strings.Repeat("talks ", i)))
	}
	seen := map[string]bool{}
	cursor := ""
	for range 7 {
		page := c.call("recall", m{"query": "parrot", "limit": 7, "cursor": cursor, "against": []string{"RELATED"}})
		for _, id := range ids(page["memories"]) {
			if seen[id] {
				c.t.Errorf("%s comes twice", id)
			}
			seen[id] = true
		}
		cursor, _ = page["cursor"].(string)
		if page["more"] == false {
			break
		}
	}
	c.want("all pages together", len(seen), 30)
	c.says("a cursor", c.refused("recall", m{"query": "parrot", "cursor": "abc"}), "not one that this tool returned")
}

func inspectContract(c *client) {
	c.do("CREATE (a:Memory:Lesson {id: 'a', content: 'The pump leaks', tags: ['x']})-[:CAUSES {weight: 0.9}]->(:Memory {id: 'b', content: 'The floor is wet'}), (:Person {id: 'p', name: 'Ann'})-[:SAID]->(a)")
	got := c.call("inspect", m{"id": "a", "query": "pump"})
	c.want("labels", got["labels"], []string{"Memory", "Lesson"})
	c.want("properties", got["properties"], m{"id": "a", "content": "The pump leaks", "tags": []string{"x"}})
	c.want("relationships", got["relationships"], []m{
		{"type": "CAUSES", "direction": "out", "node": "b", "content": "The floor is wet", "properties": m{"weight": 0.9}},
		{"type": "SAID", "direction": "in", "node": "p", "content": "Ann"},
	})
	c.want("recalled", got["recalled"], true)
	c.want("not recalled", c.call("inspect", m{"id": "p", "query": "zebra"})["recalled"], false)
	c.do("MATCH (a {id: 'a'}) UNWIND range(1, 40) AS i CREATE (a)-[:HAS]->(:Part {id: 'part' + toString(i)})")
	first := c.call("inspect", m{"id": "a"})
	c.want("how many", []any{first["relationships_total"], len(first["relationships"].([]any)), first["more"]}, []any{42, 30, true})
	rest := c.call("inspect", m{"id": "a", "cursor": first["cursor"]})
	c.want("the rest", []any{len(rest["relationships"].([]any)), rest["more"]}, []any{12, false})
	c.says("no node", c.refused("inspect", m{"id": "zz"}), `there is no node with the id "zz"`)
}

func linkContract(c *client) {
	c.do("CREATE (:Memory {id: 'a'}), (:Memory {id: 'b'})")
	got := c.call("link", m{"from": "a", "to": "b", "type": "works `at`)-(x", "weight": 0.25, "because": "I saw it"})
	c.want("made", got["created"], true)
	c.want("stored", c.one("MATCH ({id: 'a'})-[r]->({id: 'b'}) RETURN [type(r), r.weight, r.reason]"), "[\"works `at`)-(x\",0.25,\"I saw it\"]")
	again := c.call("link", m{"from": "a", "to": "b", "type": "works `at`)-(x", "weight": 0.5})
	c.want("changed", again["created"], false)
	c.want("one relationship", c.one("MATCH ({id: 'a'})-[r]->() RETURN collect(r.weight)"), "[0.5]")
	c.want("the default type", c.call("link", m{"from": "b", "to": "a"})["type"], "RELATED")
	c.says("no node", c.refused("link", m{"from": "a", "to": "q"}), `id "q"`)
	c.says("superseding", c.refused("link", m{"from": "a", "to": "b", "type": "SUPERSEDES"}), "tool supersede")
	c.says("weight", c.refused("link", m{"from": "a", "to": "b", "weight": 2}), "weight is 2; it can be 0 to 1")
}

func linkCausalContract(c *client) {
	c.do("CREATE (:Memory {id: 'a'}), (:Memory {id: 'b'}), (:Memory {id: 'c'})")
	c.want("made", c.call("link_causal", m{"cause": "a", "effect": "b", "strength": 0.7})["created"], true)
	c.call("link_causal", m{"cause": "b", "effect": "c"})
	c.want("stored", c.one("MATCH ({id: 'a'})-[r:CAUSES]->({id: 'b'}) RETURN r.weight"), "0.7")
	c.says("a circle", c.refused("link_causal", m{"cause": "c", "effect": "a"}), "the effect leads to the cause already: a -> b -> c")
	c.says("itself", c.refused("link_causal", m{"cause": "a", "effect": "a"}), "nothing causes itself")
	c.want("no circle is stored", c.one("MATCH ()-[r:CAUSES]->() RETURN count(r)"), "2")
}

func supersedeContract(c *client) {
	c.do("CREATE (:Memory {id: 'rome', content: 'Ada lives in Rome'}), (:Memory {id: 'oslo', content: 'Ada lives in Oslo'})")
	got := c.call("supersede", m{"old": "rome", "new": "oslo", "because": "she moved"})
	c.want("changed", got["changed"], true)
	c.want("again", c.call("supersede", m{"old": "rome", "new": "oslo"})["changed"], false)
	c.want("stored", c.one("MATCH ({id: 'oslo'})-[r:SUPERSEDES]->(m {id: 'rome'}) RETURN [m.status, r.reason]"), `["superseded","she moved"]`)
	text := c.call("supersede", m{"old": "oslo", "content": "Ada lives in Bonn"})
	c.want("a new text", c.one("MATCH (m {id: '"+text["new"].(string)+"'})-[:SUPERSEDES]->({id: 'oslo'}) RETURN m.content"), `"Ada lives in Bonn"`)
	c.says("a circle", c.refused("supersede", m{"old": "oslo", "new": "rome"}), "supersedes rome already")
	c.says("neither", c.refused("supersede", m{"old": "oslo"}), "give either new")
	c.says("no node", c.refused("supersede", m{"old": "zz", "content": "left over"}), "zz")
	c.want("nothing is left over", c.one("MATCH (m {content: 'left over'}) RETURN count(m)"), "0")
}

func forgetContract(c *client) {
	c.do("CREATE (:Memory {id: 'a', content: 'a secret'})")
	got := c.call("forget", m{"id": "a", "because": "asked to"})
	c.want("forgotten", []any{got["changed"], got["status"]}, []any{true, "forgotten"})
	c.want("kept", c.one("MATCH (m {id: 'a'}) RETURN [m.content, m.reason]"), `["a secret","asked to"]`)
	c.want("again", c.call("forget", m{"id": "a"})["changed"], false)
	c.want("not recalled", ids(c.call("recall", m{"query": "secret"})["memories"]), []string{})
	c.want("back", c.call("forget", m{"id": "a", "restore": true})["status"], "active")
	c.want("recalled", ids(c.call("recall", m{"query": "secret"})["memories"]), []string{"a"})
	c.says("no node", c.refused("forget", m{"id": "zz"}), "zz")
}

func queryContract(c *client) {
	c.do("UNWIND range(1, 120) AS i CREATE (:N {id: 'n' + toString(i), i: i})")
	got := c.call("query", m{"statement": "MATCH (n:N) WHERE n.i > $min RETURN n.i AS i, {a: [n.i]} AS x ORDER BY i", "params": m{"min": 10}})
	c.want("columns", got["columns"], []string{"i", "x"})
	c.want("the first row", got["rows"].([]any)[0], []any{11, m{"a": []int{11}}})
	c.want("how many", []any{len(got["rows"].([]any)), got["rows_total"], got["more"]}, []any{50, 110, true})
	next := c.call("query", m{"statement": "MATCH (n:N) WHERE n.i > $min RETURN n.i AS i ORDER BY i", "params": m{"min": 10}, "cursor": got["cursor"], "limit": 1000})
	c.want("the rest", []any{next["rows"].([]any)[0], len(next["rows"].([]any)), next["more"]}, []any{[]int{61}, 60, false})
	big := c.call("query", m{"statement": "UNWIND range(1, 1000) AS i RETURN i, '" + strings.Repeat("x", 500) + "' AS x", "limit": 1000})
	c.want("cut by size", big["more"], true)
	c.says("one large row", c.refused("query", m{"statement": "RETURN reduce(s = 'x', i IN range(1, 17) | s + s) AS s"}), "row 1 is larger")
	c.says("an error", c.refused("query", m{"statement": "MATCH (n RETURN n"}), "line 1, column 10")
	c.says("writing", c.refused("query", m{"statement": "CREATE (:X)"}), "only reads")
	c.says("a plan", c.call("query", m{"statement": "EXPLAIN MATCH (n:N) RETURN n"})["text"].(string), "LabelScan")
	c.says("a notice", c.call("query", m{"statement": "MATCH (n:M) RETURN n"})["text"].(string), "note: ")
}

func searchContract(c *client) {
	c.do("CREATE (:Memory {id: 'a/b c', content: 'The server crashed\nbadly'}), (:Memory {id: 'z', content: 'lunch'})")
	got := c.call("search", m{"query": "server"})
	c.want("results", got["results"], []m{{"id": "a/b c", "title": "The server crashed", "url": "engram://node/a%2Fb%20c"}})
	c.says("text", got["text"].(string), `{"results":[{"id":"a/b c"`)
	c.want("nothing", c.call("search", m{"query": "zebra"})["results"], []any{})
}

func fetchContract(c *client) {
	c.do("CREATE (:Memory {id: 'a', content: 'The server crashed\nbadly', origin: 'tool'}), (:Memory {id: 'long', content: reduce(s = 'é', i IN range(1, 16) | s + s)})")
	got := c.call("fetch", m{"id": "a"})
	c.want("text", []any{got["id"], got["title"], got["url"]}, []any{"a", "The server crashed", "engram://node/a"})
	c.says("text", got["text"].(string), `"text":"The server crashed\nbadly"`)
	c.want("metadata", got["metadata"], m{"labels": []string{"Memory"}, "cut": false, "origin": "tool"})
	c.want("cut", c.call("fetch", m{"id": "long"})["metadata"].(m)["cut"], true)
	c.says("no node", c.refused("fetch", m{"id": "zz"}), "zz")
}

func compileContract(c *client) {
	c.do("CREATE (:Memory {id: 'a', content: 'The pump was replaced'})-[:RELATED]->(:Memory {id: 'b', content: 'The valve leaks'})")
	got := c.call("compile_context", m{"intent": "which pump", "budget": 100})
	c.want("text", got["text"], "[ENGRAM CONTEXT]\n- The pump was replaced\n- The valve leaks")
	c.want("nodes", got["nodes"], []string{"a", "b"})
	c.want("counts", []any{got["considered"], got["delivered"], got["withheld"]}, []any{2, 2, 0})
	c.want("nothing", c.call("compile_context", m{"intent": "zebra"})["nodes"], []string{})
	c.want("from", c.call("compile_context", m{"intent": "zebra", "from": []string{"b"}})["nodes"], []string{"a"})
}

func consolidateContract(c *client) {
	c.do("CREATE (:Memory {id: 'm1', content: 'The red fox crossed the frozen river', tier: 'Working', created_at: datetime('2020-01-01T00:00:00Z')}), (:Note {id: 'm2', content: 'x', tier: 'Working', created_at: datetime('2020-01-01T00:00:00Z')})")
	dry := c.call("consolidate", m{"dry_run": true, "label": "Memory"})
	c.want("would be", []any{dry["promoted"], dry["dry_run"], ids(dry["actions"])}, []any{1, true, []string{"m1"}})
	c.want("nothing is changed", c.one("MATCH (m {id: 'm1'}) RETURN m.tier"), `"Working"`)
	got := c.call("consolidate", m{"label": "Memory", "to": "episodic"})
	c.want("promoted", got["promoted"], 1)
	c.want("changed", c.one("MATCH (m {id: 'm1'}) RETURN m.tier"), `"Episodic"`)
	c.want("the label counts", c.one("MATCH (m {id: 'm2'}) RETURN m.tier"), `"Working"`)
}

func planWorkContract(c *client) {
	c.do("CREATE (:Project {id: 'atlas', name: 'Atlas'}), (:Memory {id: 'm', content: 'note'})")
	got := c.call("plan_work", m{"title": "Ship it", "body": "before May", "priority": 1, "concerns": []string{"atlas"}})
	c.want("made", []any{got["id"], got["created"], got["status"], got["priority"], got["concerns"]}, []any{"work-n1", true, "open", 1, []string{"atlas"}})
	c.want("stored", c.one("MATCH (w:BacklogItem {id: 'work-n1'})-[:CONCERNS]->({id: 'atlas'}) RETURN [w.title, w.body, w.content, w.origin]"),
		`["Ship it","before May","Ship it\nbefore May","model"]`)
	changed := c.call("plan_work", m{"id": "work-n1", "status": "done", "concerns": []string{"m", "atlas"}})
	c.want("changed", []any{changed["created"], changed["title"], changed["status"], changed["priority"], len(changed["concerns"].([]any))}, []any{false, "Ship it", "done", 1, 2})
	c.want("one item", c.one("MATCH (w:BacklogItem) RETURN count(w)"), "1")
	c.want("recalled", ids(c.call("recall", m{"query": "ship"})["memories"])[0], "work-n1")
	c.says("no title", c.refused("plan_work", m{"body": "x"}), "title is missing")
	c.says("no item", c.refused("plan_work", m{"id": "m", "title": "x"}), "there is no work with the id")
	c.says("no node", c.refused("plan_work", m{"title": "x", "concerns": []string{"zz"}}), "zz")
}

func reviewBacklogContract(c *client) {
	c.do("CREATE (:Project {id: 'atlas', name: 'Atlas'})")
	for i, p := range []int{3, 1, 5} {
		c.call("plan_work", m{"title": fmt.Sprintf("work %d", i), "priority": p, "concerns": []string{"atlas"}})
	}
	c.call("plan_work", m{"id": "work-n3", "status": "done"})
	got := c.call("review_backlog", m{})
	c.want("by urgency", ids(got["items"]), []string{"work-n2", "work-n1"})
	c.want("counts", got["counts"], m{"done": 1, "open": 2})
	c.want("concerns", got["items"].([]any)[0].(m)["concerns"], []m{{"id": "atlas", "title": "Atlas"}})
	c.want("done", ids(c.call("review_backlog", m{"status": []string{"done"}})["items"]), []string{"work-n3"})
	first := c.call("review_backlog", m{"limit": 1})
	c.want("a page", []any{ids(first["items"]), first["more"], first["total"]}, []any{[]string{"work-n2"}, true, 2})
	c.want("the next", ids(c.call("review_backlog", m{"limit": 1, "cursor": first["cursor"]})["items"]), []string{"work-n1"})
}

func restructureContract(c *client) {
	c.do("CREATE (a:Memory {id: 'a'})-[:CAUSES {weight: 0.9}]->(b:Memory {id: 'b'})-[:CAUSES {weight: 0.2}]->(x:Memory {id: 'c'})-[:CAUSES {weight: 0.8}]->(a)")
	c.do("CREATE (p:Memory {id: 'p'})-[:CAUSES]->(q:Memory {id: 'q'})-[:CAUSES]->(r:Memory {id: 'r'}), (p)-[:CAUSES]->(r)")
	c.do("CREATE (o:Memory {id: 'o', content: 'o'})-[:CAUSES]->(:Memory {id: 'e', content: 'e'}), (:Memory {id: 'n', content: 'n'})")
	c.do("SUPERSEDE 'o' BY 'n'")
	c.do("CREATE (:Memory {id: 'late', valid_from: datetime('2025-01-01T00:00Z')})-[:CAUSES]->(:Memory {id: 'soon', valid_from: datetime('2024-01-01T00:00Z')})")
	before := c.one("MATCH ()-[r:CAUSES]->() RETURN count(r)")
	got := c.call("restructure_causal", m{})
	kinds := []string{}
	for _, p := range got["proposals"].([]any) {
		kinds = append(kinds, p.(m)["kind"].(string))
	}
	c.want("kinds", kinds, []string{"circle", "shortcut", "superseded", "backwards"})
	c.want("complete", []any{got["complete"], got["looked_at"]}, []any{true, 8})
	c.want("nothing is changed", c.one("MATCH ()-[r:CAUSES]->() RETURN count(r)"), before)
	c.want("near a node", c.call("restructure_causal", m{"id": "late"})["looked_at"], 1)
	for _, p := range got["proposals"].([]any) {
		if _, err := c.db.Query(c.t.Context(), p.(m)["statement"].(string), p.(m)["params"].(m)); err != nil {
			c.t.Errorf("%v: %v", p, err)
		}
	}
	c.want("afterwards", c.call("restructure_causal", m{})["proposals"], []any{})
	c.want("the weakest is gone", c.one("MATCH (:Memory {id: 'b'})-[r:CAUSES]->() RETURN count(r)"), "0")
	c.want("the successor takes its part", c.one("MATCH ({id: 'n'})-[r:CAUSES]->({id: 'e'}) RETURN count(r)"), "1")
	c.want("turned", c.one("MATCH ({id: 'soon'})-[r:CAUSES]->({id: 'late'}) RETURN count(r)"), "1")
}

func structuralAuditContract(c *client) {
	c.do("CREATE (:Person {id: 'cy'})-[:KNOW]->(:Person {id: 'dee'})-[:KNOWS]->(:Person {id: 'eve'})-[:KNOWS]->(:Person {id: 'fay'}), (:Memory {id: 'lone', content: 'nothing joins me', tier: 'episodic'})")
	got := c.call("structural_audit", m{"only": []string{"orphans_and_dangling", "tiers_and_decay"}, "suggest": true})
	found := map[string]m{}
	for _, f := range got["findings"].([]any) {
		found[f.(m)["finding"].(string)] = f.(m)
	}
	c.want("total", []any{got["total"], len(found), got["more"]}, []any{2, 2, false})
	c.want("the orphan", found["orphans_and_dangling"]["nodes"].([]any)[0].(m)["id"], "lone")
	c.want("the tier", found["tiers_and_decay"]["status"], "notice")
	c.want("a suggestion", found["tiers_and_decay"]["suggestions"], []string{"MATCH (m {id: 'lone'}) SET m.tier = 'Episodic'"})
	c.says("the orphan", got["text"].(string), "[lone] nothing joins me")
	if all := c.call("structural_audit", m{}); all["total"].(float64) < 8 || all["findings"].([]any)[0].(m)["suggestions"] != nil {
		c.t.Errorf("all findings: %v", all["total"])
	}
	c.want("nothing is changed", c.one("MATCH (m {id: 'lone'}) RETURN m.tier"), "\"episodic\"")
	c.says("no such finding", c.refused("structural_audit", m{"only": []string{"orphans"}}), "there is no finding")
}
