package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"engram"
	"engram/chatbridge"
)

type chatCommand struct {
	Text []string `arg:"" optional:"" help:"What to say; without it a conversation in the terminal."`
	llmFlags
	Conversation string `help:"Go on with this conversation." short:"c" placeholder:"ID"`
	List         bool   `help:"List the conversations, and end."`
	AskAll       bool   `help:"Ask before every call of a tool, also of what only reads."`
	NoTools      bool   `help:"Offer no tools."`
	NoStream     bool   `help:"Ask for whole answers."`
	JSON         bool   `help:"Print the outcome as JSON; with a text."`
}

// Help is shown by --help.
func (chatCommand) Help() string {
	return `Talks with a model that has the tools of this memory. Without a provider it looks for Ollama on this machine; with none, memory
alone answers. The key stands in ENGRAM_LLM_KEY (ENGRAM_LLM_NAME_KEY for another provider), else in ANTHROPIC_API_KEY or
OPENAI_API_KEY for the provider of that name; it goes to the provider's address only.

Commands, pages of other hosts and files that run programs are asked for each time: y runs it once, c allows the same for this
conversation, a for all, n denies it, with words behind for the model. Anything else is asked again; the end of input leaves the
call waiting, also for days: go on with --conversation. In the terminal /list, /new and /quit are commands; Ctrl-C cancels.

Examples:
  engramd chat
  engramd chat --provider anthropic --model MODEL --workspace ~/notes
  engramd chat "What do I know about Lisbon?" --no-tools
  engramd chat --provider test --base-url http://127.0.0.1:7464 --model gate GATE-PLAIN
  engramd chat --list`
}

// chatMemory is a database as memory of chats.
type chatMemory struct{ db *engram.DB }

func (m chatMemory) Query(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	res, err := m.db.Query(ctx, text, params)
	if err != nil {
		return chatbridge.Result{}, plain(err)
	}
	out := chatbridge.Result{Columns: res.Columns}
	for _, row := range res.Rows {
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = v.Any()
		}
		out.Rows = append(out.Rows, values)
	}
	return out, nil
}

func (m chatMemory) Read(ctx context.Context, text string, params map[string]any) (chatbridge.Result, error) {
	return m.Query(engram.WithLimits(ctx, engram.Limits{ReadOnly: true}), text, params)
}

func (c *chatCommand) Run(a *app) error {
	said := strings.TrimSpace(strings.Join(c.Text, " "))
	if c.JSON && said == "" {
		return &usageError{errors.New("--json goes with a text")}
	}
	if c.List && said != "" {
		return &usageError{errors.New("--list takes no text")}
	}
	options, settings, err := c.options(a.ctx, !c.List)
	if err != nil {
		return err
	}
	return a.withNamespace(writing, func(db *engram.DB) (err error) {
		options.Memory, options.NoStream = chatMemory{db}, c.NoStream
		b, err := chatbridge.New(options)
		if err != nil {
			return &usageError{err}
		}
		defer func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(a.ctx), shutdownWait)
			defer cancel()
			err = errors.Join(err, b.Close(ctx))
		}()
		t := &chatTerminal{c: c, a: a, b: b, lines: readLines(a.in), conversation: c.Conversation, seen: map[string]int{}}
		switch {
		case c.List:
			return t.list()
		case said != "":
			return t.once(said)
		}
		for _, s := range settings {
			fmt.Fprintf(a.err, "%s: %s (%s)\n", s.Name, s.Value, s.Origin)
		}
		if len(options.Providers) == 0 {
			fmt.Fprintln(a.err, "No model is configured and no Ollama answers: memory alone answers.")
		}
		return t.talk()
	})
}

// chatTerminal is a conversation in a terminal.
type chatTerminal struct {
	c            *chatCommand
	a            *app
	b            *chatbridge.Bridge
	lines        <-chan string
	conversation string
	seen         map[string]int // of each run, the last event that was printed
}

// readLines reads lines until the input ends, which closes the channel.
func readLines(in io.Reader) <-chan string {
	lines := make(chan string)
	go func() { // ends with the input, or with the process
		defer close(lines)
		for r := bufio.NewReader(in); ; {
			line, err := r.ReadString('\n')
			if line != "" {
				lines <- strings.TrimRight(line, "\r\n")
			}
			if err != nil {
				return
			}
		}
	}()
	return lines
}

func (t *chatTerminal) line(prompt string) (string, bool) {
	t.a.printf("%s", prompt)
	select {
	case line, ok := <-t.lines:
		return line, ok
	case <-t.a.ctx.Done():
		return "", false
	}
}

func (t *chatTerminal) list() error {
	list, err := t.b.Conversations(t.a.ctx)
	if err != nil {
		return err
	}
	for _, c := range list {
		first, _, _ := strings.Cut(c.First, "\n")
		waits := ""
		if len(c.Waiting) > 0 {
			waits = ", waits for consent"
		}
		t.a.printf("%s  %s%s  %s\n", c.ID, plural(int64(c.Turns), "turn"), waits, first)
	}
	if len(list) == 0 {
		t.a.printf("There are no conversations yet.\n")
	}
	return nil
}

// once says one thing and prints the answer, or what waits for consent.
func (t *chatTerminal) once(said string) error {
	run, err := t.b.Send(t.a.ctx, chatbridge.Message{Conversation: t.conversation, Text: said, AskAll: t.c.AskAll, NoTools: t.c.NoTools})
	if err != nil {
		return err
	}
	out, err := t.follow(run)
	if err != nil {
		return err
	}
	if t.c.JSON {
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
	if out.Failure == nil {
		return nil
	}
	if out.Failure.Ceiling != nil {
		return &limitError{out.Failure.Text}
	}
	return errors.New(out.Failure.Text)
}

// limitError is a ceiling that was met.
type limitError struct{ text string }

func (e *limitError) Error() string { return e.text }

func (t *chatTerminal) talk() error {
	if t.conversation != "" {
		waiting, err := t.b.Waiting(t.a.ctx, t.conversation)
		if err != nil {
			return err
		}
		for _, p := range waiting {
			out, err := t.consent(&chatbridge.Outcome{Status: "pending", Conversation: t.conversation, Pending: &p})
			if err != nil {
				return err
			}
			if err := t.ended(out); err != nil {
				fmt.Fprintln(t.a.err, "engramd: "+err.Error())
			}
		}
	}
	for {
		said, ok := t.line("> ")
		said = strings.TrimSpace(said)
		switch {
		case !ok || said == "/quit":
			if !ok {
				t.a.printf("\n")
			}
			return nil
		case said == "":
			continue
		case said == "/new":
			t.conversation = ""
			continue
		case said == "/list":
			if err := t.list(); err != nil {
				return err
			}
			continue
		case strings.HasPrefix(said, "/"):
			t.a.printf("There is no command %s; there are /list, /new and /quit.\n", said)
			continue
		}
		if err := t.once(said); err != nil {
			if t.a.ctx.Err() != nil {
				return err
			}
			fmt.Fprintln(t.a.err, "engramd: "+err.Error())
		}
	}
}

// follow prints a leg as it comes. Ctrl-C cancels it.
func (t *chatTerminal) follow(run *chatbridge.Run) (*chatbridge.Outcome, error) {
	t.conversation = run.Conversation
	printed := false
	for {
		events, err := run.Next(t.a.ctx, t.seen[run.ID])
		if err == io.EOF {
			if printed {
				t.a.printf("\n")
			}
			return run.Wait(context.WithoutCancel(t.a.ctx))
		}
		if err != nil {
			run.Cancel()
			return run.Wait(context.WithoutCancel(t.a.ctx))
		}
		for _, e := range events {
			t.seen[run.ID] = e.Seq
			if t.c.JSON {
				continue
			}
			switch e.Type {
			case chatbridge.EventWorking:
				if printed {
					t.a.printf("\n\n")
				}
				printed = false
			case chatbridge.EventDelta:
				t.a.printf("%s", visible(e.Text))
				printed = true
			case chatbridge.EventToolCall:
				fmt.Fprintf(t.a.err, "[%s %s]\n", visible(e.Used.Name), visible(e.Used.Arguments))
			}
		}
	}
}

// visible escapes what would steer a terminal.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '\ufffd'
		}
		return r
	}, text)
}

// consent asks about the calls of an outcome that waits, until it does no more. Only a
// plain yes is one.
func (t *chatTerminal) consent(out *chatbridge.Outcome) (*chatbridge.Outcome, error) {
	for out.Status == "pending" {
		p := out.Pending
		t.a.printf("The model asks for consent (%s", p.RiskTier)
		if p.Directory != "" {
			t.a.printf(", in %s", visible(p.Directory))
		}
		t.a.printf("):\n  %s\n", strings.ReplaceAll(p.Shown, "\n", "\n  "))
		line, ok := t.line("Run it? y once, c in this conversation, a always, n no, with words for the model: ")
		if !ok {
			t.a.printf("\nNot answered: the call waits. Go on with: engramd chat --conversation %s\n", out.Conversation)
			return out, nil
		}
		answer := chatbridge.Answer{Conversation: out.Conversation, CallID: p.CallID, Digest: p.Digest}
		word, words, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch strings.ToLower(word) {
		case "y", "yes":
			answer.Approve = true
		case "c":
			answer.Approve, answer.Remember = true, "conversation"
		case "a":
			answer.Approve, answer.Remember = true, "always"
		case "n", "no":
			answer.Words = strings.TrimSpace(words)
		default:
			continue
		}
		if answer.Approve && words != "" {
			continue // a yes with more behind is none
		}
		run, err := t.b.Answer(t.a.ctx, answer)
		var refused *chatbridge.Refusal
		if errors.As(err, &refused) {
			fmt.Fprintln(t.a.err, "engramd: "+err.Error())
			waiting, err := t.b.Waiting(t.a.ctx, out.Conversation)
			if err != nil || len(waiting) == 0 {
				return out, err
			}
			out.Pending = &waiting[0]
			continue
		}
		if err != nil {
			return nil, err
		}
		if out, err = t.follow(run); err != nil {
			return nil, err
		}
	}
	return out, nil
}
