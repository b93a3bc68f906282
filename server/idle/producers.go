package idle

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// How much a beat looks at and proposes.
const (
	seedsOfAKind = 3
	neighbours   = 8
	maxLinks     = 10
	maxQuestions = 5
	maxText      = 120 // characters of a memory in a finding
	maxAsked     = 500 // characters of a memory that are asked with

	// linkFloor is how alike two memories have to be: above the association on write,
	// whose floor is about words, since nobody has chosen to store the two together.
	linkFloor = 0.7
	// waitsFor is how old work has to be before it is asked about.
	waitsFor = 7 * 24 * time.Hour
	// doubtBelow is the confidence from which on downwards a memory is asked about.
	doubtBelow = 0.4
)

// linker proposes edges between memories that are alike and not joined. It begins at
// what is recent, unfinished or hardly joined to anything; of the last it takes others
// each time.
type linker struct{ after string }

type seed struct{ id, text string }

const (
	recentSeeds = "MATCH (m:Memory) WHERE m.created_at IS NOT NULL AND coalesce(m.status, 'active') = 'active'" +
		" WITH m ORDER BY m.created_at DESC, m.id LIMIT $n RETURN m.id, left(coalesce(m.content, ''), $chars)"
	unfinishedSeeds = "MATCH (m:BacklogItem) WHERE coalesce(m.status, 'open') IN ['open', 'in_progress']" +
		" WITH m ORDER BY coalesce(m.priority, 3), m.id LIMIT $n RETURN m.id, left(coalesce(m.content, m.title, ''), $chars)"
	rareSeeds = "MATCH (m:Memory) WHERE m.id > $after AND coalesce(m.status, 'active') = 'active' AND COUNT { (m)--() } <= 1" +
		" WITH m ORDER BY m.id LIMIT $n RETURN m.id, left(coalesce(m.content, ''), $chars)"
	alike = "MATCH (s {id: $id}) RECALL $text FROM s LIMIT $n YIELD node AS n" +
		" WITH s, n WHERE n <> s AND n:Memory AND NOT (s)--(n)" +
		" WITH n, similarity($text, n.content) AS alike WHERE alike >= $floor" +
		" RETURN n.id, left(n.content, $chars), alike ORDER BY alike DESC, n.id"
	linkStatement = "MATCH (a {id: $from}), (b {id: $to}) CREATE (a)-[:RELATED {weight: 0.5}]->(b)"
)

func (l *linker) run(ctx context.Context, db DB, _ time.Time) ([]Finding, error) {
	seeds, err := l.seeds(ctx, db)
	if err != nil {
		return nil, err
	}
	var out []Finding
	joined := map[[2]string]bool{}
	for _, s := range seeds {
		if strings.TrimSpace(s.text) == "" {
			continue
		}
		res, err := db.Query(ctx, alike, map[string]any{"id": s.id, "text": s.text, "n": neighbours, "floor": linkFloor, "chars": maxAsked})
		if err != nil {
			return nil, err
		}
		for _, row := range res.Rows {
			pair := [2]string{s.id, row[0].ToString()}
			if joined[pair] || joined[[2]string{pair[1], pair[0]}] {
				continue
			}
			joined[pair] = true
			out = append(out, Finding{
				Kind: "link", Producer: "links", Nodes: pair[:], Statement: linkStatement,
				Text: fmt.Sprintf("%s – %s: they are alike (%.2f) and not joined.", shown(s.text), shown(row[1].ToString()), row[2].AsFloat()),
			})
			if len(out) == maxLinks {
				return out, nil
			}
		}
	}
	return out, nil
}

// seeds are where looking begins, each once.
func (l *linker) seeds(ctx context.Context, db DB) ([]seed, error) {
	var out []seed
	for _, text := range []string{recentSeeds, unfinishedSeeds, rareSeeds} {
		found, err := l.some(ctx, db, text)
		if err != nil {
			return nil, err
		}
		if text == rareSeeds {
			if len(found) == 0 && l.after != "" { // once around
				l.after = ""
				if found, err = l.some(ctx, db, text); err != nil {
					return nil, err
				}
			}
			if len(found) > 0 {
				l.after = found[len(found)-1].id
			}
		}
		for _, s := range found {
			if !slices.ContainsFunc(out, func(o seed) bool { return o.id == s.id }) {
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func (l *linker) some(ctx context.Context, db DB, text string) ([]seed, error) {
	params := map[string]any{"n": seedsOfAKind, "chars": maxAsked}
	if text == rareSeeds {
		params["after"] = l.after
	}
	res, err := db.Query(ctx, text, params)
	if err != nil {
		return nil, err
	}
	out := make([]seed, len(res.Rows))
	for i, row := range res.Rows {
		out[i] = seed{row[0].ToString(), row[1].ToString()}
	}
	return out, nil
}

// contradictions asks about what contradicts each other and was not resolved.
func contradictions(ctx context.Context, db DB, _ time.Time) ([]Finding, error) {
	res, err := db.Query(ctx, `MATCH (a)-[r:CONTRADICTS]->(b)
		WHERE NOT coalesce(r.resolved, false) AND coalesce(a.status, 'active') = 'active' AND coalesce(b.status, 'active') = 'active'
		WITH a, b ORDER BY a.id, b.id LIMIT $n
		RETURN a.id, b.id, left(coalesce(a.content, ''), $chars), left(coalesce(b.content, ''), $chars)`,
		map[string]any{"n": maxQuestions, "chars": maxAsked})
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, row := range res.Rows {
		out = append(out, Finding{
			Kind: "question", Producer: "contradictions", Nodes: []string{row[0].ToString(), row[1].ToString()},
			Text: fmt.Sprintf("Which of the two holds? %s – %s (RESOLVE one OVER the other)", shown(row[2].ToString()), shown(row[3].ToString())),
		})
	}
	return out, nil
}

// unfinished asks about work that has waited for long.
func unfinished(ctx context.Context, db DB, at time.Time) ([]Finding, error) {
	res, err := db.Query(ctx, `MATCH (w:BacklogItem) WHERE coalesce(w.status, 'open') IN ['open', 'in_progress'] AND w.created_at < $before
		WITH w ORDER BY w.created_at, w.id LIMIT $n
		RETURN w.id, left(coalesce(w.title, w.content, ''), $chars), toString(date(w.created_at))`,
		map[string]any{"n": maxQuestions, "chars": maxAsked, "before": at.Add(-waitsFor)})
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, row := range res.Rows {
		out = append(out, Finding{
			Kind: "question", Producer: "unfinished", Nodes: []string{row[0].ToString()},
			Text: fmt.Sprintf("Is this still to be done? %s (since %s)", shown(row[1].ToString()), row[2].ToString()),
		})
	}
	return out, nil
}

// doubts asks about memories of little confidence.
func doubts(ctx context.Context, db DB, _ time.Time) ([]Finding, error) {
	res, err := db.Query(ctx, `MATCH (m:Memory) WHERE m.confidence < $below AND coalesce(m.status, 'active') = 'active'
		WITH m ORDER BY m.confidence, m.id LIMIT $n RETURN m.id, left(coalesce(m.content, ''), $chars), m.confidence`,
		map[string]any{"n": maxQuestions, "chars": maxAsked, "below": doubtBelow})
	if err != nil {
		return nil, err
	}
	var out []Finding
	for _, row := range res.Rows {
		out = append(out, Finding{
			Kind: "question", Producer: "doubts", Nodes: []string{row[0].ToString()},
			Text: fmt.Sprintf("Is this true? %s (confidence %.2f)", shown(row[1].ToString()), row[2].AsFloat()),
		})
	}
	return out, nil
}

// shown is the beginning of a memory, between quotes and on one line.
func shown(text string) string {
	r := []rune(strings.Join(strings.Fields(text), " "))
	if len(r) > maxText {
		r = append(r[:maxText:maxText], '…')
	}
	return "“" + string(r) + "”"
}
