package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"engram/chatbridge"
)

// chatGroup is chat, and what is done with conversations.
type chatGroup struct {
	Say     chatCommand        `cmd:"" default:"withargs" help:"Say something, or talk in the terminal. It needs no name: engramd chat \"hello\"."`
	List    chatListCommand    `cmd:"" help:"List conversations, what was active last first."`
	Show    chatShowCommand    `cmd:"" help:"Show what was said in a conversation."`
	Search  chatSearchCommand  `cmd:"" help:"Find where something was said."`
	Export  chatExportCommand  `cmd:"" help:"Write a conversation to a file, with all that ran for it."`
	Rename  chatRenameCommand  `cmd:"" help:"Give a conversation a title."`
	Forget  chatForgetCommand  `cmd:"" help:"Take a conversation out of list and search; it is kept."`
	Restore chatRestoreCommand `cmd:"" help:"Bring a forgotten conversation back."`
	Purge   chatPurgeCommand   `cmd:"" help:"Delete conversations for good."`
	Resume  chatResumeCommand  `cmd:"" help:"Go on with a conversation, first with the call that waits for consent."`
}

// Help is shown by --help.
func (chatGroup) Help() string {
	return `Without one of these names it says the text, or talks: see engramd chat say --help.

Examples:
  engramd chat "What do I know about Lisbon?"
  engramd chat list
  engramd chat search heron
  engramd chat show c-7b3k2m
  engramd chat export c-7b3k2m --format markdown --out talk.md
  engramd chat forget c-7b3k2m --because "asked to"
  engramd chat purge c-7b3k2m --yes
  engramd chat resume`
}

// withChats opens the conversations of the namespace for fn.
func (a *app) withChats(how access, fn func(*chatbridge.Bridge) error) error {
	return a.withMemory(how, func(m chatbridge.Querier) (err error) {
		b, err := chatbridge.New(chatbridge.Options{Memory: m})
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, b.Close(context.WithoutCancel(a.ctx))) }()
		return fn(b)
	})
}

func (a *app) printJSON(v any) error {
	e := json.NewEncoder(a.out)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

type chatListCommand struct {
	Limit     int    `help:"How many at most, 1 to 500." default:"50" placeholder:"N"`
	Cursor    string `help:"Go on behind a page, which tells its cursor." placeholder:"CURSOR"`
	Forgotten bool   `help:"List those that are forgotten."`
	JSON      bool   `help:"Print JSON."`
}

func (c *chatListCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		page, err := b.List(a.ctx, &chatbridge.ListOptions{Limit: c.Limit, Cursor: c.Cursor, Forgotten: c.Forgotten})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(page)
		}
		a.printConversations(page.Conversations)
		if page.Next != "" {
			fmt.Fprintf(a.err, "There are more: engramd chat list --cursor %s\n", page.Next)
		}
		return nil
	})
}

// printConversations prints a line for each.
func (a *app) printConversations(list []chatbridge.Conversation) {
	for _, c := range list {
		title := c.Title
		if title == "" {
			title, _, _ = strings.Cut(c.First, "\n")
		}
		waits := ""
		if len(c.Waiting) > 0 {
			waits = ", waits for consent"
		}
		a.printf("%s  %s  %s%s  %s\n", c.ID, c.Active.Format("2006-01-02 15:04"), plural(int64(c.Turns), "turn"), waits, visible(title))
	}
	if len(list) == 0 {
		a.printf("There are no conversations.\n")
	}
}

type chatShowCommand struct {
	ID      string `arg:"" help:"Of the conversation; engramd chat list tells it."`
	Summary bool   `help:"Ask the model for a summary in place of all turns; it is not recorded."`
	JSON    bool   `help:"Print JSON: turns, runs, calls and events."`
	llmFlags
}

func (c *chatShowCommand) Run(a *app) error {
	if c.Summary {
		return c.sum(a)
	}
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		t, err := b.Show(a.ctx, c.ID)
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(t)
		}
		a.printTranscript(t)
		return nil
	})
}

func (c *chatShowCommand) sum(a *app) error {
	options, _, err := c.options(a.ctx, true)
	if err != nil {
		return err
	}
	return a.withMemory(writing, func(m chatbridge.Querier) (err error) {
		options.Memory = m
		b, err := chatbridge.New(options)
		if err != nil {
			return &usageError{err}
		}
		defer func() { err = errors.Join(err, b.Close(context.WithoutCancel(a.ctx))) }()
		sum, err := b.Summary(a.ctx, c.ID)
		if err != nil {
			return err
		}
		a.printf("%s\n", visible(sum))
		return nil
	})
}

func (a *app) printTranscript(t *chatbridge.Transcript) {
	c := t.Conversation
	if c.Title != "" {
		a.printf("%s\n", visible(c.Title))
	}
	if c.Forgotten {
		a.printf("(forgotten: engramd chat restore %s)\n", c.ID)
	}
	for _, turn := range t.Turns {
		a.printf("\n%d %s, %s\n%s\n", turn.Number, turn.Role, turn.Created.Format("2006-01-02 15:04"), visible(turn.Text))
		if turn.Receipt != "" {
			a.printf("[%s]\n", visible(turn.Receipt))
		}
	}
	for _, r := range t.Runs {
		switch r.Status {
		case "failed":
			a.printf("\nwithout an answer, %s: %s\n[%s]\n", r.Created.Format("2006-01-02 15:04"), visible(r.Prompt), visible(r.Failure))
		case "pending":
			a.printf("\nwaits for consent, %s: %s\n[engramd chat resume %s]\n", r.Created.Format("2006-01-02 15:04"), visible(r.Prompt), c.ID)
		}
	}
}

type chatSearchCommand struct {
	Words []string `arg:"" help:"What to look for."`
	Limit int      `help:"How many at most, 1 to 500." default:"20" placeholder:"N"`
	JSON  bool     `help:"Print JSON."`
}

func (c *chatSearchCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		page, err := b.Search(a.ctx, strings.Join(c.Words, " "), c.Limit, "")
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(page)
		}
		a.printFound(page)
		return nil
	})
}

func (a *app) printFound(page *chatbridge.FoundPage) {
	for _, f := range page.Found {
		where := "title"
		if f.Turn > 0 {
			where = fmt.Sprintf("%d %s", f.Turn, f.Role)
		}
		a.printf("%s  %s  %s\n", f.Conversation, where, visible(f.Excerpt))
	}
	switch {
	case len(page.Found) == 0:
		a.printf("Nobody said that.\n")
	case page.Cut:
		fmt.Fprintln(a.err, "There are more: --limit shows up to 500.")
	}
}

type chatExportCommand struct {
	ID     string `arg:"" help:"Of the conversation."`
	Format string `help:"${enum}." enum:"jsonl,markdown" default:"jsonl"`
	Out    string `help:"File to write, which must not be there; without it standard output." placeholder:"FILE"`
}

func (c *chatExportCommand) Run(a *app) error {
	return a.withChats(reading, func(b *chatbridge.Bridge) error {
		if c.Out == "" {
			w := bufio.NewWriter(a.out)
			return errors.Join(b.Export(a.ctx, c.ID, c.Format, w), w.Flush())
		}
		if _, err := b.Show(a.ctx, c.ID); err != nil { // before there is a file
			return err
		}
		f, err := os.OpenFile(c.Out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		w := bufio.NewWriter(f)
		if err := errors.Join(b.Export(a.ctx, c.ID, c.Format, w), w.Flush(), f.Sync(), f.Close()); err != nil {
			return errors.Join(err, os.Remove(c.Out))
		}
		return nil
	})
}

type chatRenameCommand struct {
	ID    string   `arg:"" help:"Of the conversation."`
	Title []string `arg:"" help:"Its title, up to 200 bytes."`
}

func (c *chatRenameCommand) Run(a *app) error {
	return a.withChats(writing, func(b *chatbridge.Bridge) error {
		return b.Rename(a.ctx, c.ID, strings.Join(c.Title, " "))
	})
}

type chatForgetCommand struct {
	ID      string `arg:"" help:"Of the conversation."`
	Because string `help:"Why, to be read later." placeholder:"REASON"`
}

func (c *chatForgetCommand) Run(a *app) error {
	return a.withChats(writing, func(b *chatbridge.Bridge) error { return b.Forget(a.ctx, c.ID, c.Because) })
}

type chatRestoreCommand struct {
	ID string `arg:"" help:"Of the conversation; engramd chat list --forgotten tells it."`
}

func (c *chatRestoreCommand) Run(a *app) error {
	return a.withChats(writing, func(b *chatbridge.Bridge) error { return b.Restore(a.ctx, c.ID) })
}

type chatPurgeCommand struct {
	ID        string `arg:"" optional:"" help:"Of the conversation."`
	Forgotten bool   `help:"All that are forgotten."`
	Before    string `help:"With --forgotten: only those forgotten before a day." placeholder:"YYYY-MM-DD"`
	Memories  bool   `help:"Also what the model remembered in it, where nobody changed it since."`
	Yes       bool   `help:"Do it: nothing brings them back."`
	Backups   string `help:"Folder of backups: those of the namespace are named, since they still have what is purged." env:"ENGRAM_BACKUPS" placeholder:"DIR"`
}

// Help is shown by --help.
func (chatPurgeCommand) Help() string {
	return `Deletes turns, receipts, runs with their events and artefacts, calls and rules. Nothing finds them afterwards. A backup that was made
before still has them: with --backups the report names the backups of the namespace, which you remove yourself. The file keeps its
size until engramd compact.

Examples:
  engramd chat purge c-7b3k2m --yes
  engramd chat purge --forgotten --before 2026-01-01 --memories --yes`
}

func (c *chatPurgeCommand) Run(a *app) error {
	scope := chatbridge.PurgeScope{Conversation: c.ID, Forgotten: c.Forgotten, Memories: c.Memories}
	if (c.ID != "") == c.Forgotten {
		return &usageError{errors.New("purge one conversation, or --forgotten")}
	}
	if c.Before != "" {
		day, err := time.Parse(time.DateOnly, c.Before)
		if err != nil || !c.Forgotten {
			return &usageError{errors.New("--before is a day such as 2026-01-31 and goes with --forgotten")}
		}
		scope.Before = day
	}
	if !c.Yes {
		return &usageError{errors.New("a purge cannot be undone: it needs --yes; engramd chat forget keeps what it takes out of sight")}
	}
	return a.withChats(writing, func(b *chatbridge.Bridge) error {
		done, err := b.Purge(a.ctx, scope)
		if done != nil {
			a.printf("%s purged, with %s", plural(int64(done.Conversations), "conversation"), plural(int64(done.Nodes), "node"))
			if c.Memories {
				a.printf("; of memories %d", done.Memories)
			}
			a.printf("\n")
			a.tellBackups(c.Backups)
		}
		return err
	})
}

// tellBackups tells which backups of the namespace are left in a folder: a purge does not
// reach them.
func (a *app) tellBackups(dir string) {
	if dir == "" {
		a.printf("Backups made before still have what was purged; --backups DIR names those in a folder.\n")
		return
	}
	paths, err := backupsOf(dir, a.namespace)
	switch {
	case err != nil:
		a.printf("Backups made before still have what was purged; those in %s cannot be listed: %v\n", dir, err)
	case len(paths) == 0:
		a.printf("There is no backup of the namespace %s in %s.\n", a.namespace, dir)
	default:
		a.printf("These backups may still have what was purged, until you remove them:\n")
		for _, path := range paths {
			a.printf("  %s\n", path)
		}
	}
}

// backupsOf are the folders of backups of a namespace, sorted by name, and so by time.
func backupsOf(dir, namespace string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		text, err := os.ReadFile(filepath.Join(dir, e.Name(), "manifest.json"))
		if errors.Is(err, fs.ErrNotExist) || !e.IsDir() {
			continue
		}
		var m struct {
			Namespace string `json:"namespace"`
		}
		if err == nil {
			err = json.Unmarshal(text, &m)
		}
		if err != nil || m.Namespace == namespace { // what cannot be read may be one
			paths = append(paths, filepath.Join(dir, e.Name()))
		}
	}
	return paths, nil
}

type chatResumeCommand struct {
	ID string `arg:"" optional:"" help:"Of the conversation; without it one that waits for consent, else the one that was active last."`
	chatFlags
}

func (c *chatResumeCommand) Run(a *app) error {
	return a.chat(&c.chatFlags, func(t *chatTerminal) error {
		if t.conversation = c.ID; c.ID == "" {
			if err := t.findLast(); err != nil {
				return err
			}
		}
		return t.talk()
	})
}
