package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"engram"
	"engram/cmd/engramd/internal/complete"
)

// ownCommand is one of the console's own commands.
type ownCommand struct {
	name  string
	other []string // further names
	args  string   // what stands behind it
	help  string
	// words are what may be completed behind it.
	words []string
	run   func(c *console, arg string) error
}

// ownCommands are all of them, in the order of :help.
func ownCommands() []ownCommand {
	topics := []string{}
	for _, t := range engram.ReferenceTopics() {
		topics = append(topics, t.Name)
	}
	return []ownCommand{
		{name: "help", other: []string{"h", "?"}, args: "[TOPIC]", help: "this page, or the reference of EQL: RECALL, ORDER BY, toUpper, types ...", words: topics, run: (*console).help},
		{name: "schema", help: "labels, relation types, properties, indexes and constraints", run: (*console).schema},
		{name: "stats", help: "what the namespace holds", run: func(c *console, _ string) error { return printStats(c.app, c.db) }},
		{name: "explain", args: "STATEMENT", help: "how a statement would be run", words: []string{complete.EQL}, run: func(c *console, arg string) error { return c.planned("EXPLAIN", arg) }},
		{name: "profile", args: "STATEMENT", help: "run it, and tell what each step took", words: []string{complete.EQL}, run: func(c *console, arg string) error { return c.planned("PROFILE", arg) }},
		{name: "format", args: "table|json|csv", help: "how rows are printed", words: []string{"table", "json", "csv"}, run: (*console).setFormat},
		{name: "begin", args: "[read]", help: "begin a transaction", words: []string{"read"}, run: (*console).begin},
		{name: "commit", help: "keep what it wrote", run: func(c *console, _ string) error { return c.print("COMMIT") }},
		{name: "rollback", help: "drop what it wrote", run: func(c *console, _ string) error { return c.print("ROLLBACK") }},
		{name: "param", args: "NAME VALUE", help: "set a parameter: JSON or text; NAME => EXPRESSION computes it", run: (*console).param},
		{name: "params", args: "[clear]", help: "list the parameters, or forget them", words: []string{"clear"}, run: (*console).listParams},
		{name: "source", args: "FILE", help: "run a script", run: (*console).source},
		{name: "timing", args: "[on|off]", help: "tell how long statements take", words: []string{"on", "off"}, run: (*console).setTiming},
		{name: "pager", args: "[on|off|COMMAND]", help: "show results that are longer than the screen in a pager", words: []string{"on", "off"}, run: (*console).setPager},
		{name: "use", args: "NAMESPACE", help: "go on with another namespace, which must be there", run: (*console).useNamespace},
		{name: "history", args: "[N]", help: "the last N statements, by default 20", run: (*console).showHistory},
		{name: "chat", args: "[CONVERSATION]", help: "talk with a model, as engramd chat does", run: (*console).chat},
		{name: "clear", help: "drop what was typed of a statement, and clear the screen", run: func(c *console, _ string) error { return c.screen.clear(c.app.out) }},
		{name: "quit", other: []string{"exit", "q"}, help: "leave", run: func(*console, string) error { return io.EOF }},
	}
}

// command runs one of the console's own commands.
func (c *console) command(text string) (quit bool, err error) {
	name, arg, _ := strings.Cut(strings.TrimRight(strings.TrimPrefix(text, ":"), "; "), " ")
	arg = strings.TrimSpace(arg)
	for _, own := range ownCommands() {
		if own.name != name && !slices.Contains(own.other, name) {
			continue
		}
		if own.args == "" && arg != "" {
			return false, fmt.Errorf(":%s takes nothing behind it, not %s", name, arg)
		}
		c.history.note(text)
		c.history.keep()
		err := own.run(c, arg)
		if errors.Is(err, io.EOF) {
			return true, nil
		}
		return false, err
	}
	return false, fmt.Errorf("unknown command :%s; :help lists them", name)
}

func (c *console) help(topic string) error {
	if topic != "" {
		text, err := reference(topic)
		return errors.Join(err, c.show(text))
	}
	var b strings.Builder
	b.WriteString(`Statements end with a semicolon:
  RECALL 'what you look for' LIMIT 3;
  REMEMBER 'what should be kept' ALONE;
  MATCH (n) RETURN labels(n), count(n);
Several are one transaction between BEGIN; and COMMIT; or ROLLBACK;

`)
	for _, own := range ownCommands() {
		fmt.Fprintf(&b, "%-24s %s\n", strings.TrimSpace(":"+own.name+" "+own.args), own.help)
	}
	return c.show(b.String())
}

// show prints a text that may be longer than the screen.
func (c *console) show(text string) error {
	out, shown := c.screen.pager(c.app.out)
	_, err := io.WriteString(out, text)
	return errors.Join(err, shown())
}

func (c *console) schema(string) error {
	s, err := c.db.Stats(c.app.ctx)
	if err != nil {
		return err
	}
	keys, err := c.words.column("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey ORDER BY propertyKey")
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, list := range []struct {
		title  string
		counts []engram.NamedCount
	}{{"labels", s.Labels}, {"relation types", s.Types}} {
		fmt.Fprintf(&b, "%s:\n", list.title)
		for _, n := range list.counts {
			fmt.Fprintf(&b, "  %-24s %d\n", printable(n.Name), n.Count)
		}
	}
	fmt.Fprintf(&b, "properties:\n")
	for _, k := range keys {
		fmt.Fprintf(&b, "  %s\n", printable(k))
	}
	for _, show := range []string{"SHOW INDEXES", "SHOW CONSTRAINTS"} {
		res, err := c.session.Query(c.app.ctx, show, nil)
		if err != nil {
			return err
		}
		if len(res.Rows) > 0 {
			fmt.Fprintf(&b, "%s:\n", strings.ToLower(strings.TrimPrefix(show, "SHOW ")))
			printRows(&b, res, c.screen.columns())
		}
	}
	return c.show(b.String())
}

func (c *console) planned(how, statement string) error {
	if statement == "" {
		return fmt.Errorf(":%s takes a statement, such as :%[1]s MATCH (n) RETURN n", strings.ToLower(how))
	}
	return c.print(how + " " + statement)
}

func (c *console) setFormat(arg string) error {
	switch f := rowFormat(arg); f {
	case formatTable, formatJSON, formatCSV:
		c.format = f
		return nil
	}
	return fmt.Errorf(":format %s: want table, json or csv", arg)
}

func (c *console) begin(arg string) error {
	switch strings.ToLower(arg) {
	case "":
		return c.print("BEGIN")
	case "read":
		return c.print("BEGIN READ")
	}
	return fmt.Errorf(":begin %s: want nothing, or read", arg)
}

func (c *console) param(arg string) error {
	name, value, ok := strings.Cut(arg, " ")
	name = strings.TrimPrefix(name, "$")
	if value = strings.TrimSpace(value); !ok || name == "" || value == "" {
		return errors.New(":param takes a name and a value, such as :param who \"Ann\", or :param since => date('2024-05-01')")
	}
	if expression, ok := strings.CutPrefix(value, "=>"); ok {
		res, err := c.session.Query(c.app.ctx, "RETURN "+expression, c.params)
		if err != nil {
			return err
		}
		if len(res.Rows) != 1 || len(res.Rows[0]) != 1 {
			return errors.New(":param: the expression has to be one value")
		}
		c.params[name] = res.Rows[0][0]
		return nil
	}
	parsed, err := parseParams([]string{name + "=" + value})
	if err != nil {
		return err
	}
	c.params[name] = parsed[name]
	return nil
}

func (c *console) listParams(arg string) error {
	switch {
	case arg == "clear":
		clear(c.params)
		return nil
	case arg != "":
		return fmt.Errorf(":params %s: want nothing, or clear", arg)
	}
	names := make([]string, 0, len(c.params))
	for name := range c.params {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		res, err := c.session.Query(c.app.ctx, "RETURN $x", map[string]any{"x": c.params[name]})
		if err != nil {
			return err
		}
		c.app.printf("$%s = %s\n", printable(name), printable(res.Rows[0][0].String()))
	}
	return nil
}

// maxSourced is how deep scripts may run each other.
const maxSourced = 8

// source runs a script as if its lines stood here; it stops at its first error.
func (c *console) source(name string) error {
	if name == "" {
		return errors.New(":source takes a file")
	}
	if c.sourced >= maxSourced {
		return fmt.Errorf(":source %s: scripts run each other more than %d deep", name, maxSourced)
	}
	f, err := openInput(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	inner := *c
	inner.interactive, inner.history, inner.line, inner.first, inner.sourced = false, nil, 0, 0, c.sourced+1
	inner.pending = strings.Builder{}
	inner.words = &vocabulary{console: c}
	err = inner.run(newScript(f))
	c.format, c.timing, c.use = inner.format, inner.timing, inner.use
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

func (c *console) setTiming(arg string) (err error) {
	c.timing, err = onOff(":timing", arg, !c.timing)
	return err
}

// onOff reads what switches something; nothing toggles it.
func onOff(command, arg string, toggled bool) (bool, error) {
	switch arg {
	case "on":
		return true, nil
	case "off":
		return false, nil
	case "":
		return toggled, nil
	}
	return !toggled, fmt.Errorf("%s %s: want on or off", command, arg)
}

func (c *console) setPager(arg string) error {
	if c.screen == nil {
		return errors.New(":pager: there is no screen, so nothing is longer than it")
	}
	switch arg {
	case "on", "":
		c.screen.paged = arg == "on" || !c.screen.paged
	case "off":
		c.screen.paged = false
	default:
		c.screen.paged, c.screen.program = true, strings.Fields(arg)
	}
	return nil
}

func (c *console) useNamespace(name string) error {
	if name == "" {
		c.app.printf("namespace %s\n", c.app.namespace)
		return nil
	}
	if c.session.InTransaction() {
		return errors.New(":use: a transaction is open; COMMIT keeps it, ROLLBACK drops it")
	}
	if name == c.app.namespace {
		return nil
	}
	if err := engram.CheckNamespace(name); err != nil {
		return err
	}
	there, err := c.app.known(name)
	if err != nil {
		return err
	}
	if !there {
		return fmt.Errorf(":use %s: there is no such namespace; engramd -n %[1]s console makes it", name)
	}
	c.use = name
	return nil
}

func (c *console) showHistory(arg string) error {
	n := 20
	if arg != "" {
		var err error
		if n, err = strconv.Atoi(arg); err != nil || n < 1 {
			return fmt.Errorf(":history %s: want a number of statements", arg)
		}
	}
	if c.history == nil {
		return errors.New(":history: nothing is kept of a script")
	}
	return c.show(printable(c.history.last(n)))
}

// roughly writes how long something took.
func roughly(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}
