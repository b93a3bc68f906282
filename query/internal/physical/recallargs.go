package physical

import (
	"math"

	"engram/graph/value"
	"engram/graph/vocab"
	"engram/query/internal/access"
	"engram/query/internal/bound"
	"engram/query/internal/eval"
	"engram/query/internal/fault"
	"engram/query/internal/recall"
	"engram/query/internal/syntax"
	"engram/query/internal/temporal"
)

// recallArgs are the expressions of RECALL and its like; those left out are nil.
type recallArgs struct {
	query, where, depth, limit, layers, asOf, within, since, until, reference, budget, conversation, missing eval.Fn
	from, weights                                                                                            []eval.Fn
}

func (c *compiler) recallArgs(r *bound.Recall) recallArgs {
	a := recallArgs{
		query: c.fn(r.Query), where: c.fn(r.Where), depth: c.fn(r.Depth), limit: c.fn(r.Limit), layers: c.fn(r.Layers),
		asOf: c.fn(r.AsOf), within: c.fn(r.Within), since: c.fn(r.Since), until: c.fn(r.Until),
		reference: c.fn(r.Reference), budget: c.fn(r.Budget), conversation: c.fn(r.Conversation), missing: c.fn(r.Missing),
	}
	for _, s := range r.From {
		a.from = append(a.from, c.fn(s.Node))
		a.weights = append(a.weights, c.fn(s.Weight))
	}
	return a
}

// options evaluates what the clause says for the current row. nothing tells that no
// rows were asked for.
func (o *recaller) options() (opts recall.Options, nothing bool, err error) {
	opts = recall.Options{
		Via: o.def.Via, Against: o.def.Not, Legs: o.f.in.Legs, Tuning: o.f.in.Tuning, Explain: o.explain || o.receipt,
	}
	for _, step := range []func(*recall.Options) error{o.seeds, o.self, o.times, o.layers} {
		if err := step(&opts); err != nil {
			return opts, false, err
		}
	}
	for _, word := range o.def.Including {
		switch word {
		case "SUPERSEDED":
			opts.Filter.Superseded = true
		case "FORGOTTEN":
			opts.Filter.Forgotten = true
		case "TELEMETRY":
			opts.Filter.Telemetry = true
		case "VERDICTS":
			opts.Filter.Verdicts = true
		}
	}
	if err := o.args.count(o, o.args.depth, "DEPTH", &opts.Depth); err != nil {
		return opts, false, err
	}
	if o.args.depth != nil && (opts.Depth < 1 || opts.Depth > maxDepth) {
		return opts, false, fault.AtRuntime(fault.ArgumentError, "NumberOutOfRange", "DEPTH is from 1 to %d, but is %d", maxDepth, opts.Depth)
	}
	if err := o.args.count(o, o.args.limit, "LIMIT", &opts.Limit); err != nil {
		return opts, false, err
	}
	if o.args.where != nil {
		o.view = append(o.view[:0], o.cur.Cols...)
		for s, c := range o.view {
			if c != nil {
				o.view[s] = c[o.row : o.row+1]
			}
		}
		if err := o.narrow(); err != nil {
			return opts, false, err
		}
		opts.Where = o.keep
	}
	if o.args.limit != nil && opts.Limit == 0 {
		opts.Limit = recall.NoRows // 0 would mean the default
	}
	return opts, opts.Limit == recall.NoRows && o.def.Missing == nil, nil
}

// maxDepth is how far activation may go.
const maxDepth = 16

// count evaluates an option that is a number from 0, unless it was left out.
func (a *recallArgs) count(o *recaller, fn eval.Fn, what string, to *int) error {
	if fn == nil {
		return nil
	}
	v, err := fn(&o.f.env, o.row)
	if err != nil {
		return err
	}
	if v.Kind() != value.KindInt || v.AsInt() < 0 {
		return typeError("%s of %s needs an integer that is not negative, but got %s", what, o.def.Verb, v)
	}
	*to = int(min(v.AsInt(), math.MaxInt32))
	return nil
}

// text evaluates an option that is a text; left out it is "".
func (a *recallArgs) text(o *recaller, fn eval.Fn, what string) (string, error) {
	if fn == nil {
		return "", nil
	}
	v, err := fn(&o.f.env, o.row)
	if err != nil {
		return "", err
	}
	if v.Kind() != value.KindString {
		return "", typeError("%s needs a text, but got %s", what, v.Kind().Named())
	}
	return v.AsString(), nil
}

// moment evaluates an option that says when; nil when it was left out.
func (o *recaller) moment(fn eval.Fn, what string) (*recall.Moment, value.Value, error) {
	if fn == nil {
		return nil, value.Null, nil
	}
	v, err := fn(&o.f.env, o.row)
	if err != nil {
		return nil, v, err
	}
	m, ok := recall.MomentOf(v)
	if !ok {
		return nil, v, fault.As(typeError("%s needs a date or a date and time, but got %s", what, v.Kind().Named())).
			WithHint("datetime('2024-05-06T07:08') makes one of a text.")
	}
	return &m, v, nil
}

// times evaluates AT, AS OF, WITHIN and BETWEEN.
func (o *recaller) times(opts *recall.Options) error {
	now, at, err := o.moment(o.args.reference, "AT")
	if err != nil {
		return err
	}
	if now == nil {
		at = value.OfDateTime(o.f.env.Statement)
		m, _ := recall.MomentOf(at)
		now = &m
	}
	opts.Now = *now
	if opts.Filter.AsOf, _, err = o.moment(o.args.asOf, "AS OF"); err != nil {
		return err
	}
	if opts.Filter.Since, _, err = o.moment(o.args.since, "BETWEEN"); err != nil {
		return err
	}
	if opts.Filter.Until, _, err = o.moment(o.args.until, "BETWEEN"); err != nil || o.args.within == nil {
		return err
	}
	d, err := o.args.within(&o.f.env, o.row)
	if err != nil {
		return err
	}
	if d.Kind() != value.KindDuration {
		return fault.As(typeError("WITHIN needs a duration, but got %s", d.Kind().Named())).
			WithHint("duration('P7D') makes one of a text.")
	}
	from, err := temporal.Subtract(at, d)
	if err != nil {
		return err
	}
	since, _ := recall.MomentOf(from)
	if now.Before(since) {
		return typeError("WITHIN needs a duration that is not negative, but got %s", d)
	}
	until := recall.Moment{Seconds: now.Seconds, Nanos: now.Nanos + 1} // this moment included
	opts.Filter.Since, opts.Filter.Until = &since, &until
	return nil
}

// layers evaluates IN LAYERS.
func (o *recaller) layers(opts *recall.Options) error {
	if o.args.layers == nil {
		return nil
	}
	v, err := o.args.layers(&o.f.env, o.row)
	if err != nil {
		return err
	}
	if v.Kind() != value.KindList {
		return typeError("IN LAYERS needs a list of layers, but got %s", v.Kind().Named())
	}
	opts.Filter.Layers = []value.Value{}
	for _, l := range v.AsList() {
		if err := checkLayer(o.f.r, l); err != nil {
			return err
		}
		opts.Filter.Layers = append(opts.Filter.Layers, l)
	}
	return nil
}

// checkLayer refuses what names no layer.
func checkLayer(g access.Reader, l value.Value) error {
	words := &vocab.Vocabulary{}
	if r, ok := g.(access.VocabularyReader); ok {
		words = r.Vocabulary()
	}
	switch l.Kind() {
	case value.KindInt:
		if l.AsInt() >= vocab.KindSafety && l.AsInt() <= vocab.KindSuit {
			return nil
		}
	case value.KindString:
		if _, ok := words.Layer(l.AsString()); ok {
			return nil
		}
	}
	var names []string
	for _, k := range words.Layers() {
		names = append(names, k.Name)
	}
	err := fault.AtRuntime(fault.ArgumentError, "NoSuchLayer", "there is no layer %s", l)
	if near := fault.NearestName(l.AsString(), names); near != "" {
		return err.WithHint("Did you mean %s?", near)
	}
	return err.WithHint("A layer is named by its name or its kind, 0 to 4. SHOW LAYERS lists them.")
}

// self evaluates SELF.
func (o *recaller) self(opts *recall.Options) error {
	if !o.def.Self {
		return nil
	}
	if r, ok := o.f.r.(access.VocabularyReader); ok {
		opts.Self = r.Vocabulary().Self()
	}
	if opts.Self == 0 || !o.f.r.NodeExists(opts.Self) {
		return fault.AtRuntime(fault.ArgumentError, "NoSelf", "no self is declared").
			WithHint("MATCH the node and say DECLARE SELF.")
	}
	return nil
}

// seeds reads the query, which is a text or nodes, and FROM.
func (o *recaller) seeds(opts *recall.Options) error {
	if o.args.query != nil {
		q, err := o.args.query(&o.f.env, o.row)
		if err != nil {
			return err
		}
		switch {
		case q.Kind() == value.KindString:
			opts.Query = q.AsString()
			opts.Near = o.f.in.Vectors[opts.Query]
		case o.def.Verb == syntax.VerbCompile:
			return typeError("COMPILE needs a text, but got %s", q.Kind().Named())
		case q.Kind() == value.KindNode || q.Kind() == value.KindList:
			if err := o.addSeeds(opts, q, 1); err != nil {
				return err
			}
		default:
			return typeError("RECALL needs a text, a node or a list of nodes, but got %s", q.Kind().Named())
		}
	}
	for i, from := range o.args.from {
		v, err := from(&o.f.env, o.row)
		if err != nil {
			return err
		}
		weight := 1.0
		if o.args.weights[i] != nil {
			w, err := o.args.weights[i](&o.f.env, o.row)
			if err != nil {
				return err
			}
			if weight = w.AsFloat(); !w.IsNumber() || !(weight >= 0) || math.IsInf(weight, 0) {
				return typeError("WEIGHT needs a number from 0, but got %s", w)
			}
		}
		if err := o.addSeeds(opts, v, weight); err != nil {
			return err
		}
	}
	return nil
}

// addSeeds takes a node, or a list of them. Null is no node: a seed that was not
// found would change the answer without a word.
func (o *recaller) addSeeds(opts *recall.Options, v value.Value, weight float64) error {
	switch v.Kind() {
	case value.KindNull:
		return fault.As(typeError("%s starts from nodes, but one of them is null", o.def.Verb)).
			WithHint("MATCH leaves out rows without the node, collect() leaves out nulls.")
	case value.KindNode:
		if !o.f.r.NodeExists(v.NodeID()) {
			return fault.AtRuntime(fault.EntityNotFound, "DeletedEntityAccess", "%s cannot start from a node that has been deleted", o.def.Verb)
		}
		opts.From = append(opts.From, recall.Seed{Node: v.NodeID(), Weight: weight})
		return nil
	case value.KindList:
		for _, e := range v.AsList() {
			if err := o.addSeeds(opts, e, weight); err != nil {
				return err
			}
		}
		return nil
	}
	return typeError("%s starts from nodes, but this is %s", o.def.Verb, v.Kind().Named())
}
