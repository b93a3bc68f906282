package main

import (
	"math"
	"slices"
	"strings"

	"engram"
)

// importedKey is the property by which an import knows its nodes again. Tables leave it
// out: it is of no use to a reader, and longer than most memories.
const importedKey = "imported"

func hasImported(n *engram.Node) bool {
	return n != nil && slices.ContainsFunc(n.Properties, func(p engram.Prop) bool { return p.Key == importedKey })
}

// nodeCell is a node in a table.
func nodeCell(node engram.Value) string {
	text := node.String()
	all, err := mapOf(node.AsNode().Properties, "")
	if err != nil {
		return text
	}
	head, ok := strings.CutSuffix(text, all.String()+")")
	shown, err := mapOf(node.AsNode().Properties, importedKey)
	if !ok || err != nil {
		return text
	}
	return head + shown.String() + ")"
}

// mapOf is a map of properties but one.
func mapOf(props []engram.Prop, but string) (engram.Value, error) {
	m := make(map[string]any, len(props))
	for _, p := range props {
		if p.Key != but {
			m[p.Key] = p.Value
		}
	}
	return engram.ValueOf(m)
}

// recalled is what a RECALL that names no columns returns, with the columns that engramd
// recall has; other results stay as they are.
func recalled(res *engram.Result) *engram.Result {
	if !slices.Equal(res.Columns, []string{"node", "score"}) || len(res.Rows) == 0 {
		return res
	}
	out := *res
	out.Columns, out.Rows = []string{"score", "id", "who", "content"}, make([][]engram.Value, len(res.Rows))
	for i, row := range res.Rows {
		if row[0].Kind() != engram.KindNode || row[1].Kind() != engram.KindFloat {
			return res
		}
		n := row[0].AsNode()
		if n == nil {
			return res
		}
		props := n.Properties
		score, _ := engram.ValueOf(math.Round(row[1].AsFloat()*1e4) / 1e4) // a number is a value
		out.Rows[i] = []engram.Value{score, propOf(props, "id"), propOf(props, "speaker", "title"), propOf(props, "content", "title", "name")}
	}
	return &out
}

// propOf is the first property of these that there is, else an empty text.
func propOf(props []engram.Prop, keys ...string) engram.Value {
	for _, key := range keys {
		for _, p := range props {
			if p.Key == key && !p.Value.IsNull() {
				return p.Value
			}
		}
	}
	none, _ := engram.ValueOf("") // a text is a value
	return none
}
