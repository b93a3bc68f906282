package engram_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"engram"
)

// timer is an injected timer: it fires when a test says so.
type timer struct {
	after time.Duration
	fn    func()
}

func (m *timer) start(d time.Duration, fn func()) func() bool {
	m.after, m.fn = d, fn
	return func() bool { m.fn = nil; return true }
}

func (m *timer) fire(t *testing.T) {
	t.Helper()
	if m.fn == nil {
		t.Fatal("no timer runs")
	}
	fn := m.fn
	m.fn = nil
	fn()
}

func learningDB(t *testing.T, o engram.Options) (*engram.DB, *timer) {
	t.Helper()
	m := &timer{}
	o.LearnTimer = m.start
	if o.Now == nil {
		now := time.Date(2026, 1, 15, 10, 30, 0, 0, time.UTC)
		o.Now = func() time.Time { return now }
	}
	db, err := engram.OpenMemory(&o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	runSteps(t, db, []step{{`CREATE (a:Memory {id: 'a', content: 'the crash'})-[:RELATED {weight: 0.5}]->(b:Memory {id: 'b', content: 'zzqx'}),
		(a)-[:RELATED {weight: 0.5}]->(c:Memory {id: 'c', content: 'xqzz'}), (:Telemetry {id: 't'})`, "[]"}})
	return db, m
}

func learning(t *testing.T, db *engram.DB) string {
	t.Helper()
	s, err := db.Stats(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%+v", s.Learning)
}

func wantLearning(t *testing.T, db *engram.DB, want string) {
	t.Helper()
	if got := learning(t, db); got != want {
		t.Errorf("learning is %s\nwant        %s", got, want)
	}
}

const crash = "RECALL 'crash' YIELD node AS m, score RETURN m.id, score"

// TestReinforce: what is reinforced waits, is written as one batch when the timer
// fires, and changes what is recalled: both neighbours stand even at .5 before; then
// one has learned .05.
func TestReinforce(t *testing.T) {
	db, timer := learningDB(t, engram.Options{})
	before, err := db.Query(context.Background(), crash, nil)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(before.Rows[1][1]) != fmt.Sprint(before.Rows[2][1]) {
		t.Errorf("the neighbours differ before: %v", before.Rows)
	}
	runSteps(t, db, []step{
		{"MATCH (a {id: 'a'}), (c {id: 'c'}) REINFORCE a REINFORCE c YIELD node AS x, queued RETURN x.id, queued", "[[c true]]"},
		{"REINFORCE 'b' BY 0.5 YIELD queued RETURN queued", "[[true]]"},
		{"REINFORCE 't' YIELD queued RETURN queued", "[[false]]"},
		{"REINFORCE 'b' BY 1.5", "a number from 0 to 1"},
		{"REINFORCE 'nobody'", "no node with the id"},
	})
	wantLearning(t, db, "{Pending:2 Written:0 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	seq := db.Seq()
	if timer.after != 5*time.Second {
		t.Errorf("the timer waits %v", timer.after)
	}
	timer.fire(t)
	wantLearning(t, db, "{Pending:0 Written:2 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	if db.Seq() != seq+1 {
		t.Errorf("%d transactions for one batch", db.Seq()-seq)
	}
	if timer.fn != nil {
		t.Error("the timer runs although nothing waits")
	}
	runSteps(t, db, []step{
		{"RECALL 'crash' YIELD node AS m RETURN m.id", "[[a] [c] [b]]"},
		{"MATCH (a {id: 'a'})-[r]->(c {id: 'c'}) RETURN r.weight", "[[0.5]]"},
		{"SHOW LEARNING YIELD kind, weight RETURN kind, weight", "[[used null] [used null] [strengthened 0.05000019073486328] [used null]]"},
		{"SHOW LEARNING SINCE datetime('2026-01-15T10:30:01Z')", "[]"},
		{"MATCH (a {id: 'a'})-[r]->(c {id: 'c'}) REVERT LEARNING OF c-[r]-a YIELD reverted RETURN reverted", "[[1]]"},
	})
	runSteps(t, db, []step{
		{"RECALL 'crash' YIELD node AS m RETURN m.id", "[[a] [b] [c]]"}, // what was used still counts
		{"MATCH (a {id: 'a'})-[r]->(c {id: 'c'}), (b {id: 'b'}) REVERT LEARNING OF a-[r]-b", "does not join"},
		{"REVERT LEARNING SINCE datetime('2026-01-15T10:30:00Z')", "[[3]]"},
		{"SHOW LEARNING", "[]"},
	})
	after, err := db.Query(context.Background(), crash, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(after.Rows), fmt.Sprint(before.Rows); got != want {
		t.Errorf("the ranking is %s, want %s as before", got, want)
	}
}

// TestRecallReinforces: its rows are of use as much as they scored. What both were
// found by their words tell nothing about each other.
func TestRecallReinforces(t *testing.T) {
	db, _ := learningDB(t, engram.Options{})
	runSteps(t, db, []step{
		{"RECALL 'crash' LIMIT 2 REINFORCE YIELD node AS m RETURN m.id", "[[a] [b]]"},
		{"SHOW LEARNING YIELD kind, node, relationship RETURN kind, node.id, startNode(relationship).id, endNode(relationship).id", "[[used a null null] [used b null null] [strengthened null a b]]"},
		{"RECALL 'crash zzqx' LIMIT 2 REINFORCE YIELD node AS m RETURN count(*)", "[[2]]"},
		{"SHOW LEARNING YIELD kind WHERE kind = 'strengthened' RETURN count(*)", "[[1]]"},
		{"RECALL 'crash' YIELD node AS m WITH m LIMIT 1 REINFORCE m RETURN m.id", "[[a]]"},
		{"SHOW LEARNING YIELD kind RETURN count(*)", "[[6]]"},
	})
}

// TestLearningOff: nothing is queued, and what was learned has no effect.
func TestLearningOff(t *testing.T) {
	dir := t.TempDir()
	open := func(off bool) *engram.DB {
		db, err := engram.Open(dir, &engram.Options{Create: true, NoLearning: off, LearnEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	db := open(false)
	runSteps(t, db, []step{
		{`CREATE (a:Memory {id: 'a', content: 'the crash'})-[:RELATED {weight: 0.5}]->(b:Memory {id: 'b', content: 'zzqx'}),
		(a)-[:RELATED {weight: 0.5}]->(c:Memory {id: 'c', content: 'xqzz'})`, "[]"},
		{"MATCH (a {id: 'a'}), (c {id: 'c'}) REINFORCE a REINFORCE c", "[]"},
		{"RECALL 'crash' YIELD node AS m RETURN m.id", "[[a] [b] [c]]"},
	})
	if err := db.Close(); err != nil { // which writes what waits
		t.Fatal(err)
	}
	db = open(false)
	runSteps(t, db, []step{{"RECALL 'crash' YIELD node AS m RETURN m.id", "[[a] [c] [b]]"}})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	db = open(true)
	runSteps(t, db, []step{
		{"RECALL 'crash' YIELD node AS m RETURN m.id", "[[a] [b] [c]]"},
		{"REINFORCE 'a' YIELD queued RETURN queued", "[[false]]"},
	})
	wantLearning(t, db, "{Pending:0 Written:1 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUsesAreLostByNumber: a process that is killed leaves the files as they are,
// which is what a copy of them shows.
func TestUsesAreLostByNumber(t *testing.T) {
	ctx := context.Background()
	dir, killed := t.TempDir(), t.TempDir()
	o := &engram.Options{Create: true, LearnEvery: -1}
	db, err := engram.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"CREATE (:Memory {id: 'a', content: 'x'})", "[]"},
		{"REINFORCE 'a' YIELD queued RETURN queued", "[[true]]"},
	})
	if err := db.DrainLearning(ctx); err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"REINFORCE 'a' YIELD queued RETURN queued", "[[true]]"},
		{"REINFORCE 'a' YIELD queued RETURN queued", "[[true]]"},
	})
	wantLearning(t, db, "{Pending:2 Written:1 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	if err := os.CopyFS(killed, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 3 { // the later ones find that the first one has counted them, without its file
		if i == 2 {
			if err := os.Remove(killed + "/ns/default/told"); err != nil {
				t.Fatal(err)
			}
		}
		again, err := engram.Open(killed, o)
		if err != nil {
			t.Fatal(err)
		}
		if got := learning(t, again); got[:len("{Pending:0 ")] != "{Pending:0 " || got[len(got)-len("Lost:2 Err:<nil>}"):] != "Lost:2 Err:<nil>}" {
			t.Errorf("after the kill: %s", got)
		}
		runSteps(t, again, []step{{"REINFORCE 'a' YIELD queued RETURN queued", "[[true]]"}})
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := engram.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	wantLearning(t, whole, "{Pending:0 Written:3 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestUsesOfATransaction count when it commits.
func TestUsesOfATransaction(t *testing.T) {
	ctx := context.Background()
	db, _ := learningDB(t, engram.Options{})
	tx, err := db.Begin(ctx, true)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Query(ctx, "MATCH (a {id: 'a'}) SET a.x = 1 REINFORCE a", nil); err != nil {
		t.Fatal(err)
	}
	tx.Rollback()
	wantLearning(t, db, "{Pending:0 Written:0 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	err = db.Update(ctx, func(tx *engram.Tx) error {
		_, err := tx.Query(ctx, "MATCH (a {id: 'a'}) SET a.x = 1 REINFORCE a", nil)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantLearning(t, db, "{Pending:1 Written:0 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
	runSteps(t, db, []step{{"MATCH (a {id: 'a'}) DETACH DELETE a", "[]"}})
	if err := db.DrainLearning(ctx); err != nil {
		t.Fatal(err)
	}
	wantLearning(t, db, "{Pending:0 Written:0 Refused:1 Dropped:0 Lost:0 Err:<nil>}")
}

// TestLearningIsCopied: backup, restore and compacting carry what was learned.
func TestLearningIsCopied(t *testing.T) {
	ctx := context.Background()
	home, backups := t.TempDir(), t.TempDir()
	db, err := engram.Open(home, &engram.Options{Create: true, LearnEvery: -1})
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"CREATE (:Memory {id: 'a', content: 'x'})-[:RELATED]->(:Memory {id: 'b', content: 'y'})", "[]"},
		{"MATCH (a {id: 'a'}), (b {id: 'b'}) REINFORCE a REINFORCE b", "[]"},
		{"SHOW LEARNING YIELD kind RETURN count(*)", "[[3]]"},
	})
	if _, err := db.Backup(ctx, backups, nil); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	found, err := os.ReadDir(backups)
	if err != nil {
		t.Fatal(err)
	}
	var folder string
	for _, f := range found {
		if f.IsDir() {
			folder = backups + "/" + f.Name()
		}
	}
	for _, into := range []string{"", t.TempDir()} { // compacted, restored
		dir := home
		if into != "" {
			dir = into
		}
		data, err := engram.OpenData(dir, &engram.Options{Create: true, LearnEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		if into == "" {
			_, err = data.Compact(ctx, "default")
		} else {
			_, err = data.Restore(ctx, folder, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		db, err := data.Open("default", false)
		if err != nil {
			t.Fatal(err)
		}
		runSteps(t, db, []step{
			{"MATCH (a {id: 'a'})-[r]->() RETURN activity(a).uses, learnedWeight(r)", "[[1 0.05000019073486328]]"},
			{"SHOW LEARNING YIELD kind RETURN count(*)", "[[3]]"},
		})
		wantLearning(t, db, "{Pending:0 Written:1 Refused:0 Dropped:0 Lost:0 Err:<nil>}")
		if r, err := db.Check(ctx); err != nil || !r.OK() || r.Learned != 3 {
			t.Errorf("%v, %v", r, err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
		if err := data.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReinforcingWrites(t *testing.T) {
	for text, want := range map[string]bool{
		"RECALL 'x'": false, "RECALL 'x' REINFORCE": true, "MATCH (n) REINFORCE n": true, "EXPLAIN MATCH (n) REINFORCE n": false,
		"CALL { MATCH (n) REINFORCE n RETURN n } RETURN n": true, "SHOW LEARNING": false, "CONSOLIDATE DRY RUN": false, "CONSOLIDATE": true,
	} {
		if got, err := engram.Writes(text); got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// gone is a context that ends behind the back of whoever looks first: waiting ends at
// once, but what comes before is not refused.
type gone struct {
	context.Context
	done chan struct{}
}

func (c gone) Done() <-chan struct{} { return c.done }

// TestUsesAreNotWrittenTwice gives up waiting for a batch that is on its way to the
// disk: it is not written again.
func TestUsesAreNotWrittenTwice(t *testing.T) {
	m := &timer{}
	db, err := engram.Open(t.TempDir(), &engram.Options{Create: true, LearnTimer: m.start})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := gone{context.Background(), make(chan struct{})}
	close(ctx.done)
	runSteps(t, db, []step{{"CREATE (:Memory {id: 'a'})", "[]"}})
	for n := 1; n <= 5; n++ {
		runSteps(t, db, []step{{"MATCH (m:Memory) REINFORCE m", "[]"}})
		if err := db.DrainLearning(ctx); err != nil && !engram.IsCode(err, engram.CodeOutcomeUnknown) {
			t.Errorf("who waits no longer is told %v", err)
		}
		if err := db.DrainLearning(context.Background()); err != nil {
			t.Fatal(err)
		}
		runSteps(t, db, []step{{"CREATE (:Later)", "[]"}}) // comes after it
		s, err := db.Stats(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if l := s.Learning; l.Written != uint64(n) || l.Pending != 0 || l.Lost != 0 {
			t.Errorf("after %d uses: %+v", n, l)
		}
	}
}
