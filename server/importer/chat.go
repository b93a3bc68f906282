package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"engram"
	"engram/server/internal/graphline"
)

// maxConversation bounds the text of one conversation of a chat export, in bytes: one at
// a time is held.
const maxConversation = 64 << 20

// chat is one conversation of an export, whoever wrote it.
type chat struct {
	id, title        string
	created, updated any // dates as they stand in the export
	turns            []turn
	left             map[string]int // what is no text, by its kind
}

// turn is one message.
type turn struct {
	id, speaker string
	at          any // a date as it stands in the export
	text        string
}

// readChats makes a run of an export that decode knows how to read.
func readChats(decode func(raw json.RawMessage) (*chat, error)) func(im *importing) error {
	return func(im *importing) error {
		c := &chatImport{im: im, decode: decode, left: map[string]int{}}
		if im.opts.Split == "conversation" {
			return c.split()
		}
		return staged(true, func(im *importing, s *stage) error {
			c.s = s
			if err := c.each(c.stage); err != nil {
				return err
			}
			c.tellLeft()
			return c.follow()
		})(im)
	}
}

// chatImport reads one export.
type chatImport struct {
	im     *importing
	s      *stage
	decode func(raw json.RawMessage) (*chat, error)
	edges  *spoolFile // staged behind all nodes
	left   map[string]int
	n      int
}

// split publishes each conversation to a namespace of its own, once all were understood.
func (c *chatImport) split() error {
	dry := c.im.report
	var err error
	if c.s, err = newStage(c.im.ctx, &dry, true, c.im.opts); err != nil {
		return err
	}
	err = c.each(func(at origin, ch *chat) error { return nil })
	c.s.close()
	if err != nil {
		return err
	}
	if err := c.im.rewind(); err != nil {
		return err
	}
	c.n = 0
	return c.each(func(at origin, ch *chat) error {
		if c.s, err = newStage(c.im.ctx, &c.im.report, true, c.im.opts); err != nil {
			return err
		}
		defer c.s.close()
		if err := c.stage(at, ch); err != nil {
			return err
		}
		if err := c.follow(); err != nil {
			return err
		}
		name := ch.title
		if name == "" {
			name = ch.id
		}
		return c.im.publish(c.s, name)
	})
}

// each decodes one conversation after the other.
func (c *chatImport) each(fn func(at origin, ch *chat) error) error {
	lines := &lineCounter{r: c.im.file, line: 1, limit: maxConversation}
	d := json.NewDecoder(contextReader{c.im.ctx, lines})
	t, err := d.Token()
	if err != nil {
		return jsonError(lines, d, err)
	}
	if t != json.Delim('[') {
		return errors.New("a chat export is a list of conversations: [{...}, ...]")
	}
	for d.More() {
		c.n++
		lines.limit = d.InputOffset() + maxConversation
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, errLargeConversation) {
			return fmt.Errorf("conversation %d: %w", c.n, err)
		} else if err != nil {
			return jsonError(lines, d, err)
		}
		at := origin{line: lines.at(d.InputOffset()) - bytes.Count(raw, []byte("\n"))}
		ch, err := c.decode(raw)
		if err != nil {
			if err = c.s.bad(at, fmt.Errorf("conversation %d: %w", c.n, err)); err != nil {
				return err
			}
			continue
		}
		if err := fn(at, ch); err != nil {
			return err
		}
		if c.im.opts.Progress != nil {
			c.im.opts.Progress(d.InputOffset())
		}
	}
	if _, err := d.Token(); err != nil {
		return jsonError(lines, d, err)
	}
	return nil
}

// lineCounter knows in which line of what was read an offset lies, of the last piece
// that was read and later ones.
type lineCounter struct {
	r     io.Reader
	line  int   // at offset
	from  int64 // where the piece begins
	piece []byte
	limit int64 // how far may be read
}

var errLargeConversation = fmt.Errorf("it is larger than %d MiB", maxConversation>>20)

// Read reads a piece.
func (l *lineCounter) Read(p []byte) (int, error) {
	l.at(l.from + int64(len(l.piece)))
	if l.from > l.limit {
		return 0, errLargeConversation
	}
	n, err := l.r.Read(p)
	l.piece = append(l.piece, p[:n]...)
	return n, err
}

// at returns the line of an offset, and forgets what lies before it.
func (l *lineCounter) at(offset int64) int {
	n := min(max(offset-l.from, 0), int64(len(l.piece)))
	l.line += strings.Count(string(l.piece[:n]), "\n")
	l.piece, l.from = append(l.piece[:0], l.piece[n:]...), l.from+n
	return l.line
}

func jsonError(lines *lineCounter, d *json.Decoder, err error) error {
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return &LineError{lines.at(d.InputOffset()), fmt.Errorf("not JSON: %w", err)}
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("not JSON: the file ends in the middle")
	}
	return err
}

// stage makes nodes of a conversation and its messages, with the edges that memories
// have.
func (c *chatImport) stage(at origin, ch *chat) error {
	if c.edges == nil {
		var err error
		if c.edges, err = newSpoolFile(); err != nil {
			return err
		}
	}
	for kind, n := range ch.left {
		c.left[kind] += n
	}
	if len(ch.turns) == 0 {
		c.left["conversations without a text"]++
		return nil
	}
	top := &graphline.Node{ID: "conversation:" + ch.id, Labels: []string{"Conversation"}, Props: []engram.Prop{
		{Key: "conversation", Value: stringValue(ch.id)},
		{Key: "origin", Value: stringValue("import")},
		{Key: "source", Value: stringValue(c.im.format.name + " export")},
	}}
	if ch.title != "" {
		top.Props = append(top.Props, engram.Prop{Key: "title", Value: stringValue(ch.title)})
	}
	for _, d := range []struct {
		key string
		at  any
	}{{"date", ch.created}, {"updated", ch.updated}} {
		if v, ok := momentOf(d.at); ok {
			top.Props = append(top.Props, engram.Prop{Key: d.key, Value: v})
			if d.key == "date" {
				top.Props = withCreated(top.Props, v)
			}
		}
	}
	if err := c.s.node(at, top); err != nil {
		return c.twice(at, err)
	}
	c.im.report.Conversations++
	return c.turns(at, top.ID, ch)
}

// twice is about a node whose id another one had.
func (c *chatImport) twice(at origin, err error) error {
	var twice *errNodeTwice
	if errors.As(err, &twice) {
		c.im.report.problemAt(at, "conversation %d: %v; the second is left out", c.n, err)
		return nil
	}
	return err
}

func (c *chatImport) turns(at origin, top string, ch *chat) error {
	var before *turn
	beforeID := ""
	for i := range ch.turns {
		t := &ch.turns[i]
		id := "message:" + ch.id + "/" + t.id
		n := &graphline.Node{ID: id, Labels: []string{"Memory"}, Props: []engram.Prop{
			{Key: "content", Value: stringValue(t.text)},
			{Key: "speaker", Value: stringValue(t.speaker)},
			{Key: "conversation", Value: stringValue(ch.id)},
			{Key: "position", Value: intValue(i + 1)},
			{Key: "tier", Value: stringValue("Episodic")},
			{Key: "origin", Value: stringValue("import")},
			{Key: "source", Value: stringValue(c.im.format.name + " export")},
		}}
		if v, ok := momentOf(t.at); ok {
			n.Props = withCreated(append(n.Props, engram.Prop{Key: "date", Value: v}), v)
		} else if t.at != nil {
			c.im.report.problemAt(at, "conversation %d: the date %v of a message is not understood and is left out", c.n, t.at)
		}
		if err := c.s.node(at, n); err != nil {
			if err = c.twice(at, err); err != nil {
				return err
			}
			continue
		}
		c.im.report.Memories++
		edges := []graphline.Edge{{From: top, To: id, Type: "CONTAINS"}}
		if before != nil {
			edges = append(edges, graphline.Edge{From: beforeID, To: id, Type: "TEMPORALLY_PRECEDES"})
			if strings.HasSuffix(strings.TrimSpace(before.text), "?") && before.speaker != t.speaker {
				edges = append(edges, graphline.Edge{From: id, To: beforeID, Type: "ANSWERS"})
			}
		}
		for _, e := range edges {
			if err := c.edges.write(at, graphline.AppendEdge(nil, &e)); err != nil {
				return err
			}
		}
		before, beforeID = t, id
	}
	return c.im.ctx.Err()
}

// follow stages the edges, now that all nodes are.
func (c *chatImport) follow() error {
	if c.edges == nil {
		return nil
	}
	edges := c.edges
	c.edges = nil
	defer func() { _ = edges.file.Close() }() // it has no name any more
	return edges.each(func(at origin, text []byte) error {
		line, err := graphline.ParseOwn(text)
		if err != nil {
			return err
		}
		return c.s.edge(at, line.Edge)
	})
}

// tellLeft tells what an export holds that is no text.
func (c *chatImport) tellLeft() {
	for _, kind := range slices.Sorted(maps.Keys(c.left)) {
		c.im.report.problemAt(origin{}, "left out: %s", counted(c.left[kind], kind))
	}
}

// momentOf reads a date: seconds since 1970, or a text.
func momentOf(x any) (engram.Value, bool) {
	switch x := x.(type) {
	case json.Number:
		whole, fraction, _ := strings.Cut(x.String(), ".")
		seconds, err := strconv.ParseInt(whole, 10, 64)
		if err != nil {
			f, err := x.Float64()
			if err != nil || f < -1e11 || f > 1e11 {
				return engram.Value{}, false
			}
			seconds, fraction = int64(f), ""
		}
		if seconds < -100_000_000_000 || seconds > 100_000_000_000 {
			return engram.Value{}, false
		}
		micros, _ := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
		return engram.DateTimeOf(time.Unix(seconds, micros*1000).UTC()), true
	case string:
		date, ok := parseDate(x)
		if !ok {
			return engram.Value{}, false
		}
		v, err := engram.ValueOf(date)
		return v, err == nil
	}
	return engram.Value{}, false
}

// counted puts a number before what it counts, of which the first word is a plural.
func counted(n int, kind string) string {
	if n == 1 {
		word, rest, _ := strings.Cut(kind, " ")
		kind = strings.TrimSuffix(word, "s") + " " + rest
		kind = strings.Replace(kind, " that were ", " that was ", 1)
		kind = strings.Replace(kind, " that are ", " that is ", 1)
	}
	return strings.TrimSpace(strconv.Itoa(n) + " " + kind)
}
