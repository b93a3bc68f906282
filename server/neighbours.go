package server

import (
	"net/http"
	"slices"

	"engram"
)

// neighboursResponse is what is around a node.
type neighboursResponse struct {
	Nodes []reached  `json:"nodes" doc:"By distance, then id; the node itself is none of them."`
	Edges []edgeJSON `json:"edges" doc:"Over which they were reached, by distance, then id."`
	More  bool       `json:"more" doc:"There are more than the limit allowed."`
}

type reached struct {
	Node     nodeJSON `json:"node"`
	Distance int      `json:"distance"`
}

// walk goes out from a node, hop by hop.
type walk struct {
	pattern string // of one hop
	limit   int
	seen    map[string]bool
	edges   map[string]bool
	nodes   []foundNode
	over    []engram.Value
	more    bool
}

type foundNode struct {
	Node     engram.Value `json:"node"`
	Distance int          `json:"distance"`
}

func (s *Server) neighbours(c *call) error {
	id := c.req.PathValue("id")
	depth, err := c.number("depth", 1, 1, 5)
	if err != nil {
		return err
	}
	limit, err := c.number("limit", 100, 1, 1000)
	if err != nil {
		return err
	}
	hop := "[r]"
	if typ := c.query.Get("type"); typ != "" {
		if err := checkNames("type", typ); err != nil {
			return err
		}
		hop = "[r:" + quote(typ) + "]"
	}
	switch direction := c.query.Get("direction"); direction {
	case "", "both":
		hop = "-" + hop + "-"
	case "out":
		hop = "-" + hop + "->"
	case "in":
		hop = "<-" + hop + "-"
	default:
		return invalid("direction", "the direction is out, in or both")
	}
	w := &walk{pattern: hop, limit: limit, seen: map[string]bool{id: true}, edges: map[string]bool{}, nodes: []foundNode{}, over: []engram.Value{}}
	if err := c.inView(func(tx *engram.Tx) error { return w.run(c, tx, id, depth) }); err != nil {
		return err
	}
	return c.answer(struct {
		Nodes []foundNode    `json:"nodes"`
		Edges []engram.Value `json:"edges"`
		More  bool           `json:"more"`
	}{w.nodes, w.over, w.more})
}

func (w *walk) run(c *call, tx *engram.Tx, id string, depth int) error {
	missing, err := c.missing(tx, []string{id})
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return newProblem(http.StatusNotFound, codeNodeNotFound, "there is no node with the id '"+id+"'")
	}
	from := []string{id}
	for distance := 1; distance <= depth && len(from) > 0 && !w.more; distance++ {
		if from, err = w.hop(c, tx, from, distance); err != nil {
			return err
		}
	}
	return nil
}

// maxHopEdges bounds the edges that are looked at for one node that is wanted.
const maxHopEdges = 10

// hop goes on from nodes and returns those that are new, by id.
func (w *walk) hop(c *call, tx *engram.Tx, from []string, distance int) ([]string, error) {
	room := (w.limit + 1) * maxHopEdges
	res, err := c.exec(tx, &statement{
		text: "UNWIND $from AS id MATCH (n {id: id})" + w.pattern + "(m) WITH DISTINCT r, m" +
			" ORDER BY m.id, r.id LIMIT $room RETURN r, m",
		params: map[string]any{"from": from, "room": room},
	})
	if err != nil {
		return nil, plain(err)
	}
	w.more = w.more || len(res.Rows) == room
	var next []string
	for _, row := range res.Rows {
		edge, node := row[0].AsEdge(), row[1].AsNode()
		if !w.seen[node.ElementID] {
			if len(w.nodes) == w.limit {
				w.more = true
				continue
			}
			w.seen[node.ElementID] = true
			w.nodes = append(w.nodes, foundNode{row[1], distance})
			next = append(next, node.ElementID)
		}
		if !w.edges[edge.ElementID] {
			w.edges[edge.ElementID] = true
			w.over = append(w.over, row[0])
		}
	}
	slices.Sort(next)
	return next, nil
}
