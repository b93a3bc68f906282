package audit_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mutation is a mistake that somebody could make in a rule: in a file of the module one
// text becomes another, and then the test must fail.
type mutation struct {
	name     string
	file     string
	from, to string
	run      string
	pkg      string // "": this one
}

var mutations = []mutation{
	// owner_runtime_divergence
	{name: "types are not compared with the owner's", file: "audit/owner.go", from: "if here.Types[t] != o.Types[t] {", to: "if false {", run: "Owner"},
	{name: "any difference from the owner is fine", file: "audit/owner.go", from: "same := differs == 0 && here.Nodes == o.Nodes && here.Edges == o.Edges", to: "same := true", run: "Owner"},
	{name: "an owner at another seq is at the same", file: "audit/owner.go", from: "case here.Seq == o.Seq:", to: "case true:", run: "Owner"},
	{name: "an unreachable owner has no nodes", file: "audit/owner.go", from: `f.measure("owner_nodes", nil, "nodes")`, to: `f.measure("owner_nodes", 0, "nodes")`, run: "Owner"},
	{name: "an unreachable owner is fine", file: "audit/owner.go", from: "f.Status = Unknown", to: "f.Status = OK", run: "Owner"},
	{name: "a graph never shrinks", file: "audit/owner.go", from: "least := 1 - a.threshold(\"shrink\")", to: "least := 0.0", run: "Trend"},
	{name: "only nodes get fewer", file: "audit/owner.go", from: "|| float64(here.Edges) < least*float64(last.Edges)", to: "", run: "Trend"},
	// index_divergence
	{name: "what the text index lacks is not looked for", file: "audit/texts.go", from: "if t.has.has(s) && !c.have.has(s) {", to: "if false {", run: "IndexDivergence"},
	{name: "what the vectors lack is not looked for", file: "audit/texts.go", from: "t.may = append(t.may, r.slot)", to: "_ = r.slot", run: "IndexDivergence"},
	{name: "no text says anything", file: "graph/surveytext.go", from: "may = may || p.Value.Kind() != value.KindString || words.Knows(p.Value.AsString())", to: "_ = words", run: "IndexDivergence"},
	{name: "what has no word is missing in the text index", file: "audit/texts.go", from: "case ok:", to: "case ok || true:", run: "IndexDivergence"},
	{name: "an index may have what has no text", file: "audit/texts.go", from: "case t.has.has(s):", to: "case true:", run: "IndexDivergence"},
	{name: "contents are never compared", file: "audit/indexes.go", from: `if w.a.threshold("compare_content") < 1 {`, to: "if true {", run: "IndexDivergence"},
	{name: "other words in the index are the same", file: "graph/internal/text/differ.go", from: "if p == nil || p.Number() != uint64(ref.doc) || uint32(p.Frequency()) != x.freq {", to: "if p != p {", run: "IndexDivergence"},
	{name: "other vectors are the same", file: "graph/surveytext.go", from: "stale = have != nil && !alike(have, v.doc(doc).Vector)", to: "stale = have == nil && false", run: "IndexDivergence"},
	{name: "a divergence is no defect", file: "audit/indexes.go", from: "f.Status = Defect", to: "f.Status = Notice", run: "IndexDivergence"},
	// typed_edge_distribution
	{name: "case is a difference", file: "audit/types.go", from: `{"differs by case from", strings.EqualFold}`, to: `{"differs by case from", func(a, b string) bool { return false }}`, run: "TypedEdges"},
	{name: "hyphens are a difference", file: "audit/types.go", from: "return bare(a) == bare(b)", to: "return false", run: "TypedEdges"},
	{name: "plurals are other words", file: "audit/types.go", from: "slices.Contains(singulars(bare(a)), bare(b)) || slices.Contains(singulars(bare(b)), bare(a))", to: "slices.Contains(singulars(bare(a)), bare(b))", run: "TypedEdges"},
	{name: "a letter is a difference", file: "audit/types.go", from: ">= 5 && oneOff(x, y)", to: ">= 50 && oneOff(x, y)", run: "TypedEdges"},
	{name: "short names are near each other", file: "audit/types.go", from: ">= 5 && oneOff(x, y)", to: ">= 1 && oneOff(x, y)", run: "TypedEdges"},
	{name: "two letters are near", file: "audit/types.go", from: "if distance(a, b) == 1 {", to: "if distance(a, b) <= 3 {", run: "TypedEdges"},
	{name: "only the vocabulary has targets", file: "audit/types.go", from: "return closest(name, larger)", to: `return "", ""`, run: "TypedEdges"},
	{name: "the name used more is the misspelt one", file: "audit/types.go", from: "used[other] > used[name]", to: "used[other] < used[name]", run: "TypedEdges"},
	// orphans_and_dangling
	{name: "a loop joins a node", file: "audit/orphans.go", from: "if e.from != e.to {", to: "if true {", run: "Orphans"},
	{name: "telemetry without edges is an orphan", file: "audit/orphans.go", from: "case label != 0 && w.a.shape.HasLabelSlot(s, label):", to: "case label != 0 && false:", run: "Orphans"},
	{name: "the end of an edge is not joined", file: "audit/orphans.go", from: "w.joined.set(e.to)", to: "_ = e.to", run: "Orphans"},
	{name: "records may name other ends", file: "audit/orphans.go", from: "if a.shape.NodeID(src) != e.Src || a.shape.NodeID(dst) != e.Dst || typ != e.Type {", to: "if src != src || dst != dst || typ != typ {", run: "Dangling"},
	{name: "edges without an end are not told", file: "audit/orphans.go", from: `w.lose(e, "%s", a.lostEnd(e))`, to: "_ = a.lostEnd(e)", run: "Dangling"},
	{name: "edges without a record are not told", file: "audit/orphans.go", from: "if !seen.has(h.Edge) {", to: "if false {", run: "Dangling"},
	{name: "nodes without a record are not told", file: "audit/orphans.go", from: "if !w.recorded.has(s) {", to: "if false {", run: "Dangling"},
	{name: "records without a node are not told", file: "audit/run.go", from: "a.stray = append(a.stray, r.ID)", to: "_ = r.ID", run: "Dangling"},
	{name: "one direction of adjacency is dropped", file: "graph/internal/topo/builder.go", from: "for d := range 2 {\n\t\t\tb.pack(d)", to: "for d := range 1 {\n\t\t\tb.pack(d)", run: "Dangling"},
	// components_and_hubs
	{name: "a hub has as many edges as the threshold", file: "audit/hubs.go", from: "float64(w.degree[s]) > least", to: "float64(w.degree[s]) >= least", run: "ComponentsAndHubs"},
	{name: "edges do not join", file: "audit/hubs.go", from: "w.union(e.from, e.to)", to: "_ = e.from", run: "ComponentsAndHubs"},
	{name: "what holds back draws", file: "audit/hubs.go", from: "if fl.inhibitory || e.inhibitory {", to: "if false {", run: "ComponentsAndHubs"},
	{name: "incoming edges do not count", file: "audit/hubs.go", from: "w.degree[e.to]++", to: "_ = e.to", run: "ComponentsAndHubs"},
	{name: "all strength is of hubs", file: "audit/hubs.go", from: "drawn += w.strength[s]", to: "drawn = w.total", run: "ComponentsAndHubs"},
	// duplicates
	{name: "labels do not matter to the same content", file: "audit/duplicates.go", from: "first := map[value.LabelID]uint32{} // 0: without labels", to: "first := map[value.LabelID]uint32{}\n\tfor l := range value.LabelID(99) {\n\t\tfirst[l] = docs[0]\n\t}", run: "TestDuplicates"},
	{name: "labels do not matter to nearly the same content", file: "audit/near.go", from: "!n.shareLabel(i, j)", to: "false", run: "TestDuplicates"},
	{name: "blanks are content", file: "audit/duplicates.go", from: "strings.TrimSpace(r.Prop(w.content).AsString())", to: "strings.Trim(r.Prop(w.content).AsString(), \"\")", run: "TestDuplicates"},
	{name: "what was superseded is a duplicate", file: "audit/duplicates.go", from: "s == vocab.StatusSuperseded || s", to: "s", run: "TestDuplicates"},
	{name: "what was forgotten is a duplicate", file: "audit/duplicates.go", from: " || s == vocab.StatusForgotten", to: "", run: "TestDuplicates"},
	{name: "telemetry is a duplicate", file: "audit/duplicates.go", from: "if w.telemetry != 0 &&", to: "if false &&", run: "TestDuplicates"},
	{name: "case is content", file: "audit/shingles.go", from: "c += 'a' - 'A'", to: "_ = c", run: "TestDuplicates"},
	{name: "candidates are not compared", file: "audit/near.go", from: "by >= n.from", to: "by >= 0", run: "TestDuplicates"},
	{name: "candidates are found by the whole signature only", file: "audit/shingles.go", from: "for _, v := range least[b*bandRows : (b+1)*bandRows] {", to: "for _, v := range least {", run: "TestDuplicates|TestManyDuplicates"},
	{name: "shingles are single words", file: "audit/shingles.go", from: "const shingleWords = 3", to: "const shingleWords = 1", run: "TestDuplicates"},
	{name: "what was not compared is not told", file: "audit/near.go", from: "if n.budget == 0 {\n\t\tn.skipped++", to: "if n.budget == 0 {", run: "TestDuplicates"},
	// embedding_coverage
	{name: "what waits is not told", file: "audit/embedding.go", from: "rest := slices.Concat(c.waiting, c.rest)", to: "rest := slices.Clone(c.rest)", run: "EmbeddingCoverage"},
	{name: "no model is known to have been another", file: "audit/embedding.go", from: "for _, o := range others {", to: "for _, o := range others[:0] {", run: "AnotherModel"},
	{name: "a graph without vectors is fine", file: "audit/embedding.go", from: "f.Status, f.Note = Deferred,", to: "f.Status, f.Note = OK,", run: "WithoutVectors"},
	// The report
	{name: "a page ends where the first one did", file: "audit/list.go", from: "to = min(from+a.o.Limit, n)", to: "to = min(a.o.Limit, n)", run: "ListsGoOn"},
	{name: "a cursor does not find its place again", file: "audit/list.go", from: "if at(i) == c.last {", to: "if false {", run: "ListsGoOn"},
	// self_model_connectivity
	{name: "a self without an edge is fine", file: "audit/selfmodel.go", from: "if degree == 0 {", to: "if degree < 0 {", run: "DeclaredNodes|FindingsName", pkg: "."},
	{name: "a pillar may say nothing", file: "audit/selfmodel.go", from: "if length == 0 {", to: "if length < 0 {", run: "FindingsName", pkg: "."},
	{name: "a pillar may be out of reach", file: "audit/selfmodel.go", from: `w.odd = append(w.odd, "no walk leads from the self to "+what)
`, to: `
`, run: "FindingsName", pkg: "."},
	{name: "a forgotten pillar is fine", file: "audit/selfmodel.go", from: "if !s.recalled() {", to: "if false {", run: "FindingsName", pkg: "."},
	{name: "what was declared is not remembered", file: "audit/selfmodel.go", from: `if last.Self != "" && self == 0 {`, to: "if false {", run: "FindingsName", pkg: "."},
	{name: "pillars that were declared are not remembered", file: "audit/selfmodel.go", from: "for _, name := range last.Pillars {", to: "for _, name := range last.Pillars[:0] {", run: "FindingsName", pkg: "."},
	{name: "the slice reaches one hop farther", file: "audit/selfmodel.go", from: "if w.far[s] > 1 && w.far[s] <= limit+1 {", to: "if w.far[s] > 1 && w.far[s] <= limit+2 {", run: "FindingsName", pkg: "."},
	// supersession
	{name: "circles are not looked for", file: "audit/supersession.go", from: "w.back[i] = true", to: "_ = i", run: "FindingsName", pkg: "."},
	{name: "the oldest edge closes a circle", file: "audit/supersession.go", from: "return cmp.Compare(w.a.shape.EdgeID(w.edges[x].slot), w.a.shape.EdgeID(w.edges[y].slot))", to: "return cmp.Compare(w.a.shape.EdgeID(w.edges[y].slot), w.a.shape.EdgeID(w.edges[x].slot))", run: "FindingsName", pkg: "."},
	{name: "superseded memories may be recalled", file: "audit/supersession.go", from: "if !s.recalled() {", to: "if _ = s; true {", run: "FindingsName", pkg: "."},
	{name: "a status without a successor is fine", file: "audit/supersession.go", from: "for _, id := range w.marked {", to: "for _, id := range w.marked[:0] {", run: "FindingsName", pkg: "."},
	{name: "settled contradictions are open", file: "audit/supersession.go", from: "both = both && st.recalled()", to: "_ = st", run: "FindingsName", pkg: "."},
	{name: "chains are one edge long", file: "audit/supersession.go", from: "w.length[up] = max(w.length[up], w.length[at.node]+1)", to: "w.length[up] = 1", run: "FindingsName", pkg: "."},
	// tiers_and_decay
	{name: "use does not matter", file: "audit/tiers.go", from: "dated && age >= limit && idle >= limit", to: "dated && age >= limit", run: "FindingsName", pkg: "."},
	{name: "age does not matter", file: "audit/tiers.go", from: "dated && age >= limit && idle >= limit", to: "dated && idle >= limit", run: "FindingsName", pkg: "."},
	{name: "what is forgotten is stuck", file: "audit/tiers.go", from: "s.AsString() != vocab.StatusActive {", to: "false {", run: "FindingsName", pkg: "."},
	{name: "telemetry counts", file: "audit/tiers.go", from: "slices.Contains(r.Labels, w.telemetry) && w.telemetry != 0", to: "false", run: "FindingsName", pkg: "."},
	{name: "any tier will do", file: "audit/tiers.go", from: "|| !knownTier(name) {", to: "|| false {", run: "FindingsName", pkg: "."},
	{name: "what is joined is mute", file: "audit/tiers.go", from: "if w.joined.has(r.slot) {", to: "if false {", run: "FindingsName", pkg: "."},
	{name: "text does not matter", file: "audit/tiers.go", from: "if err == nil && !text {", to: "if _ = text; err == nil {", run: "FindingsName", pkg: "."},
	{name: "what has no age is not stuck", file: "audit/tiers.go", from: "stuck = nil // nobody", to: "_ = stuck // nobody", run: "FindingsName", pkg: "."},
	// value_execution_consistency
	{name: "29 predictions are enough", file: "audit/values.go", from: "int64(len(predictions)) < need {", to: "int64(len(predictions)) < need-1 {", run: "FindingsName", pkg: "."},
	{name: "what was done against a value is fine", file: "audit/values.go", from: `			con++
		case w.prediction`, to: `			_ = con
		case w.prediction`, run: "FindingsName", pkg: "."},
	{name: "outcomes do not count", file: "audit/values.go", from: `if outcome.Kind() == value.KindBool && outcome.AsBool() {
				pro++`, to: `if false {
				pro++`, run: "FindingsName", pkg: "."},
	{name: "a note is an execution", file: "audit/values.go", from: "done := w.execution != 0 && a.shape.HasLabelSlot(h.Node, w.execution)", to: "done := true", run: "FindingsName", pkg: "."},
	// wonder_authenticity
	{name: "29 pairs are enough", file: "audit/wonder.go", from: "int64(n) < need {", to: "int64(n) < need-1 {", run: "FindingsName", pkg: "."},
	{name: "uniform weights are correlated", file: "audit/wonder.go", from: "case same(pulls):", to: "case false:", run: "FindingsName", pkg: "."},
	{name: "any rho will do", file: "audit/wonder.go", from: "if rho > 0 && p < 0.05 {", to: "if rho > 0 {", run: "FindingsName", pkg: "."},
	{name: "ties are broken", file: "audit/spearman.go", from: "for j < len(order) && x[order[j]] == x[order[i]] {", to: "for j < i+1 {", run: "Spearman", pkg: "./audit"},
	{name: "p is one-sided", file: "audit/spearman.go", from: "return incompleteBeta(df/2, 0.5, df/(df+t2))", to: "return incompleteBeta(df/2, 0.5, df/(df+t2)) / 2", run: "Spearman", pkg: "./audit"},
	{name: "all orders but equal ones", file: "audit/spearman.go", from: ">= math.Abs(rho)-1e-12 {", to: "> math.Abs(rho)+1e-12 {", run: "Spearman", pkg: "./audit"},
	// schema_drift
	{name: "nothing is read in vain", file: "audit/drift.go", from: "if u.Reads.Count == 0 || slices.Contains(d.known[k], name) || d.isOwn(k, name) {", to: "if true {", run: "FindingsName", pkg: "."},
	{name: "own names are dead reads", file: "audit/drift.go", from: "slices.Contains(d.known[k], name) || d.isOwn(k, name) {", to: "slices.Contains(d.known[k], name) {", run: "FindingsName", pkg: "."},
	{name: "a producer that still writes has moved", file: "audit/drift.go", from: "&& (u.Writes.Count == 0 || u.Writes.Last.Seq < o.Writes.First.Seq) {", to: "{", run: "FindingsName", pkg: "."},
	{name: "any label may have what a constraint declares", file: "audit/drift.go", from: "return slices.Contains(owners[u.Name], l) }) {", to: "return true }) {", run: "FindingsName", pkg: "."},
	{name: "one of two labels is not enough", file: "audit/drift.go", from: "if slices.ContainsFunc(u.Of, func(l string) bool { return slices.Contains(owners[u.Name], l) }) {", to: "if len(u.Of) == 1 && slices.Contains(owners[u.Name], u.Of[0]) {", run: "FindingsName", pkg: "."},
	{name: "what is there is read", file: "audit/drift.go", from: "if d.used[k][name] && u.Reads.Count == 0", to: "if false && u.Reads.Count == 0", run: "FindingsName", pkg: "."},
	{name: "no statement is enough to tell", file: "audit/drift.go", from: "if r == nil || r.Statements == 0 {", to: "if r == nil {", run: "FindingsName", pkg: "."},
	{name: "audits are statements", file: "query/internal/usage/collect.go", from: "if w.audits {", to: "if false {", run: "StatementsAre", pkg: "."},
	// provenance
	{name: "blank is an origin", file: "audit/provenance.go", from: `case s == "":`, to: "case false:", run: "FindingsName", pkg: "."},
	{name: "numbers are origins", file: "audit/provenance.go", from: `if v.Kind() != value.KindString {
		return`, to: `if false {
		return`, run: "FindingsName", pkg: "."},
	{name: "torn JSON is an origin", file: "audit/provenance.go", from: "!json.Valid([]byte(s)):", to: "false:", run: "FindingsName", pkg: "."},
	{name: "receipts point anywhere", file: "audit/provenance.go", from: "if there == 0 {", to: "if _ = there; false {", run: "FindingsName", pkg: "."},
	{name: "any text is a receipt", file: "audit/provenance.go", from: "} else if r.Version == 0 {", to: "} else if false {", run: "FindingsName", pkg: "."},
	{name: "verdicts may judge each other", file: "audit/provenance.go", from: "!w.a.shape.HasLabelSlot(h.Node, w.verdict) && ", to: "", run: "FindingsName", pkg: "."},
	{name: "absence is never a gap", file: "audit/provenance.go", from: "mixed := w.present > 0 && len(w.absent) > 0", to: "mixed := false", run: "FindingsName", pkg: "."},
}

// TestMutations makes each mistake in turn, in a copy of the file that only the compiler
// sees, and shows that the named test turns red. It takes a while, so it is for the long
// run; that the mistakes can be made is looked at always.
func TestMutations(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutations {
		source, err := os.ReadFile(filepath.Join(root, m.file))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Count(string(source), m.from) != 1 {
			t.Errorf("%s: %s has %q not once", m.name, m.file, m.from)
		}
	}
	if os.Getenv("ENGRAM_LONG") == "" {
		return
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			out, err := m.test(t, root)
			switch {
			case err == nil:
				t.Errorf("%s stays green", m.run)
			case !strings.Contains(out, "--- FAIL: Test"):
				t.Errorf("it does not run: %v\n%.1000s", err, out)
			}
		})
	}
}

// test runs the mutation's test with the mistake in it.
func (m mutation) test(t *testing.T, root string) (string, error) {
	t.Helper()
	path := filepath.Join(root, m.file)
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed, list := filepath.Join(t.TempDir(), "changed.go"), filepath.Join(t.TempDir(), "overlay.json")
	overlay, err := json.Marshal(map[string]map[string]string{"Replace": {path: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{changed: strings.Replace(string(source), m.from, m.to, 1), list: string(overlay)} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pkg := m.pkg
	if pkg == "" {
		pkg = "./audit"
	}
	cmd := exec.Command("go", "test", "-short", "-vet=off", "-count=1", "-timeout", "5m", "-overlay", list, "-run", m.run, pkg)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "ENGRAM_LONG=")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
