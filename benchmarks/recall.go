package benchmarks

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"engram"
	"engram/server/importer"
)

// RecallOptions say what to measure.
type RecallOptions struct {
	// Sets are folders with memories.jsonl, questions.jsonl and optionally
	// links.jsonl.
	Sets []string
	// Legs restrict recall to lexical, semantic or associative; empty means all.
	Legs []string
	// Off are rules of recall to switch off, see engram.RecallRules.
	Off []string
	// NoTimes leaves out everything that differs between two runs.
	NoTimes bool
	// JSON prints one object a line in place of a table.
	JSON bool
	// Crowd, when not 0, is how many memories there are at least in the one namespace
	// that all conversations then share, with copies of them in which words are
	// exchanged.
	Crowd int
	// Save, when set, is a file to write what came of each question to, for Compare.
	Save string
}

// question is one line of questions.jsonl. Evidence is what should be recalled;
// none in the category nonsense, where nothing should be.
type question struct {
	ID           string   `json:"id"`
	Conversation string   `json:"conversation"`
	Question     string   `json:"question"`
	Category     string   `json:"category"`
	Evidence     []string `json:"evidence"`
}

// nonsense is the category of questions that nothing answers.
const nonsense = "nonsense"

// outcome is how one question went.
type outcome struct {
	id           string
	category     string
	conversation int // ordinal, for the split into odd and even
	r5, r10      float64
	hit5, p5, rr float64
	rows         int // recalled
	took         time.Duration
}

// Recall imports each conversation of the sets into a namespace of its own, asks
// the questions with RECALL and prints recall@5, recall@10, hit@5, precision@5
// and mean reciprocal rank by category.
func Recall(ctx context.Context, opts RecallOptions, out io.Writer) error {
	if len(opts.Sets) == 0 {
		return errors.New("bench recall: no set given")
	}
	c := config{legs: opts.Legs, off: opts.Off}
	var rows []scoreRow
	var results []result
	for _, set := range opts.Sets {
		outcomes, err := recallSet(ctx, set, opts.Crowd, []config{c})
		if err != nil {
			return fmt.Errorf("bench recall: %s: %w", set, err)
		}
		rows = append(rows, score(setName(set), c.String(), outcomes[0])...)
		results = append(results, resultsOf(setName(set), outcomes[0])...)
	}
	if opts.Save != "" {
		if err := saveResults(opts.Save, results); err != nil {
			return fmt.Errorf("bench recall: %w", err)
		}
	}
	if opts.JSON {
		return writeScoreLines(out, rows, opts.NoTimes)
	}
	writeScoreTable(out, rows, opts.NoTimes)
	return nil
}

func setName(set string) string { return filepath.Base(filepath.Clean(set)) }

// recallSet asks a set's questions once for each configuration and returns what came
// of them, in the order of the configurations.
func recallSet(ctx context.Context, set string, crowd int, configs []config) ([][]outcome, error) {
	s, err := readRecallSet(set)
	if err == nil && crowd > 0 {
		s, err = s.crowd(crowd)
	}
	if err != nil {
		return nil, err
	}
	work, err := os.MkdirTemp("", "engram-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	outcomes := make([][]outcome, len(configs))
	for i, c := range s.conversations {
		dir := filepath.Join(work, fmt.Sprint(i))
		for k, how := range configs {
			got, err := c.run(ctx, dir, how, k == 0)
			if err != nil {
				return nil, fmt.Errorf("conversation %s: %w", c.name, err)
			}
			outcomes[k] = append(outcomes[k], got...)
		}
		if err := os.RemoveAll(dir); err != nil {
			return nil, err
		}
	}
	if len(outcomes[0]) == 0 {
		return nil, errors.New("no question has evidence: there is nothing to measure")
	}
	return outcomes, nil
}

// recallSetFiles is what a folder holds, by conversation in order of appearance.
type recallSetFiles struct {
	conversations []*conversation
	byName        map[string]*conversation
	ofMemory      map[string]*conversation
}

// conversation is one namespace of a set with its questions.
type conversation struct {
	name      string
	ordinal   int
	memories  []byte // lines
	links     []byte // lines
	questions []question
}

func readRecallSet(set string) (*recallSetFiles, error) {
	s := &recallSetFiles{byName: map[string]*conversation{}, ofMemory: map[string]*conversation{}}
	if err := eachLine(filepath.Join(set, "memories.jsonl"), s.addMemory); err != nil {
		return nil, err
	}
	questions, err := readLines[question](filepath.Join(set, "questions.jsonl"))
	if err != nil {
		return nil, err
	}
	for _, q := range questions {
		c := s.byName[q.Conversation]
		if c == nil {
			return nil, fmt.Errorf("question %s is about the conversation %q, of which memories.jsonl has nothing", q.ID, q.Conversation)
		}
		if len(q.Evidence) > 0 || q.Category == nonsense {
			c.questions = append(c.questions, q)
		}
	}
	err = eachLine(filepath.Join(set, "links.jsonl"), s.addLink)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return s, nil
}

func (s *recallSetFiles) addMemory(line []byte) error {
	var head struct {
		ID           string `json:"id"`
		Conversation string `json:"conversation"`
	}
	if err := json.Unmarshal(line, &head); err != nil {
		return err
	}
	c := s.byName[head.Conversation]
	if c == nil {
		c = &conversation{name: head.Conversation, ordinal: len(s.conversations)}
		s.byName[head.Conversation] = c
		s.conversations = append(s.conversations, c)
	}
	s.ofMemory[head.ID] = c
	c.memories = append(append(c.memories, line...), '\n')
	return nil
}

// addLink keeps a link within one conversation; others lead out of its namespace.
func (s *recallSetFiles) addLink(line []byte) error {
	var ends struct{ A, B string }
	if err := json.Unmarshal(line, &ends); err != nil {
		return err
	}
	if c := s.ofMemory[ends.A]; c != nil && c == s.ofMemory[ends.B] {
		c.links = append(append(c.links, line...), '\n')
	}
	return nil
}

// asked is when the questions are asked: memories age, and the figures would with them.
func asked() time.Time { return time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC) }

// run asks the questions in one configuration. The first one imports the memories
// into dir, where they stay.
func (c *conversation) run(ctx context.Context, dir string, how config, first bool) (outcomes []outcome, err error) {
	db, err := engram.Open(dir, &engram.Options{Create: first, RecallLegs: how.legs, RecallOff: how.off, Now: asked})
	if err != nil {
		return nil, err
	}
	defer func() {
		if closeErr := db.Close(); err == nil {
			err = closeErr
		}
	}()
	if first {
		if err := c.load(ctx, db); err != nil {
			return nil, err
		}
	}
	for _, q := range c.questions {
		o, err := c.ask(ctx, db, q)
		if err != nil {
			return nil, fmt.Errorf("question %s: %w", q.ID, err)
		}
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

func (c *conversation) load(ctx context.Context, db *engram.DB) error {
	if _, err := importer.Memories(ctx, db, bytes.NewReader(c.memories), importer.Options{}); err != nil {
		return err
	}
	if len(c.links) == 0 {
		return nil
	}
	_, err := importer.Links(ctx, importer.Into(db), bytes.NewReader(c.links), importer.Options{})
	return err
}

func (c *conversation) ask(ctx context.Context, db *engram.DB, q question) (outcome, error) {
	o := outcome{id: q.ID, category: q.Category, conversation: c.ordinal}
	start := time.Now()
	res, err := db.Query(ctx, "RECALL $question LIMIT 10 YIELD node AS m RETURN m.id AS id", map[string]any{"question": q.Question})
	o.took = time.Since(start)
	if err != nil {
		if engram.IsCode(err, engram.CodeNothingToSearch) {
			return o, nil // only stop words: nothing is recalled, which scores 0
		}
		return o, err
	}
	o.rows = len(res.Rows)
	if len(q.Evidence) == 0 {
		return o, nil
	}
	evidence := map[string]bool{}
	for _, id := range q.Evidence {
		evidence[id] = true
	}
	found5, found10 := 0, 0
	for i, row := range res.Rows {
		if !evidence[row[0].AsString()] {
			continue
		}
		if o.rr == 0 {
			o.rr = 1 / float64(i+1)
		}
		found10++
		if i < 5 {
			found5++
		}
	}
	o.r5, o.r10 = float64(found5)/float64(len(evidence)), float64(found10)/float64(len(evidence))
	o.p5 = float64(found5) / 5
	if found5 > 0 {
		o.hit5 = 1
	}
	return o, nil
}

func readLines[T any](file string) ([]T, error) {
	var out []T
	err := eachLine(file, func(line []byte) error {
		var v T
		if err := json.Unmarshal(line, &v); err != nil {
			return err
		}
		out = append(out, v)
		return nil
	})
	return out, err
}

func eachLine(file string, fn func(line []byte) error) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(nil, 16<<20)
	for n := 1; s.Scan(); n++ {
		if len(strings.TrimSpace(s.Text())) == 0 {
			continue
		}
		if err := fn(s.Bytes()); err != nil {
			return fmt.Errorf("%s:%d: %w", file, n, err)
		}
	}
	return s.Err()
}
