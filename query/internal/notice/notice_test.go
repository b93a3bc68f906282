package notice_test

import (
	"fmt"
	"strings"
	"testing"

	"engram/query/internal/access/model"
	"engram/query/internal/bind"
	"engram/query/internal/notice"
	"engram/query/internal/syntax"
)

// graph knows the labels Person and Movie, the types KNOWS and ACTED_IN, and the
// properties name, age and title.
func graph(t *testing.T) *model.Graph {
	g := model.New()
	for _, l := range []string{"Person", "Movie"} {
		if _, err := g.InternLabel(l); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range []string{"KNOWS", "ACTED_IN"} {
		if _, err := g.InternRelType(r); err != nil {
			t.Fatal(err)
		}
	}
	for _, k := range []string{"name", "age", "title"} {
		if _, err := g.InternKey(k); err != nil {
			t.Fatal(err)
		}
	}
	return g
}

func TestUnknown(t *testing.T) {
	g := graph(t)
	for _, c := range []struct{ text, want string }{
		{"MATCH (n:Person {name: 'x'})-[r:KNOWS]->(m) WHERE m.age > 1 RETURN n.name, r.title", ""},
		{"MATCH (n:Persn) RETURN n", "1:10 UnknownLabel No node has ever had the label `Persn`. Did you mean `Person`?"},
		{"MATCH (n:person) RETURN n", "1:10 UnknownLabel No node has ever had the label `person`. Did you mean `Person`?"},
		{"MATCH (n)\nWHERE n:Person&!Robot RETURN n", "2:17 UnknownLabel No node has ever had the label `Robot`."},
		{"MATCH ()-[r:KNOWN|ACTED_IN]->() RETURN r", "1:9 UnknownRelationType No relationship has ever had the type `KNOWN`. Did you mean `KNOWS`?"},
		{"MATCH ()-[r]->() WHERE r:KNOWN RETURN r", "1:26 UnknownRelationType No relationship has ever had the type `KNOWN`. Did you mean `KNOWS`?"},
		{"MATCH (n {nmae: 1}) RETURN n", "1:17 UnknownProperty Nothing has ever had the property `nmae`. Did you mean `name`?"},
		{"MATCH (n) RETURN n.agee AS age ORDER BY n.Title", "1:18 UnknownProperty Nothing has ever had the property `agee`. Did you mean `age`?\n" +
			"1:41 UnknownProperty Nothing has ever had the property `Title`. Did you mean `title`?"},
		{"MATCH (n) RETURN n.id, {x: 1}.x, date('2026-01-01').year", ""},
		{"MATCH (n) WHERE EXISTS { (n)-[:LIKES]->(:Movie) } RETURN n", "1:29 UnknownRelationType No relationship has ever had the type `LIKES`."},
		{"MATCH (n) RETURN [(n)--(m:Moovie) | m.titel]", "1:27 UnknownLabel No node has ever had the label `Moovie`. Did you mean `Movie`?\n" +
			"1:37 UnknownProperty Nothing has ever had the property `titel`. Did you mean `title`?"},
		{"CALL { MATCH (n:Persn) RETURN n } RETURN n", "1:17 UnknownLabel No node has ever had the label `Persn`. Did you mean `Person`?"},
		{"MATCH (n:Persn), (m:Persn) RETURN n, m", "1:10 UnknownLabel No node has ever had the label `Persn`. Did you mean `Person`?"},
		// What a statement writes itself is known to it.
		{"CREATE (n:New {x: 1})-[:T]->() WITH n MATCH (n:New)-[:T]->() RETURN n.x", ""},
		{"MERGE (n:New {x: 1}) ON CREATE SET n.y = 1, n:Other RETURN n.y, n:Other", ""},
		{"MATCH (n) SET n += $more RETURN n.anything", ""},
		{"CREATE (n $props) RETURN n.anything", ""},
		{"FOREACH (x IN [1] | CREATE (:New {z: x})) WITH 1 AS one MATCH (n:New) RETURN n.z", ""},
		{"REMEMBER 'text' :Note LINK (m) AS :ABOUT AS n", "error"},
		{"MATCH (m) REMEMBER 'text' :Note LINK (m) AS :ABOUT AS n WITH n MATCH (n:Note)-[:ABOUT]->() RETURN n.content", ""},
		{"RECALL 'text' VIA :KNOWN WHERE node.agee > 1", "1:1 UnknownRelationType No relationship has ever had the type `KNOWN`. Did you mean `KNOWS`?\n" +
			"1:32 UnknownProperty Nothing has ever had the property `agee`. Did you mean `age`?"},
	} {
		if got := notices(g, c.text); got != c.want {
			t.Errorf("%s\ngot\n%s\nwant\n%s", c.text, got, c.want)
		}
	}
}

func notices(g *model.Graph, text string) string {
	parsed, err := syntax.Parse(text)
	if err != nil {
		return err.Error()
	}
	stmt, err := bind.Bind(parsed, nil)
	if err != nil {
		return "error"
	}
	var lines []string
	for _, n := range notice.Unknown(stmt, g) {
		lines = append(lines, fmt.Sprintf("%d:%d %s %s", n.Line, n.Column, n.Code, n.Message))
	}
	return strings.Join(lines, "\n")
}

func TestNoticesAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString("MATCH (n) RETURN 1")
	for i := range 30 {
		fmt.Fprintf(&b, ", n.p%d", i)
	}
	if n := strings.Count(notices(graph(t), b.String()), "\n") + 1; n != 10 {
		t.Errorf("%d notices", n)
	}
}

// A name that the statement reads first and writes later is not known when it is
// read; telling so would need the order of clauses.
func TestWrittenLater(t *testing.T) {
	if got := notices(graph(t), "MATCH (n:New) CREATE (:New)"); got != "" {
		t.Error(got)
	}
}
