package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"engram/graph"
	"engram/graph/value"
)

// audit is one run.
type audit struct {
	ctx    context.Context //nolint:containedctx // of one run
	tx     *graph.Tx
	shape  *graph.Topology
	o      Options
	cursor cursor
	wanted map[value.KeyID]bool // properties that the pass over records hands out
	allKey bool                 // it hands out all of them
	text   *textScan            // when a finding asked for it
	stray  []value.NodeID       // with a record, but not in the topology

	thresholds map[string]float64
	looks      int // since the run began
}

// node is a node as the pass over the topology sees it.
type node struct {
	slot uint32 // its dense number in this run
	id   value.NodeID
}

// edge is an edge as the pass over the topology sees it.
type edge struct {
	slot     uint32 // its own dense number
	from, to uint32 // those of its ends
	typ      value.TypeID
	// weight is what it asserts, if anything; learned was learned beside.
	weight, learned float32
	weighted        bool
	inhibitory      bool // it asserts to hold back
}

// record is a node's record; it is valid during the call.
type record struct {
	*graph.Record
	slot uint32
}

// Run audits what a reading transaction shows; a long snapshot holds up nobody. It
// writes nothing. o may be nil. What cannot be meant is an error with code
// InvalidArgument; so is a writing transaction.
func Run(ctx context.Context, tx *graph.Tx, o *Options) (*Report, error) {
	a := &audit{ctx: ctx, tx: tx, shape: tx.Topology(), wanted: map[value.KeyID]bool{}}
	if o != nil {
		a.o = *o
	}
	if err := a.o.check(); err != nil {
		return nil, err
	}
	if tx.Writable() {
		return nil, invalid("an audit reads a snapshot: run it outside of a transaction that writes")
	}
	if err := tx.CheckWhole(); err != nil {
		return nil, err
	}
	a.readThresholds()
	if a.o.Limit == 0 {
		a.o.Limit = DefaultLimit
	}
	var err error
	if a.cursor, err = parseCursor(a.o.Cursor); err != nil {
		return nil, err
	}
	var chosen []rule
	var works []work
	for _, r := range rules() {
		if len(a.o.Only) > 0 && !slices.Contains(a.o.Only, r.name) {
			continue
		}
		w, err := r.begin(a)
		if err != nil {
			return nil, err
		}
		chosen, works = append(chosen, r), append(works, w)
	}
	for _, pass := range []func([]work) error{a.overTopology, a.overRecords} {
		if err := pass(works); err != nil {
			return nil, err
		}
	}
	return a.report(chosen, works)
}

// want asks for a property in the pass over the records and returns its key, 0 when
// no element ever had it.
func (a *audit) want(name string) value.KeyID {
	k, ok := a.tx.Key(name)
	if ok {
		a.wanted[k] = true
	}
	return k
}

// wantAll asks for all properties.
func (a *audit) wantAll() { a.allKey = true }

// threshold returns what Options.With or the default says.
func (a *audit) threshold(name string) float64 { return a.thresholds[name] }

// readThresholds makes one table of the defaults and Options.With.
func (a *audit) readThresholds() {
	a.thresholds = map[string]float64{}
	for _, t := range Thresholds() {
		a.thresholds[t.Name] = t.Default
	}
	maps.Copy(a.thresholds, a.o.With)
}

// checkEvery is after how many elements a run looks whether it was cancelled.
const checkEvery = 1024

// stopped reports whether the run was cancelled. It looks now and then only, so that
// it may be asked for every element: to look counts as checkEvery steps of a statement.
func (a *audit) stopped() bool {
	a.looks++
	return a.looks%checkEvery == 0 && a.ctx.Err() != nil
}

// over calls fn for all living nodes in ascending order of id.
func (a *audit) over(fn func(n node)) error {
	for s := range a.shape.Slots() {
		if s%checkEvery == 0 && a.ctx.Err() != nil {
			return canceled(a.ctx)
		}
		if a.shape.Living(s) {
			fn(node{slot: s, id: a.shape.NodeID(s)})
		}
	}
	return nil
}

// overTopology makes the pass over nodes and edges.
func (a *audit) overTopology(works []work) error {
	var nodes []func(node)
	var edges []func(edge)
	for _, w := range works {
		if w.node != nil {
			nodes = append(nodes, w.node)
		}
		if w.edge != nil {
			edges = append(edges, w.edge)
		}
	}
	if len(nodes) > 0 {
		err := a.over(func(n node) {
			for _, fn := range nodes {
				fn(n)
			}
		})
		if err != nil {
			return err
		}
	}
	if len(edges) == 0 {
		return nil
	}
	var rows []graph.EdgeRow
	for s := uint32(0); s < a.shape.EdgeSlots(); {
		if a.ctx.Err() != nil {
			return canceled(a.ctx)
		}
		rows, s = a.shape.ReadEdges(s, rows[:0])
		for i := range rows {
			r := &rows[i]
			e := edge{r.Slot, r.Src, r.Dst, r.Type, r.Weight, r.Learned, r.Weighted, r.Inhibitory}
			for _, fn := range edges {
				fn(e)
			}
		}
	}
	return nil
}

// overRecords makes the pass over the records.
func (a *audit) overRecords(works []work) error {
	var fns []func(*record) error
	if a.text != nil {
		a.text.begin()
		fns = append(fns, a.text.record)
	}
	for _, w := range works {
		if w.record != nil {
			fns = append(fns, w.record)
		}
	}
	if len(fns) == 0 {
		return nil
	}
	n := 0
	var rec record
	want := func(k value.KeyID) bool { return a.allKey || a.wanted[k] }
	return a.tx.ScanRecords(want, func(r *graph.Record) error {
		if n++; n%checkEvery == 0 && a.ctx.Err() != nil {
			return canceled(a.ctx)
		}
		slot, ok := a.shape.NodeSlot(r.ID)
		if !ok {
			a.stray = append(a.stray, r.ID) // orphans_and_dangling tells
			return nil
		}
		rec = record{r, slot}
		for _, fn := range fns {
			if err := fn(&rec); err != nil {
				return err
			}
		}
		return nil
	})
}

// report lets each finding fill itself in.
func (a *audit) report(chosen []rule, works []work) (*Report, error) {
	out := &Report{Seq: a.tx.Seq(), Findings: []Finding{}, Deferred: []Reason{}, Unknown: []Reason{}}
	for i, w := range works {
		if a.ctx.Err() != nil {
			return nil, canceled(a.ctx)
		}
		f := Finding{
			Name: chosen[i].name, Status: OK, Measured: []Measure{}, Parts: []Part{}, Suggestions: []string{},
			Nodes: Nodes{Items: []Node{}}, Edges: Edges{Items: []Edge{}},
		}
		if err := w.end(&f); err != nil {
			return nil, err
		}
		if !a.o.Suggest {
			f.Suggestions = f.Suggestions[:0]
		}
		f.count()
		reason := Reason{Finding: f.Name, Reason: f.Note, Have: f.have, Need: f.need}
		switch f.Status {
		case Deferred:
			out.Deferred = append(out.Deferred, reason)
		case Unknown:
			out.Unknown = append(out.Unknown, reason)
		}
		out.Findings = append(out.Findings, f)
	}
	return out, nil
}

func invalid(format string, args ...any) error {
	return &graph.Error{Code: graph.InvalidArgument, Message: fmt.Sprintf(format, args...)}
}

func canceled(ctx context.Context) error {
	return &graph.Error{Code: graph.Canceled, Message: "the audit was given up", Err: context.Cause(ctx)}
}
