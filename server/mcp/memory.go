package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"engram/server/internal/knowledge"
)

const (
	compatMemory = "memory"
	knowledgeURI = "memory://knowledge-graph"
	// maxGraph bounds the text of a whole graph in bytes: text and structured content
	// of one message have to stay under maxLine.
	maxGraph = 6 << 20
)

// memoryTools are those of the reference memory server, in its order. Their results
// are its results, to the letter.
var memoryTools = []tool{
	{name: "create_entities", folder: "memorytools", lax: true, run: createEntities},
	{name: "create_relations", folder: "memorytools", lax: true, run: createRelations},
	{name: "add_observations", folder: "memorytools", lax: true, run: addObservations},
	{name: "delete_entities", folder: "memorytools", lax: true, run: deleting("Entities", func(ctx context.Context, q Querier, a arguments) error {
		return knowledge.DeleteEntities(ctx, q, a.texts("entityNames"))
	})},
	{name: "delete_observations", folder: "memorytools", lax: true, run: deleting("Observations", func(ctx context.Context, q Querier, a arguments) error {
		return knowledge.DeleteObservations(ctx, q, observationsOf(a.objects("deletions"), "observations"))
	})},
	{name: "delete_relations", folder: "memorytools", lax: true, run: deleting("Relations", func(ctx context.Context, q Querier, a arguments) error {
		return knowledge.DeleteRelations(ctx, q, relationsOf(a.objects("relations")))
	})},
	{name: "read_graph", folder: "memorytools", lax: true, run: reading9(func(ctx context.Context, q Querier, _ arguments) (knowledge.Graph, error) {
		return knowledge.Read(ctx, q)
	})},
	{name: "search_nodes", folder: "memorytools", lax: true, run: reading9(func(ctx context.Context, q Querier, a arguments) (knowledge.Graph, error) {
		return knowledge.Search(ctx, q, a.text("query"))
	})},
	{name: "open_nodes", folder: "memorytools", lax: true, run: reading9(func(ctx context.Context, q Querier, a arguments) (knowledge.Graph, error) {
		return knowledge.Open(ctx, q, a.texts("names"))
	})},
}

func createEntities(ctx context.Context, c *call) (*answer, error) {
	entities := []knowledge.Entity{}
	for _, e := range c.args.objects("entities") {
		entities = append(entities, knowledge.Entity{Name: e.text("name"), EntityType: e.text("entityType"), Observations: append([]string{}, e.texts("observations")...)})
	}
	err := c.change(ctx, func(q Querier) (err error) {
		entities, err = knowledge.CreateEntities(ctx, q, entities)
		return err
	})
	return told(entities, map[string]any{"entities": entities}, err)
}

func createRelations(ctx context.Context, c *call) (*answer, error) {
	relations := relationsOf(c.args.objects("relations"))
	err := c.change(ctx, func(q Querier) (err error) {
		relations, err = knowledge.CreateRelations(ctx, q, relations)
		return err
	})
	return told(relations, map[string]any{"relations": relations}, err)
}

func addObservations(ctx context.Context, c *call) (*answer, error) {
	var added []knowledge.Observations
	err := c.change(ctx, func(q Querier) (err error) {
		added, err = knowledge.AddObservations(ctx, q, observationsOf(c.args.objects("observations"), "contents"))
		return err
	})
	type result struct {
		EntityName        string   `json:"entityName"`
		AddedObservations []string `json:"addedObservations"`
	}
	results := []result{}
	for _, o := range added {
		results = append(results, result{o.EntityName, o.Contents})
	}
	return told(results, map[string]any{"results": results}, err)
}

func deleting(what string, run func(context.Context, Querier, arguments) error) func(context.Context, *call) (*answer, error) {
	return func(ctx context.Context, c *call) (*answer, error) {
		if err := c.change(ctx, func(q Querier) error { return run(ctx, q, c.args) }); err != nil {
			return nil, err
		}
		message := what + " deleted successfully"
		return &answer{message, map[string]any{"success": true, "message": message}}, nil
	}
}

// reading9 is a reading one of the nine tools.
func reading9(run func(context.Context, Querier, arguments) (knowledge.Graph, error)) func(context.Context, *call) (*answer, error) {
	return func(ctx context.Context, c *call) (*answer, error) {
		var g knowledge.Graph
		err := c.store.View(ctx, func(q Querier) (err error) {
			g, err = run(ctx, q, c.args)
			return err
		})
		return told(g, map[string]any{"entities": g.Entities, "relations": g.Relations}, err)
	}
}

func relationsOf(list []arguments) []knowledge.Relation {
	out := []knowledge.Relation{}
	for _, r := range list {
		out = append(out, knowledge.Relation{From: r.text("from"), To: r.text("to"), RelationType: r.text("relationType")})
	}
	return out
}

func observationsOf(list []arguments, contents string) []knowledge.Observations {
	var out []knowledge.Observations
	for _, o := range list {
		out = append(out, knowledge.Observations{EntityName: o.text("entityName"), Contents: o.texts(contents)})
	}
	return out
}

// change writes, and tells those who watch the graph.
func (c *call) change(ctx context.Context, fn func(Querier) error) error {
	if err := c.store.Update(ctx, c.key, fn); err != nil {
		return err
	}
	_ = c.server.sdk.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: knowledgeURI}) // it is a hint
	return nil
}

// told makes an answer of a value as the reference server writes it.
func told(value any, data map[string]any, err error) (*answer, error) {
	if err != nil {
		return nil, err
	}
	text, err := indented(value)
	if err != nil {
		return nil, err
	}
	if len(text) > maxGraph {
		return nil, errors.New("the graph is too large for one answer; search_nodes and open_nodes return parts of it")
	}
	return &answer{text, data}, nil
}

// indented is JSON as JavaScript writes it with two spaces.
func indented(value any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(value); err != nil {
		return "", err
	}
	return unescapeSeparators(strings.TrimSuffix(b.String(), "\n")), nil
}

// unescapeSeparators writes U+2028 and U+2029 as they are, which Go escapes and
// JavaScript does not. An escaped backslash before is none of theirs.
func unescapeSeparators(text string) string {
	if !strings.Contains(text, `\u202`) {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], `\\`):
			b.WriteString(`\\`)
			i++
		case strings.HasPrefix(text[i:], `\u2028`), strings.HasPrefix(text[i:], `\u2029`):
			b.WriteRune(rune(0x2020 + int(text[i+5]-'0')))
			i += 5
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// keepSubscriptions lets clients watch the graph.
func keepSubscriptions(o *sdk.ServerOptions) {
	o.SubscribeHandler = func(context.Context, *sdk.SubscribeRequest) error { return nil }
	o.UnsubscribeHandler = func(context.Context, *sdk.UnsubscribeRequest) error { return nil }
}

func (s *Server) addKnowledgeGraph() {
	s.sdk.AddResource(&sdk.Resource{
		URI: knowledgeURI, Name: "knowledge-graph", Title: "Knowledge Graph", MIMEType: "application/json",
		Description: "The full knowledge graph with all entities and relations",
	}, s.reader("application/json", func(ctx context.Context) (string, error) {
		var g knowledge.Graph
		err := s.store.View(ctx, func(q Querier) (err error) {
			g, err = knowledge.Read(ctx, q)
			return err
		})
		if err != nil {
			return "", fmt.Errorf("reading the graph: %w", err)
		}
		return indented(g)
	}))
}
