package complete_test

import (
	"slices"
	"strings"
	"testing"

	"engram"
	"engram/cmd/engramd/internal/complete"
)

var words = &complete.Words{
	Keywords: []string{"CALL", "MATCH", "MERGE", "RETURN"}, Functions: []string{"duration.between", "labels", "toUpper"}, Procedures: []string{"db.labels", "db.propertyKeys"},
	Labels: []string{"Memory", "Person", "odd name"}, Types: []string{"KNOWS", "LIKES"}, Properties: []string{"name", "number"}, Parameters: []string{"who"},
	Commands: []string{":format", ":help", ":explain"}, Arguments: map[string][]string{":format": {"csv", "json"}, ":explain": {complete.EQL}},
}

func TestAt(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"M", "MATCH MERGE"},
		{"ma", "match"},
		{"MATCH (n:", "Memory Person `odd name`"},
		{"MATCH (n:P", "Person"},
		{"MATCH (n:Memory|P", "Person"},
		{"MATCH (n:`odd", "`odd name`"},
		{"MATCH (a)-[r:", "KNOWS LIKES"},
		{"MATCH (a)-[:KNOWS|L", "LIKES"},
		{"MATCH (a)-[:KNOWS]->(b:P", "Person"},
		{"MATCH (n) WHERE n.na", "name"},
		{"MATCH (n)\nWHERE n.nu", "number"},
		{"MATCH (n {na", "name"},
		{"MATCH (n {name: 'x', nu", "number"},
		{"MATCH (n {name: $", "who"},
		{"RETURN toU", "toUpper("},
		{"RETURN duration.b", "duration.between("},
		{"CALL db.l", "db.labels"},
		{"MATCH (n) WHERE n:P", "Person"},
		{"MATCH (n) WHERE n.name = 'M", ""},
		{"MATCH (n) // M", ""},
		{"MATCH (n) // M\nR", "RETURN"},
		{"/* M */ R", "RETURN"},
		{"MATCH (n {name: 'it\\'s'}) R", "RETURN"},
		{":f", ":format"},
		{":format ", "csv json"},
		{":explain MATCH (n:P", "Person"},
		{"RETURN {a: M", "MATCH MERGE"},
		{"MATCH (n)", ""},
		{"Zz", ""},
	} {
		var got []string
		for _, found := range words.At(c.text) {
			got = append(got, found.Word)
			if !strings.HasSuffix(strings.TrimRight(c.text+found.Rest, " :("), strings.TrimSuffix(found.Word, "(")) {
				t.Errorf("%q with %q behind is not %q", c.text, found.Rest, found.Word)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q: %v, want %s", c.text, got, c.want)
		}
	}
}

// TestKeywords holds the list to the language: what begins a clause is there, names that
// examples use are not.
func TestKeywords(t *testing.T) {
	var pages []string
	for _, topic := range engram.ReferenceTopics() {
		text, _ := engram.Reference(topic.Name)
		pages = append(pages, text)
	}
	got := complete.Keywords(pages)
	for _, k := range strings.Fields("MATCH OPTIONAL WHERE RETURN ORDER BY SKIP LIMIT UNION WITH UNWIND CREATE MERGE SET REMOVE DELETE DETACH FOREACH CALL YIELD " +
		"REMEMBER RECALL ALONE ACTIVATE COMPILE AUDIT SUPERSEDE FORGET REINFORCE CONSOLIDATE SHOW INDEX CONSTRAINT EXPLAIN PROFILE BEGIN COMMIT ROLLBACK " +
		"CASE WHEN THEN ELSE END AND OR NOT XOR IN IS NULL STARTS ENDS CONTAINS DISTINCT AS DESC EXISTS COUNT COLLECT") {
		if !slices.Contains(got, k) {
			t.Errorf("%s is missing", k)
		}
	}
	for _, k := range []string{"METCH", "KNOWS", "RELATED", "LIKES", "ABOUT"} {
		if slices.Contains(got, k) {
			t.Errorf("%s is no keyword", k)
		}
	}
}
