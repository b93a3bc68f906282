package benchmarks

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func recallSetOf(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "set")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const (
	memories = `{"id":"a1","conversation":"a","session":1,"speaker":"Ida","text":"The ferry leaves at seven."}
{"id":"a2","conversation":"a","session":1,"speaker":"Jon","text":"My bicycle is green."}
{"id":"a3","conversation":"a","session":1,"speaker":"Ida","text":"Plums are ripe."}

{"id":"b1","conversation":"b","text":"The oven broke on Friday."}
{"id":"b2","conversation":"b","text":"Nobody mends it."}
`
	questions = `{"id":"q1","conversation":"a","question":"When does the ferry leave?","category":"single","evidence":["a1"]}
{"id":"q2","conversation":"b","question":"What broke, and who mends it?","category":"multi","evidence":["b1","b2"]}
{"id":"q3","conversation":"b","question":"zeppelin?","category":"adversarial","evidence":["b1"]}
{"id":"q4","conversation":"b","question":"not counted","category":"single"}
`
)

func TestRecall(t *testing.T) {
	set := recallSetOf(t, map[string]string{"memories.jsonl": memories, "questions.jsonl": questions})
	run := func(o RecallOptions) string {
		t.Helper()
		o.Sets = []string{set}
		var out bytes.Buffer
		if err := Recall(context.Background(), o, &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	want := `{"set":"set","legs":"lexical","category":"adversarial","n":1,"r5":0,"r10":0,"hit5":0,"p5":0,"mrr":0}
{"set":"set","legs":"lexical","category":"multi","n":1,"r5":1,"r10":1,"hit5":1,"p5":0.4,"mrr":1}
{"set":"set","legs":"lexical","category":"single","n":1,"r5":1,"r10":1,"hit5":1,"p5":0.2,"mrr":1}
{"set":"set","legs":"lexical","category":"_all","n":3,"r5":0.6667,"r10":0.6667,"hit5":0.6667,"p5":0.2,"mrr":0.6667}
{"set":"set","legs":"lexical","category":"_no-adversarial","n":2,"r5":1,"r10":1,"hit5":1,"p5":0.3,"mrr":1}
{"set":"set","legs":"lexical","category":"_odd","n":1,"r5":1,"r10":1,"hit5":1,"p5":0.2,"mrr":1}
{"set":"set","legs":"lexical","category":"_even","n":2,"r5":0.5,"r10":0.5,"hit5":0.5,"p5":0.2,"mrr":0.5}
`
	lexical := RecallOptions{Legs: []string{"lexical"}, NoTimes: true, JSON: true}
	if got := run(lexical); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	both := run(RecallOptions{NoTimes: true})
	if !strings.Contains(both, " all ") || strings.Contains(both, "p50") {
		t.Errorf("the table is\n%s", both)
	}
	for range 2 {
		if again := run(RecallOptions{NoTimes: true}); again != both {
			t.Errorf("another run printed\n%snot\n%s", again, both)
		}
	}
	if got := run(RecallOptions{}); !strings.Contains(got, "p50 ms") {
		t.Errorf("the table has no times:\n%s", got)
	}
}

// TestRecallTakesLinks joins two memories that share neither a word nor a
// conversation's node: the second one is found only over the link.
func TestRecallTakesLinks(t *testing.T) {
	set := recallSetOf(t, map[string]string{
		"memories.jsonl": `{"id":"a1","text":"The ferry leaves at seven."}
{"id":"a2","text":"Plums are ripe."}
{"id":"b1","conversation":"b","text":"The oven broke."}
`,
		"questions.jsonl": `{"id":"q1","question":"ferry","category":"x","evidence":["a2"]}` + "\n",
		"links.jsonl":     `{"a":"a1","b":"a2","type":"cites"}` + "\n" + `{"a":"a1","b":"b1","type":"cites"}` + "\n",
	})
	for _, c := range []struct {
		legs []string
		want string
	}{{nil, `"_all","n":1,"r5":1,`}, {[]string{"lexical"}, `"_all","n":1,"r5":0,`}} {
		var out bytes.Buffer
		if err := Recall(context.Background(), RecallOptions{Sets: []string{set}, Legs: c.legs, NoTimes: true, JSON: true}, &out); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), c.want) {
			t.Errorf("legs %v: want %s in\n%s", c.legs, c.want, out.String())
		}
	}
}

func TestRecallRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"no questions":    {map[string]string{"memories.jsonl": memories}, "questions.jsonl"},
		"no memories":     {map[string]string{"questions.jsonl": questions}, "memories.jsonl"},
		"broken question": {map[string]string{"memories.jsonl": memories, "questions.jsonl": "{}\n{"}, "questions.jsonl:2:"},
		"stray question":  {map[string]string{"memories.jsonl": memories, "questions.jsonl": `{"id":"q","conversation":"c","evidence":["x"]}`}, `the conversation "c"`},
		"no evidence":     {map[string]string{"memories.jsonl": memories, "questions.jsonl": `{"id":"q","conversation":"a"}`}, "no question has evidence"},
		"broken memory":   {map[string]string{"memories.jsonl": `{"id":"a1","conversation":"a"}`, "questions.jsonl": `{"id":"q","conversation":"a","evidence":["a1"]}`}, "a memory needs a text"},
	} {
		err := Recall(context.Background(), RecallOptions{Sets: []string{recallSetOf(t, c.files)}}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
	if err := Recall(context.Background(), RecallOptions{}, &bytes.Buffer{}); err == nil {
		t.Error("measured no set")
	}
}
