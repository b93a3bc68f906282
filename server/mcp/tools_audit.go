package mcp

import (
	"context"
	"fmt"
	"strings"
)

// structuralAudit tells what shape the memory is in.
func structuralAudit(ctx context.Context, c *call) (*answer, error) {
	statement := "AUDIT STRUCTURE"
	if only := c.args.texts("only"); len(only) > 0 {
		statement += " ONLY " + names(only, ", ")
	}
	statement += " WITH $options"
	if c.args.flag("suggest") {
		statement += " SUGGEST"
	}
	res, err := c.store.Query(ctx, statement+` YIELD finding, status, count, note, measured, nodes, nodeCount, why, statement
		RETURN finding, status, count, note, measured, [n IN nodes | [n.id, coalesce(n.content, n.title, n.name, '')]] AS nodes, nodeCount, why, statement`,
		map[string]any{"options": map[string]any{"limit": c.args.integer("limit", 5)}})
	if err != nil {
		return nil, err
	}
	var l listing
	status := map[string]any{}
	rows := rowsOf(res)
	total := 0
	for i := 0; i < len(rows); total++ {
		// With suggestions there is a row for each of them.
		r := rows[i]
		var suggestions []string
		for ; i < len(rows) && rows[i].text("finding") == r.text("finding"); i++ {
			if s := rows[i].text("statement"); s != "" {
				suggestions = append(suggestions, s)
			}
		}
		before, _ := status[r.text("status")].(int)
		status[r.text("status")] = before + 1
		item, told := finding(r, suggestions)
		if err := l.add(told, item); err != nil {
			return nil, err
		}
	}
	var counted []string
	for _, name := range sortedKeys(status) {
		counted = append(counted, fmt.Sprintf("%v %s", status[name], name))
	}
	text := fmt.Sprintf("%d findings: %s. Nothing was changed.\n%s", total, strings.Join(counted, ", "), l.text.String())
	if len(l.items) < total {
		text += fmt.Sprintf("%d more are not listed; only chooses findings.\n", total-len(l.items))
	}
	return &answer{text, map[string]any{"findings": l.list(), "total": total, "status": status, "more": len(l.items) < total}}, nil
}

func finding(r row, suggestions []string) (item map[string]any, told string) {
	item = map[string]any{
		"finding": r.text("finding"), "status": r.text("status"), "count": r.integer("count"), "note": r.text("note"),
		"measured": r["measured"], "node_count": r.integer("nodeCount"),
	}
	var b strings.Builder
	fmt.Fprintf(&b, "- %s: %s. %s", r.text("finding"), r.text("status"), r.text("note"))
	why := r.texts("why")
	nodes := []any{}
	for i, pair := range r["nodes"].AsList() {
		parts := pair.AsList()
		node := map[string]any{"id": parts[0].ToString(), "title": title(parts[1].ToString())}
		fmt.Fprintf(&b, "\n  [%s] %s", node["id"], node["title"])
		if i < len(why) {
			node["why"] = why[i]
			b.WriteString(" (" + why[i] + ")")
		}
		nodes = append(nodes, node)
	}
	item["nodes"] = nodes
	if left := r.integer("nodeCount") - int64(len(nodes)); left > 0 {
		fmt.Fprintf(&b, "\n  and %d more nodes", left)
	}
	var shown []string
	for _, s := range suggestions[:min(len(suggestions), 10)] {
		s, _ = cut(s, maxContent)
		shown = append(shown, s)
		b.WriteString("\n  suggested: " + s)
	}
	if shown != nil {
		item["suggestions"] = shown
	}
	return item, b.String()
}
