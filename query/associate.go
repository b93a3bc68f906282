package query

import (
	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/lifecycle"
	"engram/query/internal/logical"
)

// Matches are the memories that texts are like, found before the write slot is taken.
type Matches map[string][]lifecycle.Match

// FindMatches looks for what the memories that the statement is going to store will be
// associated with, as far as their texts do not depend on what is read. It is for
// before the write slot is taken; the run looks again at what was found, and for
// the rest itself. What cannot be found is left out: association never keeps a
// memory from being stored.
func (p *Plan) FindMatches(g Reader, params map[string]value.Value) Matches {
	if p.batches != nil || !p.Writes() {
		return nil
	}
	var out Matches
	for _, e := range p.remembered {
		var text value.Value
		switch e := e.(type) {
		case *bound.Const:
			text = e.Value
		case *bound.Param:
			text = params[e.Name]
		}
		if text.Kind() != value.KindString || text.AsString() == "" {
			continue
		}
		found, err := lifecycle.Matches(g, text.AsString())
		if err != nil {
			continue
		}
		if out == nil {
			out = Matches{}
		}
		out[text.AsString()] = found
	}
	return out
}

// reinforces reports whether a tree says what was of use.
func reinforces(op logical.Op) bool {
	switch o := op.(type) {
	case *logical.Recall:
		if o.Call.Reinforce {
			return true
		}
	case *logical.CallProc:
		if o.Call.Name == reinforceClause.Name {
			return true
		}
	case *logical.CallSubquery:
		for _, part := range o.Query.Parts {
			if reinforces(part.Op) {
				return true
			}
		}
	}
	for _, in := range op.Inputs() {
		if reinforces(*in) {
			return true
		}
	}
	return false
}

// remembered are the texts of a tree's REMEMBER that are to be associated.
func remembered(op logical.Op) []bound.Expr {
	var out []bound.Expr
	switch o := op.(type) {
	case *logical.Remember:
		if !o.Call.Alone {
			out = append(out, o.Call.Text)
		}
	case *logical.CallSubquery:
		for _, part := range o.Query.Parts {
			out = append(out, remembered(part.Op)...)
		}
	}
	for _, in := range op.Inputs() {
		out = append(out, remembered(*in)...)
	}
	return out
}
