package engram_test

import (
	"testing"

	"engram"
)

// TestAssociation: REMEMBER associates, before the slot and in it alike; CREATE does
// when it is told to, and a statement that makes many does not.
func TestAssociation(t *testing.T) {
	const related = "MATCH (a)-[r:RELATED]->(b) RETURN a.id, b.id, r.weight ORDER BY a.id, b.id"
	db := memory(t, &engram.Options{})
	runSteps(t, db, []step{
		{"REMEMBER 'the red fox jumped fences' {id: 'a'} AS m RETURN m.id", "[[a]]"},
	})
	runSteps(t, db, []step{
		{"MATCH (m {id: 'a'}) RETURN m.content", "[[the red fox jumped fences]]"},
		{"REMEMBER 'a red fox jumps walls' {id: 'b'} AS m RETURN m.id", "[[b]]"},
		{"UNWIND ['red foxes jumping hedges'] AS t REMEMBER t {id: 'c'} AS m RETURN m.id", "[[c]]"},
		// Three terms of four, whatever their forms: 2*3/(4+4).
		{related, "[[b a 0.75] [c a 0.75] [c b 0.75]]"},
		{"CREATE (:Memory {id: 'd', content: 'the red fox jumped ditches'})", "[]"},
		{"MATCH ({id: 'd'})-[r]-() RETURN count(*)", "[[0]]"},
	})
	all := memory(t, &engram.Options{AssociateAll: true})
	runSteps(t, all, []step{
		{"CREATE (:Memory {id: 'a', content: 'the red fox jumped fences'}), (:Note {id: 'n', content: 'the red fox jumped walls'})", "[]"},
		{"MERGE (m:Memory {id: 'b', content: 'a red fox jumps walls'})", "[]"},
		{"MERGE (m:Memory {id: 'b', content: 'a red fox jumps walls'})", "[]"},
		{"REMEMBER 'red fox jumping by' {id: 'c'} ALONE AS m RETURN m.id", "[[c]]"},
		{"UNWIND range(1, 101) AS i CREATE (:Memory {id: 'x' + toString(i), content: 'the red fox jumped'})", "[]"},
		{related, "[[a n 0.75] [b a 0.75] [b n 1.0]]"},
	})
}
