package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"engram"
)

type consoleCommand struct {
	Where string `arg:"" optional:"" help:"A data directory, or the URL of a server; without it what --data names."`
	outputFlags
}

// Help is shown by --help.
func (consoleCommand) Help() string {
	return `A statement ends with a semicolon and may span lines. A script on stdin stops at the first error. BEGIN; begins a transaction that
COMMIT; keeps and ROLLBACK; drops. The tab key completes keywords, functions, labels, types, properties and commands; :help lists those.

What was typed is kept in ~/.local/state/engram/history, which only you can read; ENGRAM_HISTORY names another file, and none when it is
empty. A line that begins with a blank is not kept. Long results go through PAGER, by default less. NO_COLOR switches colours off.

Examples:
  engramd console
  engramd console http://127.0.0.1:7463
  engramd console < script.eql`
}

// lineReader hands out lines; io.EOF ends, errInterrupt drops what was typed.
type lineReader interface {
	next(continued bool) (string, error)
	close()
}

var errInterrupt = errors.New("interrupted")

// console runs statements from lines.
type console struct {
	app         *app
	db          database
	session     session
	format      rowFormat
	interactive bool
	params      map[string]any
	timing      bool
	screen      *display // nil: nobody looks on
	history     *history // nil: none is kept
	words       *vocabulary
	sourced     int    // how many scripts read each other
	use         string // the namespace to go on with

	line    int             // of input, from 1
	pending strings.Builder // what no semicolon has ended yet
	first   int             // the line on which pending begins
}

func (c *consoleCommand) Run(a *app) error {
	if c.Where != "" {
		a.data = c.Where
	}
	con := &console{app: a, format: c.format(), params: map[string]any{}}
	lines, err := con.input()
	if err != nil {
		return err
	}
	defer lines.close()
	for {
		err := con.visit(lines)
		if con.use == "" {
			return err
		}
		a.namespace, con.use = con.use, ""
	}
}

// visit opens the namespace and runs statements until the input ends, or another
// namespace is to be used.
func (c *console) visit(lines lineReader) error {
	opened := false
	run := func(db database) error {
		opened = true
		c.db, c.session, c.words = db, db.session(), &vocabulary{console: c}
		defer c.session.Close()
		if c.interactive {
			c.app.printf("engram, namespace %s. :help helps, :quit leaves.\n", c.app.namespace)
		}
		return c.leave(c.run(lines))
	}
	err := c.app.withDatabase(writing, run)
	if opened || !engram.IsCode(err, engram.CodeReadOnly) {
		return err
	}
	// A read-only mount: what only reads can still be asked.
	return c.app.withDatabase(reading, func(db database) error {
		fmt.Fprintln(c.app.err, "engramd: the data directory cannot be written, so statements can only read")
		return run(db)
	})
}

// run reads statements until the input ends. A script stops at its first error;
// a person is told and goes on.
func (c *console) run(lines lineReader) error {
	for {
		line, err := lines.next(c.pending.Len() > 0)
		switch {
		case errors.Is(err, errInterrupt) && c.pending.Len() > 0:
			c.pending.Reset()
			continue
		case errors.Is(err, errInterrupt):
			return nil
		case errors.Is(err, io.EOF):
			return c.end()
		case err != nil:
			return err
		}
		c.line++
		if c.line == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		quit, err := c.take(line)
		if err != nil && !c.interactive {
			return err
		}
		if err != nil {
			fmt.Fprintln(c.app.err, c.screen.red(strings.TrimRight(err.Error(), "\n")))
		}
		if quit || c.use != "" || c.app.ctx.Err() != nil {
			return c.app.ctx.Err()
		}
	}
}

// leave tells when the input ends inside a transaction, which is lost with it.
func (c *console) leave(err error) error {
	if err != nil || !c.session.InTransaction() {
		return err
	}
	return errors.New("the input ends inside a transaction: nothing since BEGIN is kept; COMMIT keeps it, ROLLBACK drops it")
}

// end runs what stands behind the last semicolon.
func (c *console) end() error {
	rest := c.pending.String()
	if onlyComments(rest) {
		return nil
	}
	trimmed := strings.TrimSpace(rest)
	return c.execute(trimmed, position(rest[:strings.Index(rest, trimmed)], c.first))
}

// take takes a line in and runs the statements that end on it.
func (c *console) take(line string) (quit bool, err error) {
	if trimmed := strings.TrimSpace(line); c.pending.Len() == 0 && strings.HasPrefix(trimmed, ":") {
		quit, err = c.command(trimmed)
		if err != nil && !c.interactive {
			err = fmt.Errorf("script line %d: %w", c.line, err)
		}
		return quit, err
	}
	if c.pending.Len() == 0 {
		c.first = c.line
	}
	c.pending.WriteString(line + "\n")
	c.history.note(line)
	if !strings.Contains(line, ";") {
		if onlyComments(c.pending.String()) {
			c.pending.Reset()
		}
		return false, nil
	}
	text := c.pending.String()
	statements, rest := engram.SplitStatements(text)
	c.pending.Reset()
	if onlyComments(rest) {
		c.history.keep()
	}
	at := 0
	for _, s := range statements {
		at += strings.Index(text[at:], s) // only blanks and semicolons stand between
		if !onlyComments(s) {
			if err := c.execute(s, position(text[:at], c.first)); err != nil {
				return false, err
			}
		}
		at += len(s)
	}
	if !onlyComments(rest) {
		c.first += strings.Count(text[:len(text)-len(rest)], "\n")
		c.pending.WriteString(rest)
	}
	return false, nil
}

// onlyComments reports whether there is no statement in a text.
func onlyComments(text string) bool {
	for {
		text = strings.TrimSpace(text)
		var end string
		switch {
		case text == "":
			return true
		case strings.HasPrefix(text, "//"):
			end = "\n"
		case strings.HasPrefix(text, "/*"):
			end = "*/"
		default:
			return false
		}
		_, after, ended := strings.Cut(text[2:], end)
		if !ended {
			return end == "\n" // an open comment goes on
		}
		text = after
	}
}

// place is where a statement begins in a script: its line from 1 and how many
// characters stand before it there.
type place struct{ line, before int }

// position returns the place behind a text that begins on a line.
func position(text string, first int) place {
	newline := strings.LastIndexByte(text, '\n')
	return place{first + strings.Count(text, "\n"), utf8.RuneCountInString(text[newline+1:])}
}

func (c *console) execute(statement string, at place) error {
	err := c.print(statement)
	if err != nil && !c.interactive {
		return inScript(err, at)
	}
	return err
}

// print runs a statement and prints what it returns; of BEGIN, COMMIT and
// ROLLBACK it tells what became of the transaction.
func (c *console) print(statement string) error {
	c.words.stale()
	began := time.Now()
	out, shown := c.screen.pager(c.app.out)
	err := c.printTo(out, statement)
	if err == nil && c.timing {
		fmt.Fprintf(out, "%s\n", roughly(time.Since(began)))
	}
	return errors.Join(err, shown())
}

func (c *console) printTo(out io.Writer, statement string) error {
	told := map[string]string{"BEGIN": "transaction begun", "COMMIT": "transaction committed", "ROLLBACK": "transaction rolled back"}[firstWord(statement)]
	if told == "" || c.format != formatTable {
		return printQuery(c.app.ctx, out, c.session, statement, c.params, c.format)
	}
	if _, err := c.session.Query(c.app.ctx, statement, nil); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "%s\n", told)
	return err
}

func firstWord(text string) string {
	for word := range strings.FieldsSeq(text) {
		return strings.ToUpper(word)
	}
	return ""
}

// inScript counts the place of an error from the script's begin.
func inScript(err error, at place) error {
	var e *engram.Error
	if !errors.As(err, &e) || e.Line == 0 {
		return fmt.Errorf("script line %d: %w", at.line, err)
	}
	moved := *e
	moved.Line += at.line - 1
	if e.Line == 1 {
		moved.Column += at.before
	}
	const where = " at line %d, column %d"
	moved.Message = fmt.Sprintf("script line %d: ", moved.Line) +
		strings.Replace(e.Message, fmt.Sprintf(where, e.Line, e.Column), fmt.Sprintf(where, moved.Line, moved.Column), 1)
	return &moved
}

// scriptReader reads lines that nobody types.
type scriptReader struct{ r *bufio.Reader }

func newScript(r io.Reader) *scriptReader { return &scriptReader{bufio.NewReader(r)} }

func (s *scriptReader) next(bool) (string, error) {
	line, err := s.r.ReadString('\n')
	if err != nil && line == "" {
		return "", err
	}
	return strings.TrimRight(line, "\r\n"), nil
}

func (*scriptReader) close() {}
