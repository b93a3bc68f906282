package chatbridge

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Found is a turn, or a title, that says what was searched for.
type Found struct {
	Conversation string  `json:"conversation_id"`
	Title        string  `json:"title,omitempty"`
	Turn         int     `json:"turn,omitempty"` // its number; 0: the title says it
	Role         string  `json:"role,omitempty"`
	Excerpt      string  `json:"excerpt"`
	Score        float64 `json:"score"`
}

// FoundPage is what a search found.
type FoundPage struct {
	Found []Found `json:"found"`
	// Cut: there are or may be more.
	Cut bool `json:"cut,omitempty"`
}

const eqlSearch = `CALL text.search($words, $hits) YIELD node AS n, score
WITH n, score, CASE WHEN n:Conversation THEN n ELSE head(COLLECT { MATCH (c:Conversation)-[:CONTAINS]->(n) WHERE n:Turn RETURN c }) END AS c, count(*) AS one
RETURN c.id AS conversation, c.title AS title, n.number AS number, n.role AS role, n.text AS text, score,
 c.rounds IS NOT NULL AND coalesce(c.status, '') <> 'forgotten' AND ($owner IS NULL OR c.owner = $owner) AS shown, n:Turn AS turn ORDER BY score DESC, n.id`

const (
	firstHits = 100
	mostHits  = 100_000
	excerpt   = 200 // bytes
)

// Search finds the turns and titles of conversations that say words, the best first;
// limit is 1 to 500, 0: 20. Forgotten conversations are not searched. Owner searches
// those of one owner, see Bridge.Owner; empty: all.
func (b *Bridge) Search(ctx context.Context, words string, limit int, owner string) (*FoundPage, error) {
	if strings.TrimSpace(words) == "" {
		return nil, refuse("invalid", "there is nothing to search for")
	}
	if limit == 0 {
		limit = 20
	}
	if limit < 1 || limit > 500 {
		return nil, refuse("invalid", "a search finds 1 to 500 turns, not %d", limit)
	}
	// The text index holds memories too: ask for more until enough turns are among them.
	for hits := firstHits; ; hits *= 10 {
		res, err := b.o.Memory.Read(ctx, eqlSearch, map[string]any{"words": words, "hits": int64(hits), "owner": orNil(owner)})
		if err != nil {
			return nil, err
		}
		page := &FoundPage{Found: []Found{}}
		for _, row := range res.Rows {
			if shown, _ := row[6].(bool); !shown {
				continue
			}
			if len(page.Found) == limit {
				page.Cut = true
				return page, nil
			}
			page.Found = append(page.Found, found(row, words))
		}
		if len(res.Rows) < hits || hits >= mostHits {
			page.Cut = len(res.Rows) >= hits
			return page, nil
		}
	}
}

func found(row []any, words string) Found {
	f := Found{Conversation: text(row[0]), Title: text(row[1]), Role: text(row[3]), Excerpt: text(row[1])}
	f.Score, _ = row[5].(float64)
	if turn, _ := row[7].(bool); turn {
		n, _ := row[2].(int64)
		f.Turn, f.Excerpt = int(n), around(text(row[4]), words)
	}
	return f
}

// around is the piece of a text that says one of the words first, on one line.
func around(text, words string) string {
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= excerpt {
		return text
	}
	at := -1
	lower := strings.ToLower(text)
	if len(lower) == len(text) {
		for _, w := range strings.FieldsFunc(strings.ToLower(words), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
			if i := strings.Index(lower, w); i >= 0 && (at < 0 || i < at) {
				at = i
			}
		}
	}
	from := max(0, min(at-excerpt/4, len(text)-excerpt))
	to := min(len(text), from+excerpt)
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	out := text[from:to]
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}
