package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"strings"

	"engram"
	"engram/server/internal/graphline"
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
// reported. A date that is known is also when the memory was created.
//
// From a file, or anything else that seeks, nothing is written before all of it
// was understood; from a stream, what stands before a broken line stays. Importing
// again changes what the file changed, and leaves what was edited in the database.
func Memories(ctx context.Context, db *engram.DB, from io.Reader, opts Options) (Report, error) {
	return memories(ctx, func(string) (*engram.DB, error) { return db, nil }, from, opts)
}

// memories is Memories with a database for every conversation, if they are split. open
// is asked once for each; a nil database, which is good for a dry run, stands for one
// that is missing.
func memories(ctx context.Context, open openFunc, from io.Reader, opts Options) (Report, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return Report{}, err
	}
	s := &split{ctx: ctx, opts: opts, open: open, conversations: map[string]*memoryImport{}}
	if s.begin, err = s.rehearse(from); err != nil {
		return Report{}, err
	}
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
			return im.flush()
		}
		return nil
	})
	if err == nil {
		err = s.flush()
	}
	if err == nil {
		err = s.references(from)
	}
	return s.report, err
}

// stream is where an input begins that can be read once only.
const stream = -1

// rehearse reads the input without writing and goes back to its begin, if it can.
func (s *split) rehearse(from io.Reader) (begin int64, err error) {
	seeker, ok := from.(io.Seeker)
	if !ok {
		return stream, nil
	}
	begin, err = seeker.Seek(0, io.SeekCurrent)
	if err != nil {
		return stream, nil // a pipe
	}
	var seen seenLines
	bad := func(line int, err error) error {
		if s.opts.SkipBad {
			return nil // it is told when the input is read again
		}
		return &LineError{line, err}
	}
	err = eachMemory(from, bad, func(line int, m Memory, hash uint64, _ int64) error {
		id := m.ID
		if s.opts.Split != "" {
			id = m.Conversation + "\x00" + id
		}
		if before, again := seen.add(id, hash); again && before != hash {
			return bad(line, errTwice(m.ID))
		}
		return s.ctx.Err()
	})
	if err != nil {
		return begin, err
	}
	_, err = seeker.Seek(begin, io.SeekStart)
	return begin, err
}

// seenLines remembers the first line of each id by its hash.
type seenLines struct {
	ids    idTable
	hashes []uint64
}

// add returns the hash of the first line with an id, and whether this is another one.
func (s *seenLines) add(id string, hash uint64) (first uint64, again bool) {
	n, added := s.ids.add(id)
	if added {
		s.hashes = append(s.hashes, hash)
	}
	return s.hashes[n], !added
}

// is reports whether the first line with an id has a hash.
func (s *seenLines) is(id string, hash uint64) bool {
	n, ok := s.ids.get(id)
	return ok && s.hashes[n] == hash
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

// split hands memories to the import of their conversation's database.
type split struct {
	ctx           context.Context //nolint:containedctx // of one import
	opts          Options
	open          openFunc
	conversations map[string]*memoryImport // by name; all in one have none
	order         []*memoryImport
	report        Report
	read          int64
	begin         int64 // of the input, or stream
	titled        bool  // a memory has a title
}

// flush writes what is left of every database's batch.
func (s *split) flush() error {
	for _, im := range s.order {
		if err := im.flush(); err != nil {
			return err
		}
	}
	return nil
}

// references reads the input again, now that all titles are known, and joins each
// memory with those whose titles stand in its text.
func (s *split) references(from io.Reader) error {
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
	err := eachMemory(from, told, func(line int, m Memory, hash uint64, _ int64) error {
		im, err := s.importFor(m.Conversation)
		if err != nil {
			return err
		}
		if !im.seen.is(m.ID, hash) {
			return nil // skipped
		}
		for _, other := range im.titles.in(m.ID, m.Text) {
			im.edge(line, m.ID, other, "REFERENCES")
		}
		im.lines++
		if len(im.edges) >= s.opts.Batch {
			return im.flush()
		}
		return nil
	})
	if err != nil {
		return err
	}
	return s.flush()
}

// importFor finds the import of a conversation. Unless they are split, all have one.
func (s *split) importFor(conversation string) (*memoryImport, error) {
	if s.opts.Split == "" {
		conversation = ""
	}
	if im, ok := s.conversations[conversation]; ok {
		return im, nil
	}
	db, err := s.open(conversation)
	if err == nil && db == nil && !s.opts.DryRun {
		err = errNoDatabase
	}
	if err != nil {
		return nil, err
	}
	p := &publisher{stage: &stage{ctx: s.ctx, report: &s.report, owned: true}, db: db, opts: s.opts}
	im := &memoryImport{split: s, publisher: p, last: map[string]place{}, known: map[string]bool{}}
	s.conversations[conversation] = im
	s.order = append(s.order, im)
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

// memoryImport gathers the batch at hand of one database.
type memoryImport struct {
	split     *split
	publisher *publisher
	lines     int // in the batch at hand

	last   map[string]place // by session
	known  map[string]bool  // conversations and sessions that came already
	seen   seenLines
	titles titles

	nodes []row[*graphline.Node]
	edges []row[*graphline.Edge]
}

func (im *memoryImport) node(line int, id, label string, props ...engram.Prop) {
	props = append(props, engram.Prop{Key: "origin", Value: stringValue("import")})
	if im.split.opts.Brings != nil {
		im.split.opts.Brings(id)
	}
	im.nodes = append(im.nodes, row[*graphline.Node]{origin{line: line}, ownedNode(&graphline.Node{ID: id, Labels: []string{label}, Props: props})})
}

func (im *memoryImport) edge(line int, from, to, typ string) {
	im.split.report.Edges++
	im.edges = append(im.edges, row[*graphline.Edge]{origin{line: line}, &graphline.Edge{From: from, To: to, Type: typ}})
}

func (im *memoryImport) add(line int, m Memory, hash uint64) error {
	im.lines++
	report := &im.split.report
	report.Lines++
	if before, again := im.seen.add(m.ID, hash); again {
		if before != hash {
			return errTwice(m.ID)
		}
		report.problem(line, "the line repeats an earlier one and is left out")
		return nil
	}
	report.Memories++
	props := []engram.Prop{{Key: "content", Value: stringValue(m.Text)}, {Key: "tier", Value: stringValue("Episodic")}}
	props = withText(props, "title", m.Title)
	props = withText(props, "speaker", m.Speaker)
	if m.Title != nil && *m.Title != "" {
		im.split.titled = true
		im.titles.add(m.ID, *m.Title)
	}
	if m.Date != nil && *m.Date != "" {
		date, ok := parseDate(*m.Date)
		if !ok {
			report.problem(line, "the date %q is not understood and stays text", *m.Date)
		}
		v, err := engram.ValueOf(date)
		if err != nil {
			return err
		}
		props = append(props, engram.Prop{Key: "date", Value: v})
		props = withCreated(props, v)
	}
	props = im.group(line, m, props)
	im.node(line, m.ID, "Memory", props...)
	return nil
}

func withText(props []engram.Prop, key string, text *string) []engram.Prop {
	if text == nil || strings.TrimSpace(*text) == "" {
		return props
	}
	return append(props, engram.Prop{Key: key, Value: stringValue(*text)})
}

// group makes the conversation and session of a memory, which contain it, and tells of
// them in its properties.
func (im *memoryImport) group(line int, m Memory, props []engram.Prop) []engram.Prop {
	if m.Conversation == "" {
		return props
	}
	inside := engram.Prop{Key: "conversation", Value: stringValue(m.Conversation)}
	props = append(props, inside)
	conversation := "conversation:" + m.Conversation
	if im.first(conversation) {
		im.split.report.Conversations++
		im.node(line, conversation, "Conversation", inside)
	}
	if m.Session == nil {
		im.edge(line, conversation, m.ID, "CONTAINS")
		return props
	}
	v, _ := engram.ValueOf(m.Session.value) // a text or a number
	session := "session:" + m.Conversation + "/" + m.Session.String()
	if im.first(session) {
		im.split.report.Sessions++
		im.node(line, session, "Session", inside, engram.Prop{Key: "session", Value: v})
		im.edge(line, conversation, session, "CONTAINS")
	}
	im.edge(line, session, m.ID, "CONTAINS")
	before := im.last[session]
	if before.id != "" {
		im.edge(line, before.id, m.ID, "TEMPORALLY_PRECEDES")
	}
	speaker := ""
	if m.Speaker != nil {
		speaker = *m.Speaker
	}
	if before.asked != "" && speaker != "" && speaker != before.asked {
		im.edge(line, m.ID, before.id, "ANSWERS")
	}
	now := place{id: m.ID, position: before.position + 1}
	if strings.HasSuffix(strings.TrimSpace(m.Text), "?") {
		now.asked = speaker
	}
	im.last[session] = now
	return append(props, engram.Prop{Key: "session", Value: v}, engram.Prop{Key: "position", Value: intValue(now.position)})
}

func (im *memoryImport) first(id string) bool {
	if im.known[id] {
		return false
	}
	im.known[id] = true
	return true
}

// flush writes the batch at hand as one transaction.
func (im *memoryImport) flush() error {
	if im.lines == 0 {
		return nil
	}
	im.lines = 0
	nodes, edges := im.nodes, im.edges
	im.nodes, im.edges = nil, nil
	if len(nodes)+len(edges) == 0 {
		return nil
	}
	opts, report := &im.split.opts, &im.split.report
	if opts.Begin != nil && !opts.DryRun {
		opts.Begin(report.Lines)
	}
	if err := im.publisher.rows(nodes, edges); err != nil {
		return fmt.Errorf("writing the lines up to number %d: %w", report.Lines, err)
	}
	if opts.Ack != nil && !opts.DryRun {
		opts.Ack(im.publisher.seq, report.Lines)
	}
	if opts.Progress != nil {
		opts.Progress(im.split.read)
	}
	return nil
}
