package mcp

import (
	"context"
	"fmt"
	"strings"
)

// section is a bounded part of what a session begins with.
type section struct {
	name, title string
	statement   string // returns memoryColumns
	limit       int    // items
	bytes       int    // of an item's content
}

// active leaves out what recall leaves out; verdicts no tool sees.
const active = "coalesce(m.status, 'active') = 'active' AND NOT m:Telemetry AND " + plain

// plain leaves out the layers 3 and 4, imprints and suits, which are on only where they are
// asked for.
const plain = "toString(coalesce(m.layer, 1)) IN ['0', '1', '2', 'safety', 'core', 'domain']"

var sections = []section{
	{"recent", "The newest memories", "MATCH (m:Memory) WHERE " + active + " AND m.created_at IS NOT NULL WITH m ORDER BY m.created_at DESC, m.id LIMIT $limit RETURN " + memoryColumns, 10, 240},
	{"activated", "On the mind", "SHOW WORKING MEMORY OF CONVERSATION $conversation YIELD node, weight WITH node AS m, weight WHERE " + plain + " WITH m, weight ORDER BY weight DESC, m.id LIMIT $limit RETURN " + memoryColumns, 10, 240},
	{"self", "About the self", "SHOW PILLARS YIELD kind, node WHERE kind = 'self' MATCH (node)-[r]-(m) WHERE " + active + " WITH DISTINCT m ORDER BY coalesce(m.importance, 0.5) DESC, m.id LIMIT $limit RETURN " + memoryColumns, 24, 240},
	{"profile", "Pillars and preferences", "CALL { SHOW PILLARS YIELD kind, node RETURN node AS m UNION MATCH (m:Profile) RETURN m UNION MATCH (m:Preference) RETURN m } WITH m WHERE " + active + " WITH m ORDER BY coalesce(m.importance, 0.5) DESC, m.id LIMIT $limit RETURN " + memoryColumns, 8, 350},
	{"events", "What happened lately", "MATCH (m:BellEvent|PositiveEvent|StateEvent) WHERE " + active + " WITH m ORDER BY m.created_at DESC, m.id LIMIT $limit RETURN " + memoryColumns, 5, 500},
}

// beginSession returns a bounded preload of what is worth knowing at once.
func beginSession(ctx context.Context, c *call) (*answer, error) {
	conversation := c.args.text("conversation")
	if conversation == "" {
		conversation = c.newID()
	}
	data := map[string]any{"conversation": conversation}
	var b strings.Builder
	fmt.Fprintf(&b, "Conversation: %s\n", conversation)
	if err := sessionStats(ctx, c, data, &b); err != nil {
		return nil, err
	}
	if about := c.args.text("about"); strings.TrimSpace(about) != "" {
		compiled, err := compileWith(ctx, &call{
			args:  arguments{"intent": about, "budget": c.args.integer("budget", 1000)},
			store: c.store,
		}, " IN LAYERS [0, 1, 2]")
		if err != nil {
			return nil, err
		}
		data["context"] = compiled.data["text"]
		fmt.Fprintf(&b, "About it:\n%s\n", compiled.text)
	}
	for _, s := range sections {
		if err := s.add(ctx, c, conversation, data, &b); err != nil {
			return nil, err
		}
	}
	work, counts, err := backlog(ctx, c.store, plain, openStatuses, 0, 6)
	if err != nil {
		return nil, err
	}
	items := []any{}
	for _, r := range work {
		item, told := workItem(r, 350)
		items = append(items, item)
		if len(items) == 1 {
			b.WriteString("Open work:\n")
		}
		b.WriteString(told + "\n")
	}
	data["open_work"] = items
	if left := total(counts, openStatuses) - int64(len(items)); left > 0 {
		data["left_out"] = left
		fmt.Fprintf(&b, "%d more items of work: review_backlog lists them.\n", left)
	}
	return &answer{b.String(), data}, nil
}

func (s section) add(ctx context.Context, c *call, conversation string, data map[string]any, b *strings.Builder) error {
	res, err := c.store.Query(ctx, s.statement, map[string]any{"limit": s.limit, "conversation": conversation})
	if err != nil {
		return fmt.Errorf("%s: %w", s.name, err)
	}
	items := []any{}
	for i, r := range rowsOf(res) {
		item, _ := r.memory(s.bytes)
		items = append(items, item)
		if i == 0 {
			b.WriteString(s.title + ":\n")
		}
		b.WriteString(line(item) + "\n")
	}
	data[s.name] = items
	return nil
}

func sessionStats(ctx context.Context, c *call, data map[string]any, b *strings.Builder) error {
	res, err := c.store.Query(ctx, "SHOW STATS YIELD kind, name, count WHERE kind <> 'weighing' RETURN kind, name, count", nil)
	if err != nil {
		return err
	}
	stats := map[string]any{"nodes": int64(0), "relationships": int64(0)}
	labels := map[string]any{}
	var told []string
	for _, r := range rowsOf(res) {
		switch r.text("kind") {
		case "nodes", "relationships":
			stats[r.text("kind")] = r.integer("count")
		case "label":
			if name, _ := cut(r.text("name"), 100); len(labels) < 30 {
				labels[name] = r.integer("count")
				told = append(told, fmt.Sprintf("%s %d", name, r.integer("count")))
			}
		}
	}
	stats["labels"] = labels
	data["stats"] = stats
	fmt.Fprintf(b, "The memory holds %d nodes and %d relationships", stats["nodes"], stats["relationships"])
	if len(told) > 0 {
		b.WriteString(": " + strings.Join(told, ", "))
	}
	b.WriteString(".\n")
	return nil
}
