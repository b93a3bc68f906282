package idle_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"engram"
	"engram/server/idle"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/blevesearch/bleve_index_api.AnalysisWorker"))
}

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func open(t *testing.T, statements ...string) *engram.DB {
	t.Helper()
	db, err := engram.Open(t.TempDir(), &engram.Options{Create: true, Now: func() time.Time { return noon }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, s := range statements {
		do(t, db, s, nil)
	}
	return db
}

func do(t *testing.T, db *engram.DB, text string, params map[string]any) *engram.Result {
	t.Helper()
	res, err := db.Query(t.Context(), text, params)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return res
}

func beat(t *testing.T, m *idle.Mind, db idle.DB) *idle.Report {
	t.Helper()
	r, err := m.Beat(t.Context(), db)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// lines are the findings as text, in their order.
func lines(r *idle.Report) []string {
	out := []string{}
	for _, f := range r.Findings {
		out = append(out, f.Producer+" "+strings.Join(f.Nodes, "+"))
	}
	return out
}

func gaugeOf(t *testing.T, r *idle.Report, name string) idle.Gauge {
	t.Helper()
	for _, g := range r.Gauges {
		if g.Producer == name {
			return g
		}
	}
	t.Fatalf("there is no gauge of %s", name)
	return idle.Gauge{}
}

func mind() *idle.Mind { return idle.New(func() time.Time { return noon }) }

var two = []string{
	"REMEMBER 'Ann moved to Lisbon in May to work at the harbour' {id: 'a1'} ALONE",
	"REMEMBER 'The harbour of Lisbon hired new staff in May' {id: 'a2'} ALONE",
	"REMEMBER 'My bicycle needs a new chain' {id: 'b1'} ALONE",
}

// TestLinks: two that are alike and not joined are proposed once, what is not alike is
// not; nothing is written; running the statement ends the proposal.
func TestLinks(t *testing.T) {
	db := open(t, two...)
	before := do(t, db, "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n), count(r), sum(size(keys(n)))", nil).Rows
	m := mind()
	r := beat(t, m, db)
	if got := lines(r); !reflect.DeepEqual(got, []string{"links a1+a2"}) {
		t.Fatalf("found %v", got)
	}
	f := r.Findings[0]
	if want := "“Ann moved to Lisbon in May to work at the harbour” – “The harbour of Lisbon hired new staff in May”: they are alike (0.83) and not joined."; f.Text != want {
		t.Errorf("%s", f.Text)
	}
	if after := do(t, db, "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN count(DISTINCT n), count(r), sum(size(keys(n)))", nil).Rows; !reflect.DeepEqual(before, after) {
		t.Errorf("thinking changed %v to %v", before, after)
	}
	if m.Last() != r {
		t.Error("the report is not kept")
	}
	do(t, db, f.Statement, map[string]any{"from": f.Nodes[0], "to": f.Nodes[1]})
	r = beat(t, m, db)
	if got := lines(r); len(got) != 0 {
		t.Errorf("after it was carried out: %v", got)
	}
	if g := gaugeOf(t, r, "links"); g.Beats != 2 || g.Empty != 1 || g.EmptyInRow != 1 || g.SameInRow != 0 || g.Failed != 0 {
		t.Errorf("%+v", g)
	}
}

// TestRareMemoriesTakeTurns: memories with hardly an edge are looked at three at a time,
// others each time, and the first come again when all had their turn.
func TestRareMemoriesTakeTurns(t *testing.T) {
	db := open(t)
	for i := range 12 { // pairs of the same words, so that each finds the other
		do(t, db, "CREATE (:Memory {id: $id, content: $text, created_at: datetime($at)})", map[string]any{
			"id": fmt.Sprintf("m%02d", i), "text": pairs[i/2], "at": noon.Add(time.Duration(i-100) * time.Hour).Format(time.RFC3339),
		})
	}
	m := mind()
	seen := map[string]int{}
	var each [][]string
	for range 5 {
		got := lines(beat(t, m, db))
		each = append(each, got)
		for _, l := range got {
			seen[l]++
		}
	}
	// Recent ones (m11, m10, m09) come first each time.
	want := [][]string{
		{"links m11+m10", "links m09+m08", "links m00+m01", "links m02+m03"},
		{"links m11+m10", "links m09+m08", "links m03+m02", "links m04+m05"},
		{"links m11+m10", "links m09+m08", "links m06+m07"},
		{"links m11+m10", "links m09+m08"},
		{"links m11+m10", "links m09+m08", "links m00+m01", "links m02+m03"},
	}
	if !reflect.DeepEqual(each, want) {
		t.Errorf("found %v", each)
	}
}

var pairs = []string{"copper kettle boiling water", "violin lessons on Tuesday", "passport renewal office Berlin", "tomato seedlings in April", "marathon training schedule", "dentist appointment reminder"}

func TestQuestions(t *testing.T) {
	db := open(t,
		"CREATE (:Memory {id: 'x', content: 'The shop opens at nine'})-[:CONTRADICTS]->(:Memory {id: 'y', content: 'The shop opens at ten'})",
		"CREATE (:Memory {id: 'p', content: 'Settled one'})-[:CONTRADICTS {resolved: true}]->(:Memory {id: 'q', content: 'Settled two'})",
		"CREATE (:BacklogItem {id: 'old', title: 'Mend the pump', status: 'open', created_at: datetime('2026-05-20T08:00:00Z')})",
		"CREATE (:BacklogItem {id: 'new', title: 'Paint the door', status: 'open', created_at: datetime('2026-05-30T08:00:00Z')})",
		"CREATE (:BacklogItem {id: 'done', title: 'Buy nails', status: 'done', created_at: datetime('2026-05-01T08:00:00Z')})",
		"CREATE (:Memory {id: 'sure', content: 'Water boils', confidence: 0.4}), (:Memory {id: 'unsure', content: 'Bob moved away', confidence: 0.39}), (:Memory {id: 'gone', content: 'Bob came back', confidence: 0.1, status: 'forgotten'})",
	)
	var texts []string
	for _, f := range beat(t, mind(), db).Findings {
		if f.Kind == "question" {
			texts = append(texts, f.Text)
			if f.Statement != "" {
				t.Errorf("a question with a statement: %s", f.Statement)
			}
		}
	}
	want := []string{
		"Which of the two holds? “The shop opens at nine” – “The shop opens at ten” (RESOLVE one OVER the other)",
		"Is this still to be done? “Mend the pump” (since 2026-05-20)",
		"Is this true? “Bob moved away” (confidence 0.39)",
	}
	if !reflect.DeepEqual(texts, want) {
		t.Errorf("asked %q", texts)
	}
}

// TestFixated: finding the same again is counted apart from finding nothing, and told
// from the third time on; a change ends it.
func TestFixated(t *testing.T) {
	db := open(t, two...)
	m := mind()
	for i := range idle.Alarm + 1 {
		r := beat(t, m, db)
		told := len(lines(r)) == 2
		if g := gaugeOf(t, r, "links"); g.SameInRow != i || told != (i >= idle.Alarm) {
			t.Fatalf("beat %d: %+v, %v", i, g, lines(r))
		}
	}
	if f := m.Last().Findings[1]; f.Kind != "gauge" || f.Producer != "links" || f.Text != "It found the same 3 times in a row: nobody decides about what it finds." {
		t.Errorf("%+v", f)
	}
	do(t, db, "REMEMBER 'Lisbon harbour staff' {id: 'a3'} ALONE", nil)
	if g := gaugeOf(t, beat(t, m, db), "links"); g.SameInRow != 0 {
		t.Errorf("after a change: %+v", g)
	}
}

// broken fails statements that have a word, and the learning queue when told.
type broken struct {
	idle.DB
	word  string
	learn error
}

func (b *broken) Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	if b.word != "" && strings.Contains(text, b.word) {
		return nil, &engram.Error{Code: engram.CodeResourceExhausted, Message: "secret content"}
	}
	return b.DB.Query(ctx, text, params)
}

func (b *broken) DrainLearning(ctx context.Context) error {
	return errors.Join(b.learn, b.DB.DrainLearning(ctx))
}

// TestFailing: a producer that fails keeps no other from its turn, is counted apart,
// told of by its code only, and is well again once it does not fail.
func TestFailing(t *testing.T) {
	db := open(t, append(two, "CREATE (:Memory {id: 'unsure', content: 'Bob moved away', confidence: 0.1})")...)
	b := &broken{DB: db, word: "RECALL", learn: errors.New("secret path")}
	m := mind()
	var r *idle.Report
	for range idle.Alarm {
		r = beat(t, m, b)
	}
	if got := lines(r); !reflect.DeepEqual(got, []string{"doubts unsure", "learning ", "links "}) {
		t.Errorf("found %v", got)
	}
	g := gaugeOf(t, r, "links")
	if g.Failed != 3 || g.FailedInRow != 3 || g.Empty != 0 || g.LastError != "ResourceExhausted" {
		t.Errorf("%+v", g)
	}
	if all := fmt.Sprintf("%+v", r); strings.Contains(all, "secret") {
		t.Errorf("an error's text is told: %s", all)
	}
	b.word, b.learn = "", nil
	if g := gaugeOf(t, beat(t, m, b), "links"); g.Failed != 3 || g.FailedInRow != 0 || g.LastError != "" {
		t.Errorf("once it works: %+v", g)
	}
}

// TestWritesNothing: a producer's statement cannot write, whatever it says.
func TestWritesNothing(t *testing.T) {
	db := open(t, two...)
	var refused error
	spy := &writer{DB: db, refused: &refused}
	beat(t, mind(), spy)
	if !engram.IsCode(refused, engram.CodeReadOnly) {
		t.Errorf("a write in a beat: %v", refused)
	}
}

type writer struct {
	idle.DB
	refused *error
}

func (w *writer) Query(ctx context.Context, text string, params map[string]any) (*engram.Result, error) {
	_, *w.refused = w.DB.Query(ctx, "CREATE (:Stray)", nil)
	return w.DB.Query(ctx, text, params)
}

// TestCancelled: a beat whose context ends counts for nothing.
func TestCancelled(t *testing.T) {
	m := mind()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Beat(ctx, open(t)); !errors.Is(err, context.Canceled) || m.Last() != nil {
		t.Errorf("%v, %v", err, m.Last())
	}
}

// TestEmpty: a namespace with nothing in it is thought about without a failure.
func TestEmpty(t *testing.T) {
	r := beat(t, mind(), open(t))
	if len(r.Findings) != 0 {
		t.Errorf("%v", lines(r))
	}
	for _, g := range r.Gauges {
		if g.Failed != 0 || g.Producer != "learning" && g.EmptyInRow != 1 {
			t.Errorf("%+v", g)
		}
	}
}
