package query

import (
	"engram/query/internal/bind"
	"engram/query/internal/physical"
)

// Procedures finds procedures by their full name, such as text.search.
type Procedures = physical.Procedures

func (e *Engine) procedures() bind.Procedures {
	if e.opts.Procedures == nil {
		return nil
	}
	return signatures{e.opts.Procedures}
}

// signatures shows the binder what it needs of procedures.
type signatures struct{ from Procedures }

func (s signatures) Lookup(name string) (*bind.Procedure, bool) {
	p, ok := s.from.Lookup(name)
	if !ok {
		return nil, false
	}
	return &p.Procedure, true
}
