package engram_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"engram"
)

// model is an endpoint that knows two things: what is about dogs points one way, what
// is about money another.
type model struct {
	mu     sync.Mutex
	status int
	asked  []string
}

func (m *model) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var in struct{ Input []string }
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || m.status != 0 {
		w.Header().Set("Retry-After", "30")
		w.WriteHeader(m.status)
		_, _ = w.Write([]byte(`{"error": "the model rests"}`))
		return
	}
	m.asked = append(m.asked, in.Input...)
	var data [][]float32
	for _, text := range in.Input {
		v := []float32{.1, .1, 1}
		if strings.Contains(text, "dog") || strings.Contains(text, "puppy") {
			v = []float32{1, 0, .1}
		} else if strings.Contains(text, "bank") || strings.Contains(text, "money") {
			v = []float32{0, 1, .1}
		}
		data = append(data, v)
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"embeddings": data})
}

func (m *model) texts() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := slices.Clone(m.asked)
	m.asked = nil
	slices.Sort(out)
	return out
}

func (m *model) refuse(status int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.status = status
}

func embeddingDB(t *testing.T, every time.Duration) (*engram.DB, *model, *timer) {
	t.Helper()
	m, clock := &model{}, &timer{}
	server := httptest.NewServer(m)
	t.Cleanup(server.Close)
	db, err := engram.OpenMemory(&engram.Options{
		Embedding:  engram.Embedding{Provider: "ollama", URL: server.URL, Model: "two", Dim: 3, Every: every},
		LearnTimer: clock.start, LearnEvery: -1,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db, m, clock
}

const meaningOf = "RECALL 'puppy' YIELD node AS m, semantic RETURN m.id, semantic > 0.9"

// TestEndpoint: texts wait until the endpoint was asked for them, which happens with no
// transaction open; RECALL finds by meaning what no word of it has.
func TestEndpoint(t *testing.T) {
	ctx := context.Background()
	db, m, _ := embeddingDB(t, -1)
	runSteps(t, db, []step{
		{"CREATE (:Memory {id: 'd', content: 'the dog barked'}), (:Memory {id: 'b', content: 'the bank closed'})", "[]"},
		{meaningOf, "[]"},
	})
	if got := m.texts(); !slices.Equal(got, []string{"puppy"}) {
		t.Errorf("asked for %q, want the text of the RECALL", got)
	}
	s, err := db.Stats(ctx)
	if err != nil || s.Vectors.Pending != 2 || s.Vectors.Model != "ollama:two:3" {
		t.Errorf("%+v, %v", s.Vectors, err)
	}
	runSteps(t, db, []step{
		{"CALL embed.backfill(1)", "[[1 1]]"},
		{"CALL embed.backfill()", "[[1 0]]"},
		{"CALL embed.backfill() YIELD embedded, waiting RETURN embedded + waiting", "[[0]]"},
		{"CALL embed.backfill(0)", "a number from 1"},
		{meaningOf, "[[d true]]"},
		{"MATCH (a {id: 'd'}), (b {id: 'b'}) RETURN similarity(a, b) < 0.1, similarity(a, 'dog')", "[[true null]]"},
	})
	err = db.View(ctx, func(tx *engram.Tx) error {
		_, err := tx.Query(ctx, "CALL embed.backfill(1)", nil)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "cannot run inside a transaction") {
		t.Errorf("in a transaction: %v", err)
	}
}

// TestEndpointIsAskedLater: the timer asks for what waits; a refusal is told, waited
// out for as long as the endpoint says, and does not keep RECALL from its words.
func TestEndpointIsAskedLater(t *testing.T) {
	ctx := context.Background()
	db, m, timer := embeddingDB(t, 0)
	timer.fire(t) // of the opening: nothing waits
	m.refuse(503)
	runSteps(t, db, []step{{"CREATE (:Memory {id: 'd', content: 'the dog barked'})", "[]"}})
	if timer.after != 2*time.Second {
		t.Errorf("the timer waits %v", timer.after)
	}
	timer.fire(t)
	if timer.after != 30*time.Second {
		t.Errorf("after a refusal the timer waits %v, want the 30 s that it asks for", timer.after)
	}
	s, err := db.Stats(ctx)
	if err != nil || s.Vectors.Pending != 1 || s.Vectors.Err == nil || !strings.Contains(s.Vectors.Err.Error(), "the model rests") {
		t.Errorf("%+v, %v", s.Vectors, err)
	}
	res, err := db.Query(ctx, "RECALL 'dog' YIELD node AS m RETURN m.id", nil)
	if err != nil || fmt.Sprint(res.Rows) != "[['d']]" {
		t.Fatalf("%v, %v", res, err)
	}
	if len(res.Notices) != 1 || res.Notices[0].Code != "EmbedderUnavailable" || !strings.Contains(res.Notices[0].Message, "503") {
		t.Errorf("notices: %+v", res.Notices)
	}
	if _, err := db.Query(ctx, "CALL embed.backfill()", nil); err == nil || !strings.Contains(err.Error(), "the model rests") {
		t.Errorf("backfill: %v", err)
	}
	m.refuse(0)
	timer.fire(t)
	runSteps(t, db, []step{{meaningOf, "[[d true]]"}})
	if s, err = db.Stats(ctx); err != nil || s.Vectors.Pending != 0 || s.Vectors.Err != nil {
		t.Errorf("%+v, %v", s.Vectors, err)
	}
}

func TestEmbeddingOptions(t *testing.T) {
	for _, test := range []struct {
		e    engram.Embedding
		want string
	}{
		{engram.Embedding{Provider: "acme"}, "there are builtin, openai, ollama and none"},
		{engram.Embedding{Provider: "openai"}, "no model is named"},
		{engram.Embedding{Provider: "openai", Model: "m"}, "the number of dimensions has to be given"},
		{engram.Embedding{Provider: "ollama", Model: "m", Dim: 3, URL: "nowhere"}, "is no http or https address"},
	} {
		if _, err := engram.OpenMemory(&engram.Options{Embedding: test.e}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%+v: %v", test.e, err)
		}
	}
	db, err := engram.OpenMemory(&engram.Options{Embedding: engram.Embedding{Provider: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	runSteps(t, db, []step{
		{"RETURN similarity('a dog', 'a puppy')", "[[null]]"},
		{"CALL embed.backfill()", "[[0 0]]"},
	})
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}

// TestEndpointInTransactions: a reading transaction asks the model; a writing one, for
// whose end others wait, says that it doesn't; so does a statement whose texts come from
// rows.
func TestEndpointInTransactions(t *testing.T) {
	ctx := context.Background()
	db, m, _ := embeddingDB(t, -1)
	runSteps(t, db, []step{
		{"CREATE (:Memory {id: 'd', content: 'the dog barked'}), (:Memory {id: 'b', content: 'the bank closed'})", "[]"},
		{"CALL embed.backfill()", "[[2 0]]"},
	})
	const recall = "RECALL $text YIELD node RETURN node.id"
	puppy := map[string]any{"text": "puppy"}
	m.texts()
	for _, c := range []struct {
		name, text, rows, notice string
		asked                    int
		in                       func(context.Context, func(*engram.Tx) error) error
	}{
		{"a reading transaction", recall, "[['d']]", "", 1, db.View},
		{"a writing transaction", recall, "[]", "WritingTransaction", 0, db.Update},
		{"texts of rows", "UNWIND [$text] AS text RECALL text YIELD node RETURN node.id", "[]", "TextOfRows", 0, nil},
		{"texts of rows in a transaction", "UNWIND [$text] AS text RECALL text YIELD node RETURN node.id", "[]", "TextOfRows", 0, db.View},
		{"no text", "MATCH (m {id: 'd'}) RECALL '' FROM m YIELD node RETURN node.id", "[]", "", 0, db.Update},
	} {
		var res *engram.Result
		var err error
		if c.in == nil {
			res, err = db.Query(ctx, c.text, puppy)
		} else {
			err = c.in(ctx, func(tx *engram.Tx) (err error) {
				res, err = tx.Query(ctx, c.text, puppy)
				return err
			})
		}
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		notice := ""
		if len(res.Notices) > 0 {
			notice = res.Notices[0].Code
		}
		if asked := m.texts(); fmt.Sprint(res.Rows) != c.rows || notice != c.notice || len(asked) != c.asked {
			t.Errorf("%s: rows %v, want %s; notice %q, want %q; asked for %q", c.name, res.Rows, c.rows, notice, c.notice, asked)
		}
	}
}

// TestMeaningBeyondTheFilter: the nearest in meaning are looked for among those that
// WHERE keeps, however many nearer ones it drops, and however many have words.
func TestMeaningBeyondTheFilter(t *testing.T) {
	db, _, _ := embeddingDB(t, -1)
	runSteps(t, db, []step{
		{"UNWIND range(10, 99) AS i CREATE (:Memory {id: 'm' + i, n: i, content: 'dog number ' + i})", "[]"},
		{"CREATE (:Memory {id: 'far', n: 0, content: 'the bank closed'})", "[]"},
		{"CALL embed.backfill()", "[[91 0]]"},
		{"RECALL 'puppy' WHERE node.n IN [0, 98] YIELD node RETURN node.id", "[[m98]]"},
		{"RECALL 'puppy' WHERE node.n > 95 LIMIT 3 YIELD node RETURN node.id", "[[m96] [m97] [m98]]"},
		{"UNWIND range(100, 299) AS i CREATE (:Memory {id: 'p' + i, n: i, content: 'puppy ' + i})", "[]"},
		{"RECALL 'puppy' WHERE node.n IN [0, 98, 299] YIELD node, lexical RETURN node.id, lexical > 0", "[[p299 true] [m98 false]]"},
	})
}
