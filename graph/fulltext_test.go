package graph_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"engram/graph"
	"engram/graph/schema"
	"engram/graph/value"
	"pgregory.net/rapid"
)

func fullText(owner string, keys ...string) schema.Def {
	return schema.Def{Kind: schema.FullText, Owner: owner, Keys: keys}
}

// noted creates a node with a property that is no text by itself.
func noted(t testing.TB, tx *graph.Tx, label, key string, v value.Value) value.NodeID {
	t.Helper()
	l := must(tx.InternLabel(label))(t)
	k := must(tx.InternKey(key))(t)
	return must(tx.CreateNode([]value.LabelID{l}, []value.KeyProp{{Key: k, Value: v}}))(t)
}

func finds(t testing.TB, tx *graph.Tx, words string, want ...value.NodeID) {
	t.Helper()
	got := search(t, tx, words)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("%q finds %v, want %v", words, got, want)
	}
	for _, id := range got {
		if has, err := tx.HasText(id); !has || err != nil {
			t.Errorf("node %d is found, but HasText says %v (%v)", id, has, err)
		}
	}
}

func TestFullTextIndexSearchesMore(t *testing.T) {
	db := memory(t, nil)
	var moral, other, list value.NodeID
	update(t, db, func(tx *graph.Tx) {
		moral = noted(t, tx, "Fable", "moral", value.String("Slow runners win"))
		other = noted(t, tx, "Poem", "moral", value.String("Nobody runs"))
		finds(t, tx, "runner run")
		if err := tx.CreateSchema(fullText("Fable", "moral", "lines")); err != nil {
			t.Fatal(err)
		}
		finds(t, tx, "slow runner", moral)
		list = noted(t, tx, "Fable", "lines", value.List([]value.Value{value.String("a hare"), value.String("ran off")}))
		noted(t, tx, "Fable", "lines", value.Int(7))
		finds(t, tx, "hares", list)
	})
	checkDB(t, db)
	fable := func(tx *graph.Tx) value.LabelID { return must(tx.InternLabel("Fable"))(t) }
	update(t, db, func(tx *graph.Tx) {
		must(tx.AddLabel(other, fable(tx)))(t)
		must(tx.RemoveLabel(list, fable(tx)))(t)
		must(tx.SetNodeProp(moral, must(tx.InternKey("moral"))(t), value.String("Tortoises win")))(t)
		finds(t, tx, "nobody", other)
		finds(t, tx, "hare")
	})
	view(t, db, func(tx *graph.Tx) {
		finds(t, tx, "nobody", other)
		finds(t, tx, "hare")
		finds(t, tx, "slow")
		finds(t, tx, "tortoise", moral)
	})
	checkDB(t, db)
	update(t, db, func(tx *graph.Tx) {
		if err := tx.DropSchema(tx.Schema().All()[0].ID); err != nil {
			t.Fatal(err)
		}
		finds(t, tx, "tortoise nobody")
	})
	view(t, db, func(tx *graph.Tx) { finds(t, tx, "tortoise nobody") })
	checkDB(t, db)
}

func TestFullTextIndexIsOfNodes(t *testing.T) {
	db := memory(t, nil)
	update(t, db, func(tx *graph.Tx) {
		d := fullText("KNOWS", "note")
		d.Edge = true
		if err := tx.CreateSchema(d); graph.CodeOf(err) != graph.NotSupported {
			t.Errorf("got %v", err)
		}
	})
}

// TestFullTextInChunks fills and empties an index in several transactions, with
// writes and reopenings in between, where the index of words is on disk.
func TestFullTextInChunks(t *testing.T) {
	path, o := filepath.Join(t.TempDir(), "data"), graph.Manual(&graph.Options{IndexChunk: 3})
	if err := graph.CreateData(path); err != nil {
		t.Fatal(err)
	}
	data := must(graph.OpenData(path, graph.DataOptions{}))(t)
	defer func() {
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := data.Create("g", o); err != nil {
		t.Fatal(err)
	}
	db := must(data.Open(ctx, "g", o))(t)
	defer func() { closeDB(t, db) }()
	reopen := func() {
		closeDB(t, db)
		db = must(data.Open(ctx, "g", o))(t)
	}
	var ids []value.NodeID
	update(t, db, func(tx *graph.Tx) {
		for i := range 10 {
			ids = append(ids, noted(t, tx, "Fable", "moral", value.String(fmt.Sprintf("word%d everywhere", i))))
		}
	})
	update(t, db, func(tx *graph.Tx) {
		if err := tx.CreateSchema(fullText("Fable", "moral")); err != nil {
			t.Fatal(err)
		}
		finds(t, tx, "everywhere", ids[:3]...)
	})
	for n := 6; n <= 9; n += 3 {
		reopen()
		checkDB(t, db)
		update(t, db, func(tx *graph.Tx) {
			ids = append(ids, noted(t, tx, "Fable", "moral", value.String("later everywhere")))
			k := must(tx.InternKey("moral"))(t)
			must(tx.SetNodeProp(ids[n-3], k, value.String("changed everywhere")))(t)
		})
		if !db.TidyOnce(ctx) {
			t.Fatal(db.TidyError())
		}
		view(t, db, func(tx *graph.Tx) { finds(t, tx, "everywhere", ids[:n]...) })
		checkDB(t, db)
	}
	for db.TidyOnce(ctx) {
	}
	reopen()
	view(t, db, func(tx *graph.Tx) {
		if d := tx.Schema().All()[0]; d.State != schema.Online {
			t.Fatalf("the index is %+v: %v", d, db.TidyError())
		}
		finds(t, tx, "later", ids[10:]...)
		finds(t, tx, "changed", ids[3], ids[6])
		if n := len(must(tx.SearchText("everywhere", 100, nil))(t)); n != 12 {
			t.Errorf("%d nodes are found, want 12", n)
		}
	})
	update(t, db, func(tx *graph.Tx) {
		if err := tx.DropSchema(tx.Schema().All()[0].ID); err != nil || len(tx.Schema().All()) != 0 {
			t.Fatal(err)
		}
	})
	checkDB(t, db)
	reopen()
	for db.TidyOnce(ctx) {
	}
	view(t, db, func(tx *graph.Tx) { finds(t, tx, "everywhere") })
	checkDB(t, db)
}

// TestFullTextModel compares random changes with what the definition says.
func TestFullTextModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		db := memory(t, graph.Manual(&graph.Options{IndexChunk: 2}))
		labels, keys := []string{"A", "B"}, []string{"p", "q", "content"}
		var ids []value.NodeID
		for range rapid.IntRange(1, 12).Draw(rt, "transactions") {
			update(t, db, func(tx *graph.Tx) {
				label := must(tx.InternLabel(rapid.SampledFrom(labels).Draw(rt, "label")))(t)
				key := must(tx.InternKey(rapid.SampledFrom(keys).Draw(rt, "key")))(t)
				v := value.String(rapid.SampledFrom([]string{"apple", "pear", ""}).Draw(rt, "text"))
				what := rapid.IntRange(0, 6).Draw(rt, "what")
				if what > 1 && len(ids) == 0 {
					what = 1
				}
				one := func() value.NodeID { return ids[rapid.IntRange(0, len(ids)-1).Draw(rt, "node")] }
				switch what {
				case 0:
					d := fullText(tx.LabelName(label), keys[rapid.IntRange(0, 1).Draw(rt, "first"):]...)
					if other := labels[0]; other != d.Owner && rapid.Bool().Draw(rt, "two labels") {
						d.Also = []string{other}
					}
					if tx.Schema().Same(&d) == nil && len(tx.Schema().All()) < 3 {
						d.Name = fmt.Sprint(len(ids), d.Owners(), len(d.Keys))
						if err := tx.CreateSchema(d); err != nil {
							rt.Fatal(err)
						}
					}
				case 1:
					ids = append(ids, must(tx.CreateNode([]value.LabelID{label}, []value.KeyProp{{Key: key, Value: v}}))(t))
				case 2:
					must(tx.SetNodeProp(one(), key, v))(t)
				case 3:
					must(tx.AddLabel(one(), label))(t)
				case 4:
					must(tx.RemoveLabel(one(), label))(t)
				case 5:
					i := rapid.IntRange(0, len(ids)-1).Draw(rt, "node")
					must(tx.DeleteNode(ids[i], true))(t)
					ids = slices.Delete(ids, i, i+1)
				case 6:
					if all := tx.Schema().All(); len(all) > 0 {
						if err := tx.DropSchema(all[0].ID); err != nil {
							rt.Fatal(err)
						}
					}
				}
			})
			if rapid.Bool().Draw(rt, "tidy") {
				db.TidyOnce(ctx)
			}
			checkDB(t, db)
		}
		for db.TidyOnce(ctx) {
		}
		view(t, db, func(tx *graph.Tx) {
			var want []value.NodeID
			for _, id := range ids {
				if isApple(t, tx, id) {
					want = append(want, id)
				}
			}
			finds(t, tx, "apples", want...)
		})
		checkDB(t, db)
	})
}

// TestFullTextIndexOfSeveralLabels: a node needs one of the labels. The index is
// filled in chunks over all of them, and is the same after it was opened again.
func TestFullTextIndexOfSeveralLabels(t *testing.T) {
	path, o := filepath.Join(t.TempDir(), "data"), graph.Manual(&graph.Options{IndexChunk: 2})
	db, end := openGraph(t, path, true, o)
	var fable, poem, both, other value.NodeID
	update(t, db, func(tx *graph.Tx) {
		poem = noted(t, tx, "Poem", "moral", value.String("Nobody runs"))
		fable = noted(t, tx, "Fable", "moral", value.String("A slow one runs too"))
		both = noted(t, tx, "Fable", "moral", value.String("They run"))
		must(tx.AddLabel(both, must(tx.InternLabel("Poem"))(t)))(t)
		other = noted(t, tx, "Essay", "moral", value.String("Let us run"))
		d := fullText("Poem", "moral", "lines")
		d.Also = []string{"Fable"}
		if err := tx.CreateSchema(d); err != nil {
			t.Fatal(err)
		}
	})
	checkDB(t, db)
	for db.TidyOnce(t.Context()) {
		checkDB(t, db)
	}
	view(t, db, func(tx *graph.Tx) { finds(t, tx, "run", poem, fable, both) })
	end()
	db, end = openGraph(t, path, false, o)
	defer end()
	update(t, db, func(tx *graph.Tx) {
		if got := tx.Schema().All()[0].String(); got != "fulltext index FOR (n:Poem|Fable) ON EACH [n.moral, n.lines]" {
			t.Errorf("it is described as %s", got)
		}
		finds(t, tx, "run", poem, fable, both)
		must(tx.AddLabel(other, must(tx.InternLabel("Fable"))(t)))(t)
		must(tx.RemoveLabel(fable, must(tx.InternLabel("Fable"))(t)))(t)
		must(tx.RemoveLabel(both, must(tx.InternLabel("Fable"))(t)))(t)
		finds(t, tx, "run", poem, both, other)
		if err := tx.DropSchema(tx.Schema().All()[0].ID); err != nil {
			t.Fatal(err)
		}
	})
	for db.TidyOnce(t.Context()) {
		checkDB(t, db)
	}
	view(t, db, func(tx *graph.Tx) { finds(t, tx, "run") })
	checkDB(t, db)
}

// isApple reports whether the text of a node has an apple.
func isApple(t testing.TB, tx *graph.Tx, id value.NodeID) bool {
	n := must(tx.LoadNode(id))(t)
	for _, p := range n.Properties {
		declared := p.Key == "content" || slices.ContainsFunc(tx.Schema().All(), func(d *schema.Def) bool {
			of := slices.ContainsFunc(d.Owners(), func(l string) bool { return slices.Contains(n.Labels, l) })
			return of && slices.Contains(d.Keys, p.Key)
		})
		if declared && p.Value.AsString() == "apple" {
			return true
		}
	}
	return false
}
