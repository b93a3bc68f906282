package main

import (
	"errors"
	"fmt"
	"strings"

	"engram"
)

type recallCommand struct {
	Question []string `arg:"" help:"What to recall: words or a question."`
	Limit    int      `help:"How many memories at most." short:"k" default:"10" placeholder:"N"`
	Depth    int      `help:"How many hops activation travels, 1 to 16." default:"2" placeholder:"N"`
	Why      bool     `help:"Tell for each memory why it came up (the default on the table)." default:"true" negatable:""`
	outputFlags
}

// Help is shown by --help.
func (recallCommand) Help() string {
	return `Example:
  engramd recall "when did Ann move to Lisbon?" --limit 3`
}

func (c *recallCommand) Run(a *app) error {
	if c.Limit < 1 {
		return &usageError{fmt.Errorf("--limit %d: want at least 1", c.Limit)}
	}
	if c.Depth < 1 || c.Depth > 16 {
		return &usageError{fmt.Errorf("--depth %d: want 1 to 16", c.Depth)}
	}
	question := strings.Join(c.Question, " ")
	if strings.TrimSpace(question) == "" {
		return &usageError{errors.New("the question is empty")}
	}
	statement := "RECALL $question DEPTH $depth LIMIT $limit YIELD node AS m, score, why\n" +
		"RETURN round(score, 4) AS score, m.id AS id, coalesce(m.speaker, m.title, '') AS who, m.content AS content"
	if c.Why {
		statement += ", why"
	}
	params := map[string]any{"question": question, "depth": c.Depth, "limit": c.Limit}
	return a.withNamespace(reading, func(db *engram.DB) error {
		res, err := db.Query(a.ctx, statement, params)
		if err != nil {
			return plain(err)
		}
		res.Notices = nil // of a statement that the user did not type
		if len(res.Rows) == 0 && c.format() == formatTable {
			a.printf("Nothing comes to mind.\n")
			return nil
		}
		return printResult(a.out, res, c.format())
	})
}

type rememberCommand struct {
	Text  []string `arg:"" help:"The memory."`
	Label []string `help:"A label beside Memory. Repeatable." short:"l" placeholder:"NAME"`
	Prop  []string `help:"A property: name=JSON, or name=text. Repeatable." short:"p" placeholder:"NAME=VALUE" sep:"none"`
	outputFlags
}

// Help is shown by --help.
func (rememberCommand) Help() string {
	return `Example:
  engramd remember "Ann moved to Lisbon in May" -p speaker=Ben`
}

func (c *rememberCommand) Run(a *app) error {
	text := strings.Join(c.Text, " ")
	if strings.TrimSpace(text) == "" {
		return &usageError{errors.New("the memory is empty")}
	}
	props, err := parseParams(c.Prop)
	if err != nil {
		return err
	}
	var labels strings.Builder
	labels.WriteString(":Memory")
	for _, l := range c.Label {
		labels.WriteString(":`" + strings.ReplaceAll(l, "`", "``") + "`")
	}
	statement := "REMEMBER $text " + labels.String() + " $props ALONE AS m\nRETURN m.id AS id, m.content AS content, created"
	return a.withNamespace(writing, func(db *engram.DB) error {
		res, err := db.Query(a.ctx, statement, map[string]any{"text": text, "props": props})
		if err != nil {
			return plain(err)
		}
		res.Notices = nil // of a statement that the user did not type
		created := res.Rows[0][2].AsBool()
		res.Columns, res.Rows[0] = res.Columns[:2], res.Rows[0][:2]
		if err := printResult(a.out, res, c.format()); err != nil || created || c.format() != formatTable {
			return err
		}
		a.printf("It was remembered before: this counts as a use of it, and properties and labels given now are not stored.\n")
		return nil
	})
}
