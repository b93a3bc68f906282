package mcp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	schemaURI  = "engram://schema"
	workingURI = "engram://working-memory"
)

// short is a piece of a text's hash.
func short(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:10])
}

// escapeID writes an id as a part of a URI.
func escapeID(id string) string { return url.PathEscape(id) }

func (s *Server) addResources() {
	s.sdk.AddResource(&sdk.Resource{
		URI: schemaURI, Name: "schema", Title: "Schema", MIMEType: "text/plain",
		Description: "Labels, relation types with their meaning, properties and indexes of the memory.",
	}, s.reader("text/plain", s.schemaText))
	s.sdk.AddResource(&sdk.Resource{
		URI: workingURI, Name: "working-memory", Title: "Working memory", MIMEType: "application/json",
		Description: "What is on the mind: nodes with their weight.",
	}, s.reader("application/json", s.workingMemory))
	s.sdk.AddResourceTemplate(&sdk.ResourceTemplate{
		URITemplate: nodeURI + "{id}", Name: "node", Title: "Node", MIMEType: "application/json",
		Description: "One node with its labels, properties and relationships.",
	}, s.readNode)
}

// reader makes a handler of what makes a text.
func (s *Server) reader(mime string, read func(context.Context) (string, error)) sdk.ResourceHandler {
	return func(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
		text, err := read(ctx)
		if err != nil {
			return nil, fmt.Errorf("%s", explain(err, true))
		}
		return contents(req.Params.URI, mime, text), nil
	}
}

func contents(uri, mime, text string) *sdk.ReadResourceResult {
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: mime, Text: text}}}
}

func (s *Server) readNode(ctx context.Context, req *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := req.Params.URI
	id, err := url.PathUnescape(strings.TrimPrefix(uri, nodeURI))
	if err != nil || id == "" {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err := known(ctx, s.store, []string{id}); err != nil {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	var out *answer
	err = s.store.View(ctx, func(q Querier) (err error) {
		out, err = nodeAnswer(ctx, q, id, page{}, 100)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s", explain(err, true))
	}
	text, err := json.MarshalIndent(out.data, "", " ")
	if err != nil {
		return nil, err
	}
	return contents(uri, "application/json", string(text)), nil
}

// schemaText tells what statements can name.
func (s *Server) schemaText(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, part := range []struct{ title, statement string }{
		{"Labels, with how many nodes have them", "SHOW STATS YIELD kind, name, count WHERE kind = 'label' RETURN name + ': ' + toString(count) AS line ORDER BY line LIMIT 200"},
		{"Relation types, with how many there are and what they mean", "SHOW RELATION TYPES YIELD name, meaning, count RETURN name + ' (' + toString(count) + '): ' + coalesce(meaning, '') AS line ORDER BY line LIMIT 200"},
		{"Properties", "CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey AS line ORDER BY line LIMIT 300"},
		{"Indexes", "SHOW INDEXES YIELD name, labelsOrTypes, properties RETURN name + ' on' + reduce(s = '', x IN coalesce(labelsOrTypes, []) + coalesce(properties, []) | s + ' ' + x) AS line ORDER BY line LIMIT 100"},
	} {
		res, err := s.store.Query(ctx, part.statement, nil)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%s\n", part.title)
		for _, r := range rowsOf(res) {
			text, _ := cut(r.text("line"), 300)
			fmt.Fprintf(&b, "- %s\n", text)
		}
		b.WriteByte('\n')
	}
	text, _ := cut(strings.TrimSpace(b.String()), maxAnswer)
	return text + "\n", nil
}

func (s *Server) workingMemory(ctx context.Context) (string, error) {
	res, err := s.store.Query(ctx, "SHOW WORKING MEMORY YIELD node, weight WITH node AS m, weight ORDER BY weight DESC, m.id LIMIT 64 RETURN round(weight, 4) AS score, "+memoryColumns, nil)
	if err != nil {
		return "", err
	}
	items := []any{}
	for _, r := range rowsOf(res) {
		item, _ := r.memory(240)
		item["weight"] = item["score"]
		delete(item, "score")
		items = append(items, item)
	}
	text, err := json.MarshalIndent(map[string]any{"nodes": items}, "", " ")
	return string(text), err
}
