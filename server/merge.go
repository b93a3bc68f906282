package server

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"engram"
)

// mergeRequest is a snapshot that is merged.
type mergeRequest struct {
	Nodes   []mergeNode   `json:"nodes"`
	Edges   []mergeEdge   `json:"edges"`
	Updates []mergeUpdate `json:"updates" doc:"Properties to be set on nodes that are there; null removes one."`
	Forgets []mergeForget `json:"forgets" doc:"Nodes to be forgotten."`
}

type mergeNode struct {
	ID         string         `json:"id" required:"true"`
	Labels     []string       `json:"labels"`
	Properties map[string]any `json:"properties"`
}

type mergeEdge struct {
	From       string         `json:"from" required:"true"`
	To         string         `json:"to" required:"true"`
	Type       string         `json:"type" required:"true"`
	Properties map[string]any `json:"properties"`
}

type mergeUpdate struct {
	ID         string         `json:"id" required:"true"`
	Properties map[string]any `json:"properties"`
}

type mergeForget struct {
	ID      string `json:"id" required:"true"`
	Because string `json:"because"`
}

// mergeResponse tells what came of it.
type mergeResponse struct {
	NodesCreated int64       `json:"nodes_created"`
	EdgesCreated int64       `json:"edges_created"`
	Same         int64       `json:"same" doc:"How many nodes and edges were there already, with the same fields."`
	Updated      int64       `json:"updated"`
	Forgotten    int64       `json:"forgotten"`
	Collisions   []collision `json:"collisions" doc:"What was left as it is."`
	Seq          uint64      `json:"seq"`
	Repeated     bool        `json:"repeated,omitempty" doc:"The Idempotency-Key was committed before: nothing was written."`
}

// collision is a node or an edge that was left as it is.
type collision struct {
	Kind   string   `json:"kind" enum:"node,edge" doc:"What it is."`
	ID     string   `json:"id,omitempty" doc:"Of a node."`
	From   string   `json:"from,omitempty" doc:"Of an edge."`
	To     string   `json:"to,omitempty"`
	Type   string   `json:"type,omitempty"`
	Source string   `json:"source" enum:"graph,snapshot" doc:"Where the other one is."`
	Fields []string `json:"fields" doc:"What differs."`
}

const maxMerge = 50_000

func (s *Server) merge(c *call) error {
	var q mergeRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	m := &merger{c: c, out: mergeResponse{Collisions: []collision{}}}
	if err := m.check(&q); err != nil {
		return err
	}
	repeated, err := c.update(func(ctx context.Context, tx *engram.Tx) error { return m.run(ctx, tx, &q) })
	if err != nil {
		return err
	}
	if repeated {
		m.out = mergeResponse{Collisions: []collision{}, Repeated: true}
	}
	m.out.Seq = c.db.Seq()
	return c.answer(m.out)
}

// merger merges one snapshot.
type merger struct {
	c   *call
	out mergeResponse
}

func (m *merger) check(q *mergeRequest) error {
	if n := len(q.Nodes) + len(q.Edges) + len(q.Updates) + len(q.Forgets); n == 0 || n > maxMerge {
		return invalid("", fmt.Sprintf("a snapshot has 1 to %d nodes, edges, updates and forgets", maxMerge))
	}
	for i, n := range q.Nodes {
		field := fmt.Sprintf("nodes[%d]", i)
		if err := checkNames(field, append([]string{n.ID}, n.Labels...)...); err != nil {
			return err
		}
		if id, ok := n.Properties["id"]; ok && id != n.ID {
			return invalid(field, "the property id differs from the id")
		}
	}
	for i, e := range q.Edges {
		if err := checkNames(fmt.Sprintf("edges[%d]", i), e.From, e.To, e.Type); err != nil {
			return err
		}
	}
	for i, u := range q.Updates {
		if _, ok := u.Properties["id"]; ok || u.ID == "" {
			return invalid(fmt.Sprintf("updates[%d]", i), "an update has an id, which it cannot change")
		}
	}
	return nil
}

func (m *merger) run(ctx context.Context, tx *engram.Tx, q *mergeRequest) error {
	query := func(text string, params map[string]any) (*engram.Result, error) {
		res, err := tx.Query(ctx, text, params)
		if err != nil {
			return nil, plain(err)
		}
		m.c.wrote = m.c.wrote.Plus(res.Counters)
		return res, nil
	}
	if err := m.nodes(query, q.Nodes); err != nil {
		return err
	}
	if err := m.edges(query, q.Edges); err != nil {
		return err
	}
	for _, u := range q.Updates {
		res, err := query("MATCH (n {id: $id}) SET n += $props RETURN n.id", map[string]any{"id": u.ID, "props": u.Properties})
		if err != nil {
			return err
		}
		if len(res.Rows) == 0 {
			return nodeMissing("updates", u.ID)
		}
		m.out.Updated++
	}
	for _, f := range q.Forgets {
		res, err := query("MATCH (n {id: $id}) FORGET n BECAUSE $because YIELD changed RETURN changed", map[string]any{"id": f.ID, "because": orText(f.Because, "merged")})
		if err != nil {
			return err
		}
		if len(res.Rows) == 0 {
			return nodeMissing("forgets", f.ID)
		}
		if res.Rows[0][0].AsBool() {
			m.out.Forgotten++
		}
	}
	return nil
}

func orText(a, b string) string {
	if strings.TrimSpace(a) == "" {
		return b
	}
	return a
}

type queryFunc func(text string, params map[string]any) (*engram.Result, error)

// nodes creates those that are missing, by their labels, and compares the others.
func (m *merger) nodes(query queryFunc, list []mergeNode) error {
	first := map[string]mergeNode{}
	var ids []string
	for _, n := range list {
		n.Properties = withID(n)
		n.Labels = slices.Compact(slices.Sorted(slices.Values(n.Labels)))
		if other, twice := first[n.ID]; twice {
			m.compare(collision{Kind: "node", ID: n.ID, Source: "snapshot"}, other.Labels, n.Labels, other.Properties, n.Properties)
			continue
		}
		first[n.ID] = n
		ids = append(ids, n.ID)
	}
	there := map[string]*engram.Node{}
	if len(ids) > 0 {
		res, err := query("UNWIND $ids AS id MATCH (n {id: id}) RETURN n", map[string]any{"ids": ids})
		if err != nil {
			return err
		}
		for _, row := range res.Rows {
			there[row[0].AsNode().ElementID] = row[0].AsNode()
		}
	}
	missing := map[string][]any{}
	for _, id := range ids {
		n := first[id]
		old, ok := there[id]
		if !ok {
			label := labelText(n.Labels)
			missing[label] = append(missing[label], n.Properties)
			continue
		}
		m.compare(collision{Kind: "node", ID: id, Source: "graph"}, old.Labels, n.Labels, asMap(old.Properties), n.Properties)
	}
	for _, label := range sortedKeys(missing) {
		res, err := query("UNWIND $rows AS row CREATE (n"+label+") SET n += row", map[string]any{"rows": missing[label]})
		if err != nil {
			return err
		}
		m.out.NodesCreated += res.Counters.NodesCreated
	}
	return nil
}

func withID(n mergeNode) map[string]any {
	out := map[string]any{"id": n.ID}
	for name, v := range n.Properties {
		if v != nil {
			out[name] = v
		}
	}
	return out
}

func labelText(labels []string) string {
	text := ""
	for _, l := range labels {
		text += ":" + quote(l)
	}
	return text
}

func asMap(props []engram.Prop) map[string]any {
	out := map[string]any{}
	for _, p := range props {
		out[p.Key] = p.Value
	}
	return out
}

// edges creates those that are missing, by their types, and compares the others.
func (m *merger) edges(query queryFunc, list []mergeEdge) error {
	type key struct{ from, to, typ string }
	first := map[key]mergeEdge{}
	rows := map[string][]any{}
	for _, e := range list {
		k := key{e.From, e.To, e.Type}
		props := map[string]any{}
		for name, v := range e.Properties {
			if v != nil {
				props[name] = v
			}
		}
		e.Properties = props
		if other, twice := first[k]; twice {
			m.compare(collision{Kind: "edge", From: e.From, To: e.To, Type: e.Type, Source: "snapshot"}, nil, nil, other.Properties, props)
			continue
		}
		first[k] = e
		rows[e.Type] = append(rows[e.Type], map[string]any{"from": e.From, "to": e.To, "props": props})
	}
	for _, typ := range sortedKeys(rows) {
		res, err := query("UNWIND $rows AS row OPTIONAL MATCH (a {id: row.from}) OPTIONAL MATCH (b {id: row.to}) OPTIONAL MATCH (a)-[e:"+quote(typ)+"]->(b)"+
			" WITH row, a, b, collect(e) AS es RETURN row.from, row.to, a IS NULL, b IS NULL, properties(head(es))", map[string]any{"rows": rows[typ]})
		if err != nil {
			return err
		}
		var missing []any
		for _, row := range res.Rows {
			from, to := row[0].AsString(), row[1].AsString()
			switch e := first[key{from, to, typ}]; {
			case row[2].AsBool():
				return nodeMissing("edges", from)
			case row[3].AsBool():
				return nodeMissing("edges", to)
			case row[4].IsNull():
				missing = append(missing, map[string]any{"from": from, "to": to, "props": e.Properties})
			default:
				old := asMap(row[4].AsMap().Entries)
				if _, given := e.Properties["id"]; !given {
					delete(old, "id")
				}
				m.compare(collision{Kind: "edge", From: from, To: to, Type: typ, Source: "graph"}, nil, nil, old, e.Properties)
			}
		}
		if len(missing) == 0 {
			continue
		}
		res, err = query("UNWIND $rows AS row MATCH (a {id: row.from}), (b {id: row.to}) CREATE (a)-[e:"+quote(typ)+"]->(b) SET e += row.props", map[string]any{"rows": missing})
		if err != nil {
			return err
		}
		m.out.EdgesCreated += res.Counters.EdgesCreated
	}
	return nil
}

// compare counts two that are the same, and lists what differs of two that are not.
func (m *merger) compare(c collision, oldLabels, newLabels []string, old, new map[string]any) {
	if !slices.Equal(oldLabels, newLabels) && len(oldLabels)+len(newLabels) > 0 {
		c.Fields = append(c.Fields, "labels")
	}
	for _, name := range sortedKeys(old) {
		if v, ok := new[name]; !ok || !sameJSON(old[name], v) {
			c.Fields = append(c.Fields, name)
		}
	}
	for _, name := range sortedKeys(new) {
		if _, ok := old[name]; !ok {
			c.Fields = append(c.Fields, name)
		}
	}
	if len(c.Fields) == 0 {
		m.out.Same++
		return
	}
	m.out.Collisions = append(m.out.Collisions, c)
}

// sameJSON reports whether two values are the same as JSON tells them, 1 and 1.0
// too.
func sameJSON(a, b any) bool {
	av, errA := engram.ValueOf(a)
	bv, errB := engram.ValueOf(b)
	if errA == nil && errB == nil {
		one, two := av.AppendJSON(nil), bv.AppendJSON(nil)
		if string(one) == string(two) {
			return true
		}
		var x, y float64
		return json.Unmarshal(one, &x) == nil && json.Unmarshal(two, &y) == nil && x == y
	}
	return false
}
