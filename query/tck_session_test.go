package query_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"engram"
	"engram/graph"
	"engram/graph/value"
	"engram/query"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/physical"
	"engram/query/internal/tck"
	"engram/query/result"
)

// tckSession is one scenario's database: a database in memory as an embedder
// opens it. A scenario that declares procedures, which embedders can't, runs on
// the same graph and engine put together here.
type tckSession struct {
	t          *testing.T
	db         *engram.DB
	graph      *graph.DB
	engine     *query.Engine
	procedures map[string]*physical.Procedure
}

func newTCKSession(t *testing.T) tck.Session { return &tckSession{t: t} }

// Run implements tck.Session.
func (s *tckSession) Run(ctx context.Context, text string, params map[string]value.Value) (*result.Result, error) {
	if s.procedures != nil {
		return s.runDirectly(ctx, text, params)
	}
	if s.db == nil {
		db, err := engram.OpenMemory(nil)
		if err != nil {
			return nil, err
		}
		s.t.Cleanup(func() {
			if err := db.Close(); err != nil {
				s.t.Errorf("closing: %v", err)
			}
		})
		s.db = db
	}
	args := make(map[string]any, len(params))
	for name, v := range params {
		args[name] = v
	}
	return s.db.Query(ctx, text, args)
}

// runDirectly is what engram.DB.Query does, with procedures.
func (s *tckSession) runDirectly(ctx context.Context, text string, params map[string]value.Value) (*result.Result, error) {
	read, err := s.graph.Snapshot()
	if err != nil {
		return nil, err
	}
	defer read.Rollback()
	plan, err := s.engine.Prepare(text, read)
	if err != nil {
		return nil, err
	}
	if !plan.Writes() {
		return plan.Run(ctx, read, params, nil)
	}
	read.Rollback()
	tx, err := s.graph.Begin(ctx)
	if err != nil {
		return nil, err
	}
	defer tx.Rollback()
	res, err := plan.Run(ctx, tx, params, nil)
	if err == nil {
		err = tx.EndStatement()
	}
	if err != nil {
		return nil, tx.Abandon(ctx, err)
	}
	_, err = tx.Commit(ctx)
	return res, err
}

// Declare implements tck.Session.
func (s *tckSession) Declare(p tck.Procedure) error {
	if s.db != nil {
		return errors.New("a procedure is declared behind a statement")
	}
	if s.procedures == nil {
		g, err := graph.OpenMemory(nil)
		if err != nil {
			return err
		}
		s.t.Cleanup(func() {
			if err := g.Close(context.Background()); err != nil {
				s.t.Errorf("closing: %v", err)
			}
		})
		s.graph, s.procedures = g, map[string]*physical.Procedure{}
		s.engine = query.New(&query.Options{Procedures: s})
	}
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

// Lookup implements query.Procedures.
func (s *tckSession) Lookup(name string) (*physical.Procedure, bool) {
	p, ok := s.procedures[name]
	return p, ok
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
