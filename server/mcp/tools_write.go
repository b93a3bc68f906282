package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"engram"
)

// times are properties that are date-times in EQL and texts in JSON.
var times = []string{"created_at", "valid_from", "valid_to"}

// remember stores a memory and tells what it was associated with.
func remember(ctx context.Context, c *call) (*answer, error) {
	statement, params, targets, err := rememberStatement(c.args)
	if err != nil {
		return nil, err
	}
	var data map[string]any
	var associated listing
	err = c.store.Update(ctx, c.key, func(q Querier) error {
		associated = listing{}
		if err := known(ctx, q, targets); err != nil {
			return err
		}
		res, err := q.Query(ctx, statement, params)
		if err != nil {
			return err
		}
		r := rowsOf(res)[0]
		content, _ := cut(r.text("content"), maxContent)
		data = map[string]any{"id": r.text("id"), "created": r.flag("created"), "content": content}
		if !r.flag("created") {
			return nil
		}
		return around(ctx, q, r.text("id"), data, &associated)
	})
	if err != nil {
		return nil, err
	}
	data["associated"] = associated.list()
	text := fmt.Sprintf("Remembered as [%v].\n", data["id"])
	if data["created"] == false {
		text = fmt.Sprintf("It was remembered before, as [%v]: this counts as a use of it, and what else was given now is not stored.\n", data["id"])
	}
	if old, ok := data["replaced"]; ok {
		text += fmt.Sprintf("It takes the place of an older version, which is kept as [%v].\n", old)
	}
	if len(associated.items) > 0 {
		text += "Associated with:\n" + associated.text.String()
	}
	return &answer{text, data}, nil
}

// around finds what a new memory took the place of and was associated with.
func around(ctx context.Context, q Querier, id string, data map[string]any, associated *listing) error {
	res, err := q.Query(ctx, "MATCH (n {id: $id})-[r:RELATED|SUPERSEDES]->(m) RETURN type(r) AS type, "+memoryColumns+" ORDER BY id(r) LIMIT 10",
		map[string]any{"id": id})
	if err != nil {
		return err
	}
	for _, r := range rowsOf(res) {
		if r.text("type") == "SUPERSEDES" {
			data["replaced"] = r.text("id")
			continue
		}
		item, _ := r.memory(200)
		if err := associated.add(line(item), item); err != nil {
			return err
		}
	}
	return nil
}

func rememberStatement(a arguments) (statement string, params map[string]any, targets []string, err error) {
	props := map[string]any{"origin": "model"}
	for name, value := range a.object("properties") {
		props[name] = value
	}
	for _, name := range []string{"id", "tags", "importance", "confidence", "valid_from", "valid_to", "conversation", "origin"} {
		if !a.has(name) {
			continue
		}
		if _, both := a.object("properties")[name]; both {
			return "", nil, nil, fmt.Errorf("%s is given twice, once in properties", name)
		}
		props[name] = a[name]
	}
	for _, name := range []string{"content", "status", "tier"} {
		if _, ok := props[name]; ok {
			return "", nil, nil, fmt.Errorf("properties cannot hold %s: it is the memory's own", name)
		}
	}
	var list []string
	for _, name := range sortedKeys(props) {
		value := "$props." + quoted(name)
		if _, text := props[name].(string); text && slices.Contains(times, name) {
			value = "datetime(" + value + ")"
		}
		list = append(list, quoted(name)+": "+value)
	}
	labels := []string{"Memory"}
	for _, l := range a.texts("labels") {
		if l != "Memory" {
			labels = append(labels, l)
		}
	}
	params = map[string]any{"content": a.text("content"), "props": props}
	links, before, targets := linkOptions(a.objects("links"), params)
	alone := ""
	if a.flag("alone") {
		alone = " ALONE"
	}
	return before + "REMEMBER $content :" + names(labels, ":") + " {" + strings.Join(list, ", ") + "}" + links + alone +
		" AS m\nRETURN m.id AS id, m.content AS content, created", params, targets, nil
}

// linkOptions writes links as options of REMEMBER, and what has to stand before.
func linkOptions(links []arguments, params map[string]any) (options, before string, targets []string) {
	var match, list []string
	for i, l := range links {
		variable := fmt.Sprintf("l%d", i)
		params[variable] = l.text("to")
		targets = append(targets, l.text("to"))
		match = append(match, "("+variable+" {id: $"+variable+"})")
		typ := l.text("type")
		if typ == "" {
			typ = "RELATED"
		}
		option := "(" + variable + ") AS :" + quoted(typ)
		if w, ok := l["weight"]; ok {
			params[variable+"w"] = w
			option += " WEIGHT $" + variable + "w"
		}
		list = append(list, option)
	}
	if len(list) == 0 {
		return "", "", nil
	}
	return " LINK " + strings.Join(list, ", "), "MATCH " + strings.Join(match, ", ") + " ", targets
}

func link(ctx context.Context, c *call) (*answer, error) {
	typ := c.args.text("type")
	if typ == "" {
		typ = "RELATED"
	}
	if typ == "SUPERSEDES" {
		return nil, errors.New("what supersedes what is said by the tool supersede, which also ends the older memory's validity")
	}
	return connect(ctx, c, c.args.text("from"), c.args.text("to"), typ, c.args["weight"], nil)
}

func linkCausal(ctx context.Context, c *call) (*answer, error) {
	cause, effect := c.args.text("cause"), c.args.text("effect")
	return connect(ctx, c, cause, effect, "CAUSES", c.args["strength"], func(q Querier) error {
		if cause == effect {
			return errors.New("nothing causes itself: cause and effect are the same node")
		}
		res, err := q.Query(ctx, "MATCH p = (e {id: $effect})-[:CAUSES*1..8]->({id: $cause}) RETURN [n IN nodes(p) | n.id] AS way LIMIT 1",
			map[string]any{"cause": cause, "effect": effect})
		if err != nil {
			return err
		}
		if len(res.Rows) > 0 {
			return fmt.Errorf("the effect leads to the cause already: %s; a circle explains nothing", strings.Join(rowsOf(res)[0].texts("way"), " -> "))
		}
		return nil
	})
}

// connect makes or changes the relationship of a type between two nodes, after a
// check in the same transaction.
func connect(ctx context.Context, c *call, from, to, typ string, weight any, check func(Querier) error) (*answer, error) {
	var created bool
	err := c.store.Update(ctx, c.key, func(q Querier) error {
		if err := known(ctx, q, []string{from, to}); err != nil {
			return err
		}
		if check != nil {
			if err := check(q); err != nil {
				return err
			}
		}
		set, params := "", map[string]any{"from": from, "to": to, "weight": weight}
		if weight != nil {
			set = " SET r.weight = $weight"
		}
		if c.args.has("because") {
			params["because"] = c.args.text("because")
			set += " SET r.reason = $because"
		}
		res, err := q.Query(ctx, "MATCH (a {id: $from}), (b {id: $to}) OPTIONAL MATCH (a)-[before:"+quoted(typ)+"]->(b) WITH a, b, count(before) AS known MERGE (a)-[r:"+
			quoted(typ)+"]->(b)"+set+" RETURN known = 0 AS created", params)
		if err != nil {
			return err
		}
		created = rowsOf(res)[0].flag("created")
		return nil
	})
	if err != nil {
		return nil, err
	}
	data := map[string]any{"from": from, "to": to, "type": typ, "created": created}
	if weight != nil {
		data["weight"] = weight
	}
	word := "was there before"
	if created {
		word = "is made"
	}
	return &answer{fmt.Sprintf("[%s] -%s-> [%s] %s.", from, typ, to, word), data}, nil
}

// supersede puts a newer memory, which may have to be stored first, in the place
// of an older one.
func supersede(ctx context.Context, c *call) (*answer, error) {
	a := c.args
	if a.has("new") == a.has("content") {
		return nil, errors.New("give either new, the id of the newer memory, or content, the text of one")
	}
	old, newer := a.text("old"), a.text("new")
	var changed bool
	err := c.store.Update(ctx, c.key, func(q Querier) error {
		if a.has("content") {
			if err := known(ctx, q, []string{old}); err != nil {
				return err
			}
			res, err := q.Query(ctx, "REMEMBER $content :Memory {origin: 'model'} AS m RETURN m.id AS id", map[string]any{"content": a.text("content")})
			if err != nil {
				return err
			}
			newer = res.Rows[0][0].AsString()
		}
		clause, params := "SUPERSEDE $old BY $new", map[string]any{"old": old, "new": newer}
		r, err := lifecycle(ctx, q, clause, a, params)
		changed = r.flag("changed")
		return err
	})
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("[%s] takes the place of [%s], which is kept but no longer recalled.", newer, old)
	if !changed {
		text = fmt.Sprintf("[%s] took the place of [%s] before; nothing is changed.", newer, old)
	}
	return &answer{text, map[string]any{"old": old, "new": newer, "changed": changed}}, nil
}

// lifecycle runs a clause that yields a node and whether it was changed, with the
// reason that the client gave.
func lifecycle(ctx context.Context, q Querier, clause string, a arguments, params map[string]any) (row, error) {
	if a.has("because") {
		clause += " BECAUSE $because"
		params["because"] = a.text("because")
	}
	res, err := q.Query(ctx, clause+" YIELD node AS m, changed RETURN m.status AS status, changed", params)
	if err != nil {
		return nil, err
	}
	return rowsOf(res)[0], nil
}

// forget takes a memory out of recall, or brings it back.
func forget(ctx context.Context, c *call) (*answer, error) {
	id, clause, word := c.args.text("id"), "FORGET $id", "forgotten; it is kept, and forget with restore brings it back"
	reasons := c.args
	if c.args.flag("restore") {
		clause, word, reasons = "RESTORE $id", "restored", arguments{}
	}
	var r row
	err := c.store.Update(ctx, c.key, func(q Querier) (err error) {
		r, err = lifecycle(ctx, q, clause, reasons, map[string]any{"id": id})
		return err
	})
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("[%s] is %s.", id, word)
	if !r.flag("changed") {
		text = fmt.Sprintf("[%s] was so before; nothing is changed.", id)
	}
	return &answer{text, map[string]any{"id": id, "changed": r.flag("changed"), "status": r.text("status")}}, nil
}

// consolidate moves ripe memories on.
func consolidate(ctx context.Context, c *call) (*answer, error) {
	clause := "CONSOLIDATE"
	if c.args.has("label") {
		clause += " :" + quoted(c.args.text("label"))
	}
	if c.args.has("to") {
		clause += " TO " + c.args.text("to")
	}
	dry := c.args.flag("dry_run")
	var res *engram.Result
	run := func(q Querier) (err error) {
		res, err = q.Query(ctx, clause+" RETURN action, node.id AS id, coalesce(node.content, node.title, '') AS content, other.id AS other, `from`, to, reason", nil)
		return err
	}
	var err error
	if dry {
		clause += " DRY RUN"
		err = c.store.View(ctx, run)
	} else {
		err = c.store.Update(ctx, c.key, run)
	}
	if err != nil {
		return nil, err
	}
	return consolidated(rowsOf(res), dry, int(c.args.integer("limit", 50)))
}

func consolidated(rows []row, dry bool, limit int) (*answer, error) {
	var l listing
	count := map[string]int{}
	for i, r := range rows {
		count[r.text("action")]++
		if i >= limit {
			continue
		}
		content, _ := cut(r.text("content"), 200)
		item := map[string]any{"action": r.text("action"), "id": r.text("id"), "content": content}
		for _, name := range []string{"other", "from", "to", "reason"} {
			if text := r.text(name); text != "" {
				item[name] = text
			}
		}
		told := fmt.Sprintf("- %s [%s] %s", r.text("action"), r.text("id"), content)
		if r.text("to") != "" {
			told += " (to " + r.text("to") + ": " + r.text("reason") + ")"
		} else if r.text("other") != "" {
			told += " (like [" + r.text("other") + "])"
		}
		if err := l.add(told, item); err != nil {
			return nil, err
		}
	}
	verb := "were"
	if dry {
		verb = "would be"
	}
	text := fmt.Sprintf("%d memories %s promoted; %d near duplicates.\n%s", count["promote"], verb, count["duplicate"], l.text.String())
	more := len(l.items) < len(rows)
	if more {
		text += fmt.Sprintf("%d more are not listed.\n", len(rows)-len(l.items))
	}
	return &answer{text, map[string]any{
		"actions": l.list(), "total": len(rows), "promoted": count["promote"], "duplicates": count["duplicate"], "dry_run": dry, "more": more,
	}}, nil
}
