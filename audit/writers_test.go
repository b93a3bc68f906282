package audit_test

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"testing"

	"engram/audit"
)

// While an audit runs, a thousand transactions commit, and what it says is still about
// its snapshot. They are made whenever the audit looks whether it is to go on, in its
// own goroutine: if it held anything that a writer waits for, the test would not end.
func TestWritersGoOnDuringAnAudit(t *testing.T) {
	commits := 1000
	if testing.Short() {
		commits = 100
	}
	dir := filepath.Join(t.TempDir(), "data")
	onDisk(t, dir, nil, func(p *planted) {
		p.begin()
		for i := range 600 { // more than is copied out of the store at a time
			n := p.node(fmt.Sprint("n", i), []string{"Note"}, "content", fmt.Sprint("the ", i, "th night"))
			p.edge(n, n, "ADMIRES")
		}
		p.commit()
		tx, err := p.db.LongSnapshot()
		p.ok(err)
		defer tx.Rollback()
		alone, err := audit.Run(context.Background(), tx, nil)
		p.ok(err)

		written := 0
		ctx := &during{Context: context.Background(), each: func() {
			for range commits / 5 {
				if written == commits {
					return
				}
				w, err := p.db.Begin(context.Background())
				p.ok(err)
				p.tx = w
				n := p.node(fmt.Sprint("more", written), []string{"Note"}, "content", "the same night")
				if written < 600 {
					first, err := w.NodeByElementID(fmt.Sprint("n", written))
					p.ok(err)
					_, err = w.DeleteNode(first, true)
					p.ok(err)
				} else {
					p.edge(n, n, "KNOWS")
				}
				p.commit()
				written++
			}
		}}
		beside, err := audit.Run(ctx, tx, nil)
		p.ok(err)
		if written != commits {
			t.Errorf("%d commits during the audit, which looked %d times whether it goes on", written, ctx.calls)
		}
		for _, r := range []*audit.Report{alone, beside} { // the followers' own progress is not the snapshot's
			f := r.Finding("index_divergence")
			f.Measured = f.Measured[:2]
		}
		if !reflect.DeepEqual(alone, beside) {
			for i := range alone.Findings {
				if !reflect.DeepEqual(alone.Findings[i], beside.Findings[i]) {
					t.Errorf("%+v\nbeside writers\n%+v", alone.Findings[i], beside.Findings[i])
				}
			}
		}
		tx.Rollback()
		if f := p.find("duplicates", audit.Options{Limit: 1}); f.Nodes.Total != int64(commits) {
			t.Errorf("afterwards %d nodes say the same", f.Nodes.Total)
		}
		report, err := p.db.Check(context.Background())
		if err != nil || !report.OK() {
			t.Error(err, report)
		}
	})
}

// during is a context that does something each time it is asked whether it ended.
type during struct {
	context.Context
	each  func()
	calls int
}

func (d *during) Err() error {
	d.calls++
	d.each()
	return nil
}
