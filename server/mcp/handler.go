package mcp

import (
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// keyMeta is where a request may carry an idempotency key of its client.
const keyMeta = "engram/idempotency-key"

//go:embed tools/*.json memorytools/*.json
var toolFiles embed.FS

// tool is one entry of the table of tools. What clients see of it is in a file of
// its name.
type tool struct {
	name     string
	standard bool // offered unless others are asked for
	aliases  map[string]string
	run      func(context.Context, *call) (*answer, error)
	// folder holds the file.
	folder string
	// lax passes over arguments that it does not know.
	lax bool
	// userStatement says that errors are about a statement that the client wrote.
	userStatement bool
}

// definition is the file of a tool.
type definition struct {
	Title       string `json:"title"`
	Description string `json:"description"`
	Annotations struct {
		ReadOnlyHint    bool `json:"readOnlyHint"`
		DestructiveHint bool `json:"destructiveHint"`
		IdempotentHint  bool `json:"idempotentHint"`
		OpenWorldHint   bool `json:"openWorldHint"`
	} `json:"annotations"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema"`
}

func (t tool) definition() *definition {
	file := path.Join(t.folder, t.name+".json")
	raw, err := toolFiles.ReadFile(file)
	var d definition
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}
	if err != nil {
		panic(fmt.Sprintf("mcp: %s: %v", file, err)) // a test reads all of them
	}
	return &d
}

// described is the tool as clients list it.
func (t tool) described() *sdk.Tool {
	d := t.definition()
	return &sdk.Tool{
		Name: t.name, Title: d.Title, Description: d.Description,
		InputSchema: d.InputSchema, OutputSchema: d.OutputSchema,
		Annotations: &sdk.ToolAnnotations{
			Title: d.Title, ReadOnlyHint: d.Annotations.ReadOnlyHint, IdempotentHint: d.Annotations.IdempotentHint,
			DestructiveHint: &d.Annotations.DestructiveHint, OpenWorldHint: &d.Annotations.OpenWorldHint,
		},
	}
}

// call is one call of a tool.
type call struct {
	args   arguments
	store  Store
	key    string // makes a write happen once; may be empty
	now    func() time.Time
	newID  func() string
	server *Server
}

// handler checks arguments, runs the tool, and tells errors as results, so that a
// model can see and mend them.
func (s *Server) handler(t tool) sdk.ToolHandler {
	var input schema
	if err := json.Unmarshal(t.definition().InputSchema, &input); err != nil {
		panic(fmt.Sprintf("mcp: schema of %s: %v", t.name, err))
	}
	if t.lax {
		input.loosen()
	}
	return func(ctx context.Context, req *sdk.CallToolRequest) (result *sdk.CallToolResult, _ error) {
		defer func() {
			if r := recover(); r != nil {
				result = failed(fmt.Sprintf("%s failed by a fault of its own; nothing was changed by it that was not told", t.name))
			}
		}()
		args, err := input.decode(req.Params.Arguments, t.aliases)
		if err != nil {
			return failed(t.name + ": " + err.Error()), nil
		}
		key, _ := req.Params.Meta[keyMeta].(string)
		if len(key) > 256 {
			return failed(keyMeta + " has more than 256 bytes"), nil
		}
		out, err := t.run(context.WithValue(ctx, toolKey{}, t.name), &call{args: args, store: s.store, key: key, now: s.opts.Now, newID: s.opts.NewID, server: s})
		if err != nil {
			return failed(explain(err, !t.userStatement)), nil
		}
		return &sdk.CallToolResult{
			Content:           []sdk.Content{&sdk.TextContent{Text: strings.TrimRight(out.text, "\n")}},
			StructuredContent: out.data,
		}, nil
	}
}

func failed(text string) *sdk.CallToolResult {
	text, _ = cut(strings.TrimRight(text, "\n"), maxAnswer/4)
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}
