package audit

import (
	"fmt"
	"strings"

	"engram/graph"
	"engram/graph/value"
	"engram/graph/vocab"
)

// The vocabulary of what is held dear, done and expected. An Execution that
// EXEMPLIFIES a Value is in line with it, one that CONTRADICTS it is not. A Prediction
// REFERENCES the Value or the OpenQuestion that it is about; its confidence is from 0
// to 1, and its outcome is true or false once that is known.
const (
	labelExecution  = "Execution"
	labelPrediction = "Prediction"
	labelQuestion   = "OpenQuestion"
	typeExemplifies = "EXEMPLIFIES"
	typeReferences  = "REFERENCES"
	keyOutcome      = "outcome"
)

// valueExecutionConsistency compares what the self holds dear with what was done and
// predicted.
func valueExecutionConsistency() rule {
	return rule{
		name:  "value_execution_consistency",
		title: "Values against execution records and predictions: supported, conflicting, untested.",
		thresholds: []Threshold{{
			Name: "min_predictions", Default: 30, Min: 1, Max: 1e6,
			Meaning: "How many predictions it takes before values are compared with them.",
		}},
		begin: func(a *audit) (work, error) {
			return work{end: func(f *Finding) error { return (&valueWork{a: a, f: f}).end() }}, nil
		},
	}
}

type valueWork struct {
	a                         *audit
	f                         *Finding
	execution, prediction     value.LabelID
	exemplifies, contradicts  value.TypeID
	references                value.TypeID
	hops                      []graph.Hop
	supported, conflict, none int
	hits                      []hit
}

// labelled lists the nodes with a label in ascending order of id.
func (a *audit) labelled(name string) ([]value.NodeID, error) {
	l, ok := a.tx.Label(name)
	if !ok {
		return nil, nil
	}
	var out []value.NodeID
	buf := make([]value.NodeID, checkEvery)
	for after := value.NodeID(0); ; {
		if a.ctx.Err() != nil {
			return nil, canceled(a.ctx)
		}
		ids, err := a.tx.ScanNodes(l, after, buf)
		if err != nil || len(ids) == 0 {
			return out, err
		}
		out = append(out, ids...)
		after = ids[len(ids)-1]
	}
}

func (w *valueWork) end() error {
	a, f := w.a, w.f
	predictions, err := a.labelled(labelPrediction)
	if err != nil {
		return err
	}
	values, err := a.labelled(vocab.LabelValue)
	if err != nil {
		return err
	}
	executions, _ := a.tx.Label(labelExecution)
	f.How = fmt.Sprintf("exact: over %d Value, %d Execution and %d Prediction nodes", len(values), a.countOf(executions), len(predictions))
	f.measure("values", len(values), "nodes")
	f.measure("executions", a.countOf(executions), "nodes")
	f.measure("predictions", len(predictions), "nodes")
	if need := int64(a.threshold("min_predictions")); int64(len(predictions)) < need {
		f.Status, f.have, f.need = Deferred, int64(len(predictions)), need
		f.Note = fmt.Sprintf("It takes %[2]d predictions, of which there are %[1]d, before values can be compared with what was expected.", len(predictions), need)
		return nil
	}
	if err := w.outcomes(predictions); err != nil {
		return err
	}
	w.execution, w.exemplifies, w.contradicts, w.references = executions, a.typeID(typeExemplifies), a.typeID(vocab.Contradicts), a.typeID(typeReferences)
	w.prediction, _ = a.tx.Label(labelPrediction)
	for _, id := range values {
		if err := w.judge(id); err != nil {
			return err
		}
	}
	f.measure("supported", w.supported, "nodes")
	f.measure("conflicting", w.conflict, "nodes")
	f.measure("untested", w.none, "nodes")
	w.note(len(values))
	return a.listHits(f, w.hits)
}

func (w *valueWork) note(values int) {
	var parts []string
	if w.conflict > 0 {
		parts = append(parts, amount(w.conflict, "conflicts", "conflict")+" with something that was done or came out")
	}
	if w.none > 0 {
		parts = append(parts, fmt.Sprintf("nothing was done or expected that would test %d", w.none))
	}
	w.f.Note = fmt.Sprintf("Of %s, %s supported and none conflicts.", plural(values, "value"), amount(w.supported, "is", "are"))
	if len(parts) > 0 {
		w.f.Status = Notice
		w.f.Note = fmt.Sprintf("Of %s, %s; %s supported only.", plural(values, "value"), strings.Join(parts, ", "), amount(w.supported, "is", "are"))
	}
}

// countOf is how many nodes carry a label; 0 for one that there is not.
func (a *audit) countOf(l value.LabelID) int64 {
	if l == 0 {
		return 0
	}
	return a.tx.NodeCount(l)
}

// typeID is the id of a type's name, 0 for one that there is not.
func (a *audit) typeID(name string) value.TypeID {
	t, _ := a.tx.RelType(name)
	return t
}

// outcomes measures how predictions came out: the share that came true, and the Brier
// score, the mean square of how far the confidence was off.
func (w *valueWork) outcomes(predictions []value.NodeID) error {
	known, held, scored, off := int64(0), int64(0), int64(0), 0.0
	for _, id := range predictions {
		outcome, err := w.a.prop(id, keyOutcome)
		if err != nil {
			return err
		}
		if outcome.Kind() != value.KindBool {
			continue
		}
		known++
		came := 0.0
		if outcome.AsBool() {
			held++
			came = 1
		}
		confidence, err := w.a.prop(id, vocab.KeyConfidence)
		if err != nil {
			return err
		}
		if confidence.IsNumber() && confidence.AsFloat() >= 0 && confidence.AsFloat() <= 1 {
			scored++
			off += (confidence.AsFloat() - came) * (confidence.AsFloat() - came)
		}
	}
	w.f.measure("predictions_with_outcome", known, "nodes")
	w.f.measure("came_true", share(held, known), "share")
	if scored > 0 {
		w.f.measure("brier", off/float64(scored), "score")
	}
	return nil
}

// judge looks at what was done and expected about a value.
func (w *valueWork) judge(id value.NodeID) error {
	a := w.a
	slot, ok := a.shape.NodeSlot(id)
	if !ok {
		return nil
	}
	pro, con := 0, 0
	w.hops = a.shape.ExpandSlots(slot, value.In, nil, w.hops[:0])
	incoming := len(w.hops)
	w.hops = a.shape.ExpandSlots(slot, value.Out, nil, w.hops)
	for i, h := range w.hops {
		done := w.execution != 0 && a.shape.HasLabelSlot(h.Node, w.execution)
		switch {
		case done && h.Type == w.exemplifies && w.exemplifies != 0 && i < incoming:
			pro++
		case done && h.Type == w.contradicts && w.contradicts != 0:
			con++
		case w.prediction != 0 && a.shape.HasLabelSlot(h.Node, w.prediction) && h.Type == w.references && w.references != 0 && i < incoming:
			outcome, err := a.prop(a.shape.NodeID(h.Node), keyOutcome)
			if err != nil {
				return err
			}
			if outcome.Kind() == value.KindBool && outcome.AsBool() {
				pro++
			} else if outcome.Kind() == value.KindBool {
				con++
			}
		}
	}
	switch {
	case con > 0:
		w.conflict++
		w.hits = append(w.hits, hit{id, fmt.Sprintf("%s against it, %d for it", plural(con, "record"), pro)})
	case pro > 0:
		w.supported++
	default:
		w.none++
		w.hits = append(w.hits, hit{id, "untested: no execution and no known outcome is about it"})
	}
	return nil
}
