package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

var (
	openStatuses = []string{"open", "in_progress", "blocked"}
	priorities   = []string{"", "most urgent", "urgent", "normal", "can wait", "least urgent"}
)

// planWork makes or changes an item of work.
func planWork(ctx context.Context, c *call) (*answer, error) {
	id := c.args.text("id")
	var created bool
	var r row
	err := c.store.Update(ctx, c.key, func(q Querier) (err error) {
		created = false
		if err := known(ctx, q, c.args.texts("concerns")); err != nil {
			return err
		}
		if c.args.has("id") {
			res, err := q.Query(ctx, "MATCH (w:BacklogItem {id: $id}) RETURN w.id", map[string]any{"id": id})
			if err != nil {
				return err
			}
			if len(res.Rows) == 0 {
				return fmt.Errorf("there is no work with the id %q; review_backlog lists ids, and without an id a new item is made", id)
			}
		} else {
			created, id = true, c.workID()
			if !c.args.has("title") {
				return errors.New("title is missing: new work needs one")
			}
		}
		r, err = writeWork(ctx, q, c, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	data := map[string]any{
		"id": id, "created": created, "title": r.text("title"), "priority": r.integer("priority"), "status": r.text("status"),
		"concerns": r.texts("concerns"),
	}
	word := "Changed"
	if created {
		word = "Planned"
	}
	return &answer{fmt.Sprintf("%s [%s] %s (%s, %s)", word, id, r.text("title"), data["status"], urgency(r.integer("priority"))), data}, nil
}

// workID is the id of a new item. The same request has the same one.
func (c *call) workID() string {
	if c.key != "" {
		return "work-" + short(c.key)
	}
	return "work-" + c.newID()
}

func writeWork(ctx context.Context, q Querier, c *call, id string) (row, error) {
	props := map[string]any{}
	for _, name := range []string{"title", "body", "priority", "status"} {
		if c.args.has(name) {
			props[name] = c.args[name]
		}
	}
	// What is recalled of work is its content.
	res, err := q.Query(ctx, `MERGE (w {id: $id})
		ON CREATE SET w:BacklogItem, w.created_at = datetime($now), w.priority = 3, w.status = 'open', w.origin = 'model'
		SET w += $props
		SET w.updated_at = datetime($now)
		WITH w SET w.content = w.title + CASE WHEN w.body IS NULL OR w.body = '' THEN '' ELSE '\n' + w.body END
		WITH w UNWIND CASE WHEN size($concerns) = 0 THEN [null] ELSE $concerns END AS other
		OPTIONAL MATCH (n {id: other})
		FOREACH (x IN CASE WHEN n IS NULL THEN [] ELSE [n] END | MERGE (w)-[:CONCERNS]->(x))
		RETURN w.title AS title LIMIT 1`,
		map[string]any{"id": id, "props": props, "concerns": append([]string{}, c.args.texts("concerns")...), "now": c.now().UTC().Format("2006-01-02T15:04:05.999999999Z")})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, errors.New("the work was not written")
	}
	res, err = q.Query(ctx, `MATCH (w:BacklogItem {id: $id})
		RETURN w.title AS title, w.priority AS priority, w.status AS status, [(w)-[:CONCERNS]->(n) | n.id] AS concerns`, map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	return rowsOf(res)[0], nil
}

// reviewBacklog lists work, the most urgent first.
func reviewBacklog(ctx context.Context, c *call) (*answer, error) {
	p, err := parseCursor(c.args.text("cursor"))
	if err != nil {
		return nil, err
	}
	statuses := c.args.texts("status")
	if len(statuses) == 0 {
		statuses = openStatuses
	}
	limit := c.args.integer("limit", 20)
	rows, counts, err := backlog(ctx, c.store, "true", statuses, p.offset, limit)
	if err != nil {
		return nil, err
	}
	var l listing
	for _, r := range rows {
		item, told := workItem(r, maxContent)
		if err := l.add(told, item); err != nil {
			return nil, err
		}
	}
	all := total(counts, statuses)
	p.offset += int64(len(l.items))
	more := p.offset < all && len(l.items) > 0
	data := map[string]any{"items": l.list(), "total": all, "counts": counts, "more": more}
	text := fmt.Sprintf("%d items that are %s.\n%s", all, strings.Join(statuses, " or "), l.text.String())
	if more {
		data["cursor"] = p.cursor()
		text += fmt.Sprintf("There is more: cursor %s\n", p.cursor())
	}
	return &answer{text, data}, nil
}

func total(counts map[string]any, statuses []string) int64 {
	var n int64
	for _, s := range statuses {
		count, _ := counts[s].(int64)
		n += count
	}
	return n
}

// backlog reads a page of work and how much there is, by status.
func backlog(ctx context.Context, store Store, where string, statuses []string, skip, limit int64) (rows []row, counts map[string]any, err error) {
	counts = map[string]any{}
	err = store.View(ctx, func(q Querier) error {
		res, err := q.Query(ctx, "MATCH (m:BacklogItem) WHERE "+where+" WITH m AS w RETURN coalesce(w.status, 'open') AS status, count(*) AS n ORDER BY status", nil)
		if err != nil {
			return err
		}
		for _, r := range rowsOf(res) {
			counts[r.text("status")] = r.integer("n")
		}
		res, err = q.Query(ctx, "MATCH (m:BacklogItem) WHERE "+where+` WITH m AS w WHERE coalesce(w.status, 'open') IN $statuses
			WITH w ORDER BY coalesce(w.priority, 3), w.created_at, w.id SKIP $skip LIMIT $limit
			RETURN w.id AS id, coalesce(w.title, '') AS title, coalesce(w.body, '') AS body, coalesce(w.priority, 3) AS priority,
			coalesce(w.status, 'open') AS status, w.created_at AS created_at,
			[(w)-[:CONCERNS]->(n) | [n.id, coalesce(n.title, n.name, n.content, '')]] AS concerns`,
			map[string]any{"statuses": statuses, "skip": skip, "limit": limit})
		if err == nil {
			rows = rowsOf(res)
		}
		return err
	})
	return rows, counts, err
}

func workItem(r row, limit int) (item map[string]any, text string) {
	body, _ := cut(r.text("body"), limit)
	concerns := []any{}
	text = fmt.Sprintf("- [%s] %s (%s, %s)", r.text("id"), r.text("title"), r.text("status"), urgency(r.integer("priority")))
	if body != "" {
		text += "\n  " + body
	}
	for i, pair := range r["concerns"].AsList() {
		if i == 10 {
			break
		}
		parts := pair.AsList()
		about := map[string]any{"id": parts[0].ToString(), "title": title(parts[1].ToString())}
		concerns = append(concerns, about)
		text += fmt.Sprintf("\n  concerns [%s] %s", about["id"], about["title"])
	}
	item = map[string]any{
		"id": r.text("id"), "title": r.text("title"), "priority": r.integer("priority"), "status": r.text("status"), "concerns": concerns,
	}
	if body != "" {
		item["body"] = body
	}
	if created := r.text("created_at"); created != "" {
		item["created_at"] = created
	}
	return item, text
}

func urgency(priority int64) string {
	if priority < 1 || priority >= int64(len(priorities)) {
		return fmt.Sprintf("priority %d", priority)
	}
	return priorities[priority]
}
