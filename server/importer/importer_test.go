package importer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"

	"engram"
	"engram/server/importer"
)

// memory opens an empty database.
func memory(t *testing.T) *engram.DB {
	t.Helper()
	db, err := engram.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func rows(t *testing.T, db *engram.DB, text string) string {
	t.Helper()
	res, err := db.Query(context.Background(), text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, row := range res.Rows {
		for i, v := range row {
			if i > 0 {
				b.WriteString(" ")
			}
			b.WriteString(v.String())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// stream reads once: it hides that a text can be read again.
type stream struct{ io.Reader }

func TestStreamKeepsWhatStandsBeforeABrokenLine(t *testing.T) {
	const text = `{"id":"a","text":"one"}
{"id":"b","text":"two"}
{"id":"c"}`
	for _, c := range []struct {
		name string
		from io.Reader
		want string
	}{{"stream", stream{strings.NewReader(text)}, "2\n"}, {"file", strings.NewReader(text), "0\n"}} {
		db := memory(t)
		report, err := importer.Memories(context.Background(), db, c.from, importer.Options{Batch: 1})
		var line *importer.LineError
		if !errors.As(err, &line) || line.Line != 3 {
			t.Errorf("%s: %v, want an error of line 3", c.name, err)
		}
		if got := rows(t, db, "MATCH (m:Memory) RETURN count(m)"); got != c.want || fmt.Sprintln(report.Transactions) != c.want {
			t.Errorf("%s: %s memories after %d transactions, want %s", c.name, got, report.Transactions, c.want)
		}
	}
}

func TestCallbacks(t *testing.T) {
	var got []string
	const text = "{\"id\":\"a\",\"text\":\"1\"}\n{\"id\":\"b\",\"text\":\"2\"}\n{\"id\":\"c\",\"text\":\"3\"}\n"
	_, err := importer.Memories(context.Background(), memory(t), strings.NewReader(text), importer.Options{
		Batch:    2,
		Begin:    func(lines int) { got = append(got, fmt.Sprint("begin ", lines)) },
		Ack:      func(_ uint64, lines int) { got = append(got, fmt.Sprint("ack ", lines)) },
		Progress: func(bytes int64) { got = append(got, fmt.Sprint("read ", bytes)) },
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"begin 2", "ack 2", "read 44", "begin 3", "ack 3", "read 66"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("called %q, want %q", got, want)
	}
}

func TestDates(t *testing.T) {
	for text, want := range map[string]string{
		"2024-05-01T10:00:00Z":            "'2024-05-01T10:00Z'",
		"2024-05-01T10:00:00.5+02:00":     "'2024-05-01T10:00:00.5+02:00'",
		"2024-05-01 10:00:00+02:00":       "'2024-05-01T10:00+02:00'",
		"Wed, 01 May 2024 10:00:00 +0200": "'2024-05-01T10:00+02:00'",
		"2024-05-01T10:00:00":             "'2024-05-01T10:00'",
		" 2024-05-01 10:00 ":              "'2024-05-01T10:00'",
		"1:56 pm on 8 May, 2023":          "'2023-05-08T13:56'",
		"2024-05-01":                      "'2024-05-01'",
		"2024/05/01":                      "'2024-05-01'",
		"8 May 2023":                      "'2023-05-08'",
		"8 May, 2023":                     "'2023-05-08'",
		"May 8, 2023":                     "'2023-05-08'",
		"5/1/2024":                        "'5/1/2024'",
		"CACM December, 1958":             "'CACM December, 1958'",
		"2024-02-30":                      "'2024-02-30'",
	} {
		db := memory(t)
		line := fmt.Sprintf(`{"id":"a","text":"t","date":%q}`, text)
		report, err := importer.Memories(context.Background(), db, strings.NewReader(line), importer.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(rows(t, db, "MATCH (m) RETURN m.date"))
		isText := strings.TrimSpace(rows(t, db, "MATCH (m) RETURN m.date = '"+strings.Trim(want, "'")+"'")) == "true"
		if got != want || isText != (report.ProblemCount == 1) {
			t.Errorf("%q became %s (text %v) with %d problems, want %s", text, got, isText, report.ProblemCount, want)
		}
	}
}

func TestProblemsAreBounded(t *testing.T) {
	var b strings.Builder
	for i := range 50 {
		fmt.Fprintf(&b, `{"id":"m%d","text":"t","date":"then"}`+"\n", i)
	}
	report, err := importer.Memories(context.Background(), memory(t), strings.NewReader(b.String()), importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.ProblemCount != 50 || len(report.Problems) != importer.MaxProblems || report.Problems[19].Line != 20 {
		t.Errorf("%d problems, %d listed", report.ProblemCount, len(report.Problems))
	}
}

func TestNotUTF8(t *testing.T) {
	_, err := importer.Memories(context.Background(), memory(t), strings.NewReader("{\"id\":\"a\",\"text\":\"caf\xe9\"}"), importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "line 1: the text is not UTF-8") {
		t.Errorf("memories: %v", err)
	}
	_, err = importer.Graph(context.Background(), memory(t), strings.NewReader("id,name\n1,caf\xe9\n"), nil, importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "line 2: column name: the text is not UTF-8") {
		t.Errorf("graph: %v", err)
	}
}

// TestInference tells what a column of untyped cells becomes: one kind for all.
func TestInference(t *testing.T) {
	for _, c := range []struct{ cells, want string }{
		{"1|-2|0", "1 -2 0"},
		{"1|2.5", "1.0 2.5"},
		{"2.5|1", "2.5 1.0"},
		{"1e3|-0.5", "1000.0 -0.5"},
		{"true|false", "true false"},
		{"true|1", "'true' '1'"},
		{"1|true", "'1' 'true'"},
		{"1|x", "'1' 'x'"},
		{"x|1", "'x' '1'"},
		{"1.5|true", "'1.5' 'true'"},
		{"007|8", "'007' '8'"},
		{"+49|1", "'+49' '1'"},
		{"1|12345678901234567890", "'1' '12345678901234567890'"},
		{"9223372036854775807|1", "9223372036854775807 1"},
		{"NaN|1.5", "'NaN' '1.5'"},
		{"0x10|1", "'0x10' '1'"},
		{"01.5|2.5", "'01.5' '2.5'"},
		{"True|False", "'True' 'False'"},
		{"|1", "null 1"},
		{"|", "null null"},
		{"2024-05-01|x", "'2024-05-01' 'x'"},
	} {
		db := memory(t)
		var b strings.Builder
		b.WriteString("id,v\n")
		for i, cell := range strings.Split(c.cells, "|") {
			fmt.Fprintf(&b, "%d,%s\n", i, cell)
		}
		if _, err := importer.Graph(context.Background(), db, strings.NewReader(b.String()), nil, importer.Options{}); err != nil {
			t.Fatalf("%s: %v", c.cells, err)
		}
		got := strings.ReplaceAll(strings.TrimSpace(rows(t, db, "MATCH (n) RETURN n.v ORDER BY n.id")), "\n", " ")
		if got != c.want {
			t.Errorf("%s became %s, want %s", c.cells, got, c.want)
		}
	}
}

// TestBulkAndMergeAgree imports the same files into an empty namespace and into
// one that holds a node already: the graphs must be equal.
func TestBulkAndMergeAgree(t *testing.T) {
	const nodes = "id,label,name,age:int,tags:string[]\na,P;Q,\"x\ny\",1,u;v\nb,,,,\nc,P,z,3,\n"
	const edges = "src,dst,type,w\na,b,K,0.5\nb,c,K,1\na,b,K,9\nc,c,SELF,\n"
	const all = "MATCH (n) WHERE n.id <> 'before' OPTIONAL MATCH (n)-[r]->(m) RETURN n, type(r), properties(r), m.id ORDER BY n.id, type(r), m.id"
	var got [2]string
	var reports [2]importer.Report
	for i := range got {
		db := memory(t)
		if i == 1 {
			rows(t, db, "CREATE ({id: 'before'})")
		}
		for range 2 {
			report, err := importer.Graph(context.Background(), db, strings.NewReader(nodes), strings.NewReader(edges), importer.Options{Batch: 2})
			if err != nil {
				t.Fatal(err)
			}
			reports[i] = report
		}
		got[i] = rows(t, db, all)
	}
	if got[0] != got[1] {
		t.Errorf("in bulk:\n%smerged:\n%s", got[0], got[1])
	}
	if strings.Count(got[0], "\n") != 3 || !strings.Contains(got[0], "'K' {w: 0.5} 'b'") {
		t.Errorf("unexpected graph:\n%s", got[0])
	}
	if r := reports[1]; r.Nodes != 3 || r.Edges != 3 || r.ProblemCount != 1 {
		t.Errorf("report %+v", r)
	}
}

func TestEmptyEndsAndCancel(t *testing.T) {
	_, err := importer.Graph(context.Background(), memory(t), strings.NewReader("id\na\n"), strings.NewReader("src,dst,type\na,,K\n"), importer.Options{})
	if err == nil || !strings.Contains(err.Error(), "line 2: an end of the edge is empty") {
		t.Errorf("an empty end: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	db := memory(t)
	if _, err := importer.Graph(ctx, db, strings.NewReader("id\na\n"), nil, importer.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	if got := rows(t, db, "MATCH (n) RETURN count(n)"); got != "0\n" {
		t.Errorf("a canceled import left %s nodes", got)
	}
}

func TestLinksScaleByTheLargest(t *testing.T) {
	db := memory(t)
	rows(t, db, "CREATE ({id: 'a'}), ({id: 'b'})")
	report, err := importer.Links(context.Background(), importer.Into(db), strings.NewReader(
		`{"a":"a","b":"b","type":"refers-to","weight":0.5}
{"a":"b","b":"a","type":"refers to","weight":2}
{"a":"a","b":"b"}`), importer.Options{})
	if err != nil {
		t.Fatal(err)
	}
	want := "'a' 'REFERS_TO' 0.25 'b'\n'a' 'RELATED' 1.0 'b'\n'b' 'REFERS_TO' 1.0 'a'\n"
	if got := rows(t, db, "MATCH (a)-[r]->(b) RETURN a.id, type(r), r.weight, b.id ORDER BY a.id, type(r)"); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if report.Edges != 3 || report.String() != "3 edges, 2 transactions" {
		t.Errorf("report %s", report)
	}
	if _, err := importer.Links(context.Background(), importer.Into(db), strings.NewReader(`{"a":"a","b":"b","weight":-1}`), importer.Options{}); err == nil ||
		!strings.Contains(err.Error(), "line 1: the weight is -1, want 0 or more") {
		t.Errorf("a negative weight: %v", err)
	}
}
