package audit

import (
	"fmt"
	"slices"

	"engram/graph/value"
	"engram/graph/vocab"
)

// wonderAuthenticity asks whether open questions pull where predictions are unsure.
func wonderAuthenticity() rule {
	return rule{
		name:  "wonder_authenticity",
		title: "Rank correlation (Spearman) of the pull of open questions with the uncertainty of the predictions they refer to.",
		thresholds: []Threshold{{
			Name: "min_pairs", Default: 30, Min: 4, Max: 1e6,
			Meaning: "How many pairs of pull and uncertainty it takes before they are correlated.",
		}},
		begin: func(a *audit) (work, error) { return work{end: a.wonderEnd}, nil },
	}
}

func (a *audit) wonderEnd(f *Finding) error {
	questions, err := a.labelled(labelQuestion)
	if err != nil {
		return err
	}
	var pulls, doubts []float64
	for _, id := range questions {
		pull, err := a.prop(id, "pull")
		if err != nil {
			return err
		}
		doubt, ok, err := a.doubt(id)
		if err != nil {
			return err
		}
		if ok && pull.IsNumber() && finite(pull.AsFloat()) {
			pulls, doubts = append(pulls, pull.AsFloat()), append(doubts, doubt)
		}
	}
	n := len(pulls)
	f.How = fmt.Sprintf("exact: over %d OpenQuestion nodes, of which %d have a pull and refer to a prediction with a confidence", len(questions), n)
	f.measure("open_questions", len(questions), "nodes")
	f.measure("pairs", n, "pairs")
	if need := int64(a.threshold("min_pairs")); int64(n) < need {
		f.Status, f.have, f.need = Deferred, int64(n), need
		f.Note = fmt.Sprintf("There are %d pairs of a question's pull and a prediction's uncertainty, and it takes %d to correlate them.", n, need)
		return nil
	}
	same := func(list []float64) bool { return slices.Min(list) == slices.Max(list) }
	switch {
	case same(pulls):
		f.Status = Notice
		f.Note = fmt.Sprintf("All %d pulls are %g: uniform weights, which say nothing about what is wondered at.", n, pulls[0])
		return nil
	case same(doubts):
		f.Status = Notice
		f.Note = fmt.Sprintf("All %d predictions are equally uncertain (%g), so that nothing can go with it.", n, doubts[0])
		return nil
	}
	rho, p, how := spearman(pulls, doubts)
	f.measure("rho", rho, "correlation")
	f.measure("p", p, "probability")
	f.How += "; p " + how + ", two-sided"
	if rho > 0 && p < 0.05 {
		f.Note = fmt.Sprintf("Questions pull more where predictions are less sure (rho %.2f, n %d, p %.2g).", rho, n, p)
		return nil
	}
	f.Status = Notice
	f.Note = fmt.Sprintf("The pull of questions does not follow the uncertainty of predictions (rho %.2f, n %d, p %.2g).", rho, n, p)
	return nil
}

// doubt is the mean uncertainty of the predictions that a question refers to: what they
// say of it, else what their confidence lacks to 1.
func (a *audit) doubt(id value.NodeID) (mean float64, ok bool, err error) {
	slot, there := a.shape.NodeSlot(id)
	references, prediction := a.typeID(typeReferences), value.LabelID(0)
	prediction, _ = a.tx.Label(labelPrediction)
	if !there || references == 0 || prediction == 0 {
		return 0, false, nil
	}
	n := 0
	for _, h := range a.shape.ExpandSlots(slot, value.Both, []value.TypeID{references}, nil) {
		if !a.shape.HasLabelSlot(h.Node, prediction) {
			continue
		}
		v, err := a.prop(a.shape.NodeID(h.Node), "uncertainty")
		if err != nil {
			return 0, false, err
		}
		doubt := v.AsFloat()
		if !v.IsNumber() {
			if v, err = a.prop(a.shape.NodeID(h.Node), vocab.KeyConfidence); err != nil {
				return 0, false, err
			}
			doubt = 1 - v.AsFloat()
		}
		if v.IsNumber() && doubt >= 0 && doubt <= 1 {
			mean += doubt
			n++
		}
	}
	return mean / float64(max(n, 1)), n > 0, nil
}
