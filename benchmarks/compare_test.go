package benchmarks

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"engram"
)

// golden compares text with a file below testdata, or writes the file anew when the
// flag of the scoreboard says so.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if f := flag.Lookup("rewrite"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// saved writes results of one question a letter: 5 found in the first 5, t in the
// first 10 only, - not at all.
func saved(t *testing.T, name string, categories map[string]string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	var results []result
	for _, c := range []string{"adversarial", "nonsense", "single"} {
		for i, letter := range categories[c] {
			r := result{Set: "hand", ID: fmt.Sprint(c, i), Category: c, Rows: 1}
			switch letter {
			case '5':
				r.R5, r.R10, r.RR = 1, 1, 1
			case 't':
				r.R10, r.RR = 1, 0.125
			case '0':
				r.Rows = 0
			}
			results = append(results, r)
		}
	}
	if err := saveResults(file, results); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestCompareGolden compares two files whose pairs can be counted by hand: of the
// single ones B alone has 7 and A alone 1 among the first 10 (p 18/256), and B alone
// 9 and A alone 1 among the first 5 (p 22/1024).
func TestCompareGolden(t *testing.T) {
	a := saved(t, "a", map[string]string{"single": "5" + "tt" + "-------" + "5-", "adversarial": "5-", "nonsense": "0-"})
	b := saved(t, "b", map[string]string{"single": "-" + "55" + "5555555" + "5-", "adversarial": "-t", "nonsense": "00"})
	var out bytes.Buffer
	if err := Compare(context.Background(), a, b, RecallOptions{}, &out); err != nil {
		t.Fatal(err)
	}
	title, table, _ := strings.Cut(out.String(), "\n")
	if title != fmt.Sprintf("A is %s, B is %s", a, b) {
		t.Errorf("the title is %q", title)
	}
	golden(t, "testdata/recall/compare.txt", table)
	out.Reset()
	if err := Compare(context.Background(), a, b, RecallOptions{JSON: true}, &out); err != nil {
		t.Fatal(err)
	}
	want := `{"set":"hand","category":"single","metric":"hit5","n":12,"a":0.1667,"b":0.8333,"only_a":1,"only_b":9,"p":0.021484,"smallest":0.6667,"verdict":"B is better"}`
	if !strings.Contains(out.String(), want+"\n") {
		t.Errorf("the lines are\n%swithout\n%s", out.String(), want)
	}
}

func TestCompareRefuses(t *testing.T) {
	full, short := saved(t, "a", map[string]string{"single": "55"}), saved(t, "b", map[string]string{"single": "5"})
	other := filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte(`{"metric":"point"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ a, b, want string }{
		{full, short, "only A has the question single1"},
		{short, full, "only B has the question single1"},
		{full, other, "line 1 is no saved result"},
		{full, "nowhere", `"nowhere" is neither a file of saved results nor a configuration`},
		{"legs=", full, "neither"},
		{"all", full, "name the sets"},
		{saved(t, "none", nil), saved(t, "none", nil), "no question"},
	} {
		err := Compare(context.Background(), c.a, c.b, RecallOptions{}, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s with %s: %v, want %s", c.a, c.b, err, c.want)
		}
	}
}

// TestCompareRuns compares configurations, one of them saved before: without the
// associative leg what shares no word is not found.
func TestCompareRuns(t *testing.T) {
	set := recallSetOf(t, map[string]string{
		"memories.jsonl": `{"id":"a1","text":"The ferry leaves at seven."}` + "\n" + `{"id":"a2","text":"Plums are ripe."}`,
		"questions.jsonl": `{"id":"q1","question":"ferry","category":"x","evidence":["a2"]}` + "\n" +
			`{"id":"q2","question":"quixnor","category":"nonsense","evidence":[]}`,
		"links.jsonl": `{"a":"a1","b":"a2","type":"cites"}`,
	})
	opts := RecallOptions{Sets: []string{set}, Save: filepath.Join(t.TempDir(), "saved"), Off: []string{"semantic"}, NoTimes: true, JSON: true}
	var out bytes.Buffer
	if err := Recall(context.Background(), opts, &out); err != nil {
		t.Fatal(err)
	}
	if want := `"category":"nonsense","n":1,"r5":0,"r10":0,"hit5":0,"p5":0,"mrr":0,"silent":1}`; !strings.Contains(out.String(), want) {
		t.Errorf("%s is not in\n%s", want, out.String())
	}
	if want := `"legs":"all without semantic","category":"_all","n":1,"r5":1,`; !strings.Contains(out.String(), want) {
		t.Errorf("%s is not in\n%s", want, out.String())
	}
	out.Reset()
	if err := Compare(context.Background(), opts.Save, "legs=lexical", RecallOptions{Sets: []string{set}, JSON: true}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"category":"_all","metric":"hit5","n":1,"a":1,"b":0,"only_a":1,"only_b":0,"p":1,`,
		`"category":"nonsense","metric":"hit5","n":1,"a":1,"b":1,"only_a":0,"only_b":0,"p":1,`,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in\n%s", want, out.String())
		}
	}
}

// TestAblation switches everything off in turn: one row for each rule, and the leg
// over which the only question is answered helps.
func TestAblation(t *testing.T) {
	set := recallSetOf(t, map[string]string{
		"memories.jsonl":  `{"id":"a1","text":"The ferry leaves at seven."}` + "\n" + `{"id":"a2","text":"Plums are ripe."}`,
		"questions.jsonl": `{"id":"q1","question":"ferry","category":"x","evidence":["a2"]}`,
		"links.jsonl":     `{"a":"a1","b":"a2","type":"cites"}`,
	})
	var out bytes.Buffer
	if err := Ablation(context.Background(), RecallOptions{Sets: []string{set}, Off: []string{"semantic"}, JSON: true}, &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if want := 1 + len(engram.RecallRules()); len(lines) != want {
		t.Errorf("%d lines, want %d:\n%s", len(lines), want, out.String())
	}
	if want := `{"set":"set","off":"","n":1,"r5":1,"r10":1,"mrr":0.5,`; !strings.HasPrefix(lines[0], want) {
		t.Errorf("the first line is %s, want %s", lines[0], want)
	}
	for _, line := range lines[1:] {
		if strings.Contains(line, `"off":"associative"`) && !strings.Contains(line, `"r5":-1,"r10":-1,"mrr":-0.5,"only_with":1,"only_off":0,"p":1,`) {
			t.Errorf("without the associative leg: %s", line)
		}
		if strings.Contains(line, `"off":"speaker"`) && !strings.Contains(line, `"r5":0,"r10":0,"mrr":0,"only_with":0,"only_off":0,"p":1,"verdict":"no measurable difference"`) {
			t.Errorf("without a rule that does nothing here: %s", line)
		}
	}
	out.Reset()
	if err := Ablation(context.Background(), RecallOptions{Sets: []string{set}, Off: []string{"semantic"}}, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "associative") || !strings.Contains(out.String(), "-1.0000") {
		t.Errorf("the table is\n%s", out.String())
	}
}

// TestAblate judges outcomes made by hand.
func TestAblate(t *testing.T) {
	of := func(letters string) (out []outcome) {
		for _, l := range letters {
			o := outcome{category: "x"}
			if l == '5' {
				o.r5, o.r10, o.hit5, o.rr = 1, 1, 1, 1
			}
			out = append(out, o)
		}
		return out
	}
	rules := []engram.RecallRule{{Name: "good"}, {Name: "bad"}, {Name: "idle"}}
	rows := ablate("s", rules, [][]outcome{of("555555--------"), of("--------------"), of("55555555555555"), of("5-55555-------")})
	for i, want := range []string{"", "it helps", "it hurts", noDifference} {
		if rows[i].Verdict != want {
			t.Errorf("%+v: want %q", rows[i], want)
		}
	}
	if r := rows[3]; r.OnlyWith != 1 || r.OnlyOff != 1 || r.R5 != 0 {
		t.Errorf("one each way: %+v", r)
	}
}
