package importer

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"engram"
	"engram/server/internal/graphline"
)

// mergeNodes creates the nodes of a batch that are missing, changes those that an
// import made and nobody has edited, and leaves all others as they are.
func (p *publisher) mergeNodes(tx *engram.Tx, rows []row[*graphline.Node]) error {
	ids := make([]any, len(rows))
	for i, r := range rows {
		ids[i] = r.item.ID
	}
	res, err := tx.Query(p.ctx, "UNWIND $ids AS id MATCH (n {id: id}) RETURN id, n", map[string]any{"ids": ids})
	if err != nil {
		return err
	}
	there := map[string]*engram.Node{}
	for _, r := range res.Rows {
		there[r[0].AsString()] = r[1].AsNode()
	}
	missing, changed := map[string][]any{}, map[string][]any{}
	for _, r := range rows {
		n, old := r.item, there[r.item.ID]
		if old == nil {
			p.report.Created++
			text := labelText(n.Labels)
			missing[text] = append(missing[text], propMap(n.Props))
			continue
		}
		if p.columns != nil {
			n = p.joined(old, n)
		}
		change, why := p.compareNode(old, n)
		switch {
		case why != "":
			p.report.Left++
			p.report.problemAt(r.at, "%s", why)
		case change == nil:
			p.report.Same++
		default:
			p.report.Updated++
			text := labelText(n.Labels)
			changed[text] = append(changed[text], map[string]any{"id": n.ID, "props": change})
		}
	}
	if p.opts.DryRun {
		return nil
	}
	for _, labels := range slices.Sorted(maps.Keys(missing)) {
		if _, err := tx.Query(p.ctx, "UNWIND $rows AS row CREATE (n"+labels+") SET n += row", map[string]any{"rows": missing[labels]}); err != nil {
			return p.rowsError(rows[0].at, err)
		}
	}
	for _, labels := range slices.Sorted(maps.Keys(changed)) {
		text := "UNWIND $rows AS row MATCH (n {id: row.id}) SET n += row.props"
		if labels != "" {
			text += ", n" + labels
		}
		if _, err := tx.Query(p.ctx, text, map[string]any{"rows": changed[labels]}); err != nil {
			return p.rowsError(rows[0].at, err)
		}
	}
	return nil
}

// joined is a node of a file with what a file of other columns said of it.
func (p *publisher) joined(old *engram.Node, n *graphline.Node) *graphline.Node {
	names, _, _ := unedited(old)
	props := n.Props
	for _, name := range names {
		if v := propOf(old.Properties, name); !p.columns[name] && !v.IsNull() {
			props = append(slices.Clip(props), engram.Prop{Key: name, Value: v})
		}
	}
	if len(props) == len(n.Props) {
		return n
	}
	return ownedNode(&graphline.Node{ID: n.ID, Labels: n.Labels, Props: props})
}

// rowsError tells about where in the input the database refused a batch.
func (p *publisher) rowsError(from origin, err error) error {
	if from.file == "" && from.line == 0 {
		return err
	}
	place := from.file
	if from.line > 0 {
		place = strings.TrimPrefix(place+fmt.Sprintf(", line %d", from.line), ", ")
	}
	return fmt.Errorf("writing what stands from %s on: %w", place, err)
}

func labelText(labels []string) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(":" + quoteName(l))
	}
	return b.String()
}

// compareNode tells what is to be set on a stored node, nil when nothing is; or why it
// is left as it is.
func (p *publisher) compareNode(old *engram.Node, n *graphline.Node) (change map[string]any, why string) {
	if !p.owned {
		fields := differing(old.Properties, n.Props)
		if !slices.Equal(old.Labels, n.Labels) {
			fields = append([]string{"labels"}, fields...)
		}
		if len(fields) > 0 {
			return nil, fmt.Sprintf("the node %q is there with other %s; it is left as it is", n.ID, strings.Join(fields, ", "))
		}
		return nil, ""
	}
	names, owned, same := unedited(old)
	if owned && propOf(old.Properties, importedKey).String() == propOf(n.Props, importedKey).String() && containsAll(old.Labels, n.Labels) {
		return nil, "" // the input says what it said before, whatever became of the node
	}
	switch {
	case !owned:
		return nil, fmt.Sprintf("a node %q is there that no import made; it is left as it is", n.ID)
	case !same:
		return nil, fmt.Sprintf("the node %q was changed since it was imported; it is left as it is", n.ID)
	}
	change = propMap(n.Props)
	for _, name := range names {
		if _, kept := change[name]; !kept {
			change[name] = nil
		}
	}
	delete(change, "id")
	return change, ""
}

func containsAll(have, want []string) bool {
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

// differing lists the names of the properties that differ. The id does not count: a
// node without one has it from the database.
func differing(a, b []engram.Prop) []string {
	var names []string
	for _, props := range [][]engram.Prop{a, b} {
		for _, q := range props {
			if q.Key == "id" || slices.Contains(names, q.Key) {
				continue
			}
			if string(graphline.AppendValue(nil, propOf(a, q.Key))) != string(graphline.AppendValue(nil, propOf(b, q.Key))) {
				names = append(names, q.Key)
			}
		}
	}
	slices.Sort(names)
	return names
}

// ends are the ends and the type of an edge.
type ends struct{ from, to, typ string }

// mergeEdges creates the edges of a batch that are missing. Of several between the
// same nodes and of the same type, each is compared with one that is there.
func (p *publisher) mergeEdges(tx *engram.Tx, rows []row[*graphline.Edge]) error {
	groups := map[ends][]row[*graphline.Edge]{}
	byType := map[string][]any{}
	for _, r := range rows {
		k := ends{r.item.From, r.item.To, r.item.Type}
		if groups[k] == nil {
			byType[k.typ] = append(byType[k.typ], map[string]any{"from": k.from, "to": k.to})
		}
		groups[k] = append(groups[k], r)
	}
	for _, typ := range slices.Sorted(maps.Keys(byType)) {
		res, err := tx.Query(p.ctx, "UNWIND $rows AS row MATCH (a {id: row.from}), (b {id: row.to}) OPTIONAL MATCH (a)-[e:"+quoteName(typ)+
			"]->(b) RETURN row.from, row.to, collect(properties(e))", map[string]any{"rows": byType[typ]})
		if err != nil {
			return err
		}
		var create []any
		for _, r := range res.Rows {
			k := ends{r[0].AsString(), r[1].AsString(), typ}
			var old [][]engram.Prop
			for _, e := range r[2].AsList() {
				old = append(old, e.AsMap().Entries)
			}
			for _, e := range p.missingEdges(groups[k], old) {
				create = append(create, map[string]any{"from": k.from, "to": k.to, "props": propMap(e.Props)})
			}
		}
		if p.opts.DryRun || len(create) == 0 {
			continue
		}
		if _, err := tx.Query(p.ctx, "UNWIND $rows AS row MATCH (a {id: row.from}), (b {id: row.to}) CREATE (a)-[e:"+quoteName(typ)+
			"]->(b) SET e += row.props", map[string]any{"rows": create}); err != nil {
			return p.rowsError(rows[0].at, err)
		}
	}
	return nil
}

// missingEdges returns which of the edges between two nodes are to be created, when
// others are there.
func (p *publisher) missingEdges(group []row[*graphline.Edge], old [][]engram.Prop) (create []*graphline.Edge) {
	var rest []row[*graphline.Edge]
	for _, r := range group {
		i := slices.IndexFunc(old, func(props []engram.Prop) bool { return len(differing(props, r.item.Props)) == 0 })
		if i < 0 {
			rest = append(rest, r)
			continue
		}
		old = slices.Delete(old, i, i+1)
		p.report.EdgesSame++
	}
	for _, r := range rest {
		if len(old) == 0 {
			p.report.EdgesCreated++
			create = append(create, r.item)
			continue
		}
		if p.owned && !p.props { // somebody has given it properties, or learned
			p.report.EdgesSame++
		} else {
			p.report.EdgesLeft++
			p.report.problemAt(r.at, "an edge %s from %q to %q is there with other %s; it is left as it is",
				r.item.Type, r.item.From, r.item.To, strings.Join(differing(old[0], r.item.Props), ", "))
		}
		old = old[1:]
	}
	return create
}

// isCreate tells statements that have to run before nodes are merged from those that
// speak of nodes.
func isCreate(text string) bool { return strings.HasPrefix(strings.ToUpper(text), "CREATE ") }

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
