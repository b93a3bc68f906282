package recall

import (
	"fmt"
	"strings"

	"engram/activation"
	"engram/graph/value"
)

// rows makes the rows of the best candidates.
func (r *run) rows(best []ranked) ([]Row, error) {
	rows := make([]Row, len(best))
	nodes := make([]value.NodeID, len(best))
	for i, x := range best {
		nodes[i] = x.node
		rows[i] = Row{Node: x.node, Score: x.score, Lexical: x.lexical, Semantic: x.semantic, Activation: x.activation, Seed: r.began[x.node], Salience: 1, Recency: 1, HeldBy: x.heldBy, Copy: x.copy}
		if r.weigher == nil || !r.o.Explain {
			continue
		}
		var err error
		if rows[i].Salience, rows[i].Recency, err = r.weigher.of(x.node); err != nil {
			return nil, err
		}
	}
	if !r.o.Explain || len(best) == 0 {
		return rows, nil
	}
	words, err := r.words(nodes)
	if err != nil {
		return nil, err
	}
	for i, x := range best {
		if rows[i].Path, err = r.path(x.node); err != nil {
			return nil, fmt.Errorf("recall: path of a row: %w", err)
		}
		if rows[i].Why, err = r.why(x.candidate, words[i], rows[i].Path); err != nil {
			return nil, err
		}
		rows[i].Why += r.weighed(&rows[i])
	}
	return rows, nil
}

// path turns the strongest way activation came into a path value; nil when none
// came, or when the node was a start itself.
func (r *run) path(id value.NodeID) (*value.Path, error) {
	if r.spread == nil {
		return nil, nil
	}
	p, ok := r.spread.Path(activation.ID(id))
	if !ok || len(p.Steps) == 0 {
		return nil, nil
	}
	path := &value.Path{Nodes: []value.Value{value.NodeRef(value.NodeID(p.From))}}
	at := value.NodeID(p.From)
	for _, s := range p.Steps {
		edge := value.EdgeID(s.Edge)
		src, dst, _, _ := r.g.EdgeEnds(edge)
		if at == src {
			at = dst
		} else {
			at = src
		}
		path.Edges = append(path.Edges, value.EdgeRef(edge))
		path.Nodes = append(path.Nodes, value.NodeRef(at))
		if at == value.NodeID(s.To) {
			continue
		}
		chain, err := r.screen.succession(at, r.ids.less)
		if err != nil {
			return nil, err
		}
		for _, a := range chain {
			path.Edges = append(path.Edges, value.EdgeRef(a.Edge))
			path.Nodes = append(path.Nodes, value.NodeRef(a.Node))
			at = a.Node
		}
	}
	return path, nil
}

// weighed tells what besides raised or lowered a row.
func (r *run) weighed(row *Row) string {
	out := ""
	for _, f := range []struct {
		name string
		at   float64
	}{{"salience", row.Salience}, {"recency", row.Recency}} {
		if f.at < 0.995 || f.at >= 1.005 {
			out += fmt.Sprintf("; %s %.2f", f.name, f.at)
		}
	}
	switch {
	case row.Copy:
		out += "; says the same as " + r.ids.of(row.HeldBy)
	case row.HeldBy != 0:
		out += "; contradicted by " + r.ids.of(row.HeldBy)
	}
	return out
}

// why tells in one line what brought a memory up: the words it shares with the
// query, and the way activation took.
func (r *run) why(c *candidate, terms []string, path *value.Path) (string, error) {
	var parts []string
	if c.lexical > 0 && !r.o.Legs.NoLexical {
		words := ""
		if len(terms) > 0 {
			words = " " + strings.Join(terms, ", ")
		}
		parts = append(parts, fmt.Sprintf("matches%s (%.2f)", words, c.lexical))
	}
	if r.near != nil && c.semantic >= r.t.SemanticFloor {
		parts = append(parts, fmt.Sprintf("means much the same (%.2f)", c.semantic))
	}
	if c.window > 0 {
		parts = append(parts, fmt.Sprintf("stands beside what fits (%.2f)", float64(c.window)/unit))
	}
	if r.dates != nil {
		named, err := r.dates.named(c.node)
		if err != nil {
			return "", err
		}
		if named {
			parts = append(parts, "is of the time that is named")
		}
	}
	switch {
	case path != nil:
		walk, err := r.walk(path)
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf("reached by %s (%.2f)", walk, c.activation))
	case c.activation > 0 && c.lexical == 0 && c.received == 0:
		parts = append(parts, fmt.Sprintf("a start itself (%.2f)", c.activation))
	}
	return strings.Join(parts, "; "), nil
}

// walk writes a path as its external ids with the relation types between.
func (r *run) walk(path *value.Path) (string, error) {
	var b strings.Builder
	for i, n := range path.Nodes {
		if i > 0 {
			src, _, t, _ := r.g.EdgeEnds(path.Edges[i-1].EdgeID())
			name := r.g.RelTypeName(t)
			if src == path.Nodes[i-1].NodeID() {
				b.WriteString(" -" + name + "-> ")
			} else {
				b.WriteString(" <-" + name + "- ")
			}
		}
		b.WriteString(r.ids.of(n.NodeID()))
	}
	return b.String(), r.ids.err
}
