package knowledge

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Counts tell what a file held and what of it was new.
type Counts struct {
	Entities, NewEntities         int
	Observations, NewObservations int
	Relations, NewRelations       int
}

// maxLine bounds a line of a file in bytes.
const maxLine = 16 << 20

// LineError is about a line of a file.
type LineError struct {
	Line   int
	Reason string
}

// Error tells the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// ReadFile reads a file of the reference server: one JSON object a line, of type
// entity or relation. A line that is neither is a *LineError.
func ReadFile(r io.Reader) (Graph, error) {
	g := Graph{[]Entity{}, []Relation{}}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if strings.TrimSpace(lines.Text()) == "" {
			continue
		}
		var item struct {
			Type string `json:"type"`
			Entity
			Relation
		}
		if err := json.Unmarshal(lines.Bytes(), &item); err != nil {
			return g, &LineError{n, "this is no JSON object of an entity or a relation"}
		}
		switch {
		case item.Type == "entity" && item.Name != "":
			g.Entities = append(g.Entities, item.Entity)
		case item.Type == "relation" && item.From != "" && item.To != "" && item.RelationType != "":
			g.Relations = append(g.Relations, item.Relation)
		default:
			return g, &LineError{n, `want {"type":"entity","name",...} or {"type":"relation","from","to","relationType"}`}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return g, &LineError{n + 1, "it is longer than 16 MiB"}
	}
	return g, lines.Err()
}

// batch is how many entities or relations one transaction takes in.
const batch = 500

// Merge takes a graph in, by transactions that update makes. What is there already
// stays; entities that are there get the observations that they do not have.
func Merge(ctx context.Context, g Graph, update func(context.Context, func(Querier) error) error) (Counts, error) {
	c := Counts{Entities: len(g.Entities), Relations: len(g.Relations)}
	for from := 0; from < len(g.Entities); from += batch {
		part := g.Entities[from:min(from+batch, len(g.Entities))]
		var made, added int
		err := update(ctx, func(q Querier) error {
			made, added = 0, 0
			created, err := CreateEntities(ctx, q, part)
			if err != nil {
				return err
			}
			made = len(created)
			var list []Observations
			for _, e := range created {
				added += len(e.Observations)
			}
			for _, e := range part {
				list = append(list, Observations{e.Name, e.Observations})
			}
			results, err := AddObservations(ctx, q, list)
			for _, r := range results {
				added += len(r.Contents)
			}
			return err
		})
		if err != nil {
			return c, err
		}
		c.NewEntities, c.NewObservations = c.NewEntities+made, c.NewObservations+added
		for _, e := range part {
			c.Observations += len(e.Observations)
		}
	}
	for from := 0; from < len(g.Relations); from += batch {
		part := g.Relations[from:min(from+batch, len(g.Relations))]
		var made int
		err := update(ctx, func(q Querier) error {
			created, err := CreateRelations(ctx, q, part)
			made = len(created)
			return err
		})
		if err != nil {
			return c, err
		}
		c.NewRelations += made
	}
	return c, nil
}
