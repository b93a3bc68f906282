package importer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Memory is one line of a memories file. Only id and text or title are needed.
type Memory struct {
	ID           string  `json:"id"`
	Conversation string  `json:"conversation"`
	Session      *scalar `json:"session"`
	Date         *string `json:"date"`
	Speaker      *string `json:"speaker"`
	Title        *string `json:"title"`
	Text         string  `json:"text"`
}

// scalar is a string or a whole number.
type scalar struct{ value any }

// UnmarshalJSON takes a string or a whole number.
func (s *scalar) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err == nil {
		s.value = text
		return nil
	}
	var number int64
	if err := json.Unmarshal(b, &number); err != nil {
		return errors.New("session: want a string or a whole number")
	}
	s.value = number
	return nil
}

func (s scalar) String() string { return fmt.Sprint(s.value) }

// Memories imports a memories file, one JSON object a line:
//
//	{"id": "m1", "conversation": "trip", "session": 1, "date": "2024-05-01T10:00:00", "speaker": "Ann", "text": "..."}
//
// Every line becomes a node (:Memory) with content, and title, speaker, date,
// conversation, session and position where given. A conversation becomes a node
// that CONTAINS its sessions, and a session a node that CONTAINS its memories;
// memories without a session hang on the conversation. Within a session each
// memory TEMPORALLY_PRECEDES the one on the next line.
func Memories(ctx context.Context, to Target, from io.Reader, opts Options) (Report, error) {
	return Split(ctx, func(string) (Target, error) { return to, nil }, from, opts)
}

// Split is Memories with a target for every conversation. target is asked once
// for each; it may give the same one again.
func Split(ctx context.Context, target func(conversation string) (Target, error), from io.Reader, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	s := &split{opts: opts, target: target, conversations: map[string]*memoryImport{}, targets: map[Target]*memoryImport{}}
	err = eachLine(from, func(line int, text []byte, read int64) error {
		m, err := decodeMemory(text)
		if err != nil {
			return &LineError{line, err}
		}
		im, err := s.importFor(m.Conversation)
		if err != nil {
			return &LineError{line, err}
		}
		s.read = read
		im.add(line, m)
		if im.lines >= opts.Batch {
			return im.flush(ctx)
		}
		return nil
	})
	for _, im := range s.order {
		if err == nil {
			err = im.flush(ctx)
		}
	}
	return s.report, err
}

// split hands memories to the import of their conversation's target.
type split struct {
	opts          Options
	target        func(conversation string) (Target, error)
	conversations map[string]*memoryImport
	targets       map[Target]*memoryImport
	order         []*memoryImport
	report        Report
	read          int64
}

func (s *split) importFor(conversation string) (*memoryImport, error) {
	if im, ok := s.conversations[conversation]; ok {
		return im, nil
	}
	to, err := s.target(conversation)
	if err != nil {
		return nil, err
	}
	im, ok := s.targets[to]
	if !ok {
		im = &memoryImport{split: s, to: to, last: map[string]place{}, known: map[string]bool{}}
		s.targets[to] = im
		s.order = append(s.order, im)
	}
	s.conversations[conversation] = im
	return im, nil
}

func decodeMemory(text []byte) (Memory, error) {
	var m Memory
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("not a memory: %w", err)
	}
	if m.ID == "" {
		return m, errors.New("a memory needs an id that is not empty")
	}
	return m, nil
}

// place is where a session's latest memory stands.
type place struct {
	id       string
	position int
}

// memoryImport gathers the batch at hand of one target.
type memoryImport struct {
	split *split
	to    Target
	lines int // in the batch at hand

	last  map[string]place // by session
	known map[string]bool  // conversations and sessions made already

	conversations, sessions, memories, contains, precedes []any
}

func (im *memoryImport) add(line int, m Memory) {
	im.lines++
	im.split.report.Lines++
	im.split.report.Memories++
	props := map[string]any{"content": m.Text, "tier": "Episodic"}
	setText(props, "title", m.Title)
	setText(props, "speaker", m.Speaker)
	if m.Date != nil && *m.Date != "" {
		date, ok := parseDate(*m.Date)
		if !ok {
			im.split.report.problem(line, "the date %q is not understood and stays text", *m.Date)
		}
		props["date"] = date
	}
	if parent := im.group(m, props); parent != "" {
		im.contains = append(im.contains, map[string]any{"from": parent, "to": m.ID})
	}
	im.memories = append(im.memories, map[string]any{"id": m.ID, "props": props})
}

func setText(props map[string]any, key string, text *string) {
	if text != nil && strings.TrimSpace(*text) != "" {
		props[key] = *text
	}
}

// group makes the conversation and session of a memory and returns the id of
// what contains it; empty without a conversation.
func (im *memoryImport) group(m Memory, props map[string]any) string {
	if m.Conversation == "" {
		return ""
	}
	props["conversation"] = m.Conversation
	conversation := "conversation:" + m.Conversation
	if im.first(conversation) {
		im.split.report.Conversations++
		im.conversations = append(im.conversations, map[string]any{"id": conversation, "props": map[string]any{"conversation": m.Conversation}})
	}
	if m.Session == nil {
		return conversation
	}
	props["session"] = m.Session.value
	session := "session:" + m.Conversation + "/" + m.Session.String()
	if im.first(session) {
		im.split.report.Sessions++
		im.sessions = append(im.sessions, map[string]any{"id": session, "props": map[string]any{"conversation": m.Conversation, "session": m.Session.value}})
		im.contains = append(im.contains, map[string]any{"from": conversation, "to": session})
	}
	before := im.last[session]
	if before.id != "" {
		im.precedes = append(im.precedes, map[string]any{"from": before.id, "to": m.ID})
	}
	im.last[session] = place{m.ID, before.position + 1}
	props["position"] = before.position + 1
	return session
}

func (im *memoryImport) first(id string) bool {
	if im.known[id] {
		return false
	}
	im.known[id] = true
	return true
}

const (
	mergeConversations = `UNWIND $rows AS row
MERGE (c:Conversation {id: row.id})
SET c += row.props`
	mergeSessions = `UNWIND $rows AS row
MERGE (s:Session {id: row.id})
SET s += row.props`
	mergeMemories = `UNWIND $rows AS row
MERGE (m:Memory {id: row.id})
SET m += row.props`
	mergeContains = `UNWIND $rows AS row
MATCH (a {id: row.from}), (b {id: row.to})
MERGE (a)-[:CONTAINS]->(b)`
	mergePrecedes = `UNWIND $rows AS row
MATCH (a {id: row.from}), (b {id: row.to})
MERGE (a)-[:TEMPORALLY_PRECEDES]->(b)`
)

// flush writes the batch at hand as one transaction.
func (im *memoryImport) flush(ctx context.Context) error {
	if im.lines == 0 {
		return nil
	}
	var statements []Statement
	for _, s := range []struct {
		text string
		rows *[]any
	}{{mergeConversations, &im.conversations}, {mergeSessions, &im.sessions}, {mergeMemories, &im.memories}, {mergeContains, &im.contains}, {mergePrecedes, &im.precedes}} {
		if len(*s.rows) > 0 {
			statements = append(statements, Statement{s.text, map[string]any{"rows": *s.rows}})
		}
	}
	if begin := im.split.opts.Begin; begin != nil {
		begin(im.split.report.Lines)
	}
	seq, err := im.to.Write(ctx, statements)
	if err != nil {
		return &LineError{im.split.report.Lines, err}
	}
	im.split.report.Edges += len(im.contains) + len(im.precedes)
	im.split.report.Transactions++
	im.lines = 0
	im.conversations, im.sessions, im.memories, im.contains, im.precedes = nil, nil, nil, nil, nil
	if im.split.opts.Ack != nil {
		im.split.opts.Ack(seq, im.split.report.Lines)
	}
	if im.split.opts.Progress != nil {
		im.split.opts.Progress(im.split.read)
	}
	return nil
}

// Link is one line of a links file: an edge between two memories.
type Link struct {
	A      string   `json:"a"`
	B      string   `json:"b"`
	Type   string   `json:"type"`
	Weight *float64 `json:"weight"`
}

// Links imports edges between memories, one JSON object a line. The type is
// written in capitals with underscores: "cited by" becomes CITED_BY. Weights
// above 1 are scaled by the largest of the file's own, so that they lie in 0
// to 1.
func Links(ctx context.Context, to Target, from io.Reader, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	var report Report
	var links []Link
	largest := 1.0
	err = eachLine(from, func(line int, text []byte, _ int64) error {
		var l Link
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(&l); err != nil {
			return &LineError{line, fmt.Errorf("not a link: %w", err)}
		}
		if l.A == "" || l.B == "" {
			return &LineError{line, errors.New("a link needs a and b")}
		}
		if l.Weight != nil {
			largest = max(largest, *l.Weight)
		}
		links = append(links, l)
		return nil
	})
	if err != nil {
		return report, err
	}
	byType := map[string][]any{}
	var order []string
	for _, l := range links {
		t := relationType(l.Type)
		if byType[t] == nil {
			order = append(order, t)
		}
		row := map[string]any{"from": l.A, "to": l.B, "weight": 1.0}
		if l.Weight != nil {
			row["weight"] = *l.Weight / largest
		}
		byType[t] = append(byType[t], row)
	}
	for _, t := range order {
		if err := writeEdges(ctx, to, t, byType[t], opts, &report); err != nil {
			return report, err
		}
	}
	return report, nil
}

func writeEdges(ctx context.Context, to Target, relType string, rows []any, opts Options, report *Report) error {
	text := "UNWIND $rows AS row\nMATCH (a {id: row.from}), (b {id: row.to})\nMERGE (a)-[r:" + quoteName(relType) + "]->(b)\nSET r.weight = row.weight"
	for len(rows) > 0 {
		n := min(len(rows), opts.Batch)
		seq, err := to.Write(ctx, []Statement{{text, map[string]any{"rows": rows[:n]}}})
		if err != nil {
			return err
		}
		rows = rows[n:]
		report.Lines += n
		report.Edges += n
		report.Transactions++
		if opts.Ack != nil {
			opts.Ack(seq, report.Lines)
		}
	}
	return nil
}

// relationType writes a name as relation types are written.
func relationType(name string) string {
	t := strings.ToUpper(strings.Join(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == '-' || r == '_' }), "_"))
	if t == "" {
		return "RELATED"
	}
	return t
}

// quoteName makes a name safe in EQL: identifiers can't be parameters.
func quoteName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// String tells the counts in one line.
func (r Report) String() string {
	var parts []string
	for _, c := range []struct {
		n    int
		name string
	}{{r.Memories, "memories"}, {r.Conversations, "conversations"}, {r.Sessions, "sessions"}, {r.Nodes, "nodes"}, {r.Edges, "edges"}, {r.Transactions, "transactions"}, {r.ProblemCount, "problems"}} {
		if c.n > 0 {
			parts = append(parts, strconv.Itoa(c.n)+" "+c.name)
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
