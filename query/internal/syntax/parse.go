package syntax

import (
	"slices"
	"strings"

	"engram/query/internal/fault"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// Parse parses one statement, which may end with semicolons. An error is a
// *fault.Error with the place of the mistake. Parse is safe for concurrent use
// and keeps nothing of text but what the tree holds.
func Parse(text string) (*Statement, error) {
	tokens, err := tokenize(text)
	if err != nil {
		return nil, err
	}
	if tokens, err = withoutDialect(tokens); err != nil {
		return nil, err
	}
	lex, err := lexer.Upgrade(&replay{tokens})
	if err != nil {
		return nil, err
	}
	if lex.Peek().EOF() || isPunct(lex.Peek(), ";") {
		e := fault.Syntax(unexpectedSyntax, span(lex.Peek()), "the statement is empty")
		e.Expected = []string{aClause}
		return nil, e
	}
	g, err := grammar().statement.ParseFromLexer(lex, participle.AllowTrailing(true))
	if err != nil {
		return nil, unclosed(tokens, translate(err))
	}
	s := &Statement{Query: g.Query.query(), Text: text}
	switch {
	case strings.EqualFold(g.Mode, "EXPLAIN"):
		s.Mode = Explain
	case strings.EqualFold(g.Mode, "PROFILE"):
		s.Mode = Profile
	}
	if t := lex.Peek(); !t.EOF() {
		return nil, trailing(tokens, lex, s.Query)
	}
	explainWhyNot(s)
	return s, checkYieldStar(s.Query)
}

// explainWhyNot turns EXPLAIN ... RECALL ... NOT node into a statement that runs
// and tells about the node in place of its plan.
func explainWhyNot(s *Statement) {
	if s.Mode != Explain || len(s.Query.Parts) != 1 {
		return
	}
	for _, c := range s.Query.Parts[0].Clauses {
		r, ok := c.(*Recall)
		if ok && slices.ContainsFunc(r.Options, func(o *RecallOption) bool { return o.Name == "NOT" }) {
			s.Mode, r.WhyNot = 0, true
		}
	}
}

// trailing is the error for what follows a complete query.
func trailing(tokens []lexer.Token, lex *lexer.PeekingLexer, q *Query) error {
	t := lex.Peek()
	if at := int(lex.RawCursor()); at > 0 && isPunct(&tokens[at-1], ";") {
		return fault.Syntax(unexpectedSyntax, span(t), "a second statement begins here").
			WithHint("Run the statements one by one.")
	}
	return unclosed(tokens, afterClause(t, q, ""))
}

// unclosed adds a hint to an error at the end of the statement: the innermost
// bracket that is still open.
func unclosed(tokens []lexer.Token, err error) error {
	e := fault.As(err)
	if e == nil || e.Hint != "" || e.Found != "" || e.Detail != unexpectedSyntax || len(e.Expected) == 0 {
		return err
	}
	for i := len(tokens) - 1; i >= 0; i-- {
		if t := &tokens[i]; t.Type == tOpen {
			return e.WithHint("The %s at line %d, column %d is not closed.", t.Value, t.Pos.Line, t.Pos.Column)
		}
	}
	return err
}

// checkYieldStar refuses YIELD * in a query of more clauses than the CALL.
func checkYieldStar(q *Query) error {
	for _, part := range q.Parts {
		for _, c := range part.Clauses {
			call, ok := c.(*Call)
			if ok && call.YieldStar && !call.Show && (len(part.Clauses) > 1 || len(q.Parts) > 1) {
				return fault.Syntax(unexpectedSyntax, call.Span, "YIELD * stands only in a CALL that is the whole statement").
					WithHint("Name the fields to yield.")
			}
		}
	}
	return nil
}
