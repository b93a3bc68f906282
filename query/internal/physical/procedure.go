package physical

import (
	"context"

	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/lifecycle"
)

// Procedure is a procedure that CALL can run.
type Procedure struct {
	bind.Procedure
	// Call runs the procedure and returns its rows, one value for each output. It
	// must not keep args.
	Call func(ctx context.Context, g access.Reader, args []value.Value) ([][]value.Value, error)
	// Change is Call for a procedure that changes memories: g counts what it writes.
	Change func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error)
}

// Procedures finds procedures by their full name, such as text.search.
type Procedures interface {
	Lookup(name string) (*Procedure, bool)
}

// noProcedures knows none.
type noProcedures struct{}

func (noProcedures) Lookup(string) (*Procedure, bool) { return nil, false }
