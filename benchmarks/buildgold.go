package benchmarks

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"

	"engram"
	"engram/benchmarks/internal/gold"
)

// GoldOptions say which gold set to make.
type GoldOptions struct {
	// Dir is the folder to write; it must not exist yet.
	Dir string
	// Each is how many questions of a category are made at most. 0 means 50.
	Each int
	// Seed starts the choice of memories.
	Seed uint64
}

// goldConversation is the one conversation of a gold set: all memories share a
// namespace, as they did.
const goldConversation = "gold"

// goldMemory is one line of memories.jsonl.
type goldMemory struct {
	ID           string  `json:"id"`
	Conversation string  `json:"conversation"`
	Session      string  `json:"session,omitempty"`
	Date         *string `json:"date,omitempty"`
	Speaker      *string `json:"speaker,omitempty"`
	Title        *string `json:"title,omitempty"`
	Text         string  `json:"text"`
}

// goldLink is one line of links.jsonl.
type goldLink struct {
	A    string `json:"a"`
	B    string `json:"b"`
	Type string `json:"type"`
}

// BuildGold makes a set for Recall of a database: its memories, the relations
// between them, and questions whose answers follow from the graph. It works on a
// copy of the database and prints what it made and how much of the graph relations
// and vectors cover.
func BuildGold(ctx context.Context, db *engram.DB, opts GoldOptions, out io.Writer) error {
	if opts.Each == 0 {
		opts.Each = 50
	}
	if _, err := os.Lstat(opts.Dir); err == nil {
		return fmt.Errorf("bench recall: build gold: %s is there already", opts.Dir)
	}
	err := onCopy(ctx, db, func(copied *engram.DB) error {
		b := &goldBuild{ctx: ctx, db: copied, opts: opts}
		return b.run(out)
	})
	if err != nil {
		return fmt.Errorf("bench recall: build gold: %w", err)
	}
	return nil
}

// onCopy gives fn a copy of a database, for as long as it runs.
func onCopy(ctx context.Context, db *engram.DB, fn func(*engram.DB) error) (err error) {
	work, err := os.MkdirTemp("", "engram-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	backup, err := db.Backup(ctx, filepath.Join(work, "backup"), nil)
	if err != nil {
		return err
	}
	data, err := engram.OpenData(filepath.Join(work, "data"), &engram.Options{Create: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Close()) }()
	if _, err := data.Restore(ctx, backup.Path, &engram.RestoreOptions{Namespace: goldConversation}); err != nil {
		return err
	}
	copied, err := data.Open(goldConversation, false)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, copied.Close()) }()
	return fn(copied)
}

type goldBuild struct {
	ctx      context.Context //nolint:containedctx // of one build
	db       *engram.DB
	opts     GoldOptions
	memories []goldMemory
	links    []goldLink
}

func (b *goldBuild) run(out io.Writer) error {
	if err := b.read(); err != nil {
		return err
	}
	g := gold.Graph{Search: b.search}
	for _, m := range b.memories {
		g.Memories = append(g.Memories, gold.Memory{ID: m.ID, Text: m.Text})
	}
	for _, l := range b.links {
		g.Edges = append(g.Edges, gold.Edge{From: l.A, To: l.B, Type: l.Type})
	}
	questions, err := gold.Make(g, b.opts.Each, b.opts.Seed)
	if err != nil {
		return err
	}
	for i := range questions {
		questions[i].Conversation = goldConversation
	}
	if err := b.write(questions); err != nil {
		return err
	}
	return b.report(questions, out)
}

// read takes the memories, by id, and what joins two of them.
func (b *goldBuild) read() error {
	res, err := b.db.Query(b.ctx, `MATCH (m) WHERE m.content IS NOT NULL
		RETURN elementId(m), m.content, m.title, m.speaker, m.date, m.conversation, m.session ORDER BY elementId(m)`, nil)
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		m := goldMemory{
			ID: row[0].AsString(), Conversation: goldConversation, Text: textOf(row[1]),
			Title: textIn(row[2]), Speaker: textIn(row[3]), Date: textIn(row[4]),
		}
		if s := textIn(row[6]); s != nil {
			m.Session = *s
			if c := textIn(row[5]); c != nil {
				m.Session = *c + "/" + *s
			}
		}
		b.memories = append(b.memories, m)
	}
	if len(b.memories) == 0 {
		return errors.New("there is no node with content to ask for")
	}
	res, err = b.db.Query(b.ctx, `MATCH (a)-[r]->(b) WHERE a.content IS NOT NULL AND b.content IS NOT NULL
		RETURN elementId(a) AS a, elementId(b) AS b, type(r) AS t ORDER BY a, b, t`, nil)
	if err != nil {
		return err
	}
	for _, row := range res.Rows {
		b.links = append(b.links, goldLink{row[0].AsString(), row[1].AsString(), row[2].AsString()})
	}
	return nil
}

// textIn is a property as text, nil when it is not there.
func textIn(v engram.Value) *string {
	if v.IsNull() {
		return nil
	}
	s := textOf(v)
	return &s
}

// textOf is a property as text: temporal values and numbers as they are written.
func textOf(v engram.Value) string {
	if s, ok := v.Any().(string); ok {
		return s
	}
	return strings.Trim(v.String(), "'")
}

func (b *goldBuild) search(query string, limit int) ([]string, error) {
	res, err := b.db.Query(b.ctx, "CALL text.search($q, $n) YIELD node RETURN elementId(node)", map[string]any{"q": query, "n": limit})
	if engram.IsCode(err, engram.CodeNothingToSearch) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, row := range res.Rows {
		ids = append(ids, row[0].AsString())
	}
	return ids, nil
}

func (b *goldBuild) write(questions []gold.Question) error {
	if err := os.MkdirAll(b.opts.Dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		writeLines(filepath.Join(b.opts.Dir, "memories.jsonl"), b.memories),
		writeLines(filepath.Join(b.opts.Dir, "links.jsonl"), b.links),
		writeLines(filepath.Join(b.opts.Dir, "questions.jsonl"), questions),
	)
}

func writeLines[T any](file string, values []T) (err error) {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w := bufio.NewWriter(f)
	for _, v := range values {
		line, err := json.Marshal(v)
		if err != nil {
			return err
		}
		if _, err := w.Write(append(line, '\n')); err != nil {
			return err
		}
	}
	return w.Flush()
}

// report prints how many questions there are, and coverage: what nothing is joined
// to, or has no vector, only words can find.
func (b *goldBuild) report(questions []gold.Question, out io.Writer) error {
	stats, err := b.db.Stats(b.ctx)
	if err != nil {
		return err
	}
	joined := map[string]bool{}
	for _, l := range b.links {
		if l.A != l.B {
			joined[l.A], joined[l.B] = true, true
		}
	}
	n := float64(len(b.memories))
	fmt.Fprintf(out, "%d memories, %d relations between them\n", len(b.memories), len(b.links))
	fmt.Fprintf(out, "joined to another memory: %d (%.1f %%)\n", len(joined), 100*float64(len(joined))/n)
	fmt.Fprintf(out, "nodes with a vector: %d, waiting for one: %d\n\n", stats.Vectors.Live, stats.Vectors.Pending)
	count := map[string]int{}
	for _, q := range questions {
		count[q.Category]++
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "category\tquestions\twanted")
	for _, c := range gold.Categories {
		fmt.Fprintf(t, "%s\t%d\t%d\n", c, count[c], b.opts.Each)
	}
	return t.Flush()
}
