package query_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access/model"
	"engram/query/internal/naive"
)

// rewrites are pairs of statements that must give the same rows. Each gets a
// random condition on a node variable, and another one on an edge variable.
var rewrites = []struct {
	name string
	both func(p, q func(v string) string) (one, other string)
}{
	{"a condition inside the pattern or in WHERE", func(p, q func(string) string) (string, string) {
		return "MATCH (a:A WHERE " + p("a") + ")-[r:R WHERE " + q("r") + "]->(b) RETURN a, r, b",
			"MATCH (a)-[r]->(b) WHERE " + q("r") + " AND a:A AND type(r) = 'R' AND (" + p("a") + ") RETURN a, r, b"
	}},
	{"p AND true", func(p, _ func(string) string) (string, string) {
		return "MATCH (a) WHERE " + p("a") + " RETURN a", "MATCH (a) WHERE (" + p("a") + ") AND true RETURN a"
	}},
	{"p OR p", func(p, _ func(string) string) (string, string) {
		return "MATCH (a)-->(b) WHERE " + p("a") + " RETURN a, b", "MATCH (a)-->(b) WHERE (" + p("a") + ") OR (" + p("a") + ") RETURN a, b"
	}},
	{"true, false and null together are all", func(p, _ func(string) string) (string, string) {
		all := "MATCH (a)-[r]->(b) "
		return all + "RETURN count(*) AS n",
			"RETURN COUNT { " + all + "WHERE " + p("a") + " } + COUNT { " + all + "WHERE NOT (" + p("a") + ") } + COUNT { " + all + "WHERE (" + p("a") + ") IS NULL } AS n"
	}},
	{"no direction is both directions", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[r]-(b) WHERE " + p("a") + " AND " + q("r") + " RETURN a, r, b",
			"MATCH (a)-[r]->(b) WHERE " + p("a") + " AND " + q("r") + " RETURN a, r, b UNION ALL " +
				"MATCH (a)<-[r]-(b) WHERE a <> b AND " + p("a") + " AND " + q("r") + " RETURN a, r, b"
	}},
	{"a walk of one edge", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[rs:R|S*1..1]->(b) WHERE " + p("b") + " RETURN a, head(rs) AS r, b",
			"MATCH (a)-[r:R|S]->(b) WHERE " + p("b") + " RETURN a, r, b"
	}},
	{"two edges or a walk of two", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[r]->()-[s]->(b) WHERE " + q("r") + " AND " + q("s") + " RETURN a, b",
			"MATCH (a)-[r*2..2 WHERE " + q("r") + "]->(b) RETURN a, b"
	}},
	{"a condition on each edge of a walk", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[r*0..3 WHERE " + q("r") + "]-(b) RETURN a, r, b",
			"MATCH (a)-[r*0..3]-(b) WHERE size([x IN r WHERE " + q("x") + "]) = size(r) RETURN a, r, b"
	}},
	{"a condition on each node of a walk", func(p, q func(string) string) (string, string) {
		return "MATCH w = (a)-[r*..3]->(b) WHERE all(n IN nodes(w) WHERE " + p("n") + ") RETURN a, r, b",
			"MATCH w = (a)-[r*..3]->(b) WHERE size([n IN nodes(w) WHERE " + p("n") + "]) = size(r) + 1 RETURN a, r, b"
	}},
	{"the ends of walks", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[r*0..3 WHERE " + q("r") + "]->(b) RETURN DISTINCT a, b",
			"MATCH (a)-[r*0..3]->(b) WHERE all(x IN r WHERE " + q("x") + ") WITH a, b, count(r) AS n RETURN a, b"
	}},
	{"the shortest of the walks that keep to conditions", func(p, q func(string) string) (string, string) {
		return "MATCH w = shortestPath((a)-[r*..4 WHERE " + q("r") + "]->(b)) WHERE a <> b AND all(n IN nodes(w) WHERE " + p("n") + ") RETURN a, b, length(w) AS l",
			"MATCH w = (a)-[r*..4]->(b) WHERE a <> b AND all(x IN r WHERE " + q("x") + ") AND none(n IN nodes(w) WHERE NOT coalesce(" + p("n") + ", false)) RETURN a, b, min(length(w)) AS l"
	}},
	{"a shortest path as an expression", func(p, q func(string) string) (string, string) {
		return "MATCH (a:A), (b) WHERE a <> b AND " + p("b") + " WITH a, b, length(shortestPath((a)-[*..4]-(b))) AS l WHERE l IS NOT NULL RETURN a, b, l",
			"MATCH (a:A), (b), w = shortestPath((a)-[*..4]-(b)) WHERE a <> b AND " + p("b") + " RETURN a, b, length(w) AS l"
	}},
	{"an expression of types", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[r:!(R|S)]->(b) WHERE " + q("r") + " AND " + p("b") + " RETURN a, r, b",
			"MATCH (a)-[r]->(b) WHERE NOT type(r) IN ['R', 'S'] AND " + q("r") + " AND " + p("b") + " RETURN a, r, b"
	}},
	{"an expression of types of a walk", func(p, q func(string) string) (string, string) {
		return "MATCH (a)-[r:!S*0..3 WHERE " + q("r") + "]-(b) RETURN a, r, b",
			"MATCH (a)-[r:R|T]-{0,3}(b) WHERE all(x IN r WHERE " + q("x") + ") RETURN a, r, b"
	}},
	{"the shortest of the walks over other types", func(p, _ func(string) string) (string, string) {
		return "MATCH w = ANY SHORTEST (a)-[:!S&!T]->+(b) WHERE a <> b AND " + p("a") + " RETURN a, b, length(w) AS l",
			"MATCH w = (a)-[:R*]->(b) WHERE a <> b AND " + p("a") + " RETURN a, b, min(length(w)) AS l"
	}},
	{"a shortest path of one edge", func(p, q func(string) string) (string, string) {
		return "MATCH w = shortestPath((a)-[r:R WHERE " + q("r") + "]->(b)) WHERE a <> b AND " + p("b") + " RETURN a, b",
			"MATCH (a)-[r:R]->(b) WHERE a <> b AND " + q("r") + " AND " + p("b") + " RETURN DISTINCT a, b"
	}},
	{"CASE with several values or with conditions", func(p, _ func(string) string) (string, string) {
		return "MATCH (a) RETURN a, CASE a.i WHEN 0, > 2 THEN count(*) WHEN IS NULL THEN -1 ELSE -2 END AS c",
			"MATCH (a) RETURN a, CASE WHEN a.i = 0 OR a.i > 2 THEN count(*) WHEN a.i IS NULL THEN -1 ELSE -2 END AS c"
	}},
	{"OPTIONAL MATCH without the nulls", func(p, q func(string) string) (string, string) {
		return "MATCH (a) OPTIONAL MATCH (a)-[r]->(b) WHERE " + q("r") + " WITH a, r, b WHERE r IS NOT NULL RETURN a, r, b",
			"MATCH (a) MATCH (a)-[r]->(b) WHERE " + q("r") + " RETURN a, r, b"
	}},
	{"patterns in another order", func(p, q func(string) string) (string, string) {
		return "MATCH (a:A)-[r]->(b), (b)-[s:S]-(c) WHERE " + p("c") + " RETURN a, r, b, s, c",
			"MATCH (c)-[s:S]-(b), (b)<-[r]-(a:A) WHERE " + p("c") + " RETURN a, r, b, s, c"
	}},
	{"EXISTS or a join", func(p, q func(string) string) (string, string) {
		return "MATCH (a) WHERE EXISTS { (a)-[r]->(b) WHERE " + q("r") + " AND " + p("b") + " } RETURN a",
			"MATCH (a)-[r]->(b) WHERE " + q("r") + " AND " + p("b") + " RETURN DISTINCT a"
	}},
	{"COUNT or grouping", func(p, q func(string) string) (string, string) {
		return "MATCH (a:A) RETURN a, COUNT { (a)-[r]->() WHERE " + q("r") + " } AS n",
			"MATCH (a:A) OPTIONAL MATCH (a)-[r]->() WHERE " + q("r") + " RETURN a, count(r) AS n"
	}},
	{"CALL with a list or with WITH", func(p, q func(string) string) (string, string) {
		return "MATCH (a) CALL (a) { MATCH (a)-[r]->(b) WHERE " + p("b") + " RETURN r, b } RETURN a, r, b",
			"MATCH (a) CALL { WITH a MATCH (a)-[r]->(b) WHERE " + p("b") + " RETURN r, b } RETURN a, r, b"
	}},
}

// TestRewritesAgree runs statements that mean the same, with literals and with
// parameters, with comments and other line ends between the words; with and without
// rules of the planner, with and without indexes.
func TestRewritesAgree(t *testing.T) {
	n := 100
	if testing.Short() {
		n = 40
	}
	engines := []*query.Engine{query.New(nil), query.New(&query.Options{Disable: query.AllRules})}
	for _, rw := range rewrites {
		t.Run(rw.name, func(t *testing.T) {
			some := 0
			for seed := range uint64(n) {
				r := rand.New(rand.NewPCG(seed, 7))
				plain := model.New()
				if err := naive.FillGraph(plain, r); err != nil {
					t.Fatal(err)
				}
				indexed := plain.Clone()
				if err := addIndexes(indexed, r); err != nil {
					t.Fatal(err)
				}
				p, q := randomCondition(r, "p"), randomCondition(r, "q")
				one, other := rw.both(p.literal, q.literal)
				withParams, _ := rw.both(p.param, q.param)
				params := map[string]value.Value{"p": p.value, "q": q.value}
				var want [][]value.Value
				for i, text := range []string{one, other, withParams, otherLayout(one, r)} {
					for j, g := range []*model.Graph{plain, indexed} {
						for k, e := range engines {
							got, _, err := runEngineWith(e, text, g, params)
							if err != nil {
								t.Fatalf("seed %d: %s\n%v", seed, text, err)
							}
							sortRows(got)
							if i+j+k == 0 {
								want = got
								some += len(got)
								continue
							}
							if !slices.EqualFunc(got, want, equalRow) {
								t.Fatalf("seed %d, indexed %v, rules %v:\n%s\n%s\nby\n%s\n%s",
									seed, j > 0, k == 0, text, listRows(got), one, listRows(want))
							}
						}
					}
				}
			}
			if some == 0 {
				t.Error("no statement had a row")
			}
		})
	}
}

// condition is a random condition on a variable. It may be null and raises no
// error. The integer in it is a literal or a parameter.
type condition struct {
	text, name string
	value      value.Value
}

func randomCondition(r *rand.Rand, name string) condition {
	choices := []string{
		"@.i > #", "@.i = #", "@.i IN [0, #, null]", "@.f <= #", "@.s STARTS WITH 'a'", "@.s > 'b'", "@.b", "NOT @.b",
		"@.i IS NOT NULL", "size(@.l) < #", "(@.i < # OR @.b)", "(@.f > 0 AND @.i IS NULL)",
	}
	return condition{choices[r.IntN(len(choices))], name, value.Int(int64(r.IntN(5) - 1))}
}

func (c condition) literal(v string) string { return c.with(v, c.value.String()) }

func (c condition) param(v string) string { return c.with(v, "$"+c.name) }

func (c condition) with(v, number string) string {
	return strings.NewReplacer("@", v, "#", number).Replace(c.text)
}

// otherLayout puts comments and line ends between the words of a statement, which
// has no space within quotes.
func otherLayout(text string, r *rand.Rand) string {
	spaces := []string{"\r\n", " /* it's \" ` a */ ", "\t// the \"rest' of a line\r\n", "\n\n  ", "/**/ ", "\u00a0"}
	var b strings.Builder
	for i, word := range strings.Split(text, " ") {
		if i > 0 {
			b.WriteString(spaces[r.IntN(len(spaces))])
		}
		b.WriteString(word)
	}
	return b.String()
}
