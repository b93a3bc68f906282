package auditview

import (
	"encoding/json"
	"strings"

	"engram"
)

// The parts of SARIF 2.1.0 that a report needs.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool       sarifTool      `json:"tool"`
		Results    []sarifResult  `json:"results"`
		Properties map[string]any `json:"properties"`
	}
	sarifTool struct {
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID    string    `json:"id"`
		Short sarifText `json:"shortDescription"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		RuleID       string             `json:"ruleId"`
		RuleIndex    int                `json:"ruleIndex"`
		Kind         string             `json:"kind"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations,omitempty"`
		Baseline     string             `json:"baselineState,omitempty"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		Properties   map[string]any     `json:"properties"`
	}
	sarifLocation struct {
		Logical []sarifLogical `json:"logicalLocations"`
		Message *sarifText     `json:"message,omitempty"`
	}
	sarifLogical struct {
		Name string `json:"name"`
		Full string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
)

const sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

// SARIF writes a report in the format that tools for code review read. A finding is one
// result; the nodes and edges that it lists are its logical locations.
func SARIF(r *engram.AuditReport, namespace, version string, verdicts map[string]Verdict, baseline bool) ([]byte, error) {
	run := sarifRun{
		Tool:    sarifTool{sarifDriver{Name: "engram audit", Version: version, Rules: []sarifRule{}}},
		Results: []sarifResult{}, Properties: map[string]any{"namespace": namespace, "seq": r.Seq, "score": nil},
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule{f.Name, sarifText{engram.AuditTitles()[f.Name]}})
		run.Results = append(run.Results, sarifResultOf(f, i, namespace, verdicts[f.Name], baseline))
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(sarifLog{sarifSchema, "2.1.0", []sarifRun{run}})
	return []byte(b.String()), err
}

// sarifKinds say a status in SARIF's words: what does not fail has no level.
var sarifKinds = map[engram.AuditStatus][2]string{
	engram.AuditOK: {"pass", "none"}, engram.AuditNotice: {"fail", "warning"}, engram.AuditDefect: {"fail", "error"},
	engram.AuditUnknown: {"open", "none"}, engram.AuditDeferred: {"notApplicable", "none"},
}

func sarifResultOf(f *engram.AuditFinding, index int, namespace string, v Verdict, baseline bool) sarifResult {
	kind := sarifKinds[f.Status]
	measured := map[string]any{}
	for _, m := range f.Measured {
		measured[m.Name] = m.Value
	}
	out := sarifResult{
		RuleID: f.Name, RuleIndex: index, Kind: kind[0], Level: kind[1], Message: sarifText{f.Note},
		Properties: map[string]any{"status": f.Status, "count": f.Count, "how": f.How, "measured": measured},
	}
	for _, n := range f.Nodes.Items {
		out.Locations = append(out.Locations, sarifPlace(namespace, "node", n.Ext, n.Why))
	}
	for _, e := range f.Edges.Items {
		out.Locations = append(out.Locations, sarifPlace(namespace, "edge", e.From+" -["+e.Type+"]-> "+e.To, e.Why))
	}
	if !baseline || !StandsOut(f) {
		return out
	}
	switch {
	case v.Accept == nil:
		out.Baseline = "new"
	case v.Accept.Count == f.Count && v.Accept.Status == f.Status:
		out.Baseline = "unchanged"
	default:
		out.Baseline = "updated"
	}
	if v.Accept != nil && !v.Fails {
		out.Suppressions = []sarifSuppression{{"external", v.Accept.Reason}}
	}
	return out
}

func sarifPlace(namespace, kind, name, why string) sarifLocation {
	l := sarifLocation{Logical: []sarifLogical{{name, namespace + "/" + kind + "/" + name, kind}}}
	if why != "" {
		l.Message = &sarifText{why}
	}
	return l
}
