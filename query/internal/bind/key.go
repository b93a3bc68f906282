package bind

import (
	"fmt"
	"strconv"
	"strings"

	"engram/query/internal/syntax"
)

// noKey is the key of expressions that hold a pattern or a subquery: they are
// never taken for another.
const noKey = 0

// keyer numbers expressions so that those which are written the same, apart
// from white space, letter case of functions and parentheses, have the same
// number. Each part of an expression is looked at once, however often it is
// asked for: looking for every part of a long expression stays linear.
//
// The zero keyer is ready for use.
type keyer struct {
	known map[syntax.Expr]int
	ids   map[string]int
}

// key returns the number of e, from 1, or noKey.
func (k *keyer) key(e syntax.Expr) int {
	if id, ok := k.known[e]; ok {
		return id
	}
	if k.known == nil {
		k.known, k.ids = map[syntax.Expr]int{}, map[string]int{}
	}
	id := noKey
	if tag, parts, ok := shape(e); ok {
		id = k.number(tag, parts)
	}
	k.known[e] = id
	return id
}

func (k *keyer) number(tag string, parts []syntax.Expr) int {
	var b strings.Builder
	b.WriteString(tag)
	for _, p := range parts {
		b.WriteByte(' ')
		if p == nil {
			b.WriteByte('-')
			continue
		}
		id := k.key(p)
		if id == noKey {
			return noKey
		}
		b.WriteString(strconv.Itoa(id))
	}
	id, ok := k.ids[b.String()]
	if !ok {
		id = len(k.ids) + 1
		k.ids[b.String()] = id
	}
	return id
}

// shape splits an expression into what it says itself and its parts; a part
// that is left out is nil. It reports false for patterns and subqueries.
func shape(e syntax.Expr) (tag string, parts []syntax.Expr, ok bool) {
	switch e := e.(type) {
	case *syntax.Literal:
		v := e.Value
		return fmt.Sprintf("lit %d %v %d %x %q", v.Kind(), v.AsBool(), v.AsInt(), v.AsFloat(), v.AsString()), nil, true
	case *syntax.Param:
		return "param " + strconv.Quote(e.Name), nil, true
	case *syntax.Variable:
		return "var " + strconv.Quote(e.Text), nil, true
	case *syntax.Property:
		return "prop " + strconv.Quote(e.Key.Text), []syntax.Expr{e.E}, true
	case *syntax.Index:
		return "index", []syntax.Expr{e.E, e.I}, true
	case *syntax.Slice:
		return "slice", []syntax.Expr{e.E, e.From, e.To}, true
	case *syntax.ListLit:
		return "list", e.Elems, true
	case *syntax.MapLit:
		return "map" + quoted(e.Keys...), e.Values, true
	case *syntax.MapProjection:
		tag, parts = "mapproj", []syntax.Expr{e.E}
		for _, item := range e.Items {
			if item.All {
				tag += " *"
				continue
			}
			tag += quoted(item.Key)
			parts = append(parts, item.Value)
		}
		return tag, parts, true
	case *syntax.Unary:
		return "unary " + strconv.Itoa(int(e.Op)), []syntax.Expr{e.E}, true
	case *syntax.Binary:
		return "binary " + strconv.Itoa(int(e.Op)), []syntax.Expr{e.L, e.R}, true
	case *syntax.IsNull:
		return fmt.Sprint("isnull ", e.Not), []syntax.Expr{e.E}, true
	case *syntax.IsTyped:
		return fmt.Sprint("istyped ", e.Not, e.ValueType), []syntax.Expr{e.E}, true
	case *syntax.HasLabels:
		return fmt.Sprintf("labels %q", labelNames(e.Labels)), []syntax.Expr{e.E}, plainLabels(e.Labels)
	case *syntax.Func:
		return fmt.Sprint("func ", strings.ToLower(e.Name), " ", e.Distinct, e.Star), e.Args, true
	case *syntax.Case:
		parts = []syntax.Expr{e.Test}
		for i := range e.When {
			parts = append(parts, e.When[i], e.Then[i])
		}
		return "case", append(parts, e.Else), true
	case *syntax.ListComp:
		return "comp" + quoted(e.Var), []syntax.Expr{e.List, e.Where, e.Proj}, true
	case *syntax.Quantifier:
		return fmt.Sprint("quant ", e.Kind, quoted(e.Var)), []syntax.Expr{e.List, e.Where}, true
	case *syntax.Reduce:
		return "reduce" + quoted(e.Acc, e.Var), []syntax.Expr{e.Init, e.List, e.E}, true
	}
	return "", nil, false
}

func quoted(names ...*syntax.Name) string {
	out := ""
	for _, n := range names {
		out += " " + strconv.Quote(n.Text)
	}
	return out
}

// keySet finds slots by the expression that they hold.
type keySet map[int]int

// note keeps an expression; of equal ones the first stays.
func (p *projector) note(s *keySet, e syntax.Expr, slot int) {
	key := p.keys.key(e)
	if *s == nil {
		*s = keySet{}
	}
	if _, taken := (*s)[key]; !taken && key != noKey {
		(*s)[key] = slot
	}
}

func (p *projector) find(s keySet, e syntax.Expr) (slot int, ok bool) {
	if len(s) == 0 {
		return 0, false
	}
	slot, ok = s[p.keys.key(e)]
	return slot, ok
}

// findName finds a variable.
func (p *projector) findName(s keySet, name string) (slot int, ok bool) {
	return p.find(s, &syntax.Variable{Name: syntax.Name{Text: name}})
}
