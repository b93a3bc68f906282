// Package pathtree draws paths as trees for a terminal.
package pathtree

import (
	"strings"

	"engram"
)

// tree is what is below one step.
type tree struct {
	key, text string
	below     []*tree
}

// Draw draws paths as trees, of which those that begin alike have that part in common.
// Each line ends with a line feed.
func Draw(paths []*engram.Path) string {
	root := &tree{}
	for _, p := range paths {
		at := root
		for i, n := range p.Nodes {
			node := n.AsNode()
			key, text := node.ElementID, name(node)
			if i > 0 {
				e := p.Edges[i-1].AsEdge()
				key += "\x00" + e.ElementID
				arrow := " → "
				if e.Dst != node.ID || e.Src == e.Dst && e.Src != node.ID {
					arrow = " ← "
				}
				text = e.Type + arrow + text
			}
			at = at.child(key, text)
		}
	}
	var b strings.Builder
	for _, t := range root.below {
		b.WriteString(t.text + "\n")
		t.draw(&b, "")
	}
	return b.String()
}

func (t *tree) child(key, text string) *tree {
	for _, c := range t.below {
		if c.key == key {
			return c
		}
	}
	c := &tree{key: key, text: text}
	t.below = append(t.below, c)
	return c
}

func (t *tree) draw(b *strings.Builder, indent string) {
	for i, c := range t.below {
		branch, next := "├─ ", "│  "
		if i == len(t.below)-1 {
			branch, next = "└─ ", "   "
		}
		b.WriteString(indent + branch + c.text + "\n")
		c.draw(b, indent+next)
	}
}

// maxName is how many characters of a node's text are shown.
const maxName = 60

// name is a node in short: its labels and what a person knows it by.
func name(n *engram.Node) string {
	labels := ""
	for _, l := range n.Labels {
		labels += ":" + l
	}
	text := ""
	for _, key := range []string{"name", "title", "content", "id"} {
		for _, p := range n.Properties {
			if p.Key == key && text == "" && p.Value.Kind() == engram.KindString {
				text = p.Value.AsString()
			}
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	if runes := []rune(text); len(runes) > maxName {
		text = string(runes[:maxName-1]) + "…"
	}
	if labels != "" && text != "" {
		text = " " + text
	}
	return "(" + labels + text + ")"
}
