package importer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"engram"
	"engram/server/importer"
)

// bring imports a text, and of a graph in CSV the edges.
func bring(t *testing.T, db *engram.DB, format, text, edges string, opts importer.Options) (importer.Report, error) {
	t.Helper()
	src := importer.Source{Name: "input", File: strings.NewReader(text)}
	if edges != "" {
		src.Edges = strings.NewReader(edges)
	}
	opts.Format = format
	return importer.Import(context.Background(), db, src, opts)
}

// outcome tells what became of nodes and edges.
func outcome(r importer.Report) string {
	return fmt.Sprint("nodes ", r.Created, r.Updated, r.Same, r.Left, " edges ", r.EdgesCreated, r.EdgesSame, r.EdgesLeft, " transactions ", r.Transactions)
}

// TestAgain imports a file, edits what came of it, and imports a changed one: what
// nobody edited follows the file, all else stays and is told. A dry run tells the same
// before, and changes nothing.
func TestAgain(t *testing.T) {
	for _, c := range []struct {
		format, first, second, firstEdges, secondEdges, read string
	}{
		{
			format: "memories",
			first:  `{"id":"a","text":"one","conversation":"c","session":1}` + "\n" + `{"id":"b","text":"two","speaker":"Ann"}` + "\n" + `{"id":"c","text":"three"}` + "\n" + `{"id":"d","text":"four"}`,
			second: `{"id":"a","text":"ONE","conversation":"c","session":1}` + "\n" + `{"id":"b","text":"TWO","speaker":"Ann"}` + "\n" + `{"id":"c","text":"three"}` + "\n" + `{"id":"e","text":"five"}` + "\n" +
				`{"id":"own","text":"mine"}`,
			read: "MATCH (n) WHERE n.id IN ['a','b','c','d','e','own'] RETURN n.id, n.content, n.speaker, n.note ORDER BY n.id",
		},
		{
			format:      "csv",
			first:       "id,label,content,speaker\na,M,one,\nb,M,two,Ann\nc,M,three,\nd,M,four,\ncc,M,x,\nss,M,x,\n",
			second:      "id,label,content,speaker\na,M,ONE,\nb,M,TWO,Ann\nc,M,three,\ne,M,five,\ncc,M,x,\nss,M,x,\nown,M,mine,\n",
			firstEdges:  "src,dst,type,w\ncc,ss,K,1\nss,a,K,1\n",
			secondEdges: "src,dst,type,w\ncc,ss,K,1\nss,a,K,1\n",
			read:        "MATCH (n) WHERE n.id IN ['a','b','c','d','e','own'] RETURN n.id, n.content, n.speaker, n.note ORDER BY n.id",
		},
	} {
		t.Run(c.format, func(t *testing.T) {
			db := memory(t)
			rows(t, db, "CREATE (:Own {id: 'own', content: 'yours'})")
			first, err := bring(t, db, c.format, c.first, c.firstEdges, importer.Options{})
			if err != nil || first.Created != 6 || first.EdgesCreated != 2 || first.Transactions != 1 {
				t.Fatalf("%+v, %v", first, err)
			}
			again, err := bring(t, db, c.format, c.first, c.firstEdges, importer.Options{})
			if want := "nodes 0 0 6 0 edges 0 2 0 transactions 0"; err != nil || outcome(again) != want {
				t.Errorf("again: %s, want %s; %v", outcome(again), want, err)
			}
			rows(t, db, "MATCH (n {id: 'b'}) SET n.speaker = 'Bob'")
			rows(t, db, "MATCH (n {id: 'a'}) SET n.note = 'added'")
			seq := db.Seq()
			dry, err := bring(t, db, c.format, c.second, c.secondEdges, importer.Options{DryRun: true})
			if err != nil || db.Seq() != seq || dry.Transactions != 0 {
				t.Errorf("a dry run: %d transactions, seq %d after %d: %v", dry.Transactions, db.Seq(), seq, err)
			}
			second, err := bring(t, db, c.format, c.second, c.secondEdges, importer.Options{})
			if want := "nodes 1 1 3 2 edges 0 2 0 transactions 1"; err != nil || outcome(second) != want {
				t.Errorf("changed: %s, want %s; %v", outcome(second), want, err)
			}
			if fmt.Sprint(dry.Problems) != fmt.Sprint(second.Problems) || strings.Replace(outcome(second), "transactions 1", "transactions 0", 1) != outcome(dry) {
				t.Errorf("the dry run told %s %v, and what came was %s %v", outcome(dry), dry.Problems, outcome(second), second.Problems)
			}
			told := fmt.Sprint(second.Problems)
			if !strings.Contains(told, `the node "b" was changed since it was imported`) || !strings.Contains(told, `a node "own" is there that no import made`) {
				t.Errorf("told %s", told)
			}
			want := "'a' 'ONE' null 'added'\n'b' 'two' 'Bob' null\n'c' 'three' null null\n'd' 'four' null null\n'e' 'five' null null\n'own' 'yours' null null\n"
			if got := rows(t, db, c.read); got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestFilesOfOtherColumns: two files speak of the same nodes, each of its own columns. An
// empty cell takes away what the column said, a column that is not there nothing.
func TestFilesOfOtherColumns(t *testing.T) {
	db := memory(t)
	for i, c := range []struct{ nodes, want string }{
		{"id,x,y\na,1,2\n", "1 2 null\n"},
		{"id,z\na,3\n", "1 2 3\n"},
		{"id,z\na,4\n", "1 2 4\n"},
		{"id,x,y\na,,5\n", "null 5 4\n"},
	} {
		r, err := bring(t, db, "csv", c.nodes, "", importer.Options{})
		if err != nil || r.Created+r.Updated != 1 {
			t.Fatalf("%d: %s, %v", i, outcome(r), err)
		}
		if got := rows(t, db, "MATCH (n) RETURN n.x, n.y, n.z"); got != c.want {
			t.Errorf("%d: got %swant %s", i, got, c.want)
		}
		if r, err = bring(t, db, "csv", c.nodes, "", importer.Options{}); err != nil || r.Same != 1 {
			t.Errorf("%d again: %s, %v", i, outcome(r), err)
		}
	}
}

// TestEdgesAreKept imports edges with other properties than those that are there.
func TestEdgesAreKept(t *testing.T) {
	db := memory(t)
	const nodes = "id\na\nb\n"
	for i, c := range []struct{ edges, want string }{
		{"src,dst,type,w\na,b,K,0.5\n", "edges 1 0 0"}, {"src,dst,type,w\na,b,K,0.5\n", "edges 0 1 0"}, {"src,dst,type,w\na,b,K,0.7\nb,a,K,1\n", "edges 1 0 1"},
	} {
		r, err := bring(t, db, "csv", nodes, c.edges, importer.Options{})
		if err != nil || !strings.Contains(outcome(r), c.want) {
			t.Errorf("%d: %s, want %s; %v", i, outcome(r), c.want, err)
		}
		if i == 2 && (len(r.Problems) != 1 || r.Problems[0].Line != 2 || !strings.Contains(r.Problems[0].Reason, "there with other w; it is left as it is")) {
			t.Errorf("told %v", r.Problems)
		}
	}
	if got := rows(t, db, "MATCH (a)-[r]->() RETURN a.id, r.w ORDER BY a.id"); got != "'a' 0.5\n'b' 1.0\n" {
		t.Errorf("got %s", got)
	}
	if _, err := importer.Links(context.Background(), importer.Into(db), strings.NewReader(`{"a":"a","b":"b","type":"K","weight":1}`), importer.Options{}); err != nil {
		t.Fatal(err)
	}
	rows(t, db, "MATCH ({id: 'a'})-[r]->() SET r.weight = 0.25")
	if _, err := importer.Links(context.Background(), importer.Into(db), strings.NewReader(`{"a":"a","b":"b","type":"K","weight":1}`), importer.Options{}); err != nil {
		t.Fatal(err)
	}
	if got := rows(t, db, "MATCH ({id: 'a'})-[r]->() RETURN r.weight"); got != "0.25\n" {
		t.Errorf("links have overwritten a weight: %s", got)
	}
}

// TestBadLines has lines that cannot be understood in each format that has lines: they
// are told with their numbers and end the import without a trace, or are left out when
// that is asked for. The rest is what the file without them gives.
func TestBadLines(t *testing.T) {
	for _, c := range []struct {
		name, format, text, edges, good, goodEdges, first string
		bad                                               []int
	}{
		{
			name: "memories", format: "memories",
			text: `{"id":"a","text":"1"}` + "\nnot json\n" + `{"id":"b","text":"2"}` + "\n" + `{"id":"c"}` + "\n" + `{"id":"a","text":"other"}` + "\n" + `{"id":"d","text":"4","x":1}`,
			good: `{"id":"a","text":"1"}` + "\n" + `{"id":"b","text":"2"}`, bad: []int{2, 4, 5, 6}, first: "line 2: not JSON",
		},
		{
			name: "csv nodes", format: "csv",
			text: "id,n:int,s,v\na,1,x,1\nb,x,y,true\nc,2\n,3,z,1\na,4,w,1\nd,5,\"q\" r,1\ne,6,caf\xe9,1\nf,7,ok,2\n",
			good: "id,n:int,s,v\na,1,x,1\nf,7,ok,2\n", bad: []int{3, 4, 5, 6, 7, 8}, first: `nodes: line 3: column n: "x" is no integer`,
		},
		{
			name: "csv edges", format: "csv", text: "id\na\nb\n", good: "id\na\nb\n",
			edges:     "src,dst,type,w:float\na,b,K,1\na,,K,1\na,b,,1\na,zz,K,1\nyy,b,K,1\na,b,L,much\nb,a,K,2\nb,a\n",
			goodEdges: "src,dst,type,w:float\na,b,K,1\nb,a,K,2\n", bad: []int{3, 4, 5, 6, 7, 9}, first: "edges: line 3: an end of the edge is empty",
		},
		{
			name: "jsonl", format: "jsonl",
			text: `{"node":{"id":"a"}}` + "\n{\n" + `{"node":{"id":"b"}}` + "\n" + `{"edge":{"type":"T","start":"a","end":"zz"}}` + "\n" + `{"edge":{"type":"T","start":"a","end":"b"}}` + "\n" + `{"node":{"id":"a"}}`,
			good: `{"node":{"id":"a"}}` + "\n" + `{"node":{"id":"b"}}` + "\n" + `{"edge":{"type":"T","start":"a","end":"b"}}`, bad: []int{2, 4, 6}, first: "line 2: ",
		},
		{
			name: "memory", format: "memory",
			text: `{"type":"entity","name":"A","entityType":"t","observations":["o"]}` + "\n{\"type\":\"entity\"}\nno\n" + `{"type":"relation","from":"A","to":"A","relationType":"r"}`,
			good: `{"type":"entity","name":"A","entityType":"t","observations":["o"]}` + "\n" + `{"type":"relation","from":"A","to":"A","relationType":"r"}`, bad: []int{2, 3}, first: "line 2: want",
		},
	} {
		for _, before := range []string{"", "CREATE (:Before {id: 'before'})"} {
			t.Run(c.name+" "+before, func(t *testing.T) {
				db, want := memory(t), memory(t)
				if before != "" {
					rows(t, db, before)
					rows(t, want, before)
				}
				_, err := bring(t, db, c.format, c.text, c.edges, importer.Options{})
				var line *importer.LineError
				if !errors.As(err, &line) || line.Line != c.bad[0] || !strings.HasPrefix(err.Error(), c.first) {
					t.Errorf("%v, want %s of line %d", err, c.first, c.bad[0])
				}
				if got := rows(t, db, "MATCH (n) WHERE n.id <> 'before' RETURN count(n)"); got != "0\n" {
					t.Errorf("it left %s", got)
				}
				for _, opts := range []importer.Options{{DryRun: true, SkipBad: true}, {SkipBad: true}} {
					report, err := bring(t, db, c.format, c.text, c.edges, opts)
					if err != nil || report.Skipped != len(c.bad) {
						t.Fatalf("%d skipped, want %d: %v\n%v", report.Skipped, len(c.bad), err, report.Problems)
					}
					lines := map[int]bool{}
					for _, p := range report.Problems {
						lines[p.Line] = lines[p.Line] || strings.HasSuffix(p.Reason, "; it is skipped")
					}
					for _, n := range c.bad {
						if !lines[n] {
							t.Errorf("line %d is not told: %v", n, report.Problems)
						}
					}
				}
				if _, err := bring(t, want, c.format, c.good, c.goodEdges, importer.Options{}); err != nil {
					t.Fatal(err)
				}
				if got, want := export(t, db), export(t, want); got != want {
					t.Errorf("got\n%s\nwant\n%s", got, want)
				}
			})
		}
	}
}

// TestSameIDInTwoConversations is refused before anything is written, unless each has a
// namespace of its own.
func TestSameIDInTwoConversations(t *testing.T) {
	const text = `{"id":"a","text":"1","conversation":"x"}` + "\n" + `{"id":"a","text":"2","conversation":"y"}`
	db := memory(t)
	_, err := bring(t, db, "memories", text, "", importer.Options{Batch: 1})
	if got := rows(t, db, "MATCH (n) RETURN count(n)"); err == nil || got != "0\n" {
		t.Errorf("%v, and %s nodes", err, got)
	}
	other := memory(t)
	open := func(conversation string) (*engram.DB, error) {
		return map[string]*engram.DB{"x": db, "y": other}[conversation], nil
	}
	report, err := importer.ImportLater(context.Background(), open, false, importer.Source{File: strings.NewReader(text)}, importer.Options{Format: "memories", Split: "conversation"})
	if err != nil || report.Memories != 2 || rows(t, other, "MATCH (n:Memory) RETURN n.content") != "'2'\n" {
		t.Errorf("split: %+v, %v", report, err)
	}
	open = func(string) (*engram.DB, error) { return nil, nil }
	report, err = importer.ImportLater(context.Background(), open, true, importer.Source{File: strings.NewReader(text)}, importer.Options{Format: "memories", Split: "conversation", DryRun: true})
	if err != nil || report.Memories != 2 || report.Created != 4 {
		t.Errorf("a dry run: %+v, %v", report, err)
	}
}

// TestCreatedAndOrigin: what a file knows of when something was made is when the memory
// was created, and all of it is told to be of an import.
func TestCreatedAndOrigin(t *testing.T) {
	for format, c := range map[string]struct{ text, want string }{
		"memories":  {`{"id":"m","text":"t","date":"2024-05-01"}` + "\n" + `{"id":"n","text":"t","date":"then"}`, "'m' 'import' '2024-05-01T00:00Z'\n'n' 'import' null\n"},
		"openai":    {seeds["openai"], "'message:c/m' 'import' '1970-01-01T00:00:01.5Z'\n"},
		"anthropic": {seeds["anthropic"], "'message:u/m' 'import' '2024-05-01T10:00Z'\n"},
		"markdown":  {"---\ncreated: 2024-05-01\n---\nx", "'input.md' 'import' '2024-05-01T00:00Z'\n"},
		"memory":    {`{"type":"entity","name":"A","entityType":"t","observations":[]}`, "'entity:A' 'import' null\n"},
	} {
		db := memory(t)
		src := importer.Source{Name: "input", File: strings.NewReader(c.text)}
		if format == "markdown" {
			src.Name = "input.md"
		}
		if _, err := importer.Import(context.Background(), db, src, importer.Options{Format: format}); err != nil {
			t.Fatal(err)
		}
		if got := rows(t, db, "MATCH (n) WHERE NOT n:Conversation RETURN n.id, n.origin, n.created_at ORDER BY n.id"); got != c.want {
			t.Errorf("%s: got %swant %s", format, got, c.want)
		}
	}
}
