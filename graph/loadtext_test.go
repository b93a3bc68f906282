package graph_test

import (
	"context"
	"fmt"
	"testing"

	"engram/graph"
	"engram/graph/value"
)

// TestLoadLeavesTextForLater loads without the text index. A search finds
// everything all the same, be it in the same run, after opening again before
// anybody searched, or after a search that a later write has changed.
func TestLoadLeavesTextForLater(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	must0(t, graph.CreateData(dir))
	data := must(graph.OpenData(dir, graph.DataOptions{}))(t)
	defer func() { must0(t, data.Close()) }()
	const n = 3000
	for name, reopen := range map[string]bool{"same-run": false, "opened-again": true} {
		must0(t, data.Create(name, nil))
		db := must(data.Open(ctx, name, nil))(t)
		l := must(db.LoadFrom(ctx, graph.LoadOptions{TextLater: true}))(t)
		for i := range n {
			word := fmt.Sprint("w", i%10)
			must(l.Node([]string{"N"}, []value.Prop{{Key: "id", Value: value.String(fmt.Sprint(i))}, {Key: "content", Value: value.String("many " + word)}}))(t)
		}
		must(l.Close())(t)
		if reopen {
			must0(t, db.Close(ctx))
			db = must(data.Open(ctx, name, nil))(t)
		}
		addText(t, db, "later", "w3 zebra")
		view(t, db, func(tx *graph.Tx) {
			for word, want := range map[string]int{"many": n, "w3": n/10 + 1, "zebra": 1} {
				if hits := must(tx.SearchText(word, 2*n, nil))(t); len(hits) != want {
					t.Errorf("%s: %q finds %d, want %d", name, word, len(hits), want)
				}
			}
		})
		checkClean(t, db)
		must0(t, db.Close(ctx))
		db = must(data.Open(ctx, name, nil))(t)
		if s := must(db.Stats())(t).Text; s.Applied == 0 || s.Err != nil {
			t.Errorf("%s: opened again, the files have nothing: %+v", name, s)
		}
		must0(t, db.Close(ctx))
	}
}

func addText(t *testing.T, db *graph.DB, id, content string) {
	t.Helper()
	tx := must(db.Begin(context.Background()))(t)
	defer tx.Rollback()
	var props []value.KeyProp
	for _, p := range []value.Prop{{Key: "id", Value: value.String(id)}, {Key: "content", Value: value.String(content)}} {
		props = append(props, value.KeyProp{Key: must(tx.InternKey(p.Key))(t), Value: p.Value})
	}
	must(tx.CreateNode(nil, props))(t)
	must(tx.Commit(context.Background()))(t)
}
