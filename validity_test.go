package engram_test

import (
	"strings"
	"testing"
	"time"

	"engram"
)

// TestValidityFollows: since when a memory holds may be set later; what is valid at a
// moment follows, of the memory itself and of what it has taken the place of.
func TestValidityFollows(t *testing.T) {
	db := memory(t, &engram.Options{Now: func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }})
	const asOf = "RECALL 'office' AS OF datetime('%') YIELD node AS m RETURN m.id ORDER BY m.id"
	runSteps(t, db, []step{
		// By itself: it always holds until it is told since when.
		{"REMEMBER 'the harbour has a cat' {id: 'cat'} ALONE AS m RETURN created", "[[true]]"},
		{"RECALL 'cat' AS OF datetime('2020-01-01T00:00Z') YIELD node AS m RETURN m.id", "[[cat]]"},
		{"MATCH (n {id: 'cat'}) SET n.valid_from = datetime('2022-01-01T00:00Z')", "[]"},
		{"RECALL 'cat' AS OF datetime('2021-12-31T23:59:59Z') YIELD node AS m RETURN m.id", "[]"},
		{"RECALL 'cat' AS OF datetime('2022-01-01T00:00Z') YIELD node AS m RETURN m.id", "[[cat]]"},
		{"RECALL 'cat' AT datetime('2021-06-01T00:00Z') YIELD node AS m RETURN m.id", "[]"},
		{"MATCH (n {id: 'cat'}) SET n += {valid_from: datetime('2019-01-01T00:00Z'), valid_to: datetime('2020-01-01T00:00Z')}", "[]"},
		{"RECALL 'cat' YIELD node AS m RETURN m.id", "[]"},
		{"RECALL 'cat' AS OF datetime('2019-06-01T00:00Z') YIELD node AS m RETURN m.id", "[[cat]]"},

		// What supersedes others: they end where it begins, also when that is told later.
		{"REMEMBER 'the office is in Rome' {id: 'rome', valid_from: datetime('2010-01-01T00:00Z')} ALONE AS m RETURN created", "[[true]]"},
		{"REMEMBER 'the branch office is in Bari' {id: 'bari', valid_to: datetime('2015-01-01T00:00Z')} ALONE AS m RETURN created", "[[true]]"},
		{"REMEMBER 'the office is in Oslo' {id: 'oslo'} ALONE AS m RETURN created", "[[true]]"},
		{"MATCH (a {id: 'rome'}), (b {id: 'oslo'}) CREATE (b)-[:SUPERSEDES]->(a)", "[]"},
		{"MATCH (a {id: 'bari'}), (b {id: 'oslo'}) CREATE (b)-[:SUPERSEDES]->(a)", "[]"},
		{"MATCH (n) WHERE n.id IN ['rome', 'bari', 'oslo'] RETURN n.id, toString(n.valid_from), toString(n.valid_to) ORDER BY n.id", "[[bari null 2015-01-01T00:00Z] [oslo 2026-06-01T00:00Z null] [rome 2010-01-01T00:00Z 2026-06-01T00:00Z]]"},
		{"MATCH (n {id: 'oslo'}) SET n.valid_from = datetime('2020-01-01T00:00Z')", "[]"},
		{"MATCH (n) WHERE n.id IN ['rome', 'bari', 'oslo'] RETURN n.id, toString(n.valid_from), toString(n.valid_to) ORDER BY n.id", "[[bari null 2015-01-01T00:00Z] [oslo 2020-01-01T00:00Z null] [rome 2010-01-01T00:00Z 2020-01-01T00:00Z]]"},
		{at(asOf, "2019-12-31T23:59:59Z"), "[[rome]]"},
		{at(asOf, "2020-01-01T00:00Z"), "[[oslo]]"},
		{at(asOf, "2014-01-01T00:00Z"), "[[bari] [rome]]"},
		// Twice in a statement, later again, and as a date.
		{"MATCH (n {id: 'oslo'}) SET n.valid_from = datetime('2021-01-01T00:00Z'), n.valid_from = date('2023-01-01')", "[]"},
		{at(asOf, "2022-12-31T00:00Z"), "[[rome]]"},
		{at(asOf, "2023-01-01T00:00Z"), "[[oslo]]"},
		// An end of its own stays.
		{"MATCH (n {id: 'rome'}) SET n.valid_to = datetime('2018-01-01T00:00Z')", "[]"},
		{"MATCH (n {id: 'oslo'}) SET n.valid_from = datetime('2024-01-01T00:00Z')", "[]"},
		{at(asOf, "2019-01-01T00:00Z"), "[]"},
		// Versions of one memory.
		{"REMEMBER 'the tide is high' {id: 'tide'} ALONE AS m RETURN created", "[[true]]"},
		{"MATCH (m {id: 'tide'}) SET m.content = 'the tide is low'", "[]"},
		{"MATCH (m {id: 'tide'}) SET m.valid_from = datetime('2025-01-01T00:00Z')", "[]"},
		{"RECALL 'tide' AS OF datetime('2024-12-31T00:00Z') YIELD node AS m RETURN m.content", "[[the tide is high]]"},
		{"RECALL 'tide' AS OF datetime('2025-01-01T00:00Z') YIELD node AS m RETURN m.content", "[[the tide is low]]"},
		{"MATCH (m {id: 'tide'}) SET m.content = 'the tide turns', m.valid_from = datetime('2026-01-01T00:00Z')", "[]"},
		{
			"MATCH (m:Memory) WHERE m.id STARTS WITH 'tide' RETURN m.content, toString(m.valid_from), toString(m.valid_to) ORDER BY m.content",
			"[[the tide is high null 2025-01-01T00:00Z] [the tide is low 2025-01-01T00:00Z 2026-01-01T00:00Z] [the tide turns 2026-01-01T00:00Z null]]",
		},
		// When what superseded is gone, what it ended holds again.
		{"MATCH (m {id: 'tide'}) DETACH DELETE m", "[]"},
		{"RECALL 'tide' YIELD node AS m RETURN m.content", "[[the tide is low]]"},
	})
}

func at(statement, moment string) string {
	before, after, _ := strings.Cut(statement, "%")
	return before + moment + after
}
