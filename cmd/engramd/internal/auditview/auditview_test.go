package auditview_test

import (
	"bytes"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"engram"
	"engram/cmd/engramd/internal/auditview"
)

// report audits a small graph with defects, notices and what is deferred.
func report(t *testing.T) *engram.AuditReport {
	t.Helper()
	db, err := engram.OpenMemory(&engram.Options{Now: func() time.Time { return time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC) }})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, s := range []string{
		"CREATE (:A {id: 'a\u001b[31m'})-[:RELATD]->(:B {id: 'b'}), (:C {id: 'c'}), (:C {id: 'd'})",
		"CREATE (x:A {id: 'x', content: 'one'}), (y:A {id: 'y', content: 'two'}) WITH x, y CONTRADICT x WITH y",
	} {
		if _, err := db.Query(context.Background(), s, nil); err != nil {
			t.Fatal(err)
		}
	}
	r, err := db.Audit(context.Background(), &engram.AuditOptions{Suggest: true})
	if err != nil {
		t.Fatal(err)
	}
	r.Finding("duplicates").Status = engram.AuditDefect // none can be made through the door
	r.Finding("duplicates").Count = 1
	r.Finding("provenance").Status = engram.AuditUnknown
	return r
}

// sarifSchema takes the schema out of the source of the library of SARIF's types, which
// keeps it to itself.
func sarifSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif").Output()
	if err != nil {
		t.Fatal(err)
	}
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(strings.TrimSpace(string(dir)), "schema.go"), nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var found string
	ast.Inspect(file, func(n ast.Node) bool {
		if l, ok := n.(*ast.BasicLit); ok && l.Kind == token.STRING && found == "" {
			found, err = strconv.Unquote(l.Value)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(found))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("sarif.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// TestSARIFIsValid holds the output to the schema of SARIF 2.1.0, and to its types,
// which know every property that the schema has.
func TestSARIFIsValid(t *testing.T) {
	schema := sarifSchema(t)
	if schema.Validate(map[string]any{"version": "2.1.0", "runs": []any{map[string]any{}}}) == nil {
		t.Fatal("the schema lets a run without a tool pass")
	}
	r := report(t)
	b := &auditview.Baseline{Version: 1, Accepted: []auditview.Accepted{
		{Finding: "orphans_and_dangling", Status: engram.AuditNotice, Count: 2, Reason: "known"},
		{Finding: "supersession", Status: engram.AuditNotice, Count: 7, Reason: "known"},
	}}
	for _, baseline := range []*auditview.Baseline{nil, b} {
		out, err := auditview.SARIF(r, "default", "1.0", auditview.Judge(r, baseline, []string{"any"}), baseline != nil)
		if err != nil {
			t.Fatal(err)
		}
		d := json.NewDecoder(bytes.NewReader(out))
		d.DisallowUnknownFields()
		var log sarif.Report
		if err := d.Decode(&log); err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(out))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("it is not valid: %v\n%s", err, out)
		}
		results := map[string]*sarif.Result{}
		for _, res := range log.Runs[0].Results {
			results[*res.RuleID] = res
		}
		for name, want := range map[string][2]string{
			"orphans_and_dangling": {"fail", "warning"}, "duplicates": {"fail", "error"}, "owner_runtime_divergence": {"pass", "none"},
			"provenance": {"open", "none"}, "wonder_authenticity": {"notApplicable", "none"},
		} {
			if res := results[name]; res == nil || res.Kind != want[0] || res.Level != want[1] {
				t.Errorf("%s is %+v, want %v", name, res, want)
			}
		}
		if len(results) != len(engram.AuditFindings()) {
			t.Errorf("%d results", len(results))
		}
		if place := results["orphans_and_dangling"].Locations[0].LogicalLocations[0]; *place.FullyQualifiedName != "default/node/c" {
			t.Errorf("it is at %v", *place.FullyQualifiedName)
		}
		if baseline == nil {
			continue
		}
		if res := results["orphans_and_dangling"]; *res.BaselineState != "unchanged" || len(res.Suppressions) != 1 || *res.Suppressions[0].Justification != "known" {
			t.Errorf("what was accepted is %+v", res)
		}
		if a, b := results["supersession"].BaselineState, results["typed_edge_distribution"].BaselineState; *a != "updated" || *b != "new" {
			t.Errorf("what shrank is %s, what is new %s", *a, *b)
		}
	}
}

func TestBaselineJudges(t *testing.T) {
	finding := func(s engram.AuditStatus, n int64) *engram.AuditReport {
		return &engram.AuditReport{Findings: []engram.AuditFinding{{Name: "duplicates", Status: s, Count: n}}}
	}
	accepted := func(s engram.AuditStatus, n int64) *auditview.Baseline {
		return &auditview.Baseline{Accepted: []auditview.Accepted{{Finding: "duplicates", Status: s, Count: n, Reason: "known"}}}
	}
	any := []string{"any"}
	for _, c := range []struct {
		what   string
		r      *engram.AuditReport
		b      *auditview.Baseline
		failOn []string
		fails  bool
		why    string
	}{
		{"nothing is watched", finding(engram.AuditDefect, 3), nil, nil, false, ""},
		{"another is watched", finding(engram.AuditDefect, 3), nil, []string{"supersession"}, false, ""},
		{"it is watched", finding(engram.AuditNotice, 3), nil, []string{"duplicates"}, true, ""},
		{"any is watched", finding(engram.AuditNotice, 3), nil, any, true, ""},
		{"ok", finding(engram.AuditOK, 0), nil, any, false, ""},
		{"unknown", finding(engram.AuditUnknown, 0), accepted(engram.AuditNotice, 3), any, false, ""},
		{"deferred", finding(engram.AuditDeferred, 0), nil, any, false, ""},
		{"new", finding(engram.AuditNotice, 1), &auditview.Baseline{}, any, true, "it is not in the baseline"},
		{"the same", finding(engram.AuditNotice, 3), accepted(engram.AuditNotice, 3), any, false, "accepted: known"},
		{"grown", finding(engram.AuditNotice, 4), accepted(engram.AuditNotice, 3), any, true, "it grew from the 3 that were accepted to 4"},
		{"shrunk", finding(engram.AuditNotice, 2), accepted(engram.AuditNotice, 3), any, false, "it shrank from the 3 that were accepted to 2: write the baseline anew"},
		{"gone", finding(engram.AuditOK, 0), accepted(engram.AuditNotice, 3), any, false, "the baseline accepts 3, and there is none any more: write it anew"},
		{"worse", finding(engram.AuditDefect, 3), accepted(engram.AuditNotice, 3), any, true, "it was accepted as a notice and is a defect"},
		{"better", finding(engram.AuditNotice, 3), accepted(engram.AuditDefect, 3), any, false, "accepted: known"},
	} {
		if v := auditview.Judge(c.r, c.b, c.failOn)["duplicates"]; v.Fails != c.fails || v.Why != c.why {
			t.Errorf("%s: fails %v, %q; want %v, %q", c.what, v.Fails, v.Why, c.fails, c.why)
		}
	}
}

func TestBaselineIsReadAsWritten(t *testing.T) {
	r := report(t)
	b := auditview.NewBaseline(r, &auditview.Baseline{Accepted: []auditview.Accepted{{Finding: "orphans_and_dangling", Reason: "old"}}}, "new")
	out, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := auditview.ReadBaseline(out)
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, a := range again.Accepted {
		reasons[a.Finding] = a.Reason
	}
	if reasons["orphans_and_dangling"] != "old" || reasons["supersession"] != "new" || reasons["wonder_authenticity"] != "" {
		t.Errorf("reasons %v", reasons)
	}
	for _, v := range auditview.Judge(r, again, []string{"any"}) {
		if v.Fails {
			t.Errorf("what was just accepted fails: %s", v.Why)
		}
	}
	if _, err := auditview.ReadBaseline([]byte(`{"version": 2, "accepted": []}`)); err == nil || !strings.Contains(err.Error(), "its version is 2") {
		t.Errorf("a newer version: %v", err)
	}
	if _, err := auditview.ReadBaseline([]byte(`{"version": 1, "accepted": [], "more": 1}`)); err == nil || !strings.Contains(err.Error(), "unknown field") {
		t.Errorf("an unknown field: %v", err)
	}
}

// TestLinesFit: whatever the width, only what is to be copied is longer, and nothing
// that is stored steers the terminal.
func TestLinesFit(t *testing.T) {
	r := report(t)
	clean := func(s string) string { return strings.ReplaceAll(s, "\u001b", `\u001b`) }
	for _, width := range []int{10, 40, 60, 80, 120} {
		for _, color := range []bool{false, true} {
			var b strings.Builder
			v := &auditview.View{Namespace: "default", Width: width, Color: color, Clean: clean}
			if err := v.Write(&b, r); err != nil {
				t.Fatal(err)
			}
			for line := range strings.SplitSeq(b.String(), "\n") {
				if n := text.StringWidthWithoutEscSequences(line); n > max(width, 50) && !strings.Contains(line, "MATCH") && !strings.Contains(line, "RESOLVE") {
					t.Errorf("width %d: %d columns in %q", width, n, line)
				}
			}
			if got := strings.Contains(b.String(), "\u001b["); got != color {
				t.Errorf("color %v: escape sequences %v", color, got)
			}
			if color && !strings.Contains(b.String(), "\u001b[33mnotice") {
				t.Error("a notice has no color")
			}
		}
	}
}
