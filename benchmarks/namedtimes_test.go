package benchmarks_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"engram"
	"engram/server/importer"
)

// datedQuestion is a question of the set that names a day or a month with its year.
type datedQuestion struct {
	Conversation, Question string
	Evidence               []string

	named string    // the words that do
	begin time.Time // of what they name
	month bool
}

const monthNames = `(January|February|March|April|May|June|July|August|September|October|November|December)`

var (
	inMonth  = regexp.MustCompile(`\b(?:[Ii]n|during) ` + monthNames + `,? (\d{4})`)
	onDay    = regexp.MustCompile(`\b[Oo]n ` + monthNames + ` (\d+)(?:st|nd|rd|th)?,? (\d{4})`)
	dayFirst = regexp.MustCompile(`\b[Oo]n (\d+)(?:st|nd|rd|th)? ` + monthNames + `,? (\d{4})`)
)

// findTime finds the time that the question names.
func (q *datedQuestion) findTime() bool {
	for _, form := range []struct {
		words  *regexp.Regexp
		layout string
	}{{inMonth, "January 2006"}, {onDay, "January 2 2006"}, {dayFirst, "2 January 2006"}} {
		if m := form.words.FindStringSubmatch(q.Question); m != nil {
			at, err := time.Parse(form.layout, strings.Join(m[1:], " "))
			q.named, q.begin, q.month = m[0], at, form.words == inMonth
			return err == nil
		}
	}
	return false
}

// asked returns the question as it would have been asked some time later, and when.
func (q *datedQuestion) asked() map[string]time.Time {
	if q.month {
		return map[string]time.Time{"last month": q.begin.AddDate(0, 1, 14), "three months ago": q.begin.AddDate(0, 3, 5)}
	}
	return map[string]time.Time{"yesterday": q.begin.AddDate(0, 0, 1), "last week": q.begin.AddDate(0, 0, 7), "last month": q.begin.AddDate(0, 0, 31)}
}

// TestRecallOfNamedTimes asks the dated questions of conversations as they would have
// been asked soon after. The rule for times that are named finds more, and loses none.
func TestRecallOfNamedTimes(t *testing.T) {
	root := os.Getenv("ENGRAM_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "shared", "data")
	}
	set := filepath.Join(root, "locomo-dev")
	if _, err := os.Stat(set); err != nil {
		t.Skipf("no recall set in %s: set ENGRAM_DATA to the folder that holds it", set)
	}
	questions := map[string][]datedQuestion{}
	eachLineOf(t, filepath.Join(set, "questions.jsonl"), func(line []byte) {
		var q datedQuestion
		if err := json.Unmarshal(line, &q); err != nil {
			t.Fatal(err)
		}
		if len(q.Evidence) > 0 && q.findTime() {
			questions[q.Conversation] = append(questions[q.Conversation], q)
		}
	})
	memories := map[string][]byte{}
	eachLineOf(t, filepath.Join(set, "memories.jsonl"), func(line []byte) {
		var m struct{ Conversation string }
		if err := json.Unmarshal(line, &m); err != nil {
			t.Fatal(err)
		}
		memories[m.Conversation] = append(append(memories[m.Conversation], line...), '\n')
	})
	gained, lost, asked := 0, 0, 0
	for conversation, list := range questions {
		with := foundAmong5(t, memories[conversation], list, nil)
		without := foundAmong5(t, memories[conversation], list, []string{"date"})
		asked += len(with)
		for question, found := range with {
			switch {
			case found && !without[question]:
				gained++
			case !found && without[question]:
				lost++
			}
		}
	}
	t.Logf("of %d questions %d are found only with the rule, %d only without it", asked, gained, lost)
	if asked < 200 || gained < 20 || lost > 0 {
		t.Errorf("of %d questions %d are found only with the rule, %d only without it; want at least 20 and none", asked, gained, lost)
	}
}

// foundAmong5 tells of each question, with the time that it names, whether some of its
// evidence is among the first 5.
func foundAmong5(t *testing.T, memories []byte, questions []datedQuestion, off []string) map[string]bool {
	t.Helper()
	db, err := engram.OpenMemory(&engram.Options{RecallOff: off})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	if _, err := importer.Memories(t.Context(), db, strings.NewReader(string(memories)), importer.Options{}); err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for _, q := range questions {
		for words, at := range q.asked() {
			text := strings.Replace(q.Question, q.named, words, 1)
			res, err := db.Query(context.Background(), "RECALL $q AT $at LIMIT 5 YIELD node AS m RETURN m.id", map[string]any{"q": text, "at": at})
			if err != nil {
				t.Fatal(err)
			}
			out[text+at.String()] = slices.ContainsFunc(res.Rows, func(row []engram.Value) bool { return slices.Contains(q.Evidence, row[0].AsString()) })
		}
	}
	return out
}

// eachLineOf calls fn with each line of a file.
func eachLineOf(t *testing.T, path string, fn func(line []byte)) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		fn([]byte(strings.TrimSpace(line)))
	}
}
