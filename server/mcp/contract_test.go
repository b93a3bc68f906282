package mcp_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"engram/server/mcp"
)

// contracts holds for each tool what it has to return for what is in the graph.
var contracts = map[string]func(*client){
	"begin_session":      beginSessionContract,
	"remember":           rememberContract,
	"recall":             recallContract,
	"inspect":            inspectContract,
	"link":               linkContract,
	"link_causal":        linkCausalContract,
	"supersede":          supersedeContract,
	"forget":             forgetContract,
	"query":              queryContract,
	"search":             searchContract,
	"fetch":              fetchContract,
	"compile_context":    compileContract,
	"consolidate":        consolidateContract,
	"plan_work":          planWorkContract,
	"review_backlog":     reviewBacklogContract,
	"restructure_causal": restructureContract,
	"structural_audit":   structuralAuditContract,
}

func TestContracts(t *testing.T) {
	files, err := filepath.Glob("tools/*.json")
	if err != nil || len(files) != len(contracts) {
		t.Fatalf("%d tool files and %d contracts: %v", len(files), len(contracts), err)
	}
	for _, name := range mcp.ToolNames() {
		t.Run(name, func(t *testing.T) {
			contract, ok := contracts[name]
			if !ok {
				t.Fatal("no contract")
			}
			contract(newClient(t, mcp.Options{Tools: []string{"all"}}))
		})
	}
}

// TestDefinitions holds what clients rely on in the list of tools.
func TestDefinitions(t *testing.T) {
	c := newClient(t, mcp.Options{Tools: []string{"all"}})
	if len(c.tools) != len(contracts) {
		t.Errorf("%d tools are listed, %d exist", len(c.tools), len(contracts))
	}
	for _, name := range mcp.ToolNames() {
		tool := c.tools[name]
		if tool.Title == "" || len(tool.Description) < 40 || len(tool.Description) > 700 || tool.Annotations == nil || tool.Annotations.OpenWorldHint == nil {
			t.Errorf("%s has no title, description or hints that help", name)
		}
		raw, _ := json.Marshal(tool)
		for _, never := range []string{`"null"`, `"$ref"`, `"anyOf"`, `"oneOf"`, `"allOf"`} {
			if strings.Contains(string(raw), never) {
				t.Errorf("%s has %s in its schema", name, never)
			}
		}
		if !strings.Contains(string(raw), `"additionalProperties":false`) {
			t.Errorf("%s takes unknown arguments", name)
		}
	}
	init := c.session.InitializeResult()
	if n := len(init.Instructions); n == 0 || n >= 2048 {
		t.Errorf("%d characters of instructions", n)
	}
	standard := newClient(t, mcp.Options{})
	if got := strings.Join(standard.server.Tools(), " "); got != "begin_session remember recall inspect link supersede forget query search fetch" {
		t.Errorf("by default there are %s", got)
	}
	if raw, err := os.ReadFile("instructions.md"); err != nil || string(raw) != init.Instructions {
		t.Errorf("the instructions are not those of the file: %v", err)
	}
}

// TestReadOnly holds that a session for reading sees no tool that writes and can
// call none.
func TestReadOnly(t *testing.T) {
	c := newClient(t, mcp.Options{Tools: []string{"all"}, ReadOnly: true})
	for name := range contracts {
		tool, listed := c.tools[name]
		writes := slices.Contains([]string{"remember", "link", "link_causal", "supersede", "forget", "consolidate", "plan_work"}, name)
		if listed == writes {
			t.Errorf("%s: listed %v", name, listed)
		}
		if listed && !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s is listed, and no read-only tool", name)
		}
		if writes {
			_, err := c.session.CallTool(t.Context(), callParams(name, map[string]any{"content": "x", "id": "x"}))
			if err == nil || !strings.Contains(err.Error(), "unknown tool") {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for _, statement := range []string{
		"CREATE (:X)", "match (n) set n.x = 1", "MATCH (n) DETACH DELETE n", "CALL { CREATE (:X) }", "FOREACH (x IN [1] | CREATE (:X))",
		"PROFILE CREATE (:X)", "/* read */ CREATE (:X)", "RETURN 1; CREATE (:X)", "REMEMBER 'x'", "RECALL 'x' REINFORCE", "CREATE INDEX FOR (n:X) ON (n.y)",
		"DROP LAYER x", "REVERT LEARNING SINCE datetime('2020-01-01T00:00Z')", "BEGIN", "CALL embed.backfill(1)", "PRUNE TELEMETRY OLDER THAN duration('P1D')",
		"CONSOLIDATE", "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN line",
	} {
		text := c.refused("query", map[string]any{"statement": statement})
		if text == "" {
			t.Errorf("%s: refused without a word", statement)
		}
	}
	if got := c.one("MATCH (n) RETURN count(n)"); got != "0" {
		t.Errorf("there are %s nodes", got)
	}
}

// TestOptions holds what is refused with which words.
func TestOptions(t *testing.T) {
	for _, o := range []struct {
		o    mcp.Options
		says string
	}{
		{mcp.Options{Tools: []string{"remembr"}}, `there is no tool "remembr"; there are all, default, begin_session`},
		{mcp.Options{Compat: "letta"}, `there is no compat mode "letta"; there is memory`},
		{mcp.Options{Compat: "memory", Tools: []string{"all"}}, "tools cannot be chosen"},
	} {
		if err := mcp.CheckOptions(&o.o); err == nil || !strings.Contains(err.Error(), o.says) {
			t.Errorf("%+v: %v", o.o, err)
		}
	}
}
