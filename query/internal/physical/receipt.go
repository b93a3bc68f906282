package physical

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"engram/graph/value"
	"engram/query/internal/bound"
	"engram/query/internal/logical"
	"engram/query/internal/recall"
	"engram/query/internal/receipt"
)

// maxDropped is how many of the candidates that were left out a receipt names.
const maxDropped = 100

// replayed is what a receipt has to know of the clause at plan time.
type replayed struct {
	where string // the text of WHERE
	node  string // the name that it knows the candidate by
	outer []outerVar
}

// outerVar is a variable of the row that WHERE reads.
type outerVar struct {
	name string
	slot int
}

func (c *compiler) replayed(o *logical.Recall) replayed {
	r := replayed{node: "node"}
	for _, y := range o.Call.Yields {
		if y.Field == "node" {
			r.node = y.Name
		}
	}
	if o.Call.Where == nil {
		return r
	}
	r.where = o.Call.Where.At().Text(c.inst.plan.Text)
	for _, s := range logical.SlotsOf(o.Call.Where).Without(o.Call.Node).List() {
		r.outer = append(r.outer, outerVar{c.part.Vars[s].Name, s})
	}
	return r
}

// receiptOf writes down what went into a recall.
func (o *recaller) receiptOf(opts *recall.Options, rows []recall.Row) (value.Value, error) {
	w := &receiptWriter{o: o, opts: opts, out: receipt.Receipt{
		Node: o.replay.node, Parameters: receipt.Parameters{}, At: strings.Trim(momentValue(opts.Now).String(), "'"),
		Seeds: []receipt.Seed{}, Limits: []string{}, Dropped: []receipt.Dropped{}, Rows: []receipt.Row{},
	}}
	if s, ok := o.f.r.(interface{ Seq() uint64 }); ok {
		w.out.Seq = s.Seq()
	}
	w.trace(rows)
	w.statement()
	if w.err != nil {
		return value.Null, w.err
	}
	text, err := w.out.Encode()
	if err != nil {
		return value.Null, err
	}
	return value.String(text), nil
}

type receiptWriter struct {
	o    *recaller
	opts *recall.Options
	out  receipt.Receipt
	err  error
}

// id is the external id of a node. An error is kept.
func (w *receiptWriter) id(n value.NodeID) string {
	s, err := w.o.f.r.ElementID(n)
	if err != nil && w.err == nil {
		w.err = err
	}
	return s
}

// trace tells what was seen on the way.
func (w *receiptWriter) trace(rows []recall.Row) {
	t := w.opts.Trace
	for _, s := range t.Seeds {
		w.out.Seeds = append(w.out.Seeds, receipt.Seed{ID: w.id(s.Node), Weight: s.Weight})
	}
	for _, l := range t.Limits {
		w.out.Limits = append(w.out.Limits, string(l))
	}
	for i, d := range t.Dropped {
		if i == maxDropped {
			w.out.More = len(t.Dropped) - i
			break
		}
		w.out.Dropped = append(w.out.Dropped, receipt.Dropped{ID: w.id(d.Node), Why: string(d.Why)})
	}
	for _, r := range rows {
		w.out.Rows = append(w.out.Rows, receipt.Row{ID: w.id(r.Node), Score: r.Score})
	}
}

// statement makes a RECALL that stands alone: what came from the row around or from
// expressions comes from parameters.
func (w *receiptWriter) statement() {
	var before, b strings.Builder
	seeds := w.seeds(&before)
	w.outer(&before)
	b.WriteString("RECALL " + w.param("query", value.String(w.opts.Query)))
	if len(seeds) > 0 {
		b.WriteString(" FROM " + strings.Join(seeds, ", "))
	}
	if w.opts.Self != 0 {
		b.WriteString(" SELF")
	}
	types(&b, " VIA :", w.opts.Via)
	types(&b, " AGAINST :", w.opts.Against)
	w.filter(&b)
	if w.opts.Depth != 0 {
		fmt.Fprintf(&b, " DEPTH %d", w.opts.Depth)
	}
	if w.opts.Limit != 0 {
		fmt.Fprintf(&b, " LIMIT %d", w.opts.Limit)
	}
	b.WriteString(" AT " + w.param("at", momentValue(w.opts.Now)))
	if w.o.replay.where != "" {
		b.WriteString(" WHERE " + w.o.replay.where)
		for _, name := range sortedNames(w.o.f.in.Params) {
			if strings.Contains(w.o.replay.where, name) {
				w.out.Parameters[name] = w.o.f.in.Params[name]
			}
		}
	}
	if w.out.Why == "" {
		w.out.Statement = before.String() + b.String()
	} else {
		w.out.Parameters = receipt.Parameters{}
	}
}

func sortedNames(params map[string]value.Value) []string {
	names := make([]string, 0, len(params))
	for n := range params {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// param sets a parameter and returns how it is written. Its name is one that the
// statement's own parameters do not have.
func (w *receiptWriter) param(name string, v value.Value) string {
	name = "recall_" + name
	for {
		if _, taken := w.o.f.in.Params[name]; !taken {
			break
		}
		name += "_"
	}
	w.out.Parameters[name] = v
	return "$" + name
}

// seeds matches the nodes of FROM; one that is gone by then is passed over.
func (w *receiptWriter) seeds(before *strings.Builder) []string {
	var out []string
	for i, s := range w.opts.From {
		name := "recall_seed" + strconv.Itoa(i)
		fmt.Fprintf(before, "OPTIONAL MATCH (%s {id: %s}) ", name, w.param("seed"+strconv.Itoa(i), value.String(w.id(s.Node))))
		out = append(out, name+" WEIGHT "+w.param("weight"+strconv.Itoa(i), value.Float(s.Weight)))
	}
	return out
}

// outer binds the variables of the row that WHERE reads.
func (w *receiptWriter) outer(before *strings.Builder) {
	var with []string
	for i := range w.opts.From {
		with = append(with, "recall_seed"+strconv.Itoa(i))
	}
	other := false
	for i, v := range w.o.replay.outer {
		val := w.o.cur.Cols[v.slot][w.o.row]
		p := "var" + strconv.Itoa(i)
		switch val.Kind() {
		case value.KindNode:
			fmt.Fprintf(before, "OPTIONAL MATCH (%s {id: %s}) ", bound.Quote(v.name), w.param(p, value.String(w.id(val.NodeID()))))
			with = append(with, bound.Quote(v.name))
		case value.KindEdge, value.KindPath:
			w.out.Why = fmt.Sprintf("WHERE reads %s, %s, which has no id to find it by", v.name, val.Kind().Named())
		default:
			if !receipt.Keeps(val) {
				w.out.Why = fmt.Sprintf("WHERE reads %s, %s with elements of the graph in it, which have no name in a receipt", v.name, val.Kind().Named())
				continue
			}
			other = true
			with = append(with, w.param(p, val)+" AS "+bound.Quote(v.name))
		}
	}
	if other {
		before.WriteString("WITH " + strings.Join(with, ", ") + " ")
	}
}

// filter writes what is left out and let in.
func (w *receiptWriter) filter(b *strings.Builder) {
	f := &w.opts.Filter
	if f.Layers != nil {
		b.WriteString(" IN LAYERS " + w.param("layers", value.List(f.Layers)))
	}
	if f.AsOf != nil {
		b.WriteString(" AS OF " + w.param("as_of", momentValue(*f.AsOf)))
	}
	if f.Since != nil {
		b.WriteString(" BETWEEN " + w.param("since", momentValue(*f.Since)) + " AND " + w.param("until", momentValue(*f.Until)))
	}
	if len(w.o.def.Including) > 0 {
		b.WriteString(" INCLUDING " + strings.Join(w.o.def.Including, "|"))
	}
}

func types(b *strings.Builder, word string, names []string) {
	for i, n := range names {
		b.WriteString([...]string{word, "|"}[min(i, 1)] + bound.Quote(n))
	}
}

func momentValue(m recall.Moment) value.Value {
	t, err := value.Zone{}.At(m.Seconds, m.Nanos)
	if err != nil { // out of the range of years, which no moment of a value is
		return value.Null
	}
	return value.OfDateTime(t)
}
