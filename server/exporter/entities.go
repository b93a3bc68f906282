package exporter

import (
	"bufio"
	"encoding/json"
	"slices"

	"engram"
	"engram/server/internal/graphline"
)

// entities writes a file of the reference memory server of MCP: entities with a name,
// a type and observations, and relations. What was imported from such a file, or made
// by the tools of engramd mcp --compat memory, is written as it was; other nodes become
// entities whose properties are observations.
type entities struct {
	g        *graph
	out      *bufio.Writer
	observed map[string][]string // by id of the entity
	part     map[string]bool     // ids of observations, which are no entities
	names    map[string]string   // of nodes whose name is not their id
}

func newEntities(g *graph, out *bufio.Writer) (writer, error) {
	w := &entities{g: g, out: out, observed: map[string][]string{}, part: map[string]bool{}, names: map[string]string{}}
	rows, err := g.list("MATCH (e:Entity)-[:OBSERVED]->(o:Observation) WHERE valueType(o.content) STARTS WITH 'STRING' RETURN elementId(e), elementId(o), o.content")
	for _, r := range rows {
		id := r[0].AsString()
		w.observed[id] = append(w.observed[id], r[2].AsString())
		w.part[r[1].AsString()] = true
	}
	return w, err
}

type entityLine struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"`
}

func (w *entities) node(n *graphline.Node) error {
	name := prop(n.Props, "name").AsString()
	known := name != "" && (slices.Contains(n.Labels, "Entity") || slices.Contains(n.Labels, "EntityName"))
	switch {
	case w.part[n.ID]:
		return nil
	case known:
		w.names[n.ID] = name
		if !slices.Contains(n.Labels, "Entity") {
			return nil // only relations name it
		}
		return w.line(entityLine{"entity", name, prop(n.Props, "entityType").AsString(), append([]string{}, w.observed[n.ID]...)})
	}
	typ := "Node"
	for _, l := range n.Labels {
		if l != "Memory" {
			typ = l
			break
		}
	}
	return w.line(entityLine{"entity", n.ID, typ, w.properties(n)})
}

// properties makes observations of what a node says.
func (w *entities) properties(n *graphline.Node) []string {
	out := []string{}
	for _, p := range n.Props {
		switch {
		case p.Key == "id", p.Key == "imported":
		case p.Key == "content" && p.Value.Kind() == engram.KindString:
			out = append(out, p.Value.AsString())
		case p.Value.Kind() == engram.KindList:
			w.g.report.lose("properties, which became observations")
			out = append(out, p.Key+": "+string(p.Value.AppendJSON(nil)))
		default:
			w.g.report.lose("properties, which became observations")
			out = append(out, p.Key+": "+p.Value.ToString())
		}
	}
	return out
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
	if w.part[e.To] && e.Type == "OBSERVED" {
		return nil
	}
	for _, p := range e.Props {
		if p.Key != "relation" {
			w.g.report.lose("properties of edges")
		}
	}
	name := func(id string) string {
		if n := w.names[id]; n != "" {
			return n
		}
		return id
	}
	return w.line(struct {
		Type     string `json:"type"`
		From     string `json:"from"`
		To       string `json:"to"`
		Relation string `json:"relationType"`
	}{"relation", name(e.From), name(e.To), e.Type})
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
