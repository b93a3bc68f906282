package bind

import (
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
)

// plainLabels reports whether e is no more than labels joined by colons or &, the
// form that CREATE and MERGE take; nil is plain.
func plainLabels(e syntax.LabelExpr) bool {
	switch e := e.(type) {
	case nil, *syntax.LabelName:
		return true
	case *syntax.LabelAnd:
		return plainLabels(e.L) && plainLabels(e.R)
	}
	return false
}

// labelNames lists the labels of a plain label expression, in order of text.
func labelNames(e syntax.LabelExpr) []string {
	switch e := e.(type) {
	case *syntax.LabelName:
		return []string{e.Text}
	case *syntax.LabelAnd:
		return append(labelNames(e.L), labelNames(e.R)...)
	}
	return nil
}

// requirePlain refuses label expressions where labels are given, not tested.
func (b *binder) requirePlain(e syntax.LabelExpr, clause string) {
	if !plainLabels(e) {
		b.fail(fault.Syntax("UnexpectedSyntax", e.At(), "%s takes labels joined by colons or &, such as :A:B", clause))
	}
}

func texts(list []*syntax.Name) []string {
	var out []string
	for _, n := range list {
		out = append(out, n.Text)
	}
	return out
}
