package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"engram"
	"engram/cmd/engramd/internal/complete"

	"github.com/chzyer/readline"
	"golang.org/x/term"
)

// input is what statements come from: a person, or a script.
func (c *console) input() (lineReader, error) {
	c.screen = screenOf(c.app.out)
	in, ok := c.app.in.(*os.File)
	if !ok || !term.IsTerminal(int(in.Fd())) {
		c.screen = nil
		return newScript(c.app.in), nil
	}
	c.interactive, c.timing = true, true
	if os.Getenv("TERM") == "dumb" { // which would show what steers other terminals
		c.history = openHistory(historyFile(), func(string) {})
		return &plainReader{newScript(in), c.app.out}, nil
	}
	out := c.app.out
	if c.screen != nil && !c.screen.colored {
		out = uncolored{out}
	}
	rl, err := readline.NewEx(&readline.Config{
		Prompt: "engram> ", Stdin: in, Stdout: out, Stderr: c.app.err,
		AutoComplete: completer{c}, DisableAutoSaveHistory: true, HistoryLimit: maxHistory,
	})
	if err != nil {
		return nil, err
	}
	c.history = openHistory(historyFile(), func(line string) { _ = rl.SaveHistory(line) }) // into memory
	return &terminalReader{rl}, nil
}

// terminalReader reads lines from a person, with editing and history.
type terminalReader struct{ rl *readline.Instance }

func promptOf(continued bool) string {
	if continued {
		return "   ...> "
	}
	return "engram> "
}

func (t *terminalReader) next(continued bool) (string, error) {
	t.rl.SetPrompt(promptOf(continued))
	line, err := t.rl.Readline()
	if errors.Is(err, readline.ErrInterrupt) {
		return "", errInterrupt
	}
	return line, err
}

func (t *terminalReader) close() { _ = t.rl.Close() } // it gives the terminal back

// plainReader reads lines from a person on a terminal that cannot be steered.
type plainReader struct {
	*scriptReader
	out io.Writer
}

func (p *plainReader) next(continued bool) (string, error) {
	if _, err := io.WriteString(p.out, promptOf(continued)); err != nil {
		return "", err
	}
	return p.scriptReader.next(continued)
}

// uncolored leaves colours, but not movements, out of what is written in whole sequences.
type uncolored struct{ out io.Writer }

var colors = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Write writes what is left.
func (u uncolored) Write(p []byte) (int, error) {
	if _, err := u.out.Write(colors.ReplaceAll(p, nil)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// completer is what the tab key asks.
type completer struct{ c *console }

// Do implements readline.AutoCompleter.
func (t completer) Do(line []rune, pos int) (rest [][]rune, typed int) {
	text := t.c.pending.String() + string(line[:pos])
	for _, found := range t.c.words.all().At(text) {
		rest = append(rest, []rune(found.Rest))
		typed = len([]rune(strings.TrimRight(found.Word, "("))) - len([]rune(strings.TrimRight(found.Rest, "( :")))
	}
	return rest, max(typed, 0)
}

// vocabulary is what can be completed. It is asked of the database when the tab key is
// first pressed, and again after a statement.
type vocabulary struct {
	console *console
	words   *complete.Words
}

func (v *vocabulary) stale() { v.words = nil }

// completing bounds what the tab key may take.
const completing = 2 * time.Second

func (v *vocabulary) all() *complete.Words {
	if v.words != nil {
		return v.words
	}
	w := &complete.Words{Arguments: map[string][]string{}}
	for _, own := range ownCommands() {
		w.Commands = append(w.Commands, ":"+own.name)
		w.Arguments[":"+own.name] = own.words
	}
	for name := range v.console.params {
		w.Parameters = append(w.Parameters, name)
	}
	var pages []string
	for _, t := range engram.ReferenceTopics() {
		page, _ := engram.Reference(t.Name)
		pages = append(pages, page)
	}
	w.Keywords = complete.Keywords(pages)
	for _, list := range []struct {
		into      *[]string
		statement string
	}{
		{&w.Functions, "SHOW FUNCTIONS"},
		{&w.Procedures, "SHOW PROCEDURES"},
		{&w.Labels, "CALL db.labels() YIELD label RETURN label ORDER BY label LIMIT 1000"},
		{&w.Types, "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type ORDER BY type LIMIT 1000"},
		{&w.Properties, "CALL db.propertyKeys() YIELD propertyKey AS key RETURN key ORDER BY key LIMIT 1000"},
	} {
		*list.into, _ = v.column(list.statement) // what cannot be asked is not completed
	}
	v.words = w
	return w
}

// column asks for names, outside of any transaction that is open.
func (v *vocabulary) column(statement string) ([]string, error) {
	ctx, cancel := context.WithTimeout(v.console.app.ctx, completing)
	defer cancel()
	res, err := v.console.db.Query(ctx, statement, nil)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, row := range res.Rows {
		if name := row[0].AsString(); printable(name) == name && !strings.ContainsAny(name, "\n\t") {
			out = append(out, name)
		}
	}
	return out, nil
}

// display is a terminal that somebody looks at.
type display struct {
	file    *os.File
	paged   bool
	program []string // the pager and its arguments
	colored bool
}

// screenOf is the screen that output goes to, or nil.
func screenOf(out io.Writer) *display {
	f, ok := out.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return nil
	}
	return &display{
		file: f, paged: true, program: strings.Fields(cmp.Or(os.Getenv("PAGER"), "less")),
		colored: os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
	}
}

// columns is how wide the screen is; 0: it is not known.
func (s *display) columns() int {
	if s == nil {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	w, _, err := term.GetSize(int(s.file.Fd()))
	if err != nil {
		return 0
	}
	return w
}

func (s *display) red(text string) string {
	if s == nil || !s.colored {
		return text
	}
	return "\x1b[31m" + text + "\x1b[0m"
}

func (s *display) clear(out io.Writer) error {
	if s == nil || !s.colored {
		return nil
	}
	_, err := io.WriteString(out, "\x1b[H\x1b[2J")
	return err
}

// pager returns what to write to, and what shows it at the end: on the screen when it
// fits, else in the pager. Beyond maxPaged bytes what comes goes to the screen.
func (s *display) pager(out io.Writer) (io.Writer, func() error) {
	if s == nil || !s.paged || len(s.program) == 0 {
		return out, func() error { return nil }
	}
	p := &paged{screen: s, out: out}
	return p, p.show
}

// maxPaged bounds what is held for the pager.
const maxPaged = 64 << 20

type paged struct {
	screen *display
	out    io.Writer
	buf    bytes.Buffer
	passed bool
}

// Write keeps what is to be shown.
func (p *paged) Write(b []byte) (int, error) {
	if p.passed {
		return p.out.Write(b)
	}
	if p.buf.Len()+len(b) > maxPaged {
		p.passed = true
		if _, err := p.out.Write(p.buf.Bytes()); err != nil {
			return 0, err
		}
		p.buf = bytes.Buffer{}
		return p.out.Write(b)
	}
	return p.buf.Write(b)
}

// show shows what was kept.
func (p *paged) show() error {
	_, height, err := term.GetSize(int(p.screen.file.Fd()))
	if err == nil && height > 0 && bytes.Count(p.buf.Bytes(), []byte("\n")) >= height {
		cmd := exec.Command(p.screen.program[0], p.screen.program[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(p.buf.Bytes()), p.screen.file, p.screen.file
		cmd.Env = os.Environ()
		if os.Getenv("LESS") == "" {
			cmd.Env = append(cmd.Env, "LESS=-FRSX")
		}
		if err = cmd.Start(); err == nil {
			_ = cmd.Wait() // whoever leaves it early has seen enough
			return nil
		}
	}
	_, err = p.out.Write(p.buf.Bytes())
	return err
}
