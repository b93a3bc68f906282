package query_test

import (
	"context"
	"testing"

	"engram/graph/value"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/syntax"
	"engram/query/internal/tck"
	"engram/query/result"
)

// tckSession only compiles so far.
type tckSession struct{ procedures map[string]*bind.Procedure }

func newTCKSession(*testing.T) tck.Session {
	return &tckSession{procedures: map[string]*bind.Procedure{}}
}

// Lookup implements bind.Procedures.
func (s *tckSession) Lookup(name string) (*bind.Procedure, bool) {
	p, ok := s.procedures[name]
	return p, ok
}

// Declare implements tck.Session.
func (s *tckSession) Declare(p tck.Procedure) error {
	sig := &bind.Procedure{Name: p.Name}
	for _, f := range p.Params {
		sig.Args = append(sig.Args, bind.Field{Name: f.Name, Type: bound.Any})
	}
	for _, f := range p.Results {
		sig.Outputs = append(sig.Outputs, bind.Field{Name: f.Name, Type: bound.Any})
	}
	s.procedures[p.Name] = sig
	return nil
}

// Run implements tck.Session.
func (s *tckSession) Run(_ context.Context, text string, _ map[string]value.Value) (*result.Result, error) {
	statement, err := syntax.Parse(text)
	if err != nil {
		return nil, err
	}
	if _, err := bind.Bind(statement, &bind.Options{Procedures: s}); err != nil {
		return nil, err
	}
	return nil, fault.Unsupported(fault.Span{}, "running a statement")
}
