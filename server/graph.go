package server

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"engram"
	"engram/server/token"
)

func (s *Server) graphRoutes() []*route {
	return []*route{
		{
			method: http.MethodGet, pattern: "/v1/nodes", scope: token.Read, handle: s.nodes,
			summary: "List nodes, older ones first", response: nodesResponse{}, problems: running,
			query: []param{
				{name: "label", kind: "string", doc: "Only nodes with this label.", example: "Person"},
				{name: "cursor", kind: "string", doc: "The next_cursor of the page before.", example: "n1"},
				{name: "limit", kind: "integer", doc: "How many at most, 1 to 1,000.", def: "100"},
			},
		},
		{
			method: http.MethodGet, pattern: "/v1/nodes/{id}", scope: token.Read, handle: s.node,
			summary: "One node", response: nodeJSON{}, problems: append([]string{codeNodeNotFound}, running...),
		},
		{
			method: http.MethodPatch, pattern: "/v1/nodes/{id}", scope: token.Write, body: jsonBody, writes: true, keyed: true, handle: s.patchNode,
			summary: "Change a node",
			detail:  "Properties that are null are removed, others are set, those that are not named stay. New content of a memory supersedes the older one, which is kept.",
			request: patchRequest{}, response: patchResponse{}, problems: append([]string{codeNodeNotFound, string(engram.CodeExists)}, running...),
		},
		{
			method: http.MethodDelete, pattern: "/v1/nodes/{id}", scope: token.Write, writes: true, keyed: true, handle: s.deleteNode,
			summary: "Forget a node",
			detail:  "It is kept out of recall and can be restored. With hard it is deleted with its edges, for good, which needs the scope admin.",
			query: []param{
				{name: "hard", kind: "boolean", doc: "Delete it for good."},
				{name: "because", kind: "string", doc: "Why it is forgotten.", example: "asked"},
			},
			response: deleteResponse{}, problems: append([]string{codeNodeNotFound}, running...),
		},
		{
			method: http.MethodGet, pattern: "/v1/nodes/{id}/neighbours", scope: token.Read, handle: s.neighbours,
			summary: "What is around a node", response: neighboursResponse{}, problems: append([]string{codeNodeNotFound}, running...),
			query: []param{
				{name: "depth", kind: "integer", doc: "How many hops, 1 to 5.", def: "1"},
				{name: "direction", kind: "string", doc: "Which way edges are followed.", enum: []string{"out", "in", "both"}, def: "both"},
				{name: "type", kind: "string", doc: "Only edges of this type.", example: "KNOWS"},
				{name: "limit", kind: "integer", doc: "How many nodes at most, 1 to 1,000.", def: "100"},
			},
		},
		{
			method: http.MethodPost, pattern: "/v1/edges:batch", scope: token.Write, body: jsonBody, writes: true, keyed: true, handle: s.edgesBatch,
			summary: "Make edges",
			detail:  "All or none, in one transaction. An edge of the type between the two nodes that is there gets the weight and the properties.",
			request: edgesRequest{}, response: edgesResponse{}, problems: append([]string{codeNodeNotFound}, running...),
		},
	}
}

// nodeJSON is a node.
type nodeJSON struct {
	ID         string         `json:"id"`
	Labels     []string       `json:"labels"`
	Properties map[string]any `json:"properties"`
}

// edgeJSON is an edge.
type edgeJSON struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Start      string         `json:"start" doc:"The id of the node that it leaves."`
	End        string         `json:"end" doc:"The id of the node that it reaches."`
	Properties map[string]any `json:"properties"`
}

type nodesResponse struct {
	Nodes      []nodeJSON `json:"nodes"`
	NextCursor string     `json:"next_cursor,omitempty" doc:"Of the next page; left out at the end."`
}

// number reads a whole number of the URL.
func (c *call) number(name string, fallback, low, high int) (int, error) {
	text := c.query.Get(name)
	if text == "" {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < low || n > high {
		return 0, invalid(name, fmt.Sprintf("%s is a whole number of %d to %d", name, low, high))
	}
	return n, nil
}

// flag reads true or false of the URL.
func (c *call) flag(name string) (bool, error) {
	switch c.query.Get(name) {
	case "", "false":
		return false, nil
	case "true":
		return true, nil
	}
	return false, invalid(name, name+" is true or false")
}

func (s *Server) nodes(c *call) error {
	limit, err := c.number("limit", 100, 1, 1000)
	if err != nil {
		return err
	}
	after, err := nodeCursor(c.query.Get("cursor"))
	if err != nil {
		return err
	}
	label := ""
	if l := c.query.Get("label"); l != "" {
		if err := checkNames("label", l); err != nil {
			return err
		}
		label = ":" + quote(l)
	}
	res, err := c.exec(c.db, &statement{
		text:   "MATCH (n" + label + ") WHERE id(n) > $after RETURN n, id(n) ORDER BY id(n) LIMIT $limit",
		params: map[string]any{"after": after, "limit": limit + 1},
	})
	if err != nil {
		return plain(err)
	}
	more := len(res.Rows) > limit
	out := struct {
		Nodes      []engram.Value `json:"nodes"`
		NextCursor string         `json:"next_cursor,omitempty"`
	}{Nodes: []engram.Value{}}
	for _, row := range res.Rows[:min(limit, len(res.Rows))] {
		out.Nodes = append(out.Nodes, row[0])
	}
	if more {
		out.NextCursor = cursorPrefix + strconv.FormatInt(res.Rows[limit-1][1].AsInt(), 36)
	}
	return c.answer(out)
}

// cursorPrefix begins a cursor of nodes. Behind it is the number inside the database of
// the last node that was listed: a scan goes on from there at no cost.
const cursorPrefix = "n"

func nodeCursor(text string) (after int64, err error) {
	if text == "" {
		return 0, nil
	}
	digits, ok := strings.CutPrefix(text, cursorPrefix)
	after, err = strconv.ParseInt(digits, 36, 64)
	if !ok || err != nil || after < 1 {
		return 0, invalid("cursor", "the cursor is not a next_cursor of an answer")
	}
	return after, nil
}

func (s *Server) node(c *call) error {
	id := c.req.PathValue("id")
	res, err := c.exec(c.db, &statement{text: "MATCH (n {id: $id}) RETURN n", params: map[string]any{"id": id}})
	if err != nil {
		return plain(err)
	}
	if len(res.Rows) == 0 {
		return nodeMissing("id", id)
	}
	return c.answer(res.Rows[0][0])
}

// patchRequest changes a node.
type patchRequest struct {
	Properties   map[string]any `json:"properties" doc:"null removes a property."`
	AddLabels    []string       `json:"add_labels"`
	RemoveLabels []string       `json:"remove_labels"`
}

type patchResponse struct {
	Node     *nodeJSON `json:"node,omitempty" doc:"The node as it is now; left out when repeated."`
	Repeated bool      `json:"repeated,omitempty"`
}

func (s *Server) patchNode(c *call) error {
	var q patchRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	id := c.req.PathValue("id")
	if _, ok := q.Properties["id"]; ok {
		return invalid("properties", "a node's id cannot be changed")
	}
	if err := checkNames("add_labels", q.AddLabels...); err != nil {
		return err
	}
	if err := checkNames("remove_labels", q.RemoveLabels...); err != nil {
		return err
	}
	var node engram.Value
	repeated, err := c.update(func(ctx context.Context, tx *engram.Tx) (err error) {
		node, err = c.patch(ctx, tx, id, &q)
		return err
	})
	if err != nil {
		return err
	}
	if repeated {
		return c.answer(patchResponse{Repeated: true})
	}
	return c.answer(struct {
		Node engram.Value `json:"node"`
	}{node})
}

// patch makes the change and returns the node as it is then.
func (c *call) patch(ctx context.Context, tx *engram.Tx, id string, q *patchRequest) (engram.Value, error) {
	run := func(st *statement) (engram.Value, error) {
		res, err := tx.Query(ctx, st.text, st.params)
		if err != nil {
			return engram.Value{}, plain(err)
		}
		if len(res.Rows) == 0 {
			return engram.Value{}, nodeMissing("id", id)
		}
		c.wrote = c.wrote.Plus(res.Counters)
		return res.Rows[0][0], nil
	}
	node, err := run(&statement{text: "MATCH (n {id: $id}) RETURN n", params: map[string]any{"id": id}})
	if err != nil {
		return node, err
	}
	props := maps.Clone(q.Properties)
	if st := supersede(node.AsNode(), props["content"]); st != nil {
		if node, err = run(st); err != nil {
			return node, err
		}
		if node.AsNode().ElementID != id {
			return node, newProblem(http.StatusConflict, string(engram.CodeExists), "the memory '"+node.AsNode().ElementID+"' says the same already: nothing was changed")
		}
		delete(props, "content")
	}
	if st := q.change(id, props); st != nil {
		return run(st)
	}
	return node, nil
}

// ofItsOwn are properties that every version of a memory has for itself.
var ofItsOwn = []string{"content", "created_at", "valid_from", "valid_to", "status", "reason", "forgotten_at", "superseded_at", "tier", "origin"}

// supersede is the statement by which new content takes the place of a memory's older
// one; nil when there is none, or the node is no memory.
func supersede(n *engram.Node, content any) *statement {
	text, ok := content.(string)
	if !ok || strings.TrimSpace(text) == "" || !slices.Contains(n.Labels, "Memory") {
		return nil
	}
	props := map[string]any{}
	for _, p := range n.Properties {
		if p.Key == "content" && p.Value.Kind() == engram.KindString && p.Value.AsString() == text {
			return nil
		}
		if !slices.Contains(ofItsOwn, p.Key) {
			props[p.Key] = p.Value
		}
	}
	props["id"] = n.ElementID
	list := make([]string, 0, len(props))
	for _, name := range sortedKeys(props) {
		list = append(list, quote(name)+": $props."+quote(name))
	}
	labels := ""
	for _, l := range n.Labels {
		labels += ":" + quote(l)
	}
	return &statement{
		text:   "REMEMBER $content " + labels + " {" + strings.Join(list, ", ") + "} ALONE AS m RETURN m",
		params: map[string]any{"content": text, "props": props},
	}
}

// change is the statement that sets properties and labels; nil when there are none.
func (q *patchRequest) change(id string, props map[string]any) *statement {
	assignments := []string{}
	for _, name := range sortedKeys(props) {
		v := "$props." + quote(name)
		if _, text := props[name].(string); text && slices.Contains(momentous, name) {
			v = "datetime(" + v + ")"
		}
		assignments = append(assignments, "n."+quote(name)+" = "+v)
	}
	for _, l := range q.AddLabels {
		assignments = append(assignments, "n:"+quote(l))
	}
	text := ""
	if len(assignments) > 0 {
		text += " SET " + strings.Join(assignments, ", ")
	}
	for i, l := range q.RemoveLabels {
		text += map[bool]string{true: " REMOVE ", false: ", "}[i == 0] + "n:" + quote(l)
	}
	if text == "" {
		return nil
	}
	return &statement{text: "MATCH (n {id: $id})" + text + " RETURN n", params: map[string]any{"id": id, "props": props}}
}

// deleteResponse tells what became of a node.
type deleteResponse struct {
	ID       string `json:"id"`
	Changed  bool   `json:"changed" doc:"False when it was forgotten before."`
	Hard     bool   `json:"hard,omitempty" doc:"It was deleted for good."`
	Repeated bool   `json:"repeated,omitempty"`
}

func (s *Server) deleteNode(c *call) error {
	id := c.req.PathValue("id")
	hard, err := c.flag("hard")
	if err != nil {
		return err
	}
	params := map[string]any{"id": id}
	text := "MATCH (n {id: $id}) FORGET n"
	if because := c.query.Get("because"); because != "" {
		if hard {
			return invalid("because", "what is deleted for good keeps no reason: leave because out")
		}
		text += " BECAUSE $because"
		params["because"] = because
	}
	text += " YIELD node, changed RETURN changed"
	if hard {
		if !c.who.May(token.Admin) {
			return newProblem(http.StatusForbidden, codeForbidden, "hard needs the scope admin")
		}
		text = "MATCH (n {id: $id}) DETACH DELETE n RETURN true AS changed"
	}
	res, repeated, err := c.execOnce(&statement{text: text, params: params, write: true})
	switch {
	case err != nil:
		return plain(err)
	case repeated:
		return c.answer(deleteResponse{ID: id, Hard: hard, Repeated: true})
	case len(res.Rows) == 0:
		return nodeMissing("id", id)
	}
	return c.answer(deleteResponse{ID: id, Changed: res.Rows[0][0].AsBool(), Hard: hard})
}
