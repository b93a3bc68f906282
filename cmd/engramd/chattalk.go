package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"engram/chatbridge"
)

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

// talk says what is typed, until it ends.
func (t *chatTerminal) talk() error {
	t.greet()
	if err := t.resume(); err != nil {
		return err
	}
	for !t.left && t.ctx.Err() == nil {
		said, ok := t.line("> ")
		if !ok {
			if t.tty == nil {
				t.a.printf("\n")
			}
			return t.ctx.Err()
		}
		said = strings.TrimSpace(said)
		var err error
		switch {
		case said == "":
			continue
		case said[0] == ':' || said[0] == '/':
			err = t.command(said[1:])
		default:
			err = t.once(said)
		}
		if nobody := (*unaskedError)(nil); errors.As(err, &nobody) {
			return err // there is no more input
		}
		if err != nil {
			fmt.Fprintln(t.a.err, "engramd: "+err.Error())
		}
	}
	return t.ctx.Err()
}

// printSettings tells who answers chats and where that is set.
func printSettings(w io.Writer, settings []chatbridge.Setting, alone bool) {
	for _, s := range settings {
		fmt.Fprintf(w, "%s: %s (%s)\n", s.Name, s.Value, s.Origin)
	}
	if alone {
		fmt.Fprintln(w, "No model is configured and no Ollama answers: memory alone answers.")
	}
}

// greet tells who answers, and where each setting comes from.
func (t *chatTerminal) greet() {
	printSettings(t.a.err, t.settings, t.alone)
	if t.tty != nil {
		fmt.Fprintln(t.a.err, "Talk, or :help. Ctrl-C cancels an answer, Ctrl-D leaves.")
	}
}

// resume asks about the calls of the conversation that wait.
func (t *chatTerminal) resume() error {
	if t.conversation == "" {
		return nil
	}
	waiting, err := t.b.Waiting(t.ctx, t.conversation)
	if err != nil {
		return err
	}
	for _, p := range waiting {
		out, err := t.consent(&chatbridge.Outcome{Status: "pending", Conversation: t.conversation, Pending: &p})
		if err != nil {
			return err
		}
		err = t.ended(out)
		if nobody := (*unaskedError)(nil); errors.As(err, &nobody) {
			return err
		}
		if err != nil {
			fmt.Fprintln(t.a.err, "engramd: "+err.Error())
		}
	}
	return nil
}

// findLast takes up the conversation that waits for consent, else the one that was
// active last.
func (t *chatTerminal) findLast() error {
	list, err := t.b.Conversations(t.ctx)
	if err != nil {
		return err
	}
	if len(list) == 0 {
		return &usageError{errors.New("there is no conversation yet to go on with")}
	}
	last := list[0]
	for _, c := range list {
		if len(c.Waiting) > 0 {
			last = c
			break
		}
	}
	t.conversation = last.ID
	fmt.Fprintf(t.a.err, "conversation %s: %s\n", last.ID, visible(cmp.Or(last.Title, last.First)))
	return nil
}

const chatHelp = `:list                what conversations there are
:search WORDS        where something was said
:show [ID]           what was said, in this conversation without ID
:resume ID           go on with another conversation
:new                 begin another one
:title WORDS         give this one a title
:summary             a summary of this one by the model, which is not recorded
:forget              take this one out of list and search, and begin another one
:model               who answers, and where that is set
:quit                leave`

// command runs a command of the conversation.
func (t *chatTerminal) command(text string) error {
	name, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	if here := t.conversation == ""; here && (name == "title" || name == "summary" || name == "forget" || name == "show" && rest == "") {
		return errors.New("nothing was said in this conversation yet")
	}
	switch name {
	case "quit", "exit", "q":
		t.left = true
	case "help", "h":
		t.a.printf("%s\n", chatHelp)
	case "new":
		t.conversation = ""
	case "list":
		list, err := t.b.Conversations(t.ctx)
		if err == nil {
			t.a.printConversations(list)
		}
		return err
	case "search":
		page, err := t.b.Search(t.ctx, rest, 0, "")
		if err == nil {
			t.a.printFound(page)
		}
		return err
	case "show":
		shown, err := t.b.Show(t.ctx, cmp.Or(rest, t.conversation))
		if err == nil {
			t.a.printTranscript(shown)
		}
		return err
	case "resume":
		if _, err := t.b.Show(t.ctx, rest); err != nil {
			return err
		}
		t.conversation = rest
		return t.resume()
	case "title":
		return t.b.Rename(t.ctx, t.conversation, rest)
	case "summary":
		sum, err := t.b.Summary(t.ctx, t.conversation)
		if err == nil {
			t.a.printf("%s\n", visible(sum))
		}
		return err
	case "forget":
		id := t.conversation
		if err := t.b.Forget(t.ctx, id, rest); err != nil {
			return err
		}
		t.conversation = ""
		t.a.printf("Forgotten: engramd chat restore %s brings it back.\n", id)
	case "model":
		for _, s := range t.settings {
			t.a.printf("%s: %s (%s)\n", s.Name, s.Value, s.Origin)
		}
		if t.alone {
			t.a.printf("No model: memory alone answers.\n")
		}
	default:
		return fmt.Errorf("there is no command :%s; :help lists them", visible(name))
	}
	return nil
}

// deniedWords are what a model is told of a call that nobody decided about.
const deniedWords = "They closed the question without an answer."

// deny denies a call and ends the answer.
func (t *chatTerminal) deny(out *chatbridge.Outcome, p *chatbridge.Pending) (*chatbridge.Outcome, error) {
	ctx := context.WithoutCancel(t.ctx)
	run, err := t.b.Answer(ctx, chatbridge.Answer{Conversation: out.Conversation, CallID: p.CallID, Words: deniedWords})
	if err != nil {
		return nil, err
	}
	run.Cancel()
	return run.Wait(ctx)
}

// chat talks with a model, until that is left; then statements go on.
func (c *console) chat(conversation string) error {
	switch {
	case !c.interactive:
		return errors.New(":chat needs a terminal; engramd chat takes a text")
	case c.session.InTransaction():
		return errors.New(":chat writes on its own: COMMIT; or ROLLBACK; first")
	}
	flags := &chatFlags{}
	options, settings, err := flags.options(c.app.ctx, true)
	if err != nil {
		return err
	}
	return c.app.chatOn(memoryOf(c.db), flags, options, settings, func(t *chatTerminal) error {
		t.conversation = conversation
		return t.talk()
	})
}
