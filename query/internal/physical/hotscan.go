package physical

import (
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
)

// within are the comparisons of a filter right above a scan that the scan can
// make itself, where the graph keeps the property in memory: nodes that fail them
// are not even made rows.
type within struct {
	key    string
	comps  []eval.Comparison
	bounds value.Bounds
	id     value.KeyID
	scan   access.HotScanner
	// exact: every row so far has passed, so the filter need not look.
	exact bool
}

// take adds a predicate if it fits: a comparison of a property of the scanned
// node, the same one for all, with a bound that is free.
func (w *within) take(slot int, e bound.Expr) bool {
	c, ok := eval.ComparisonOf(e)
	if !ok || c.Slot != slot || len(w.comps) > 0 && c.Key != w.key {
		return false
	}
	var sides value.Bounds
	for _, o := range append(w.comps[:len(w.comps):len(w.comps)], c) {
		if !o.Narrow(&sides, value.Int(0)) {
			return false
		}
	}
	w.key, w.comps = c.Key, append(w.comps, c)
	return true
}

// open decides whether the scan makes the comparisons in this execution. When a
// bound cannot be had the filter tells why.
func (w *within) open(f *frame) {
	w.exact, w.scan = false, nil
	if len(w.comps) == 0 {
		return
	}
	scan, ok := f.r.(access.HotScanner)
	if !ok {
		return
	}
	if w.id, ok = f.r.Key(w.key); !ok {
		return
	}
	w.bounds = value.Bounds{}
	f.env.Cols = nil
	for i := range w.comps {
		v, err := w.comps[i].Value(&f.env, 0)
		if err != nil || !w.comps[i].Narrow(&w.bounds, v) {
			return
		}
	}
	w.scan, w.exact = scan, true
}

// fill is nodeScan's next portion of the scan under way; ok is false when the
// scan has to go on without comparing.
func (w *within) fill(o *nodeScan) (ok bool, err error) {
	got, last, done, ok, err := w.scan.ScanNodesWithin(o.id, o.after, w.id, w.bounds, o.buf)
	if err != nil {
		return false, err
	}
	if !ok {
		w.scan, w.exact = nil, false
		return false, nil
	}
	o.got, o.after, o.active = got, last, !done
	return true, o.f.step(len(got) + 1024)
}

// filter makes the operator of a filter and leaves to a scan below what it can.
func (c *compiler) filter(in operator, carry []int, preds []bound.Expr) operator {
	out := &filter{in: in, carry: carry}
	below := in
	if m, ok := in.(*measured); ok {
		below = m.op
	}
	scan, _ := below.(*nodeScan)
	for _, p := range preds {
		f, err := eval.CompileFilter(p)
		if err != nil {
			c.fail(err)
		}
		out.preds = append(out.preds, f)
		out.made = append(out.made, scan != nil && scan.within.take(scan.slot, p))
	}
	if scan != nil && len(scan.within.comps) > 0 {
		out.within = &scan.within
	}
	return out
}
