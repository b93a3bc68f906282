package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"engram/graph"
	"engram/graph/value"
	"engram/graph/vocab"
)

// The properties that say where a memory comes from, the first that is there counts.
var originKeys = []string{"provenance", vocab.KeyOrigin, "source"}

// keyReceipt is the property under which programs keep the receipts of recalls.
const keyReceipt = "receipt"

// provenance looks at where memories say they come from, and at what points to what
// was recalled or judged.
func provenance() rule {
	return rule{
		name:  "provenance",
		title: "Where memories say they come from: present, absent or unreadable; receipts pointing nowhere, verdicts without a candidate.",
		begin: func(a *audit) (work, error) {
			w := &provenanceWork{a: a, content: a.want(vocab.KeyContent), receipt: a.want(keyReceipt), named: map[string]int64{}, reasons: map[string]int64{}}
			for _, name := range originKeys {
				w.keys = append(w.keys, a.want(name))
			}
			w.telemetry, _ = a.tx.Label(vocab.LabelTelemetry)
			w.verdict, _ = a.tx.Label(vocab.LabelVerdict)
			return work{record: w.record, end: w.end}, nil
		},
	}
}

type provenanceWork struct {
	a                  *audit
	content, receipt   value.KeyID
	keys               []value.KeyID // of originKeys
	telemetry, verdict value.LabelID
	memories, present  int64
	absent             []value.NodeID
	named              map[string]int64 // what is present, by property
	reasons            map[string]int64 // why others are unreadable
	hits               []hit
	unreadable         int64
	receipts, lost     int64
	broken, verdicts   int64
	alone              int64
	hops               []graph.Hop
}

func (w *provenanceWork) record(r *record) error {
	if v := r.Prop(w.receipt); !v.IsNull() {
		if err := w.lookAtReceipt(r.ID, v); err != nil {
			return err
		}
	}
	if w.verdict != 0 && slices.Contains(r.Labels, w.verdict) {
		w.lookAtVerdict(r)
		return nil
	}
	if w.telemetry != 0 && slices.Contains(r.Labels, w.telemetry) || r.Prop(w.content).IsNull() {
		return nil
	}
	w.memories++
	for i, k := range w.keys {
		v := r.Prop(k)
		if k == 0 || v.IsNull() {
			continue
		}
		if why := unreadable(v); why != "" {
			w.unreadable++
			w.reasons[why]++
			w.hits = append(w.hits, hit{r.ID, "its " + originKeys[i] + " cannot be read: " + why})
			return nil
		}
		w.present++
		w.named[originKeys[i]]++
		return nil
	}
	w.absent = append(w.absent, r.ID)
	return nil
}

// unreadable tells why a value names no origin; empty when it does.
func unreadable(v value.Value) string {
	if v.Kind() != value.KindString {
		return "it is a " + v.Kind().String() + ", not a STRING"
	}
	s := strings.TrimSpace(v.AsString())
	switch {
	case s == "":
		return "it is blank"
	case strings.HasPrefix(s, "{") && !json.Valid([]byte(s)):
		return "it begins like JSON and is none"
	}
	return ""
}

// kept is what a receipt says that can point nowhere.
type kept struct {
	Version int                   `json:"version"`
	Rows    []struct{ ID string } `json:"rows"`
	Seeds   []struct{ ID string } `json:"seeds"`
}

func (w *provenanceWork) lookAtReceipt(id value.NodeID, v value.Value) error {
	w.receipts++
	var r kept
	err := errors.New("it is a " + v.Kind().String() + ", not a STRING")
	if v.Kind() == value.KindString {
		if err = json.Unmarshal([]byte(v.AsString()), &r); err != nil {
			err = errors.New("it is not JSON of a receipt")
		} else if r.Version == 0 {
			err = errors.New("it has no version")
		}
	}
	if err != nil {
		w.broken++
		w.hits = append(w.hits, hit{id, "its receipt cannot be read: " + err.Error()})
		return nil
	}
	gone := map[string]bool{}
	for _, n := range append(r.Rows, r.Seeds...) {
		there, err := w.a.tx.NodeByElementID(n.ID)
		if err != nil {
			return err
		}
		if there == 0 {
			gone[n.ID] = true
		}
	}
	if len(gone) > 0 {
		w.lost++
		w.hits = append(w.hits, hit{id, fmt.Sprintf("its receipt points to %s that are gone", plural(len(gone), "node"))})
	}
	return nil
}

// lookAtVerdict looks for what a verdict is about: a node that is neither a verdict nor
// telemetry.
func (w *provenanceWork) lookAtVerdict(r *record) {
	w.verdicts++
	w.hops = w.a.shape.ExpandSlots(r.slot, value.Both, nil, w.hops[:0])
	for _, h := range w.hops {
		if h.Node != r.slot && !w.a.shape.HasLabelSlot(h.Node, w.verdict) && (w.telemetry == 0 || !w.a.shape.HasLabelSlot(h.Node, w.telemetry)) {
			return
		}
	}
	w.alone++
	w.hits = append(w.hits, hit{r.ID, "it is a verdict, and no edge leads to what it judges"})
}

func (w *provenanceWork) end(f *Finding) error {
	a := w.a
	f.How = fmt.Sprintf("exact: over %d nodes with content that are neither telemetry nor verdicts, %d receipts and %d verdicts", w.memories, w.receipts, w.verdicts)
	f.measure("memories", w.memories, "nodes")
	f.measure("present", w.present, "nodes")
	f.measure("absent", len(w.absent), "nodes")
	f.measure("unreadable", w.unreadable, "nodes")
	f.measure("receipts", w.receipts, "nodes")
	f.measure("receipts_unreadable", w.broken, "nodes")
	f.measure("receipts_pointing_nowhere", w.lost, "nodes")
	f.measure("verdicts_without_candidate", w.alone, "nodes")
	for _, name := range unionKeys(w.named, nil) {
		f.part("present", name, w.named[name], "")
	}
	for _, why := range unionKeys(w.reasons, nil) {
		f.part("unreadable", why, w.reasons[why], "")
	}
	mixed := w.present > 0 && len(w.absent) > 0
	if mixed { // where nobody says it, it is a habit and no gap
		for _, id := range w.absent {
			w.hits = append(w.hits, hit{id, "it does not say where it comes from, as others do"})
		}
	}
	w.note(f, mixed)
	return a.listHits(f, w.hits)
}

func (w *provenanceWork) note(f *Finding, mixed bool) {
	var parts []string
	add := func(n int64, one, many string) {
		if n > 0 {
			parts = append(parts, amount(n, one, many))
		}
	}
	add(w.unreadable, "memory says it in a way that cannot be read", "memories say it in a way that cannot be read")
	if mixed {
		add(int64(len(w.absent)), "does not say where it comes from, while others do", "do not say where they come from, while others do")
	}
	add(w.broken, "receipt cannot be read", "receipts cannot be read")
	add(w.lost, "receipt points to nodes that are gone", "receipts point to nodes that are gone")
	add(w.alone, "verdict is about nothing", "verdicts are about nothing")
	switch {
	case len(parts) > 0:
		f.Status = Notice
		f.Note = "Of where things come from: " + strings.Join(parts, "; ") + "."
	case w.memories == 0:
		f.Note = "No node has content that could come from anywhere."
	case w.present == 0:
		f.Note = "No memory says where it comes from (" + strings.Join(originKeys, ", ") + ")."
	default:
		f.Note = "Every memory says where it comes from, and what is pointed to is there."
	}
}
