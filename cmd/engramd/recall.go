package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

type recallCommand struct {
	Question []string `arg:"" help:"What to recall: words or a question."`
	Limit    int      `help:"How many memories at most, by default ${default}." short:"k" default:"10" placeholder:"N"`
	Depth    int      `help:"How many hops activation travels, 1 to 16, by default ${default}." default:"2" placeholder:"N"`
	Why      bool     `help:"Tell for each memory why it came up (the default on the table)." default:"true" negatable:""`
	Explain  bool     `help:"Show all that the score was made of."`
	Not      string   `help:"Tell why this memory is not recalled, or where it stands." placeholder:"ID"`
	recallFlags
	outputFlags
}

// seedsParam names the parameter with the ids of nodes to begin at.
const seedsParam = "seeds"

// recallFlags are those of commands that recall.
type recallFlags struct {
	Self    bool     `help:"Begin at the declared self too."`
	From    []string `help:"Begin at this node too. Repeatable." placeholder:"ID" sep:"none"`
	Layer   []string `help:"Only memories of this layer. Repeatable." placeholder:"NAME" sep:"none"`
	Include []string `help:"Memories that are left out otherwise: superseded, forgotten, telemetry, verdicts." enum:"superseded,forgotten,telemetry,verdicts" placeholder:"WHAT,..."`
	AsOf    string   `help:"What held at this time, such as 2024-05-06." placeholder:"TIME"`
	Within  string   `help:"Only memories of the latest time, such as P7D." placeholder:"DURATION"`
	At      string   `help:"Recall as if it was this time." placeholder:"TIME"`
}

// options writes the flags as options of RECALL, and adds their parameters. before
// is what has to stand before the clause.
func (f *recallFlags) options(params map[string]any) (before, options string) {
	var b strings.Builder
	if len(f.From) > 0 {
		params[seedsParam] = f.From
		before = "UNWIND $seeds AS id MATCH (start {id: id}) WITH collect(start) AS seeds "
		b.WriteString(" FROM seeds")
	}
	if f.Self {
		b.WriteString(" SELF")
	}
	if len(f.Layer) > 0 {
		params["layers"] = f.Layer
		b.WriteString(" IN LAYERS $layers")
	}
	if len(f.Include) > 0 {
		b.WriteString(" INCLUDING " + strings.ToUpper(strings.Join(f.Include, "|")))
	}
	for _, t := range []struct{ name, word, fn, value string }{
		{"as_of", "AS OF", "datetime", f.AsOf}, {"within", "WITHIN", "duration", f.Within}, {"at", "AT", "datetime", f.At},
	} {
		if t.value != "" {
			params[t.name] = t.value
			b.WriteString(" " + t.word + " " + t.fn + "($" + t.name + ")")
		}
	}
	return before, b.String()
}

// Help is shown by --help.
func (recallCommand) Help() string {
	return `Examples:
  engramd recall "when did Ann move to Lisbon?" --limit 3
  engramd recall "where is the office?" --as-of 2021-06-01 --include superseded
  engramd recall Lisbon --not m7`
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
	params := map[string]any{"question": question, "depth": c.Depth, "limit": c.Limit}
	before, options := c.options(params)
	statement := before + "RECALL $question DEPTH $depth LIMIT $limit" + options
	if c.Not != "" {
		params["not"] = c.Not
		return a.ask("EXPLAIN "+statement+" NOT $not YIELD recalled, reason RETURN recalled, reason", params, c.outputFlags, "")
	}
	factors, columns := "", ""
	if c.Explain {
		for _, f := range []string{"lexical", "semantic", "activation", "salience", "recency"} {
			factors += ", " + f
			columns += "round(" + f + ", 4) AS " + f + ", "
		}
	}
	statement += " YIELD node AS m, score, why" + factors +
		"\nRETURN round(score, 4) AS score, " + columns + "m.id AS id, coalesce(m.speaker, m.title, '') AS who, m.content AS content"
	if c.Why || c.Explain {
		statement += ", why"
	}
	return a.ask(statement, params, c.outputFlags, "Nothing comes to mind.")
}

// ask runs a statement that the user did not type and prints what it returns, or
// none when that is nothing.
func (a *app) ask(statement string, params map[string]any, flags outputFlags, none string) error {
	return a.withDatabase(reading, func(db database) error {
		if err := a.knowsSeeds(db, params); err != nil {
			return err
		}
		res, err := db.Query(a.ctx, statement, params)
		if err != nil {
			return plain(err)
		}
		a.tellNotices(res)
		if len(res.Rows) == 0 && flags.format() == formatTable && none != "" {
			a.printf("%s\n", none)
			return nil
		}
		return printResult(a.out, res, flags.format())
	})
}

// knowsSeeds refuses ids to begin at that no node has: a slip would give an
// answer to another question.
func (a *app) knowsSeeds(db database, params map[string]any) error {
	seeds, ok := params[seedsParam]
	if !ok {
		return nil
	}
	res, err := db.Query(a.ctx, "UNWIND $ids AS id OPTIONAL MATCH (n {id: id}) WITH id, n WHERE n IS NULL RETURN id LIMIT 1", map[string]any{"ids": seeds})
	if err != nil {
		return plain(err)
	}
	if len(res.Rows) > 0 {
		return fmt.Errorf("there is no node with the id '%s'", res.Rows[0][0].AsString())
	}
	return nil
}

type compileCommand struct {
	Intent []string `arg:"" help:"What the prompt is about: words or a question."`
	Budget int      `help:"How many tokens at most, by an estimate; by default ${default}." default:"1000" placeholder:"N"`
	recallFlags
	outputFlags
}

// Help is shown by --help.
func (compileCommand) Help() string {
	return `Without a format it prints the text alone, and nothing when nothing comes to mind.

Example:
  engramd compile "plan the trip to Lisbon" --budget 400`
}

func (c *compileCommand) Run(a *app) error {
	if c.Budget < 0 {
		return &usageError{fmt.Errorf("--budget %d: want at least 0", c.Budget)}
	}
	params := map[string]any{"intent": strings.Join(c.Intent, " "), "budget": c.Budget}
	before, options := c.options(params)
	statement := before + "COMPILE $intent BUDGET $budget TOKENS" + options +
		" YIELD text, tokens, nodes, considered, delivered, withheld, rule, rest_reachable\n" +
		"RETURN text, tokens, [n IN nodes | n.id] AS nodes, considered, delivered, withheld, rule, rest_reachable"
	if c.format() != formatTable {
		return a.ask(statement, params, c.outputFlags, "")
	}
	return a.withDatabase(reading, func(db database) error {
		if err := a.knowsSeeds(db, params); err != nil {
			return err
		}
		res, err := db.Query(a.ctx, statement, params)
		if err != nil {
			return plain(err)
		}
		if text := res.Rows[0][0].AsString(); text != "" {
			a.printf("%s\n", text)
		}
		return nil
	})
}

type activateCommand struct {
	IDs   []string `arg:"" name:"id" help:"Nodes to begin at."`
	Limit int      `help:"How many nodes at most, by default ${default}." short:"k" default:"20" placeholder:"N"`
	Depth int      `help:"How many hops activation travels, 1 to 16, by default ${default}." default:"2" placeholder:"N"`
	outputFlags
}

// Help is shown by --help.
func (activateCommand) Help() string {
	return `Shows what comes to mind of some nodes, and what is kept down by what.

Example:
  engramd activate m1 m2`
}

func (c *activateCommand) Run(a *app) error {
	if c.Limit < 1 || c.Depth < 1 || c.Depth > 16 {
		return &usageError{fmt.Errorf("--limit %d --depth %d: want at least 1, and 1 to 16", c.Limit, c.Depth)}
	}
	return a.ask(`UNWIND $seeds AS id MATCH (n {id: id}) WITH collect(n) AS start
		ACTIVATE start DEPTH $depth LIMIT $limit YIELD node AS m, activation, weight, promoted, suppressed_by, reason
		RETURN round(activation, 4) AS activation, round(weight, 4) AS weight, promoted, m.id AS id,
		coalesce(m.content, m.title, m.name, '') AS content, coalesce(suppressed_by.id, '') AS suppressed_by, coalesce(reason, '') AS reason`,
		map[string]any{seedsParam: c.IDs, "depth": c.Depth, "limit": c.Limit}, c.outputFlags, "Nothing is activated.")
}

type rememberCommand struct {
	Text  []string `arg:"" help:"The memory."`
	Label []string `help:"A label beside Memory. Repeatable." short:"l" placeholder:"NAME"`
	Prop  []string `help:"A property: name=JSON, or name=text. Repeatable." short:"p" placeholder:"NAME=VALUE" sep:"none"`
	outputFlags
}

// Help is shown by --help.
func (rememberCommand) Help() string {
	return `The same text again counts as a use of it. Another text for the same id takes the place of the older one, which is
then superseded. Words that it has in common with other memories join nothing; REMEMBER without ALONE does that.

Examples:
  engramd remember "Ann moved to Lisbon in May" -p speaker=Ben
  engramd remember "Ann lives in Porto" -p id=ann-home -p valid_from=2025-05-01`
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
	for _, l := range c.Label {
		labels.WriteString(":`" + strings.ReplaceAll(l, "`", "``") + "`")
	}
	statement := "REMEMBER $text " + labels.String() + " " + properties(props) + " ALONE AS m\nRETURN m.id AS id, m.content AS content, created"
	return a.withDatabase(writing, func(db database) error {
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

// properties writes the map of the properties in the parameter props. The times
// that a memory is judged by are date-times in EQL, and text on a command line.
func properties(props map[string]any) string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(props)) {
		quoted := "`" + strings.ReplaceAll(name, "`", "``") + "`"
		value := "$props." + quoted
		if _, text := props[name].(string); text && (name == "created_at" || name == "valid_from" || name == "valid_to") {
			value = "datetime(" + value + ")"
		}
		list = append(list, quoted+": "+value)
	}
	return "{" + strings.Join(list, ", ") + "}"
}
