package audit_test

import (
	"cmp"
	"os"
	"slices"
	"testing"

	"engram/graph/mutationtest"
)

// mutations are mistakes that somebody could make in a rule. Without a package, the tests
// are those of this one.
var mutations = []mutationtest.Mutation{
	// owner_runtime_divergence
	{Name: "types are not compared with the owner's", File: "audit/owner.go", From: "if here.Types[t] != o.Types[t] {", To: "if false {", Run: "Owner"},
	{Name: "any difference from the owner is fine", File: "audit/owner.go", From: "same := differs == 0 && here.Nodes == o.Nodes && here.Edges == o.Edges", To: "same := true", Run: "Owner"},
	{Name: "an owner at another seq is at the same", File: "audit/owner.go", From: "case here.Seq == o.Seq:", To: "case true:", Run: "Owner"},
	{Name: "an unreachable owner has no nodes", File: "audit/owner.go", From: `f.measure("owner_nodes", nil, "nodes")`, To: `f.measure("owner_nodes", 0, "nodes")`, Run: "Owner"},
	{Name: "an unreachable owner is fine", File: "audit/owner.go", From: "f.Status = Unknown", To: "f.Status = OK", Run: "Owner"},
	{Name: "a graph never shrinks", File: "audit/owner.go", From: "least := 1 - a.threshold(\"shrink\")", To: "least := 0.0", Run: "Trend"},
	{Name: "only nodes get fewer", File: "audit/owner.go", From: "|| float64(here.Edges) < least*float64(last.Edges)", To: "", Run: "Trend"},
	// index_divergence
	{Name: "what the text index lacks is not looked for", File: "audit/texts.go", From: "if t.has.has(s) && !c.have.has(s) {", To: "if false {", Run: "IndexDivergence"},
	{Name: "what the vectors lack is not looked for", File: "audit/texts.go", From: "t.may = append(t.may, r.slot)", To: "_ = r.slot", Run: "IndexDivergence"},
	{Name: "no text says anything", File: "graph/surveytext.go", From: "may = may || p.Value.Kind() != value.KindString || words.Knows(p.Value.AsString())", To: "_ = words", Run: "IndexDivergence"},
	{Name: "what has no word is missing in the text index", File: "audit/texts.go", From: "case ok:", To: "case ok || true:", Run: "IndexDivergence"},
	{Name: "an index may have what has no text", File: "audit/texts.go", From: "case t.has.has(s):", To: "case true:", Run: "IndexDivergence"},
	{Name: "contents are never compared", File: "audit/indexes.go", From: `if w.a.threshold("compare_content") < 1 {`, To: "if true {", Run: "IndexDivergence"},
	{Name: "other words in the index are the same", File: "graph/internal/text/differ.go", From: "if p == nil || p.Number() != uint64(ref.doc) || uint32(p.Frequency()) != x.freq {", To: "if p != p {", Run: "IndexDivergence"},
	{Name: "other vectors are the same", File: "graph/surveytext.go", From: "stale = have != nil && !alike(have, v.doc(doc).Vector)", To: "stale = have == nil && false", Run: "IndexDivergence"},
	{Name: "a divergence is no defect", File: "audit/indexes.go", From: "f.Status = Defect", To: "f.Status = Notice", Run: "IndexDivergence"},
	// typed_edge_distribution
	{Name: "case is a difference", File: "audit/types.go", From: `{"differs by case from", strings.EqualFold}`, To: `{"differs by case from", func(a, b string) bool { return false }}`, Run: "TypedEdges"},
	{Name: "hyphens are a difference", File: "audit/types.go", From: "return bare(a) == bare(b)", To: "return false", Run: "TypedEdges"},
	{Name: "plurals are other words", File: "audit/types.go", From: "slices.Contains(singulars(bare(a)), bare(b)) || slices.Contains(singulars(bare(b)), bare(a))", To: "slices.Contains(singulars(bare(a)), bare(b))", Run: "TypedEdges"},
	{Name: "a letter is a difference", File: "audit/types.go", From: ">= 5 && oneOff(x, y)", To: ">= 50 && oneOff(x, y)", Run: "TypedEdges"},
	{Name: "short names are near each other", File: "audit/types.go", From: ">= 5 && oneOff(x, y)", To: ">= 1 && oneOff(x, y)", Run: "TypedEdges"},
	{Name: "two letters are near", File: "audit/types.go", From: "if distance(a, b) == 1 {", To: "if distance(a, b) <= 3 {", Run: "TypedEdges"},
	{Name: "only the vocabulary has targets", File: "audit/types.go", From: "return closest(name, larger)", To: `return "", ""`, Run: "TypedEdges"},
	{Name: "the name used more is the misspelt one", File: "audit/types.go", From: "used[other] > used[name]", To: "used[other] < used[name]", Run: "TypedEdges"},
	// orphans_and_dangling
	{Name: "a loop joins a node", File: "audit/orphans.go", From: "if e.from != e.to {", To: "if true {", Run: "Orphans"},
	{Name: "telemetry without edges is an orphan", File: "audit/orphans.go", From: "case label != 0 && w.a.shape.HasLabelSlot(s, label):", To: "case label != 0 && false:", Run: "Orphans"},
	{Name: "the end of an edge is not joined", File: "audit/orphans.go", From: "w.joined.set(e.to)", To: "_ = e.to", Run: "Orphans"},
	{Name: "records may name other ends", File: "audit/orphans.go", From: "if a.shape.NodeID(src) != e.Src || a.shape.NodeID(dst) != e.Dst || typ != e.Type {", To: "if src != src || dst != dst || typ != typ {", Run: "Dangling"},
	{Name: "edges without an end are not told", File: "audit/orphans.go", From: `w.lose(e, "%s", a.lostEnd(e))`, To: "_ = a.lostEnd(e)", Run: "Dangling"},
	{Name: "edges without a record are not told", File: "audit/orphans.go", From: "if !seen.has(h.Edge) {", To: "if false {", Run: "Dangling"},
	{Name: "nodes without a record are not told", File: "audit/orphans.go", From: "if !w.recorded.has(s) {", To: "if false {", Run: "Dangling"},
	{Name: "records without a node are not told", File: "audit/run.go", From: "a.stray = append(a.stray, r.ID)", To: "_ = r.ID", Run: "Dangling"},
	{Name: "one direction of adjacency is dropped", File: "graph/internal/topo/builder.go", From: "for d := range 2 {\n\t\t\tb.pack(d)", To: "for d := range 1 {\n\t\t\tb.pack(d)", Run: "Dangling"},
	// components_and_hubs
	{Name: "a hub has as many edges as the threshold", File: "audit/hubs.go", From: "float64(w.degree[s]) > least", To: "float64(w.degree[s]) >= least", Run: "ComponentsAndHubs"},
	{Name: "edges do not join", File: "audit/hubs.go", From: "w.union(e.from, e.to)", To: "_ = e.from", Run: "ComponentsAndHubs"},
	{Name: "what holds back draws", File: "audit/hubs.go", From: "if fl.inhibitory || e.inhibitory {", To: "if false {", Run: "ComponentsAndHubs"},
	{Name: "incoming edges do not count", File: "audit/hubs.go", From: "w.degree[e.to]++", To: "_ = e.to", Run: "ComponentsAndHubs"},
	{Name: "all strength is of hubs", File: "audit/hubs.go", From: "drawn += w.strength[s]", To: "drawn = w.total", Run: "ComponentsAndHubs"},
	// duplicates
	{Name: "labels do not matter to the same content", File: "audit/duplicates.go", From: "first := map[value.LabelID]uint32{} // 0: without labels", To: "first := map[value.LabelID]uint32{}\n\tfor l := range value.LabelID(99) {\n\t\tfirst[l] = docs[0]\n\t}", Run: "TestDuplicates"},
	{Name: "labels do not matter to nearly the same content", File: "audit/near.go", From: "!n.shareLabel(i, j)", To: "false", Run: "TestDuplicates"},
	{Name: "blanks are content", File: "audit/duplicates.go", From: "strings.TrimSpace(r.Prop(w.content).AsString())", To: "strings.Trim(r.Prop(w.content).AsString(), \"\")", Run: "TestDuplicates"},
	{Name: "what was superseded is a duplicate", File: "audit/duplicates.go", From: "s == vocab.StatusSuperseded || s", To: "s", Run: "TestDuplicates"},
	{Name: "what was forgotten is a duplicate", File: "audit/duplicates.go", From: " || s == vocab.StatusForgotten", To: "", Run: "TestDuplicates"},
	{Name: "telemetry is a duplicate", File: "audit/duplicates.go", From: "if w.telemetry != 0 &&", To: "if false &&", Run: "TestDuplicates"},
	{Name: "case is content", File: "audit/shingles.go", From: "c += 'a' - 'A'", To: "_ = c", Run: "TestDuplicates"},
	{Name: "candidates are not compared", File: "audit/near.go", From: "by >= n.from", To: "by >= 0", Run: "TestDuplicates"},
	{Name: "candidates are found by the whole signature only", File: "audit/shingles.go", From: "for _, v := range least[b*bandRows : (b+1)*bandRows] {", To: "for _, v := range least {", Run: "TestDuplicates|TestManyDuplicates"},
	{Name: "shingles are single words", File: "audit/shingles.go", From: "const shingleWords = 3", To: "const shingleWords = 1", Run: "TestDuplicates"},
	{Name: "what was not compared is not told", File: "audit/near.go", From: "if n.budget == 0 {\n\t\tn.skipped++", To: "if n.budget == 0 {", Run: "TestDuplicates"},
	// embedding_coverage
	{Name: "what waits is not told", File: "audit/embedding.go", From: "rest := slices.Concat(c.waiting, c.rest)", To: "rest := slices.Clone(c.rest)", Run: "EmbeddingCoverage"},
	{Name: "no model is known to have been another", File: "audit/embedding.go", From: "for _, o := range others {", To: "for _, o := range others[:0] {", Run: "AnotherModel"},
	{Name: "a graph without vectors is fine", File: "audit/embedding.go", From: "f.Status, f.Note = Deferred,", To: "f.Status, f.Note = OK,", Run: "WithoutVectors"},
	// The report
	{Name: "a page ends where the first one did", File: "audit/list.go", From: "to = min(from+a.o.Limit, n)", To: "to = min(a.o.Limit, n)", Run: "ListsGoOn"},
	{Name: "a cursor does not find its place again", File: "audit/list.go", From: "if at(i) == c.last {", To: "if false {", Run: "ListsGoOn"},
	// self_model_connectivity
	{Name: "a self without an edge is fine", File: "audit/selfmodel.go", From: "if degree == 0 {", To: "if degree < 0 {", Run: "DeclaredNodes|FindingsName", Package: "."},
	{Name: "a pillar may say nothing", File: "audit/selfmodel.go", From: "if length == 0 {", To: "if length < 0 {", Run: "FindingsName", Package: "."},
	{Name: "a pillar may be out of reach", File: "audit/selfmodel.go", From: `w.odd = append(w.odd, "no walk leads from the self to "+what)
`, To: `
`, Run: "FindingsName", Package: "."},
	{Name: "a forgotten pillar is fine", File: "audit/selfmodel.go", From: "if !s.recalled() {", To: "if false {", Run: "FindingsName", Package: "."},
	{Name: "what was declared is not remembered", File: "audit/selfmodel.go", From: `if last.Self != "" && self == 0 {`, To: "if false {", Run: "FindingsName", Package: "."},
	{Name: "pillars that were declared are not remembered", File: "audit/selfmodel.go", From: "for _, name := range last.Pillars {", To: "for _, name := range last.Pillars[:0] {", Run: "FindingsName", Package: "."},
	{Name: "the slice reaches one hop farther", File: "audit/selfmodel.go", From: "if w.far[s] > 1 && w.far[s] <= limit+1 {", To: "if w.far[s] > 1 && w.far[s] <= limit+2 {", Run: "FindingsName", Package: "."},
	// supersession
	{Name: "circles are not looked for", File: "audit/supersession.go", From: "w.back[i] = true", To: "_ = i", Run: "FindingsName", Package: "."},
	{Name: "the oldest edge closes a circle", File: "audit/supersession.go", From: "return cmp.Compare(w.a.shape.EdgeID(w.edges[x].slot), w.a.shape.EdgeID(w.edges[y].slot))", To: "return cmp.Compare(w.a.shape.EdgeID(w.edges[y].slot), w.a.shape.EdgeID(w.edges[x].slot))", Run: "FindingsName", Package: "."},
	{Name: "superseded memories may be recalled", File: "audit/supersession.go", From: "if !s.recalled() {", To: "if _ = s; true {", Run: "FindingsName", Package: "."},
	{Name: "a status without a successor is fine", File: "audit/supersession.go", From: "for _, id := range w.marked {", To: "for _, id := range w.marked[:0] {", Run: "FindingsName", Package: "."},
	{Name: "settled contradictions are open", File: "audit/supersession.go", From: "both = both && st.recalled()", To: "_ = st", Run: "FindingsName", Package: "."},
	{Name: "chains are one edge long", File: "audit/supersession.go", From: "w.length[up] = max(w.length[up], w.length[at.node]+1)", To: "w.length[up] = 1", Run: "FindingsName", Package: "."},
	// tiers_and_decay
	{Name: "use does not matter", File: "audit/tiers.go", From: "dated && age >= limit && idle >= limit", To: "dated && age >= limit", Run: "FindingsName", Package: "."},
	{Name: "age does not matter", File: "audit/tiers.go", From: "dated && age >= limit && idle >= limit", To: "dated && idle >= limit", Run: "FindingsName", Package: "."},
	{Name: "what is forgotten is stuck", File: "audit/tiers.go", From: "s.AsString() != vocab.StatusActive {", To: "false {", Run: "FindingsName", Package: "."},
	{Name: "telemetry counts", File: "audit/tiers.go", From: "slices.Contains(r.Labels, w.telemetry) && w.telemetry != 0", To: "false", Run: "FindingsName", Package: "."},
	{Name: "any tier will do", File: "audit/tiers.go", From: "|| !knownTier(name) {", To: "|| false {", Run: "FindingsName", Package: "."},
	{Name: "what is joined is mute", File: "audit/tiers.go", From: "if w.joined.has(r.slot) {", To: "if false {", Run: "FindingsName", Package: "."},
	{Name: "text does not matter", File: "audit/tiers.go", From: "if err == nil && !text {", To: "if _ = text; err == nil {", Run: "FindingsName", Package: "."},
	{Name: "what has no age is not stuck", File: "audit/tiers.go", From: "stuck = nil // nobody", To: "_ = stuck // nobody", Run: "FindingsName", Package: "."},
	// value_execution_consistency
	{Name: "29 predictions are enough", File: "audit/values.go", From: "int64(len(predictions)) < need {", To: "int64(len(predictions)) < need-1 {", Run: "FindingsName", Package: "."},
	{Name: "what was done against a value is fine", File: "audit/values.go", From: `			con++
		case w.prediction`, To: `			_ = con
		case w.prediction`, Run: "FindingsName", Package: "."},
	{Name: "outcomes do not count", File: "audit/values.go", From: `if outcome.Kind() == value.KindBool && outcome.AsBool() {
				pro++`, To: `if false {
				pro++`, Run: "FindingsName", Package: "."},
	{Name: "a note is an execution", File: "audit/values.go", From: "done := w.execution != 0 && a.shape.HasLabelSlot(h.Node, w.execution)", To: "done := true", Run: "FindingsName", Package: "."},
	// wonder_authenticity
	{Name: "29 pairs are enough", File: "audit/wonder.go", From: "int64(n) < need {", To: "int64(n) < need-1 {", Run: "FindingsName", Package: "."},
	{Name: "uniform weights are correlated", File: "audit/wonder.go", From: "case same(pulls):", To: "case false:", Run: "FindingsName", Package: "."},
	{Name: "any rho will do", File: "audit/wonder.go", From: "if rho > 0 && p < 0.05 {", To: "if rho > 0 {", Run: "FindingsName", Package: "."},
	{Name: "ties are broken", File: "audit/spearman.go", From: "for j < len(order) && x[order[j]] == x[order[i]] {", To: "for j < i+1 {", Run: "Spearman", Package: "./audit"},
	{Name: "p is one-sided", File: "audit/spearman.go", From: "return incompleteBeta(df/2, 0.5, df/(df+t2))", To: "return incompleteBeta(df/2, 0.5, df/(df+t2)) / 2", Run: "Spearman", Package: "./audit"},
	{Name: "all orders but equal ones", File: "audit/spearman.go", From: ">= math.Abs(rho)-1e-12 {", To: "> math.Abs(rho)+1e-12 {", Run: "Spearman", Package: "./audit"},
	// schema_drift
	{Name: "nothing is read in vain", File: "audit/drift.go", From: "if u.Reads.Count == 0 || slices.Contains(d.known[k], name) || d.isOwn(k, name) {", To: "if true {", Run: "FindingsName", Package: "."},
	{Name: "own names are dead reads", File: "audit/drift.go", From: "slices.Contains(d.known[k], name) || d.isOwn(k, name) {", To: "slices.Contains(d.known[k], name) {", Run: "FindingsName", Package: "."},
	{Name: "a producer that still writes has moved", File: "audit/drift.go", From: "&& (u.Writes.Count == 0 || u.Writes.Last.Seq < o.Writes.First.Seq) {", To: "{", Run: "FindingsName", Package: "."},
	{Name: "any label may have what a constraint declares", File: "audit/drift.go", From: "return slices.Contains(owners[u.Name], l) }) {", To: "return true }) {", Run: "FindingsName", Package: "."},
	{Name: "one of two labels is not enough", File: "audit/drift.go", From: "if slices.ContainsFunc(u.Of, func(l string) bool { return slices.Contains(owners[u.Name], l) }) {", To: "if len(u.Of) == 1 && slices.Contains(owners[u.Name], u.Of[0]) {", Run: "FindingsName", Package: "."},
	{Name: "what is there is read", File: "audit/drift.go", From: "if d.used[k][name] && u.Reads.Count == 0", To: "if false && u.Reads.Count == 0", Run: "FindingsName", Package: "."},
	{Name: "no statement is enough to tell", File: "audit/drift.go", From: "if r == nil || r.Statements == 0 {", To: "if r == nil {", Run: "FindingsName", Package: "."},
	{Name: "audits are statements", File: "query/internal/usage/collect.go", From: "if w.audits {", To: "if false {", Run: "StatementsAre", Package: "."},
	// provenance
	{Name: "blank is an origin", File: "audit/provenance.go", From: `case s == "":`, To: "case false:", Run: "FindingsName", Package: "."},
	{Name: "numbers are origins", File: "audit/provenance.go", From: `if v.Kind() != value.KindString {
		return`, To: `if false {
		return`, Run: "FindingsName", Package: "."},
	{Name: "torn JSON is an origin", File: "audit/provenance.go", From: "!json.Valid([]byte(s)):", To: "false:", Run: "FindingsName", Package: "."},
	{Name: "receipts point anywhere", File: "audit/provenance.go", From: "if there == 0 {", To: "if _ = there; false {", Run: "FindingsName", Package: "."},
	{Name: "any text is a receipt", File: "audit/provenance.go", From: "} else if r.Version == 0 {", To: "} else if false {", Run: "FindingsName", Package: "."},
	{Name: "verdicts may judge each other", File: "audit/provenance.go", From: "!w.a.shape.HasLabelSlot(h.Node, w.verdict) && ", To: "", Run: "FindingsName", Package: "."},
	{Name: "absence is never a gap", File: "audit/provenance.go", From: "mixed := w.present > 0 && len(w.absent) > 0", To: "mixed := false", Run: "FindingsName", Package: "."},
}

// TestMutations makes each mistake in turn and shows that the named test turns red. It
// takes a while, so it is for the long run; that the mistakes can be made is looked at
// always.
func TestMutations(t *testing.T) {
	list := slices.Clone(mutations)
	for i := range list {
		list[i].Package = cmp.Or(list[i].Package, "./audit")
	}
	mutationtest.Run(t, "..", os.Getenv("ENGRAM_LONG") != "", mutationtest.Options{Args: []string{"-short", "-vet=off"}}, list)
}
