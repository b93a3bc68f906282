package graph_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"engram/graph"
	"engram/graph/internal/store"
	"engram/graph/internal/store/mem"
	"engram/graph/internal/store/storetest"
	"engram/graph/value"
)

func TestReadersSeeOneSnapshot(t *testing.T) {
	db := memory(t, nil)
	var id value.NodeID
	var k value.KeyID
	update(t, db, func(tx *graph.Tx) {
		k = must(tx.InternKey("v"))(t)
		id = must(tx.CreateNode(nil, []value.KeyProp{{Key: k, Value: value.Int(1)}}))(t)
	})
	short := must(db.Snapshot())(t)
	defer short.Rollback()
	long := must(db.LongSnapshot())(t)
	defer long.Rollback()
	writer := must(db.Begin(context.Background()))(t)
	must(writer.SetNodeProp(id, k, value.Int(2)))(t)
	for name, tx := range map[string]*graph.Tx{"short": short, "long": long} {
		if v := must(tx.NodeProp(id, k))(t); v.AsInt() != 1 {
			t.Errorf("the %s snapshot sees an open transaction's %s", name, v)
		}
	}
	must(writer.Commit(context.Background()))(t)
	for name, tx := range map[string]*graph.Tx{"short": short, "long": long} {
		if v := must(tx.NodeProp(id, k))(t); v.AsInt() != 1 {
			t.Errorf("the %s snapshot sees a later transaction's %s", name, v)
		}
	}
	view(t, db, func(tx *graph.Tx) {
		if v := must(tx.NodeProp(id, k))(t); v.AsInt() != 2 {
			t.Errorf("a new snapshot sees %s", v)
		}
		if _, err := tx.CreateNode(nil, nil); graph.CodeOf(err) != graph.ReadOnly {
			t.Errorf("writing in a snapshot: %v", err)
		}
	})
}

func TestDeletingANodeWithEdges(t *testing.T) {
	db := memory(t, nil)
	var a, b value.NodeID
	var e value.EdgeID
	update(t, db, func(tx *graph.Tx) {
		typ := must(tx.InternRelType("T"))(t)
		a, b = must(tx.CreateNode(nil, nil))(t), must(tx.CreateNode(nil, nil))(t)
		e = must(tx.CreateEdge(a, b, typ, nil))(t)
	})
	tx := must(db.Begin(context.Background()))(t)
	must(tx.DeleteNode(a, false))(t)
	if tx.NodeExists(a) || len(scanAll(t, tx)) != 1 || tx.NodeCount(0) != 1 {
		t.Error("the deleted node is seen")
	}
	_, err := tx.Commit(context.Background())
	var g *graph.Error
	if !errors.As(err, &g) || g.Code != graph.ConstraintViolated || g.Detail != "DeleteConnectedNode" {
		t.Errorf("the error is %v", err)
	}
	update(t, db, func(tx *graph.Tx) { // the other order is fine
		must(tx.DeleteNode(a, false))(t)
		if gone := must(tx.DeleteEdge(e))(t); !gone {
			t.Error("the edge was not there")
		}
		if src, _, _, ok := tx.EdgeEnds(e); ok || src != a {
			t.Errorf("the deleted edge began at %d, %v", src, ok)
		}
	})
	if r := checkClean(t, db); r.Nodes != 1 || r.Edges != 0 {
		t.Errorf("%d nodes, %d edges", r.Nodes, r.Edges)
	}
}

func TestExternalIDs(t *testing.T) {
	db := memory(t, nil)
	update(t, db, func(tx *graph.Tx) {
		plain := must(tx.CreateNode(nil, nil))(t)
		derived := must(tx.ElementID(plain))(t)
		if v := must(tx.NodeProp(plain, 1))(t); v.AsString() != derived {
			t.Errorf("n.id is %s, the external id %s", v, derived)
		}
		if n := must(tx.LoadNode(plain))(t); len(n.Properties) != 0 || n.ElementID != derived {
			t.Errorf("the node is %+v", n)
		}
		_, err := tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.String(derived)}})
		if graph.CodeOf(err) != graph.ConstraintViolated || !strings.Contains(err.Error(), derived) {
			t.Errorf("a taken derived id: %v", err)
		}
		// A node may store its own.
		must(tx.SetNodeProp(plain, 1, value.String(derived)))(t)
		must(tx.SetNodeProp(plain, 1, value.Null))(t)
		for _, v := range []value.Value{value.Int(7), value.Float(7), value.Int(1<<53 + 1)} {
			must(tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: v}}))(t)
		}
		for v, want := range map[value.Value]int{value.Int(7): 2, value.Float(1 << 53): 0, value.String("7"): 0} {
			if got := must(tx.NodesByID(v, nil))(t); len(got) != want {
				t.Errorf("%s finds %v", v, got)
			}
		}
		long := strings.Repeat("x", 5000)
		first := must(tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.String(long)}}))(t)
		must(tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.String(long + "y")}}))(t)
		if got := must(tx.NodesByID(value.String(long), nil))(t); len(got) != 1 || got[0] != first {
			t.Errorf("a long id finds %v", got)
		}
		if got := must(tx.NodeByElementID(long))(t); got != first {
			t.Errorf("a long external id finds %v", got)
		}
	})
	checkClean(t, db)
}

func TestLimits(t *testing.T) {
	db := memory(t, &graph.Options{MaxKeys: 1000, MaxBytes: 1 << 20})
	for name, write := range map[string]func(tx *graph.Tx) error{
		"keys": func(tx *graph.Tx) error { _, err := tx.CreateNode(nil, nil); return err },
		"bytes": func(tx *graph.Tx) error {
			_, err := tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.String(fmt.Sprint(tx.NodeCount(0), strings.Repeat("z", 60_000)))}})
			return err
		},
	} {
		tx := must(db.Begin(context.Background()))(t)
		var err error
		for i := 0; i < 1100 && err == nil; i++ {
			err = write(tx)
		}
		if graph.CodeOf(err) != graph.LimitExceeded {
			t.Errorf("too many %s: %v", name, err)
		}
		if _, err := tx.Commit(context.Background()); graph.CodeOf(err) != graph.LimitExceeded {
			t.Errorf("committing too many %s: %v", name, err)
		}
	}
	update(t, db, func(tx *graph.Tx) { must(tx.CreateNode(nil, nil))(t) })
	if r := checkClean(t, db); r.Nodes != 1 {
		t.Errorf("%d nodes", r.Nodes)
	}
}

// faulty opens a graph whose nth Apply ends as told. The first one reserves ids.
func faulty(t *testing.T, n int, fault storetest.Fault) (*graph.DB, *mem.Driver) {
	t.Helper()
	driver, err := mem.New(must(graph.InitialPuts(nil))(t)...)
	if err != nil {
		t.Fatal(err)
	}
	db := must(graph.OpenDriver(storetest.NewFaulty(keeper{driver}, map[int]storetest.Fault{n: fault}), nil))(t)
	return db, driver
}

func createOne(db *graph.DB) (value.NodeID, error) {
	tx, err := db.Begin(context.Background())
	if err != nil {
		return 0, err
	}
	defer tx.Rollback()
	id, err := tx.CreateNode(nil, nil)
	if err != nil {
		return 0, err
	}
	_, err = tx.Commit(context.Background())
	return id, err
}

// TestIDsOfAnUnknownOutcomeAreNeverReused reopens after a commit whose outcome
// nobody knows, once with it and once without.
func TestIDsOfAnUnknownOutcomeAreNeverReused(t *testing.T) {
	for _, happens := range []bool{false, true} {
		db, driver := faulty(t, 3, storetest.Fault{Outcome: store.Unknown, Happens: happens})
		first, err := createOne(db)
		if err != nil {
			t.Fatal(err)
		}
		lost, err := createOne(db)
		if graph.CodeOf(err) != graph.OutcomeUnknown {
			t.Errorf("the outcome is %v", err)
		}
		if _, err := createOne(db); graph.CodeOf(err) != graph.Poisoned {
			t.Errorf("writing afterwards: %v", err)
		}
		view(t, db, func(tx *graph.Tx) {
			if !tx.NodeExists(first) || tx.NodeExists(lost) {
				t.Error("readers do not see the state before the failure")
			}
		})
		closeDB(t, db)
		db = must(graph.OpenDriver(keeper{driver}, nil))(t)
		next := must(createOne(db))(t)
		if next <= lost {
			t.Errorf("id %d after %d was seen", next, lost)
		}
		view(t, db, func(tx *graph.Tx) {
			if tx.NodeExists(lost) != happens {
				t.Errorf("the transaction happened: %v, the node is there: %v", happens, tx.NodeExists(lost))
			}
		})
		checkClean(t, db)
		closeDB(t, db)
	}
}

// TestWhoGivesUp ends the context of callers while the disk takes its time: only who
// has handed something over does not know what becomes of it.
func TestWhoGivesUp(t *testing.T) {
	driver := storetest.NewFaulty(keeper{must(mem.New(must(graph.InitialPuts(nil))(t)...))(t)}, nil)
	db := must(graph.OpenDriver(driver, nil))(t)
	defer closeDB(t, db)
	must(createOne(db))(t) // reserves ids
	entered, proceed := make(chan struct{}, 1), make(chan struct{})
	driver.Before = func(int) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-proceed
	}
	ctx, cancel := context.WithCancel(context.Background())
	told := make(chan error, 1)
	go func() {
		tx, err := db.Begin(ctx)
		if err == nil {
			_, err = tx.CreateNode(nil, nil)
		}
		if err == nil {
			_, err = tx.CommitKey(ctx, "mine")
		}
		told <- err
	}()
	<-entered
	reads := must(db.Begin(context.Background()))(t) // on top of it
	cancel()
	err := <-told
	if graph.CodeOf(err) != graph.OutcomeUnknown || !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up in the middle of a commit is told %s: %v", graph.CodeOf(err), err)
	}
	for _, word := range []string{"may still become durable", "idempotency key"} {
		if !strings.Contains(fmt.Sprint(err), word) {
			t.Errorf("the message does not say %q: %v", word, err)
		}
	}
	if _, err := db.Begin(ctx); graph.CodeOf(err) != graph.Canceled {
		t.Errorf("who gives up before it begins is told %v", err)
	}
	if _, err := reads.Commit(ctx); graph.CodeOf(err) != graph.Canceled {
		t.Errorf("who gives up and wrote nothing is told %v", err)
	}
	if _, known, err := db.Committed("mine"); known || err != nil {
		t.Errorf("the key is known before it is durable: %v, %v", known, err)
	}
	close(proceed)
	must(createOne(db))(t)
	if _, known, err := db.Committed("mine"); !known || err != nil {
		t.Errorf("the transaction went on, its key tells %v, %v", known, err)
	}
}

func TestAFailedCommitLeavesNothing(t *testing.T) {
	db, _ := faulty(t, 3, storetest.Fault{Outcome: store.Failed})
	defer closeDB(t, db)
	must(createOne(db))(t)
	lost, err := createOne(db)
	if graph.CodeOf(err) != graph.Failed {
		t.Errorf("the error is %v", err)
	}
	if next := must(createOne(db))(t); next <= lost {
		t.Errorf("id %d after %d was seen", next, lost)
	}
	if r := checkClean(t, db); r.Nodes != 2 {
		t.Errorf("%d nodes", r.Nodes)
	}
}

func TestADamagedRecordIsNoticed(t *testing.T) {
	db, driver := faulty(t, -1, storetest.Fault{})
	update(t, db, func(tx *graph.Tx) {
		must(tx.CreateNode(nil, []value.KeyProp{{Key: 1, Value: value.String("text")}}))(t)
	})
	closeDB(t, db)
	r := must(driver.Snapshot())(t)
	k := []byte{0, 0, 0, 0, 0, 0, 0, 1}
	sealed := must(r.Get(store.Nodes, k))(t)
	sealed[len(sealed)-1] ^= 1 // a letter: nothing but the checksum can tell
	if out, err := driver.Apply(r.Seq(), []store.Batch{{Seq: r.Seq() + 1, Puts: []store.Put{{Space: store.Nodes, Key: k, Value: sealed}}}}); out != store.Committed {
		t.Fatal(err)
	}
	_, err := graph.OpenDriver(keeper{driver}, nil)
	if graph.CodeOf(err) != graph.Damaged || !strings.Contains(err.Error(), "0000000000000001") || !strings.Contains(err.Error(), "nodes") {
		t.Errorf("opening gives %v", err)
	}
}

// TestPendingTextIsSeen executes on top of a transaction that is finished but not
// durable.
func TestPendingTextIsSeen(t *testing.T) {
	driver, err := mem.New(must(graph.InitialPuts(nil))(t)...)
	if err != nil {
		t.Fatal(err)
	}
	slow := storetest.NewFaulty(keeper{driver}, nil)
	begun, goOn := make(chan struct{}), make(chan struct{})
	slow.Before = func(n int) {
		if n == 2 { // the first one reserves ids
			close(begun)
			<-goOn
		}
	}
	db := must(graph.OpenDriver(slow, nil))(t)
	defer closeDB(t, db)
	done := make(chan error)
	go func() {
		tx, err := db.Begin(context.Background())
		if err == nil {
			_, err = tx.InternKey("content")
		}
		if err == nil {
			k, _ := tx.Key("content")
			_, err = tx.CreateNode(nil, []value.KeyProp{{Key: k, Value: value.String("a pending owl")}})
		}
		if err == nil {
			_, err = tx.Commit(context.Background())
		}
		done <- err
	}()
	<-begun
	view(t, db, func(tx *graph.Tx) {
		if got := search(t, tx, "owl"); len(got) != 0 {
			t.Errorf("a reader finds %v, which is not durable", got)
		}
	})
	tx := must(db.Begin(context.Background()))(t)
	if got := search(t, tx, "owl"); len(got) != 1 {
		t.Errorf("the next transaction finds %v", got)
	}
	tx.Rollback()
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	view(t, db, func(tx *graph.Tx) {
		if got := search(t, tx, "owl"); len(got) != 1 {
			t.Errorf("afterwards a reader finds %v", got)
		}
	})
}

func TestNoTransactionBeginsAfterItsContext(t *testing.T) {
	db := memory(t, nil)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.Begin(ctx); graph.CodeOf(err) != graph.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("Begin with the slot free: %v", err)
	}
	if _, err := db.Load(ctx); graph.CodeOf(err) != graph.Canceled {
		t.Errorf("Load with the slot free: %v", err)
	}
	update(t, db, func(tx *graph.Tx) { must(tx.CreateNode(nil, nil))(t) }) // the slot is not lost
}

func TestRefusedIDsAreTold(t *testing.T) {
	db := memory(t, nil)
	long := strings.Repeat("long", 1<<10)
	var own string
	var k value.KeyID
	update(t, db, func(tx *graph.Tx) {
		k = must(tx.InternKey("id"))(t)
		must(tx.CreateNode(nil, []value.KeyProp{{Key: k, Value: value.String(long)}}))(t)
		own = must(tx.ElementID(must(tx.CreateNode(nil, nil))(t)))(t)
	})
	for _, c := range []struct{ id, want string }{
		{long, `a node with id "longlong`},
		{own, "one of those that this database gives itself"},
		{own[:len(own)-1] + "Z", "one of those that this database gives itself"},
	} {
		tx := must(db.Begin(context.Background()))(t)
		_, err := tx.CreateNode(nil, []value.KeyProp{{Key: k, Value: value.String(c.id)}})
		tx.Rollback()
		if graph.CodeOf(err) != graph.ConstraintViolated || !strings.Contains(err.Error(), c.want) || len(err.Error()) > 300 {
			t.Errorf("id %.40q: %v", c.id, err)
		}
	}
}
