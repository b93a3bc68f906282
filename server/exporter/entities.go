package exporter

import (
	"bufio"
	"encoding/json"
	"slices"

	"engram"
	"engram/server/internal/graphline"
)

// entities writes a file of the reference memory server of MCP: entities with a name,
// a type and observations, and relations.
type entities struct {
	g   *graph
	out *bufio.Writer
}

func newEntities(g *graph, out *bufio.Writer) (writer, error) { return &entities{g, out}, nil }

// textFields are what an observation is made of without the property's name.
var textFields = []string{"content", "observations"}

func (w *entities) node(n *graphline.Node) error {
	typ := "Node"
	for _, l := range n.Labels {
		if l != "Memory" && l != "Entity" {
			typ = l
			break
		}
	}
	if v := prop(n.Props, "entityType"); v.AsString() != "" {
		typ = v.AsString()
	}
	observations := []string{}
	for _, p := range n.Props {
		switch {
		case p.Key == "content" && hasKey(n.Props, "observations"): // the observations in one text
		case p.Key == "id", p.Key == "name" && p.Value.AsString() == n.ID, p.Key == "imported", p.Key == "entityType", p.Key == "origin":
		case slices.Contains(textFields, p.Key) && p.Value.Kind() == engram.KindString:
			observations = append(observations, p.Value.AsString())
		case slices.Contains(textFields, p.Key) && p.Value.Kind() == engram.KindList:
			for _, e := range p.Value.AsList() {
				observations = append(observations, e.ToString())
			}
		case p.Value.Kind() == engram.KindList:
			w.g.report.lose("properties, which became observations")
			observations = append(observations, p.Key+": "+string(p.Value.AppendJSON(nil)))
		default:
			w.g.report.lose("properties, which became observations")
			observations = append(observations, p.Key+": "+p.Value.ToString())
		}
	}
	return w.line(struct {
		Type         string   `json:"type"`
		Name         string   `json:"name"`
		EntityType   string   `json:"entityType"`
		Observations []string `json:"observations"`
	}{"entity", n.ID, typ, observations})
}

func prop(props []engram.Prop, key string) engram.Value {
	for _, p := range props {
		if p.Key == key {
			return p.Value
		}
	}
	return engram.Value{}
}

func (w *entities) edge(e *graphline.Edge) error {
	for range e.Props {
		w.g.report.lose("properties of edges")
	}
	return w.line(struct {
		Type     string `json:"type"`
		From     string `json:"from"`
		To       string `json:"to"`
		Relation string `json:"relationType"`
	}{"relation", e.From, e.To, e.Type})
}

func (w *entities) line(x any) error {
	text, err := json.Marshal(x)
	if err != nil {
		return err
	}
	_, err = w.out.Write(append(text, '\n'))
	return err
}

func (w *entities) end() error { return nil }
