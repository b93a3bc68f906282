package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// maxCausal is how many causal relationships are looked at.
const maxCausal = 5_000

// cause is a relationship CAUSES.
type cause struct {
	id, from, to string
	weight       float64
	// early tells that the effect came before its cause.
	early bool
	// gone are the ends that are not active, each with its status and what took its
	// place.
	gone []goneEnd
}

type goneEnd struct {
	id, status, successor string
	isCause               bool
}

// proposal is a change that a person may make.
type proposal struct {
	kind, because, statement string
	nodes                    []string
	params                   map[string]any
}

// restructureCausal proposes changes of causal relationships and makes none.
func restructureCausal(ctx context.Context, c *call) (*answer, error) {
	causes, complete, err := readCauses(ctx, c)
	if err != nil {
		return nil, err
	}
	var all []proposal
	for _, find := range []func([]cause) []proposal{circles, doubles, shortcuts, outdated, backwards} {
		all = append(all, find(causes)...)
	}
	var l listing
	for _, p := range all[:min(len(all), int(c.args.integer("limit", 20)))] {
		item := map[string]any{"kind": p.kind, "nodes": p.nodes, "because": p.because, "statement": p.statement, "params": p.params}
		text := fmt.Sprintf("- %s: %s\n  %s", p.kind, p.because, p.statement)
		for _, name := range sortedKeys(p.params) {
			text += fmt.Sprintf("  $%s = %q", name, p.params[name])
		}
		if err := l.add(text, item); err != nil {
			return nil, err
		}
	}
	text := fmt.Sprintf("%d proposals for %d causal relationships; nothing was changed.\n%s", len(all), len(causes), l.text.String())
	if len(l.items) < len(all) {
		text += fmt.Sprintf("%d more are not listed.\n", len(all)-len(l.items))
	}
	if !complete {
		text += fmt.Sprintf("Only the first %d relationships were looked at; give the id of a node.\n", maxCausal)
	}
	return &answer{text, map[string]any{"proposals": l.list(), "total": len(all), "looked_at": len(causes), "complete": complete}}, nil
}

func readCauses(ctx context.Context, c *call) (causes []cause, complete bool, err error) {
	match, params := "MATCH (a)-[r:CAUSES]->(b)", map[string]any{"limit": maxCausal + 1}
	if id := c.args.text("id"); id != "" {
		if err := known(ctx, c.store, []string{id}); err != nil {
			return nil, false, err
		}
		match = "MATCH ({id: $id})-[:CAUSES*0..6]-(a) WITH DISTINCT a MATCH (a)-[r:CAUSES]->(b)"
		params["id"] = id
	}
	res, err := c.store.Query(ctx, match+` WITH a, r, b ORDER BY id(r) LIMIT $limit
		OPTIONAL MATCH (na)-[:SUPERSEDES]->(a)
		OPTIONAL MATCH (nb)-[:SUPERSEDES]->(b)
		WITH a, r, b, min(na.id) AS na, min(nb.id) AS nb
		RETURN r.id AS id, a.id AS from, b.id AS to, toFloat(coalesce(r.weight, 1.0)) AS weight,
		coalesce(a.status, 'active') AS from_status, coalesce(b.status, 'active') AS to_status, na AS from_next, nb AS to_next,
		coalesce(a.valid_from > b.valid_from, false) AS early ORDER BY id(r)`, params)
	if err != nil {
		return nil, false, err
	}
	for _, r := range rowsOf(res) {
		e := cause{id: r.text("id"), from: r.text("from"), to: r.text("to"), weight: r["weight"].AsFloat(), early: r.flag("early")}
		if s := r.text("from_status"); s != "active" {
			e.gone = append(e.gone, goneEnd{e.from, s, r.text("from_next"), true})
		}
		if s := r.text("to_status"); s != "active" {
			e.gone = append(e.gone, goneEnd{e.to, s, r.text("to_next"), false})
		}
		causes = append(causes, e)
	}
	return causes[:min(len(causes), maxCausal)], len(causes) <= maxCausal, nil
}

func remove(kind, because string, e cause, nodes ...string) proposal {
	return proposal{
		kind, because, "MATCH ({id: $from})-[r:CAUSES {id: $relationship}]->({id: $to}) DELETE r", nodes,
		map[string]any{"from": e.from, "to": e.to, "relationship": e.id},
	}
}

func outgoing(causes []cause) map[string][]cause {
	out := map[string][]cause{}
	for _, e := range causes {
		out[e.from] = append(out[e.from], e)
	}
	return out
}

// way is a shortest way from one node to another that does not go over without,
// as relationships; nil if there is none.
func way(out map[string][]cause, from, to, without string) []cause {
	by := map[string]cause{}
	seen := map[string]bool{from: true}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, e := range out[queue[0]] {
			if e.id == without || seen[e.to] && e.to != to {
				continue
			}
			by[e.to] = e
			if e.to == to {
				found := []cause{e}
				for at := e.from; at != from; at = by[at].from {
					found = append(found, by[at])
				}
				slices.Reverse(found)
				return found
			}
			seen[e.to] = true
			queue = append(queue, e.to)
		}
	}
	return nil
}

// circles proposes to take the weakest relationship out of each circle.
func circles(causes []cause) []proposal {
	var out []proposal
	broken := map[string]bool{}
	for _, e := range causes {
		left := slices.DeleteFunc(slices.Clone(causes), func(x cause) bool { return broken[x.id] })
		if broken[e.id] {
			continue
		}
		circle := []cause{e}
		if e.from != e.to {
			back := way(outgoing(left), e.to, e.from, e.id)
			if back == nil {
				continue
			}
			circle = append(circle, back...)
		}
		weakest := slices.MinFunc(circle, func(a, b cause) int {
			if a.weight != b.weight {
				return sign(a.weight - b.weight)
			}
			return strings.Compare(a.id, b.id)
		})
		broken[weakest.id] = true
		var nodes []string
		for _, x := range circle {
			nodes = append(nodes, x.from)
		}
		told := strings.Join(append(slices.Clone(nodes), nodes[0]), " -> ")
		out = append(out, remove("circle", fmt.Sprintf("%s is a circle; its weakest part leads from %s to %s", told, weakest.from, weakest.to), weakest, nodes...))
	}
	return out
}

func sign(f float64) int {
	if f < 0 {
		return -1
	}
	return 1
}

// doubles proposes to keep the strongest of several relationships between two
// nodes.
func doubles(causes []cause) []proposal {
	var out []proposal
	best := map[[2]string]cause{}
	for _, e := range causes {
		ends := [2]string{e.from, e.to}
		before, ok := best[ends]
		if !ok {
			best[ends] = e
			continue
		}
		weaker := e
		if e.weight > before.weight {
			best[ends], weaker = e, before
		}
		out = append(out, remove("double", fmt.Sprintf("%s causes %s twice; the weaker one can go", e.from, e.to), weaker, e.from, e.to))
	}
	return out
}

// shortcuts proposes to take out what a longer way explains.
func shortcuts(causes []cause) []proposal {
	var out []proposal
	leads := outgoing(causes)
	for _, e := range causes {
		for _, first := range leads[e.from] {
			if first.to == e.to || first.to == e.from {
				continue
			}
			rest := way(map[string][]cause{first.to: leads[first.to]}, first.to, e.to, e.id)
			if rest == nil {
				continue
			}
			out = append(out, remove("shortcut", fmt.Sprintf("%s -> %s is explained by %s -> %s -> %s", e.from, e.to, e.from, first.to, e.to), e, e.from, first.to, e.to))
			break
		}
	}
	return out
}

// outdated proposes to move relationships to what took the place of their end.
func outdated(causes []cause) []proposal {
	var out []proposal
	for _, e := range causes {
		for _, g := range e.gone {
			if g.successor == "" || g.successor == e.from || g.successor == e.to {
				out = append(out, remove(g.status, fmt.Sprintf("%s is %s", g.id, g.status), e, e.from, e.to))
				continue
			}
			p := remove(g.status, fmt.Sprintf("%s is %s by %s, which can take its part", g.id, g.status, g.successor), e, e.from, e.to, g.successor)
			made := "(x)-[:CAUSES {weight: coalesce(r.weight, 1.0)}]->(b)"
			if !g.isCause {
				made = "(a)-[:CAUSES {weight: coalesce(r.weight, 1.0)}]->(x)"
			}
			p.statement = "MATCH (a {id: $from})-[r:CAUSES {id: $relationship}]->(b {id: $to}), (x {id: $successor}) CREATE " + made + " DELETE r"
			p.params["successor"] = g.successor
			out = append(out, p)
		}
	}
	return out
}

// backwards proposes to turn what leads from the later to the earlier.
func backwards(causes []cause) []proposal {
	var out []proposal
	for _, e := range causes {
		if !e.early {
			continue
		}
		p := remove("backwards", fmt.Sprintf("%s holds since earlier than %s, which is said to cause it", e.to, e.from), e, e.from, e.to)
		p.statement = "MATCH (a {id: $from})-[r:CAUSES {id: $relationship}]->(b {id: $to}) CREATE (b)-[:CAUSES {weight: coalesce(r.weight, 1.0)}]->(a) DELETE r"
		out = append(out, p)
	}
	return out
}
