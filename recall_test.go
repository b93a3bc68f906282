package engram_test

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"engram"
)

func TestRememberThenRecall(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	db, err := engram.Open(dir, &engram.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	query(t, db, "REMEMBER 'Ada moved to Lisbon in May' ALONE", nil)
	query(t, db, "REMEMBER 'The boat needs new paint' ALONE", nil)
	ask := func() string {
		t.Helper()
		res := query(t, db, "RECALL 'where did Ada move to?' LIMIT 1 YIELD node AS m RETURN m.content", nil)
		if len(res.Rows) != 1 {
			t.Fatalf("%d rows", len(res.Rows))
		}
		return res.Rows[0][0].AsString()
	}
	if got := ask(); got != "Ada moved to Lisbon in May" {
		t.Errorf("it recalls %q", got)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if db, err = engram.Open(dir, nil); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if got := ask(); got != "Ada moved to Lisbon in May" {
		t.Errorf("after reopening it recalls %q", got)
	}
	_, err = db.Query(context.Background(), "RECALL '' RETURN node", nil)
	if !engram.IsCode(err, engram.CodeNothingToSearch) {
		t.Errorf("recalling nothing: %v", err)
	}
	_, err = db.Query(context.Background(), "RECALL 'the of' RETURN node", nil)
	if !engram.IsCode(err, engram.CodeNothingToSearch) {
		t.Errorf("recalling stop words: %v", err)
	}
	res, err := db.Query(context.Background(), "RECALL 'zebra' RETURN node", nil)
	if err != nil || len(res.Rows) != 0 {
		t.Errorf("recalling what is not there: %v, %v", res, err)
	}
}

// TestTermFrequency counts the nodes with each word, those of the own
// transaction included.
func TestTermFrequency(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "UNWIND ['The cats slept', 'A cat and a dog', 'Nothing'] AS c CREATE (:Memory {content: c})", nil)
	err := db.Update(context.Background(), func(tx *engram.Tx) error {
		if _, err := tx.Query(context.Background(), "CREATE (:Memory {content: 'my dogs'})", nil); err != nil {
			return err
		}
		res, err := tx.Query(context.Background(), "RETURN termFrequency('The cats, dogs and cats of zebras') AS f, termFrequency('the') AS none", nil)
		if err != nil {
			return err
		}
		if got := res.Rows[0][0].String() + res.Rows[0][1].String(); got != "{cats: 2, dogs: 2, zebras: 0}{}" {
			t.Errorf("got %s", got)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTermFrequencyIsBounded: of a text of many words each is counted, within the time,
// steps and memory of the statement.
func TestTermFrequencyIsBounded(t *testing.T) {
	db := memory(t, nil)
	query(t, db, "UNWIND range(1, 2000) AS i CREATE (:Memory {content: 'boat w' + toString(i)})", nil)
	var b strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&b, "w%d boat ", i+1)
	}
	text := map[string]any{"text": b.String()}
	const statement = "WITH termFrequency($text) AS f RETURN size(keys(f)), f.boat, f.w2000, f.w2001"
	if got := fmt.Sprint(query(t, db, statement, text).Rows); got != "[[50001 2000 1 0]]" {
		t.Errorf("got %s", got)
	}
	for _, l := range []engram.Limits{{Steps: 10_000}, {Memory: 4 << 20}, {Time: time.Millisecond}} {
		_, err := db.Query(engram.WithLimits(t.Context(), l), statement, text)
		if !engram.IsCode(err, engram.CodeResourceExhausted) {
			t.Errorf("with %+v: %v", l, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := db.Query(ctx, statement, text); !engram.IsCode(err, engram.CodeCanceled) {
		t.Errorf("canceled: %v", err)
	}
}

// An accent may be a character of its own or part of its letter: it is the same
// word, in the text and in the question.
func TestAccentsInEitherForm(t *testing.T) {
	db := memory(t, nil)
	const composed, decomposed = "caf\u00e9", "cafe\u0301"
	query(t, db, "UNWIND [$c, $d] AS word REMEMBER word + ' table' ALONE", map[string]any{"c": composed, "d": decomposed})
	for _, word := range []string{composed, decomposed, "CAFE"} {
		res := query(t, db, "CALL text.search($q) YIELD node RETURN count(node)", map[string]any{"q": word})
		if n := res.Rows[0][0].AsInt(); n != 2 {
			t.Errorf("%+q finds %d texts of 2", word, n)
		}
	}
}
