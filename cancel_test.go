package engram_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"engram"
)

// looked is a context that counts how often it is looked at and ends at one of
// these looks.
type looked struct {
	context.Context
	looks, end int
}

func (c *looked) Err() error {
	if c.looks++; c.looks >= c.end {
		return context.Canceled
	}
	return nil
}

// TestLooksAtTheContext runs statements whose work is in one call, one row or one
// operator. Each has work for a few hundred thousand steps at least, of some tens of
// nanoseconds; so one that looks at its context often enough is ended by the
// tenth look, and one that does not comes to its end.
func TestLooksAtTheContext(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "UNWIND range(0, 19) AS i CREATE (:K {i: i})", nil)
	query(t, db, "MATCH (a:K), (b:K) WHERE a.i < b.i CREATE (a)-[:T]->(b)", nil)
	query(t, db, "UNWIND range(0, 999) AS i CREATE (:L {i: i, layer: i / 10})", nil)
	query(t, db, "MATCH (a:L), (b:L) WHERE b.layer = a.layer + 1 CREATE (a)-[:N]->(b)", nil)
	const (
		texts = "WITH $s AS s, $t AS t "
		lists = "WITH $l AS l, $m AS m "
		times = "UNWIND range(1, 200) AS i "
		many  = "UNWIND range(1, 400) AS a UNWIND range(1, 1000) AS b "
	)
	// A megabyte, a list of 100,000, and both once more elsewhere in memory.
	var ints [2][]int
	for i := range 100_000 {
		ints[0], ints[1] = append(ints[0], i), append(ints[1], i)
	}
	params := map[string]any{
		"s": strings.Repeat("ab", 1<<19), "t": strings.Repeat("abab", 1<<18), "l": ints[0], "m": ints[1],
	}
	for _, text := range []string{
		"RETURN reduce(n = 0, i IN range(1, 1000000) | n + i)",
		"RETURN size([i IN range(1, 1000000) | i])",
		"RETURN all(i IN range(1, 1000000) WHERE i > 0)",
		"RETURN reduce(n = 0, i IN range(1, 1000) | n + size([j IN range(1, 1000) | j]))",
		texts + times + "RETURN sum(size(s))",
		texts + times + "RETURN count(s = t)",
		texts + times + "WITH i, s, t WHERE s = t RETURN count(i)",
		texts + times + "RETURN count(s CONTAINS 'abba')",
		texts + times + "RETURN sum(size(toUpper(s)))",
		texts + times + "RETURN count(trim(s, 'ab'))",
		texts + times + "RETURN count(reverse(s))",
		texts + times + "RETURN count(substring(s, 1000000))",
		texts + times + "RETURN count(left(s, 1000000))",
		texts + times + "RETURN count(right(s, 10))",
		texts + times + "RETURN count(replace(s, 'ba', 'xy'))",
		texts + times + "RETURN count(replace(s, 'xyz', ''))",
		texts + times + "RETURN count(split(s, 'bb'))",
		texts + times + "RETURN count(CASE s WHEN t THEN 1 END)",
		texts + times + "RETURN count(s IN ['a', t])",
		texts + "UNWIND range(1, 20) AS i RETURN count(s =~ '(a|b)*c')",
		"WITH reduce(s = 'ab', i IN range(1, 10) | s + s) AS s UNWIND range(1, 4000) AS i RETURN count('a' =~ (s + i))",
		lists + times + "RETURN count(l = m)",
		lists + times + "RETURN count([l] < [m])",
		lists + times + "RETURN count({a: l} = {a: m})",
		lists + times + "RETURN count(-i IN l)",
		lists + times + "RETURN count(l IN [m, l])",
		lists + times + "RETURN count(l + i)",
		lists + times + "RETURN count(reverse(l))",
		lists + times + "RETURN count(toStringList(l))",
		lists + times + "RETURN count(DISTINCT l)",
		lists + times + "RETURN DISTINCT l",
		lists + times + "RETURN [l, i % 2] AS k, count(*)",
		lists + times + "RETURN max(l)",
		lists + times + "WITH l, i ORDER BY l RETURN count(i)",
		lists + times + "WITH l, i ORDER BY l LIMIT 1 RETURN count(i)",
		lists + times + "CALL { WITH l RETURN l AS k UNION WITH l RETURN l AS k } RETURN count(k)",
		many + "RETURN collect(a)",
		many + "WITH a, b ORDER BY b, a RETURN count(*)",
		many + "RETURN percentileCont(a * b, 0.5)",
		many + "WITH DISTINCT a, b RETURN count(*)",
		many + "RETURN count { MATCH (n:K {i: a}) RETURN n }",
		"MATCH p = (:K {i: 0})-[:T*]->(:K {i: 19}) RETURN count(p)",
		"MATCH (a:K), (b:K) WHERE a.i < 3 MATCH p = (a)-[:T*..4]-(b) RETURN count(p)",
		"MATCH p = allShortestPaths((a:L {i: 0})-[:N*..20]->(b:L {i: 70})) RETURN count(p)",
		"MATCH (a:L) MATCH p = shortestPath((a)-[:N*]-(b:L {i: 999})) RETURN count(p)",
		"MATCH (a:L)-[:N*]->(b) WITH DISTINCT a, b RETURN count(*)",
		"MATCH (a:L), (b:L) WHERE a.i + b.i = 5 RETURN count(*)",
		"MATCH (a:L), (b:L), (c:K) WHERE EXISTS { (a)-->(c) } RETURN count(*)",
		"UNWIND range(1, 60000) AS i CREATE (:W {i: i})",
		"UNWIND range(1, 60000) AS i MERGE (n:K {i: i % 20}) SET n.i = i",
		"MATCH (n:L) FOREACH (i IN range(1, 100) | SET n.i = i)",
	} {
		ctx := &looked{Context: context.Background(), end: 10}
		_, err := db.Query(ctx, text, params)
		var e *engram.Error
		if !errors.As(err, &e) || e.Code != engram.CodeCanceled {
			t.Errorf("%s: %.200v after %d looks", text, err, ctx.looks)
		}
		if ctx.looks > 12 {
			t.Errorf("%s: it went on for %d looks", text, ctx.looks-10)
		}
	}
	if n := number(t, db, "MATCH (n:W) RETURN count(n)"); n != 0 {
		t.Errorf("%d nodes of a statement that was cancelled", n)
	}
}
