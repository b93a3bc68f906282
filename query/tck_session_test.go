package query_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access"
	"engram/query/internal/access/model"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/physical"
	"engram/query/internal/tck"
	"engram/query/result"
)

// tckSession is one scenario's database: the engine over a model graph. A
// statement that fails leaves the graph as it was.
type tckSession struct {
	graph      *model.Graph
	engine     *query.Engine
	procedures map[string]*physical.Procedure
}

func newTCKSession(*testing.T) tck.Session {
	s := &tckSession{graph: model.New(), procedures: map[string]*physical.Procedure{}}
	s.engine = query.New(&query.Options{Procedures: s})
	return s
}

// Lookup implements query.Procedures.
func (s *tckSession) Lookup(name string) (*physical.Procedure, bool) {
	p, ok := s.procedures[name]
	return p, ok
}

// Run implements tck.Session.
func (s *tckSession) Run(ctx context.Context, text string, params map[string]value.Value) (*result.Result, error) {
	plan, err := s.engine.Prepare(text, s.graph)
	if err != nil {
		return nil, err
	}
	g := s.graph
	if plan.Writes() {
		g = g.Clone()
	}
	res, err := plan.Run(ctx, g, params, nil)
	if err != nil {
		return nil, err
	}
	s.graph = g
	return res, nil
}

// Declare implements tck.Session.
func (s *tckSession) Declare(p tck.Procedure) error {
	args, err := procedureFields(p.Params)
	if err != nil {
		return err
	}
	outputs, err := procedureFields(p.Results)
	if err != nil {
		return err
	}
	s.procedures[p.Name] = &physical.Procedure{
		Procedure: bind.Procedure{Name: p.Name, Args: args, Outputs: outputs},
		Call: func(_ context.Context, _ access.Reader, args []value.Value) ([][]value.Value, error) {
			return matchingRows(p, args), nil
		},
	}
	return nil
}

// matchingRows returns the outputs of the rows whose inputs equal args. A number
// equals a number of the other kind, because FLOAT takes integers.
func matchingRows(p tck.Procedure, args []value.Value) [][]value.Value {
	var rows [][]value.Value
next:
	for _, row := range p.Rows {
		for i, a := range args {
			if !value.Equivalent(a, row[i]) {
				continue next
			}
		}
		rows = append(rows, row[len(args):])
	}
	return rows
}

// procedureFields translates the types of the TCK.
func procedureFields(fields []tck.Field) ([]bind.Field, error) {
	var out []bind.Field
	for _, f := range fields {
		typ, ok := map[string]bound.Type{
			"STRING": bound.OneOf(value.KindString), "INTEGER": bound.OneOf(value.KindInt),
			"BOOLEAN": bound.OneOf(value.KindBool), "FLOAT": bound.OneOf(value.KindInt, value.KindFloat),
			"NUMBER": bound.OneOf(value.KindInt, value.KindFloat), "ANY": bound.Any,
		}[strings.TrimSuffix(f.Type, "?")]
		if !ok {
			return nil, fmt.Errorf("the procedure's type %s is not known here", f.Type)
		}
		out = append(out, bind.Field{Name: f.Name, Type: typ})
	}
	return out, nil
}
