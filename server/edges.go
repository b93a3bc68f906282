package server

import (
	"context"
	"fmt"

	"engram"
)

// edgesRequest are edges to be made.
type edgesRequest struct {
	Edges []edgeRequest `json:"edges" doc:"1 to 10,000." required:"true"`
}

type edgeRequest struct {
	From       string         `json:"from" doc:"The id of the node that it leaves." required:"true"`
	To         string         `json:"to" doc:"The id of the node that it reaches." required:"true"`
	Type       string         `json:"type" required:"true"`
	Weight     *float64       `json:"weight"`
	Properties map[string]any `json:"properties"`
}

type edgesResponse struct {
	Created  int64  `json:"created"`
	Merged   int64  `json:"merged" doc:"How many were there before."`
	Seq      uint64 `json:"seq"`
	Repeated bool   `json:"repeated,omitempty" doc:"The Idempotency-Key was committed before: nothing was written."`
}

const maxEdges = 10_000

// byType checks the edges and makes rows of them, for each type.
func (q *edgesRequest) byType() (map[string][]any, []string, error) {
	if len(q.Edges) == 0 || len(q.Edges) > maxEdges {
		return nil, nil, invalid("edges", fmt.Sprintf("the edges are 1 to %d", maxEdges))
	}
	rows := map[string][]any{}
	var ids []string
	known := map[string]bool{}
	for i, e := range q.Edges {
		field := fmt.Sprintf("edges[%d]", i)
		if err := checkNames(field, e.Type, e.From, e.To); err != nil {
			return nil, nil, err
		}
		props := map[string]any{}
		for name, v := range e.Properties {
			props[name] = v
		}
		if e.Weight != nil {
			if _, twice := props["weight"]; twice {
				return nil, nil, invalid(field, "the weight is given twice: as weight and among the properties")
			}
			props["weight"] = *e.Weight
		}
		rows[e.Type] = append(rows[e.Type], map[string]any{"from": e.From, "to": e.To, "props": props})
		for _, id := range []string{e.From, e.To} {
			if !known[id] {
				known[id] = true
				ids = append(ids, id)
			}
		}
	}
	return rows, ids, nil
}

func (s *Server) edgesBatch(c *call) error {
	var q edgesRequest
	if err := c.decode(&q); err != nil {
		return err
	}
	rows, ids, err := q.byType()
	if err != nil {
		return err
	}
	out := edgesResponse{}
	out.Repeated, err = c.update(func(ctx context.Context, tx *engram.Tx) error {
		res, err := tx.Query(ctx, "UNWIND $ids AS id OPTIONAL MATCH (n {id: id}) WITH id, n WHERE n IS NULL RETURN id LIMIT 1", map[string]any{"ids": ids})
		if err != nil {
			return plain(err)
		}
		if len(res.Rows) > 0 {
			return nodeMissing("edges", res.Rows[0][0].AsString())
		}
		for _, typ := range sortedKeys(rows) {
			res, err := tx.Query(ctx, "UNWIND $rows AS row MATCH (a {id: row.from}), (b {id: row.to}) MERGE (a)-[e:"+quote(typ)+"]->(b) SET e += row.props",
				map[string]any{"rows": rows[typ]})
			if err != nil {
				return plain(err)
			}
			c.wrote = c.wrote.Plus(res.Counters)
			out.Created += res.Counters.EdgesCreated
		}
		return nil
	})
	if err != nil {
		return err
	}
	if out.Seq = c.db.Seq(); !out.Repeated {
		out.Merged = int64(len(q.Edges)) - out.Created
	}
	return c.answer(out)
}
