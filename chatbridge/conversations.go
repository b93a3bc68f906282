package chatbridge

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"
)

// Conversation is one in a list of them.
type Conversation struct {
	ID string `json:"id"`
	// Title is the person's, the model's, or the first words that were said; empty
	// before the first answer.
	Title string `json:"title,omitempty"`
	// TitleOrigin is user, model or words, as Title.
	TitleOrigin string    `json:"title_origin,omitempty"`
	Created     time.Time `json:"created_at"`
	// Active is when something was last said.
	Active  time.Time `json:"active_at"`
	Turns   int       `json:"turns"`
	First   string    `json:"first,omitempty"`   // what was said first
	Waiting []string  `json:"waiting,omitempty"` // calls that wait for an answer
	// Forgotten conversations are kept, and can be restored; Reason is why.
	Forgotten bool   `json:"forgotten,omitempty"`
	Reason    string `json:"reason,omitempty"`
}

// ListOptions of List.
type ListOptions struct {
	// Limit is how many at most, 1 to 500. 0: 50.
	Limit int
	// Cursor is the Next of the page before. Empty: from the newest one.
	Cursor string
	// Forgotten lists those that are forgotten, in place of the others.
	Forgotten bool
	// Owner lists those that are this one's: see Bridge.Owner. Empty: all.
	Owner string
}

// ConversationPage is a part of a list.
type ConversationPage struct {
	Conversations []Conversation `json:"conversations"`
	// Next is the cursor of the next page. Empty: this is the last one.
	Next string `json:"next,omitempty"`
}

const eqlPage = `MATCH (c:Conversation) WHERE c.rounds IS NOT NULL AND (coalesce(c.status, '') = 'forgotten') = $forgotten AND ($owner IS NULL OR c.owner = $owner)
WITH c, coalesce(c.active_at, c.created_at) AS active
WITH c, active.epochSeconds AS seconds, active.nanosecond AS nanos
WHERE $seconds IS NULL OR seconds < $seconds OR seconds = $seconds AND (nanos < $nanos OR nanos = $nanos AND c.id > $id)
WITH c, seconds, nanos ORDER BY seconds DESC, nanos DESC, c.id LIMIT $limit ` + conversationRow + ` ORDER BY seconds DESC, nanos DESC, id`

// conversationRow is what is told of a conversation c that was active then. Times are
// pairs of numbers, which every way to memory knows.
const conversationRow = `RETURN c.id AS id, c.title AS title, c.title_origin AS title_origin, [c.created_at.epochSeconds, c.created_at.nanosecond] AS created, [seconds, nanos] AS active,
 COUNT { (c)-[:CONTAINS]->(:Turn) } AS turns, COLLECT { MATCH (c)-[:CONTAINS]->(t:Turn {number: 1}) RETURN t.text } + COLLECT { MATCH (c)-[:HAS_RUN]->(r:Run) WHERE r.prompt IS NOT NULL RETURN r.prompt ORDER BY r.created_at, r.id LIMIT 1 } AS first,
 COLLECT { MATCH (c)-[:HAS_RUN]->(r:Run {status: 'pending'}) RETURN r.call_id ORDER BY r.id } AS waiting, c.status AS status, c.forgotten_because AS reason`

const eqlConversationRow = `MATCH (c:Conversation {id: $id}) WHERE c.rounds IS NOT NULL WITH c, coalesce(c.active_at, c.created_at) AS active
WITH c, active.epochSeconds AS seconds, active.nanosecond AS nanos ` + conversationRow

// mark is the place in a list, as a cursor.
type mark struct {
	Seconds int64  `json:"s"`
	Nanos   int64  `json:"n"`
	ID      string `json:"i"`
}

// List lists conversations a page at a time, what was active last first.
func (b *Bridge) List(ctx context.Context, o *ListOptions) (*ConversationPage, error) {
	if o == nil {
		o = &ListOptions{}
	}
	limit := o.Limit
	if limit == 0 {
		limit = 50
	}
	if limit < 1 || limit > 500 {
		return nil, refuse("invalid", "a page holds 1 to 500 conversations, not %d", limit)
	}
	params := map[string]any{"limit": int64(limit + 1), "forgotten": o.Forgotten, "seconds": nil, "nanos": nil, "id": "", "owner": nil}
	if o.Owner != "" {
		params["owner"] = o.Owner
	}
	if o.Cursor != "" {
		var m mark
		raw, err := base64.RawURLEncoding.DecodeString(o.Cursor)
		if err != nil || json.Unmarshal(raw, &m) != nil || m.ID == "" {
			return nil, refuse("invalid", "the cursor is none that a list gave")
		}
		params["seconds"], params["nanos"], params["id"] = m.Seconds, m.Nanos, m.ID
	}
	res, err := b.o.Memory.Read(ctx, eqlPage, params)
	if err != nil {
		return nil, err
	}
	page := &ConversationPage{Conversations: []Conversation{}}
	for _, row := range res.Rows {
		page.Conversations = append(page.Conversations, conversationOf(row))
	}
	if len(page.Conversations) > limit {
		page.Conversations = page.Conversations[:limit]
		last := page.Conversations[limit-1]
		page.Next = base64.RawURLEncoding.EncodeToString([]byte(encoded(mark{last.Active.Unix(), int64(last.Active.Nanosecond()), last.ID})))
	}
	return page, nil
}

// Conversations lists all that there are and that are not forgotten, what was active
// last first.
func (b *Bridge) Conversations(ctx context.Context) ([]Conversation, error) {
	var out []Conversation
	for o := (&ListOptions{Limit: 500}); ; {
		page, err := b.List(ctx, o)
		if err != nil {
			return nil, err
		}
		out = append(out, page.Conversations...)
		if o.Cursor = page.Next; o.Cursor == "" {
			return out, nil
		}
	}
}

func conversationOf(row []any) Conversation {
	n, _ := row[5].(int64)
	c := Conversation{
		ID: text(row[0]), Title: text(row[1]), TitleOrigin: text(row[2]), Created: moment(row[3]), Active: moment(row[4]), Turns: int(n),
		Forgotten: text(row[8]) == "forgotten", Reason: text(row[9]),
	}
	if first := texts(row[6]); len(first) > 0 {
		c.First = first[0]
	}
	c.Waiting = texts(row[7])
	return c
}

// Conversation is what is told of one, also of one that is forgotten.
func (b *Bridge) Conversation(ctx context.Context, id string) (*Conversation, error) {
	res, err := b.o.Memory.Read(ctx, eqlConversationRow, map[string]any{"id": id})
	if err != nil {
		return nil, err
	}
	if len(res.Rows) == 0 {
		return nil, refuse("unknown_conversation", "there is no conversation %s", id)
	}
	c := conversationOf(res.Rows[0])
	return &c, nil
}

// maxTitle bounds a title, in bytes.
const maxTitle = 200

// Rename gives a conversation a title, which no program changes any more.
func (b *Bridge) Rename(ctx context.Context, id, title string) error {
	title = strings.Join(strings.Fields(title), " ")
	if title == "" || len(title) > maxTitle {
		return refuse("invalid", "a title has 1 to %d bytes", maxTitle)
	}
	if _, err := b.Conversation(ctx, id); err != nil {
		return err
	}
	_, err := b.one(ctx, "the conversation "+id, `MATCH (c:Conversation {id: $id}) SET c.title = $title, c.title_origin = 'user' RETURN c.id AS id`,
		map[string]any{"id": id, "title": title})
	return err
}

// moment is a time of its seconds and nanoseconds; absent is the zero time.
func moment(v any) time.Time {
	pair, _ := v.([]any)
	if len(pair) != 2 {
		return time.Time{}
	}
	seconds, ok := pair[0].(int64)
	nanos, _ := pair[1].(int64)
	if !ok {
		return time.Time{}
	}
	return time.Unix(seconds, nanos).UTC()
}

func texts(v any) []string {
	list, _ := v.([]any)
	var out []string
	for _, s := range list {
		out = append(out, text(s))
	}
	return out
}
