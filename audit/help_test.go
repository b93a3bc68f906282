package audit_test

import (
	"context"
	"testing"

	"go.uber.org/goleak"

	"engram/audit"
	"engram/graph"
	"engram/graph/value"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// planted is a graph made for a test, in memory.
type planted struct {
	t  *testing.T
	db *graph.DB
	tx *graph.Tx // while it is made
}

func plant(t *testing.T, o *graph.Options) *planted {
	t.Helper()
	db, err := graph.OpenMemory(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &planted{t: t, db: db}
}

func (p *planted) ok(err error) {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
}

// begin takes the write slot until commit.
func (p *planted) begin() {
	p.t.Helper()
	tx, err := p.db.Begin(context.Background())
	p.ok(err)
	p.tx = tx
}

func (p *planted) commit() {
	p.t.Helper()
	p.ok(p.tx.EndStatement())
	_, err := p.tx.Commit(context.Background())
	p.ok(err)
	p.tx = nil
}

// node makes a node; its id is the value of property id. props are names and
// values in turn.
func (p *planted) node(id string, labels []string, props ...any) value.NodeID {
	p.t.Helper()
	if p.tx == nil {
		p.begin()
		defer p.commit()
	}
	var ls []value.LabelID
	for _, name := range labels {
		l, err := p.tx.InternLabel(name)
		p.ok(err)
		ls = append(ls, l)
	}
	n, err := p.tx.CreateNode(ls, p.props(append([]any{"id", id}, props...)))
	p.ok(err)
	return n
}

func (p *planted) edge(from, to value.NodeID, typ string, props ...any) value.EdgeID {
	p.t.Helper()
	if p.tx == nil {
		p.begin()
		defer p.commit()
	}
	t, err := p.tx.InternRelType(typ)
	p.ok(err)
	e, err := p.tx.CreateEdge(from, to, t, p.props(props))
	p.ok(err)
	return e
}

func (p *planted) props(pairs []any) []value.KeyProp {
	p.t.Helper()
	var out []value.KeyProp
	for i := 0; i < len(pairs); i += 2 {
		k, err := p.tx.InternKey(pairs[i].(string))
		p.ok(err)
		var v value.Value
		switch x := pairs[i+1].(type) {
		case string:
			v = value.String(x)
		case int:
			v = value.Int(int64(x))
		case float64:
			v = value.Float(x)
		case bool:
			v = value.Bool(x)
		case value.Value:
			v = x
		}
		out = append(out, value.KeyProp{Key: k, Value: v})
	}
	return out
}

// run audits what was planted.
func (p *planted) run(o audit.Options) *audit.Report {
	p.t.Helper()
	tx, err := p.db.LongSnapshot()
	p.ok(err)
	defer tx.Rollback()
	r, err := audit.Run(context.Background(), tx, &o)
	p.ok(err)
	return r
}

// find audits one finding.
func (p *planted) find(name string, with ...audit.Options) *audit.Finding {
	p.t.Helper()
	var o audit.Options
	if len(with) > 0 {
		o = with[0]
	}
	o.Only = []string{name}
	f := p.run(o).Finding(name)
	if f == nil {
		p.t.Fatalf("no finding %s", name)
	}
	return f
}
