package graph_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/internal/store/mem"
	"engram/graph/schema"
	"engram/graph/value"
)

var ctx = context.Background()

func personIndex(kind schema.Kind, keys ...string) schema.Def {
	return schema.Def{Kind: kind, Owner: "Person", Keys: keys}
}

// person creates a node with the property name.
func person(t testing.TB, tx *graph.Tx, name value.Value) value.NodeID {
	t.Helper()
	l := must(tx.InternLabel("Person"))(t)
	k := must(tx.InternKey("name"))(t)
	return must(tx.CreateNode([]value.LabelID{l}, []value.KeyProp{{Key: k, Value: name}}))(t)
}

func checkDB(t testing.TB, db *graph.DB) {
	t.Helper()
	if r, err := db.Check(ctx); err != nil || !r.OK() {
		t.Fatalf("%v, %v", err, r)
	}
}

// violates runs fn in a transaction whose end must be refused with a message
// that has all of the words.
func violates(t *testing.T, db *graph.DB, fn func(tx *graph.Tx), words ...string) {
	t.Helper()
	tx := must(db.Begin(ctx))(t)
	defer tx.Rollback()
	fn(tx)
	err := tx.EndStatement()
	var e *graph.Error
	if !errors.As(err, &e) || e.Code != graph.ConstraintViolated || e.Detail != "ConstraintValidationFailed" {
		t.Fatalf("the error is %v", err)
	}
	for _, w := range words {
		if !strings.Contains(e.Message, w) {
			t.Errorf("%q does not say %q", e.Message, w)
		}
	}
	if _, err := tx.Commit(ctx); err == nil {
		t.Error("a refused transaction was committed")
	}
}

func TestUniqueConstraint(t *testing.T) {
	db := memory(t, nil)
	var ada, bob value.NodeID
	update(t, db, func(tx *graph.Tx) {
		ada, bob = person(t, tx, value.String("Ada")), person(t, tx, value.String("Bob"))
		person(t, tx, value.Null)
		person(t, tx, value.Null)
		if err := tx.CreateSchema(personIndex(schema.Unique, "name")); err != nil {
			t.Fatal(err)
		}
	})
	adaID, bobID := "", ""
	view(t, db, func(tx *graph.Tx) {
		adaID, bobID = must(tx.ElementID(ada))(t), must(tx.ElementID(bob))(t)
	})
	violates(t, db, func(tx *graph.Tx) { person(t, tx, value.String("Ada")) }, adaID, "label Person", "name = 'Ada'", "unique_Person_name")
	setName := func(tx *graph.Tx, id value.NodeID, name string) {
		k, _ := tx.Key("name")
		must(tx.SetNodeProp(id, k, value.String(name)))(t)
	}
	violates(t, db, func(tx *graph.Tx) { setName(tx, bob, "Ada") }, adaID, bobID)
	update(t, db, func(tx *graph.Tx) { // only the end of the statement counts
		setName(tx, bob, "Ada")
		setName(tx, ada, "Bob")
	})
	long := strings.Repeat("x", 400)
	update(t, db, func(tx *graph.Tx) {
		person(t, tx, value.String(long+"a"))
		person(t, tx, value.String(long+"b"))
		must(tx.DeleteNode(ada, true))(t)
		person(t, tx, value.String("Bob"))
	})
	violates(t, db, func(tx *graph.Tx) { person(t, tx, value.String(long+"b")) }, "xxx...")
	checkDB(t, db)

	load := must(db.Load(ctx))(t)
	must(load.Node([]string{"Person"}, []value.Prop{{Key: "name", Value: value.String("Ada")}}))(t)
	if _, err := load.Close(); graph.CodeOf(err) != graph.ConstraintViolated {
		t.Errorf("loading a second Ada: %v", err)
	}
	checkDB(t, db)
}

func TestConstraintOverWhatBreaksIt(t *testing.T) {
	db := memory(t, nil)
	update(t, db, func(tx *graph.Tx) {
		person(t, tx, value.Int(1))
		person(t, tx, value.Float(1))
		person(t, tx, value.Null)
	})
	for _, c := range []struct {
		def  schema.Def
		want string
	}{
		{personIndex(schema.Unique, "name"), "with label Person both have name = 1"},
		{personIndex(schema.Exists, "name"), "has no property name"},
	} {
		tx := must(db.Begin(ctx))(t)
		err := tx.CreateSchema(c.def)
		if graph.CodeOf(err) != graph.ConstraintViolated || !strings.Contains(err.Error(), c.want) {
			t.Errorf("the error is %v, want one with %q", err, c.want)
		}
		tx.Rollback()
	}
	view(t, db, func(tx *graph.Tx) {
		if all := tx.Schema().All(); len(all) != 0 {
			t.Errorf("there is %v", all)
		}
	})
}

func TestExistenceConstraint(t *testing.T) {
	db := memory(t, nil)
	var ada value.NodeID
	update(t, db, func(tx *graph.Tx) {
		ada = person(t, tx, value.String("Ada"))
		if err := tx.CreateSchema(personIndex(schema.Exists, "name")); err != nil {
			t.Fatal(err)
		}
	})
	violates(t, db, func(tx *graph.Tx) { person(t, tx, value.Null) }, "label Person", "no property name", "exists_Person_name")
	violates(t, db, func(tx *graph.Tx) {
		k, _ := tx.Key("name")
		must(tx.SetNodeProp(ada, k, value.Null))(t)
	})
	violates(t, db, func(tx *graph.Tx) {
		l, _ := tx.Label("Person")
		id := must(tx.CreateNode(nil, nil))(t)
		must(tx.AddLabel(id, l))(t)
	})
	update(t, db, func(tx *graph.Tx) {
		k, _ := tx.Key("name")
		must(tx.SetNodeProp(ada, k, value.Null))(t)
		must(tx.DeleteNode(ada, true))(t)
	})
	checkDB(t, db)
}

// TestFillAndEmptyInChunks makes the index of more elements than fit into one
// transaction, with writes and a reopening in between, and drops it again.
func TestFillAndEmptyInChunks(t *testing.T) {
	o := graph.Manual(&graph.Options{IndexChunk: 4})
	puts := must(graph.InitialPuts(o))(t)
	driver := must(mem.New(puts...))(t)
	open := func() *graph.DB { return must(graph.OpenDriver(keeper{driver}, o))(t) }
	db := open()
	defer func() { closeDB(t, db) }()
	ids := map[uint64]bool{}
	update(t, db, func(tx *graph.Tx) {
		for i := range 25 {
			ids[uint64(person(t, tx, value.Int(int64(i%5))))] = true
		}
	})
	update(t, db, func(tx *graph.Tx) {
		if err := tx.CreateSchema(personIndex(schema.Unique, "name")); graph.CodeOf(err) != graph.LimitExceeded {
			t.Errorf("a constraint over 25 nodes at once: %v", err)
		}
		if err := tx.CreateSchema(personIndex(schema.Range, "name")); err != nil {
			t.Fatal(err)
		}
	})
	state := func() (d *schema.Def) {
		view(t, db, func(tx *graph.Tx) { d = tx.Schema().All()[0] })
		return d
	}
	for range 3 {
		if !db.TidyOnce(ctx) || state().State != schema.Populating {
			t.Fatalf("the index is %+v: %v", state(), db.TidyError())
		}
		checkDB(t, db)
		update(t, db, func(tx *graph.Tx) { ids[uint64(person(t, tx, value.Int(7)))] = true })
		closeDB(t, db)
		db = open()
	}
	for db.TidyOnce(ctx) {
	}
	if d := state(); d.State != schema.Online {
		t.Fatalf("the index is %+v: %v", d, db.TidyError())
	}
	checkDB(t, db)
	view(t, db, func(tx *graph.Tx) {
		if e, d := tx.IndexCounts(state().ID); e != 28 || d != 6 {
			t.Errorf("%d entries of %d values, want 28 of 6", e, d)
		}
		if err := tx.SeekIndex(schema.Seek{Index: state().ID}, func(id uint64) bool { delete(ids, id); return true }); err != nil || len(ids) > 0 {
			t.Errorf("%v; not found: %v", err, ids)
		}
	})
	update(t, db, func(tx *graph.Tx) {
		if err := tx.DropSchema(state().ID); err != nil {
			t.Fatal(err)
		}
	})
	checkDB(t, db)
	closeDB(t, db)
	db = open()
	for db.TidyOnce(ctx) {
	}
	checkDB(t, db)
	if r := must(db.Check(ctx))(t); r.Index != 0 {
		t.Errorf("%d index entries are left", r.Index)
	}
}

func TestUniqueTakesIndexOver(t *testing.T) {
	db := memory(t, graph.Manual(&graph.Options{IndexChunk: 2}))
	update(t, db, func(tx *graph.Tx) {
		if err := tx.CreateSchema(personIndex(schema.Range, "name")); err != nil {
			t.Fatal(err)
		}
		for i := range 9 {
			person(t, tx, value.Int(int64(i)))
		}
	})
	update(t, db, func(tx *graph.Tx) {
		if err := tx.CreateSchema(personIndex(schema.Unique, "name")); err != nil {
			t.Fatal(err)
		}
	})
	violates(t, db, func(tx *graph.Tx) { person(t, tx, value.Int(3)) }, "name = 3")
	view(t, db, func(tx *graph.Tx) {
		if all := tx.Schema().All(); len(all) != 1 || all[0].Kind != schema.Unique || all[0].Name != "unique_Person_name" {
			t.Errorf("there is %v", all)
		}
	})
	checkDB(t, db)
}

// TestLoadIndexed loads into an empty graph that has indexes.
func TestLoadIndexed(t *testing.T) {
	db := memory(t, nil)
	edges := schema.Def{Kind: schema.Range, Edge: true, Owner: "KNOWS", Keys: []string{"since"}}
	update(t, db, func(tx *graph.Tx) {
		for _, d := range []schema.Def{personIndex(schema.Range, "name"), edges} {
			if err := tx.CreateSchema(d); err != nil {
				t.Fatal(err)
			}
		}
	})
	load := must(db.Load(ctx))(t)
	var last value.NodeID
	for i := range 200 {
		n := must(load.Node([]string{"Person"}, []value.Prop{{Key: "name", Value: value.Int(int64(i % 10))}}))(t)
		if i > 0 {
			must(load.Edge(last, n, "KNOWS", []value.Prop{{Key: "since", Value: value.Int(int64(i))}}))(t)
		}
		last = n
	}
	must(load.Close())(t)
	checkDB(t, db)
	view(t, db, func(tx *graph.Tx) {
		for i, want := range [][2]int64{{200, 10}, {199, 199}} {
			if e, d := tx.IndexCounts(tx.Schema().All()[i].ID); e != want[0] || d != want[1] {
				t.Errorf("index %d has %d entries of %d values, want %v", i, e, d, want)
			}
		}
	})
}
