package tck

import (
	"context"
	"fmt"
	"strconv"

	"engram/query/result"
)

// effects are net changes of a graph, in the TCK's counting: labels are distinct
// labels in the graph; a property is an entity, a key and a value, so overwriting
// one takes one away and adds one.
type effects = result.Counters

// state is what a graph holds.
type state struct {
	nodes, edges, props, labels map[string]bool
}

// observe reads the whole graph.
func observe(ctx context.Context, s Session) (*state, error) {
	st := &state{nodes: map[string]bool{}, edges: map[string]bool{}, props: map[string]bool{}, labels: map[string]bool{}}
	nodes, err := s.Run(ctx, "MATCH (n) RETURN n", nil)
	if err != nil {
		return nil, fmt.Errorf("reading the nodes for side effects: %w", err)
	}
	for _, row := range nodes.Rows {
		n := row[0].AsNode()
		id := "n" + strconv.FormatUint(uint64(n.ID), 10)
		st.nodes[id] = true
		for _, l := range n.Labels {
			st.labels[l] = true
		}
		for _, p := range n.Properties {
			st.props[id+"."+p.Key+"="+p.Value.String()] = true
		}
	}
	edges, err := s.Run(ctx, "MATCH ()-[r]->() RETURN r", nil)
	if err != nil {
		return nil, fmt.Errorf("reading the relationships for side effects: %w", err)
	}
	for _, row := range edges.Rows {
		e := row[0].AsEdge()
		id := "e" + strconv.FormatUint(uint64(e.ID), 10)
		st.edges[id] = true
		for _, p := range e.Properties {
			st.props[id+"."+p.Key+"="+p.Value.String()] = true
		}
	}
	return st, nil
}

// since returns what changed from before to st.
func (st *state) since(before *state) effects {
	return effects{
		NodesCreated: missing(st.nodes, before.nodes), NodesDeleted: missing(before.nodes, st.nodes),
		EdgesCreated: missing(st.edges, before.edges), EdgesDeleted: missing(before.edges, st.edges),
		PropertiesSet: missing(st.props, before.props), PropertiesRemoved: missing(before.props, st.props),
		LabelsAdded: missing(st.labels, before.labels), LabelsRemoved: missing(before.labels, st.labels),
	}
}

// missing counts what is in a and not in b.
func missing(a, b map[string]bool) (n int64) {
	for k := range a {
		if !b[k] {
			n++
		}
	}
	return n
}

// parseEffects reads a table of side effects.
func parseEffects(table [][]string) (effects, error) {
	var e effects
	fields := map[string]*int64{
		"+nodes": &e.NodesCreated, "-nodes": &e.NodesDeleted,
		"+relationships": &e.EdgesCreated, "-relationships": &e.EdgesDeleted,
		"+properties": &e.PropertiesSet, "-properties": &e.PropertiesRemoved,
		"+labels": &e.LabelsAdded, "-labels": &e.LabelsRemoved,
	}
	for _, row := range table {
		if len(row) != 2 || fields[row[0]] == nil {
			return e, fmt.Errorf("tck: unknown side effect %q", row)
		}
		n, err := strconv.ParseInt(row[1], 10, 64)
		if err != nil {
			return e, fmt.Errorf("tck: side effect %s: %w", row[0], err)
		}
		*fields[row[0]] = n
	}
	return e, nil
}
