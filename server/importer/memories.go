package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
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
// memory TEMPORALLY_PRECEDES the one on the next line, and ANSWERS the one before
// when that ends in a question mark and is another speaker's. A memory REFERENCES
// those whose titles stand in its text. Dates that do not parse stay text and are
// reported.
//
// From a file, or anything else that seeks, nothing is written before all of it
// was understood; from a stream, what stands before a broken line stays.
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
	begin, err := rehearse(from, opts.SkipBad)
	if err != nil {
		return Report{}, err
	}
	s := &split{begin: begin, opts: opts, target: target, conversations: map[string]*memoryImport{}, targets: map[Target]*memoryImport{}}
	err = eachMemory(from, s.bad, func(line int, m Memory, hash uint64, read int64) error {
		im, err := s.importFor(m.Conversation)
		if err != nil {
			return &LineError{line, err}
		}
		s.read = read
		if err := im.add(line, m, hash); err != nil {
			return s.bad(line, err)
		}
		if im.lines >= opts.Batch {
			return im.flush(ctx)
		}
		return nil
	})
	if err == nil {
		err = s.flush(ctx)
	}
	if err == nil {
		err = s.references(ctx, from)
	}
	return s.report, err
}

// stream is where an input begins that can be read once only.
const stream = -1

// rehearse reads the input without writing and goes back to its begin, if it can.
func rehearse(from io.Reader, skipBad bool) (begin int64, err error) {
	seeker, ok := from.(io.Seeker)
	if !ok {
		return stream, nil
	}
	begin, err = seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return stream, nil // a pipe
	}
	type place struct{ conversation, id string }
	seen := map[place]uint64{}
	bad := func(line int, err error) error {
		if skipBad {
			return nil // it is told when the input is read again
		}
		return &LineError{line, err}
	}
	err = eachMemory(from, bad, func(line int, m Memory, hash uint64, _ int64) error {
		at := place{m.Conversation, m.ID}
		if before, ok := seen[at]; ok && before != hash {
			return bad(line, errTwice(m.ID))
		}
		seen[at] = hash
		return nil
	})
	if err != nil {
		return begin, err
	}
	_, err = seeker.Seek(begin, io.SeekStart)
	return begin, err
}

func errTwice(id string) error {
	return fmt.Errorf("the id %q stands on an earlier line with another content", id)
}

// bad is told of a line that cannot be understood.
func (s *split) bad(line int, err error) error {
	if !s.opts.SkipBad {
		return &LineError{line, err}
	}
	s.report.Skipped++
	s.report.problem(line, "%v; it is skipped", err)
	return nil
}

// eachMemory decodes every line; hash is of the line's text. bad is told of lines that
// cannot be decoded, and returns what ends the reading.
func eachMemory(from io.Reader, bad func(line int, err error) error, fn func(line int, m Memory, hash uint64, read int64) error) error {
	return eachLine(from, func(line int, text []byte, read int64) error {
		m, err := decodeMemory(text)
		if err != nil {
			return bad(line, err)
		}
		h := fnv.New64a()
		_, _ = h.Write(text) // never fails
		return fn(line, m, h.Sum64(), read)
	})
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
	begin         int64 // of the input, or stream
	titled        bool  // a memory has a title
}

// flush writes what is left of every target's batch.
func (s *split) flush(ctx context.Context) error {
	for _, im := range s.order {
		if err := im.flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// references reads the input again, now that all titles are known, and joins each
// memory with those whose titles stand in its text.
func (s *split) references(ctx context.Context, from io.Reader) error {
	if !s.titled {
		return nil
	}
	if s.begin == stream {
		s.report.problem(s.report.Lines, "a stream can't be read twice: titles in texts were not made references; import it from a file")
		return nil
	}
	if _, err := from.(io.Seeker).Seek(s.begin, io.SeekStart); err != nil {
		return err
	}
	told := func(line int, err error) error {
		if s.opts.SkipBad {
			return nil
		}
		return &LineError{line, err}
	}
	err := eachMemory(from, told, func(_ int, m Memory, hash uint64, _ int64) error {
		im := s.conversations[m.Conversation]
		if im.seen[m.ID] != hash {
			return nil // skipped
		}
		for _, other := range im.titles.in(m.ID, m.Text) {
			im.references = append(im.references, map[string]any{"from": m.ID, "to": other})
		}
		im.lines++
		if len(im.references) >= s.opts.Batch {
			return im.flush(ctx)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.flush(ctx)
}

func (s *split) importFor(conversation string) (*memoryImport, error) {
	if im, ok := s.conversations[conversation]; ok {
		return im, nil
	}
	var to Target
	if !s.opts.DryRun {
		var err error
		if to, err = s.target(conversation); err != nil {
			return nil, err
		}
	}
	im, ok := s.targets[to]
	if !ok {
		im = &memoryImport{split: s, to: to, last: map[string]place{}, known: map[string]bool{}, seen: map[string]uint64{}}
		s.targets[to] = im
		s.order = append(s.order, im)
	}
	s.conversations[conversation] = im
	return im, nil
}

var memoryFields = []string{"id", "conversation", "session", "date", "speaker", "title", "text"}

func decodeMemory(text []byte) (Memory, error) {
	var m Memory
	if err := decodeLine(text, &m, "memory", memoryFields); err != nil {
		return m, err
	}
	if m.ID == "" {
		return m, errors.New("a memory needs an id that is not empty")
	}
	if m.Text == "" && (m.Title == nil || *m.Title == "") {
		return m, errors.New("a memory needs a text or a title")
	}
	return m, nil
}

// place is where a session's latest memory stands.
type place struct {
	id       string
	position int
	asked    string // the speaker, if it ends in a question
}

// memoryImport gathers the batch at hand of one target.
type memoryImport struct {
	split *split
	to    Target
	lines int // in the batch at hand

	last   map[string]place  // by session
	known  map[string]bool   // conversations and sessions made already
	seen   map[string]uint64 // hash of the line by id
	titles titles

	conversations, sessions, memories, contains, precedes, answers, references []any
}

func (im *memoryImport) add(line int, m Memory, hash uint64) error {
	im.lines++
	im.split.report.Lines++
	if before, ok := im.seen[m.ID]; ok {
		if before != hash {
			return errTwice(m.ID)
		}
		im.split.report.problem(line, "the line repeats an earlier one and is left out")
		return nil
	}
	im.seen[m.ID] = hash
	im.split.report.Memories++
	props := map[string]any{"content": m.Text, "tier": "Episodic"}
	setText(props, "title", m.Title)
	setText(props, "speaker", m.Speaker)
	if m.Title != nil && *m.Title != "" {
		im.split.titled = true
		im.titles.add(m.ID, *m.Title)
	}
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
	return nil
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
	speaker := ""
	if m.Speaker != nil {
		speaker = *m.Speaker
	}
	if before.asked != "" && speaker != "" && speaker != before.asked {
		im.answers = append(im.answers, map[string]any{"from": m.ID, "to": before.id})
	}
	now := place{id: m.ID, position: before.position + 1}
	if strings.HasSuffix(strings.TrimSpace(m.Text), "?") {
		now.asked = speaker
	}
	im.last[session] = now
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
	mergeReferences = `UNWIND $rows AS row
MATCH (a {id: row.from}), (b {id: row.to})
MERGE (a)-[:REFERENCES]->(b)`
	mergeAnswers = `UNWIND $rows AS row
MATCH (a {id: row.from}), (b {id: row.to})
MERGE (a)-[:ANSWERS]->(b)`
)

// flush writes the batch at hand as one transaction.
func (im *memoryImport) flush(ctx context.Context) error {
	if im.lines == 0 {
		return nil
	}
	im.lines = 0
	var statements []Statement
	for _, s := range []struct {
		text string
		rows *[]any
	}{{mergeConversations, &im.conversations}, {mergeSessions, &im.sessions}, {mergeMemories, &im.memories}, {mergeContains, &im.contains}, {mergePrecedes, &im.precedes}, {mergeAnswers, &im.answers}, {mergeReferences, &im.references}} {
		if len(*s.rows) > 0 {
			statements = append(statements, Statement{s.text, map[string]any{"rows": *s.rows}})
		}
	}
	if len(statements) == 0 {
		return nil
	}
	dry := im.split.opts.DryRun
	if begin := im.split.opts.Begin; begin != nil && !dry {
		begin(im.split.report.Lines)
	}
	var seq uint64
	if !dry {
		var err error
		if seq, err = im.to.Write(ctx, statements); err != nil {
			return fmt.Errorf("writing the lines up to number %d: %w", im.split.report.Lines, err)
		}
		im.split.report.Transactions++
	}
	im.split.report.Edges += len(im.contains) + len(im.precedes) + len(im.answers) + len(im.references)
	im.conversations, im.sessions, im.memories, im.contains, im.precedes = nil, nil, nil, nil, nil
	im.answers, im.references = nil, nil
	if im.split.opts.Ack != nil && !dry {
		im.split.opts.Ack(seq, im.split.report.Lines)
	}
	if im.split.opts.Progress != nil {
		im.split.opts.Progress(im.split.read)
	}
	return nil
}
