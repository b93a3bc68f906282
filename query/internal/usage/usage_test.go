package usage_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"engram/query/internal/bind"
	"engram/query/internal/syntax"
	"engram/query/internal/usage"
)

func touched(t *testing.T, table *usage.Table, text string) *usage.Touched {
	t.Helper()
	parsed, err := syntax.Parse(text)
	if err != nil {
		t.Fatal(text, err)
	}
	stmt, err := bind.Bind(parsed, nil)
	if err != nil {
		t.Fatal(text, err)
	}
	return table.Of(stmt)
}

// show lists what a table knows: r or w or both, kind, labels and name.
func show(s usage.Summary) string {
	var out []string
	for _, n := range s.Names {
		how := ""
		if n.Reads.Count > 0 {
			how += "r"
		}
		if n.Writes.Count > 0 {
			how += "w"
		}
		name := n.Name
		if len(n.Of) > 0 {
			name = strings.Join(n.Of, "+") + "." + name
		}
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %s %s", how, n.Kind, name)))
	}
	return strings.Join(out, ", ")
}

func TestNamesThatStatementsTouch(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"RETURN 1 + 2", ""},
		{"MATCH (n:A) RETURN n.x", "r access A.x, r label A, r property x"},
		{"MATCH (n:A|B {x: 1})-[:T]->() RETURN 1", "r access A+B.x, r label A, r label B, r property x, r type T"},
		{"MATCH (n:!A)--() RETURN n.x", "r any type, r label A, r property x"},
		{"MATCH (n:A) WITH n AS m, 1 AS one RETURN m.x", "r access A.x, r label A, r property x"},
		{"MATCH (n:A) CALL { WITH n RETURN n.x AS x } RETURN x", "r access A.x, r label A, r property x"},
		{"MATCH (n:A) WHERE EXISTS { (n)-[:T]->(m:B) WHERE m.y = n.x } RETURN 1", "r access A.x, r access B.y, r label A, r label B, r property x, r property y, r type T"},
		{"MATCH (n) RETURN n", "r any property"},
		{"MATCH (n) RETURN n[$key], n['x'], properties(n)", "r any property, r computed n[$key], r computed properties(n), r property x"},
		{"MATCH (n) RETURN n {.x, .*, y: n.z}", "r any property, r property x, r property z"},
		{"MATCH (n)-[r]-() WHERE n:A AND r:T RETURN 1", "r any type, r label A, r type T"},
		{"UNWIND $rows AS row RETURN row.x", "r maybe property x"},
		{"RETURN {x: 1}.x, date().year", ""},
		{"CREATE (:A {x: 1})-[:T {w: 2}]->(:B $props)", "w access A.x, w computed $props, w label A, w label B, w property w, w property x, w type T"},
		{"MERGE (n:A {x: 1}) ON CREATE SET n.y = 2, n:B", "rw access A.x, w access A.y, rw label A, w label B, rw property x, w property y"},
		{"MATCH (n:A) SET n += {x: 1, y: 2} REMOVE n.z, n:B", "w access A.z, r label A, w label B, w property x, w property y, w property z"},
		{"MATCH (n) SET n = $map", "w computed $map"},
		{"REMEMBER 'text'", "r any property, w label Memory, w property content"},
		{"MATCH (m:M) REMEMBER 'text' :Note {mood: 'good'} LINK (m) AS :ABOUT AS n RETURN n.mood", "r access Note.mood, w label Note, r label M, w property content, rw property mood, w type ABOUT"},
		{"RECALL 'text' VIA :T WHERE node.x > 1", "r any property, r property x, r recalled, r type T"},
		{"RECALL 'text'", "r any property, r any type, r recalled"},
		{"FOREACH (x IN [1] | CREATE (:A {x: x}))", "w access A.x, w label A, w property x"},
	} {
		table := usage.New()
		table.Ran(touched(t, table, c.text), 7, time.UnixMilli(1000))
		if got := show(table.Summary()); sorted(got) != sorted(c.want) {
			t.Errorf("%s\ntouches %s\nwant    %s", c.text, got, c.want)
		}
	}
}

func sorted(list string) string {
	return strings.Join(slices.Sorted(slices.Values(strings.Split(list, ", "))), ", ")
}

func TestMomentsAndCounts(t *testing.T) {
	table := usage.New()
	read, write := touched(t, table, "MATCH (n:A) RETURN 1"), touched(t, table, "CREATE (:A)")
	if got := table.Summary(); len(got.Names) != 0 || got.Statements != 0 {
		t.Errorf("before anything ran: %+v", got)
	}
	table.Ran(read, 3, time.UnixMilli(30))
	table.Ran(write, 4, time.UnixMilli(40))
	table.Ran(read, 5, time.UnixMilli(50))
	s := table.Summary()
	want := "[{label A [] {2 {3 30} {5 50}} {1 {4 40} {4 40}}}]"
	if got := fmt.Sprint(s.Names); got != want || s.Statements != 3 || s.Since != (usage.Moment{Seq: 3, At: 30}) {
		t.Errorf("got %s, %d statements since %v\nwant %s", got, s.Statements, s.Since, want)
	}
	if !table.Changed() || table.Changed() {
		t.Error("Changed does not tell what happened since it was asked")
	}
	again := usage.New()
	again.Load(s)
	if again.Changed() {
		t.Error("loading counts as a change")
	}
	again.Ran(touched(t, again, "MATCH (n:A) RETURN 1"), 9, time.UnixMilli(90))
	want = "[{label A [] {3 {3 30} {9 90}} {1 {4 40} {4 40}}}]"
	if got := fmt.Sprint(again.Summary().Names); got != want || again.Summary().Statements != 4 {
		t.Errorf("after loading: %s, want %s", got, want)
	}
}

// TestNamesAreBounded writes more names than there is room for.
func TestNamesAreBounded(t *testing.T) {
	table := usage.New()
	for i := range 10 {
		text := "MATCH (n) WHERE n:L" + fmt.Sprint(i) + "_0"
		for j := 1; j < usage.MaxNames/8; j++ {
			text += fmt.Sprintf("|L%d_%d", i, j)
		}
		table.Ran(touched(t, table, text+" RETURN 1"), 1, time.UnixMilli(1))
	}
	s := table.Summary()
	if len(s.Names) != usage.MaxNames || s.LeftOut != usage.MaxNames/8*10-usage.MaxNames {
		t.Errorf("%d names, %d left out", len(s.Names), s.LeftOut)
	}
}

func TestStatementsCountAtOnce(t *testing.T) {
	table := usage.New()
	read := touched(t, table, "MATCH (n:A) RETURN n.x")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 500 {
				table.Ran(read, uint64(i), time.UnixMilli(int64(i)))
				if i%100 == 0 {
					table.Summary()
				}
			}
		})
	}
	wg.Wait()
	if s := table.Summary(); s.Statements != 2000 || s.Names[0].Reads.Count != 2000 {
		t.Errorf("%+v", s)
	}
}

// BenchmarkRan is what counting adds to a run of a statement with four names.
func BenchmarkRan(b *testing.B) {
	table := usage.New()
	parsed, err := syntax.Parse("MATCH (n:A {id: $id})-[:T]->(m) RETURN m.x")
	if err != nil {
		b.Fatal(err)
	}
	stmt, err := bind.Bind(parsed, nil)
	if err != nil {
		b.Fatal(err)
	}
	read, now := table.Of(stmt), time.UnixMilli(1)
	b.ReportAllocs()
	for b.Loop() {
		table.Ran(read, 1, now)
	}
}
