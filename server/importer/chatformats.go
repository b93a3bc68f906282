package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

func decodeChat(raw json.RawMessage, into any) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		var kind *json.UnmarshalTypeError
		if errors.As(err, &kind) {
			return fmt.Errorf("the field %q is a JSON %s, and something else was expected", kind.Field, kind.Value)
		}
		return errors.New("it cannot be read")
	}
	return nil
}

// openAIChat is a conversation of conversations.json of OpenAI: a tree of messages.
type openAIChat struct {
	ID             string                `json:"id"`
	ConversationID string                `json:"conversation_id"`
	Title          *string               `json:"title"`
	Created        any                   `json:"create_time"`
	Updated        any                   `json:"update_time"`
	Current        string                `json:"current_node"`
	Mapping        map[string]openAINode `json:"mapping"`
}

type openAINode struct {
	Parent   *string        `json:"parent"`
	Children []string       `json:"children"`
	Message  *openAIMessage `json:"message"`
}

type openAIMessage struct {
	ID     string `json:"id"`
	Author struct {
		Role string  `json:"role"`
		Name *string `json:"name"`
	} `json:"author"`
	Created any `json:"create_time"`
	Content struct {
		Type  string            `json:"content_type"`
		Parts []json.RawMessage `json:"parts"`
		Text  string            `json:"text"`
	} `json:"content"`
	Metadata struct {
		Hidden bool `json:"is_visually_hidden_from_conversation"`
	} `json:"metadata"`
}

// openAI reads what is shown of a conversation: the messages from its first to the
// current one. Those that were replaced by others are left out and counted.
func openAI(raw json.RawMessage) (*chat, error) {
	var c openAIChat
	if err := decodeChat(raw, &c); err != nil {
		return nil, err
	}
	out := &chat{id: c.ConversationID, created: c.Created, updated: c.Updated, left: map[string]int{}}
	if out.id == "" {
		out.id = c.ID
	}
	if out.id == "" {
		return nil, errors.New("it has no id")
	}
	if c.Title != nil {
		out.title = strings.TrimSpace(*c.Title)
	}
	path, err := c.path()
	if err != nil {
		return nil, err
	}
	shown := map[string]bool{}
	for _, id := range path {
		shown[id] = true
		if m := c.Mapping[id].Message; m != nil {
			out.take(id, m)
		}
	}
	for id, n := range c.Mapping {
		if !shown[id] && n.Message != nil {
			out.left["messages that were replaced by others"]++
		}
	}
	return out, nil
}

// path lists the messages from the root to the current one.
func (c *openAIChat) path() ([]string, error) {
	at := c.Current
	if _, ok := c.Mapping[at]; !ok {
		if at = c.lastLeaf(); at == "" {
			return nil, nil
		}
	}
	var path []string
	seen := map[string]bool{}
	for at != "" {
		if seen[at] {
			return nil, errors.New("its messages go round in a circle")
		}
		seen[at] = true
		path = append(path, at)
		n := c.Mapping[at]
		at = ""
		if n.Parent != nil {
			if _, ok := c.Mapping[*n.Parent]; ok {
				at = *n.Parent
			}
		}
	}
	slices.Reverse(path)
	return path, nil
}

// lastLeaf finds an end of the tree where none is marked as the current one: of all that
// have no children, the one with the greatest id.
func (c *openAIChat) lastLeaf() string {
	last := ""
	for id, n := range c.Mapping {
		if len(n.Children) == 0 && id > last {
			last = id
		}
	}
	return last
}

func (c *chat) take(node string, m *openAIMessage) {
	role := m.Author.Role
	if role == "system" || role == "tool" || m.Metadata.Hidden {
		if len(m.Content.Parts) > 0 || m.Content.Text != "" {
			c.left["messages of tools and of the system"]++
		}
		return
	}
	var parts []string
	for _, p := range m.Content.Parts {
		var s string
		if json.Unmarshal(p, &s) == nil {
			if strings.TrimSpace(s) != "" {
				parts = append(parts, s)
			}
			continue
		}
		var object struct {
			Type string `json:"content_type"`
			Text string `json:"text"`
		}
		if json.Unmarshal(p, &object) == nil && strings.TrimSpace(object.Text) != "" {
			parts = append(parts, object.Text)
			continue
		}
		kind := strings.ReplaceAll(object.Type, "_", " ")
		if kind == "" {
			kind = "unknown kind"
		}
		c.left["parts that are no text ("+kind+")"]++
	}
	if len(parts) == 0 && m.Content.Text != "" {
		parts = []string{m.Content.Text}
	}
	c.add(turn{id: node, speaker: role, at: m.Created, text: strings.Join(parts, "\n")})
}

// add takes a message that says something.
func (c *chat) add(t turn) {
	if t.text = strings.TrimSpace(strings.ToValidUTF8(t.text, "\ufffd")); t.text == "" {
		c.left["messages without a text"]++
		return
	}
	if t.speaker == "" {
		t.speaker = "unknown"
	}
	c.turns = append(c.turns, t)
}

// anthropicChat is a conversation of conversations.json of Anthropic.
type anthropicChat struct {
	UUID     string             `json:"uuid"`
	Name     string             `json:"name"`
	Created  any                `json:"created_at"`
	Updated  any                `json:"updated_at"`
	Messages []anthropicMessage `json:"chat_messages"`
}

type anthropicMessage struct {
	UUID    string `json:"uuid"`
	Text    string `json:"text"`
	Sender  string `json:"sender"`
	Created any    `json:"created_at"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
	Attachments []struct {
		Name string `json:"file_name"`
		Text string `json:"extracted_content"`
	} `json:"attachments"`
	Files []json.RawMessage `json:"files"`
}

// anthropic reads a conversation with the texts of its attachments.
func anthropic(raw json.RawMessage) (*chat, error) {
	var c anthropicChat
	if err := decodeChat(raw, &c); err != nil {
		return nil, err
	}
	if c.UUID == "" {
		return nil, errors.New("it has no uuid")
	}
	out := &chat{id: c.UUID, title: strings.TrimSpace(c.Name), created: c.Created, updated: c.Updated, left: map[string]int{}}
	for i, m := range c.Messages {
		var parts []string
		for _, p := range m.Content {
			switch {
			case p.Type == "text" && strings.TrimSpace(p.Text) != "":
				parts = append(parts, p.Text)
			case p.Type != "text":
				out.left["parts that are no text ("+strings.ReplaceAll(p.Type, "_", " ")+")"]++
			}
		}
		if len(parts) == 0 && strings.TrimSpace(m.Text) != "" {
			parts = []string{m.Text}
		}
		for _, a := range m.Attachments {
			if strings.TrimSpace(a.Text) != "" {
				parts = append(parts, a.Name+":\n"+a.Text)
			} else {
				out.left["attachments without a text"]++
			}
		}
		if len(m.Files) > 0 {
			out.left["files"] += len(m.Files)
		}
		speaker := m.Sender
		if speaker == "human" {
			speaker = "user"
		}
		id := m.UUID
		if id == "" {
			id = fmt.Sprint(i + 1)
		}
		out.add(turn{id: id, speaker: speaker, at: m.Created, text: strings.Join(parts, "\n\n")})
	}
	return out, nil
}
