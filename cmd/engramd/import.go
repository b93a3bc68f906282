package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"engram"
	"engram/server"
	"engram/server/importer"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type importCommand struct {
	Files   []string `arg:"" help:"A memories file (.jsonl), or a CSV file of nodes and then one of edges." placeholder:"FILE"`
	Links   string   `help:"A file of links between the memories (.jsonl with a, b, type, weight)." placeholder:"FILE"`
	Split   string   `help:"One namespace for each: ${enum}." enum:"none,conversation" default:"none"`
	Batch   *int     `help:"Lines in a transaction, 1 to 10,000; by default 500, or up to 60,000 records in bulk." placeholder:"N"`
	Restart bool     `help:"Give up an unfinished import of other CSV files: what it brought stays and is merged with."`
	Ack     bool     `help:"Print a line ACK <seq> <lines> for every transaction once it is durable."`
	Begin   bool     `help:"With --ack: print a line BEGIN <lines> before every transaction." name:"ack-begin"`
	NoText  bool     `help:"Leave the text index for later: it is filled when the namespace is open, or by the first search, which waits. CSV files into an empty namespace only."`
	Quiet   bool     `help:"No progress bar." short:"q"`
}

// Help is shown by --help.
func (importCommand) Help() string {
	return `Importing a file again changes nothing: nodes are found by id, edges by ends and type. CSV files are loaded in
bulk into an empty namespace; when that is interrupted, importing the same files again goes on from there. Most of
the time goes into the text index, which --no-text leaves to the background of whoever has the namespace open next.

Memories are JSON Lines: {"id", "text"} and optionally conversation, session, date, speaker, title.
CSV headers are id,label,... and src,dst,type,..., or neo4j-admin's :ID, :LABEL, :START_ID, :END_ID, :TYPE
with :int, :float, :boolean, :datetime, :string or :string[] behind a property's name.

Examples:
  engramd import memories.jsonl
  engramd import nodes.csv edges.csv --namespace graph`
}

func (c *importCommand) Run(a *app) error {
	csv := 0
	for _, f := range c.Files {
		if strings.EqualFold(filepath.Ext(f), ".csv") {
			csv++
		}
	}
	if c.Begin && !c.Ack {
		return &usageError{errors.New("--ack-begin goes with --ack")}
	}
	if c.Batch != nil && (*c.Batch < 1 || *c.Batch > 10_000) {
		return &usageError{fmt.Errorf("--batch %d: want 1 to 10,000", *c.Batch)}
	}
	for _, f := range c.Files {
		if ext := strings.ToLower(filepath.Ext(f)); slices.Contains([]string{".md", ".markdown", ".txt", ".eql", ".cypher"}, ext) {
			return &usageError{fmt.Errorf("%s: %s files cannot be imported: give memories as JSON Lines, {\"id\", \"text\"} a line, or a graph as CSV", f, ext)}
		}
	}
	switch {
	case csv == len(c.Files) && csv <= 2:
		if c.Links != "" || c.Split != "none" {
			return &usageError{errors.New("--links and --split go with memories, not with CSV files")}
		}
		return c.graph(a)
	case csv == 0 && len(c.Files) == 1:
		if c.Restart || c.NoText {
			return &usageError{errors.New("--restart and --no-text go with CSV files")}
		}
		return c.memories(a)
	}
	return &usageError{errors.New("give one memories file (.jsonl), or a nodes file and an edges file (.csv)")}
}

func (c *importCommand) memories(a *app) error {
	if c.Split == "conversation" {
		return c.split(a)
	}
	memories, err := openInput(c.Files[0])
	if err != nil {
		return err
	}
	defer memories.Close()
	var links *os.File
	if c.Links != "" {
		if links, err = openInput(c.Links); err != nil {
			return err
		}
		defer links.Close()
	}
	return a.withRegistryLater(func(open func() (*server.Registry, error)) error {
		database := func() (*engram.DB, error) { return openIn(open, a.namespace) }
		err := c.run(a, func(opts importer.Options) (importer.Report, error) {
			return importer.Split(a.ctx, func(string) (importer.Target, error) {
				db, err := database()
				if err != nil {
					return nil, err
				}
				return importer.Into(db), nil
			}, memories, opts)
		}, c.Files[0])
		if err != nil || links == nil {
			return err
		}
		return c.run(a, func(opts importer.Options) (importer.Report, error) {
			db, err := database()
			if err != nil {
				return importer.Report{}, err
			}
			return importer.Links(a.ctx, importer.Into(db), links, opts)
		}, c.Links)
	})
}

// split imports every conversation into a namespace of its own name, and what
// belongs to none into the namespace of the command line.
func (c *importCommand) split(a *app) error {
	if c.Links != "" {
		return &usageError{errors.New("--links goes with one namespace: links may join conversations")}
	}
	memories, err := openInput(c.Files[0])
	if err != nil {
		return err
	}
	defer memories.Close()
	return a.withRegistryLater(func(open func() (*server.Registry, error)) error {
		taken := map[string]string{}
		target := func(conversation string) (importer.Target, error) {
			name := a.namespace
			if conversation != "" {
				name = server.NamespaceFor(conversation)
			}
			if other, ok := taken[name]; ok {
				return nil, fmt.Errorf("the conversations %q and %q would share the namespace %s; rename one", other, conversation, name)
			}
			taken[name] = conversation
			db, err := openIn(open, name)
			if err != nil {
				return nil, err
			}
			return importer.Into(db), nil
		}
		return c.run(a, func(opts importer.Options) (importer.Report, error) {
			return importer.Split(a.ctx, target, memories, opts)
		}, c.Files[0])
	})
}

func (c *importCommand) graph(a *app) error {
	nodes, err := openInput(c.Files[0])
	if err != nil {
		return err
	}
	defer nodes.Close()
	var edges io.ReadSeeker
	if len(c.Files) == 2 {
		f, err := openInput(c.Files[1])
		if err != nil {
			return err
		}
		defer f.Close()
		edges = f
	}
	return a.withRegistryLater(func(open func() (*server.Registry, error)) error {
		return c.run(a, func(opts importer.Options) (importer.Report, error) {
			return importer.GraphLater(a.ctx, func() (*engram.DB, error) { return openIn(open, a.namespace) },
				a.missing(), nodes, edges, opts)
		}, c.Files...)
	})
}

// openIn opens a namespace, which is made if it is missing.
func openIn(open func() (*server.Registry, error), name string) (*engram.DB, error) {
	r, err := open()
	if err != nil {
		return nil, err
	}
	return r.Open(name, true)
}

// run imports files and tells what came of it.
func (c *importCommand) run(a *app, fn func(importer.Options) (importer.Report, error), files ...string) error {
	opts, done := c.options(a, files...)
	report, err := fn(opts)
	done()
	source := strings.Join(files, " and ")
	if err = plain(err); err != nil {
		if report.Transactions > 0 {
			return fmt.Errorf("%s: %w (transactions committed before: %d; importing the file again goes on from there)",
				source, err, report.Transactions)
		}
		return fmt.Errorf("%s: %w; nothing was imported", source, err)
	}
	a.reportImport(source, report)
	return nil
}

// options set up the progress bar, on a terminal only, and the acknowledgements.
func (c *importCommand) options(a *app, files ...string) (opts importer.Options, done func()) {
	opts, done = importer.Options{Restart: c.Restart, NoText: c.NoText}, func() {}
	if c.Batch != nil {
		opts.Batch = *c.Batch
	}
	if c.Ack {
		opts.Ack = func(seq uint64, lines int) { a.printf("ACK %d %d\n", seq, lines) }
	}
	if c.Begin {
		opts.Begin = func(lines int) { a.printf("BEGIN %d\n", lines) }
	}
	f, ok := a.err.(*os.File)
	if c.Quiet || c.Ack || !ok || !term.IsTerminal(int(f.Fd())) {
		return opts, done
	}
	var size int64
	for _, name := range files {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(f), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription("importing"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	opts.Progress = func(bytes int64) { _ = bar.Set64(min(bytes, size)) }
	return opts, func() { _ = bar.Finish() }
}

func (a *app) reportImport(source string, r importer.Report) {
	fmt.Fprintf(a.err, "%s: imported %s\n", source, r)
	if r.Resumed > 0 {
		fmt.Fprintf(a.err, "  %s had been imported before the import was interrupted\n", plural(int64(r.Resumed), "line"))
	}
	for _, p := range r.Problems {
		fmt.Fprintf(a.err, "  line %d: %s\n", p.Line, p.Reason)
	}
	if more := r.ProblemCount - len(r.Problems); more > 0 {
		fmt.Fprintf(a.err, "  and %d more\n", more)
	}
}
