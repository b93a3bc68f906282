package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"engram"
	"engram/server"
	"engram/server/importer"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type importCommand struct {
	Files []string `arg:"" help:"A memories file (.jsonl), or a CSV file of nodes and then one of edges." type:"existingfile"`
	Links string   `help:"A file of links between the memories (.jsonl with a, b, type, weight)." type:"existingfile" placeholder:"FILE"`
	Split string   `help:"One namespace for each: ${enum}." enum:"none,conversation" default:"none"`
	Batch int      `help:"Lines in a transaction, 1 to 10,000." default:"500" placeholder:"N"`
	Ack   bool     `help:"Print a line ACK <seq> <lines> for every transaction once it is durable."`
	Begin bool     `help:"With --ack: print a line BEGIN <lines> before every transaction." name:"ack-begin"`
	Quiet bool     `help:"No progress bar." short:"q"`
}

// Help is shown by --help.
func (importCommand) Help() string {
	return `Importing a file again changes nothing: nodes are found by id, edges by ends and type.

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
	switch {
	case csv == len(c.Files) && csv <= 2:
		if c.Links != "" || c.Split != "none" {
			return &usageError{errors.New("--links and --split go with memories, not with CSV files")}
		}
		return c.graph(a)
	case csv == 0 && len(c.Files) == 1:
		return c.memories(a)
	}
	return &usageError{errors.New("give one memories file (.jsonl), or a nodes file and an edges file (.csv)")}
}

func (c *importCommand) memories(a *app) error {
	if c.Split == "conversation" {
		return c.split(a)
	}
	return a.withNamespace(true, func(db *engram.DB) error {
		to := importer.Into(db)
		report, err := c.withFile(a, c.Files[0], func(f io.Reader, opts importer.Options) (importer.Report, error) {
			return importer.Memories(a.ctx, to, f, opts)
		})
		if err != nil {
			return err
		}
		a.reportImport(c.Files[0], report)
		if c.Links == "" {
			return nil
		}
		report, err = c.withFile(a, c.Links, func(f io.Reader, opts importer.Options) (importer.Report, error) {
			return importer.Links(a.ctx, to, f, opts)
		})
		if err == nil {
			a.reportImport(c.Links, report)
		}
		return err
	})
}

// split imports every conversation into a namespace of its own name.
func (c *importCommand) split(a *app) error {
	if c.Links != "" {
		return &usageError{errors.New("--links goes with one namespace: links may join conversations")}
	}
	r, err := server.OpenRegistry(a.data, server.RegistryOptions{Create: true})
	if err != nil {
		return err
	}
	target := func(conversation string) (importer.Target, error) {
		db, err := r.Open(server.NamespaceFor(conversation), true)
		if err != nil {
			return nil, err
		}
		return importer.Into(db), nil
	}
	report, err := c.withFile(a, c.Files[0], func(f io.Reader, opts importer.Options) (importer.Report, error) {
		return importer.Split(a.ctx, target, f, opts)
	})
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		a.reportImport(c.Files[0], report)
	}
	return err
}

func (c *importCommand) graph(a *app) error {
	return a.withNamespace(true, func(db *engram.DB) error {
		nodes, err := os.Open(c.Files[0])
		if err != nil {
			return err
		}
		defer nodes.Close()
		var edges io.ReadSeeker
		if len(c.Files) == 2 {
			f, err := os.Open(c.Files[1])
			if err != nil {
				return err
			}
			defer f.Close()
			edges = f
		}
		opts, done := c.options(a, c.Files...)
		report, err := importer.Graph(a.ctx, db, nodes, edges, opts)
		done()
		if err == nil {
			a.reportImport(strings.Join(c.Files, " and "), report)
		}
		return err
	})
}

func (c *importCommand) withFile(a *app, name string, run func(io.Reader, importer.Options) (importer.Report, error)) (importer.Report, error) {
	f, err := os.Open(name)
	if err != nil {
		return importer.Report{}, err
	}
	defer f.Close()
	opts, done := c.options(a, name)
	report, err := run(f, opts)
	done()
	if err != nil {
		return report, fmt.Errorf("%s: %w", name, err)
	}
	return report, nil
}

// options set up the progress bar, on a terminal only, and the acknowledgements.
func (c *importCommand) options(a *app, files ...string) (opts importer.Options, done func()) {
	opts, done = importer.Options{Batch: c.Batch}, func() {}
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
	for _, p := range r.Problems {
		fmt.Fprintf(a.err, "  line %d: %s\n", p.Line, p.Reason)
	}
	if more := r.ProblemCount - len(r.Problems); more > 0 {
		fmt.Fprintf(a.err, "  and %d more\n", more)
	}
}
