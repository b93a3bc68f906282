package syntax

import (
	"strings"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2/lexer"
)

const aClause = "a clause such as MATCH, CREATE or RETURN"

// clauseWords are the words that begin a clause.
var clauseWords = strings.Fields(`MATCH OPTIONAL UNWIND WITH RETURN CREATE MERGE SET REMOVE
	DELETE DETACH FOREACH CALL REMEMBER RECALL SHOW DROP SUPERSEDE CONTRADICT RESOLVE
	FILTER LET INSERT NODETACH FINISH REINFORCE FORGET RESTORE CONSOLIDATE PRUNE REVERT DECLARE ACTIVATE COMPILE REPLAY AUDIT RECORD`)

// afterClause is the error for a token that continues neither the last clause
// of q nor q. Closing is what ends the query, "" for the end of the statement.
func afterClause(t *lexer.Token, q *Query, closing string) error {
	part := q.Parts[len(q.Parts)-1]
	last := part.Clauses[len(part.Clauses)-1]
	expected := followers(last)
	if closing != "" {
		expected = append(expected, closing)
	} else {
		expected = append(expected, "the end of the statement")
	}
	err := unexpected(t, expected...)
	e := fault.As(err)
	if e.Hint == "" && isWord(t) {
		more := append(clauseWords[:len(clauseWords):len(clauseWords)], "UNION", "WHERE", "ORDER BY")
		if near := fault.Nearest(t.Value, more); near != "" {
			e.Hint = "Did you mean " + near + "?"
		}
	}
	if t.Type == kwWhere && e.Hint == "" {
		e.Hint = "WHERE belongs to MATCH, WITH and RECALL."
	}
	return err
}

// followers says how a clause that ended could have gone on.
func followers(c Clause) []string {
	switch c := c.(type) {
	case *Match:
		if c.Where != nil {
			return []string{"an operator", aClause}
		}
		return []string{",", "WHERE", aClause}
	case *Projection:
		return projectionFollowers(c)
	case *Merge:
		return []string{"ON CREATE SET", "ON MATCH SET", aClause}
	case *Create:
		return []string{",", aClause}
	case *Set, *Remove, *Delete:
		return []string{",", "an operator", aClause}
	case *SchemaChange, *Finish:
		return nil
	case *Call:
		if c.Procedure[0] == AuditStructure && c.YieldStar && c.Where == nil {
			return append(auditFollowers(c), "YIELD", "WHERE", aClause)
		}
		if c.Show {
			return []string{"YIELD", "WHERE", aClause}
		}
		if c.Memory {
			return memoryFollowers(c)
		}
		if !c.HasYield {
			return []string{"YIELD", aClause}
		}
	case *CallSubquery:
		if c.Memory {
			return []string{":Label", "WHERE", "TO", "DRY RUN", aClause}
		}
	case *Remember:
		return []string{":Label", "LINK", "ALONE", "AS", aClause}
	case *Recall:
		return recallFollowers(c)
	}
	return []string{aClause}
}

// recallFollowers is followers for RECALL and its like: what the clause takes and
// does not have yet.
func recallFollowers(c *Recall) []string {
	given := map[string]bool{
		"FROM": len(c.From) > 0, "SELF": c.Self, "VIA": len(c.Via) > 0, "AGAINST": len(c.Not) > 0, "WHERE": c.Where != nil,
		"DEPTH": c.Depth != nil, "LIMIT": c.Limit != nil, "YIELD": len(c.Yield) > 0,
	}
	for _, o := range c.Options {
		given[o.Name] = true
	}
	var list []string
	for _, o := range RecallOptions(c.Verb) {
		if !given[o] && o != "NOT" {
			list = append(list, o)
		}
	}
	return append(list, aClause)
}

// RecallOptions returns the options that a clause takes.
func RecallOptions(v RecallVerb) []string {
	common := strings.Split("SELF|VIA|AGAINST|WHERE|DEPTH|IN LAYERS|AS OF|WITHIN|BETWEEN|INCLUDING|AT", "|")
	switch v {
	case VerbActivate:
		return append(common, "LIMIT", "OF CONVERSATION", "YIELD")
	case VerbCompile:
		return append(append([]string{"FROM"}, common...), "BUDGET", "YIELD")
	}
	return append(append([]string{"FROM"}, common...), "LIMIT", "REINFORCE", "YIELD", "NOT")
}

// memoryFollowers is followers for a clause that changes memories.
func memoryFollowers(c *Call) []string {
	if c.HasYield {
		return []string{aClause}
	}
	var list []string
	form := memoryWords[c.Procedure[0]]
	if form.may && isLeftOut(c.Args[1]) {
		list = append(list, form.other)
	}
	if form.of && isLeftOut(c.Args[2]) {
		list = append(list, "OF CONVERSATION")
	}
	if given := len(c.Args); form.because && given == 1+min(len(form.other), 1) {
		list = append(list, "BECAUSE")
	}
	return append(list, "an operator", "YIELD", aClause)
}

// projectionFollowers is followers for WITH and RETURN.
func projectionFollowers(p *Projection) []string {
	var list []string
	switch {
	case p.Where != nil || p.Limit != nil || p.Skip != nil:
		list = append(list, "an operator")
	case p.OrderBy != nil:
		list = append(list, ",", "ASC", "DESC")
	case len(p.Items) > 0 && p.Items[len(p.Items)-1].As == nil:
		list = append(list, ",", "AS", "an operator", "ORDER BY")
	default:
		list = append(list, ",", "ORDER BY")
	}
	if p.Where == nil && p.Limit == nil {
		if p.Skip == nil {
			list = append(list, "SKIP")
		}
		list = append(list, "LIMIT")
	}
	if p.Return {
		return append(list, "UNION")
	}
	if p.Where == nil {
		list = append(list, "WHERE")
	}
	return append(list, aClause)
}

// laterClauses are first words of clauses that this version does not run.
var laterClauses = map[string]bool{
	"DROP": true, "ALTER": true,
	"BEGIN": true, "COMMIT": true, "ROLLBACK": true, "LOAD": true,
	"USE": true,
}

// twoWords are those whose second word is a keyword too and tells what is meant.
var twoWords = map[string]bool{
	"SHOW": true, "DROP": true, "ALTER": true, "LOAD": true,
}

// droppedElsewhere are things that other databases drop.
var droppedElsewhere = map[string]bool{"DATABASE": true, "USER": true, "ROLE": true, "ALIAS": true, "SERVER": true}

// schemaWords are the words behind CREATE that make it a command on the schema.
var schemaWords = map[string]bool{
	"INDEX": true, "CONSTRAINT": true, "RELATION": true, "UNIQUE": true, "RANGE": true,
	"TEXT": true, "FULLTEXT": true, "VECTOR": true, "POINT": true, "LOOKUP": true, "OR": true,
}

// unsupported returns the error for a clause that this version does not run, or
// nil if the next word begins none.
func (p *parser) unsupported() error {
	t := p.peek()
	if !laterClauses[strings.ToUpper(t.Value)] {
		return nil
	}
	if is(t, "DROP") && !droppedElsewhere[strings.ToUpper(p.ahead(1).Value)] {
		return unexpected(p.ahead(1), "INDEX", "CONSTRAINT", "RELATION TYPE", "LAYER", "SELF", "PILLAR")
	}
	if !twoWords[strings.ToUpper(t.Value)] {
		return unsupportedHere(p, strings.ToUpper(t.Value))
	}
	return unsupportedHere(p, upperWords(t, p.ahead(1)))
}

// unsupportedSchema returns the error for CREATE INDEX and its like.
func (p *parser) unsupportedSchema() error {
	t, next := p.peek(), p.ahead(1)
	if !schemaWords[strings.ToUpper(next.Value)] {
		err := unexpected(next, "a pattern such as (n)", "INDEX", "CONSTRAINT")
		if near := fault.Nearest(next.Value, []string{"FULLTEXT", "RANGE", "RELATION", "LAYER"}); isWord(next) && near != "" {
			return hinted(err, "Did you mean "+near+"?")
		}
		return err
	}
	return unsupportedHere(p, upperWords(t, next))
}

// unsupportedHere is the error for a form that begins with the next token.
func unsupportedHere(p *parser, what string) error {
	return unsupportedAt(span(p.peek()), what)
}

// unsupportedAt tells of the forms it knows what does the same.
func unsupportedAt(at Span, what string) error {
	err := fault.Unsupported(at, what)
	if hint, ok := insteadOf[what]; ok {
		return err.WithHint("%s", hint)
	}
	return err
}

const (
	inSessions  = "A statement is a transaction of its own; a session or the console takes BEGIN, COMMIT and ROLLBACK."
	byNamespace = "A statement runs in the namespace that was opened; engramd takes --namespace."
)

// insteadOf tells what does what an unsupported form would do.
var insteadOf = map[string]string{
	"BEGIN": inSessions, "COMMIT": inSessions, "ROLLBACK": inSessions,
	"USE": byNamespace, "SHOW DATABASES": byNamespace, "SHOW DATABASE": byNamespace,
	"LOAD CSV": "engramd import reads CSV; a program gives the rows as a parameter, for UNWIND.",
}

// upperWords joins a word and the next one, if it is a word too.
func upperWords(t, next *lexer.Token) string {
	s := strings.ToUpper(t.Value)
	if isWord(next) {
		s += " " + strings.ToUpper(next.Value)
	}
	return s
}
