package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"engram"
	"engram/server"
	"engram/server/exporter"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

type exportCommand struct {
	Format string `help:"How it is written: ${enum}." enum:"${export_formats}" default:"jsonl"`
	Out    string `help:"The file, or for csv and markdown the folder, that is made; without it standard output." short:"o" placeholder:"PATH"`
	Force  bool   `help:"Replace the file if it is there."`
	JSON   bool   `help:"Print the report as one JSON object; needs --out."`
	Quiet  bool   `help:"No progress bar." short:"q"`
}

// Help is shown by --help.
func (exportCommand) Help() string {
	return `Writes one moment of the namespace, the same graph always in the same way. JSON Lines hold all of it: imported
into an empty namespace they give the same graph. engramd help export has a table of what each format keeps; what a
format cannot hold is counted and told. A file gets its name when all of it is written.

Examples:
  engramd export --out graph.jsonl
  engramd export | gzip > graph.jsonl.gz
  engramd export --format csv --out graph
  engramd export --format markdown --out notes
  engramd export --format cypher --out graph.cypher`
}

func (c *exportCommand) Run(a *app) error {
	dir, err := exporter.NeedsDir(c.Format)
	if err != nil {
		return &usageError{err}
	}
	switch {
	case dir && c.Out == "":
		return &usageError{fmt.Errorf("--format %s writes a folder: name it by --out", c.Format)}
	case dir && c.Force:
		return &usageError{fmt.Errorf("--force goes with files, and --format %s writes a folder: give one that is not there or empty", c.Format)}
	case c.Out == "" && (c.JSON || c.Force):
		return &usageError{errors.New("--json and --force go with --out: without it the graph is written to standard output")}
	case c.Out == "" && isTerminal(a.out):
		return &usageError{errors.New("the graph would be written to the terminal: name a file by --out, or send it through a pipe")}
	}
	return a.orThroughServer(func() error { return c.here(a, dir) }, func(address, secret string) error { return c.receive(a, address, secret, dir) })
}

// here exports from the directory.
func (c *exportCommand) here(a *app, dir bool) error {
	o := server.RegistryOptions{ReadOnly: true, Database: &engram.Options{ReadOnly: true, StatementTimeout: -1, StatementRows: -1, SpoolSize: -1, StatementSteps: -1}}
	return a.withRegistryOptions(o, func(r *server.Registry) error {
		db, err := r.Open(a.namespace, false)
		if err != nil {
			return err
		}
		report, err := c.write(a, db, dir)
		if err != nil {
			return err
		}
		if c.JSON {
			return printObject(a, report)
		}
		a.reportExport(c.Out, report)
		return nil
	})
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (c *exportCommand) write(a *app, db *engram.DB, dir bool) (exporter.Report, error) {
	opts := exporter.Options{Format: c.Format}
	if isTerminal(a.err) && !c.Quiet {
		stats, err := db.Stats(a.ctx)
		if err != nil {
			return exporter.Report{}, err
		}
		total := int64(stats.Nodes + stats.Edges)
		bar := progressbar.NewOptions64(total, progressbar.OptionSetWriter(a.err), progressbar.OptionShowCount(),
			progressbar.OptionSetDescription("exporting"), progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish())
		opts.Progress = func(done int64) { _ = bar.Set64(min(done, total)) }
		defer func() { _ = bar.Finish() }()
	}
	switch {
	case c.Out == "":
		return exporter.Export(a.ctx, db, a.out, opts)
	case dir:
		return exportDir(a, db, c.Out, opts)
	}
	return c.file(opts.Format, func(w io.Writer) (exporter.Report, error) { return exporter.Export(a.ctx, db, w, opts) })
}

func exportDir(a *app, db *engram.DB, path string, opts exporter.Options) (exporter.Report, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return exporter.Report{}, err
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return exporter.Report{}, err
	}
	report, err := exporter.ExportDir(a.ctx, db, root, opts)
	return report, errors.Join(err, root.Close())
}

// file writes beside the file and then gives it its name, so that it is whole or not
// there.
func (c *exportCommand) file(format string, write func(w io.Writer) (exporter.Report, error)) (report exporter.Report, err error) {
	if info, err := os.Stat(c.Out); err == nil && (info.IsDir() || !c.Force) {
		if info.IsDir() {
			return report, &usageError{fmt.Errorf("%s is a folder, and --format %s writes a file", c.Out, format)}
		}
		return report, &usageError{fmt.Errorf("%s is there already: --force replaces it", c.Out)}
	}
	f, err := os.CreateTemp(filepath.Dir(c.Out), ".engram-export-*") // mode 0600
	if err != nil {
		return report, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // the first error is the one to tell
		}
	}()
	report, err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return report, err
	}
	return report, os.Rename(f.Name(), c.Out)
}

func (a *app) reportExport(out string, r exporter.Report) {
	if out == "" {
		out = "standard output"
	}
	fmt.Fprintf(a.err, "%s: exported %s, %s as of transaction %d\n", out, plural(r.Nodes, "node"), plural(r.Edges, "edge"), r.Seq)
	for _, l := range r.Lost {
		fmt.Fprintf(a.err, "  the format does not keep: %s (%d)\n", l.What, l.Count)
	}
}
