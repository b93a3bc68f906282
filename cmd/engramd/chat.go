package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"syscall"

	"engram/chatbridge"

	"golang.org/x/term"
)

// chatFlags say who answers, and how.
type chatFlags struct {
	llmFlags
	AskAll   bool `help:"Ask before every call of a tool, also of what only reads."`
	NoTools  bool `help:"Offer no tools."`
	NoStream bool `help:"Ask for whole answers."`
	Plain    bool `help:"Print answers as they are written, also in a terminal."`
}

type chatCommand struct {
	Text []string `arg:"" optional:"" help:"What to say; without it a conversation in the terminal. An address of a server alone, such as http://127.0.0.1:7463, is whose memory to talk with."`
	chatFlags
	Conversation string `help:"Go on with this conversation." short:"c" placeholder:"ID"`
	List         bool   `help:"List the conversations, and end."`
	JSON         bool   `help:"Print the outcome as JSON; with a text."`
	Plan         bool   `help:"Have the model propose a plan first; nothing above reading runs before you approve it."`
	Imprint      string `help:"Name of a layer of kind 3 whose voice and domain colour the answers; without it none does." placeholder:"NAME"`
	Mission      string `help:"What the conversation that begins is for; without it the first message says so." placeholder:"WORDS"`
	Propose      string `help:"Have a maker propose something whose numbers keep to the rules of this file, and a checker judge it: see engramd help review." placeholder:"FILE"`
}

// Help is shown by --help.
func (chatCommand) Help() string {
	return `Talks with a model that has the tools of this memory. Without a provider it looks for Ollama on this machine; with none, memory
alone answers. The key stands in ENGRAM_LLM_KEY (ENGRAM_LLM_NAME_KEY for another provider), else in ANTHROPIC_API_KEY or
OPENAI_API_KEY for the provider of that name; it goes to the provider's address only.

Commands, pages of other hosts and files that run programs are asked for each time, with all that would happen and its hash: y runs
it once, c allows the same for this conversation, a for all, v shows all of a long one, l leaves it waiting, also for days, n or
Enter denies it, with words behind n for the model. Anything else is asked again. In a terminal Esc denies too; Ctrl-C, Ctrl-D and
closing the window deny and end the answer. Where input is no terminal and ends, nobody is asked:
the call does not run and waits, which the exit code tells (7); engramd chat resume goes on.

The memory may be a server's, by its address or --data URL, with its token in ENGRAM_TOKEN or ENGRAM_TOKEN_FILE: what is remembered
and the conversation are there; model, workspace and commands are on this machine.

A conversation has a mission, which --mission or the first message gives, a status and a register, which the model is told.
--imprint NAME gives answers a voice and a subject: those of the nodes Voice and Domain of the layer NAME, made by
CREATE LAYER NAME {kind: 3} and CREATE (:Voice {layer: 'NAME', content: 'Speak like a captain.'}). It never replaces what is said for safety.

A text that begins a conversation tells on stderr which one: go on with it by --conversation.

While it answers, Ctrl-C cancels the answer, a second one leaves. Answers are shown as Markdown in a terminal; --plain prints them as
they are written. :help lists the commands inside.

Examples:
  engramd chat
  engramd chat --provider anthropic --model MODEL --workspace ~/notes
  engramd chat "What do I know about Lisbon?" --no-tools
  engramd chat --provider test --base-url http://127.0.0.1:7464 --model gate GATE-PLAIN
  engramd chat http://127.0.0.1:7463
  engramd chat --plan "Tidy up my notes" --workspace ~/notes
  engramd chat --mission "Plan the garden" --imprint captain
  engramd chat --list

engramd help chat tells of all flags, and of the files that distress, replies, manners and notes are told by.`
}

func (c *chatCommand) Run(a *app) error {
	if len(c.Text) == 1 && isServer(c.Text[0]) {
		a.data, c.Text = c.Text[0], nil
	}
	said := strings.TrimSpace(strings.Join(c.Text, " "))
	switch {
	case c.JSON && said == "":
		return &usageError{errors.New("--json goes with a text")}
	case c.Plan && c.Propose != "":
		return &usageError{errors.New("--plan and --propose exclude each other")}
	case c.List && said != "":
		return &usageError{errors.New("--list takes no text")}
	case c.List:
		return a.withChats(writing, func(b *chatbridge.Bridge) error {
			list, err := b.Conversations(a.ctx)
			a.printConversations(list)
			return err
		})
	}
	return a.chat(&c.chatFlags, func(t *chatTerminal) (err error) {
		t.conversation, t.json, t.plan, t.mission, t.imprint = c.Conversation, c.JSON, c.Plan, c.Mission, c.Imprint
		if c.Propose != "" {
			if t.rules, err = readRules(c.Propose); err != nil {
				return err
			}
		}
		if said != "" {
			return t.single(said)
		}
		return t.talk()
	})
}

// chat opens a bridge to the namespace and a terminal on it for fn.
func (a *app) chat(c *chatFlags, fn func(*chatTerminal) error) error {
	options, settings, err := c.options(a.ctx, true)
	if err != nil {
		return err
	}
	return a.withMemory(writing, func(m chatbridge.Querier) error { return a.chatOn(m, c, options, settings, fn) })
}

func (a *app) chatOn(m chatbridge.Querier, c *chatFlags, options chatbridge.Options, settings []chatbridge.Setting, fn func(*chatTerminal) error) (err error) {
	options.Memory, options.NoStream = m, c.NoStream
	b, err := chatbridge.New(options)
	if err != nil {
		return &usageError{err}
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), shutdownWait)
		defer cancel()
		err = errors.Join(err, b.Close(ctx))
	}()
	t := newChatTerminal(a, b, c)
	defer t.close()
	t.settings, t.alone = settings, len(options.Providers) == 0
	return fn(t)
}

// chatTerminal is a conversation in a terminal, or on plain streams.
type chatTerminal struct {
	c            *chatFlags
	a            *app
	ctx          context.Context // ends with the program, and with the terminal
	b            *chatbridge.Bridge
	tty          *tty          // nil: input is no terminal
	lines        <-chan string // of input that is no terminal
	markdown     bool
	json         bool
	settings     []chatbridge.Setting
	alone        bool // no model
	conversation string
	plan         bool // what is said is planned first
	mission      string
	imprint      string
	rules        []chatbridge.Rule
	seen         map[string]int    // of each run, the last event that was printed
	shown        map[string]string // of each run, the text that was printed
	left         bool              // whoever talks wants to leave
	unasked      bool              // a call waits since input ended
	interrupted  bool              // the last thing that was typed is Ctrl-C
	close        func()
}

func newChatTerminal(a *app, b *chatbridge.Bridge, c *chatFlags) *chatTerminal {
	t := &chatTerminal{c: c, a: a, ctx: a.ctx, b: b, seen: map[string]int{}, shown: map[string]string{}, close: func() {}}
	if out, ok := a.out.(*os.File); ok && !c.Plain && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" {
		t.markdown = term.IsTerminal(int(out.Fd()))
	}
	ctx, stop := hangup(a.ctx)
	if t.tty = openTTY(ctx, a.in, a.out); t.tty == nil {
		stop()
		t.lines = readLines(a.in)
		return t
	}
	t.ctx, t.close = ctx, func() { t.tty.close(); stop() }
	return t
}

// line reads what is said next; false: there is no more, or whoever talks leaves.
func (t *chatTerminal) line(prompt string) (string, bool) {
	for t.tty != nil {
		line, err := t.tty.line(prompt)
		if err == nil {
			t.interrupted = false
			return line, true
		}
		t.a.printf("\n")
		if !errors.Is(err, errInterrupt) || t.interrupted {
			return "", false
		}
		t.interrupted = true
		fmt.Fprintln(t.a.err, "Ctrl-C again leaves.")
	}
	t.a.printf("%s", prompt)
	select {
	case line, ok := <-t.lines:
		return line, ok
	case <-t.ctx.Done():
		return "", false
	}
}

// single says one thing, and tells which conversation that began, to go on with.
func (t *chatTerminal) single(said string) error {
	begins := t.conversation == ""
	err := t.once(said)
	if begins && t.conversation != "" && !t.json {
		fmt.Fprintf(t.a.err, "conversation %s\n", t.conversation)
	}
	return err
}

// once says one thing and prints the answer, or what waits for consent.
func (t *chatTerminal) once(said string) error {
	run, err := t.b.Send(t.ctx, chatbridge.Message{Conversation: t.conversation, Text: said, AskAll: t.c.AskAll, NoTools: t.c.NoTools, Plan: t.plan, Proposal: t.rules, Mission: t.mission, Imprint: t.imprint})
	if err != nil {
		return err
	}
	out, err := t.follow(run)
	if err != nil {
		return err
	}
	if t.json {
		e := json.NewEncoder(t.a.out)
		e.SetEscapeHTML(false)
		if err := e.Encode(out); err != nil {
			return err
		}
	} else if out, err = t.consent(out); err != nil {
		return err
	}
	return t.ended(out)
}

// ended makes an error of an outcome that is no answer.
func (t *chatTerminal) ended(out *chatbridge.Outcome) error {
	if out.Unsaved {
		fmt.Fprintln(t.a.err, "engramd: the answer could not be stored")
	}
	if out.Status == "pending" && out.Pending.Review == nil && (t.unasked || t.json) {
		return unasked(out)
	}
	if out.Failure == nil {
		return nil
	}
	if out.Failure.Ceiling != nil {
		return &limitError{out.Failure.Text}
	}
	return errors.New(visible(out.Failure.Text))
}

// limitError is a ceiling that was met.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

// errLeft ends a program that was interrupted twice.
var errLeft = errors.New("interrupted: the answer was not waited for")

// follow prints a leg as it comes. Ctrl-C cancels it, and it is then followed to its
// end; a second one leaves.
func (t *chatTerminal) follow(run *chatbridge.Run) (*chatbridge.Outcome, error) {
	t.conversation = run.Conversation
	ctx, leave := context.WithCancel(context.WithoutCancel(t.ctx))
	defer leave()
	var interrupted atomic.Int32
	defer takeInterrupts(t.a.ctx, func() {
		if interrupted.Add(1) > 1 {
			leave()
		}
		run.Cancel()
	})()
	defer context.AfterFunc(t.ctx, run.Cancel)()
	p := &printer{t: t, run: run.ID}
	for {
		events, err := run.Next(ctx, t.seen[run.ID])
		if err != nil {
			p.end()
			if !errors.Is(err, io.EOF) {
				t.left = true
				return nil, errLeft
			}
			t.interrupted = interrupted.Load() > 0
			return run.Wait(ctx)
		}
		for _, e := range events {
			t.seen[run.ID] = e.Seq
			if !t.json {
				p.event(e)
			}
		}
	}
}

// noted is a text as a note: all of it is shown where it is asked about, and by show --json.
func noted(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + fmt.Sprintf("… (%d bytes)", len(text))
}

// visible escapes what would steer a terminal or cannot be seen.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, // controls
			r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f, r == 0x061c, // directions
			r >= 0xe0000 && r <= 0xe007f, r == 0x2028, r == 0x2029, r == 0xfeff: // tags, separators
			return '\ufffd'
		}
		return r
	}, text)
}

// hangup is a context that ends also when the terminal is closed.
func hangup(parent context.Context) (context.Context, context.CancelFunc) {
	return signalContext(parent, syscall.SIGHUP)
}
