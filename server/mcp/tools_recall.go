package mcp

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"engram"
)

// farthest is how far cursors lead into what a recall finds.
const farthest = 500

// recall finds memories. Pages of one recall have one reference time, so that
// they fit together while nothing is written.
func recall(ctx context.Context, c *call) (*answer, error) {
	p, err := parseCursor(c.args.text("cursor"))
	if err != nil {
		return nil, err
	}
	if p.at == "" {
		p.at = c.now().UTC().Format(time.RFC3339Nano)
	}
	limit := c.args.integer("limit", 10)
	if p.offset+limit > farthest {
		return nil, fmt.Errorf("a recall goes no farther than %d memories; ask a narrower question", farthest)
	}
	statement, params, err := recallStatement(ctx, c, p, limit)
	if err != nil {
		return nil, err
	}
	res, err := c.store.Query(ctx, statement, params)
	if err != nil {
		return nil, err
	}
	rows := rowsOf(res)
	rows = rows[min(int(p.offset), len(rows)):]
	more := int64(len(rows)) > limit
	rows = rows[:min(int(limit), len(rows))]
	var l listing
	shortened := 0
	for _, r := range rows {
		item, wasCut := r.memory(maxContent)
		if wasCut {
			shortened++
		}
		if err := l.add(line(item), item); err != nil {
			return nil, err
		}
	}
	p.offset += int64(len(l.items))
	more = more || l.full
	data := map[string]any{"memories": l.list(), "more": more}
	var b strings.Builder
	if len(l.items) == 0 {
		b.WriteString("Nothing comes to mind.\n")
	}
	b.WriteString(l.text.String())
	if shortened > 0 {
		data["cut"] = shortened
		fmt.Fprintf(&b, "%d of them are cut; fetch or inspect shows them whole.\n", shortened)
	}
	if more && p.offset < farthest {
		data["cursor"] = p.cursor()
		fmt.Fprintf(&b, "There is more: cursor %s\n", p.cursor())
	}
	return &answer{b.String(), data}, nil
}

func recallStatement(ctx context.Context, c *call, p page, limit int64) (string, map[string]any, error) {
	a := c.args
	starts := a.texts("from")
	if strings.TrimSpace(a.text("query")) == "" && len(starts) == 0 && !a.flag("self") {
		return "", nil, errors.New("query is missing; give words or a question, or nodes to begin at in from")
	}
	params := map[string]any{"query": a.text("query"), "limit": p.offset + limit + 1, "at": p.at}
	var before, where string
	var options strings.Builder
	if len(starts) > 0 {
		if err := known(ctx, c.store, starts); err != nil {
			return "", nil, err
		}
		params["starts"] = starts
		before = "UNWIND $starts AS id MATCH (start {id: id}) WITH collect(start) AS beginnings "
		options.WriteString(" FROM beginnings")
	}
	if a.flag("self") {
		options.WriteString(" SELF")
	}
	for _, via := range []struct{ name, word string }{{"via", "VIA"}, {"against", "AGAINST"}} {
		if types := a.texts(via.name); len(types) > 0 {
			options.WriteString(" " + via.word + " :" + names(types, "|"))
		}
	}
	if labels := a.texts("labels"); len(labels) > 0 {
		where = " WHERE node:" + names(labels, "|")
	}
	if layers := a.texts("layers"); len(layers) > 0 {
		params["layers"] = layers
		options.WriteString(" IN LAYERS $layers")
	}
	if include := a.texts("include"); len(include) > 0 {
		options.WriteString(" INCLUDING " + strings.ToUpper(strings.Join(include, "|")))
	}
	for _, t := range []struct{ name, word, fn string }{{"as_of", "AS OF", "datetime"}, {"within", "WITHIN", "duration"}} {
		if a.text(t.name) != "" {
			params[t.name] = a.text(t.name)
			options.WriteString(" " + t.word + " " + t.fn + "($" + t.name + ")")
		}
	}
	if a.has("depth") {
		params["depth"] = a.integer("depth", 2)
		options.WriteString(" DEPTH $depth")
	}
	return before + "RECALL $query" + options.String() + where + " AT datetime($at) LIMIT $limit YIELD node AS m, score, why\nRETURN " +
		memoryColumns + ", round(score, 4) AS score, why", params, nil
}

// names writes labels or types with what stands between them.
func names(list []string, between string) string {
	out := make([]string, len(list))
	for i, name := range list {
		out[i] = quoted(name)
	}
	return strings.Join(out, between)
}

// known refuses ids that no node has.
func known(ctx context.Context, q Querier, ids []string) error {
	res, err := q.Query(ctx, "UNWIND $ids AS id OPTIONAL MATCH (n {id: id}) WITH id, n WHERE n IS NULL RETURN id LIMIT 1", map[string]any{"ids": ids})
	if err != nil {
		return err
	}
	if len(res.Rows) > 0 {
		return noNode(res.Rows[0][0].AsString())
	}
	return nil
}

func noNode(id string) error {
	id, _ = cut(id, 200)
	return fmt.Errorf("there is no node with the id %q; recall or query finds ids", id)
}

// query runs a statement of the client in a transaction that only reads.
func query(ctx context.Context, c *call) (*answer, error) {
	p, err := parseCursor(c.args.text("cursor"))
	if err != nil {
		return nil, err
	}
	writes, err := engram.Writes(c.args.text("statement"))
	if err == nil && writes {
		err = errors.New("the statement writes, and this tool only reads; remember, link, supersede and forget write")
	}
	if err != nil {
		return nil, err
	}
	var res *engram.Result
	err = c.store.View(ctx, func(q Querier) (err error) {
		res, err = q.Query(ctx, c.args.text("statement"), c.args.object("params"))
		return err
	})
	if err != nil {
		return nil, err
	}
	out, err := queryAnswer(c, p, res)
	if err == nil && res.Plan != nil {
		plan, _ := cut(res.Plan.String(), maxAnswer/8)
		out.data["plan"] = plan
		out.text += plan + "\n"
	}
	return out, err
}

func queryAnswer(c *call, p page, res *engram.Result) (*answer, error) {
	limit := int(c.args.integer("limit", 50))
	rows := res.Rows[min(int(p.offset), len(res.Rows)):]
	var l listing
	for _, values := range rows[:min(limit, len(rows))] {
		cells := make([]string, len(values))
		for i, v := range values {
			cells[i] = string(v.AppendText(nil))
		}
		if err := l.add(strings.Join(cells, " | "), values); err != nil {
			return nil, err
		}
	}
	if l.full && len(l.items) == 0 {
		return nil, fmt.Errorf("row %d is larger than an answer may be; return fewer properties, or parts of them", p.offset+1)
	}
	p.offset += int64(len(l.items))
	more := p.offset < int64(len(res.Rows))
	data := map[string]any{"columns": res.Columns, "rows": l.list(), "rows_total": len(res.Rows), "more": more}
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n%s", strings.Join(res.Columns, " | "), l.text.String())
	if len(res.Rows) == 0 {
		b.WriteString("(no rows)\n")
	}
	if more {
		data["cursor"] = p.cursor()
		fmt.Fprintf(&b, "%d rows of %d; the next ones: cursor %s\n", len(l.items), len(res.Rows), p.cursor())
	}
	var notices []string
	for _, n := range res.Notices {
		notices = append(notices, n.Message)
		fmt.Fprintf(&b, "note: %s\n", n.Message)
	}
	if notices != nil {
		data["notices"] = notices
	}
	if res.Columns == nil {
		data["columns"] = []string{}
	}
	return &answer{b.String(), data}, nil
}

// compileContext makes a text for a prompt.
func compileContext(ctx context.Context, c *call) (*answer, error) { return compileWith(ctx, c, "") }

// compileWith is compileContext with more options of COMPILE.
func compileWith(ctx context.Context, c *call, options string) (*answer, error) {
	params := map[string]any{"intent": c.args.text("intent"), "budget": c.args.integer("budget", 1000)}
	before := ""
	if starts := c.args.texts("from"); len(starts) > 0 {
		if err := known(ctx, c.store, starts); err != nil {
			return nil, err
		}
		params["starts"] = starts
		before, options = "UNWIND $starts AS id MATCH (start {id: id}) WITH collect(start) AS beginnings ", options+" FROM beginnings"
	}
	if c.args.flag("self") {
		options += " SELF"
	}
	res, err := c.store.Query(ctx, before+"COMPILE $intent"+options+` BUDGET $budget TOKENS
		YIELD text, tokens, nodes, considered, delivered, withheld, rule, rest_reachable
		RETURN text, tokens, [n IN nodes | n.id] AS nodes, considered, delivered, withheld, rule, rest_reachable`, params)
	if err != nil {
		return nil, err
	}
	r := rowsOf(res)[0]
	text, _ := cut(r.text("text"), maxAnswer/2-2_000)
	data := map[string]any{"text": text, "rule": r.text("rule"), "nodes": r.texts("nodes"), "rest_reachable": r.flag("rest_reachable")}
	for _, name := range []string{"tokens", "considered", "delivered", "withheld"} {
		data[name] = r.integer(name)
	}
	if text == "" {
		text = "Nothing comes to mind."
	}
	return &answer{text, data}, nil
}
