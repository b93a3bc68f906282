package chatbridge

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"engram/chatbridge/internal/box"
)

// Formats of Export.
const (
	FormatJSONL    = "jsonl"
	FormatMarkdown = "markdown"
)

// Export writes a conversation, also one that is forgotten, a part at a time: its
// turns with receipts and sources, and its runs with their calls, results and events.
// Both formats keep all of them, byte for byte.
//
// JSON Lines: a line {"conversation": ...}, a line {"turn": ...} for each turn, a line
// {"run": ...} for each run, and {"end": {"turns": n, "runs": n}}. A file without the
// last line was cut off.
//
// Markdown: for people, with each object of JSON Lines as a comment before what it
// shows: <!-- engram:turn {...} -->. Of a turn the comment has "bytes" in place of the
// text: that many bytes follow the empty line behind the comment.
func (b *Bridge) Export(ctx context.Context, id, format string, w io.Writer) error {
	c, err := b.Conversation(ctx, id)
	if err != nil {
		return err
	}
	var to exporter
	switch format {
	case FormatJSONL:
		to = &jsonLines{w}
	case FormatMarkdown:
		to = &markdown{w}
	default:
		return refuse("invalid", "conversations are exported as %s or %s, not %s", FormatJSONL, FormatMarkdown, format)
	}
	end := exportEnd{}
	if err := to.begin(c); err != nil {
		return err
	}
	if err := b.turns(ctx, id, func(t Turn) error { end.Turns++; return to.turn(&t) }); err != nil {
		return err
	}
	if err := b.runsOf(ctx, id, func(r RunRecord) error { end.Runs++; return to.run(&r) }); err != nil {
		return err
	}
	return to.end(end)
}

type exporter interface {
	begin(*Conversation) error
	turn(*Turn) error
	run(*RunRecord) error
	end(exportEnd) error
}

type exportEnd struct {
	Turns int `json:"turns"`
	Runs  int `json:"runs"`
}

type jsonLines struct{ w io.Writer }

func (j *jsonLines) line(name string, v any) error {
	_, err := io.WriteString(j.w, encoded(map[string]any{name: v})+"\n")
	return err
}

func (j *jsonLines) begin(c *Conversation) error { return j.line("conversation", c) }
func (j *jsonLines) turn(t *Turn) error          { return j.line("turn", t) }
func (j *jsonLines) run(r *RunRecord) error      { return j.line("run", r) }
func (j *jsonLines) end(e exportEnd) error       { return j.line("end", e) }

type markdown struct{ w io.Writer }

func (m *markdown) printf(format string, args ...any) error {
	_, err := fmt.Fprintf(m.w, format, args...)
	return err
}

// comment is an object in a comment, which nothing in it ends: > is escaped.
func (m *markdown) comment(name string, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return m.printf("<!-- engram:%s %s -->\n\n", name, raw)
}

func (m *markdown) begin(c *Conversation) error {
	if err := m.comment("conversation", c); err != nil {
		return err
	}
	title := c.Title
	if title == "" {
		title = c.ID
	}
	return m.printf("# %s\n\n%s, begun %s\n\n", box.Visible(title), box.Visible(c.ID), c.Created.Format(time.RFC3339))
}

func (m *markdown) turn(t *Turn) error {
	who := map[string]string{"user": "You", "assistant": "Assistant"}[t.Role]
	if err := m.printf("## %d. %s, %s\n\n", t.Number, who, t.Created.Format(time.RFC3339)); err != nil {
		return err
	}
	meta := struct {
		Turn
		Text  *struct{} `json:"text,omitempty"` // hides that of Turn
		Bytes int       `json:"bytes"`
	}{Turn: *t, Bytes: len(t.Text)}
	if err := m.comment("turn", meta); err != nil {
		return err
	}
	if err := m.printf("%s\n\n", t.Text); err != nil || t.Receipt == "" {
		return err
	}
	return m.printf("> Receipt: %s\n\n", strings.ReplaceAll(t.Receipt, "\n", "\n> "))
}

func (m *markdown) run(r *RunRecord) error {
	if err := m.printf("## Run %s: %s\n\n", box.Visible(r.ID), box.Visible(r.Status)); err != nil {
		return err
	}
	if err := m.comment("run", r); err != nil {
		return err
	}
	results := map[string]string{}
	for _, e := range r.Events {
		if e.Type == EventToolResult && e.Used != nil {
			results[e.Used.CallID] = e.Used.Result
		}
	}
	for _, c := range r.Calls {
		if err := m.printf("- **%s** (%s, %s)\n\n%s\n\n%s\n\n", box.Visible(c.Name), box.Visible(c.CallID), box.Visible(c.Status), fenced(c.Arguments), fenced(results[c.CallID])); err != nil {
			return err
		}
	}
	if r.Failure != "" {
		return m.printf("It ended without an answer: %s\n\n", box.Visible(r.Failure))
	}
	return nil
}

func (m *markdown) end(e exportEnd) error { return m.comment("end", e) }

// fenced is a text as a block of code, whatever backticks it has.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + text + "\n" + fence
}
