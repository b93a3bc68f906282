package benchmarks

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestCrowd: the first copy has the texts as they are, others have words exchanged,
// structure goes along, and the questions are about the first.
func TestCrowd(t *testing.T) {
	var many strings.Builder
	for i := range keptWords { // the words that are kept
		w := "w" + string(rune('a'+i/26)) + string(rune('a'+i%26))
		fmt.Fprintf(&many, `{"id":"k%d","conversation":"k","text":"%s"}`+"\n", i, strings.Repeat(w+" ", 5))
	}
	set := recallSetOf(t, map[string]string{
		"memories.jsonl": memories + many.String(), "questions.jsonl": questions, "links.jsonl": `{"a":"a1","b":"a2","type":"RELATED"}` + "\n",
	})
	read := func(n int) *conversation {
		t.Helper()
		s, err := readRecallSet(set)
		if err == nil {
			s, err = s.crowd(n)
		}
		if err != nil {
			t.Fatal(err)
		}
		if len(s.conversations) != 1 {
			t.Fatalf("%d conversations, want 1", len(s.conversations))
		}
		return s.conversations[0]
	}
	once := read(1)
	size := bytes.Count(once.memories, []byte("\n"))
	c := read(2*size + 1)
	if n := bytes.Count(c.memories, []byte("\n")); n != 3*size {
		t.Errorf("%d memories, want %d", n, 3*size)
	}
	if again := read(2*size + 1); !bytes.Equal(again.memories, c.memories) {
		t.Error("another time it is another crowd")
	}
	if !bytes.HasPrefix(c.memories, once.memories) {
		t.Error("the first copy is changed")
	}
	lines := bytes.Split(c.memories, []byte("\n"))
	var first, copied struct{ ID, Conversation, Session, Speaker, Text string }
	for i, into := range []any{&first, &copied} {
		if err := json.Unmarshal(lines[i*size], into); err != nil {
			t.Fatal(err)
		}
	}
	if first.ID != "0/a1" || first.Text != "The ferry leaves at seven." || first.Session != "0/a/1" || first.Conversation != "crowd" {
		t.Errorf("first copy: %+v", first)
	}
	if copied.ID != "1/a1" || copied.Text == first.Text || len(strings.Fields(copied.Text)) != 5 || copied.Session != "1/a/1" || copied.Speaker == "Ida" {
		t.Errorf("second copy: %+v", copied)
	}
	if !strings.HasPrefix(copied.Text, strings.ToUpper(copied.Text[:1])) {
		t.Errorf("%q begins without a capital", copied.Text)
	}
	if want := `{"a":"0/a1","b":"0/a2","type":"RELATED"}`; !strings.HasPrefix(string(c.links), want) || bytes.Count(c.links, []byte("\n")) != 3 {
		t.Errorf("links:\n%s", c.links)
	}
	if len(c.questions) != 3 || c.questions[1].Evidence[1] != "0/b2" {
		t.Errorf("questions: %+v", c.questions)
	}
	var out bytes.Buffer
	if err := Recall(context.Background(), RecallOptions{Sets: []string{set}, Crowd: 2 * size, NoTimes: true, JSON: true}, &out); err != nil {
		t.Fatal(err)
	}
	if want := `"category":"single","n":1,"r5":1,`; !strings.Contains(out.String(), want) {
		t.Errorf("%s is not in\n%s", want, out.String())
	}
}
