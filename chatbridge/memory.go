package chatbridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"engram/chatbridge/internal/box"
)

// memoryTools reach memory through EQL with parameters; only checked names stand in
// the text of a statement.
func memoryTools() []tool {
	return []tool{
		{
			"recall", "Recall memories about something, the best first.",
			[]field{{name: "query", kind: "string", description: "What to recall."}, {name: "limit", kind: "integer", description: "How many at most, 1 to 20; without it 8.", optional: true}},
			reads,
			func(ctx context.Context, b *Bridge, a arguments) (string, error) {
				return b.recall(ctx, a.text("query"), a.number("limit", 8))
			},
		},
		{
			"remember", "Store a memory: one statement that is true beyond this conversation.",
			[]field{{name: "text", kind: "string", description: "What to remember."}},
			looksAtRemembering, rememberIt,
		},
		{
			"query", "Run one EQL statement that reads (openCypher, with RECALL). Conversations are not seen by it.",
			[]field{{name: "statement", kind: "string", description: "Such as MATCH (m:Memory) RETURN m.content LIMIT 5."}},
			reads,
			func(ctx context.Context, b *Bridge, a arguments) (string, error) {
				res, err := b.o.Memory.Read(asModel(ctx), a.text("statement"), nil)
				if err != nil {
					return "", err
				}
				return table(res), nil
			},
		},
		{
			"link", "Link two nodes by their ids.",
			[]field{{name: "from", kind: "string", description: "Id of the one."}, {name: "to", kind: "string", description: "Id of the other."}, {name: "type", kind: "string", description: "Such as CAUSES: capital letters, digits and _."}},
			looksAtLinking, linkThem,
		},
		{
			"browse", "Walk memory like a ladder: without a path its sections; a section lists its nodes; section/id is a node's content and what it is linked with.",
			[]field{{name: "path", kind: "string", description: "Such as Memory or Memory/m1; empty: the sections.", optional: true}},
			reads, browse,
		},
	}
}

// What conversations hold has texts too, which are for their own eyes.
const eqlRecall = `RECALL $query WHERE NOT node:` + ofConversations + ` LIMIT $limit YIELD node AS m, score, why RETURN m.id AS id, m.content AS content, score, m.origin AS origin, why`

// recall is what memory holds about something, as a list for a model or a person.
func (b *Bridge) recall(ctx context.Context, query string, limit int) (string, error) {
	if strings.TrimSpace(query) == "" {
		return "", errors.New("the query is empty")
	}
	res, err := b.o.Memory.Read(ctx, eqlRecall, map[string]any{"query": query, "limit": int64(min(max(limit, 1), 20))})
	if err != nil {
		return "", err
	}
	if len(res.Rows) == 0 {
		return "Nothing comes to mind.", nil
	}
	var out strings.Builder
	for i, row := range res.Rows {
		score, _ := row[2].(float64)
		fmt.Fprintf(&out, "%d. %s\n   id %s, score %.3f", i+1, box.Cut(text(row[1]), cutSnippet), text(row[0]), score)
		if origin := text(row[3]); origin != "" {
			out.WriteString(", from " + origin)
		}
		if why := text(row[4]); why != "" {
			out.WriteString(", because " + why)
		}
		out.WriteString("\n")
	}
	return out.String(), nil
}

func looksAtRemembering(_ context.Context, _ *Bridge, d *decision) error {
	d.tier = TierReversible
	d.shown = "remember\n+ " + lines("+ ", d.args.text("text"))
	if strings.TrimSpace(d.args.text("text")) == "" {
		return errors.New("the text is empty")
	}
	return nil
}

func rememberIt(ctx context.Context, b *Bridge, a arguments) (string, error) {
	origin, _ := ctx.Value(originKey{}).(string)
	row, err := b.one(ctx, "the memory", `REMEMBER $text {origin: $origin} ALONE AS m RETURN m.id AS id, created`, map[string]any{"text": a.text("text"), "origin": origin})
	if err != nil {
		return "", err
	}
	if created, _ := row[1].(bool); !created {
		return "It was known already, as " + text(row[0]) + ".", nil
	}
	return rememberedAs + text(row[0]) + ".", nil
}

// originKey is of the origin of what a call remembers.
type originKey struct{}

// withOrigin tells a call what the origin is of what it remembers: tool, once something
// from outside was read in the run, else model.
func (s *state) withOrigin(ctx context.Context) context.Context {
	origin := "model"
	if s.fromOutside() {
		origin = "tool"
	}
	return context.WithValue(ctx, originKey{}, origin)
}

// fromOutside tells whether the run has read what neither a person nor the model said:
// files, pages, commands, other servers, or memories of such an origin.
func (s *state) fromOutside() bool {
	for _, u := range s.Used {
		switch u.Name {
		case "remember", "link":
		case "recall", "query", "browse":
			if strings.Contains(u.Result, ", from tool") {
				return true
			}
		default:
			if u.Status == "ok" {
				return true
			}
		}
	}
	return false
}

// rememberedAs begins what remember answers where a memory is new; its id follows.
const rememberedAs = "Remembered as "

func rememberedID(result string) (string, bool) {
	id, ok := strings.CutPrefix(result, rememberedAs)
	return strings.TrimSuffix(id, "."), ok
}

var typeName = regexp.MustCompile(`^[A-Z][A-Z0-9_]{0,62}$`)

func looksAtLinking(_ context.Context, _ *Bridge, d *decision) error {
	d.tier = TierReversible
	d.shown = fmt.Sprintf("link\n+ (%s) -[%s]-> (%s)", box.Visible(d.args.text("from")), box.Visible(d.args.text("type")), box.Visible(d.args.text("to")))
	if !typeName.MatchString(d.args.text("type")) {
		return errors.New("the type must be capital letters, digits and _, such as CAUSES")
	}
	return nil
}

func linkThem(ctx context.Context, b *Bridge, a arguments) (string, error) {
	res, err := b.o.Memory.Query(asModel(ctx), "MATCH (a {id: $from}) MATCH (b {id: $to}) MERGE (a)-[r:`"+a.text("type")+"`]->(b) ON CREATE SET r.origin = 'model' RETURN a.id AS id",
		map[string]any{"from": a.text("from"), "to": a.text("to")})
	if err != nil {
		return "", err
	}
	if len(res.Rows) == 0 {
		return "", fmt.Errorf("there is no node %s, or none %s", box.Visible(a.text("from")), box.Visible(a.text("to")))
	}
	return "Linked.", nil
}

const browsed = 50

func browse(ctx context.Context, b *Bridge, a arguments) (string, error) {
	ctx = asModel(ctx)
	section, id, deep := strings.Cut(strings.Trim(a.text("path"), "/"), "/")
	var statement string
	params := map[string]any{"section": section, "id": id, "limit": int64(browsed + 1)}
	switch {
	case section == "":
		statement = `MATCH (n) UNWIND labels(n) AS section RETURN section AS path, count(n) AS nodes ORDER BY path`
	case !deep:
		statement = `MATCH (n) WHERE $section IN labels(n) RETURN $section + '/' + n.id AS path, coalesce(n.content, n.name, n.title, n.text, '') AS begins ORDER BY path LIMIT $limit`
	default:
		statement = `MATCH (n {id: $id}) WHERE $section IN labels(n) OPTIONAL MATCH (n)-[r]-(o)
RETURN properties(n) AS content, type(r) AS link, labels(o)[0] + '/' + o.id AS path LIMIT $limit`
	}
	res, err := b.o.Memory.Read(ctx, statement, params)
	if err != nil {
		return "", err
	}
	if len(res.Rows) == 0 {
		if section == "" {
			return "Memory is empty.", nil
		}
		return "", fmt.Errorf("there is no path %s; browse without a path lists the sections", box.Visible(a.text("path")))
	}
	more := ""
	if section != "" && len(res.Rows) > browsed {
		res.Rows, more = res.Rows[:browsed], "[there is more: ask for it by query or recall]\n"
	}
	if section != "" && !deep {
		if more != "" {
			count, err := b.o.Memory.Read(ctx, `MATCH (n) WHERE $section IN labels(n) RETURN count(n) AS nodes`, map[string]any{"section": section})
			if err != nil {
				return "", err
			}
			if len(count.Rows) > 0 {
				more = fmt.Sprintf("[%d of %s nodes are shown: ask for the others by query or recall]\n", browsed, plainText(count.Rows[0][0]))
			}
		}
		for _, row := range res.Rows {
			row[1] = strings.ReplaceAll(box.Cut(text(row[1]), 120), "\n", " ")
		}
	}
	if deep {
		content := plainText(res.Rows[0][0])
		for i := range res.Rows {
			res.Rows[i] = res.Rows[i][1:]
		}
		if res.Rows[0][1] == nil {
			return content + "\n", nil
		}
		return content + "\n" + table(Result{Columns: res.Columns[1:], Rows: res.Rows}) + more, nil
	}
	return table(res) + more, nil
}

// table is a result as text: a line for each row.
func table(res Result) string {
	if len(res.Rows) == 0 {
		return "No rows."
	}
	var out strings.Builder
	out.WriteString(strings.Join(res.Columns, " | ") + "\n")
	for i, row := range res.Rows {
		if i == 200 {
			fmt.Fprintf(&out, "[%d more rows are left out]\n", len(res.Rows)-i)
			break
		}
		cells := make([]string, len(row))
		for j, v := range row {
			cells[j] = box.Cut(plainText(v), cutSnippet)
		}
		out.WriteString(strings.Join(cells, " | ") + "\n")
	}
	return out.String()
}

// plainText is a value for people and models; what is absent is said in words.
func plainText(v any) string {
	switch v := v.(type) {
	case nil:
		return "(absent)"
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case time.Time:
		return v.Format(time.RFC3339)
	case []any:
		parts := make([]string, len(v))
		for i := range v {
			parts[i] = plainText(v[i])
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		raw, err := json.Marshal(present(v)) // keys in order
		if err == nil {
			return string(raw)
		}
	}
	return fmt.Sprint(v)
}

// present is a value without what is absent: left out of maps, said in lists.
func present(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, e := range v {
			if e != nil {
				out[k] = present(e)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			if out[i] = present(e); e == nil {
				out[i] = plainText(nil)
			}
		}
		return out
	}
	return v
}
