package naive

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"engram/graph/value"
	"engram/query/internal/access"
)

// The vocabulary of generated graphs and statements. Each key holds values of
// one kind, or nothing.
var (
	labels   = []string{"A", "B", "C"}
	relTypes = []string{"R", "S", "T"}
	keys     = map[kind]string{intKind: "i", stringKind: "s", boolKind: "b", listKind: "l", floatKind: "f"}
)

// kind is what a generated expression yields; every one may be null.
type kind uint8

const (
	intKind kind = iota
	floatKind
	stringKind
	boolKind
	listKind // of integers
	nodeKind
	edgeKind
	edgesKind
	pathKind
	scalars = floatKind + 1
)

// FillGraph adds up to 8 nodes and 12 edges to an empty graph.
func FillGraph(g access.Writer, r *rand.Rand) error {
	var ids []value.NodeID
	for range min(r.IntN(20), 7) {
		var ls []value.LabelID
		for _, name := range labels {
			if l, err := g.InternLabel(name); err != nil {
				return err
			} else if r.IntN(2) == 0 {
				ls = append(ls, l)
			}
		}
		props, err := randomProps(g, r)
		if err != nil {
			return err
		}
		id, err := g.CreateNode(ls, props)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return nil
	}
	for range 2 + r.IntN(11) {
		t, err := g.InternRelType(relTypes[r.IntN(len(relTypes))])
		if err != nil {
			return err
		}
		props, err := randomProps(g, r)
		if err != nil {
			return err
		}
		if _, err := g.CreateEdge(ids[r.IntN(len(ids))], ids[r.IntN(len(ids))], t, props); err != nil {
			return err
		}
	}
	return nil
}

func randomProps(g access.Writer, r *rand.Rand) ([]access.Prop, error) {
	var out []access.Prop
	for _, k := range []kind{intKind, floatKind, stringKind, boolKind, listKind} {
		id, err := g.InternKey(keys[k])
		if err != nil {
			return nil, err
		}
		if r.IntN(2) == 0 {
			out = append(out, access.Prop{Key: id, Value: randomValue(r, k)})
		}
	}
	return out, nil
}

// randomValue makes values from small sets, so that they often meet. Floats are
// multiples of a half: their sums don't depend on the order.
func randomValue(r *rand.Rand, k kind) value.Value {
	switch k {
	case intKind:
		return value.Int(int64(r.IntN(6) - 2))
	case floatKind:
		return value.Float(float64(r.IntN(8)-3) / 2)
	case stringKind:
		return value.String([]string{"", "a", "b", "ab", "ba"}[r.IntN(5)])
	case boolKind:
		return value.Bool(r.IntN(2) == 0)
	}
	var vs []value.Value
	for range r.IntN(4) {
		vs = append(vs, randomValue(r, intKind))
	}
	return value.List(vs)
}

// Statement is a generated statement. Ordered tells that its rows come in a
// certain order.
type Statement struct {
	Text    string
	Ordered bool
}

// Generate makes a random statement that binds and raises no error, over the
// vocabulary of FillGraph. Its rows don't depend on choices that are left to
// the engine: rows are cut only where all columns are sorted by.
func Generate(r *rand.Rand, writes bool) Statement {
	g := &gen{r: r}
	for range 1 + r.IntN(3) {
		g.reading()
	}
	if writes {
		g.writing()
		return Statement{Text: g.b.String()}
	}
	ordered := g.projection("RETURN")
	if !ordered && r.IntN(12) == 0 {
		first := g.b.String()
		g.b.Reset()
		g.b.WriteString(first + []string{" UNION ", " UNION ALL "}[r.IntN(2)] + first)
	}
	return Statement{Text: g.b.String(), Ordered: ordered}
}

// gen writes one statement; vars are the variables in scope, in order.
type gen struct {
	r    *rand.Rand
	b    strings.Builder
	vars []variable
	next int
	// before and used are for the MATCH at hand: what was there before it, and
	// which relationships it mentions.
	before, used map[string]bool
}

type variable struct {
	name string
	k    kind
}

func (g *gen) writef(format string, args ...any) { fmt.Fprintf(&g.b, format, args...) }

func (g *gen) chance(n int) bool { return g.r.IntN(n) == 0 }

func (g *gen) pick(list []string) string { return list[g.r.IntN(len(list))] }

func (g *gen) fresh(k kind) string {
	g.next++
	name := fmt.Sprintf("v%d", g.next)
	g.vars = append(g.vars, variable{name, k})
	return name
}

// known returns a variable of the kind in scope, or "".
func (g *gen) known(k kind) string {
	var names []string
	for _, v := range g.vars {
		if v.k == k {
			names = append(names, v.name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	return g.pick(names)
}

func (g *gen) reading() {
	switch n := g.r.IntN(25); {
	case n < 1:
		g.shortest()
	case n < 11:
		g.match("MATCH ")
	case n < 15:
		g.match("OPTIONAL MATCH ")
	case n < 17:
		g.call()
	case n < 19:
		list := g.expr(listKind, 1)
		g.writef("UNWIND %s AS %s ", list, g.fresh(intKind))
	default:
		if len(g.vars) == 0 {
			g.match("MATCH ")
			return
		}
		g.projection("WITH")
	}
}

// call writes CALL { } that imports one variable, or none.
func (g *gen) call() {
	inner := &gen{r: g.r, next: g.next}
	if node := g.known(nodeKind); node != "" {
		inner.vars = []variable{{node, nodeKind}}
		inner.writef("WITH %s ", node)
	}
	inner.match("MATCH ")
	inner.projection("RETURN")
	g.writef("CALL { %s} ", inner.b.String())
	g.vars = append(g.vars, inner.vars...)
	g.next = inner.next
}

// shortest writes a MATCH of the shortest paths. Which of those that are as long
// are found is left to the engine, so of SHORTEST k only the lengths are looked at.
func (g *gen) shortest() {
	pattern := func(from, rel, to string) {
		g.writef("(%s:%s)", from, g.pick(labels))
		g.writef(g.pick([]string{"-[%s:R|S]->%s", "<-[%s:S|T]-%s", "-[%s]-%s"}), rel, g.pick([]string{"{2,4}", "{1,4}", "{0,3}", ""}))
		g.writef("(%s:%s)", to, g.pick(labels))
	}
	if g.chance(2) {
		g.next++
		path := fmt.Sprintf("v%d", g.next)
		g.writef("MATCH %s = %s ", path, g.pick([]string{"ALL SHORTEST", "SHORTEST 1 GROUPS", "SHORTEST 2 GROUPS", "SHORTEST 3 PATH GROUPS"}))
		pattern(g.fresh(nodeKind), "", g.fresh(nodeKind))
		g.writef(" ")
		g.vars = append(g.vars, variable{path, pathKind})
		return
	}
	from, to := g.fresh(nodeKind), g.fresh(nodeKind)
	g.writef("CALL { MATCH p = %s ", g.pick([]string{"ANY SHORTEST", "SHORTEST 2", "ANY 3", "SHORTEST 4 PATHS"}))
	pattern(from, "", to)
	g.writef(" RETURN %s, %s, length(p) AS %s } ", from, to, g.fresh(intKind))
}

func (g *gen) match(word string) {
	g.writef("%s", word)
	g.before, g.used = map[string]bool{}, map[string]bool{}
	for _, v := range g.vars {
		g.before[v.name] = true
	}
	for i := range 1 + g.r.IntN(2)*g.r.IntN(2) {
		if i > 0 {
			g.writef(", ")
		}
		g.pattern()
	}
	if g.chance(4) {
		g.writef(" WHERE %s", g.expr(boolKind, 2))
	}
	g.writef(" ")
}

func (g *gen) pattern() {
	path := ""
	if g.chance(8) {
		g.next++
		path = fmt.Sprintf("v%d", g.next)
		g.writef("%s = ", path)
	}
	g.node()
	for range g.r.IntN(5) / 2 {
		g.rel()
		g.node()
	}
	if path != "" {
		g.vars = append(g.vars, variable{path, pathKind})
	}
}

func (g *gen) node() {
	g.writef("(")
	if old := g.known(nodeKind); old != "" && g.chance(2) {
		g.writef("%s", old)
	} else if !g.chance(4) {
		g.writef("%s", g.fresh(nodeKind))
	}
	switch g.r.IntN(10) {
	case 0, 1:
		g.writef(":%s", g.pick(labels))
	case 2:
		g.writef(":%s%s%s", g.pick(labels), g.pick([]string{":", "&", "|", "&!"}), g.pick(labels))
	}
	g.props()
	g.writef(")")
}

func (g *gen) props() {
	if g.chance(12) {
		k := []kind{intKind, stringKind, boolKind}[g.r.IntN(3)]
		g.writef(" {%s: %s}", keys[k], g.literal(k))
	}
}

func (g *gen) rel() {
	left, right := "-", "-"
	switch g.r.IntN(3) {
	case 0:
		left = "<-"
	case 1:
		right = "->"
	}
	many := g.chance(5)
	name := ""
	if old := g.oldEdge(many); old != "" && g.chance(4) {
		name = old
	} else if g.chance(2) {
		k := edgeKind
		if many {
			k = edgesKind
		}
		name = g.fresh(k)
	}
	g.writef("%s[%s", left, name)
	switch g.r.IntN(6) {
	case 0:
		g.writef(":%s", g.pick(relTypes))
	case 1:
		g.writef(":%s|%s", g.pick(relTypes), g.pick(relTypes))
	case 2:
		g.writef(":%s%s%s%s", g.pick([]string{"", "!"}), g.pick(relTypes), g.pick([]string{"|!", "&!"}), g.pick(relTypes))
	}
	if many {
		g.writef("*%s", g.pick([]string{"0..2", "1..2", "2", "..2", "0..1"}))
	}
	g.props()
	g.writef("]%s", right)
}

// oldEdge returns a relationship, or a list of them, that an earlier clause
// bound and this one doesn't use yet.
func (g *gen) oldEdge(many bool) string {
	k := edgeKind
	if many {
		k = edgesKind
	}
	name := g.known(k)
	if name == "" || g.used[name] || !g.before[name] {
		return ""
	}
	g.used[name] = true
	return name
}

// projection writes WITH or RETURN and reports whether its rows are in order.
func (g *gen) projection(word string) bool {
	distinct, aggregate := g.chance(5), g.chance(3)
	g.writef("%s ", word)
	if distinct {
		g.writef("DISTINCT ")
	}
	var items []variable
	for range 1 + g.r.IntN(3) {
		g.next++
		v := variable{name: fmt.Sprintf("v%d", g.next)}
		if len(items) > 0 {
			g.writef(", ")
		}
		switch {
		case aggregate && g.chance(2):
			v.k = intKind
			g.writef("%s AS %s", g.aggregate(), v.name)
		case g.chance(2) && len(g.vars) > 0:
			old := g.vars[g.r.IntN(len(g.vars))]
			v.k = old.k
			g.writef("%s AS %s", old.name, v.name)
		default:
			v.k = kind(g.r.IntN(int(listKind) + 1))
			g.writef("%s AS %s", g.expr(v.k, 2), v.name)
		}
		items = append(items, v)
	}
	g.vars = items
	g.writef(" ")
	ordered := g.chance(3)
	if ordered {
		g.orderBy(items)
	}
	if word == "WITH" && g.chance(4) {
		g.writef("WHERE %s ", g.expr(boolKind, 2))
	}
	return ordered
}

// orderBy sorts by every column, and may then cut.
func (g *gen) orderBy(items []variable) {
	for i, j := range g.r.Perm(len(items)) {
		sep := ", "
		if i == 0 {
			sep = "ORDER BY "
		}
		g.writef("%s%s%s", sep, items[j].name, g.pick([]string{"", " DESC"}))
	}
	g.writef(" ")
	if g.chance(3) {
		g.writef("SKIP %d ", g.r.IntN(2))
	}
	if g.chance(2) {
		g.writef("LIMIT %d ", min(6, g.r.IntN(20)))
	}
}

// aggregate makes an integer of an aggregate whose result doesn't depend on the
// order of the rows.
func (g *gen) aggregate() string {
	distinct := g.pick([]string{"", "DISTINCT "})
	switch g.r.IntN(6) {
	case 0:
		return "count(*)"
	case 1:
		return fmt.Sprintf("count(%s%s)", distinct, g.expr(kind(g.r.IntN(int(listKind)+1)), 1))
	case 2:
		return fmt.Sprintf("sum(%s%s)", distinct, g.expr(intKind, 1))
	case 3:
		return fmt.Sprintf("%s(%s)", g.pick([]string{"min", "max"}), g.expr(intKind, 1))
	case 4:
		return fmt.Sprintf("size(collect(%s%s))", distinct, g.expr(stringKind, 1))
	}
	return fmt.Sprintf("count(%s%s) + %d", distinct, g.expr(intKind, 1), g.r.IntN(3))
}

// writing ends the statement with one clause that writes. What it writes does
// not depend on the order of the rows.
func (g *gen) writing() {
	node, edge := g.known(nodeKind), g.known(edgeKind)
	switch n := g.r.IntN(6); {
	case n == 0 && node != "":
		k := []kind{intKind, stringKind, boolKind}[g.r.IntN(3)]
		g.writef("SET %s.%s = %s", node, keys[k], g.literal(k))
	case n == 1 && node != "":
		g.writef("%s %s:%s", g.pick([]string{"SET", "REMOVE"}), node, g.pick(labels))
	case n == 2 && edge != "":
		g.writef("DELETE %s", edge)
	case n == 3 && node != "":
		g.writef("DETACH DELETE %s", node)
	case n == 4:
		g.writef("MERGE (:%s {i: %s})", g.pick(labels), g.literal(intKind))
	default:
		g.writef("CREATE (:%s {i: %s})-[:%s]->(:%s)", g.pick(labels), g.expr(intKind, 1), g.pick(relTypes), g.pick(labels))
	}
}
