package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"engram"

	"github.com/chzyer/readline"
	"golang.org/x/term"
)

type consoleCommand struct {
	outputFlags
}

// Help is shown by --help.
func (consoleCommand) Help() string {
	return `A statement ends with a semicolon and may span lines. A script on stdin stops at the first error.

Examples:
  engramd console
  engramd console < script.eql`
}

const consoleHelp = `Statements end with a semicolon:
  RECALL 'what you look for' LIMIT 3;
  REMEMBER 'what should be kept' ALONE;
  MATCH (n) RETURN labels(n), count(n);

:format table|json|csv   how rows are printed
:stats                   what the namespace holds
:help                    this page
:quit                    leave`

// lineReader hands out lines; io.EOF ends.
type lineReader interface {
	next(continued bool) (string, error)
}

// console runs statements from lines.
type console struct {
	app         *app
	db          *engram.DB
	format      rowFormat
	interactive bool
	line        int // of input
}

func (c *consoleCommand) Run(a *app) error {
	return a.withNamespace(true, func(db *engram.DB) error {
		con := &console{app: a, db: db, format: c.format()}
		in, ok := a.in.(*os.File)
		if !ok || !term.IsTerminal(int(in.Fd())) {
			return con.run(&scriptReader{bufio.NewReader(a.in)})
		}
		rl, err := readline.NewEx(&readline.Config{Prompt: "engram> ", Stdin: in, Stdout: a.out, Stderr: a.err})
		if err != nil {
			return err
		}
		defer rl.Close()
		con.interactive = true
		a.printf("engram, namespace %s. :help helps, :quit leaves.\n", a.namespace)
		return con.run(&terminalReader{rl})
	})
}

// run reads statements until the input ends. A script stops at its first error;
// a person is told and goes on.
func (c *console) run(lines lineReader) error {
	var pending strings.Builder
	first := 1
	for {
		line, err := lines.next(pending.Len() > 0)
		if err != nil {
			if rest := strings.TrimSpace(pending.String()); rest != "" && errors.Is(err, io.EOF) {
				return c.execute(rest, first)
			}
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
		c.line++
		if trimmed := strings.TrimSpace(line); pending.Len() == 0 && strings.HasPrefix(trimmed, ":") {
			quit, err := c.command(trimmed)
			if quit || err != nil && !c.interactive {
				return err
			}
			c.tell(err)
			continue
		}
		if pending.Len() == 0 {
			first = c.line
		}
		pending.WriteString(line + "\n")
		statements, rest := engram.SplitStatements(pending.String())
		pending.Reset()
		if strings.TrimSpace(rest) != "" {
			pending.WriteString(rest)
		}
		for _, s := range statements {
			if err := c.execute(s, first); err != nil {
				if !c.interactive {
					return err
				}
				c.tell(err)
			}
		}
	}
}

func (c *console) tell(err error) {
	if err != nil {
		fmt.Fprintln(c.app.err, err)
	}
}

func (c *console) execute(statement string, line int) error {
	if strings.TrimSpace(statement) == "" {
		return nil
	}
	res, err := c.db.Query(c.app.ctx, statement, nil)
	if err != nil {
		if c.interactive {
			return err
		}
		return fmt.Errorf("script line %d: %w", line, err)
	}
	return printResult(c.app.out, res, c.format)
}

// command runs one of the console's own commands.
func (c *console) command(text string) (quit bool, err error) {
	name, arg, _ := strings.Cut(strings.TrimPrefix(text, ":"), " ")
	switch name {
	case "quit", "exit", "q":
		return true, nil
	case "help", "h":
		c.app.printf("%s\n", consoleHelp)
		return false, nil
	case "stats":
		return false, printStats(c.app, c.db)
	case "format":
		switch f := rowFormat(strings.TrimSpace(arg)); f {
		case formatTable, formatJSON, formatCSV:
			c.format = f
			return false, nil
		}
		return false, fmt.Errorf(":format %s: want table, json or csv", arg)
	}
	return false, fmt.Errorf("unknown command :%s; :help lists them", name)
}

// scriptReader reads lines that nobody types.
type scriptReader struct{ r *bufio.Reader }

func (s *scriptReader) next(bool) (string, error) {
	line, err := s.r.ReadString('\n')
	if err != nil && line == "" {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

// terminalReader reads lines from a person, with editing and history.
type terminalReader struct{ rl *readline.Instance }

func (t *terminalReader) next(continued bool) (string, error) {
	prompt := "engram> "
	if continued {
		prompt = "   ...> "
	}
	t.rl.SetPrompt(prompt)
	line, err := t.rl.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return "", io.EOF
	}
	return line, err
}
