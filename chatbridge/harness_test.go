package chatbridge_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"engram"
	"engram/chatbridge"
	"engram/chatbridge/gate"
	"engram/server/client"
)

// memory is a database as a chatbridge.Querier.
type memory struct{ db database }

func (m memory) Query(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return rowsOf(m.db.Query(withDoor(ctx), text, params))
}

// withDoor keeps statements from verdicts that do not come through their door.
func withDoor(ctx context.Context) context.Context {
	if chatbridge.ThroughVerdictDoor(ctx) {
		return client.WithVerdicts(ctx)
	}
	without := chatbridge.Without(ctx)
	return client.WithoutLabels(engram.WithLimits(ctx, engram.Limits{NoVerdicts: true, Without: without}), without)
}

func rowsOf(res *engram.Result, err error) (chatbridge.Result, error) {
	if err != nil {
		return chatbridge.Result{}, err
	}
	out := chatbridge.Result{Columns: res.Columns}
	for _, row := range res.Rows {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = v.Any()
		}
		out.Rows = append(out.Rows, values)
	}
	return out, nil
}

func (m memory) Read(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return rowsOf(m.db.Read(withDoor(ctx), text, params))
}

// world is a gate, a memory and a workspace that outlive bridges, as they outlive
// processes.
type world struct {
	t      *testing.T
	wire   string
	stream bool
	gate   *gate.Gate
	url    string
	dir    string // workspace
	db     database
	n      atomic.Int64
	o      chatbridge.Options
}

func newWorld(t *testing.T, wire string, stream bool, script string) *world {
	t.Helper()
	s, err := gate.ParseScenario([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, wire: wire, stream: stream, gate: gate.New(s, nil), dir: t.TempDir()}
	server := httptest.NewServer(w.gate)
	w.url = server.URL
	t.Cleanup(func() { w.gate.Close(); server.Close() })
	w.db = newDatabase(t)
	w.o = chatbridge.Options{
		Memory: memory{w.db}, Workspace: w.dir, NoStream: !stream, NoTitles: true,
		Providers: []chatbridge.Provider{{Name: "gate", Wire: wire, BaseURL: w.url, Model: "m", Key: "k"}},
		Now:       func() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) },
		NewID:     func() string { return fmt.Sprintf("id%03d", w.n.Add(1)) },
	}
	return w
}

// bridge is a process.
func (w *world) bridge() *chatbridge.Bridge {
	w.t.Helper()
	b, err := chatbridge.New(w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { b.Close(context.Background()) })
	return b
}

func (w *world) send(b *chatbridge.Bridge, m chatbridge.Message) *chatbridge.Outcome {
	w.t.Helper()
	run, err := b.Send(w.t.Context(), m)
	return w.wait(run, err)
}

func (w *world) answer(b *chatbridge.Bridge, a chatbridge.Answer) *chatbridge.Outcome {
	w.t.Helper()
	run, err := b.Answer(w.t.Context(), a)
	return w.wait(run, err)
}

func (w *world) wait(run *chatbridge.Run, err error) *chatbridge.Outcome {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	out, err := run.Wait(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	w.checkEvents(run)
	return out
}

// checkEvents holds that events are numbered without gaps, and that a run has one
// terminal event or waits.
func (w *world) checkEvents(run *chatbridge.Run) {
	w.t.Helper()
	events, err := run.Next(w.t.Context(), 0)
	if err != nil {
		w.t.Fatal(err)
	}
	terminal := 0
	for i, e := range events {
		if e.Seq != i+1 {
			w.t.Errorf("event %d has the number %d", i+1, e.Seq)
		}
		if e.Type == chatbridge.EventDone || e.Type == chatbridge.EventError {
			terminal++
		}
	}
	last := events[len(events)-1].Type
	if last == chatbridge.EventToolPending && terminal != 0 || last != chatbridge.EventToolPending && (terminal != 1 || last != chatbridge.EventDone && last != chatbridge.EventError) {
		w.t.Errorf("%d terminal events, the last event is %s", terminal, last)
	}
}

func (w *world) file(name string) string {
	text, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		return "(" + strings.ReplaceAll(err.Error(), w.dir, "") + ")"
	}
	return string(text)
}

// rows are the rows of a statement, as text.
func (w *world) rows(statement string) string {
	w.t.Helper()
	res, err := rowsOf(w.db.Query(client.WithVerdicts(w.t.Context()), statement, nil)) // it sees all there is
	if err != nil {
		w.t.Fatal(err)
	}
	return fmt.Sprint(res.Rows)
}

// everyWay runs a test on both wires, streaming and not.
func everyWay(t *testing.T, test func(t *testing.T, wire string, stream bool)) {
	for _, wire := range []string{"anthropic", "openai"} {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/stream=%v", wire, stream), func(t *testing.T) { test(t, wire, stream) })
		}
	}
}
