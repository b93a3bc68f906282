package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
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
	Paths   []string `arg:"" help:"A file, - for standard input, or a folder; of a graph in CSV a file of nodes and then one of edges." placeholder:"FILE" name:"file"`
	Format  string   `help:"How it is written; without it found by the content: ${formats}." placeholder:"NAME" complete:"jsonl,memories,csv,cypher,memory,backup,openai,anthropic,markdown"`
	Links   string   `help:"A file of links between the memories (.jsonl with a, b, type, weight)." placeholder:"FILE"`
	Split   string   `help:"A namespace for each conversation, or a node for each heading of Markdown: ${enum}." enum:"none,conversation,heading" default:"none"`
	DryRun  bool     `help:"Read and compare everything, and write nothing." name:"dry-run"`
	SkipBad bool     `help:"Leave out what cannot be understood, and tell where it stands, instead of importing nothing." name:"skip-bad"`
	JSON    bool     `help:"Print the report as one JSON object."`
	Batch   *int     `help:"Lines in a transaction, 1 to 10,000; by default 500, or up to 60,000 records in bulk." placeholder:"N"`
	Restart bool     `help:"Give up an unfinished import of another file: what it brought stays and is merged with. Run a script again that was run before."`
	Ack     bool     `help:"Print a line ACK <seq> <lines> for every transaction once it is durable."`
	Begin   bool     `help:"With --ack: print a line BEGIN <lines> before every transaction." name:"ack-begin"`
	NoText  bool     `help:"Leave the text index for later: it is filled when the namespace is open, or by the first search, which waits. Into an empty namespace only."`
	Quiet   bool     `help:"No progress bar." short:"q"`
}

// Help is shown by --help.
func (importCommand) Help() string {
	return `Everything is read before anything is written: what cannot be understood is told with its line, and then
nothing is imported, unless --skip-bad leaves it out. Importing again changes nothing but what the source changed:
nodes are found by id, edges by ends and type, and what was edited in the database is left as it is. An import that
was interrupted goes on when it is started again. engramd help import has a table of the formats.

Examples:
  engramd import notes                      # a folder of Markdown
  engramd import conversations.json         # a chat export
  engramd import memories.jsonl             # {"id", "text"} a line
  engramd import memory.json                # of the MCP memory server
  engramd import nodes.csv edges.csv --namespace graph
  engramd import export.jsonl --dry-run --json`
}

func (c *importCommand) check() error {
	if c.Begin && !c.Ack {
		return errors.New("--ack-begin goes with --ack")
	}
	if c.Batch != nil && (*c.Batch < 1 || *c.Batch > 10_000) {
		return fmt.Errorf("--batch %d: want 1 to 10,000", *c.Batch)
	}
	if len(c.Paths) == 2 && slices.Contains(c.Paths, "-") {
		return errors.New("standard input goes alone")
	}
	if c.DryRun && (c.Ack || c.Restart || c.NoText) {
		return errors.New("--dry-run writes nothing: it does not go with --ack, --restart and --no-text")
	}
	if c.JSON && c.Ack {
		return errors.New("--json and --ack both print to standard output: give one of them")
	}
	if c.Format != "" && !slices.Contains(importer.Formats(), c.Format) {
		return fmt.Errorf("--format %s: want one of %s", c.Format, strings.Join(importer.Formats(), ", "))
	}
	return nil
}

// fits refuses flags and files that the format has no use for.
func (c *importCommand) fits(format string) error {
	switch {
	case format == "csv" && (c.Links != "" || c.Split != "none"):
		return errors.New("--links and --split go with memories, not with CSV files")
	case format == "csv" && len(c.Paths) > 2, format != "csv" && len(c.Paths) > 1:
		return errors.New("give one file or folder, or of a graph in CSV a nodes file and an edges file")
	case c.Links != "" && format != "memories":
		return fmt.Errorf("--links goes with memories, not with the format %s", format)
	case c.Links != "" && c.Split != "none":
		return errors.New("--links goes with one namespace: links may join conversations")
	case format == "cypher" && (c.Batch != nil || c.NoText || c.Begin):
		return errors.New("--batch, --no-text and --ack-begin do not go with scripts")
	case format == "memories" && (c.Restart || c.NoText):
		return errors.New("--restart and --no-text do not go with memories")
	}
	return nil
}

func (c *importCommand) Run(a *app) error {
	if err := c.check(); err != nil {
		return &usageError{err}
	}
	src, done, err := c.open(a, c.Paths[0])
	if err != nil {
		return err
	}
	defer func() { _ = done() }() // it was only read
	opts := c.options(a)
	if opts.Format, err = importer.Detect(a.ctx, src, opts); err != nil {
		return &usageError{fmt.Errorf("%s: %w", c.Paths[0], err)}
	}
	if err := c.fits(opts.Format); err != nil {
		return &usageError{err}
	}
	if len(c.Paths) == 2 {
		edges, err := openInput(c.Paths[1])
		if err != nil {
			return err
		}
		defer edges.Close()
		src.Edges = edges
	}
	links, err := c.links(&opts)
	if err != nil {
		return err
	}
	return a.orThroughServer(func() error { return c.here(a, src, opts, links) }, func(address, secret string) error {
		return c.send(a, address, secret, src, opts)
	})
}

// links reads the file of links, before anything is written.
func (c *importCommand) links(opts *importer.Options) (*importer.LinkSet, error) {
	if c.Links == "" {
		return nil, nil
	}
	f, err := openInput(c.Links)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	links, err := importer.ReadLinks(f, *opts)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; nothing was imported", c.Links, err)
	}
	opts.Brings = links.Brought
	return links, nil
}

// here imports into the directory.
func (c *importCommand) here(a *app, src importer.Source, opts importer.Options, links *importer.LinkSet) error {
	if os.Getenv("GOGC") == "" { // most of what an import makes is soon garbage
		defer debug.SetGCPercent(debug.SetGCPercent(50))
	}
	return a.withRegistryLater(func(open func() (*server.Registry, error)) error {
		bring := c.opener(a, open)
		err := c.run(a, opts, func(opts importer.Options) (importer.Report, error) {
			return importer.ImportLater(a.ctx, bring, a.missing(), src, opts)
		}, c.Paths...)
		if err != nil || links == nil {
			return err
		}
		return c.run(a, c.options(a), func(opts importer.Options) (importer.Report, error) {
			db, err := bring("")
			if err != nil {
				return importer.Report{}, err
			}
			var to importer.Target
			if db != nil { // there is one, unless this is a dry run
				to = importer.Into(db)
			}
			return links.Import(a.ctx, to, opts)
		}, c.Links)
	})
}

// open opens a file, a folder or standard input.
func (c *importCommand) open(a *app, path string) (importer.Source, func() error, error) {
	if path == "-" {
		file, temp, err := importer.Rewindable(a.ctx, a.in) // its format is looked for first
		if err != nil {
			return importer.Source{}, nil, err
		}
		done := func() error { return nil }
		if temp != nil {
			done = temp.Close
		}
		return importer.Source{Name: "standard input", File: file}, done, nil
	}
	src, done, err := importer.OpenSource(path)
	if errors.Is(err, os.ErrNotExist) {
		return src, nil, &missingFileError{path}
	}
	return src, done, err
}

// opener opens the namespace that an import goes into, or that of a conversation. A dry
// run gets none where there is none.
func (c *importCommand) opener(a *app, open func() (*server.Registry, error)) func(string) (*engram.DB, error) {
	taken := map[string]string{}
	return func(conversation string) (*engram.DB, error) {
		name := a.namespace
		if conversation != "" {
			name = server.NamespaceFor(conversation)
		}
		if other, ok := taken[name]; ok && other != conversation {
			return nil, fmt.Errorf("the conversations %q and %q would share the namespace %s; rename one", other, conversation, name)
		}
		taken[name] = conversation
		if c.DryRun && a.lacks(name) {
			return nil, nil
		}
		return openIn(open, name)
	}
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
func (c *importCommand) run(a *app, opts importer.Options, fn func(importer.Options) (importer.Report, error), files ...string) error {
	done := c.progress(a, &opts, files...)
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
	if c.JSON {
		return printObject(a, report)
	}
	a.reportImport(source, report)
	return nil
}

// options are what the flags say.
func (c *importCommand) options(a *app) importer.Options {
	opts := importer.Options{Format: c.Format, DryRun: c.DryRun, SkipBad: c.SkipBad, Restart: c.Restart, NoText: c.NoText}
	if c.Split != "none" {
		opts.Split = c.Split
	}
	if c.Batch != nil {
		opts.Batch = *c.Batch
	}
	if c.Ack {
		opts.Ack = func(seq uint64, lines int) { a.printf("ACK %d %d\n", seq, lines) }
	}
	if c.Begin {
		opts.Begin = func(lines int) { a.printf("BEGIN %d\n", lines) }
	}
	return opts
}

// progress sets up the progress bar, on a terminal only.
func (c *importCommand) progress(a *app, opts *importer.Options, files ...string) (done func()) {
	f, ok := a.err.(*os.File)
	if c.Quiet || c.Ack || !ok || !term.IsTerminal(int(f.Fd())) {
		return func() {}
	}
	size := int64(-1) // of a folder or a stream nobody knows it
	for _, name := range files {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			size = max(size, 0) + info.Size()
		}
	}
	bar := progressbar.NewOptions64(size, progressbar.OptionSetWriter(f), progressbar.OptionShowBytes(true),
		progressbar.OptionSetDescription("importing"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
	opts.Progress = func(bytes int64) {
		if size >= 0 {
			bytes = min(bytes, size)
		}
		_ = bar.Set64(bytes)
	}
	return func() { _ = bar.Finish() }
}

func (a *app) reportImport(source string, r importer.Report) {
	verb := "imported"
	if r.DryRun {
		verb = "would import"
	}
	fmt.Fprintf(a.err, "%s: %s %s\n", source, verb, r)
	if text := r.Outcome(); text != "" {
		fmt.Fprintf(a.err, "  %s\n", text)
	}
	for _, t := range []struct {
		n    int
		text string
	}{
		{r.Resumed, "had been imported before the import was interrupted"},
		{r.Skipped, "could not be understood, skipped"},
	} {
		if t.n > 0 {
			fmt.Fprintf(a.err, "  %s %s\n", plural(int64(t.n), "line"), t.text)
		}
	}
	if text := provenance(r.Provenance); text != "" {
		fmt.Fprintf(a.err, "  %s\n", text)
	}
	if r.LinksOutside+r.LinksMissing > 0 {
		fmt.Fprintf(a.err, "  links that were not followed: %d lead outside, %d lead to nothing\n", r.LinksOutside, r.LinksMissing)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(a.err, "  %s\n", p)
	}
	if more := r.ProblemCount - len(r.Problems); more > 0 {
		fmt.Fprintf(a.err, "  and %d more\n", more)
	}
}

// provenance tells how many notes say where they come from.
func provenance(p *importer.Provenance) string {
	switch {
	case p == nil || p.Absent+p.Unreadable == 0:
		return ""
	case p.Present+p.Unreadable == 0:
		return "no note tells where it comes from (source: in its front matter)"
	}
	return fmt.Sprintf("where a note comes from (source: in its front matter) is told by %d, not by %d, and cannot be read in %d", p.Present, p.Absent, p.Unreadable)
}
