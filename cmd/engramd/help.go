package main

import (
	"embed"
	"fmt"
	"path"
	"strings"

	"engram"
)

// helpPages are subjects of their own, each in a file of its name.
//
//go:embed help/*.md
var helpPages embed.FS

type helpCommand struct {
	Subject string   `arg:"" help:"What to read about: ${enum}." enum:"eql,import,export,server,mcp,embedder,audit,chat,review" default:"eql"`
	Topic   []string `arg:"" optional:"" help:"A page, clause, operator, function, type or error; none: the overview."`
}

// Help is shown by --help.
func (helpCommand) Help() string {
	return `Examples:
  engramd help eql
  engramd help eql RECALL
  engramd help eql ORDER BY
  engramd help eql toUpper
  engramd help import
  engramd help export
  engramd help server
  engramd help mcp
  engramd help embedder
  engramd help audit
  engramd help chat
  engramd help review`
}

func (c *helpCommand) Run(a *app) error {
	if c.Subject != "eql" {
		if len(c.Topic) > 0 {
			return &usageError{fmt.Errorf("help %s is one page; it has no topic %s", c.Subject, strings.Join(c.Topic, " "))}
		}
		page, err := helpPages.ReadFile(path.Join("help", c.Subject+".md"))
		a.printf("%s", page)
		return err
	}
	text, err := reference(strings.Join(c.Topic, " "))
	if err != nil {
		return &usageError{err}
	}
	a.printf("%s", text)
	return nil
}

// reference finds a topic of the reference of EQL.
func reference(topic string) (string, error) {
	text, ok := engram.Reference(topic)
	if ok {
		return text, nil
	}
	if near := engram.SuggestTopic(topic); near != "" {
		return "", fmt.Errorf("the reference has nothing about %s; did you mean %s?", topic, near)
	}
	var names []string
	for _, t := range engram.ReferenceTopics() {
		names = append(names, t.Name)
	}
	return "", fmt.Errorf("the reference has nothing about %s; its pages are %s", topic, strings.Join(names, ", "))
}
