package main

import (
	"fmt"
	"strings"

	"engram"
)

type helpCommand struct {
	Subject string   `arg:"" help:"What to read about: ${enum}." enum:"eql" default:"eql"`
	Topic   []string `arg:"" optional:"" help:"A page, clause, operator, function, type or error; none: the overview."`
}

// Help is shown by --help.
func (helpCommand) Help() string {
	return `Examples:
  engramd help eql
  engramd help eql RECALL
  engramd help eql ORDER BY
  engramd help eql toUpper`
}

func (c *helpCommand) Run(a *app) error {
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
