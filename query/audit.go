package query

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"engram/activation"
	"engram/audit"
	"engram/graph"
	"engram/graph/value"
	"engram/query/internal/access"
	"engram/query/internal/bind"
	"engram/query/internal/bound"
	"engram/query/internal/fault"
	"engram/query/internal/lifecycle"
	"engram/query/internal/physical"
	"engram/query/internal/syntax"
)

// auditStructure is AUDIT STRUCTURE: a row for each finding and, with SUGGEST, for
// each statement that would settle it.
func (e *Engine) auditStructure() *physical.Procedure {
	list, text, whole := bound.OneOf(value.KindList), bound.OneOf(value.KindString), bound.OneOf(value.KindInt)
	nodes, edges := bound.ListOf(bound.OneOf(value.KindNode)), bound.ListOf(bound.OneOf(value.KindEdge))
	return &physical.Procedure{
		Procedure: bind.Procedure{
			Name: syntax.AuditStructure, Whole: true, Check: checkAudit,
			Args: []bind.Field{
				{Name: "ONLY", Type: list}, {Name: "WITH", Type: bound.OneOf(value.KindMap)}, {Name: "SUGGEST", Type: bound.OneOf(value.KindBool)},
			},
			Outputs: []bind.Field{
				{Name: "finding", Type: text},
				{Name: "status", Type: text},
				{Name: "count", Type: whole},
				{Name: "note", Type: text},
				{Name: "measured", Type: bound.OneOf(value.KindMap)},
				{Name: "how", Type: text},
				{Name: "parts", Type: list},
				{Name: "nodes", Type: nodes},
				{Name: "nodeCount", Type: whole},
				{Name: "relationships", Type: edges},
				{Name: "relationshipCount", Type: whole},
				{Name: "why", Type: list},
				{Name: "next", Type: text},
				{Name: "statement", Type: text},
				{Name: "score", Type: bound.Null},
			},
		},
		Change: func(g lifecycle.Graph, args []value.Value) ([][]value.Value, error) {
			tx, err := graphOf(g, "audited")
			if err != nil {
				return nil, err
			}
			o, err := auditOptions(args)
			if err != nil {
				return nil, err
			}
			o.Now = millis(g.Now())
			ctx := &stepping{Context: context.Background(), step: g.Step}
			report, err := e.Audit(ctx, tx, o)
			if ctx.err != nil {
				return nil, ctx.err
			}
			if err != nil {
				return nil, auditFault(err)
			}
			return auditRows(g, report), nil
		},
	}
}

// graphOf returns the transaction that a statement runs in.
func graphOf(g lifecycle.Graph, what string) (*graph.Tx, error) {
	if tx, ok := g.Under().(*graph.Tx); ok {
		return tx, nil
	}
	return nil, fault.AtRuntime(fault.NotSupported, "NotSupported", "this graph cannot be %s", what)
}

// auditFault makes an argument that cannot be meant an error of the statement.
func auditFault(err error) error {
	var g *graph.Error
	if errors.As(err, &g) && g.Code == graph.InvalidArgument {
		return fault.AtRuntime(fault.ArgumentError, "InvalidOption", "%s", g.Message)
	}
	return err
}

// stepping is a context that ends when the statement's budget does.
type stepping struct {
	context.Context //nolint:containedctx // it is one
	step            func(int) error
	err             error
}

// auditStep is how many steps a look at the context counts: audits look once for
// about as many nodes.
const auditStep = 1024

// Err implements context.Context.
func (s *stepping) Err() error {
	if s.err == nil {
		s.err = s.step(auditStep)
	}
	return s.err
}

// Audit audits what a transaction shows. What o leaves out of Reads, Pressed
// and Last is filled in: what the engine counted of statements and holds in working
// memories, and the last RECORD AUDIT.
func (e *Engine) Audit(ctx context.Context, tx *graph.Tx, o audit.Options) (*audit.Report, error) {
	if o.Reads == nil {
		o.Reads = e.reads()
	}
	if o.Pressed == nil {
		o.Pressed = e.pressed()
	}
	if o.Last == nil {
		last, err := lastRecorded(tx)
		if err != nil {
			return nil, err
		}
		o.Last = last
	}
	if tx.Writable() {
		aside, err := tx.Alongside()
		if err != nil {
			return nil, err
		}
		defer aside.Rollback()
		tx = aside
	}
	return audit.Run(ctx, tx, &o)
}

// pressed adds up what the conversations of this process hold back.
func (e *Engine) pressed() *[]audit.Pressed {
	times := map[value.NodeID]int{}
	e.minds.Each(func(w *activation.WorkingMemory) {
		w.EachPressure(func(id activation.ID, n int) { times[value.NodeID(id)] += n })
	})
	list := make([]audit.Pressed, 0, len(times))
	for _, id := range slices.Sorted(maps.Keys(times)) {
		list = append(list, audit.Pressed{Node: id, Count: times[id]})
	}
	return &list
}

func millis(t value.DateTime) int64 { return t.Seconds*1000 + int64(t.Nanos)/1e6 }

// auditRows are the rows of a report.
func auditRows(g access.Reader, r *audit.Report) [][]value.Value {
	var rows [][]value.Value
	for i := range r.Findings {
		f := &r.Findings[i]
		nodes, edges, why := make([]value.Value, 0), make([]value.Value, 0), make([]value.Value, 0)
		for _, n := range f.Nodes.Items {
			if g.NodeExists(n.ID) { // a statement that writes may be a moment ahead
				nodes, why = append(nodes, value.NodeRef(n.ID)), append(why, value.String(n.Why))
			}
		}
		for _, e := range f.Edges.Items {
			if _, _, _, ok := g.EdgeEnds(e.ID); !ok {
				continue
			}
			edges = append(edges, value.EdgeRef(e.ID))
			if len(f.Nodes.Items) == 0 {
				why = append(why, value.String(e.Why))
			}
		}
		next := value.Null
		if c := f.Nodes.Next + f.Edges.Next; f.Nodes.Next == "" && c != "" {
			next = value.String(c)
		} else if c != "" {
			next = value.String(f.Nodes.Next)
		}
		row := []value.Value{
			value.String(f.Name), value.String(string(f.Status)), value.Int(f.Count), value.String(f.Note), measuredMap(f.Measured), value.String(f.How),
			partList(f.Parts), value.List(nodes), value.Int(f.Nodes.Total), value.List(edges), value.Int(f.Edges.Total),
			value.List(why), next, value.Null, value.Null,
		}
		if len(f.Suggestions) == 0 {
			rows = append(rows, row)
		}
		for _, s := range f.Suggestions {
			with := slices.Clone(row)
			with[len(with)-2] = value.String(s)
			rows = append(rows, with)
		}
	}
	return rows
}

func measuredMap(list []audit.Measure) value.Value {
	entries := make([]value.Prop, 0, len(list))
	for _, m := range list {
		v, err := value.FromAny(m.Value)
		if err != nil {
			v = value.Null
		}
		entries = append(entries, value.Prop{Key: m.Name, Value: v})
	}
	return value.Map(entries)
}

func partList(list []audit.Part) value.Value {
	out := make([]value.Value, 0, len(list))
	for _, p := range list {
		entries := []value.Prop{
			{Key: "group", Value: value.String(p.Group)}, {Key: "name", Value: value.String(p.Name)}, {Key: "count", Value: value.Int(p.Count)},
		}
		if p.Note != "" {
			entries = append(entries, value.Prop{Key: "note", Value: value.String(p.Note)})
		}
		out = append(out, value.Map(entries))
	}
	return value.List(out)
}

// optionNames are what WITH takes besides thresholds.
var optionNames = []string{"limit", "cursor"}

func auditOptionNames() []string {
	names := slices.Clone(optionNames)
	for _, t := range audit.Thresholds() {
		names = append(names, t.Name)
	}
	return names
}

// checkAudit tells of names in the text that there are not.
func checkAudit(args []syntax.Expr) *fault.Error {
	if list, ok := args[0].(*syntax.ListLit); ok {
		for _, e := range list.Elems {
			if l, ok := e.(*syntax.Literal); ok {
				if err := knownAs("finding", l.Value.AsString(), l.Span, audit.Names()); err != nil {
					return err
				}
			}
		}
	}
	if m, ok := args[1].(*syntax.MapLit); ok {
		for _, k := range m.Keys {
			if err := knownAs("option of an audit", k.Text, k.Span, auditOptionNames()); err != nil {
				return err
			}
		}
	}
	return nil
}

func knownAs(what, name string, at syntax.Span, known []string) *fault.Error {
	if slices.Contains(known, name) {
		return nil
	}
	err := fault.Syntax("UnknownName", at, "there is no %s `%s`", what, name)
	if near := fault.NearestName(name, known); near != "" {
		return err.WithHint("Did you mean `%s`?", near)
	}
	return err.WithHint("There are %s.", strings.Join(known, ", "))
}

// auditOptions reads the arguments.
func auditOptions(args []value.Value) (audit.Options, error) {
	o := audit.Options{Suggest: args[2].Kind() == value.KindBool && args[2].AsBool()}
	for _, n := range args[0].AsList() {
		o.Only = append(o.Only, n.AsString())
	}
	if args[1].IsNull() {
		return o, nil
	}
	o.With = map[string]float64{}
	for _, p := range args[1].AsMap().Entries {
		v := p.Value
		bad := func(want string) error {
			return fault.AtRuntime(fault.ArgumentError, "InvalidOption", "the option %s of an audit is %s, not %s", p.Key, want, v)
		}
		switch {
		case v.IsNull():
		case p.Key == "limit":
			if v.Kind() != value.KindInt || v.AsInt() < 1 || v.AsInt() > audit.MaxLimit {
				return o, bad("an INTEGER from 1 to 10000")
			}
			o.Limit = int(v.AsInt())
		case p.Key == "cursor":
			if v.Kind() != value.KindString {
				return o, bad("a STRING that an audit gave as next")
			}
			o.Cursor = v.AsString()
		case !slices.Contains(auditOptionNames(), p.Key):
			return o, knownAs("option of an audit", p.Key, syntax.Span{}, auditOptionNames())
		case !v.IsNumber():
			return o, bad("a number")
		default:
			o.With[p.Key] = v.AsFloat()
		}
	}
	return o, nil
}

// The label and properties of what RECORD AUDIT keeps.
const (
	labelRecord = "AuditRecord"
	keyAt       = "created_at"
	keySeq      = "seq"
	keyNodes    = "nodes"
	keyEdges    = "relationships"
	keyTypes    = "types"
	keyCounts   = "type_counts"
	keySelf     = "self"
	keyPillars  = "pillars"
)

// recordAudit is RECORD AUDIT.
var recordAudit = &physical.Procedure{
	Procedure: bind.Procedure{
		Name: syntax.RecordAudit, Writes: true, Clause: true,
		Outputs: []bind.Field{{Name: "node", Type: bound.OneOf(value.KindNode)}},
	},
	Change: func(g lifecycle.Graph, _ []value.Value) ([][]value.Value, error) {
		tx, err := graphOf(g, "audited")
		if err != nil {
			return nil, err
		}
		c := audit.CountsOf(tx)
		names := slices.Sorted(maps.Keys(c.Types))
		counts := make([]value.Value, len(names))
		for i, n := range names {
			counts[i] = value.Int(c.Types[n])
		}
		self, pillars, err := selfModel(tx)
		if err != nil {
			return nil, err
		}
		id, err := g.Create(
			[]string{labelRecord, "Telemetry"},
			value.Prop{Key: keyAt, Value: value.OfDateTime(g.Now())},
			value.Prop{Key: keySeq, Value: value.Int(int64(c.Seq))},
			value.Prop{Key: keyNodes, Value: value.Int(c.Nodes + 1)}, // with the record itself
			value.Prop{Key: keyEdges, Value: value.Int(c.Edges)},
			value.Prop{Key: keyTypes, Value: texts(names...)},
			value.Prop{Key: keyCounts, Value: value.List(counts)},
			value.Prop{Key: keySelf, Value: self},
			value.Prop{Key: keyPillars, Value: texts(pillars...)},
		)
		return [][]value.Value{{value.NodeRef(id)}}, err
	},
}

// selfModel is the external id of the declared self, null for none, and the names of the
// pillars.
func selfModel(tx *graph.Tx) (self value.Value, pillars []string, err error) {
	v := tx.Vocabulary()
	if id := v.Self(); id != 0 && tx.NodeExists(id) {
		name, err := tx.ElementID(id)
		if err != nil {
			return value.Null, nil, err
		}
		self = value.String(name)
	}
	for _, p := range v.Pillars() {
		if tx.NodeExists(p.Node) {
			pillars = append(pillars, p.Name)
		}
	}
	return self, pillars, nil
}

// lastRecorded reads what RECORD AUDIT kept last, nil when there is nothing that can
// be read as such.
func lastRecorded(g access.Reader) (*audit.Recorded, error) {
	label, ok := g.Label(labelRecord)
	if !ok {
		return nil, nil
	}
	var last value.NodeID
	buf := make([]value.NodeID, 256)
	for after := value.NodeID(0); ; {
		ids, err := g.ScanNodes(label, after, buf)
		if err != nil {
			return nil, err
		}
		if len(ids) == 0 {
			break
		}
		last = ids[len(ids)-1]
		after = last
	}
	if last == 0 {
		return nil, nil
	}
	n, err := g.LoadNode(last)
	if err != nil || n == nil {
		return nil, err
	}
	r := &audit.Recorded{Counts: audit.Counts{Types: map[string]int64{}}}
	var names, counts []value.Value
	for _, p := range n.Properties {
		switch v := p.Value; {
		case p.Key == keyAt && v.Kind() == value.KindDateTime:
			r.At = millis(v.AsDateTime())
		case p.Key == keySeq && v.Kind() == value.KindInt:
			r.Seq = uint64(v.AsInt())
		case p.Key == keyNodes && v.Kind() == value.KindInt:
			r.Nodes = v.AsInt()
		case p.Key == keyEdges && v.Kind() == value.KindInt:
			r.Edges = v.AsInt()
		case p.Key == keyTypes && v.Kind() == value.KindList:
			names = v.AsList()
		case p.Key == keySelf && v.Kind() == value.KindString:
			r.Self = v.AsString()
		case p.Key == keyPillars && v.Kind() == value.KindList:
			for _, name := range v.AsList() {
				r.Pillars = append(r.Pillars, name.AsString())
			}
		case p.Key == keyCounts && v.Kind() == value.KindList:
			counts = v.AsList()
		}
	}
	for i, name := range names {
		if i < len(counts) && name.Kind() == value.KindString && counts[i].Kind() == value.KindInt {
			r.Types[name.AsString()] = counts[i].AsInt()
		}
	}
	return r, nil
}
