package engram_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"engram"
	"engram/graph/value"
)

// auditNow is the clock of the tests of audits.
func auditNow() time.Time { return time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC) }

func auditDB(t *testing.T, statements ...string) *engram.DB {
	t.Helper()
	db, err := engram.OpenMemory(&engram.Options{Now: auditNow})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, s := range statements {
		query(t, db, s, nil)
	}
	return db
}

// found is one finding as a statement sees it.
type found struct {
	status, note string
	ids          []string // of its nodes
	edges        []string // from-TYPE->to
	measured     map[string]string
	parts        []string
	statements   []string
}

// look audits one finding by the clause.
func look(t *testing.T, db *engram.DB, finding string) found {
	t.Helper()
	res := query(t, db, "AUDIT STRUCTURE ONLY "+finding+` WITH {limit: 10000, min_statements: 2} SUGGEST YIELD status, note, nodes, relationships, measured, parts, statement
		RETURN status, note, [n IN nodes | n.id] AS ids, [r IN relationships | startNode(r).id + '-' + type(r) + '->' + endNode(r).id] AS edges, measured,
			[p IN parts | p.group + ': ' + p.name + ' (' + p.count + '): ' + coalesce(p.note, '')] AS parts, statement`, nil)
	if len(res.Rows) == 0 {
		t.Fatalf("no row for %s", finding)
	}
	f := found{measured: map[string]string{}}
	row := res.Rows[0]
	f.status, f.note = row[0].AsString(), row[1].AsString()
	for _, v := range row[2].AsList() {
		f.ids = append(f.ids, v.AsString())
	}
	for _, v := range row[3].AsList() {
		f.edges = append(f.edges, v.AsString())
	}
	for _, e := range row[4].AsMap().Entries {
		f.measured[e.Key] = e.Value.String()
	}
	for _, v := range row[5].AsList() {
		f.parts = append(f.parts, v.AsString())
	}
	for _, r := range res.Rows {
		if !r[6].IsNull() {
			f.statements = append(f.statements, r[6].AsString())
		}
	}
	return f
}

// planted is a graph with defects and near misses, and what a finding has to say of it.
type plantedCase struct {
	finding string
	// load is what an import brings, which no statement could make: nodes with the
	// label Memory by id and status, then edges SUPERSEDES.
	load     *imported
	setup    []string
	status   string
	ids      []string // exactly those
	edges    []string
	measured map[string]string // some of them
	note     string            // a part of it
	parts    []string          // exactly those, as group: name (count): note; nil: not looked at
	first    string            // the statement that is suggested first; "": not looked at
	// healed is the status after the suggested statements were run; "": none are.
	healed string
}

type imported struct {
	memories [][2]string // id and status
	newer    [][2]string // ids of the newer and the older one
}

func (i *imported) into(t *testing.T, db *engram.DB) {
	t.Helper()
	if i == nil {
		return
	}
	l, err := db.Load(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Abort()
	ids := map[string]engram.NodeID{}
	for _, m := range i.memories {
		ids[m[0]], err = l.Node([]string{"Memory"}, []engram.Prop{
			{Key: "id", Value: value.String(m[0])}, {Key: "content", Value: value.String("about " + m[0])}, {Key: "status", Value: value.String(m[1])},
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range i.newer {
		if _, err := l.Edge(ids[e[0]], ids[e[1]], "SUPERSEDES", nil); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestFindingsNameWhatWasPlanted(t *testing.T) {
	for _, c := range plantedCases() {
		t.Run(c.finding+"/"+c.note, func(t *testing.T) {
			db := auditDB(t)
			c.load.into(t, db)
			for _, s := range c.setup {
				query(t, db, s, nil)
			}
			f := look(t, db, c.finding)
			if f.status != c.status || !strings.Contains(f.note, c.note) {
				t.Errorf("it is %s: %s\nwant %s: ...%s...", f.status, f.note, c.status, c.note)
			}
			if !slices.Equal(f.ids, c.ids) || !slices.Equal(f.edges, c.edges) {
				t.Errorf("it names %v %v, want %v %v", f.ids, f.edges, c.ids, c.edges)
			}
			if c.parts != nil && !slices.Equal(f.parts, c.parts) {
				t.Errorf("its parts are\n%s\nwant\n%s", strings.Join(f.parts, "\n"), strings.Join(c.parts, "\n"))
			}
			for _, name := range slices.Sorted(maps.Keys(c.measured)) {
				if f.measured[name] != c.measured[name] {
					t.Errorf("%s is %s, want %s", name, f.measured[name], c.measured[name])
				}
			}
			if c.healed == "" {
				return
			}
			if len(f.statements) == 0 {
				t.Fatal("nothing is suggested")
			}
			if c.first != "" && f.statements[0] != c.first {
				t.Errorf("it suggests first %s, want %s", f.statements[0], c.first)
			}
			for _, s := range f.statements {
				query(t, db, s, nil)
			}
			if after := look(t, db, c.finding); after.status != c.healed || len(after.ids) > 0 {
				t.Errorf("after\n%s\nit is %s: %s %v", strings.Join(f.statements, "\n"), after.status, after.note, after.ids)
			}
		})
	}
}

// graphCases are those of findings about the graph whose suggestions can be run; what
// they find is tested in package audit.
func graphCases() []plantedCase {
	return []plantedCase{
		{
			finding: "typed_edge_distribution", setup: []string{"CREATE (:A)-[:RELATD {weight: 0.5}]->(:B)-[:RELATED]->(:C)"},
			status: "notice", note: "RELATD (1 edge) is one letter off RELATED", healed: "ok",
		},
		{
			finding: "orphans_and_dangling", setup: []string{
				"CREATE (:Memory {id: 'lone', content: 'the boat leaves the harbour at noon'}), (:Memory {id: 'm1', content: 'a boat in the harbour'})-[:RELATED]->(:Memory {id: 'm2', content: 'tea'})",
			},
			status: "notice", ids: []string{"lone"}, note: "No walk reaches or leaves 1 node", healed: "ok",
		},
		{
			finding: "duplicates", setup: []string{
				"CREATE (:Memory {id: 'd1', content: 'the boat leaves the harbour at noon'}), (:Memory {id: 'd2', content: 'the boat leaves the harbour at noon'}), (:Note {id: 'd3', content: 'the boat leaves the harbour at noon'})",
			},
			status: "notice", ids: []string{"d1", "d2"}, note: "2 nodes in 1 group", healed: "ok",
		},
	}
}

func plantedCases() []plantedCase {
	return slices.Concat(graphCases(), shapeCases(), selfCases(), supersessionCases(), tierCases(), valueCases(), wonderCases(), driftCases(), provenanceCases())
}

func selfCases() []plantedCase {
	const declared = `MATCH (s {id: 'self'}), (p {id: 'care'}), (q {id: 'craft'})
		DECLARE SELF s DECLARE PILLAR p AS 'care' DECLARE PILLAR q AS 'craft'`
	whole := []string{
		`CREATE (s:Self {id: 'self', content: 'I remember'})-[:CONTAINS]->(:Pillar {id: 'care', content: 'people first'})-[:RELATED]->(:Note {id: 'n1'})-[:ABOUT]->(:Note {id: 'far'}),
		(s)-[:RELATED]->(:Note {id: 'n2'})<-[:CAUSES]-(:Pillar {id: 'craft', content: 'work well'}), (:Note {id: 'apart'})`,
		declared,
	}
	return []plantedCase{
		{
			finding: "self_model_connectivity", setup: []string{"CREATE (:Self {id: 'self'})"}, status: "deferred",
			note: "No self and no pillar is declared",
		},
		{
			finding: "self_model_connectivity", setup: []string{"CREATE (s:Self {id: 'self'}) DECLARE SELF s"}, status: "notice",
			ids: []string{"self"}, note: "The self has no edge", measured: map[string]string{"self_degree": "0", "slice_nodes": "0"},
		},
		{
			finding: "self_model_connectivity", setup: whole, status: "ok", note: "reaches all of its 2 pillars",
			measured: map[string]string{
				"self_present": "1", "self_degree": "2", "pillars_present": "2", "pillars_reached": "2",
				"slice_nodes": "4", "slice_types": "3", "reached_nodes": "5",
			},
		},
		{
			finding: "self_model_connectivity", setup: append(whole[:2:2], "MATCH (p {id: 'craft'})-[r]-() DELETE r"),
			status: "notice", ids: []string{"craft"}, note: "No walk leads from the self to the pillar 'craft'", healed: "ok",
			measured: map[string]string{"pillars_present": "2", "pillars_reached": "1"},
		},
		{
			finding: "self_model_connectivity", setup: append(whole[:2:2], "RECORD AUDIT", "MATCH (p {id: 'care'}) DETACH DELETE p"),
			status: "defect", note: "The pillar 'care' is declared no more, as it was at the last RECORD AUDIT", healed: "ok",
		},
		{
			finding: "self_model_connectivity", setup: append(whole[:2:2], "RECORD AUDIT", "MATCH (p {id: 'self'}) DETACH DELETE p"),
			status: "defect", note: "The self 'self', whose node is gone, is declared no more", healed: "notice",
		},
		{
			finding: "self_model_connectivity", setup: append(whole[:2:2], "MATCH (p {id: 'care'}) SET p.content = ' '", "FORGET 'craft'"),
			status: "notice", ids: []string{"care", "craft"}, note: "The pillar 'care' says nothing; the pillar 'craft' is forgotten",
		},
	}
}

func supersessionCases() []plantedCase {
	chain := []string{
		`CREATE (:Memory {id: 'v1', content: 'one'}), (:Memory {id: 'v2', content: 'two'}), (:Memory {id: 'v3', content: 'three'})`,
		"SUPERSEDE 'v1' BY 'v2'", "SUPERSEDE 'v2' BY 'v3'",
	}
	return []plantedCase{
		{finding: "supersession", setup: []string{"CREATE (:Memory {id: 'm'})"}, status: "ok", note: "Nothing was superseded"},
		{
			finding: "supersession", setup: chain, status: "ok", note: "recall leaves it out",
			measured: map[string]string{"superseded": "2", "chains": "1", "longest_chain": "3", "circles": "0", "still_recalled": "0"},
		},
		{ // the edges at the top of the chain come first
			finding: "supersession", setup: []string{
				"CREATE (:Memory {id: 'w1'}), (:Memory {id: 'w2'}), (:Memory {id: 'w3'}), (:Memory {id: 'w4'})",
				"SUPERSEDE 'w2' BY 'w1'", "SUPERSEDE 'w3' BY 'w2'", "SUPERSEDE 'w4' BY 'w3'",
			},
			status: "ok", note: "one successor that holds", measured: map[string]string{"chains": "1", "longest_chain": "4"},
		},
		{
			finding: "supersession", load: &imported{
				[][2]string{{"v1", "active"}, {"v2", "superseded"}, {"v3", "active"}, {"f1", "forgotten"}, {"f2", "active"}},
				[][2]string{{"v2", "v1"}, {"v3", "v2"}, {"f2", "f1"}},
			},
			status: "notice", ids: []string{"v1"}, note: "a superseded memory that recall still finds", healed: "ok",
		},
		{
			finding: "supersession", load: &imported{
				[][2]string{{"v1", "superseded"}, {"v2", "superseded"}, {"v3", "superseded"}, {"below", "superseded"}, {"above", "active"}},
				[][2]string{{"v2", "v1"}, {"v3", "v2"}, {"above", "v3"}, {"v1", "below"}, {"v1", "v3"}},
			},
			status: "defect", ids: []string{"v1", "v2", "v3"}, note: "a circle of memories", healed: "ok",
			first:    "MATCH ({id: 'v1'})-[r:SUPERSEDES]->({id: 'v3'}) DELETE r", // the newest edge
			measured: map[string]string{"circles": "1"},
		},
		{
			finding: "supersession", load: &imported{[][2]string{{"v1", "superseded"}, {"w1", "superseded"}, {"w2", "active"}}, [][2]string{{"w2", "w1"}}},
			status: "notice", ids: []string{"v1"}, note: "a memory that says it was superseded, by nothing that is there", healed: "ok",
		},
		{
			finding: "supersession", setup: append(chain[:1:1], "CREATE (:Memory {id: 'gone'}), (:Memory {id: 'w1'}), (:Memory {id: 'w2'})",
				"CONTRADICT 'v1' WITH 'v2'", "CONTRADICT 'v3' WITH 'gone'", "FORGET 'gone'", "CONTRADICT 'w1' WITH 'w2'", "RESOLVE 'w1' OVER 'w2'"),
			status: "notice", edges: []string{"v1-CONTRADICTS->v2"}, note: "a contradiction that nobody settled", healed: "ok",
		},
	}
}

func tierCases() []plantedCase {
	return []plantedCase{
		{finding: "tiers_and_decay", setup: []string{"CREATE (:Memory {id: 'm'})"}, status: "ok", note: "No node has a tier"},
		{
			finding: "tiers_and_decay", setup: []string{"CREATE (:Memory {id: 'm', content: 'a', tier: 'Working'})"}, status: "ok",
			note: "1 does not say when it was created", measured: map[string]string{"stuck_working": "null", "without_creation_time": "1"},
		},
		{
			finding: "tiers_and_decay",
			setup: []string{`CREATE
				(:Memory {id: 'stuck', content: 'old', tier: 'Working', created_at: datetime('2026-04-01T00:00Z')}),
				(:Memory {id: 'young', content: 'new', tier: 'Working', created_at: datetime('2026-05-20T00:00Z')}),
				(:Memory {id: 'used', content: 'kept', tier: 'Working', created_at: datetime('2026-04-01T00:00Z'), last_used: datetime('2026-05-30T00:00Z')}),
				(:Memory {id: 'forgotten', content: 'let go', tier: 'Working', status: 'forgotten', created_at: datetime('2026-04-01T00:00Z')}),
				(:Telemetry {id: 'trace', content: 'x', tier: 'Working', created_at: datetime('2026-04-01T00:00Z')}),
				(:Memory {id: 'episode', content: 'a day', tier: 'Episodic', created_at: datetime('2024-04-01T00:00Z')}),
				(:Memory {id: 'odd', content: 'b', tier: 'working', created_at: datetime('2026-05-31T00:00Z')}),
				(:Memory {id: 'mute', tier: 'Canonical', created_at: datetime('2026-05-31T00:00Z')}),
				(:Memory {id: 'linked', tier: 'Canonical'})-[:RELATED]->(:Topic {id: 'topic'})`},
			status: "notice", ids: []string{"stuck", "odd", "mute"}, note: "1 Working memory was not used for 30 days", healed: "ok",
			measured: map[string]string{"memories": "8", "stuck_working": "1", "never_promoted": "2", "without_creation_time": "1", "held_back": "0"},
		},
	}
}

func valueCases() []plantedCase {
	predictions := func(n int) string {
		return fmt.Sprintf("UNWIND range(1, %d) AS i CREATE (:Prediction {id: 'p' + i, confidence: 0.5})", n)
	}
	values := []string{
		predictions(30),
		`CREATE (:Value {id: 'held', content: 'a'})<-[:EXEMPLIFIES]-(:Execution {id: 'e1'}),
		(:Value {id: 'broken', content: 'b'})<-[:CONTRADICTS]-(:Execution {id: 'e2'}),
		(:Value {id: 'idle', content: 'c'})<-[:EXEMPLIFIES]-(:Note {id: 'n1'}),
		(:Value {id: 'foreseen', content: 'd'}), (:Value {id: 'failed', content: 'e'}), (:Value {id: 'unknown', content: 'f'})`,
		`MATCH (p {id: 'p1'}), (v {id: 'foreseen'}) SET p.outcome = true, p.confidence = 0.75 CREATE (p)-[:REFERENCES]->(v)`,
		`MATCH (p {id: 'p2'}), (v {id: 'failed'}) SET p.outcome = false, p.confidence = 0.5 CREATE (p)-[:REFERENCES]->(v)`,
		`MATCH (p {id: 'p3'}), (v {id: 'unknown'}) CREATE (p)-[:REFERENCES]->(v)`,
	}
	return []plantedCase{
		{
			finding: "value_execution_consistency", setup: []string{predictions(29), "CREATE (:Value {id: 'v'})"}, status: "deferred",
			note: "It takes 30 predictions, of which there are 29", measured: map[string]string{"predictions": "29"},
		},
		{
			finding: "value_execution_consistency", setup: values, status: "notice", ids: []string{"broken", "idle", "failed", "unknown"},
			note: "Of 6 values, 2 conflict", measured: map[string]string{
				"supported": "2", "conflicting": "2", "untested": "2", "predictions_with_outcome": "2", "came_true": "0.5", "brier": "0.15625",
			},
		},
		{
			finding: "value_execution_consistency", setup: append(values[:4:4], "MATCH (v:Value) WHERE v.id <> 'held' AND v.id <> 'foreseen' DETACH DELETE v"),
			status: "ok", note: "Of 2 values, 2 are supported",
		},
	}
}

// questions makes open questions with the given pulls and uncertainties.
func questions(pull, doubt []float64) string {
	return fmt.Sprintf(`UNWIND range(0, %d) AS i CREATE (:OpenQuestion {id: 'q' + i, pull: %v[i]})-[:REFERENCES]->(:Prediction {uncertainty: %v[i]})`,
		len(pull)-1, strings.ReplaceAll(fmt.Sprint(pull), " ", ","), strings.ReplaceAll(fmt.Sprint(doubt), " ", ","))
}

func wonderCases() []plantedCase {
	up, same := make([]float64, 30), make([]float64, 30)
	follows, apart := make([]float64, 30), make([]float64, 30)
	for i := range up {
		n := i + 1
		up[i], same[i] = float64(n), 1
		follows[i] = float64(n/2+n*5%7) / 100
		apart[i] = float64(n*7%30+n/3) / 100
	}
	// rho and p by an independent computation: ranks with ties, the density integrated.
	return []plantedCase{
		{
			finding: "wonder_authenticity", setup: []string{questions(up[:29], follows[:29]), "CREATE (:OpenQuestion {pull: 3}), (:OpenQuestion)-[:REFERENCES]->(:Prediction {uncertainty: 0.1})"},
			status: "deferred", note: "There are 29 pairs", measured: map[string]string{"pairs": "29", "open_questions": "31"},
		},
		{
			finding: "wonder_authenticity", setup: []string{questions(up, follows)}, status: "ok",
			note: "rho 0.91, n 30, p 2.6e-12", measured: map[string]string{"rho": "0.9113396423018297"},
		},
		{
			finding: "wonder_authenticity", setup: []string{questions(up, apart)}, status: "notice",
			note: "rho 0.18, n 30, p 0.33",
		},
		{finding: "wonder_authenticity", setup: []string{questions(same, follows)}, status: "notice", note: "All 30 pulls are 1: uniform weights"},
		{finding: "wonder_authenticity", setup: []string{questions(up, same)}, status: "notice", note: "All 30 predictions are equally uncertain"},
	}
}

func driftCases() []plantedCase {
	return []plantedCase{
		{finding: "schema_drift", status: "unknown", note: "No statement was counted"},
		{
			finding: "schema_drift", setup: []string{
				"CREATE (:Person {name: 'Ada', mail: 'a@b'})-[:KNOWS]->(:Person {name: 'Bob'})",
				"MATCH (p:Person)-[:KNOWS]->(q) WHERE p.name = 'Ada' RETURN p.mail, q.name, q.content",
			},
			status: "ok", note: "What the counted statements read was written", parts: []string{},
			measured: map[string]string{"statements": "2", "dead_reads": "0", "moved": "0", "past_owner": "0", "never_read": "0"},
		},
		{
			finding: "schema_drift", setup: []string{
				"CREATE (:Person {name: 'Ada'})-[:KNOWS]->(:Robot {name: 'Bob', volts: 3}), (:Robot)-[:FEEDS]->(:Person)",
				"MATCH (p:Persons)-[:KNOWS|LIKES]->(q) WHERE p.name = 'Ada' RETURN q.nmae, q[$key]",
				"MATCH (p:Person) RETURN p.name",
			},
			status: "notice", note: "3 names are read and nothing ever wrote them; 3 names are there and were never read",
			parts: []string{
				"dead read: label Persons (1): nothing ever wrote it; it is singular or plural of Person",
				"dead read: type LIKES (1): nothing ever wrote it",
				"dead read: property nmae (1): nothing ever wrote it",
				"never read: label Robot (1): no statement that was counted read it",
				"never read: type FEEDS (1): no statement that was counted read it",
				"never read: property volts (1): no statement that was counted read it",
				"computed: q[$key] (1): only a run knows the name",
			},
		},
		{ // the producer of userId writes user_id since; that of total still writes both
			finding: "schema_drift", setup: []string{
				"CREATE (:Order {userId: 1, total: 5})", "CREATE (:Order {user_id: 2, totals: 5, total: 6})",
				"MATCH (o:Order) RETURN o.userId, o.user_id, o.total, o.totals",
			},
			status: "notice", note: "1 name is read whose producer seems to have moved",
			parts: []string{"moved: property userId (1): last written at transaction 2; it differs by hyphens or underscores from user_id, written since transaction 3"},
		},
		{
			finding: "schema_drift", setup: []string{
				"CREATE CONSTRAINT FOR (p:Person) REQUIRE p.email IS UNIQUE", "CREATE (:Person {email: 'a'}), (:Firm {email: 'b'}), (:Person:Firm {email: 'c'})",
				"MATCH (p:Person) RETURN p.email", "MATCH (f:Firm) RETURN f.email", "MATCH (b:Person:Firm) RETURN b.email", "MATCH (x) RETURN x.email",
			},
			status: "notice", note: "1 access goes past the labels", parts: []string{"past owner: Firm.email (2): a constraint declares it for Person"},
		},
	}
}

func provenanceCases() []plantedCase {
	return []plantedCase{
		{
			finding: "provenance", setup: []string{"CREATE (:Memory {id: 'a', content: 'x'}), (:Verdict {id: 'v'})-[:REFERENCES]->(:Memory {id: 'b'})"},
			status: "ok", note: "No memory says where it comes from", measured: map[string]string{"memories": "1", "absent": "1", "present": "0"},
		},
		{
			finding: "provenance", setup: []string{
				`CREATE (:Memory {id: 'told', content: 'a', origin: 'user'}), (:Memory {id: 'bundle', content: 'b', provenance: '{"file": "x.md"}'}),
				(:Memory {id: 'silent', content: 'c'}), (:Memory {id: 'blank', content: 'd', origin: ' '}), (:Memory {id: 'number', content: 'e', source: 7}),
				(:Memory {id: 'torn', content: 'f', provenance: '{"file": '}), (:Topic {id: 'no content'}), (:Telemetry {id: 'trace', content: 'g'}),
				(:Answer {id: 'good', receipt: '{"version": 1, "rows": [{"id": "told", "score": 1}], "seeds": []}'}),
				(:Answer {id: 'lost', receipt: '{"version": 1, "rows": [{"id": "gone", "score": 1}], "seeds": [{"id": "told"}]}'}),
				(:Answer {id: 'odd', receipt: 'yes'}), (:Answer {id: 'bare', receipt: '{"rows": []}'}),
				(:Verdict {id: 'about', content: 'h'})-[:REFERENCES]->(:Memory {id: 'other', content: 'i', origin: 'user'}),
				(:Verdict {id: 'alone'})-[:RELATED]->(:Verdict {id: 'alone too'})`,
			},
			status: "notice", ids: []string{"silent", "blank", "number", "torn", "lost", "odd", "bare", "alone", "alone too"},
			note: "3 memories say it in a way that cannot be read; 1 does not say where it comes from", measured: map[string]string{
				"memories": "7", "present": "3", "absent": "1", "unreadable": "3", "receipts": "4", "receipts_unreadable": "2",
				"receipts_pointing_nowhere": "1", "verdicts_without_candidate": "2",
			},
			parts: []string{
				"present: origin (2): ", "present: provenance (1): ", "unreadable: it begins like JSON and is none (1): ",
				"unreadable: it is a INTEGER, not a STRING (1): ", "unreadable: it is blank (1): ",
			},
		},
	}
}

func TestAuditIsAClause(t *testing.T) {
	db := auditDB(t, "CREATE (:A {id: 'a', x: 1})-[:RELATED]->(:B {id: 'b'}), (:C {id: 'c'})")
	for _, c := range []struct{ text, want string }{
		{"AUDIT STRUCTURE ONLY orphans_and_dangling YIELD finding, nodes UNWIND nodes AS n MATCH (n:C) RETURN finding, n.id", "['orphans_and_dangling' 'c']"},
		{"AUDIT STRUCTURE ONLY orphans_and_dangling, typed_edge_distribution YIELD finding AS f, measured WHERE f STARTS WITH 't' RETURN measured.types", "[1]"},
		{"AUDIT STRUCTURE ONLY orphans_and_dangling YIELD score, nodeCount", "[null 1]"},
		{"UNWIND [1, 2] AS x AUDIT STRUCTURE ONLY orphans_and_dangling YIELD nodeCount RETURN x, nodeCount", "[1 1] [2 1]"},
		{"AUDIT STRUCTURE ONLY orphans_and_dangling WITH $o YIELD nodeCount", "[1]"},
		{"AUDIT STRUCTURE ONLY orphans_and_dangling YIELD finding WITH finding AS f RETURN f", "['orphans_and_dangling']"},
		{"AUDIT STRUCTURE YIELD finding RETURN count(*) > 5", "[true]"},
		{"WITH 1 AS audit, 2 AS structure, 3 AS record RETURN audit + structure + record", "[6]"},
		{"AUDIT STRUCTURE ONLY orphans_and_dangling YIELD nodes UNWIND nodes AS n FORGET n RETURN n.status", "['forgotten']"},
	} {
		res := query(t, db, c.text, map[string]any{"o": map[string]any{"limit": 1}})
		var rows []string
		for _, r := range res.Rows {
			rows = append(rows, fmt.Sprint(r))
		}
		if got := strings.Join(rows, " "); got != c.want {
			t.Errorf("%s\ngives %s\nwant  %s", c.text, got, c.want)
		}
	}
	standalone := query(t, db, "AUDIT STRUCTURE", nil)
	if len(standalone.Columns) != 15 || standalone.Columns[0] != "finding" {
		t.Errorf("columns %v", standalone.Columns)
	}
}

func TestAuditErrors(t *testing.T) {
	db := auditDB(t, "CREATE (:A)")
	for _, c := range []struct {
		text string
		code engram.Code
		says string
	}{
		{"AUDIT STRUCTURE ONLY orphans", engram.CodeSyntaxError, "there is no finding `orphans`"},
		{"AUDIT STRUCTURE ONLY supersesion", engram.CodeSyntaxError, "Did you mean `supersession`?"},
		{"AUDIT STRUCTURE WITH {limt: 3}", engram.CodeSyntaxError, "Did you mean `limit`?"},
		{"AUDIT STRUCTURE WITH $o", engram.CodeSyntaxError, "Did you mean `cursor`?"},
		{"AUDIT STRUCTURE WITH {limit: 0}", engram.CodeArgumentError, "the option limit of an audit is an INTEGER from 1 to 10000, not 0"},
		{"AUDIT STRUCTURE WITH {cursor: 3}", engram.CodeArgumentError, "the option cursor"},
		{"AUDIT STRUCTURE WITH {cursor: 'x'}", engram.CodeArgumentError, "is no cursor"},
		{"AUDIT STRUCTURE WITH {shrink: 'x'}", engram.CodeArgumentError, "a number"},
		{"AUDIT STRUCTURE WITH {shrink: 2}", engram.CodeArgumentError, "the threshold shrink is from 0 to 1"},
		{"AUDIT STRUCTURE SUGGEST SUGGEST", engram.CodeSyntaxError, "SUGGEST is given twice"},
		{"AUDIT", engram.CodeSyntaxError, "expected STRUCTURE"},
		{"AUDIT STRUCTURE FOO", engram.CodeSyntaxError, "expected ONLY, WITH {, SUGGEST, YIELD, WHERE"},
		{"AUDIT STRUCTURE YIELD finding, node", engram.CodeSyntaxError, "Did you mean `nodes`?"},
		{"AUDIT STRUCTURE YIELD finding MATCH (n)", engram.CodeSyntaxError, "can't end with MATCH"},
		{"RECORD", engram.CodeSyntaxError, "expected AUDIT"},
	} {
		_, err := db.Query(context.Background(), c.text, map[string]any{"o": map[string]any{"cursr": "x"}})
		if !engram.IsCode(err, c.code) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s\ngives %v\nwant %s: %s", c.text, err, c.code, c.says)
		}
	}
}

func TestAuditOnlyReads(t *testing.T) {
	db := auditDB(t, "CREATE (:A)")
	err := db.View(context.Background(), func(tx *engram.Tx) error {
		_, err := tx.Query(context.Background(), "AUDIT STRUCTURE", nil)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if writes, err := engram.Writes("AUDIT STRUCTURE SUGGEST"); writes || err != nil {
		t.Errorf("writes %v, %v", writes, err)
	}
	if writes, err := engram.Writes("RECORD AUDIT"); !writes || err != nil {
		t.Errorf("RECORD AUDIT writes %v, %v", writes, err)
	}
	before := db.Seq()
	query(t, db, "AUDIT STRUCTURE", nil)
	if db.Seq() != before {
		t.Error("an audit committed something")
	}
	// In a transaction that wrote, it would not see that.
	err = db.Update(context.Background(), func(tx *engram.Tx) error {
		if _, err := tx.Query(context.Background(), "CREATE (:B)", nil); err != nil {
			return err
		}
		_, err := tx.Query(context.Background(), "AUDIT STRUCTURE", nil)
		return err
	})
	if !engram.IsCode(err, engram.CodeArgumentError) && !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("after a write: %v", err)
	}
}

// sums are the hashes of the files of a data directory. That in which the text index
// notes its files is left out: for a moment after opening it is written, with or without
// an audit.
func sums(t *testing.T, dir string) map[string][32]byte {
	t.Helper()
	out := map[string][32]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.HasSuffix(path, filepath.Join("text", "root.bolt")) {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = sha256.Sum256(b)
		return err
	})
	if err != nil || len(out) < 5 {
		t.Fatalf("%d files, %v", len(out), err)
	}
	return out
}

// kept reads what was counted of statements.
func kept(t *testing.T, dir string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "ns", "default", "statements"))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestStatementsAreCountedAcrossOpenings also shows that an audit leaves every file as
// it was, and that what cannot be read is begun anew.
func TestStatementsAreCountedAcrossOpenings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	open := func() *engram.DB {
		db, err := engram.Open(dir, &engram.Options{Create: true, Now: auditNow, LearnEvery: -1})
		if err != nil {
			t.Fatal(err)
		}
		return db
	}
	closed := func(db *engram.DB) {
		t.Helper()
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
	statements := func(db *engram.DB) string { return look(t, db, "schema_drift").measured["statements"] }
	db := open()
	query(t, db, "CREATE (:Person {name: 'Ada'})", nil)
	closed(db)
	db = open()
	query(t, db, "MATCH (p:Person) RETURN p.nmae", nil)
	if n := statements(db); n != "2" {
		t.Errorf("%s statements, want 2", n)
	}
	closed(db)
	db = open()
	query(t, db, "CALL text.search('Ada') YIELD node RETURN count(*)", nil) // opens the text index, which writes
	before, counted := sums(t, dir), kept(t, dir)
	query(t, db, "AUDIT STRUCTURE SUGGEST", nil)
	if f := look(t, db, "schema_drift"); f.measured["statements"] != "2" || f.measured["dead_reads"] != "1" {
		t.Errorf("after an audit: %v", f.measured)
	}
	if _, err := db.Audit(context.Background(), nil); err != nil {
		t.Error(err)
	}
	if after := sums(t, dir); !maps.Equal(after, before) {
		t.Errorf("an audit changed a file:\n%v\n%v", before, after)
	}
	closed(db)
	if kept(t, dir) != counted {
		t.Error("an audit was counted as a statement that reads")
	}
	write(t, filepath.Join(dir, "ns", "default", "statements"), "{torn")
	db = open()
	defer closed(db)
	if f := look(t, db, "schema_drift"); f.status != "unknown" {
		t.Errorf("from a torn file: %+v", f)
	}
}

func TestRecordAuditTellsATrend(t *testing.T) {
	db := auditDB(t, "CREATE (:A {id: 'a'})-[:RELATED]->(:B {id: 'b'}), (:C)")
	query(t, db, "RECORD AUDIT YIELD node RETURN node", nil)
	if f := look(t, db, "owner_runtime_divergence"); f.measured["nodes_since_last"] != "0" || f.measured["edges_since_last"] != "0" || f.status != "ok" {
		t.Errorf("%+v", f)
	}
	query(t, db, "MATCH ({id: 'a'})-[r]->(b) DELETE r", nil)
	query(t, db, "CREATE (:D)", nil)
	if f := look(t, db, "owner_runtime_divergence"); f.measured["nodes_since_last"] != "1" || f.measured["edges_since_last"] != "-1" || f.status != "notice" {
		t.Errorf("%+v", f)
	}
	query(t, db, "RECORD AUDIT", nil)
	if f := look(t, db, "owner_runtime_divergence"); f.measured["nodes_since_last"] != "0" || f.status != "ok" {
		t.Errorf("after the next: %+v", f)
	}
	// It is left out of recall like all telemetry.
	if res := query(t, db, "MATCH (r:AuditRecord) RETURN labels(r), r.relationships ORDER BY r.seq", nil); len(res.Rows) != 2 || fmt.Sprint(res.Rows[0]) != "[['AuditRecord', 'Telemetry'] 1]" {
		t.Errorf("records %v", res.Rows)
	}
}

func TestAuditKeepsToItsBudget(t *testing.T) {
	db, err := engram.OpenMemory(&engram.Options{Now: auditNow, StatementSteps: 20_000})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for range 6 {
		query(t, db, "UNWIND range(1, 4000) AS i CREATE (:N)", nil)
	}
	if _, err := db.Query(context.Background(), "AUDIT STRUCTURE", nil); !engram.IsCode(err, engram.CodeResourceExhausted) {
		t.Errorf("over its steps: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := db.Query(ctx, "AUDIT STRUCTURE", nil); !engram.IsCode(err, engram.CodeCanceled) {
		t.Errorf("canceled: %v", err)
	}
}

// TestAuditCostsStepsByNodes: a graph of 3,000 texts is audited within a hundred steps
// a node, so that one of a million stays within the budget that statements have.
func TestAuditCostsStepsByNodes(t *testing.T) {
	const nodes = 3000
	db, err := engram.OpenMemory(&engram.Options{Now: auditNow, StatementSteps: 100 * nodes})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	query(t, db, fmt.Sprintf("UNWIND range(1, %d) AS i CREATE (:N {content: 'qzx' + i + ' the garden number ' + i + ' by the river'})", nodes), nil)
	if _, err := db.Query(context.Background(), "AUDIT STRUCTURE", nil); err != nil {
		t.Error(err)
	}
}

func TestAuditByProgram(t *testing.T) {
	ctx := context.Background()
	db := auditDB(t, "CREATE (:A {id: 'a'})-[:RELATED]->(:B), (:C {id: 'c'})")
	r, err := db.Audit(ctx, &engram.AuditOptions{Only: []string{"orphans_and_dangling"}, Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Finding("orphans_and_dangling"); r.Score != nil || len(r.Findings) != 1 || f.Status != engram.AuditNotice || f.Nodes.Items[0].Ext != "c" {
		t.Errorf("%+v", r)
	}
	if _, err := db.Audit(ctx, &engram.AuditOptions{Only: []string{"orphans"}}); !engram.IsCode(err, engram.CodeInvalidArgument) {
		t.Errorf("a finding that there is not: %v", err)
	}
	short, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := db.Audit(short, nil); !engram.IsCode(err, engram.CodeCanceled) {
		t.Errorf("canceled: %v", err)
	}
	names := engram.AuditFindings()
	if len(names) != 14 || names[0] != "owner_runtime_divergence" || engram.AuditTitles()[names[13]] == "" || len(engram.AuditThresholds()) == 0 {
		t.Errorf("findings %v", names)
	}
}

// TestAskOwner compares with a backup and with a data directory, and with what cannot
// be read.
func TestAskOwner(t *testing.T) {
	ctx := context.Background()
	dir, aside := created(t), t.TempDir()
	db, err := engram.Open(dir, &engram.Options{Now: auditNow})
	if err != nil {
		t.Fatal(err)
	}
	backup, err := db.Backup(ctx, aside, nil)
	if err != nil {
		t.Fatal(err)
	}
	divergence := func(o *engram.AuditOwner) *engram.AuditFinding {
		t.Helper()
		r, err := db.Audit(ctx, &engram.AuditOptions{Only: []string{"owner_runtime_divergence"}, Owner: o})
		if err != nil {
			t.Fatal(err)
		}
		return &r.Findings[0]
	}
	before := tree(t, aside)
	if f := divergence(engram.AskOwner(ctx, backup.Path, "")); f.Status != engram.AuditOK || f.Measure("owner_nodes") != int64(1) {
		t.Errorf("the same: %+v", f)
	}
	query(t, db, "CREATE (:N)-[:T]->(:N)", nil)
	if f := divergence(engram.AskOwner(ctx, backup.Path, "")); f.Status != engram.AuditNotice || f.Measure("owner_edges") != int64(0) || len(f.Parts) != 1 {
		t.Errorf("after a write: %+v", f)
	}
	if tree(t, aside) != before {
		t.Error("asking changed the backup")
	}
	other := created(t)
	if f := divergence(engram.AskOwner(ctx, other, "default")); f.Status != engram.AuditNotice || f.Measure("owner_nodes") != int64(1) {
		t.Errorf("a data directory: %+v", f)
	}
	for _, c := range [][2]string{{filepath.Join(aside, "nowhere"), "default"}, {other, "missing"}, {dir, "default"}} {
		f := divergence(engram.AskOwner(ctx, c[0], c[1]))
		if f.Status != engram.AuditUnknown || f.Measure("owner_nodes") != nil || !strings.Contains(f.Note, "not known") {
			t.Errorf("%v: %+v", c, f)
		}
	}
	if err := db.Close(); err != nil {
		t.Error(err)
	}
}
