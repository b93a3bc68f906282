package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"engram"
)

const nodeURI = "engram://node/"

// inspect shows a node with its relationships.
func inspect(ctx context.Context, c *call) (*answer, error) {
	p, err := parseCursor(c.args.text("cursor"))
	if err != nil {
		return nil, err
	}
	id := c.args.text("id")
	var out *answer
	err = c.store.View(ctx, func(q Querier) (err error) {
		out, err = nodeAnswer(ctx, q, id, p, c.args.integer("limit", 30))
		return err
	})
	if err != nil || !c.args.has("query") {
		return out, err
	}
	res, err := c.store.Query(ctx, "EXPLAIN RECALL $query NOT $id YIELD recalled, reason RETURN recalled, reason",
		map[string]any{"query": c.args.text("query"), "id": id})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) > 0 {
		r := rowsOf(res)[0]
		out.data["recalled"], out.data["reason"] = r.flag("recalled"), r.text("reason")
		word := "not recalled"
		if r.flag("recalled") {
			word = "recalled"
		}
		out.text += fmt.Sprintf("For that question it is %s: %s\n", word, r.text("reason"))
	}
	return out, nil
}

func nodeAnswer(ctx context.Context, q Querier, id string, p page, limit int64) (*answer, error) {
	res, err := q.Query(ctx, "MATCH (n {id: $id}) RETURN labels(n) AS labels, properties(n) AS properties, COUNT { (n)--() } AS total",
		map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, noNode(id)
	}
	r := rowsOf(res)[0]
	edges, err := q.Query(ctx, `MATCH (n {id: $id})-[r]-(x)
		RETURN type(r) AS type, startNode(r) = n AS out, x.id AS other, coalesce(x.content, x.title, x.name, '') AS content, properties(r) AS properties
		ORDER BY id(r), out SKIP $skip LIMIT $limit`, map[string]any{"id": id, "skip": p.offset, "limit": limit + 1})
	if err != nil {
		return nil, err
	}
	properties, text := properties(r["properties"])
	var l listing
	l.size = 2 * len(text)
	rows := rowsOf(edges)
	for _, e := range rows[:min(int(limit), len(rows))] {
		item, told := relationship(e)
		if err := l.add(told, item); err != nil {
			return nil, err
		}
	}
	p.offset += int64(len(l.items))
	more := l.full || int64(len(rows)) > limit
	data := map[string]any{
		"id": id, "labels": r.texts("labels"), "properties": properties, "relationships": l.list(),
		"relationships_total": r.integer("total"), "more": more,
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%s] %s\n%s%d relationships\n%s", id, strings.Join(r.texts("labels"), ", "), text, r.integer("total"), l.text.String())
	if more {
		data["cursor"] = p.cursor()
		fmt.Fprintf(&b, "There are more relationships: cursor %s\n", p.cursor())
	}
	return &answer{b.String(), data}, nil
}

// properties are those of a node, each cut where it is long, and the same in lines.
func properties(v engram.Value) (map[string]any, string) {
	out := map[string]any{}
	var b strings.Builder
	room := maxAnswer / 4
	for _, e := range v.AsMap().Entries {
		text := string(e.Value.AppendText(nil))
		short, wasCut := cut(text, max(200, min(maxContent*4, room)))
		room -= len(short)
		var value any = e.Value
		if wasCut {
			value = short
		}
		if room < -maxAnswer/8 { // properties by the thousand
			out["…"] = "more properties; query returns them by name"
			b.WriteString("… more properties; query returns them by name\n")
			break
		}
		out[e.Key] = value
		fmt.Fprintf(&b, "%s: %s\n", e.Key, short)
	}
	return out, b.String()
}

func relationship(e row) (item map[string]any, text string) {
	content, _ := cut(e.text("content"), 120)
	item = map[string]any{"type": e.text("type"), "direction": "in", "node": e.text("other"), "content": content}
	if entries := e["properties"].AsMap().Entries; len(entries) > 0 {
		if raw, err := json.Marshal(e["properties"]); err == nil && len(raw) < maxContent {
			item["properties"] = e["properties"]
		}
	}
	arrow := "<-"
	if e.flag("out") {
		item["direction"], arrow = "out", "->"
	}
	return item, fmt.Sprintf("%s %s [%s] %s", arrow, e.text("type"), e.text("other"), content)
}

// search finds memories in the shape that ChatGPT wants.
func search(ctx context.Context, c *call) (*answer, error) {
	res, err := c.store.Query(ctx, "RECALL $query LIMIT 20 YIELD node AS m, score RETURN "+memoryColumns+", round(score, 4) AS score",
		map[string]any{"query": c.args.text("query")})
	if err != nil {
		return nil, err
	}
	results := []any{}
	for _, r := range rowsOf(res) {
		results = append(results, map[string]any{"id": r.text("id"), "title": title(r.text("content")), "url": nodeURI + escapeID(r.text("id"))})
	}
	return jsonAnswer(map[string]any{"results": results})
}

// fetch returns the text of a node in the shape that ChatGPT wants.
func fetch(ctx context.Context, c *call) (*answer, error) {
	id := strings.TrimPrefix(c.args.text("id"), nodeURI)
	res, err := c.store.Query(ctx, "MATCH (m {id: $id}) RETURN "+memoryColumns, map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, noNode(id)
	}
	r := rowsOf(res)[0]
	item, wasCut := r.memory(maxAnswer/2 - 4_000)
	metadata := map[string]any{"labels": item["labels"], "cut": wasCut}
	for _, name := range []string{"created_at", "valid_from", "valid_to", "origin", "status", "tags"} {
		if v, ok := item[name]; ok {
			metadata[name] = v
		}
	}
	return jsonAnswer(map[string]any{
		"id": id, "title": title(r.text("content")), "text": item["content"], "url": nodeURI + escapeID(id), "metadata": metadata,
	})
}

// title is the first line of a text, cut.
func title(text string) string {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	if runes := []rune(first); len(runes) > 80 {
		return string(runes[:79]) + "…"
	}
	return first
}

// jsonAnswer is an answer whose text is JSON too.
func jsonAnswer(data map[string]any) (*answer, error) {
	text, err := json.Marshal(data)
	if err != nil {
		return nil, err
	}
	return &answer{string(text), data}, nil
}
